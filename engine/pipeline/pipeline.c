#include "engine/pipeline/pipeline.h"

#include "engine/pipeline/descent.h"
#include "engine/pipeline/formula.h"
#include "engine/pipeline/order.h"
#include "engine/pipeline/pipe_instance.h"
#include "engine/pipeline/space.h"
#include "engine/pipeline/unroll.h"
#include "engine/problem/problem.h"
#include "engine/text/quantity.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { INSTANT_TRIES = 4 };

struct pipe_pins pipeline_pins(const struct pipeline *l, const struct pipe_instance *in)
{
    return (struct pipe_pins){in == &l->few ? l->pin_few : l->pin_all, l->options.pins};
}

/* "25%", "12.5 %" as a part of 1. */
static bool read_share(const char *text, double *out)
{
    if (!quantity_number(&text, out) || *out > 100)
        return false;
    *out /= 100;
    return !strcmp(text + strspn(text, " "), "%");
}

/* The cut of `all` that a pin names; 0: none. */
static uint32_t place_of(const struct pipeline *l, const char *place)
{
    double share;
    uint32_t best = 0;

    if (!read_share(place, &share)) {
        for (uint32_t p = 1; p < l->all.points; p++) {
            if (!strcmp(hlo_name(l->problem->m, l->all.instruction[p]), place))
                return p;
        }
        return 0;
    }
    for (uint32_t p = 1; p < l->all.points; p++) {
        if (!best || fabs(pipeline_share(l, p) - share) < fabs(pipeline_share(l, best) - share))
            best = p;
    }
    return best;
}

static int find_pins(struct pipeline *l, struct err *e)
{
    for (uint32_t n = 0; n < l->options.pins; n++) {
        const struct pipeline_pin *pin = &l->options.pin[n];
        l->pin_all[n] =
            (struct pipe_pin){pin->device, pin->place ? place_of(l, pin->place) : pin->position};
        if (!l->pin_all[n].pivot || l->pin_all[n].pivot >= l->all.points)
            return err_set(
                e, ERR_INPUT,
                "no cut at \"%.80s\", expected a forward instruction or a share such as 25%%",
                pin->place ? pin->place : "the end");
        if (!pin->device || pin->device >= l->all.devices)
            return err_set(e, ERR_INPUT,
                           "a stage cannot be pinned to begin at device %u, expected 1 to %u",
                           pin->device, l->all.devices - 1);
    }
    struct pipe_pins pins = pipeline_pins(l, &l->all);
    return pipe_pins_are_valid(&l->all, &pins) ? 0
                                               : err_set(e, ERR_INFEASIBLE,
                                                         "the pinned cuts contradict each other: "
                                                         "devices and places must ascend together");
}

/* Puts the pinned cuts among those of `few`; there is room for all cuts there are. */
static uint32_t add_pinned(struct pipeline *l, uint32_t count)
{
    for (uint32_t n = 0; n < l->options.pins; n++) {
        uint32_t pivot = l->pin_all[n].pivot, at = 0;
        while (l->cut[at] < pivot)
            at++;
        if (l->cut[at] != pivot) {
            memmove(l->cut + at + 1, l->cut + at, (count + 1 - at) * sizeof *l->cut);
            l->cut[at] = pivot;
            count++;
        }
    }
    for (uint32_t n = 0; n < l->options.pins; n++) {
        l->pin_few[n] = (struct pipe_pin){l->pin_all[n].device, 0};
        while (l->cut[l->pin_few[n].pivot] < l->pin_all[n].pivot)
            l->pin_few[n].pivot++;
    }
    return count;
}

static int make_few(struct pipeline *l, struct err *e)
{
    const struct pipeline_options *o = &l->options;

    l->cut = mem_try((size_t)l->all.points + 1, sizeof *l->cut);
    if (!l->cut)
        return err_no_memory(e, "for the cuts of a pipeline");
    uint32_t count = add_pinned(l, pipe_cut_points(&l->all, o->points, o->point_count, l->cut));
    return pipe_instance_coarsen(&l->all, l->cut, count, &l->few, e);
}

/* Every stage has a device and, of the points solvers choose from, one where a trainable variable
 * is first used. */
static int check_stages(const struct pipeline *l, struct err *e)
{
    uint32_t most = 0;

    if (l->options.stages > l->few.devices)
        return err_set(e, ERR_INFEASIBLE, "%u stages of %u devices, expected at most one a device",
                       l->options.stages, l->few.devices);
    for (uint32_t p = 0; p < l->few.points; p++)
        most += l->few.variables[p + 1] > l->few.variables[p];
    if (l->options.stages > most)
        return err_set(e, ERR_INFEASIBLE,
                       "%u stages, expected at most %u: each holds a trainable variable, and so "
                       "many of the %u parts there "
                       "are to choose from hold one",
                       l->options.stages, most, l->few.points);
    return 0;
}

static void drop_tables(struct pipeline *l)
{
    pipe_instance_free(&l->all);
    pipe_instance_free(&l->few);
    free(l->cut);
    l->cut = NULL;
}

static int make_tables(struct pipeline *l, uint32_t micro_batches, struct err *e)
{
    const struct pipeline_options *o = &l->options;
    struct pipe_options options = {.micro_batches = micro_batches,
                                   .micro_batch = o->batch / micro_batches,
                                   .overlap = o->overlap,
                                   .memory_share = o->no_limit ? 0 : 1,
                                   .limit_bytes = o->limit_bytes,
                                   .schedule = o->schedule,
                                   .half_duplex = o->half_duplex,
                                   .recompute = o->recompute};
    int rc = pipe_tabulate(&l->order, &options, &l->all, e);

    rc = rc ? rc : find_pins(l, e);
    rc = rc ? rc : make_few(l, e);
    return rc ? rc : check_stages(l, e);
}

bool pipeline_instant(const struct pipeline *l, struct pipe_plan *out)
{
    struct pipe_goal goal = {.in = &l->few,
                             .simulate = true,
                             .stages = l->options.stages,
                             .variables = true,
                             .pins = pipeline_pins(l, &l->few)};
    struct pipe_descent best;

    if (!pipe_instant(&goal, INSTANT_TRIES, &best))
        return false;
    *out = best.plan;
    return true;
}

/* The shortest step known at this number of micro-batches; INFINITY: nothing fits. */
static double instant_ms(const struct pipeline *l)
{
    const struct pipe_plan *given = l->options.chosen_for;
    struct pipe_plan plan;

    if (given)
        return pipe_plan_is_valid(&l->all, given) && pipe_fits(&l->all, given)
                   ? pipe_makespan(&l->all, given, l->options.schedule)
                   : INFINITY;
    return pipeline_instant(l, &plan) ? pipe_makespan(&l->few, &plan, l->options.schedule)
                                      : INFINITY;
}

/* Powers of two that divide the batch, and the batch itself cut into single samples. */
static int choose_micro_batches(struct pipeline *l, struct err *e)
{
    double best_ms = INFINITY;
    uint32_t best = 0, least = 1;

    for (uint32_t m = 1; m <= l->options.batch && m <= 1024; m *= 2) {
        if (l->options.batch % m)
            break;
        int rc = make_tables(l, m, e);
        double ms = rc ? INFINITY : instant_ms(l);
        drop_tables(l);
        if (rc)
            return rc;
        if (ms < best_ms) {
            best_ms = ms;
            best = m;
        }
        least = m;
    }
    l->options.micro_batches = best ? best : least; /* where nothing fits, the smallest */
    return 0;
}

static int complete_options(struct pipeline *l, struct err *e)
{
    struct pipeline_options *o = &l->options;

    if (!o->batch)
        o->batch = (uint32_t)l->problem->options.batch_size;
    if (!o->batch && l->order.steps.batch_size <= UINT32_MAX)
        o->batch = (uint32_t)l->order.steps.batch_size;
    if (!o->point_count)
        o->point_count = PIPELINE_POINTS;
    if (o->micro_batches && o->batch % o->micro_batches)
        return err_set(e, ERR_INPUT, "a batch of %u cannot be cut into %u equal micro-batches",
                       o->batch, o->micro_batches);
    return o->micro_batches ? 0 : choose_micro_batches(l, e);
}

/* The order asked for, which from here on is the pipeline's own. */
static int arrange(struct pipeline *l, struct err *e)
{
    struct pipeline_options *o = &l->options;
    size_t size = 2 * (size_t)o->runs;

    if (!o->runs)
        return 0;
    l->run = mem_try(size, sizeof *l->run);
    if (!l->run)
        return err_no_memory(e, "for the order of a pipeline");
    memcpy(l->run, o->run, size * sizeof *l->run);
    o->run = l->run;
    return order_arrange(&l->order, l->run, o->runs, e);
}

int pipeline_new(const struct problem *p, const struct pipeline_options *o, struct pipeline *out,
                 struct err *e)
{
    *out = (struct pipeline){.problem = p, .options = *o};
    int rc = order_new(p, &out->order, e);

    if (rc)
        goto out;
    rc = arrange(out, e);
    if (rc)
        goto out;
    rc = complete_options(out, e);
    if (rc)
        goto out;
    rc = make_tables(out, out->options.micro_batches, e);
    out->options.chosen_for = NULL;
out:
    if (rc)
        pipeline_release(out);
    return rc;
}

void pipeline_release(struct pipeline *l)
{
    drop_tables(l);
    free(l->run);
    order_release(&l->order);
    *l = (struct pipeline){0};
}

/* ---- plans ---- */

void pipeline_price(const struct pipeline *l, const struct pipe_plan *plan,
                    struct pipeline_plan *out)
{
    out->plan = *plan;
    out->length_ms = pipe_length(&l->all, plan);
    for (int k = 0; k < PIPE_SCHEDULE_COUNT; k++)
        out->makespan_ms[k] = pipe_makespan(&l->all, plan, (enum pipe_schedule_kind)k);
    out->fits = pipe_fits(&l->all, plan);
}

double pipeline_memory(const struct pipeline *l, const struct pipeline_plan *p, uint32_t *stage)
{
    double most = 0;

    for (uint32_t s = 0; s < p->plan.stages; s++) {
        double bytes = pipe_stage_of(&l->all, &p->plan, s).memory_bytes;
        if (bytes <= most)
            continue;
        most = bytes;
        if (stage)
            *stage = s;
    }
    return most;
}

void pipeline_scope(const struct pipeline *l, char *out, size_t room)
{
    if (l->few.points == l->all.points)
        snprintf(out, room, "over cuts at any of %u points", l->all.points);
    else
        snprintf(out, room, "over cuts at %u of %u points", l->few.points, l->all.points);
}

struct pipe_plan pipeline_refine(const struct pipeline *l, const struct pipe_plan *few)
{
    struct pipe_plan all = *few;

    for (uint32_t s = 0; s <= few->stages; s++)
        all.pivot[s] = l->cut[few->pivot[s]];
    return all;
}

double pipeline_share(const struct pipeline *l, uint32_t cut)
{
    const double *sum = l->all.forward_ms[0];

    return sum[l->all.points] > 0 ? sum[cut] / sum[l->all.points] : 0;
}

void pipeline_layer(const struct pipeline *l, uint32_t point, char *out, size_t room)
{
    const struct hlo_roles *roles = &l->problem->roles;

    out[0] = '\0';
    for (uint32_t p = point + 1; p-- > 0;) {
        if (order_layer(&l->order, roles, p, out, room))
            return;
    }
}

/* ---- the plan to take ---- */

/* The plan over points of `few`; false when a pivot is none of theirs. */
static bool coarsen_plan(const struct pipeline *l, const struct pipe_plan *all,
                         struct pipe_plan *few)
{
    uint32_t at = 0;

    *few = *all;
    for (uint32_t s = 0; s <= all->stages; s++) {
        while (at < l->few.points && l->cut[at] < all->pivot[s])
            at++;
        if (l->cut[at] != all->pivot[s])
            return false;
        few->pivot[s] = at;
    }
    return true;
}

/* Down by the makespan, at most PIPELINE_DESCENT_MOST plans. */
static struct pipe_descent descend_plan(const struct pipeline *l, const struct pipe_instance *in,
                                        const struct pipe_plan *from)
{
    struct pipe_goal goal = {.in = in,
                             .simulate = true,
                             .stages = l->options.stages,
                             .variables = true,
                             .pins = pipeline_pins(l, in),
                             .stop = l->options.stop};
    struct pipe_descent d;

    pipe_descent_start(&d, from, pipe_goal_price(&goal, from));
    pipe_descend(&d, &goal, PIPELINE_DESCENT_MOST);
    return d;
}

bool pipeline_choose(const struct pipeline *l, const struct pipeline_start *start, uint32_t count,
                     struct pipeline_plan *out)
{
    double best = PIPE_UNFIT_MS;

    for (uint32_t n = 0; n < count; n++) {
        struct pipe_plan plan = start[n].plan, few;
        if (coarsen_plan(l, &plan, &few)) {
            struct pipe_descent wide = descend_plan(l, &l->few, &few);
            plan = pipeline_refine(l, &wide.plan);
        }
        struct pipe_descent d = descend_plan(l, &l->all, &plan);
        if (d.value >= best)
            continue;
        best = d.value;
        pipeline_price(l, &d.plan, out);
        snprintf(out->found_by, sizeof out->found_by, "%s", start[n].name);
    }
    return best < PIPE_UNFIT_MS;
}

int pipeline_exact(const struct pipeline *l, const struct pipe_plan *known,
                   struct pipe_exact_result *out, struct err *e)
{
    struct pipe_pins pins = pipeline_pins(l, &l->few);
    struct pipe_exact_options o = {
        .stages = l->options.stages, .variables = true, .pins = pins, .stop = l->options.stop};
    struct pipe_goal goal = {.in = &l->few,
                             .stages = l->options.stages,
                             .variables = true,
                             .pins = pins,
                             .stop = l->options.stop};
    struct pipe_descent instant = {.value = INFINITY};

    if (!pipe_instant(&goal, INSTANT_TRIES, &instant))
        instant.value = INFINITY;
    double known_ms = known ? pipe_goal_price(&goal, known) : INFINITY;
    if (known_ms < instant.value && known_ms < PIPE_UNFIT_MS) {
        instant.plan = *known;
        instant.value = known_ms;
    }
    bool is_known = isfinite(instant.value);
    if (is_known)
        o.known_ms = instant.value; /* what cannot be as good is left out from the start */
    int rc = pipe_exact_solve(&l->few, &o, out, e);
    if (rc)
        return rc;
    if (is_known && !out->found) {
        out->found = true;
        out->plan = instant.plan;
        out->length_ms = instant.value;
    }
    return 0;
}

static bool is_stopped(const struct pipeline *l)
{
    return l->options.stop && atomic_load_explicit(l->options.stop, memory_order_relaxed);
}

bool pipeline_best_candidate(const struct pipeline *l, struct pipe_plan *out, double *length_ms)
{
    struct pipe_space_options o = pipe_space_paper();
    struct pipe_plan plan = {0};
    struct pipe_space space;
    struct err e;

    o.stages = l->options.stages;
    o.pins = pipeline_pins(l, &l->few);
    *length_ms = INFINITY;
    if (pipe_space_new(&l->few, &o, &space, &e))
        return false; /* the paper has no candidate here: one device, too few variables */
    for (uint32_t n = 0;
         n < PIPELINE_CANDIDATES_MOST && !is_stopped(l) && pipe_space_next(&space, &plan); n++) {
        double length = pipe_score(&l->few, &plan);
        if (length >= *length_ms)
            continue;
        *length_ms = length;
        *out = plan;
    }
    pipe_space_free(&space);
    return *length_ms < INFINITY;
}
