/* engine/recompute/primal_build.h - a primal graph while it is built: what is of the forward pass,
 * and what kind each number is of. Between primal.c and primal_kinds.c. */
#ifndef AUTOMAP_ENGINE_RECOMPUTE_PRIMAL_BUILD_H
#define AUTOMAP_ENGINE_RECOMPUTE_PRIMAL_BUILD_H

#include "engine/cost/attention.h"
#include "engine/cost/memory.h"
#include "engine/recompute/numbering.h"
#include "engine/recompute/primal.h"
#include "hlo/meaning/cost.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum primal_kind { KIND_NONE, KIND_WEIGHT, KIND_INPUT, KIND_PRIMAL, KIND_DERIVED };

struct primal_build {
    const struct hlo_module *m;
    const struct memory_model *memory;
    const struct hlo_roles *roles;
    const struct hlo_costs *costs;
    const struct attention *attention;
    struct numbering n;
    uint8_t *is_ancestor;          /* [values] of the loss */
    uint8_t *is_forward;           /* [instructions] executed in the forward pass */
    uint8_t *in_forward;           /* [numbers] made by one of those */
    uint8_t *is_back;              /* [computations] body of a loop of the backward pass */
    uint8_t *kind;                 /* [numbers] */
    uint8_t *flags;                /* [numbers] enum number_flag */
    hlo_value *maker;              /* [numbers] value that stands for it */
    uint32_t *first, *last, *made; /* [numbers] positions */
    uint32_t *node;                /* [numbers] node + 1 */
    struct primal_graph *g;
    size_t node_room, edge_room;
};
enum number_flag {
    IS_NEEDED = 1,
    IS_KEPT = 2,
    IS_STORED = 4,
    IS_STATE = 8,
    CROSSES = 16,
    LOOKED_AT = 32,       /* by mark_kept */
    LOOKED_THROUGH = 128, /* by mark_kept, as a value that is made again */
    LISTED = 64           /* by make_nodes */
};

static inline uint16_t primal_opcode(const struct primal_build *b, hlo_id id)
{
    return hlo_at(b->m, id)->opcode;
}

/* The number whose array is read where `v` is read: of a stack, its slices'. */
static inline value_number primal_number(const struct primal_build *b, hlo_value v)
{
    value_number n = b->n.of[v];

    return b->n.slice[n] ? b->n.slice[n] : n;
}

/* Products; products and whatever else takes more than passing over its arrays; random bits. */
bool primal_is_product(uint16_t opcode);
bool primal_is_work(uint16_t opcode);
bool primal_is_random(uint16_t opcode);

/* Marks the ancestors of the loss; in the body of a loop that has some, all but what is known to be
 * of the backward pass. Without a loss the phases found otherwise. False: no memory. O(values). */
bool primal_find_forward(struct primal_build *b) MUST_CHECK;

/* The kind of each number, in order of execution: bodies come before their loops, whose state must
 * be known by then. After primal_find_forward. O(values). */
void primal_find_kinds(struct primal_build *b);

#endif
