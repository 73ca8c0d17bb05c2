/* hlo/stablehlo/simplify.h - removes what XLA removes on the way from StableHLO to HLO, as far as
 * plans depend on it: copies of values, constants, unused values.
 *
 * XLA's passes (pjrt/mlir_to_hlo.cc: aggressive simplification and folding, canonicaliser, symbol
 * DCE) do more; this covers operations that change nothing (convert, reshape, transpose, slice,
 * broadcast of the same shape; x + 0, x * 1 and the like; padding by nothing, joins of one, sums
 * over no dims, parts of a complex number just made), two transposes, reshapes or broadcasts in a
 * row, arithmetic on constants, slices at known starts, transposes that are reshapes, broadcasts of
 * constants, selections and branches decided by a constant, loop state that never changes, and
 * operations without effect or user. Private to hlo/stablehlo/. */
#ifndef AUTOMAP_HLO_STABLEHLO_SIMPLIFY_H
#define AUTOMAP_HLO_STABLEHLO_SIMPLIFY_H

#include "hlo/stablehlo/mlir.h"
#include "hlo/support/err.h"

struct mlir_simplified {
    mlir_value *same;     /* [values]: the value it equals; itself if none */
    mlir_op_id *constant; /* [values]: the constant op whose splat (or whole) value it has, or
                             MLIR_NONE; not for values of several results */
    uint8_t *is_live;     /* [values]: it is used */
    uint8_t *is_op_live;  /* [ops] */
};

/* O(ops + operands). Fills `s`, to be released on failure, too. `as_is`: nothing is taken out but
 * functions that nobody calls; an op is an instruction. */
int hlo_mlir_simplify(struct mlir_module *m, mlir_region_id entry, bool as_is,
                      struct mlir_simplified *s) MUST_CHECK;
void hlo_mlir_simplified_release(struct mlir_simplified *s);

/* Regions by number: their terminator's operand n. */
static inline mlir_value mlir_returned(const struct mlir_module *m, mlir_region_id r, uint32_t n)
{
    return mlir_operand(m, &m->ops[m->regions[r].last], n);
}
/* Function `n` that a call or composite runs, or that a custom-call hands on (`called_computations
 * =
 * [@f]`): *out, MLIR_NONE when it is not defined here. False: there are not as many. */
enum { MLIR_CALLED_MOST = 64 };
bool hlo_mlir_called(struct mlir_module *m, const struct mlir_op *op, uint32_t n, uint32_t *out);

#endif
