/* engine/kernels/kernel_carried.h - rules that modules carry themselves. Private to engine/kernels.
 *
 * Shardy's sharding rule of a custom-call (shardy/dialect/sdy/ir/attrs.td, OpShardingRuleAttr), as
 * text in frontend_attributes:
 *     xla.sdy.sharding_rule="#sdy.op_sharding_rule<([i, j, k], [i, l, m])->([i, jk]) {i=8, ..},
 * custom>" A letter, or z_1, z_2 behind z, is a factor; a dim of several factors is split along its
 * first. Factors of operands and results pass; those of `reduction=` leave partial sums; of
 * `need_replication=` and `permutation=`, and on one side only, stay whole. */
#ifndef AUTOMAP_ENGINE_KERNELS_KERNEL_CARRIED_H
#define AUTOMAP_ENGINE_KERNELS_KERNEL_CARRIED_H

#include "engine/kernels/kernel_match.h"

/* Lists the factors of the rule that k's instruction carries as indices of `k`. False: it carries
 * none, or one that does not fit its shapes. */
bool kernel_carried(struct kernel_match *k);

#endif
