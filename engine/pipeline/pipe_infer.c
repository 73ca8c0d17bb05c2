#include "engine/pipeline/pipe_infer.h"

#include "engine/pipeline/flat_net.h"
#include "engine/pipeline/formula.h"
#include "engine/pipeline/pipe_before.h"
#include "engine/pipeline/pipe_instance.h"
#include "engine/pipeline/pipe_net.h"
#include "engine/pipeline/pipe_shares.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/sort.h"
#include "rl/scorer.h"

#include <math.h>
#include <string.h>

#define BOUND_SLACK 1.05 /* bounds take equal stages to be the fastest, which is nearly so */
/* Described, of the least bounds; and where a plan is known that only a few can beat. */
enum { CANDIDATES_MOST = 600, CANDIDATES_KNOWN = 64 };
enum { FEATURE_TIMES = 22 /* first of all features */ };
#define SNAP 0.02        /* of all computation: how far equal shares look for a cheap cut, */
#define SNAP_FAR 0.1     /*   and how far in a second rollout */
#define FEATURE_MOST 8.0 /* features are clipped */

/* ---- the problem ---- */

static bool takes_cut(const struct pipe_goal *g, uint32_t device)
{
    return device == g->in->devices || !g->device_cut || g->device_cut[device];
}

int pipe_infer_new(struct pipe_infer *f, struct pipe_goal *goal, uint32_t stages, struct err *e)
{
    const struct pipe_instance *in = goal->in;

    *f = (struct pipe_infer){
        .goal = goal, .stages = stages, .found_ms = INFINITY, .known_ms = INFINITY};
    f->work = mem_try((size_t)in->points + 1, sizeof *f->work);
    f->cuts = mem_try(in->devices, sizeof *f->cuts);
    f->speed = mem_try((size_t)in->devices + 1, sizeof *f->speed);
    if (!f->work || !f->cuts || !f->speed) {
        pipe_infer_free(f);
        return err_no_memory(e, "for the network's pipeline");
    }
    double total = in->forward_ms[0][in->points] + in->backward_ms[0][in->points];
    for (uint32_t i = 0; i <= in->points; i++)
        f->work[i] = total > 0 ? (in->forward_ms[0][i] + in->backward_ms[0][i]) / total
                               : (double)i / in->points;
    for (uint32_t d = 1; d <= in->devices; d++) {
        if (takes_cut(goal, d))
            f->cuts[f->cut_count++] = d;
    }
    for (uint32_t n = 1; n <= in->devices; n++) {
        uint32_t row = pipe_row(in, 0, n);
        double ms = in->forward_ms[row][in->points] + in->backward_ms[row][in->points];
        f->speed[n] = ms > 0 ? total / ms : n;
    }
    f->whole_reduce_ms = pipe_stage_node(in, 0, in->points, 0, in->devices).reduce_ms;
    f->ideal_ms = in->options.micro_batches * total / in->devices;
    f->ideal_ms = f->ideal_ms > 0 ? f->ideal_ms : 1;
    if (stages > f->cut_count || stages > in->points) {
        pipe_infer_free(f);
        return err_set(e, ERR_INFEASIBLE, "%u stages of %u devices and %u points", stages,
                       in->devices, in->points);
    }
    return 0;
}

void pipe_infer_free(struct pipe_infer *f)
{
    free(f->work);
    free(f->cuts);
    free(f->speed);
    free(f->candidate);
    free(f->row);
    free(f->score);
    free(f->bound);
    free(f->sorted);
    free(f->rollout);
    free(f->near);
    memset(f, 0, sizeof *f);
}

void pipe_infer_start(struct pipe_infer *f, struct pipe_infer_state *out)
{
    f->found_ms = INFINITY;
    *out = (struct pipe_infer_state){.cut = 1, .before = pipe_prefix_start()};
    out->plan.stages = f->stages;
    out->plan.pivot[f->stages] = f->goal->in->points;
    out->plan.device[f->stages] = f->goal->in->devices;
}

static double steady(const struct pipe_infer *f, const struct pipe_node *n, bool is_link)
{
    const struct pipe_options *o = &f->goal->in->options;
    double one = is_link && !o->half_duplex ? pipe_more(n->forward_ms, n->backward_ms)
                                            : n->forward_ms + n->backward_ms;

    return (o->micro_batches - 1) * one;
}

bool pipe_infer_by_share(struct pipe_infer *f, struct pipe_plan *out)
{
    struct pipe_infer_state s;

    pipe_infer_start(f, &s);
    bool ok = pipe_share_complete(f, &s.plan, 1, SNAP);
    *out = s.plan;
    return ok;
}

/* ---- one candidate ---- */

/* Of a candidate: its stage, the transfer behind it to a stage of equal share, and what both make
 * of the prefix. */
struct ahead {
    struct pipe_node stage, link;
    struct pipe_prefix prefix;
    double after; /* ms: what is left, by all devices that are left in equal stages */
};

/* All points from `pivot` on, by the devices from `device` on in `left` equal stages. */
static double rest_ms(const struct pipe_infer *f, uint32_t pivot, uint32_t device, uint32_t left)
{
    double devices = f->goal->in->devices;

    return (1 - f->work[pivot]) * f->ideal_ms * devices /
           (left * pipe_share_speed(f, (devices - device) / (double)left));
}

static double stage_busy(const struct pipe_infer *f, const struct pipe_node *stage)
{
    return steady(f, stage, false) + stage->forward_ms + stage->backward_ms;
}

static double bound_of(const struct ahead *w)
{
    const struct pipe_prefix *p = &w->prefix;

    return pipe_more(pipe_more(p->f0, p->f1) + w->after, pipe_more(p->f2, p->f3));
}

/* The stage of a candidate. */
static struct ahead look_at_stage(const struct pipe_infer *f, const struct pipe_infer_state *s,
                                  struct pipe_candidate c)
{
    const struct pipe_instance *in = f->goal->in;
    uint32_t i = s->plan.pivot[s->cut - 1], a = s->plan.device[s->cut - 1];
    struct ahead out = {.prefix = s->before};

    if (s->cut > 1) {
        struct pipe_node to = pipe_link_node(in, i, s->plan.device[s->cut - 2], a, c.device);
        pipe_prefix_add(&out.prefix, &to, steady(f, &to, true));
    }
    out.stage = pipe_stage_node(in, i, c.pivot, a, c.device);
    out.after = rest_ms(f, c.pivot, c.device, f->stages - s->cut);
    pipe_prefix_add(&out.prefix, &out.stage, steady(f, &out.stage, false));
    return out;
}

/* And the transfer behind it. */
static void look_at_link(const struct pipe_infer *f, const struct pipe_infer_state *s,
                         struct pipe_candidate c, uint32_t next, struct ahead *w)
{
    w->link = pipe_link_node(f->goal->in, c.pivot, s->plan.device[s->cut - 1], c.device, next);
    pipe_prefix_add(&w->prefix, &w->link, steady(f, &w->link, true));
}

/* The stages and transfers behind a candidate when equal shares go on: what they mean for all that
 * stands before them (pipe_exact.h), and the largest of them. */
struct rollout {
    bool found;
    double x, y, z, transfer, reduce, busy;
    double length; /* L; INFINITY: not found */
};

static void put_before(struct rollout *r, const struct pipe_node *node, double wait)
{
    double forward = node->forward_ms, backward = node->backward_ms;

    r->y = pipe_more(forward + backward + r->y, forward + wait + backward);
    r->x = pipe_more(forward + r->x, pipe_more(node->reduce_ms + r->y, forward + wait + r->z));
    r->z = pipe_more(node->reduce_ms, r->z - backward);
}

static struct rollout roll_out(const struct pipe_infer *f, const struct pipe_infer_state *s,
                               struct pipe_candidate c, double snap,
                               const struct pipe_prefix *before)
{
    const struct pipe_instance *in = f->goal->in;
    struct rollout r = {.length = INFINITY};
    struct pipe_plan p = s->plan;

    p.pivot[s->cut] = c.pivot;
    p.device[s->cut] = c.device;
    r.found = pipe_share_complete(f, &p, s->cut + 1, snap);
    for (uint32_t k = p.stages; r.found && k-- > s->cut;) {
        if (k + 1 < p.stages) {
            struct pipe_node link =
                pipe_link_node(in, p.pivot[k + 1], p.device[k], p.device[k + 1], p.device[k + 2]);
            double wait = steady(f, &link, true);
            r.transfer = pipe_more(r.transfer, wait);
            put_before(&r, &link, wait);
        }
        struct pipe_node stage =
            pipe_stage_node(in, p.pivot[k], p.pivot[k + 1], p.device[k], p.device[k + 1]);
        r.reduce = pipe_more(r.reduce, stage.reduce_ms);
        r.busy = pipe_more(r.busy, steady(f, &stage, false));
        put_before(&r, &stage, steady(f, &stage, false));
    }
    if (r.found)
        r.length = pipe_more(pipe_more(before->f0 + r.x, before->f1 + r.y),
                             pipe_more(before->f2 + r.z, before->f3));
    return r;
}

static float ratio(double x)
{
    return (float)(x > FEATURE_MOST ? FEATURE_MOST : x < -FEATURE_MOST ? -FEATURE_MOST : x);
}

static double least_bytes(const struct pipe_infer *f, uint32_t pivot, uint32_t reach)
{
    const struct pipe_instance *in = f->goal->in;
    uint32_t from = pivot > reach ? pivot - reach : 1;
    double least = INFINITY;

    for (uint32_t i = from; i <= pivot + reach && i < in->points; i++)
        least = fmin(least, in->forward_bytes[i] + in->backward_bytes[i]);
    return least;
}

static uint32_t boundaries(const struct pipe_instance *in, uint32_t from, uint32_t to)
{
    return in->server_of[to - 1] - in->server_of[from];
}

/* Of times, in ms; compare_all() divides them by the shortest rollout. */
static uint32_t describe_times(const struct pipe_infer *f, const struct ahead *w,
                               const struct rollout *near, const struct rollout *far,
                               const struct pipe_node *rest, float *x)
{
    const struct pipe_prefix *p = &w->prefix;
    double busy = stage_busy(f, &w->stage);
    double rest_busy = stage_busy(f, rest);
    const double ms[] = {
        busy,
        w->after,
        busy - w->after,
        rest_busy,
        w->stage.reduce_ms,
        rest->reduce_ms,
        w->link.reduce_ms,
        steady(f, &w->link, true),
        p->f0,
        p->f1 + w->after,
        p->f2 + rest->reduce_ms,
        p->f3,
        p->f0 + w->after + rest->reduce_ms,
        p->f0 + near->x,
        p->f1 + near->y,
        p->f2 + near->z,
        near->transfer,
        near->reduce,
        near->busy,
        far->transfer,
        far->reduce,
        far->busy,
    };

    for (uint32_t k = 0; k < sizeof ms / sizeof *ms; k++)
        x[k] = (float)ms[k];
    return sizeof ms / sizeof *ms;
}

/* Rollouts of candidate n, and its features but those that compare it with others. */
static void describe_state(struct pipe_infer *f, const struct pipe_infer_state *s, uint32_t n)
{
    const struct pipe_instance *in = f->goal->in;
    struct pipe_candidate c = f->candidate[n];
    uint32_t i = s->plan.pivot[s->cut - 1], a = s->plan.device[s->cut - 1],
             left = f->stages - s->cut;
    double devices = in->devices, share = f->work[c.pivot] - f->work[i];
    double bytes = in->forward_bytes[c.pivot] + in->backward_bytes[c.pivot];
    struct ahead w = look_at_stage(f, s, c);
    struct pipe_node rest = pipe_stage_node(in, c.pivot, in->points, c.device, in->devices);

    look_at_link(f, s, c, pipe_share_next(f, c.device, left), &w);
    struct rollout near = roll_out(f, s, c, SNAP, &w.prefix);
    struct rollout far = left > 1 ? roll_out(f, s, c, SNAP_FAR, &w.prefix) : near;
    float *x = f->row + (size_t)n * PIPE_INFER_FEATURES;

    f->rollout[n] = near.found ? fmin(near.length, far.length) : 4 * f->bound[n];
    f->near[n] = near.found ? near.length : 4 * f->bound[n];
    x += describe_times(f, &w, &near, &far, &rest, x);
    *x++ = (float)(share * devices / (c.device - a));
    *x++ = (float)(10 * share);
    *x++ = (float)log((bytes + 1) / (least_bytes(f, c.pivot, 4) + 1));
    *x++ = (float)log((bytes + 1) / (least_bytes(f, c.pivot, 10) + 1));
    *x++ = (float)(left / 4.0);
    *x++ = left == 1;
    *x++ = (float)(log(in->options.micro_batches) / 4);
    *x++ = c.device < in->devices && in->server_of[c.device] != in->server_of[c.device - 1];
    *x++ = (float)boundaries(in, a, c.device);
    *x++ = (float)((devices - c.device) / devices);
    *x++ = (float)f->work[i];
    *x++ = (float)((c.device - a) * (left + 1) / (devices - a));
}

/* What compares candidates: all times in the shortest length that is easily had - not in ideal
 * steps, which transfers may pass many times - then bound and rollouts over the least of all, at
 * two scales each. Everything is clipped. */
static void compare_all(struct pipe_infer *f)
{
    double bound = INFINITY, rollout = INFINITY;

    for (uint32_t n = 0; n < f->count; n++) {
        bound = fmin(bound, f->bound[n]);
        rollout = fmin(rollout, f->rollout[n]);
    }
    for (uint32_t n = 0; n < f->count; n++) {
        float *x = f->row + (size_t)n * PIPE_INFER_FEATURES;
        float *last = x + PIPE_INFER_FEATURES - 8;
        for (uint32_t k = 0; k < FEATURE_TIMES; k++)
            x[k] = (float)((double)x[k] / rollout);
        last[0] = (float)(f->ideal_ms / rollout);
        last[1] = (float)(f->whole_reduce_ms / rollout);
        last[2] = (float)(f->bound[n] / bound - 1);
        last[3] = (float)(log1p(50 * (f->bound[n] / bound - 1)));
        last[4] = (float)(f->rollout[n] / rollout - 1);
        last[5] = (float)(log1p(50 * (f->rollout[n] / rollout - 1)));
        last[6] = (float)(f->near[n] / rollout - 1);
        last[7] = (float)(log1p(50 * (f->near[n] / rollout - 1)));
        for (uint32_t k = 0; k < PIPE_INFER_FEATURES; k++)
            x[k] = ratio((double)x[k]);
    }
}

static double least_bound(const struct pipe_infer *f)
{
    double least = INFINITY;

    for (uint32_t n = 0; n < f->count; n++)
        least = f->bound[n] < least ? f->bound[n] : least;
    return least;
}

/* Of the candidates those whose bound is below `most`, and every so many of those that have it, so
 * that `room` are left. Which of equals are kept is by their place: bounds are equal where what is
 * decided already sets them. */
static void keep_room(struct pipe_infer *f, double most, uint32_t room)
{
    uint32_t below = 0, equal = 0, seen = 0, kept = 0;

    for (uint32_t n = 0; n < f->count; n++) {
        below += f->bound[n] < most;
        equal += f->bound[n] == most;
    }
    for (uint32_t n = 0; n < f->count; n++) {
        bool is_equal = f->bound[n] == most;
        uint64_t share = room - below, place = seen;
        seen += is_equal;
        if (f->bound[n] > most || (is_equal && place * share / equal == seen * share / equal))
            continue;
        f->candidate[kept] = f->candidate[n];
        f->bound[kept++] = f->bound[n];
    }
    f->count = kept;
}

/* Keeps those whose bound is no more than `most`, about, and of more than there is room for those
 * of the least bounds. */
static void drop_hopeless(struct pipe_infer *f, double most)
{
    uint32_t kept = 0, room = isfinite(f->known_ms) ? CANDIDATES_KNOWN : CANDIDATES_MOST;
    double last = INFINITY;

    most = BOUND_SLACK * fmax(most, least_bound(f));
    if (f->count > room) {
        memcpy(f->sorted, f->bound, f->count * sizeof *f->bound);
        last = select_double(f->sorted, f->count, room - 1);
        most = fmin(most, last);
    }
    if (most == last && isfinite(f->known_ms)) {
        keep_room(f, most, room);
        return;
    }
    for (uint32_t n = 0; n < f->count; n++) {
        if (f->bound[n] > most)
            continue;
        f->candidate[kept] = f->candidate[n];
        f->bound[kept++] = f->bound[n];
    }
    f->count = kept;
}

static bool add_candidate(struct pipe_infer *f, struct pipe_candidate c, double bound)
{
    if (!mem_grow(&f->candidate, &f->candidate_room, f->count, 1) ||
        !mem_grow(&f->bound, &f->bound_room, f->count, 1) ||
        !mem_grow(&f->sorted, &f->sorted_room, f->count, 1))
        return false;
    f->candidate[f->count] = c;
    f->bound[f->count++] = bound;
    return true;
}

/* Room to describe what is left. */
static bool take_room(struct pipe_infer *f)
{
    if (f->count <= f->room)
        return true;
    free(f->score);
    free(f->rollout);
    free(f->near);
    free(f->row);
    f->room = 0;
    f->score = mem_try(f->count, sizeof *f->score);
    f->rollout = mem_try(f->count, sizeof *f->rollout);
    f->near = mem_try(f->count, sizeof *f->near);
    f->row = mem_try(f->count, PIPE_INFER_FEATURES * sizeof *f->row);
    if (f->score && f->rollout && f->near && f->row)
        f->room = f->count;
    return f->room > 0;
}

static bool may_be_stage(const struct pipe_infer *f, const struct pipe_infer_state *s,
                         struct pipe_candidate c, bool is_next_last)
{
    const struct pipe_goal *g = f->goal;
    uint32_t i = s->plan.pivot[s->cut - 1], a = s->plan.device[s->cut - 1], n = g->in->points;

    if (!pipe_pins_allow(&g->pins, i, c.pivot, a, c.device) ||
        (is_next_last && !pipe_pins_allow(&g->pins, c.pivot, n, c.device, g->in->devices)))
        return false;
    return !g->variables || (g->in->variables[i] != g->in->variables[c.pivot] &&
                             g->in->variables[c.pivot] != g->in->variables[n]);
}

/* L when equal shares decide all that is left: no candidate with a higher bound can be best. */
static double length_by_share(const struct pipe_infer *f, const struct pipe_infer_state *s)
{
    struct pipe_plan near = s->plan, far = s->plan;
    double ms =
        pipe_share_complete(f, &near, s->cut, SNAP) ? pipe_length(f->goal->in, &near) : INFINITY;

    return pipe_share_complete(f, &far, s->cut, SNAP_FAR) ? fmin(ms, pipe_length(f->goal->in, &far))
                                                          : ms;
}

/* The plan of equal shares behind a candidate is remembered if it is the shortest so far. */
static void note_plan(struct pipe_infer *f, const struct pipe_infer_state *s,
                      struct pipe_candidate c, double snap, double length_ms)
{
    struct pipe_plan p = s->plan;

    if (!(length_ms < f->found_ms))
        return;
    p.pivot[s->cut] = c.pivot;
    p.device[s->cut] = c.device;
    if (!pipe_share_complete(f, &p, s->cut + 1, snap) ||
        pipe_goal_price(f->goal, &p) >= PIPE_UNFIT_MS)
        return;
    f->found = p;
    f->found_ms = length_ms;
}

/* Every rollout is a plan. */
static void note_rollout(struct pipe_infer *f, const struct pipe_infer_state *s)
{
    uint32_t best = 0;

    for (uint32_t n = 1; n < f->count; n++)
        best = f->rollout[n] < f->rollout[best] ? n : best;
    note_plan(f, s, f->candidate[best], f->near[best] > f->rollout[best] ? SNAP_FAR : SNAP,
              f->rollout[best]);
}

/* Of the stages of a device cut the first point whose rest fits into `most`. */
static uint32_t first_pivot(const struct pipe_infer *f, const struct pipe_infer_state *s,
                            uint32_t device, double most)
{
    uint32_t left = f->stages - s->cut, low = s->plan.pivot[s->cut - 1] + 1;
    uint32_t high = f->goal->in->points - left + 1;

    while (low < high) {
        uint32_t mid = (low + high) / 2;
        if (rest_ms(f, mid, device, left) > most)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* The candidates of one device cut whose bound is not above `most`. False: no memory. */
static bool list_cut(struct pipe_infer *f, const struct pipe_infer_state *s, uint32_t device,
                     double most)
{
    uint32_t left = f->stages - s->cut;

    for (uint32_t j = first_pivot(f, s, device, most); j <= f->goal->in->points - left; j++) {
        struct pipe_candidate one = {j, device};
        struct ahead w = look_at_stage(f, s, one);
        if (stage_busy(f, &w.stage) > most)
            break;
        if (bound_of(&w) > most || !may_be_stage(f, s, one, left == 1))
            continue;
        look_at_link(f, s, one, f->goal->in->devices, &w);
        double bound = bound_of(&w);
        if (!(bound > most) && !add_candidate(f, one, bound))
            return false;
    }
    return true;
}

/* All that is legal and whose bound is not above `most`, by device cut. False: no memory. */
static bool list_candidates(struct pipe_infer *f, const struct pipe_infer_state *s, double most)
{
    uint32_t left = f->stages - s->cut, a = s->plan.device[s->cut - 1];

    f->count = 0;
    for (uint32_t c = 0; c + left < f->cut_count; c++) {
        if (f->cuts[c] > a && !list_cut(f, s, f->cuts[c], most))
            return false;
    }
    return true;
}

/* What is worth a look. Where no bound is as short as equal shares, what is near the least. */
static bool list_hopeful(struct pipe_infer *f, const struct pipe_infer_state *s)
{
    double share = length_by_share(f, s), most = fmin(BOUND_SLACK * share, f->known_ms);

    if (!list_candidates(f, s, most))
        return false;
    if (most < f->known_ms && least_bound(f) > share && !list_candidates(f, s, f->known_ms))
        return false;
    drop_hopeless(f, share);
    return true;
}

bool pipe_infer_look(struct pipe_infer *f, const struct pipe_infer_state *s)
{
    if (!list_hopeful(f, s) || !f->count || !take_room(f))
        return false;
    for (uint32_t n = 0; n < f->count; n++)
        describe_state(f, s, n);
    compare_all(f);
    note_rollout(f, s);
    return true;
}

void pipe_infer_play(const struct pipe_infer *f, struct pipe_infer_state *s,
                     struct pipe_candidate c)
{
    const struct pipe_instance *in = f->goal->in;
    uint32_t i = s->plan.pivot[s->cut - 1], a = s->plan.device[s->cut - 1];
    struct pipe_node stage = pipe_stage_node(in, i, c.pivot, a, c.device);

    if (s->cut > 1) { /* the transfer to this stage waited for its devices */
        struct pipe_node link = pipe_link_node(in, i, s->plan.device[s->cut - 2], a, c.device);
        pipe_prefix_add(&s->before, &link, steady(f, &link, true));
    }
    pipe_prefix_add(&s->before, &stage, steady(f, &stage, false));
    s->plan.pivot[s->cut] = c.pivot;
    s->plan.device[s->cut++] = c.device;
}

uint32_t pipe_infer_stages(const struct pipe_goal *g)
{
    const struct pipe_instance *in = g->in;
    uint32_t servers = in->servers > 1 ? in->servers : 2;
    uint32_t most = in->devices < in->points ? in->devices : in->points;

    if (g->stages)
        return g->stages;
    return servers < most ? servers : most;
}

/* What is legal by the paper's network: the Q of its point, its device cut. */
static bool score_flat(struct pipe_infer *f, const struct flat_net *net,
                       const struct pipe_infer_state *s)
{
    float seen[FLAT_OBSERVATION], q[FLAT_ACTIONS];
    uint32_t device = 0;

    if (!flat_takes(f->goal->in) || !list_candidates(f, s, INFINITY) || !f->count || !take_room(f))
        return false;
    flat_observe_problem(f->goal->in, seen);
    for (uint32_t n = 0; n < f->count; n++) {
        struct pipe_candidate one = f->candidate[n];
        if (one.device != device) {
            device = one.device;
            flat_observe_plan(f->goal->in, &s->plan, s->cut, device, seen);
            flat_q(net, seen, q);
        }
        f->score[n] = q[one.pivot];
    }
    return true;
}

/* By the network; without one by the plan of equal shares that a candidate leads to. */
static bool look_and_score(struct pipe_infer *f, const struct pipe_net *net,
                           const struct pipe_infer_state *s)
{
    if (net && net->flat.parameters)
        return score_flat(f, &net->flat, s);
    if (!pipe_infer_look(f, s))
        return false;
    if (net)
        rl_scorer_score(&net->scorer, f->row, f->count, f->score);
    for (uint32_t n = 0; n < f->count && !net; n++)
        f->score[n] = (float)-f->rollout[n];
    return true;
}

static uint32_t best_score(const struct pipe_infer *f)
{
    uint32_t best = 0;

    for (uint32_t n = 1; n < f->count; n++)
        best = f->score[n] > f->score[best] ? n : best;
    return best;
}

bool pipe_infer_decide(struct pipe_infer *f, const struct pipe_net *net,
                       const struct pipe_infer_state *s, struct pipe_candidate *out)
{
    if (!look_and_score(f, net, s))
        return false;
    *out = f->candidate[best_score(f)];
    return true;
}

/* The last decision needs no network: each candidate is a whole plan. */
static bool decide_last(struct pipe_infer *f, const struct pipe_infer_state *s,
                        struct pipe_candidate *out)
{
    double least = INFINITY;

    if (!list_hopeful(f, s))
        return false;
    for (uint32_t n = 0; n < f->count; n++) {
        struct ahead w = look_at_stage(f, s, f->candidate[n]);
        look_at_link(f, s, f->candidate[n], f->goal->in->devices, &w);
        double ms = roll_out(f, s, f->candidate[n], SNAP, &w.prefix).length;
        if (ms < least) {
            least = ms;
            *out = f->candidate[n];
        }
    }
    note_plan(f, s, *out, SNAP, least);
    return isfinite(least);
}

bool pipe_infer_finish(struct pipe_infer *f, const struct pipe_net *net, struct pipe_infer_state *s)
{
    bool is_flat = net && net->flat.parameters;
    struct pipe_candidate taken;

    while (s->cut < f->stages) {
        bool is_last = s->cut + 1 == f->stages && !is_flat;
        if (is_last ? !decide_last(f, s, &taken) : !pipe_infer_decide(f, net, s, &taken))
            return false;
        pipe_infer_play(f, s, taken);
    }
    if (f->found_ms < pipe_length(f->goal->in, &s->plan))
        s->plan = f->found;
    return true;
}

uint32_t pipe_infer_first(struct pipe_infer *f, const struct pipe_net *net, uint32_t most,
                          struct pipe_candidate *out)
{
    struct pipe_infer_state s;
    uint32_t taken = 0;

    pipe_infer_start(f, &s);
    if (f->stages < 2 || !look_and_score(f, net, &s))
        return 0;
    for (; taken < most && taken < f->count; taken++) {
        uint32_t best = best_score(f);
        out[taken] = f->candidate[best];
        f->score[best] = -INFINITY;
    }
    return taken;
}
