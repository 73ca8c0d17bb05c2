/* engine/plan/resharding_free.h - what uses of free values want of them; of
 * engine/plan/resharding.h.
 */
#ifndef AUTOMAP_ENGINE_PLAN_RESHARDING_FREE_H
#define AUTOMAP_ENGINE_PLAN_RESHARDING_FREE_H

#include "engine/decide/labels.h"
#include "engine/plan/resharding.h"
#include "hlo/module/hlo.h"
#include "hlo/module/shape.h"

/* Leaf number of array operand `n` among the leaves of all operands. O(n). */
uint32_t resharding_leaf(const struct hlo_module *m, hlo_id id, uint32_t n);

/* resharding_want of operand `n`, free value `v`. */
bool resharding_free_want(struct resharding *r, hlo_id id, uint32_t n, hlo_value v,
                          label want[static HLO_RANK_MAX]);

/* What constants alone are computed into, no parameter and nothing random: r->is_constant. False:
 * no memory. O(operands). */
bool resharding_find_constants(struct resharding *r);

/* A constant scalar spread over an array. */
bool resharding_is_spread(const struct resharding *r, hlo_id id);

#endif
