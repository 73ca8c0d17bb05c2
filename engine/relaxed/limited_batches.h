/* engine/relaxed/limited_batches.h - the number of micro-batches as a choice: the best relaxed plan
 * over them within a memory limit, or what it would take. What is stored in pieces (ZeRO) a relaxed
 * plan chooses variable by variable.
 *
 * Numbers ascend; where the bound without a limit says that a number cannot beat the best so far,
 * its plan within the limit is not looked for. Ties go to fewer micro-batches. */
#ifndef AUTOMAP_ENGINE_RELAXED_LIMITED_BATCHES_H
#define AUTOMAP_ENGINE_RELAXED_LIMITED_BATCHES_H

#include "engine/exact/batch_and_zero.h"
#include "engine/problem/problem.h"
#include "engine/relaxed/limited.h"
#include "engine/relaxed/relaxed.h"
#include "engine/relaxed/relaxed_internal.h"
#include "hlo/support/err.h"

struct relaxed_batches_options {
    struct relaxed_options relaxed; /* folding is off, whatever it says */
    double limit;                   /* bytes of one device; INFINITY: none */
    uint32_t micro_batches;         /* 0: to be chosen */
    /* Pins the decisions on the problem as it is priced now; NULL: none. ERR_INFEASIBLE: not with
     * this number of micro-batches. */
    int (*fix)(void *context, const struct problem *p, struct relaxed *r, struct err *e);
    void *context;
};

/* `p` is priced anew for each number and left under that of the plan; ZeRO level 0 is expected.
 * *out as of exact_batch_and_zero, but plan.on is NULL; *plan and *how: the best that fits, else
 * that of least memory. On error nothing is to be released and the batching is that of before. */
int relaxed_choose_batches(struct problem *p, const struct relaxed_batches_options *o,
                           struct batch_and_zero_result *out, struct relaxed_plan *plan,
                           struct relaxed_limited *how, struct err *e) MUST_CHECK;

#endif
