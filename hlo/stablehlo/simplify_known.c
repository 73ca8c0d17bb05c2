/* Starts and sizes computed by the program that are constants: the operation that has them as
 * attributes. */
#include "hlo/stablehlo/simplify_internal.h"

#include "hlo/module/build.h"
#include "hlo/module/hlo.h"
#include "hlo/module/shape.h"
#include "hlo/stablehlo/mlir.h"
#include "hlo/stablehlo/stablehlo_ops.h"
#include "hlo/support/mem.h"

#include <string.h>

/* ---- slices ---- */

/* `array<i64: 1, 2>`: start of each dim, moved inwards as dynamic_slice does, plus `size` of it. */
static void add_starts(struct str *text, const struct hlo_shape *from, const struct hlo_shape *to,
                       const int64_t *starts, bool with_size)
{
    str_clear(text);
    str_add(text, "array<i64");
    for (uint8_t n = 0; n < from->rank; n++) {
        int64_t most = from->dims[n] - to->dims[n];
        int64_t start = starts[n] < 0 ? 0 : starts[n] > most ? most : starts[n];
        str_add(text, n ? ", " : ": ");
        str_add_int(text, start + (with_size ? to->dims[n] : 0));
    }
    str_add_char(text, '>');
}

void hlo_mlir_fold_starts(struct simplifier *z, struct mlir_op *op)
{
    struct mlir_op made = *op;
    struct str text = {0};
    int64_t starts[HLO_RANK_MAX];

    if (op->result_count != 1 || op->attr_count != 1 || op->operand_count < 2)
        return;
    const struct hlo_shape *from = mlir_shape(z->m, operand_of(z, op, 0));
    const struct hlo_shape *to = mlir_shape(z->m, op->results);
    if (op->operand_count != 1u + from->rank || to->rank != from->rank)
        return;
    for (uint8_t n = 0; n < from->rank; n++) {
        if (to->dims[n] > from->dims[n] ||
            !hlo_mlir_whole_numbers(z, operand_of(z, op, n + 1u), 1, &starts[n]))
            return;
    }
    made.row = MLIR_OP_SLICE;
    made.operand_count = 1;
    made.attr_count = 0;
    made.attrs = (uint32_t)z->m->attr_count;
    add_starts(&text, from, to, starts, false);
    if (!hlo_mlir_add_attr(z->m, &made, "start_indices", &text))
        goto out;
    add_starts(&text, from, to, starts, true);
    if (hlo_mlir_add_attr(z->m, &made, "limit_indices", &text))
        *op = made;
out:
    str_release(&text);
}

/* ---- sizes that turn out to be known ---- */

/* The numbers of operand n, one for each of `rank` dims. */
static bool read_sizes(const struct simplifier *z, const struct mlir_op *op, uint32_t n,
                       uint8_t rank, int64_t *out)
{
    const struct hlo_shape *s = mlir_shape(z->m, operand_of(z, op, n));

    return s->rank == 1 && s->dims[0] == rank &&
           hlo_mlir_whole_numbers(z, operand_of(z, op, n), rank, out);
}

/* Only with the sizes that the result says. */
static void fix_reshape(struct simplifier *z, struct mlir_op *op)
{
    const struct hlo_shape *to = mlir_shape(z->m, op->results);
    int64_t sizes[HLO_RANK_MAX];

    if (op->operand_count != 2 || !read_sizes(z, op, 1, to->rank, sizes) ||
        memcmp(sizes, to->dims, to->rank * sizeof *sizes) != 0)
        return;
    op->row = MLIR_OP_RESHAPE;
    op->operand_count = 1;
}

static void fix_pad(struct simplifier *z, struct mlir_op *op)
{
    static const char *const names[] = {"edge_padding_low", "edge_padding_high",
                                        "interior_padding"};
    struct mlir_op made = *op;
    struct str text = {0};
    int64_t widths[3][HLO_RANK_MAX];
    uint8_t rank = mlir_shape(z->m, op->results)->rank;
    bool ok = op->operand_count == 5 && !op->attr_count;

    for (uint32_t k = 0; k < 3 && ok; k++)
        ok = read_sizes(z, op, k + 2, rank, widths[k]);
    made.row = MLIR_OP_PAD;
    made.operand_count = 2;
    made.attrs = (uint32_t)z->m->attr_count;
    for (uint32_t k = 0; k < 3 && ok; k++) {
        str_clear(&text);
        str_add(&text, "array<i64");
        for (uint8_t d = 0; d < rank; d++) {
            str_add(&text, d ? ", " : ": ");
            str_add_int(&text, widths[k][d]);
        }
        str_add_char(&text, '>');
        ok = hlo_mlir_add_attr(z->m, &made, names[k], &text);
    }
    if (ok)
        *op = made;
    str_release(&text);
}

/* A number that the type of the operand says. */
static void fix_size(struct simplifier *z, struct mlir_op *op)
{
    const struct hlo_shape *to = mlir_shape(z->m, op->results);
    struct mlir_span s;
    int64_t dim;

    if (op->operand_count != 1 || to->rank || to->type != HLO_S32 ||
        !hlo_mlir_attr(z->m, op, "dimension", "dim", &s) || !hlo_mlir_int(s, &dim))
        return;
    const struct hlo_shape *of = mlir_shape(z->m, operand_of(z, op, 0));
    if (dim < 0 || dim >= of->rank || of->dynamic || of->dims[dim] > INT32_MAX)
        return;
    hlo_mlir_become_number(z, op, of->dims[dim]);
}

void hlo_mlir_fix_sizes(struct simplifier *z, struct mlir_op *op)
{
    if (op->row == MLIR_OP_DYNAMIC_RESHAPE)
        fix_reshape(z, op);
    else if (op->row == MLIR_OP_DYNAMIC_PAD)
        fix_pad(z, op);
    else
        fix_size(z, op);
}
