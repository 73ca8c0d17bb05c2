/* engine/relaxed/limited_batches.h - the number of micro-batches as a choice: the best relaxed plan
 * over all of them within a memory limit, or what it would take to fit. A relaxed plan chooses
 * storage in pieces (ZeRO) for each variable itself.
 *
 * Numbers are tried in ascending order; one whose bound without a limit cannot beat the best so far
 * is skipped. Ties go to fewer micro-batches. */
#ifndef AUTOMAP_ENGINE_RELAXED_LIMITED_BATCHES_H
#define AUTOMAP_ENGINE_RELAXED_LIMITED_BATCHES_H

#include "engine/exact/batch_and_zero.h"
#include "engine/problem/problem.h"
#include "engine/relaxed/limited.h"
#include "engine/relaxed/relaxed.h"
#include "engine/relaxed/relaxed_internal.h"
#include "hlo/support/err.h"

struct relaxed_batches_options {
    struct relaxed_options relaxed; /* its folding is ignored: off */
    double limit;                   /* bytes of one device; INFINITY: none */
    uint32_t micro_batches;         /* 0: automap chooses */
    /* Applies the decisions as pins to the problem as it is priced now; NULL: none. ERR_INFEASIBLE:
     * impossible with this number of micro-batches. */
    int (*fix)(void *context, const struct problem *p, struct relaxed *r, struct err *e);
    void *context;
};

/* Reprices `p` for each number and leaves it with that of the plan; `p` must have ZeRO level 0.
 * *out as from exact_batch_and_zero, except that plan.on is NULL; *plan and *how: the best that
 * fits, else that of least memory. On error nothing needs releasing and the batching is
 * restored. */
int relaxed_choose_batches(struct problem *p, const struct relaxed_batches_options *o,
                           struct batch_and_zero_result *out, struct relaxed_plan *plan,
                           struct relaxed_limited *how, struct err *e) MUST_CHECK;

#endif
