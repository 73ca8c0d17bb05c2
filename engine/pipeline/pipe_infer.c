#include "engine/pipeline/pipe_infer.h"

#include "engine/pipeline/formula.h"
#include "engine/pipeline/instance.h"
#include "hlo/support/err.h"
#include "hlo/support/file.h"
#include "hlo/support/mem.h"
#include "rl/error.h"
#include "rl/serialize.h"

#include <math.h>
#include <string.h>

enum { KIND_PIPE_NET = 16, FEATURE_LIST = 1 /* with every change of what a feature means */ };
#define BOUND_SLACK 2.0  /* a candidate whose bound is so many times the least is no candidate */
#define SNAP 0.02        /* of all computation: how far equal shares look for a cheap cut */
#define FEATURE_MOST 8.0 /* features are clipped */

/* ---- the problem ---- */

static bool takes_cut(const struct pipe_goal *g, uint32_t device)
{
    return device == g->in->devices || !g->device_cut || g->device_cut[device];
}

int pipe_infer_new(struct pipe_infer *f, const struct pipe_goal *goal, uint32_t stages,
                   struct err *e)
{
    const struct pipe_instance *in = goal->in;

    *f = (struct pipe_infer){.goal = goal, .stages = stages};
    f->work = mem_try((size_t)in->points + 1, sizeof *f->work);
    f->cuts = mem_try(in->devices, sizeof *f->cuts);
    if (!f->work || !f->cuts) {
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
    free(f->candidate);
    free(f->row);
    free(f->score);
    free(f->bound);
    free(f->rollout);
    memset(f, 0, sizeof *f);
}

void pipe_infer_start(const struct pipe_infer *f, struct pipe_infer_state *out)
{
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

/* ---- equal shares ---- */

/* Of the cuts from `least` to `most` the one of fewest bytes within SNAP of the share, the nearest
 * on ties; the share's own where none is that near. */
static uint32_t share_pivot(const struct pipe_infer *f, double share, uint32_t least, uint32_t most)
{
    const struct pipe_instance *in = f->goal->in;
    uint32_t low = least, high = most;

    while (low < high) {
        uint32_t mid = (low + high) / 2;
        if (f->work[mid] < share)
            low = mid + 1;
        else
            high = mid;
    }
    if (low > least && share - f->work[low - 1] < f->work[low] - share)
        low--;
    uint32_t best = low;
    for (uint32_t i = low; i-- > least && share - f->work[i] <= SNAP;)
        best = in->forward_bytes[i] < in->forward_bytes[best] ? i : best;
    for (uint32_t i = low + 1; i <= most && f->work[i] - share <= SNAP; i++)
        best = in->forward_bytes[i] < in->forward_bytes[best] ? i : best;
    return best;
}

/* The device cut nearest to an equal part of what is left behind `device`, that leaves `more`. */
static uint32_t share_device(const struct pipe_infer *f, uint32_t device, uint32_t left)
{
    uint32_t devices = f->goal->in->devices, best = devices, most = f->cut_count - left;
    double wanted = device + (double)(devices - device) / (left + 1);

    for (uint32_t c = 0; c <= most && c < f->cut_count; c++) {
        if (f->cuts[c] > device &&
            (best == devices || fabs(f->cuts[c] - wanted) < fabs(best - wanted)))
            best = f->cuts[c];
    }
    return best;
}

/* Decides cuts s->cut .. by equal shares of what is left. False where they do not ascend. */
static bool complete(const struct pipe_infer *f, struct pipe_plan *p, uint32_t cut)
{
    for (; cut < p->stages; cut++) {
        uint32_t left = p->stages - cut, from = p->pivot[cut - 1], device = p->device[cut - 1];
        uint32_t to = share_device(f, device, left);
        if (from + 1 > f->goal->in->points - left || to >= f->goal->in->devices)
            return false;
        double share = (double)(to - device) / (f->goal->in->devices - device);
        p->device[cut] = to;
        p->pivot[cut] = share_pivot(f, f->work[from] + (1 - f->work[from]) * share, from + 1,
                                    f->goal->in->points - left);
    }
    return true;
}

bool pipe_infer_by_share(struct pipe_infer *f, struct pipe_plan *out)
{
    struct pipe_infer_state s;

    pipe_infer_start(f, &s);
    bool ok = complete(f, &s.plan, 1);
    *out = s.plan;
    return ok;
}

/* ---- one candidate ---- */

static struct pipe_prefix behind(const struct pipe_infer *f, const struct pipe_infer_state *s,
                                 struct pipe_candidate c, struct pipe_node *stage,
                                 struct pipe_node *link, uint32_t next)
{
    const struct pipe_instance *in = f->goal->in;
    uint32_t i = s->plan.pivot[s->cut - 1], a = s->plan.device[s->cut - 1];
    struct pipe_prefix p = s->before;

    if (s->cut > 1) {
        struct pipe_node to = pipe_link_node(in, i, s->plan.device[s->cut - 2], a, c.device);
        pipe_prefix_add(&p, &to, steady(f, &to, true));
    }
    *stage = pipe_stage_node(in, i, c.pivot, a, c.device);
    *link = pipe_link_node(in, c.pivot, a, c.device, next);
    pipe_prefix_add(&p, stage, steady(f, stage, false));
    pipe_prefix_add(&p, link, steady(f, link, true));
    return p;
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

/* Bound and rollout of candidate n, and its features but those that compare it with others. */
static void describe(struct pipe_infer *f, const struct pipe_infer_state *s, uint32_t n)
{
    const struct pipe_instance *in = f->goal->in;
    struct pipe_candidate c = f->candidate[n];
    uint32_t i = s->plan.pivot[s->cut - 1], a = s->plan.device[s->cut - 1],
             left = f->stages - s->cut;
    double t = f->ideal_ms, m = in->options.micro_batches, devices = in->devices;
    float *x = f->row + (size_t)n * PIPE_INFER_FEATURES;
    struct pipe_plan rollout = s->plan;
    struct pipe_node stage, link;
    uint32_t k = 0;

    rollout.pivot[s->cut] = c.pivot;
    rollout.device[s->cut] = c.device;
    bool rolls = complete(f, &rollout, s->cut + 1);
    uint32_t next = rolls ? rollout.device[s->cut + 1] : in->devices;
    struct pipe_prefix p = behind(f, s, c, &stage, &link, next);
    struct pipe_node rest = pipe_stage_node(in, c.pivot, in->points, c.device, in->devices);
    struct pipe_node whole = pipe_stage_node(in, 0, in->points, 0, in->devices);
    double share = f->work[c.pivot] - f->work[i], part = (c.device - a) / devices;
    double after = (1 - f->work[c.pivot]) * t * devices / (devices - c.device);
    double busy = m * (stage.forward_ms + stage.backward_ms);
    double bound = pipe_more(pipe_more(p.f0 + after, p.f1 + after), pipe_more(p.f2, p.f3));
    double bytes = in->forward_bytes[c.pivot] + in->backward_bytes[c.pivot];

    f->bound[n] = bound;
    f->rollout[n] = rolls ? pipe_length(in, &rollout) : 4 * bound;
    x[k++] = (float)(busy / t);
    x[k++] = (float)(share / part);
    x[k++] = (float)(after / t);
    x[k++] = (float)((busy - after) / t);
    x[k++] = (float)(stage.reduce_ms / t);
    x[k++] = (float)(rest.reduce_ms / t);
    x[k++] = (float)(steady(f, &link, true) / t);
    x[k++] = (float)(p.f3 / t);
    x[k++] = (float)(p.f0 / t);
    x[k++] = (float)((p.f1 + after) / t);
    x[k++] = (float)((p.f2 + rest.reduce_ms) / t);
    x[k++] = (float)(bound / t);
    x[k++] = (float)(f->rollout[n] / t);
    x[k++] = (float)(log((bytes + 1) / (least_bytes(f, c.pivot, 4) + 1)));
    x[k++] = (float)(log((bytes + 1) / (least_bytes(f, c.pivot, 10) + 1)));
    x[k++] = (float)(left / 4.0);
    x[k++] = (float)(log(m) / 4);
    x[k++] = c.device < in->devices && in->server_of[c.device] != in->server_of[c.device - 1];
    x[k++] = (float)(boundaries(in, a, c.device));
    x[k++] = (float)((devices - c.device) / devices);
    x[k++] = (float)(f->work[i]);
    x[k++] = left == 1;
    x[k++] = (float)((c.device - a) * (left + 1) / (devices - a));
    x[k++] = (float)(whole.reduce_ms / t);
    x[k++] = (float)(link.reduce_ms / t);
    x[k++] = (float)(10 * share);
}

/* Features that describe() has in ideal steps, by place. */
static const uint8_t in_steps[] = {0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 23, 24};

/* What compares candidates: all times in the shortest length that is easily had, in place of ideal
 * steps, which transfers may pass many times; then bound and rollout over the least of all, at two
 * scales each. Everything is clipped. */
static void compare_all(struct pipe_infer *f)
{
    double bound = INFINITY, rollout = INFINITY;

    for (uint32_t n = 0; n < f->count; n++) {
        bound = fmin(bound, f->bound[n]);
        rollout = fmin(rollout, f->rollout[n]);
    }
    float scale = (float)(f->ideal_ms / rollout);
    for (uint32_t n = 0; n < f->count; n++) {
        float *x = f->row + (size_t)n * PIPE_INFER_FEATURES;
        float *last = x + PIPE_INFER_FEATURES - 4;
        for (uint32_t k = 0; k < sizeof in_steps; k++)
            x[in_steps[k]] *= scale;
        x[12] = scale; /* the rollout itself is compared below */
        last[0] = (float)(f->bound[n] / bound - 1);
        last[1] = (float)(20 * (f->bound[n] / bound - 1));
        last[2] = (float)(f->rollout[n] / rollout - 1);
        last[3] = (float)(20 * (f->rollout[n] / rollout - 1));
        for (uint32_t k = 0; k < PIPE_INFER_FEATURES; k++)
            x[k] = ratio((double)x[k]);
    }
}

static void drop_hopeless(struct pipe_infer *f)
{
    double least = INFINITY;
    uint32_t kept = 0;

    for (uint32_t n = 0; n < f->count; n++)
        least = fmin(least, f->bound[n]);
    for (uint32_t n = 0; n < f->count; n++) {
        if (f->bound[n] > BOUND_SLACK * least)
            continue;
        f->candidate[kept] = f->candidate[n];
        f->bound[kept] = f->bound[n];
        f->rollout[kept] = f->rollout[n];
        memmove(f->row + (size_t)kept * PIPE_INFER_FEATURES,
                f->row + (size_t)n * PIPE_INFER_FEATURES, PIPE_INFER_FEATURES * sizeof *f->row);
        kept++;
    }
    f->count = kept;
}

static bool take_room(struct pipe_infer *f)
{
    size_t room[4] = {f->room, f->room, f->room, f->room};
    size_t rows = f->room * PIPE_INFER_FEATURES;

    return mem_grow(&f->candidate, &room[0], f->count, 1) &&
           mem_grow(&f->score, &room[1], f->count, 1) &&
           mem_grow(&f->bound, &room[2], f->count, 1) &&
           mem_grow(&f->rollout, &room[3], f->count, 1) &&
           mem_grow(&f->row, &rows, (size_t)f->count * PIPE_INFER_FEATURES, PIPE_INFER_FEATURES) &&
           (f->room = room[0] < rows / PIPE_INFER_FEATURES ? room[0] : rows / PIPE_INFER_FEATURES);
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

bool pipe_infer_look(struct pipe_infer *f, const struct pipe_infer_state *s)
{
    uint32_t left = f->stages - s->cut, a = s->plan.device[s->cut - 1];

    f->count = 0;
    for (uint32_t c = 0; c + left < f->cut_count; c++) {
        for (uint32_t j = s->plan.pivot[s->cut - 1] + 1;
             f->cuts[c] > a && j <= f->goal->in->points - left; j++) {
            struct pipe_candidate one = {j, f->cuts[c]};
            if (!may_be_stage(f, s, one, left == 1))
                continue;
            if (!take_room(f))
                return false;
            f->candidate[f->count] = one;
            describe(f, s, f->count++);
        }
    }
    drop_hopeless(f);
    compare_all(f);
    return f->count > 0;
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

/* By the network; without one by the plan of equal shares that a candidate leads to. */
static void score_all(struct pipe_infer *f, const struct rl_scorer *net)
{
    if (net) {
        rl_scorer_score(net, f->row, f->count, f->score);
        return;
    }
    for (uint32_t n = 0; n < f->count; n++)
        f->score[n] = (float)-f->rollout[n];
}

static uint32_t best_score(const struct pipe_infer *f)
{
    uint32_t best = 0;

    for (uint32_t n = 1; n < f->count; n++)
        best = f->score[n] > f->score[best] ? n : best;
    return best;
}

bool pipe_infer_finish(struct pipe_infer *f, const struct rl_scorer *net,
                       struct pipe_infer_state *s)
{
    while (s->cut < f->stages) {
        if (!pipe_infer_look(f, s))
            return false;
        score_all(f, net);
        pipe_infer_play(f, s, f->candidate[best_score(f)]);
    }
    return true;
}

uint32_t pipe_infer_first(struct pipe_infer *f, const struct rl_scorer *net, uint32_t most,
                          struct pipe_candidate *out)
{
    struct pipe_infer_state s;
    uint32_t taken = 0;

    pipe_infer_start(f, &s);
    if (f->stages < 2 || !pipe_infer_look(f, &s))
        return 0;
    score_all(f, net);
    for (; taken < most && taken < f->count; taken++) {
        uint32_t best = best_score(f);
        out[taken] = f->candidate[best];
        f->score[best] = -INFINITY;
    }
    return taken;
}

/* ---- the file ---- */

static void serialize_net(struct rl_serializer *w, struct pipe_net *n)
{
    uint32_t list = FEATURE_LIST, features = PIPE_INFER_FEATURES;

    RL_ONE(w, list);
    RL_ONE(w, features);
    w->failed |= list != FEATURE_LIST || features != PIPE_INFER_FEATURES;
    RL_ONE(w, n->seed);
    RL_ONE(w, n->environments);
    RL_ONE(w, n->temperature);
    RL_ONE(w, n->loss);
    if (!w->failed)
        rl_scorer_serialize(w, &n->scorer);
    w->failed |= n->scorer.features != PIPE_INFER_FEATURES;
}

int pipe_net_load(struct pipe_net *n, const char *path)
{
    struct rl_serializer w;
    struct rl_bytes bytes = {0};
    int code = rl_bytes_read(&bytes, path);

    *n = (struct pipe_net){0};
    if (!code)
        code = rl_bytes_check(bytes.data, bytes.size, KIND_PIPE_NET, &w);
    if (!code) {
        serialize_net(&w, n);
        code = w.failed || w.at != w.size ? RL_E_FORMAT : RL_OK;
    }
    rl_bytes_release(&bytes);
    if (code)
        pipe_net_free(n);
    return code;
}

int pipe_net_save(const struct pipe_net *n, const char *path, struct err *e)
{
    struct rl_serializer measure = {.pass = RL_MEASURE}, w;
    struct pipe_net copy = *n;
    struct rl_bytes bytes;

    serialize_net(&measure, &copy);
    if (rl_bytes_open(&bytes, measure.at, &w))
        return err_no_memory(e, "for the network's file");
    serialize_net(&w, &copy);
    rl_bytes_seal(&bytes, KIND_PIPE_NET);
    int rc = hlo_file_write(path, bytes.data, bytes.size, FILE_REPLACE, e);
    rl_bytes_release(&bytes);
    return rc;
}

void pipe_net_free(struct pipe_net *n)
{
    rl_scorer_free(&n->scorer);
    *n = (struct pipe_net){0};
}
