/* engine/plan/recompute_joint.h - the best strict plan within a memory limit, with micro-batches,
 * ZeRO and recomputation all free to choose.
 *
 * The best plan to recompute in is neither the one for the limit nor the one without a limit. So
 * plans are made for a few larger limits, each with its best micro-batches and ZeRO level, and
 * recomputation brings each down to the limit (recompute_at.h); the fastest wins. The plan for the
 * limit itself is among them, so the answer is never slower. There is no bound over all plans and
 * choices, only over the choices for the plan found (recompute_within). */
#ifndef AUTOMAP_ENGINE_PLAN_RECOMPUTE_JOINT_H
#define AUTOMAP_ENGINE_PLAN_RECOMPUTE_JOINT_H

#include "engine/exact/batch_and_zero.h"
#include "engine/problem/problem.h"
#include "hlo/support/err.h"

struct recompute_joint {
    struct batch_and_zero_result best; /* its plan, made for plan_limit */
    double plan_limit;                 /* that limit, bytes */
    double step_ms, peak;              /* after recomputation down to o->limit */
    bool fits;
};

/* As exact_batch_and_zero; leaves `p` priced as `best`. If nothing fits, the plan of least
 * memory. */
int recompute_joint_solve(struct problem *p, const struct batch_and_zero_options *o,
                          struct recompute_joint *out, struct err *e) MUST_CHECK;
void recompute_joint_release(struct recompute_joint *r);

#endif
