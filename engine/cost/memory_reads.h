/* engine/cost/memory_reads.h - a memory model in the making, and from where to where each of its
 * buffers is read. Private to engine/cost. */
#ifndef AUTOMAP_ENGINE_COST_MEMORY_READS_H
#define AUTOMAP_ENGINE_COST_MEMORY_READS_H

#include "engine/cost/memory.h"
#include "hlo/module/hlo.h"

/* Positions of the uses of a variable in one pass. */
struct memory_span {
    uint32_t first, last; /* first HLO_NONE: none */
};

struct memory_build {
    struct memory_model *model;
    uint32_t *end; /* [values] position of the last use of a buffer, or of a fused value's users */
    uint32_t *begin;           /* [values] of the first */
    struct memory_span *again; /* [values] where readers of a buffer make it again; last 0: none */
    uint8_t *kind;             /* [values] of buffers */
    uint8_t *is_placed;        /* [values] buffers whose value ends in an argument's place */
    uint32_t *range_of;        /* [values] of buffers: their range + 1 */
    uint32_t *of; /* [values] of buffers: the parameter whose state or gradient it is + 1 */
    struct memory_span (*uses)[2]; /* [roles params] forward, backward */
    hlo_value *gradient;           /* [roles params] buffer of its gradient; HLO_NONE */
    uint32_t last_gradient;        /* position where the last gradient is made */
    size_t room;
};

/* Fills begin, end, again and uses, and the model's `again`, from its schedule and what the update
 * reads under its batching; `of` is known. O(operands). */
void memory_find_reads(struct memory_build *b);

#endif
