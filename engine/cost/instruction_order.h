/* engine/cost/instruction_order.h - the order of instructions in which memory is counted.
 *
 * Depth first, as XLA's CPU backend does with its memory scheduler (DFSMemoryScheduler): from the
 * root on, an instruction right behind what it needs; of several operands first the one whose needs
 * have most readers beyond the first, then most bytes, both summed over paths up to a cap; ties:
 * first in the module (there: by name). So deep chains come first, and what hangs on early results,
 * as weight gradients of the last layers, late.
 *
 * A list scheduler: of the instructions whose operands are made, the one that gives back most
 * memory next; ties: first in the module. What it gives back: the buffers that it is the last to
 * read, less those it makes. XLA's DefaultMemoryScheduler, of other backends, tries such a list too
 * (xla/hlo/transforms/simplifiers/hlo_memory_scheduler.cc has all of them).
 *
 * Both see kernels: a read by a fused value (fusion.h) counts as reads by that value's users, and
 * fused values, tuples and their elements take no memory. memory.h says which is taken. The order
 * is of the module, not of a plan: so memory stays a sum over live ranges. Computations with
 * control edges, and modules that say they are scheduled, keep their order. O(E log E) time, E uses
 * of buffers. Deterministic. */
#ifndef AUTOMAP_ENGINE_COST_INSTRUCTION_ORDER_H
#define AUTOMAP_ENGINE_COST_INSTRUCTION_ORDER_H

#include "engine/cost/fusion.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"

struct instruction_order {
    hlo_id
        *order; /* [instructions] permuted within each computation: at position n runs order[n] */
    uint32_t *position; /* [instructions] the inverse */
};

int instruction_order_depth_first(const struct hlo_module *m, const struct fusion *f,
                                  const bool *is_free, struct instruction_order *out,
                                  struct err *e) MUST_CHECK;
/* `is_placed` [values] of buffers: they take an argument's place and no memory of their own. */
int instruction_order_list(const struct hlo_module *m, const struct fusion *f, const bool *is_free,
                           const uint8_t *is_placed, struct instruction_order *out,
                           struct err *e) MUST_CHECK;
void instruction_order_release(struct instruction_order *s);

#endif
