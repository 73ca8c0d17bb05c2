#include "engine/plan/recompute_joint.h"

#include "engine/cost/step_tables.h"
#include "engine/cost/training.h"
#include "engine/decide/labels.h"
#include "engine/exact/limit.h"
#include "engine/plan/plan.h"
#include "engine/plan/recompute_at.h"
#include "engine/problem/problem.h"
#include "engine/recompute/recompute.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Limits that plans are made for, in parts of the one asked for. Beyond four times as much the
 * fastest plan without a limit is as good a start. */
static const double LARGER[] = {1, 1.25, 1.6, 2.2, 4};
enum { LIMITS = sizeof LARGER / sizeof *LARGER };

/* Plans recomputed down before: larger limits often have the same one. */
struct tried {
    label *on[LIMITS]; /* [classes] each */
    struct batch_and_zero batching[LIMITS];
    uint32_t count;
    struct batch_and_zero_known known; /* from limit to limit */
    struct plan_recompute at;          /* the last one's */
};

/* What a plan of these labels comes to, recomputed down to `limit`; once it is clear that it comes
 * to `beat_ms` or more, no further. */
static int recompute_down(const struct problem *p, const struct batch_and_zero_result *r,
                          double limit, double beat_ms, struct plan_recompute *at,
                          struct recompute_choice *choice, double *step_ms, struct err *e)
{
    struct plan plan = {.problem = p, .on = r->plan.on, .batching = r->batching};

    plan.cost = step_tables_cost(&p->step_tables, plan.on);
    int rc = plan_recompute_next(&plan, at, e);
    if (rc)
        return rc;
    at->front.beat_ms = beat_ms - at->free_ms;
    rc = recompute_within(&at->front, limit, RECOMPUTE_ENOUGH * plan.cost.step_ms, choice, e);
    *step_ms = at->free_ms + choice->ms;
    return rc;
}

static bool is_better(const struct recompute_joint *a, const struct recompute_joint *b)
{
    if (a->fits != b->fits)
        return a->fits;
    return a->fits ? a->step_ms < b->step_ms * (1 - 1e-9) : a->peak < b->peak;
}

/* Whether a plan was tried before; else it is from now on. */
static int remember_plan(const struct problem *p, const struct batch_and_zero_result *r,
                         struct tried *t, bool *before, struct err *e)
{
    size_t bytes = p->classes.count * sizeof **t->on;

    *before = false;
    for (uint32_t k = 0; k < t->count && !*before; k++)
        *before = t->batching[k].micro_batches == r->batching.micro_batches &&
                  t->batching[k].zero == r->batching.zero && !memcmp(t->on[k], r->plan.on, bytes);
    if (*before)
        return 0;
    label *on = mem_try(p->classes.count + 1, sizeof *on);
    if (!on)
        return err_set(e, ERR_MEMORY, "not enough memory for plans to recompute in");
    memcpy(on, r->plan.on, bytes);
    t->on[t->count] = on;
    t->batching[t->count++] = r->batching;
    return 0;
}

/* Makes a plan for `larger` and recomputes it down. */
static int try_limit(struct problem *p, const struct batch_and_zero_options *o, double larger,
                     struct tried *tried, struct recompute_joint *best, struct err *e)
{
    bool before;
    struct batch_and_zero_options wider = *o;
    struct recompute_joint one = {.plan_limit = larger};
    struct recompute_choice choice = {0};

    wider.limit = larger;
    wider.known = &tried->known;
    wider.is_rough = larger > o->limit; /* what it becomes is not the best for that limit anyway */
    int rc = exact_batch_and_zero(p, &wider, &one.best, e);
    if (rc || !one.best.plan.on)
        return rc;
    rc = remember_plan(p, &one.best, tried, &before, e);
    if (rc || before)
        goto out;
    bool as_is = one.best.fits && one.best.plan.peak <= o->limit;
    if (as_is) { /* within the limit as it is; recomputation may be undone and still fit */
        one.fits = true;
        one.step_ms = one.best.plan.value;
        one.peak = one.best.plan.peak;
    }
    rc = recompute_down(p, &one.best, o->limit, best->fits ? best->step_ms : INFINITY, &tried->at,
                        &choice, &one.step_ms, e);
    if (rc)
        goto out;
    if (as_is && (!choice.fits || choice.ms > 0))
        one.step_ms = fmin(one.step_ms, one.best.plan.value);
    if (!as_is) {
        one.fits = choice.fits;
        one.peak = choice.peak;
    }
    if (!best->best.plan.on || is_better(&one, best)) {
        struct recompute_joint worse = *best;
        *best = one;
        one = worse;
    }
out:
    recompute_choice_release(&choice);
    recompute_joint_release(&one);
    return rc;
}

int recompute_joint_solve(struct problem *p, const struct batch_and_zero_options *o,
                          struct recompute_joint *out, struct err *e)
{
    struct recompute_joint best = {0};
    struct tried *tried = mem_alloc(sizeof *tried);
    int rc = 0;

    for (size_t k = 0; k < (isfinite(o->limit) ? LIMITS : 1); k++) {
        rc = try_limit(p, o, o->limit * LARGER[k], tried, &best, e);
        if (rc)
            goto out;
    }
    rc = problem_set_batch_and_zero(p, &best.best.batching, e);
out:
    for (uint32_t k = 0; k < tried->count; k++)
        free(tried->on[k]);
    plan_recompute_release(&tried->at);
    free(tried);
    if (rc)
        recompute_joint_release(&best);
    else
        *out = best;
    return rc;
}

void recompute_joint_release(struct recompute_joint *r)
{
    batch_and_zero_release(&r->best);
    memset(r, 0, sizeof *r);
}
