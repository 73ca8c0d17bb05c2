#include "engine/hybrid/hybrid.h"

#include "engine/decide/classes.h"
#include "engine/hybrid/by_value.h"
#include "engine/hybrid/hybrid_descent.h"
#include "engine/hybrid/interleave.h"
#include "engine/hybrid/pin_wishes.h"
#include "engine/hybrid/relaxed_stages.h"
#include "engine/hybrid/uniform.h"
#include "hlo/module/hlo.h"
#include "hlo/support/clock.h"
#include "hlo/support/stop.h"

#include "engine/cluster/cluster.h"
#include "engine/hybrid/hybrid_instance.h"
#include "engine/hybrid/hybrid_run.h"
#include "engine/hybrid/hybrid_search.h"
#include "engine/hybrid/sections.h"
#include "engine/pipeline/formula.h"
#include "engine/pipeline/order.h"
#include "engine/pipeline/pipe_instance.h"
#include "engine/problem/problem.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <string.h>

static const char MEMORY_FOR[] = "for a hybrid plan";

static const double NEAR = 0.1;             /* plans of L so far over the least are looked at too */
static const double MORE_FOR_RELAXED = 1.1; /* times the memory, for stages that then need less */

static bool is_stopped(const struct hybrid *h)
{
    return stop_asked(h->options.stop);
}

/* ---- one number of micro-batches ---- */

void hybrid_tables_release(struct hybrid_tables *t)
{
    hybrid_instance_release(&t->in);
    hybrid_instance_release(&t->ideal);
    stage_tables_release(&t->rows);
}

/* `slots` 0: all of them; else uniform ones on those. */
int hybrid_tables_new(const struct hybrid_run *s, uint32_t m, uint8_t zero, uint64_t slots,
                      struct hybrid_tables *t)
{
    const struct hybrid *h = s->h;
    const struct hybrid_options *o = &h->options;
    struct pipe_options p = hybrid_pipe_options(o, m);
    struct stage_options stage = {.batch = o->batch,
                                  .micro_batches = m,
                                  .zero = zero,
                                  .recompute = o->recompute,
                                  .overlap = o->overlap,
                                  .slots = slots,
                                  .is_uniform = slots != 0,
                                  .is_plain = o->is_uniform,
                                  .whole_layers = o->whole_layers,
                                  .tp = o->tp,
                                  .dp = o->dp,
                                  .pins = &h->pins,
                                  .stop = o->stop};
    const struct cluster *c = &h->problem->cluster;

    *t = (struct hybrid_tables){0};
    int rc = hybrid_instance_new(&t->in, h->sections.count, c, &p, s->e);
    if (!rc && !o->no_bound && !slots)
        rc = hybrid_instance_new(&t->ideal, h->sections.count, c, &p, s->e);
    rc = rc ? rc
            : stage_tables_new(&h->sections, &stage, &t->in, t->ideal.slots ? &t->ideal : NULL,
                               &t->rows, &t->possible, s->e);
    t->in.pins = t->ideal.pins = &h->pins;
    if (rc)
        hybrid_tables_release(t);
    return rc;
}

/* ---- the plan taken ---- */

/* Lets those who watch see it, priced as a file with it will be. */
static int show_best(struct hybrid_run *s)
{
    const struct hybrid_options *o = &s->h->options;
    if (!o->watch)
        return 0;
    int rc = hybrid_price(s->h, s->e);
    if (rc)
        return rc;
    o->watch(s->h, o->context);
    return 0;
}

/* The plan of `from`, without what the problem and the search are. */
static void move_plan(struct hybrid *from, struct hybrid *to)
{
    to->found = from->found;
    to->micro_batches = from->micro_batches;
    to->stages = from->stages;
    to->zero = from->zero;
    to->schedule = from->schedule;
    to->chunks = from->chunks;
    to->stage = from->stage;
    to->cut = from->cut;
    from->stage = NULL;
    from->cut = NULL;
    from->stages = 0;
}

/* The plan taken before goes; where a last round refines plans the last few are kept. */
static void put_aside(struct hybrid_run *s)
{
    struct hybrid *to = &s->former[s->formers % HYBRID_FORMER_MOST];

    hybrid_free_plan(to);
    move_plan(s->h, to);
    if (s->h->options.relaxes || s->h->options.keeps_values)
        s->formers += to->stages > 0;
    else
        hybrid_free_plan(to);
}

static int take_stage(struct hybrid_run *s, const struct hybrid_tables *t,
                      const struct hybrid_plan *p, uint32_t n)
{
    struct hybrid *h = s->h;
    const struct hybrid_instance *in = &t->in;
    const struct hybrid_slot *slot = &in->slot[p->slot[n]];
    const struct hybrid_point *point = &in->points[p->point[n]];
    const struct stage_shape *shape = &t->rows.shape[t->rows.row_shape[point->row]];
    struct pipe_options o = in->options;

    o.schedule = h->schedule;
    struct hybrid_stage *out = &h->stage[n];
    *out = (struct hybrid_stage){.point = *point,
                                 .section = p->cut[n],
                                 .end_section = p->cut[n + 1],
                                 .device = p->device[n],
                                 .end_device = p->device[n] + slot->devices,
                                 .axes = shape->axes,
                                 .size = {shape->size[0], shape->size[1]},
                                 .dp = stage_tables_dp(&t->rows, point->row),
                                 .in_flight = pipe_in_flight(&o, p->stages - n),
                                 .limit_bytes = slot->limit_bytes};
    out->memory_bytes = hybrid_point_bytes(point, out->in_flight);
    out->on = mem_try(h->problem->classes.count, sizeof *out->on);
    if (!out->on)
        return err_no_memory(s->e, MEMORY_FOR);
    stage_tables_labels(&t->rows, point->row, out->section, out->end_section, out->on);
    return 0;
}

int hybrid_run_take(struct hybrid_run *s, const struct hybrid_tables *t,
                    const struct hybrid_found *found, uint32_t m, uint8_t zero)
{
    const struct hybrid_plan *p = &found->plan;
    struct hybrid *h = s->h;
    const struct hybrid_instance *in = &t->in;
    int rc = 0;

    put_aside(s);
    h->stage = mem_try(p->stages, sizeof *h->stage);
    h->cut = mem_try(p->stages, sizeof *h->cut);
    if (!h->stage || !h->cut)
        return err_no_memory(s->e, MEMORY_FOR);
    h->found = true;
    h->chunks = 1;
    h->stages = p->stages;
    h->micro_batches = m;
    h->zero = zero;
    h->schedule = found->schedule;
    h->length_ms = hybrid_plan_length(in, p);
    for (int k = 0; k < PIPE_SCHEDULE_COUNT; k++)
        h->makespan_ms[k] = hybrid_plan_fits(in, p, (enum pipe_schedule_kind)k)
                                ? hybrid_plan_makespan(in, p, (enum pipe_schedule_kind)k)
                                : INFINITY;
    for (uint32_t n = 0; n < h->stages && !rc; n++) {
        uint32_t cut = p->cut[n];
        rc = take_stage(s, t, p, n);
        if (n)
            h->cut[n - 1] = (struct hybrid_cut){
                in->forward_bytes[cut], in->backward_bytes[cut], in->once_bytes[cut],
                hybrid_link_node(in, cut, p->device[n], p->slot[n - 1], p->slot[n])};
    }
    s->best_ms = found->ms;
    return rc;
}

/* ---- one number of micro-batches, searched ---- */

int hybrid_run_bound(struct hybrid_run *s, struct hybrid_tables *t, struct hybrid_try *out)
{
    struct hybrid_exact_options o = {.stages = s->h->options.stages,
                                     .is_bound = true,
                                     .known_ms = s->best_ms < INFINITY ? s->best_ms : 0,
                                     .stop = s->h->options.stop};
    struct hybrid_exact_result r;
    int rc = hybrid_exact_solve(&t->ideal, &o, &r, s->e);

    if (rc)
        return rc;
    s->h->transitions += r.transitions;
    out->interleaved_bound_ms = INFINITY;
    for (uint32_t slot = 0; slot < t->ideal.slots; slot++) {
        double least = uniform_interleaved_least(
            &t->ideal, slot, &(struct uniform_options){.stages = s->h->options.stages});
        s->interleaved_least[out - s->h->tried][slot] = least;
        out->interleaved_bound_ms = fmin(out->interleaved_bound_ms, least);
    }
    out->is_certified = r.certified;
    out->bound_ms = !r.certified ? 0 : r.found ? r.length_ms : INFINITY;
    return 0;
}

/* The plan of least L for the memory of one schedule, played and made shorter. */
static int solve_schedule(struct hybrid_run *s, struct hybrid_tables *t,
                          enum pipe_schedule_kind kind, uint8_t zero, struct hybrid_try *out)
{
    struct hybrid_exact_options o = {.stages = s->h->options.stages,
                                     .known_ms = s->best_ms < INFINITY ? s->best_ms : 0,
                                     .near = NEAR,
                                     .stop = s->h->options.stop};
    struct hybrid_descent_options down = {.schedule = hybrid_run_schedule(&s->h->options),
                                          .stages = s->h->options.stages,
                                          .stop = s->h->options.stop};
    struct hybrid_exact_result r;

    t->in.options.schedule = kind;
    int rc = hybrid_exact_solve(&t->in, &o, &r, s->e);
    if (rc)
        return rc;
    s->h->transitions += r.transitions;
    if (r.ended)
        s->h->is_ended = true;
    if (!r.found)
        return 0;
    struct hybrid_found best = hybrid_descend(&t->in, r.nearby, r.nearby_count, &down);
    hybrid_exact_release(&r);
    if (best.ms < out->step_ms) {
        out->step_ms = best.ms;
        out->length_ms = hybrid_plan_length(&t->in, &best.plan);
    }
    if (!(best.ms < s->best_ms))
        return 0;
    rc = hybrid_run_take(s, t, &best, out->micro_batches, zero);
    return rc ? rc : show_best(s);
}

/* An interleaved plan: the groups' memory is that of all their chunks. */
static int take_uniform(struct hybrid_run *s, const struct hybrid_tables *t,
                        const struct uniform_plan *u, uint32_t m, uint8_t zero)
{
    struct hybrid_found found = {u->plan, u->step_ms, u->schedule};
    struct hybrid *h = s->h;
    uint32_t groups = u->plan.stages / u->chunks;
    int rc = hybrid_run_take(s, t, &found, m, zero);

    if (rc || u->chunks == 1)
        return rc ? rc : show_best(s);
    h->chunks = u->chunks;
    h->interleaved_ms = u->step_ms;
    h->length_ms = 0;
    for (int k = 0; k < PIPE_SCHEDULE_COUNT; k++)
        h->makespan_ms[k] = INFINITY;
    for (uint32_t c = 0; c < h->stages; c++) {
        struct interleave x = {groups, u->chunks, m, NULL, NULL, NULL};
        h->stage[c].in_flight = interleave_in_flight(&x, c % groups);
        h->stage[c].memory_bytes = uniform_memory(&t->in, u, c % groups);
        if (c)
            h->cut[c - 1].node = uniform_transfer(&t->in, &u->plan, groups, c - 1);
    }
    return show_best(s);
}

static int solve_slot(struct hybrid_run *s, const struct hybrid_tables *t, uint32_t slot,
                      const struct uniform_options *o, struct hybrid_try *out)
{
    struct uniform_plan u = {.step_ms = s->best_ms};
    int rc = uniform_best(&t->in, slot, o, &u, s->e);

    if (rc || u.step_ms >= s->best_ms)
        return rc;
    rc = take_uniform(s, t, &u, out->micro_batches, t->rows.options.zero);
    out->step_ms = u.step_ms;
    out->length_ms = s->h->length_ms;
    return rc;
}

/* 0: not known. */
static double interleaved_least(const struct hybrid_run *s, uint32_t m, uint8_t zero, uint32_t slot)
{
    const struct hybrid *h = s->h;

    for (uint32_t n = 0; n < h->tries && !h->options.is_uniform; n++)
        if (h->tried[n].micro_batches == m && h->tried[n].zero == zero)
            return s->interleaved_least[n][slot];
    return 0;
}

static int solve_uniform(struct hybrid_run *s, uint32_t m, uint8_t zero)
{
    struct hybrid *h = s->h;
    struct hybrid_try *out = &h->tried[h->options.is_uniform ? h->tries : HYBRID_TRIES_MOST];
    struct uniform_options uniform = {
        .schedule = h->options.is_schedule_given ? (int)h->options.schedule
                    : h->options.is_uniform      ? PIPE_1F1B /* what trainers run */
                                                 : -1,
        .interleaves = !h->options.is_schedule_given,
        .stages = h->options.stages,
        .chunks = h->options.chunks,
        .only_interleaved = !h->options.is_uniform || h->options.only_interleaved,
        .stop = h->options.stop};
    struct pipe_options pipe = hybrid_pipe_options(&h->options, m);
    struct hybrid_instance in; /* without rows: its slots */
    bool possible = false;
    int rc = hybrid_instance_new(&in, h->sections.count, &h->problem->cluster, &pipe, s->e);

    if (rc)
        return rc;
    *out = (struct hybrid_try){
        .micro_batches = m, .zero = zero, .step_ms = INFINITY, .length_ms = INFINITY};
    for (uint32_t slot = 0; slot < in.slots && !rc && !is_stopped(h); slot++) {
        struct hybrid_tables t;
        if (!uniform_may_be(&in, slot, &uniform) ||
            interleaved_least(s, m, zero, slot) >= s->best_ms)
            continue;
        rc = hybrid_tables_new(s, m, zero, (uint64_t)1 << slot, &t);
        if (rc)
            break;
        possible |= t.possible;
        h->points += (uint32_t)t.in.point_count;
        if (t.possible)
            rc = solve_slot(s, &t, slot, &uniform, out);
        hybrid_tables_release(&t);
    }
    hybrid_instance_release(&in);
    h->tries += possible && h->options.is_uniform;
    return rc;
}

static int solve_micro_batches(struct hybrid_run *s, uint32_t m, uint8_t zero)
{
    if (s->h->options.is_uniform)
        return solve_uniform(s, m, zero);

    struct hybrid *h = s->h;
    struct hybrid_tables t;
    struct hybrid_try *out = &h->tried[h->tries];
    int rc = hybrid_tables_new(s, m, zero, 0, &t);

    if (rc || !t.possible) {
        if (!rc)
            hybrid_tables_release(&t);
        return rc;
    }
    *out = (struct hybrid_try){
        .micro_batches = m, .zero = zero, .step_ms = INFINITY, .length_ms = INFINITY};
    h->tries++;
    h->points += (uint32_t)t.in.point_count;
    if (!h->options.no_bound)
        rc = hybrid_run_bound(s, &t, out);
    bool can_win = h->options.no_bound || !out->is_certified || out->bound_ms < s->best_ms;
    for (int k = 0; k < PIPE_GPIPE && !rc && can_win && !is_stopped(h); k++)
        if (!h->options.is_schedule_given || k == (int)h->options.schedule)
            rc = solve_schedule(s, &t, (enum pipe_schedule_kind)k, zero, out);
    if (!rc && h->options.is_schedule_given && h->options.schedule == PIPE_GPIPE)
        rc = solve_schedule(s, &t, PIPE_GPIPE, zero, out);
    hybrid_tables_release(&t);
    return rc;
}

/* ---- all ---- */

/* Powers of two that divide the batch, and the batch: from the largest, which most often wins. */
static uint32_t list_micro_batches(const struct hybrid_options *o, uint32_t *out)
{
    uint32_t count = 0;

    if (o->micro_batches) {
        out[0] = o->micro_batches;
        return 1;
    }
    for (uint32_t m = 1; m <= o->batch && o->batch % m == 0 && count < HYBRID_MICRO_MOST - 1;
         m *= 2)
        out[count++] = m;
    if (out[count - 1] != o->batch && o->batch <= 4096)
        out[count++] = o->batch;
    for (uint32_t n = 0; n < count / 2; n++) {
        uint32_t x = out[n];
        out[n] = out[count - 1 - n];
        out[count - 1 - n] = x;
    }
    return count;
}

/* No plan is below the least bound; those left out because they cannot beat the plan taken have it
 * as theirs. */
static void sum_up(struct hybrid_run *s)
{
    struct hybrid *h = s->h;

    h->is_certified = !h->is_ended && !is_stopped(h) && h->tries > 0 && !h->options.no_bound;
    h->bound_ms = INFINITY;
    double interleaved_ms = INFINITY;
    for (uint32_t n = 0; n < h->tries; n++) {
        const struct hybrid_try *t = &h->tried[n];
        h->is_certified &= t->is_certified;
        h->bound_ms = fmin(h->bound_ms, t->bound_ms);
        interleaved_ms = fmin(interleaved_ms, t->interleaved_bound_ms);
    }
    h->bound_ms = fmin(h->bound_ms, s->plain_ms);
    if (h->chunks > 1)
        h->bound_ms = fmin(h->bound_ms, interleaved_ms);
    if (!h->is_certified)
        h->bound_ms = 0;
}

/* ---- the last round: stages that are relaxed, or keep what they keep by value ---- */

static double *refined_ms(struct hybrid *h)
{
    return h->options.keeps_values ? &h->by_value_ms : &h->relaxed_ms;
}

static int refine(struct hybrid *h, struct err *e)
{
    return h->options.keeps_values ? hybrid_by_value(h, e) : hybrid_relax(h, e);
}

/* Refines a plan made aside; it is taken when its step is shorter then. */
static int offer(struct hybrid_run *s, struct hybrid *from)
{
    struct hybrid *h = s->h, own = {0};
    double *ms = refined_ms(h), before = *ms;
    enum pipe_schedule_kind schedule = h->by_value_schedule;

    move_plan(h, &own);
    move_plan(from, h);
    int rc = hybrid_price(h, s->e);
    rc = rc ? rc : refine(h, s->e);
    if (rc || !(*ms < before)) {
        struct err none;
        hybrid_free_plan(h);
        move_plan(&own, h);
        *ms = before;
        h->by_value_schedule = schedule;
        if (!h->stages)
            return rc == ERR_MEMORY ? rc : 0;
        /* An offer that cannot be priced is none; the plan at hand has its figures again. */
        int again = hybrid_price(h, rc ? &none : s->e);
        return rc == ERR_MEMORY ? rc : again;
    }
    hybrid_free_plan(&own);
    return 0;
}

/* The plan there were with so many times the memory, 0: without a limit; or the interleaved one.
 * Refined, its stages may fit. The bound of plans without a limit goes to *bound_ms where it is
 * wanted, 0: none; to *is_of_both whether it is of interleaved ones too. */
static int offer_roomier(struct hybrid_run *s, double times, bool is_interleaved, double *bound_ms,
                         bool *is_of_both)
{
    struct hybrid *other = mem_try(1, sizeof *other);
    struct hybrid_options o = s->h->options;

    if (!other)
        return err_no_memory(s->e, MEMORY_FOR);
    o.no_limit = !(times > 0);
    o.memory_times = times;
    o.is_uniform |= is_interleaved;
    o.only_interleaved = is_interleaved;
    o.no_bound |= !bound_ms;
    o.relaxes = o.keeps_values = false;
    o.watch = NULL;
    int rc = hybrid_new(s->h->problem, &o, other, s->e);
    if (rc)
        goto out;
    if (bound_ms && other->is_certified)
        *bound_ms = other->bound_ms;
    if (is_of_both)
        *is_of_both = other->chunks > 1;
    rc = offer(s, other);
    hybrid_release(other);
out:
    free(other);
    return rc == ERR_INFEASIBLE ? 0 : rc;
}

static int offer_former(struct hybrid_run *s)
{
    int rc = 0;

    for (uint32_t n = 0; n < HYBRID_FORMER_MOST && !rc && !is_stopped(s->h); n++)
        if (s->former[n].stages)
            rc = offer(s, &s->former[n]);
    return rc;
}

/* Interleaved plans gain most from relaxed stages where tensor parallelism is wide, and such a plan
 * is often a little too large before. Where none is shorter then, the one without a limit may be.
 */
static int offer_roomiest(struct hybrid_run *s)
{
    const struct hybrid *h = s->h;
    double before = h->relaxed_ms;

    if (h->options.no_limit || is_stopped(h))
        return 0;
    int rc = offer_roomier(s, MORE_FOR_RELAXED, true, NULL, NULL);
    return rc || is_stopped(h) || h->relaxed_ms < before ? rc
                                                         : offer_roomier(s, 0, false, NULL, NULL);
}

/* Of the plan taken, of those taken before it and of roomier ones, the one that is shortest with
 * relaxed stages. */
static int relax_stages(struct hybrid_run *s)
{
    struct hybrid *h = s->h;
    bool was_interleaved = h->chunks > 1;
    int rc = hybrid_relax(h, s->e);

    rc = rc ? rc : offer_former(s);
    rc = rc ? rc : offer_roomiest(s);
    /* The bound is of strict plans that fit, interleaved ones only where the first plan was. */
    if (!hybrid_fits(h) || (h->chunks > 1) != was_interleaved) {
        h->is_certified = false;
        h->bound_ms = 0;
    }
    return rc;
}

/* The same by value, or where no plan fits the first that does so. The best plan to compute again
 * in is neither the one for the limit nor the one without: so those for a few larger limits too. No
 * plan that keeps everything, with no limit, is longer than one that computes some of it again: its
 * bound is that of all choices by value. */
static int keep_by_value(struct hybrid_run *s)
{
    static const double times[] = {1.25, 1.6, 2.5, 0};
    struct hybrid *h = s->h;
    double bound_ms = 0;
    bool is_of_both = false;
    int rc = h->stages ? hybrid_by_value(h, s->e) : 0;

    h->by_value_ms = h->stages ? h->by_value_ms : INFINITY;
    rc = rc ? rc : offer_former(s);
    for (size_t n = 0; n < sizeof times / sizeof *times && !rc; n++)
        if (!h->options.no_limit && !is_stopped(h))
            rc = offer_roomier(s, times[n], false, times[n] > 0 ? NULL : &bound_ms,
                               times[n] > 0 ? NULL : &is_of_both);
    if (rc || h->options.no_limit)
        return rc;
    h->found = h->stages > 0;
    h->is_certified = bound_ms > 0 && (h->chunks == 1 || is_of_both);
    h->bound_ms = h->is_certified ? fmin(bound_ms, h->by_value_ms) : 0;
    return rc;
}

static bool asks_for_a_shape(const struct hybrid_options *o)
{
    return o->stages || o->tp || o->dp || o->chunks || o->micro_batches;
}

static int none_found(struct hybrid_run *s)
{
    const struct hybrid *h = s->h;

    return err_set(s->e, ERR_INFEASIBLE, "%s",
                   is_stopped(h) ? "stopped before a hybrid plan was found"
                   : hybrid_algorithm_plays(h->options.algorithm)
                       ? "no hybrid plan was found among those that are played, whose cuts lie "
                         "near equal shares; --algo exact looks at all"
                   : h->pins.count
                       ? "no hybrid plan keeps the pins within the memory of the devices"
                   : asks_for_a_shape(&h->options)
                       ? "no hybrid plan with the stages, splits and micro-batches asked for "
                         "fits the devices and their memory"
                       : "no hybrid plan fits the memory of the devices");
}

static int search_level(struct hybrid_run *s, const uint32_t *list, uint32_t count, uint8_t zero)
{
    struct hybrid *h = s->h;
    int rc = 0;

    if (hybrid_algorithm_plays(h->options.algorithm)) {
        rc = hybrid_run_play(s, list, count, zero);
        s->plain_ms = s->best_ms;
        return rc;
    }
    for (uint32_t n = 0; n < count && !rc && !is_stopped(h); n++) {
        rc = solve_micro_batches(s, list[n], zero);
        if (!rc && h->options.watch)
            h->options.watch(h, h->options.context);
    }
    s->plain_ms = s->best_ms;
    bool interleaves =
        !h->options.is_uniform && !h->options.is_schedule_given && h->options.chunks != 1;
    for (uint32_t n = 0; n < count && !rc && interleaves && !is_stopped(h); n++)
        rc = solve_uniform(s, list[n], zero);
    return rc;
}

static int search_levels(struct hybrid_run *s)
{
    struct hybrid *h = s->h;
    uint32_t list[HYBRID_MICRO_MOST], count = list_micro_batches(&h->options, list);
    int first = h->options.zero < 0 ? 1 : h->options.zero,
        last = h->options.zero < 0 ? ZERO_LEVEL_MOST : h->options.zero, rc = 0;

    for (int zero = first; zero <= last && !rc && !is_stopped(h); zero++) {
        if (h->options.zero == HYBRID_ZERO_NEEDED && h->found)
            break;
        if (h->options.zero == HYBRID_ZERO_NEEDED)
            h->tries = 0; /* those that do not fit say nothing of the rest */
        rc = search_level(s, list, count, (uint8_t)zero);
    }
    return rc;
}

static int search_all(struct hybrid_run *s)
{
    struct hybrid *h = s->h;
    int rc = search_levels(s);

    if (rc)
        return rc;
    bool is_found = h->found; /* as all keeps or is recomputed */
    if (!is_found && h->options.keeps_values && !h->options.no_limit)
        rc = keep_by_value(s);
    if (rc)
        return rc;
    if (!h->found)
        return none_found(s);
    if (!is_found)
        return 0;
    sum_up(s);
    rc = hybrid_price(h, s->e);                               /* as a file with this plan will be */
    if (!rc && h->bound_ms <= hybrid_step_ms(h) * (1 + 1e-9)) /* sums in another order */
        h->bound_ms = fmin(h->bound_ms, hybrid_step_ms(h));
    if (rc)
        return rc;
    return h->options.keeps_values ? keep_by_value(s) : h->options.relaxes ? relax_stages(s) : 0;
}

int hybrid_new(const struct problem *p, const struct hybrid_options *o, struct hybrid *out,
               struct err *e)
{
    int rc = hybrid_open(p, out, e);

    if (rc)
        return rc;
    double start = clock_thread_seconds();
    out->options = *o;
    out->options.is_uniform |= o->algorithm == HYBRID_UNIFORM;
    if (!out->options.batch)
        out->options.batch = (uint32_t)out->order.steps.batch_size;
    struct hybrid_run s = {.h = out, .e = e, .best_ms = INFINITY};
    rc = hybrid_pins_make(&out->sections, &p->cluster, o->pins, o->pin_count, &out->pins, e);
    rc = rc ? rc : search_all(&s);
    out->played.seconds = clock_thread_seconds() - start;
    for (uint32_t n = 0; n < HYBRID_FORMER_MOST; n++)
        hybrid_free_plan(&s.former[n]);
    if (rc)
        hybrid_release(out);
    return rc;
}
