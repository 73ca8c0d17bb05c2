/* engine/hybrid/hybrid_explain.h - why a hybrid plan is as it is: what limits the step, how each
 * stage is split, what the step would be with other sub-meshes, what every cut moves and what it
 * would cost one section earlier or later. */
#ifndef AUTOMAP_ENGINE_HYBRID_HYBRID_EXPLAIN_H
#define AUTOMAP_ENGINE_HYBRID_HYBRID_EXPLAIN_H

#include "engine/hybrid/hybrid.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

/* The stage that takes longest in a step: M (F + B) + R. */
uint32_t hybrid_slowest(const struct hybrid *h);

/* The step with the cut before stage n moved by `by` sections (-1, 1); the section that moves takes
 * the labels of its like. INFINITY: impossible, or it does not fit. Leaves `h` unchanged. */
int hybrid_moved_ms(struct hybrid *h, uint32_t n, int by, double *ms, struct err *e) MUST_CHECK;

/* The cut is moved, and the plan priced anew. False in *moved, and all as before, where that were
 * INFINITY above. */
int hybrid_move_cut(struct hybrid *h, uint32_t n, int by, bool *moved, struct err *e) MUST_CHECK;

/* Writes all of it in sentences. Prices 2 (stages - 1) plans, and up to HYBRID_OTHERS_MOST for each
 * stage. Stopped (options.stop), the stages so far. */
int hybrid_explain(struct hybrid *h, struct str *out, struct err *e) MUST_CHECK;

#endif
