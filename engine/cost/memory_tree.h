/* engine/cost/memory_tree.h - the peak of a plan while its classes change one at a time.
 *
 * Each computation has a segment tree over its positions: a range adds its bytes to an interval,
 * the root is the most. So a class costs what its own ranges do, not all of them. Bytes are rounded
 * to whole ones for each range: sums of them are exact in any order, and a class that changes back
 * leaves no trace. For strict plans. */
#ifndef AUTOMAP_ENGINE_COST_MEMORY_TREE_H
#define AUTOMAP_ENGINE_COST_MEMORY_TREE_H

#include "engine/cost/memory.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "hlo/support/err.h"

struct memory_tree;

/* For the assignment on[class], which is borrowed, as `m` and `l` are. *out is NULL on error.
 * O(ranges log positions). */
int memory_tree_new(const struct memory_model *m, const struct labels *l, const label *on,
                    struct memory_tree **out, struct err *e) MUST_CHECK;
void memory_tree_free(struct memory_tree *t);

/* To be called when on[k] has changed, and nothing else. O(ranges of k x log positions, and callers
 * of their computations). */
void memory_tree_update(struct memory_tree *t, class_id k);
/* memory_of(...).peak, but for the rounding. O(1). */
double memory_tree_peak(const struct memory_tree *t);
/* Ranges whose bytes depend on class `k`. O(1). */
uint32_t memory_tree_ranges(const struct memory_tree *t, class_id k);

#endif
