/* engine/hybrid/hybrid_others.h - other ways to split a stage of a plan over its devices. */
#ifndef AUTOMAP_ENGINE_HYBRID_HYBRID_OTHERS_H
#define AUTOMAP_ENGINE_HYBRID_HYBRID_OTHERS_H

#include "engine/hybrid/hybrid.h"
#include "engine/hybrid/stage_table.h"
#include "hlo/support/err.h"

enum { HYBRID_OTHERS_MOST = 8 };

struct hybrid_other {
    uint32_t axes, size[STAGE_AXES_MOST];
    uint32_t dp;
    bool recompute;
    double step_ms; /* of the whole plan with it; INFINITY: does not fit */
    double memory_bytes;
};

/* For every other sub-mesh, number of replicas and recomputation of stage `n`: the fastest split
 * among those that no other beats in time and memory, ordered by the step. The plan must not be
 * interleaved; `h` stays unchanged. Builds one table for the stage's devices: O(rows x sections^2).
 * Stopped (options.stop), those priced so far. Not `looked`: that, or there is no table of such
 * devices or micro-batches, and none says nothing. */
int hybrid_others(struct hybrid *h, uint32_t n, struct hybrid_other out[static HYBRID_OTHERS_MOST],
                  uint32_t *count, bool *looked, struct err *e) MUST_CHECK;

/* Splits stage `n` as one of these says, and prices the plan. False in *taken, and all as before:
 * there is no such way, it does not fit, or it was stopped before it knew. */
int hybrid_take_other(struct hybrid *h, uint32_t n, const struct hybrid_other *as, bool *taken,
                      struct err *e) MUST_CHECK;

#endif
