/* hlo/meaning/factors.h - how an instruction may be split: the derivation rules, as data.
 *
 * A factor is a loop index of an instruction that binds dims of operand leaves to dims of result
 * leaves. Splitting the instruction along it splits every bound dim. A dim that no factor binds is
 * blocked: the instruction can only run with it whole. Sources: Shardy's factor model and XLA's
 * partitioner; the rules are tested by executing split operands. hlo/meaning/README.md lists them
 * by opcode. Instructions that only pass values on (tuple, while, call, ...) have flows instead of
 * factors. */
#ifndef AUTOMAP_HLO_MEANING_FACTORS_H
#define AUTOMAP_HLO_MEANING_FACTORS_H

#include "hlo/module/hlo.h"
#include "hlo/support/err.h"

enum hlo_factor_kind {
    HLO_FACTOR_PASS,    /* no communication when all bound dims are split alike */
    HLO_FACTOR_REDUCE,  /* only operands bind it: splitting gives partial results to combine */
    HLO_FACTOR_PERMUTE, /* could stay split by exchanging with neighbours; strict mode: blocked */
    HLO_FACTOR_INSIDE,  /* operands and result bind it; result leaves that do not bind it are summed
                           over devices within the instruction (batch-norm statistics): that
                           all-reduce is paid, but no partial result leaves */
};

enum hlo_combiner {
    HLO_COMBINE_NONE,
    HLO_COMBINE_ADD,
    HLO_COMBINE_MUL,
    HLO_COMBINE_MAX,
    HLO_COMBINE_MIN,
    HLO_COMBINE_AND,
    HLO_COMBINE_OR,
    HLO_COMBINE_COUNT
};

struct hlo_factor {
    int64_t size;       /* trips of the loop index; bounds the number of parts */
    uint8_t kind;       /* enum hlo_factor_kind */
    uint8_t combiner;   /* enum hlo_combiner, of REDUCE */
    bool is_masked;     /* operands that do not bind it (indices, updates) are whole on each device,
                           and each acts on its own rows only: gather (REDUCE), scatter (PASS) */
    bool must_divide;   /* the number of parts must divide `size` (group counts) */
    const int8_t *dims; /* [leaf_count] bound dim per leaf, -1: not bound */
};

struct hlo_factors {
    struct hlo_factor *items;
    uint32_t count;
    uint32_t operand_leaves; /* leaves 0 .. operand_leaves-1 are the operands', in order */
    uint32_t leaf_count;     /* then the result's leaves */
    /* backing store, reused from call to call */
    int8_t *dims;
    size_t items_room, dims_room;
};

/* Replaces the contents of `f` (zero-initialised before the first call) by the factors of `id`.
 * O(leaves x rank). 0, or ERR_MEMORY. */
int hlo_factors_of(const struct hlo_module *m, hlo_id id, struct hlo_factors *f,
                   struct err *e) MUST_CHECK;
void hlo_factors_release(struct hlo_factors *f);

/* The value that leaf `leaf` (numbered as above) stands for. */
hlo_value hlo_factors_value(const struct hlo_module *m, hlo_id id, uint32_t leaf);

/* The combiner of a reducer computation whose root is a known binary opcode of its two parameters
 * (add on pred = or, multiply on pred = and); else NONE. */
enum hlo_combiner hlo_combiner_of(const struct hlo_module *m, hlo_comp reducer);

/* ---- partial results ---- */

enum hlo_partial {
    HLO_PARTIAL_STOPS,    /* must be combined before this use */
    HLO_PARTIAL_TOGETHER, /* result partial if all TOGETHER leaves are; a whole one becomes partial
                             for free (one device keeps it, the others hold the neutral element) */
    HLO_PARTIAL_ALONE,    /* result partial if this one leaf is and every other is whole */
};

/* Whether operand leaf `leaf` may be a partial result (to be combined by `c`), so that the result
 * of `id` is partial in its place. An operand used twice must allow both uses. Not for flows, which
 * always pass partial results on. Source: linearity of the opcode, hlo/meaning/README.md. O(1). */
enum hlo_partial hlo_passes_partial(const struct hlo_module *m, hlo_id id, uint32_t leaf,
                                    enum hlo_combiner c);

/* ---- free values ---- */

/* Marks the values that any device can make on its own: constants, iota, keys of random numbers,
 * and whatever is computed from these alone, in loops and branches too. They take no part in
 * propagation: every use makes the part it wants, or slices it off where only the whole can be
 * made. Not free: other parameters, rng, custom-calls other than identities. `is_free`:
 * [m->value_count], written whole. The greatest fixed point over the flows, O(operands x depth of
 * loops). 0, or ERR_MEMORY. */
int hlo_free_values(const struct hlo_module *m, bool *is_free, struct err *e) MUST_CHECK;

/* Marks the free values that a device can only make whole, and those they are computed from: what a
 * loop carries, and results whose instruction splits no dim (the concatenate of threefry's halves).
 * A use that wants a part slices it off. `is_whole`: [m->value_count], written whole. O(operands x
 * factors). 0, or ERR_MEMORY. */
int hlo_whole_values(const struct hlo_module *m, const bool *is_free, bool *is_whole,
                     struct err *e) MUST_CHECK;

/* For rules `paper`: true when `id` is a convolution whose kernel dims the paper does not split. */
bool hlo_is_convolution(const struct hlo_module *m, hlo_id id);

#endif
