/* engine/plan/recompute_at.h - what to keep, what to compute again, at a plan of either mode. */
#ifndef AUTOMAP_ENGINE_PLAN_RECOMPUTE_AT_H
#define AUTOMAP_ENGINE_PLAN_RECOMPUTE_AT_H

#include "engine/cost/memory.h"
#include "engine/plan/plan.h"
#include "engine/recompute/primal.h"
#include "engine/recompute/recompute.h"
#include "hlo/support/err.h"

struct plan_recompute {
    const struct plan *plan;
    struct primal_graph graph;
    struct recompute front;     /* ms beside free_ms */
    double free_ms;             /* the plan's step without what the module computes again */
    struct memory_model listed; /* where layers are written out: the order of the front's memory */
    bool is_listed;
    double engine_peak; /* of the plan as the memory model has it in that order, bytes */
    double module_peak; /* the same from what is kept: held against it */
};

/* Part of a step that a bound may lie below a choice and be called tight. */
#define RECOMPUTE_ENOUGH 2e-4

/* The plan must outlive it. The address of `out` must not change: its parts point at each other. */
int plan_recompute_new(const struct plan *plan, struct plan_recompute *out,
                       struct err *e) MUST_CHECK;
void plan_recompute_release(struct plan_recompute *r);

#endif
