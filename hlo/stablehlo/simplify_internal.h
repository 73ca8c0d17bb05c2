/* hlo/stablehlo/simplify_internal.h - the steps of simplify.c and simplify_*.c. */
#ifndef AUTOMAP_HLO_STABLEHLO_SIMPLIFY_INTERNAL_H
#define AUTOMAP_HLO_STABLEHLO_SIMPLIFY_INTERNAL_H

#include "hlo/stablehlo/mlir.h"
#include "hlo/stablehlo/simplify.h"
#include "hlo/support/mem.h"

struct simplifier {
    struct mlir_module *m;
    struct mlir_simplified *s;
    mlir_value *work; /* stack of live values to be followed */
    size_t work_count, work_room;
    uint32_t *funcs;    /* stack of functions that run */
    bool *is_func_live; /* [m->func_count] was on it */
    size_t func_count, func_room;
};

static inline mlir_value same_of(const struct simplifier *z, mlir_value v)
{
    return z->s->same[v];
}

static inline mlir_value operand_of(const struct simplifier *z, const struct mlir_op *op,
                                    uint32_t n)
{
    return same_of(z, mlir_operand(z->m, op, n));
}

/* Arithmetic on constants that XLA does while it reads StableHLO, to the last bit of the result's
 * type: `op`, whose operands are all constants, becomes one, and true is returned. Lists up to 128
 * elements long; the operations are those that jaxlib 0.10.2 folds (not: power, ceil, floor,
 * shifts, xor ...). O(elements). */
bool hlo_mlir_fold(struct simplifier *z, struct mlir_op *op);
/* `v` as a constant of `count` whole numbers, or of one that stands for all. */
bool hlo_mlir_whole_numbers(const struct simplifier *z, mlir_value v, size_t count, int64_t *out);
/* `op`, whose result is a whole number, becomes the constant `value`. */
void hlo_mlir_become_number(struct simplifier *z, struct mlir_op *op, int64_t value);
/* Behind the attributes of `op`, which end the pool. False: out of memory. */
bool hlo_mlir_add_attr(struct mlir_module *m, struct mlir_op *op, const char *name,
                       struct str *text);
/* A dynamic_slice whose starts are constants becomes a slice. */
void hlo_mlir_fold_starts(struct simplifier *z, struct mlir_op *op);
/* A dynamic_reshape or dynamic_pad with constant sizes becomes the static one, get_dimension_size a
 * constant. Others stay, and are refused where they are needed. */
void hlo_mlir_fix_sizes(struct simplifier *z, struct mlir_op *op);
/* Marks what is needed for the results of `entry`. False: out of memory. O(ops + operands). */
bool hlo_mlir_find_live(struct simplifier *z, mlir_region_id entry);

#endif
