/* engine/plan/value_splits.h - how every value of a plan is split, free values included.
 *
 * A free value (a constant, or what is computed from constants alone) belongs to no class: every
 * use takes the part it wants. An annotated module must still give it a split: along each dim what
 * all uses want, or else whole, since a use can slice its part from the whole without
 * communication. Free values that compute the same are split alike, because XLA merges them before
 * it partitions. */
#ifndef AUTOMAP_ENGINE_PLAN_VALUE_SPLITS_H
#define AUTOMAP_ENGINE_PLAN_VALUE_SPLITS_H

#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/plan/plan.h"
#include "hlo/meaning/factors.h"
#include "hlo/module/hlo.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"

/* *is_shared (may be NULL) receives for each value whether uses of it, or of an equal free value,
 * want different splits; *over receives [classes->dim_count] labels. The caller frees both.
 * O(instructions). */
int free_values_new(const struct plan *p, label **over, bool **is_shared, struct err *e) MUST_CHECK;

/* The split that `user` wants of operand leaf `leaf`, for each dim of that value. */
void free_values_wanted(const struct plan *p, hlo_id user, uint32_t leaf,
                        label want[static HLO_RANK_MAX]);

/* The same of a `user` that is free itself: what its results are split `over` (free_values_new),
 * as its factors bind it. */
void free_values_wanted_by_free(const struct classes *c, const label *over, hlo_id user,
                                const struct hlo_factors *list, uint32_t leaf,
                                label want[static HLO_RANK_MAX]);

#endif
