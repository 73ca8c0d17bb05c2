#include "engine/relaxed/limited_batches.h"
#include "hlo/support/stop.h"

#include "engine/cost/training.h"
#include "engine/problem/problem.h"
#include "engine/relaxed/relaxed.h"
#include "engine/relaxed/relaxed_internal.h"
#include "hlo/support/err.h"

#include <math.h>
#include <string.h>

static const double NEAR = 1e-9;

struct choose {
    struct problem *p;
    const struct relaxed_batches_options *o;
    struct batch_and_zero_result *out;
    struct relaxed_plan *plan;
    struct relaxed_limited *how;
    bool has_plan;
    bool proves; /* of numbers with which nothing fits the proof is enough */
    struct err *e;
};

/* The plan with k micro-batches. */
static int solve_with(struct choose *c, uint32_t k, double beaten_ms, struct relaxed_plan *plan,
                      struct relaxed_limited *how)
{
    struct relaxed_options options = c->o->relaxed;
    struct relaxed *r;
    int rc = problem_set_batch_and_zero(c->p, &(struct batch_and_zero){k, 0, c->p->options.overlap},
                                        c->e);

    if (rc)
        return rc;
    options.folding = RELAXED_FOLD_OFF;
    rc = relaxed_new(c->p, &options, &r, c->e);
    if (rc)
        return rc;
    if (c->o->fix)
        rc = c->o->fix(c->o->context, c->p, r, c->e);
    if (rc)
        goto out;
    rc = (c->proves ? relaxed_solve_limited_or_prove
                    : relaxed_solve_limited)(r, c->o->limit, beaten_ms, plan, how, c->e);
out:
    relaxed_free(r);
    return rc;
}

static bool is_better(const struct choose *c, const struct relaxed_plan *plan,
                      const struct relaxed_limited *how)
{
    if (!c->has_plan || how->fits != c->how->fits)
        return !c->has_plan || how->fits;
    return how->fits ? plan->cost.step_ms < c->plan->cost.step_ms * (1 - NEAR)
                     : how->peak < c->how->peak * (1 - NEAR);
}

static void keep_best(struct choose *c, uint32_t k, const struct relaxed_plan *plan,
                      const struct relaxed_limited *how)
{
    if (c->has_plan)
        relaxed_plan_release(c->plan);
    *c->plan = *plan;
    *c->how = *how;
    c->has_plan = true;
    c->out->fits = how->fits;
    c->out->batching = (struct batch_and_zero){k, 0, c->p->options.overlap};
}

static int try_batches(struct choose *c, uint32_t k)
{
    struct batch_and_zero_try *t = &c->out->tries[c->out->count];
    double beaten = c->out->fits ? c->plan->cost.step_ms * (1 - NEAR) : INFINITY;
    struct relaxed_plan plan;
    struct relaxed_limited how;
    int rc = solve_with(c, k, beaten, &plan, &how);

    if (rc && rc != ERR_INFEASIBLE)
        return rc;
    c->out->count++;
    *t = (struct batch_and_zero_try){
        .batching = {k, 0, c->p->options.overlap}, .proven = true, .bound = INFINITY};
    if (rc)
        return 0;
    t->fits = how.fits;
    t->is_skipped = how.is_skipped;
    t->peak = how.peak;
    t->least_bound = how.least_bound;
    t->value = plan.cost.step_ms;
    t->proven = how.fits ? plan.gap <= NEAR : how.least_bound > c->o->limit;
    t->bound = !how.fits && t->proven ? INFINITY : how.bound_ms;
    if (!how.is_skipped && is_better(c, &plan, &how))
        keep_best(c, k, &plan, &how);
    else
        relaxed_plan_release(&plan);
    return 0;
}

/* The least of `numbers` above the present one with which a plan fits; 0: none was found. */
static int find_needed(struct choose *c, const uint32_t *numbers, uint32_t count, uint32_t *out)
{
    *out = 0;
    for (uint32_t n = 0; n < count && !*out; n++) {
        struct relaxed_plan plan;
        struct relaxed_limited how;
        if (stop_asked(c->p->stop))
            break;
        if (numbers[n] <= c->o->micro_batches)
            continue;
        int rc = solve_with(c, numbers[n], INFINITY, &plan, &how);
        if (rc == ERR_INFEASIBLE)
            continue;
        if (rc)
            return rc;
        *out = how.fits ? numbers[n] : 0;
        relaxed_plan_release(&plan);
    }
    return 0;
}

static void sum_up(struct batch_and_zero_result *out, bool ended, const struct relaxed_plan *plan,
                   const struct relaxed_limited *how)
{
    out->plan.peak = how->peak;
    out->plan.value = plan->cost.step_ms;
    out->proven = true;
    out->bound = out->least_bound = INFINITY;
    for (uint32_t n = 0; n < out->count; n++) {
        const struct batch_and_zero_try *t = &out->tries[n];
        out->bound = fmin(out->bound, t->bound);
        out->least_bound = t->peak > 0 ? fmin(out->least_bound, t->least_bound) : out->least_bound;
        out->proven &= out->fits || t->proven;
    }
    if (out->fits) {
        out->bound = fmin(out->bound, out->plan.value);
        out->proven = out->bound >= out->plan.value * (1 - NEAR);
    }
    if (ended) { /* numbers may be left that nothing is known of */
        out->proven = false;
        out->bound = out->least_bound = 0;
    }
    if (!isfinite(out->least_bound))
        out->least_bound = 0;
}

static int try_numbers(struct choose *c, const uint32_t *numbers, uint32_t count)
{
    for (uint32_t n = 0; n < count; n++) {
        if (c->has_plan && stop_asked(c->p->stop))
            break;
        int rc = try_batches(c, numbers[n]);
        if (rc)
            return rc;
    }
    return 0;
}

/* Where a number fits, the smallest peaks of others are no answer to anything. */
static int try_all(struct choose *c, const uint32_t *numbers, uint32_t count)
{
    if (c->o->micro_batches)
        return try_batches(c, c->o->micro_batches);
    c->proves = true;
    int rc = try_numbers(c, numbers, count);
    c->proves = false;
    if (rc || c->out->fits || !c->has_plan || stop_asked(c->p->stop))
        return rc;
    c->out->count = 0;
    return try_numbers(c, numbers, count);
}

int relaxed_choose_batches(struct problem *p, const struct relaxed_batches_options *o,
                           struct batch_and_zero_result *out, struct relaxed_plan *plan,
                           struct relaxed_limited *how, struct err *e)
{
    struct choose c = {.p = p, .o = o, .out = out, .plan = plan, .how = how, .e = e};
    struct batch_and_zero before = problem_batch_and_zero(p);
    uint32_t numbers[BATCH_AND_ZERO_MOST / 4],
        count = batch_and_zero_numbers(p, numbers, BATCH_AND_ZERO_MOST / 4);
    struct err lost;

    memset(out, 0, sizeof *out);
    if (before.zero)
        return err_set(
            e, ERR_INPUT,
            "relaxed mode decides itself what is stored in pieces: expected ZeRO level 0");
    int rc = try_all(&c, numbers, count);
    if (rc)
        goto fail;
    if (!c.has_plan) {
        rc = err_set(e, ERR_INFEASIBLE, "the fixed decisions cannot hold with %s micro-batches",
                     o->micro_batches ? "so many" : "any number of");
        goto fail;
    }
    if (!out->fits && o->micro_batches)
        rc = find_needed(&c, numbers, count, &out->needs_micro_batches);
    if (rc)
        goto fail;
    sum_up(out, !o->micro_batches && out->count < count, plan, how);
    plan->bound_ms = out->fits ? out->bound : plan->bound_ms;
    plan->gap = plan->bound_ms > 0 ? plan->cost.step_ms / plan->bound_ms - 1 : 0;
    rc = problem_set_batch_and_zero(p, &out->batching, e);
    if (rc)
        goto out;
    return 0;
out:
fail:
    if (c.has_plan)
        relaxed_plan_release(plan);
    (void)!problem_set_batch_and_zero(p, &before, &lost);
    return rc;
}
