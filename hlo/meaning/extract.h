/* hlo/meaning/extract.h - a part of a module's entry as a module of its own.
 *
 * What is computed outside of the part comes in as parameters, what is asked for goes out as the
 * root tuple. Tuples, their elements and barriers are looked through. Free values (factors.h) are
 * made anew wherever they are used. Dims may shrink: a part of the batch goes through the same
 * instructions, so every dim that is tied to it is `cut` times shorter, and each use of a free
 * value gets it in the sizes that this use needs. Random bits and positions in the batch differ
 * from part to part: they are made once, outside, and come in (hlo_extract_parts). Loops, branches
 * and fusions come with all that they run; what they carry that is free stays whole. */
#ifndef AUTOMAP_HLO_MEANING_EXTRACT_H
#define AUTOMAP_HLO_MEANING_EXTRACT_H

#include "hlo/module/hlo.h"
#include "hlo/support/err.h"

struct hlo_part {
    const char *name;       /* of the new module */
    const bool *is_kept;    /* [m->count] instructions of the entry, no parameters, no flows */
    const hlo_value *input; /* values that become parameters, in this order */
    uint32_t inputs;
    const bool *is_copied; /* [m->value_count] inputs that are read by way of a copy; NULL: none */
    const hlo_value *output; /* leaves of the root tuple: made in the part */
    uint32_t outputs;
    const bool *is_free; /* [m->value_count] hlo_free_values */
    int64_t cut;         /* 1: all sizes stay */
    /* Dim `dim` of a value that is not free shrinks. */
    bool (*is_cut)(const void *context, hlo_value v, uint32_t dim);
    const uint64_t *input_cut; /* [inputs] the dim of a free input that shrinks, as a bit; NULL:
                                  none does */
    const void *context;
};

/* `*of` (from malloc, the caller frees it): for every instruction of the new module the value of
 * `m` that its first leaf stands for (of a tuple the leaves follow it); HLO_NONE for the root tuple
 * and what is in fusions and in computations that are applied. ERR_INPUT naming the instruction for
 * what cannot be taken out: it takes a tuple and is no loop or branch, a constant with a value for
 * every sample is cut, a slice ends inside the dim that is cut, free values that differ from
 * sample to sample are read in parts and no inputs, a free value that a loop carries is needed in
 * parts. Every body and branch has one caller (hlo_inline). O(instructions x factors). */
int hlo_extract(const struct hlo_module *m, const struct hlo_part *part, struct hlo_module **out,
                hlo_value **of, struct err *e) MUST_CHECK;

/* The free values of the entry that `part` reads a piece of, another for each part of the batch
 * (random bits): `cut` [m->value_count], the dim that is cut as a bit, 0 of all else. They have to
 * be inputs of the part (input_cut). ERR_INPUT names what is made inside a loop or a branch, or cut
 * along several dims. As costly as hlo_extract. */
int hlo_extract_parts(const struct hlo_module *m, const struct hlo_part *part, uint64_t *cut,
                      struct err *e) MUST_CHECK;

/* A loop, a branch, a fusion or a call: it runs computations all of whose values are values of the
 * step. */
bool hlo_extract_holds(const struct hlo_module *m, hlo_id id);

/* The value that `v` is the same array as, by way of tuples, their elements and barriers. */
hlo_value hlo_extract_source(const struct hlo_module *m, hlo_value v);

#endif
