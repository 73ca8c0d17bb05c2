/* engine/hybrid/left_out.h - what the recomputation of a layer leaves out.
 *
 * A module that recomputes a layer repeats its forward operations in the backward pass, but for
 * those that no gradient reads: the last product with its all-reduce, the last addition. Trainers
 * that call the layer's forward again (Megatron-LM's CheckpointFunction; arXiv 2205.05198, 5) run
 * them too. Operations are known again by value numbers (recompute/numbering.h), so it does not
 * matter how the module says that it recomputes, nor whether layers stand in a loop. Private to
 * engine/hybrid/. */
#ifndef AUTOMAP_ENGINE_HYBRID_LEFT_OUT_H
#define AUTOMAP_ENGINE_HYBRID_LEFT_OUT_H

#include "engine/hybrid/sections.h"
#include "hlo/support/err.h"

/* (*out)[ops]: forward operations that the backward pass does not repeat, of sections of which it
 * repeats more than half of the products' work; where it repeats less, as under selective
 * recomputation, none. Of `s` the passes and lists of operations are there. O(operations). */
int left_out_new(const struct sections *s, uint8_t **out, struct err *e) MUST_CHECK;

#endif
