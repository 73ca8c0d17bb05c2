/* engine/plan/recompute_joint.h - the best strict plan within a memory limit when what its backward
 * pass keeps may be chosen too, with micro-batches and ZeRO.
 *
 * Neither the plan for the limit nor the plan without one is the right one to recompute in: plans
 * are made for a few larger limits, each with its best micro-batches and level, and recomputed down
 * to the limit (recompute_at.h); the fastest wins. The plan for the limit itself is among them, so
 * the answer is never slower than it. No bound over all plans with all choices is computed; that of
 * the plan found is exact (recompute_within). */
#ifndef AUTOMAP_ENGINE_PLAN_RECOMPUTE_JOINT_H
#define AUTOMAP_ENGINE_PLAN_RECOMPUTE_JOINT_H

#include "engine/exact/batch_and_zero.h"
#include "engine/problem/problem.h"
#include "hlo/support/err.h"

struct recompute_joint {
    struct batch_and_zero_result best; /* of the limit its plan was made for */
    double plan_limit;                 /* that limit, bytes */
    double step_ms, peak;              /* recomputed down to o->limit */
    bool fits;
};

/* As exact_batch_and_zero; `p` is left priced as `best` is. Not fits: of least memory. */
int recompute_joint_solve(struct problem *p, const struct batch_and_zero_options *o,
                          struct recompute_joint *out, struct err *e) MUST_CHECK;
void recompute_joint_release(struct recompute_joint *r);

#endif
