/* engine/recompute/numbering.h - which values of a training step are the same value computed again.
 *
 * Value numbering over an inlined module (hash of opcode, attributes, shapes, operands' numbers;
 * metadata, shardings and layouts left out), looking through
 *   - other names: tuples, reshapes, copies, barriers, reductions of precision that are none;
 *   - loops: what a body hands on as it came in is what went in; what a loop stacks slice by slice
 *     is the slice, and a slice of that stack in another loop of as many trips is it again; slices
 *     of other unchanged stacks are one value whatever the index (a loop runs forward, the other
 *     back).
 * So a forward operation that is computed again in the backward pass has the number it had: what a
 * module recomputes (jax.checkpoint) is undone. Private to engine/recompute. */
#ifndef AUTOMAP_ENGINE_RECOMPUTE_NUMBERING_H
#define AUTOMAP_ENGINE_RECOMPUTE_NUMBERING_H

#include "hlo/meaning/cost.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"

typedef uint32_t value_number; /* 0: none; a value that no executed instruction makes */

struct numbering {
    const struct hlo_module *m;
    value_number *of;    /* [values] */
    value_number *slice; /* [count] of what a loop stacks: the number of its slices; else 0 */
    uint32_t count;
    hlo_id *order; /* instructions in the order of execution, bodies of loops before the loop */
    uint32_t order_count;
    hlo_id *loop;        /* [computations] the while whose body it is; HLO_NONE: not a body */
    uint8_t *is_changed; /* [values] of parameters of bodies: the body hands on something else */
    uint8_t *is_counter; /* [count] a loop's counter: known in every pass */
};

/* O(instructions x operands). ERR_MEMORY. */
int numbering_new(const struct hlo_module *m, struct numbering *out, struct err *e) MUST_CHECK;
void numbering_release(struct numbering *n);

/* True when instruction `id` gives its operands other names and computes nothing. */
bool numbering_is_alias(const struct hlo_module *m, hlo_id id);

/* The instruction of the entry that `id` runs in: itself, or the loop around it. */
hlo_id numbering_in_entry(const struct numbering *n, hlo_id id);

#endif
