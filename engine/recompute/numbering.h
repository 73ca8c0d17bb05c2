/* engine/recompute/numbering.h - finds values of a training step that are one value computed again.
 *
 * Value numbering over an inlined module (hash of opcode, attributes, shapes, operands' numbers;
 * without metadata, shardings and layouts), looking through
 *   - aliases: tuples, reshapes, copies, barriers, reduce-precision without effect;
 * - loops: state that a body hands on unchanged is what went in; a stack that a loop builds slice
 * by slice has the number of the slice, and so has a slice of it in another loop with as many
 * trips; slices of other unchanged stacks are one value whatever the index (one loop runs forward,
 * the other backward). So a forward operation repeated in the backward pass keeps its number, which
 * undoes the module's own recomputation (jax.checkpoint). */
#ifndef AUTOMAP_ENGINE_RECOMPUTE_NUMBERING_H
#define AUTOMAP_ENGINE_RECOMPUTE_NUMBERING_H

#include "hlo/meaning/cost.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"

typedef uint32_t value_number; /* 0: no executed instruction makes the value */

struct numbering {
    const struct hlo_module *m;
    value_number *of;    /* [values] */
    value_number *slice; /* [count] of a stack that a loop builds: the number of its slices; else
                            0 */
    uint32_t count;
    hlo_id *order; /* instructions in order of execution, loop bodies before the loop */
    uint32_t order_count;
    hlo_id *loop;        /* [computations] the while whose body it is; HLO_NONE: not a body */
    uint8_t *is_changed; /* [values] of body parameters: the body changes it */
    uint8_t *is_counter; /* [count] a loop's counter: known in every pass */
};

/* O(instructions x operands). ERR_MEMORY. */
int numbering_new(const struct hlo_module *m, struct numbering *out, struct err *e) MUST_CHECK;
void numbering_release(struct numbering *n);

/* True when instruction `id` only renames its operands and computes nothing. */
bool numbering_is_alias(const struct hlo_module *m, hlo_id id);

/* The instruction of the entry that `id` runs in: itself, or the loop around it. */
hlo_id numbering_in_entry(const struct numbering *n, hlo_id id);

#endif
