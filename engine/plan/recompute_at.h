/* engine/plan/recompute_at.h - what to keep and what to compute again under a plan of either
 * mode. */
#ifndef AUTOMAP_ENGINE_PLAN_RECOMPUTE_AT_H
#define AUTOMAP_ENGINE_PLAN_RECOMPUTE_AT_H

#include "engine/cost/memory.h"
#include "engine/plan/plan.h"
#include "engine/recompute/primal.h"
#include "engine/recompute/recompute.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"

struct plan_recompute {
    const struct plan *plan;
    struct primal_graph graph;
    struct recompute front;     /* its ms are on top of free_ms */
    double free_ms;             /* the plan's step without what the module itself recomputes */
    struct memory_model listed; /* for written-out layers: the order in which the front counts
                                   memory */
    bool is_listed;
    double engine_peak; /* the plan's peak by the memory model in that order, bytes */
    double module_peak; /* the same computed from what is kept, to compare with it */
};

static inline const struct hlo_module *recompute_module(const struct plan_recompute *r)
{
    return r->plan->problem->m;
}

/* A bound counts as tight when it is within this share of a step below the choice. */
#define RECOMPUTE_ENOUGH 2e-4

/* The plan must outlive it. The address of `out` must not change: its parts point at each other. */
int plan_recompute_new(const struct plan *plan, struct plan_recompute *out,
                       struct err *e) MUST_CHECK;
/* The same for another plan of the same problem, of whatever batching, with the ends of the front
 * alone: for recompute_within. Zeroed before the first plan; the graph is made once. */
int plan_recompute_next(const struct plan *plan, struct plan_recompute *r,
                        struct err *e) MUST_CHECK;
void plan_recompute_release(struct plan_recompute *r);

#endif
