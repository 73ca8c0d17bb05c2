/* engine/cost/instruction_order.h - the order of instructions in which memory is counted.
 *
 * Depth first, as XLA's CPU backend does with its memory scheduler (DFSMemoryScheduler): from the
 * root, each instruction comes right after what it needs. Among operands, first comes the one whose
 * ancestors have most readers beyond the first, then most bytes, both summed over paths up to a
 * cap; ties go to the first in the module (XLA: by name). So deep chains come early, and what
 * depends on early results alone, such as weight gradients of the last layers, comes late.
 *
 * The list scheduler always picks, of the instructions whose operands are ready, the one that frees
 * most memory: the buffers it is last to read minus those it makes; ties go to the first in the
 * module. XLA's DefaultMemoryScheduler, used by other backends, tries such a list too
 * (xla/hlo/transforms/simplifiers/hlo_memory_scheduler.cc has all of them).
 *
 * Both see kernels: a read by a fused value (fusion.h) counts as reads by that value's users, and
 * fused values, tuples and their elements take no memory. memory.h says which order is used. It
 * belongs to the module, not to a plan, so memory stays a sum over live ranges. Computations with
 * control edges, and modules marked as scheduled, keep their order. O(E log E) time, E uses of
 * buffers. Deterministic. */
#ifndef AUTOMAP_ENGINE_COST_INSTRUCTION_ORDER_H
#define AUTOMAP_ENGINE_COST_INSTRUCTION_ORDER_H

#include "engine/cost/fusion.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"

struct instruction_order {
    hlo_id
        *order; /* [instructions] a permutation within each computation: order[n] runs at position
                   n */
    uint32_t *position; /* [instructions] the inverse */
};

int instruction_order_depth_first(const struct hlo_module *m, const struct fusion *f,
                                  struct instruction_order *out, struct err *e) MUST_CHECK;
/* `is_placed` [values] of buffers: reuse the memory of an argument. */
int instruction_order_list(const struct hlo_module *m, const struct fusion *f,
                           const uint8_t *is_placed, struct instruction_order *out,
                           struct err *e) MUST_CHECK;
void instruction_order_release(struct instruction_order *s);

#endif
