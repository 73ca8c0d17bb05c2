/* engine/cost/joined_sums.h - sums of partial results that share one all-reduce.
 *
 * Where partial results, all split along the same class, are added, their sum is reduced once
 * instead of each of them: for example the gradients that q, k and v send back to one input. XLA
 * does so after its partitioner (service/all_reduce_reassociate.cc). This applies to results whose
 * only use is an addition, directly or through conversions and aliases. The all-reduce is counted
 * at the last of them. Plan-independent; built once per module, O(instructions). */
#ifndef AUTOMAP_ENGINE_COST_JOINED_SUMS_H
#define AUTOMAP_ENGINE_COST_JOINED_SUMS_H

#include "engine/decide/classes.h"
#include "hlo/support/err.h"

enum { JOINED_CLASSES_MOST = 2 };

enum sum_part {
    SUM_ALONE,
    SUM_JOINED, /* reduced with a later one */
    SUM_LAST,   /* the last: carries the all-reduce */
};

struct joined_sums {
    uint8_t *part; /* [classes->factors] enum sum_part of a reducing factor */
    /* [instructions] classes whose partial sums it passes on for a later reduction; CLASS_NONE:
     * unused */
    class_id (*passes)[JOINED_CLASSES_MOST];
};

int joined_sums_new(const struct classes *c, struct joined_sums *out, struct err *e) MUST_CHECK;
void joined_sums_release(struct joined_sums *j);

#endif
