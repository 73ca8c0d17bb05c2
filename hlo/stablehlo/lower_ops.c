/* Operations that become one instruction or a few, each by its rule. */
#include "hlo/module/attr.h"
#include "hlo/module/build.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/stablehlo/lower.h"
#include "hlo/stablehlo/mlir.h"
#include "hlo/stablehlo/stablehlo_ops.h"
#include "hlo/support/lex.h"
#include "hlo/support/mem.h"

#include <string.h>

int hlo_lower_NONE(struct lower *l)
{
    (void)l;
    return 0;
}

int hlo_lower_REFUSED(struct lower *l)
{
    const char *what =
        l->op->row == MLIR_OP_UNIFORM_QUANTIZE || l->op->row == MLIR_OP_UNIFORM_DEQUANTIZE
            ? "lower the program with its quantisation spelled out"
        : l->op->row == MLIR_OP_UNARY_EINSUM || l->op->row == MLIR_OP_TORCH_INDEX_SELECT
            ? "rewrite it first (stablehlo-opt --stablehlo-legalize-deprecated-ops)"
            : "export with fixed shapes (stablehlo-opt --stablehlo-refine-shapes)";

    return hlo_lower_fail(l, "this operation has no form in HLO as it stands: %s", what);
}

int hlo_lower_PLAIN(struct lower *l)
{
    if (hlo_lower_operands(l) || hlo_lower_table_attrs(l))
        return l->e->code;
    return hlo_lower_results(l, hlo_mlir_op_info[l->op->row].opcode, 0, NULL, 0);
}

static int need_operands(struct lower *l, uint32_t count)
{
    return l->op->operand_count == count
               ? 0
               : hlo_lower_fail(l, "%u operands, expected %u", l->op->operand_count, count);
}

static int need_one_result(struct lower *l)
{
    return l->op->result_count == 1
               ? 0
               : hlo_lower_fail(l, "%u results, expected 1", l->op->result_count);
}

static const struct hlo_shape *result_shape(const struct lower *l)
{
    return mlir_shape(l->m, l->op->results);
}

/* ---- elementwise ---- */

/* select and clamp: scalars among the operands are spread first. */
int hlo_lower_SPREAD(struct lower *l)
{
    if (need_operands(l, 3) || need_one_result(l))
        return l->e->code;
    const struct hlo_shape to = *result_shape(l); /* the list of shapes moves as it grows */
    for (uint32_t n = 0; n < 3; n++) {
        hlo_id id;
        if (hlo_lower_operand(l, n, &id))
            return l->e->code;
        const struct hlo_shape *s = hlo_lower_shape_of(l, id);
        if (!s->rank && to.rank && hlo_type_info[s->type].bits) {
            int rc;
            hlo_shape_id wide = hlo_lower_array(l, (enum hlo_type)s->type, to.dims, to.rank, &rc);
            if (rc || hlo_lower_broadcast(l, id, wide, &id))
                return l->e->code;
        }
        if (hlo_lower_push(l, id))
            return l->e->code;
    }
    if (hlo_lower_common_attrs(l))
        return l->e->code;
    return hlo_lower_results(l, hlo_mlir_op_info[l->op->row].opcode, 0, NULL, 0);
}

int hlo_lower_COMPARE(struct lower *l)
{
    struct mlir_span s;

    if (hlo_lower_operands(l))
        return l->e->code;
    if (!hlo_mlir_attr(l->m, l->op, "comparison_direction", "word0", &s))
        return hlo_lower_fail(l, "no direction, expected one such as LT");
    struct mlir_span word = hlo_mlir_word(s);
    static const char *const known[] = {"EQ", "NE", "GE", "GT", "LE", "LT"};
    size_t n = 0;
    while (n < 6 && !hlo_mlir_is(word, known[n]))
        n++;
    if (n == 6)
        return hlo_lower_fail(l, "direction \"%.*s\", expected EQ, NE, GE, GT, LE or LT",
                              s.size < 60 ? (int)s.size : 60, s.text);
    if (hlo_lower_attr(l, HLO_ATTR_DIRECTION, known[n], 2))
        return l->e->code;
    if (hlo_mlir_attr(l->m, l->op, "compare_type", "word1", &s) &&
        hlo_mlir_is(hlo_mlir_word(s), "TOTALORDER") &&
        hlo_lower_attr(l, HLO_ATTR_TYPE, "TOTALORDER", 10))
        return l->e->code;
    return hlo_lower_common_attrs(l) ? l->e->code
                                     : hlo_lower_results(l, HLO_OP_COMPARE, 0, NULL, 0);
}

/* `format = e5m10` */
int hlo_lower_REDUCE_PRECISION(struct lower *l)
{
    struct mlir_span s;
    int64_t bits[2] = {-1, -1};

    if (hlo_mlir_attr(l->m, l->op, "format", NULL, &s)) {
        const char *end = s.size > 1 && *s.text == 'e' ? hlo_lex_int(s.text + 1, &bits[0]) : NULL;
        if (!end || *end != 'm' || !hlo_lex_int(end + 1, &bits[1]))
            bits[0] = -1;
    } else {
        if (hlo_mlir_attr(l->m, l->op, "exponent_bits", NULL, &s))
            hlo_mlir_int(s, &bits[0]);
        if (hlo_mlir_attr(l->m, l->op, "mantissa_bits", NULL, &s))
            hlo_mlir_int(s, &bits[1]);
    }
    if (bits[0] < 0 || bits[1] < 0)
        return hlo_lower_fail(l, "no format, expected one such as e5m10");
    for (int n = 0; n < 2; n++) {
        str_clear(&l->text);
        str_add_int(&l->text, bits[n]);
        if (hlo_lower_attr_text(l, n ? HLO_ATTR_MANTISSA_BITS : HLO_ATTR_EXPONENT_BITS))
            return l->e->code;
    }
    return hlo_lower_operands(l) ? l->e->code
                                 : hlo_lower_results(l, HLO_OP_REDUCE_PRECISION, 0, NULL, 0);
}

/* ---- shape ---- */

/* Dims of the operand that are there in the result, in the order of the result: those of size 1
 * that grow are dropped by a reshape, those out of order moved by a transpose. */
static int fit_for_broadcast(struct lower *l, hlo_id *id, const struct hlo_shape *to, int64_t *dims,
                             size_t *count)
{
    const struct hlo_shape s = *hlo_lower_shape_of(l, *id);
    int64_t kept_sizes[HLO_RANK_MAX], kept[HLO_RANK_MAX], order[HLO_RANK_MAX];
    size_t n_kept = 0;
    bool in_order = true;
    int rc;

    for (size_t n = 0; n < *count; n++) {
        if (dims[n] < 0 || dims[n] >= to->rank)
            return hlo_lower_fail(l, "dims name dim %lld, expected one below %u",
                                  (long long)dims[n], to->rank);
        if (s.dims[n] == 1 && to->dims[dims[n]] != 1)
            continue;
        kept_sizes[n_kept] = s.dims[n];
        kept[n_kept] = dims[n];
        order[n_kept] = (int64_t)n_kept;
        in_order &= !n_kept || kept[n_kept - 1] < kept[n_kept];
        n_kept++;
    }
    if (n_kept < *count) {
        hlo_shape_id smaller =
            hlo_lower_array(l, (enum hlo_type)s.type, kept_sizes, (uint32_t)n_kept, &rc);
        if (rc || hlo_lower_simple(l, HLO_OP_RESHAPE, smaller, *id, HLO_NONE, id))
            return l->e->code;
    }
    if (!in_order) {
        int64_t sizes[HLO_RANK_MAX];
        for (size_t n = 1; n < n_kept; n++) { /* few dims: insertion */
            int64_t from = order[n];
            size_t at = n;
            for (; at && kept[order[at - 1]] > kept[from]; at--)
                order[at] = order[at - 1];
            order[at] = from;
        }
        for (size_t n = 0; n < n_kept; n++)
            sizes[n] = kept_sizes[order[n]];
        hlo_shape_id turned =
            hlo_lower_array(l, (enum hlo_type)s.type, sizes, (uint32_t)n_kept, &rc);
        if (rc || hlo_lower_attr_ints(l, HLO_ATTR_DIMENSIONS, order, n_kept) ||
            hlo_lower_simple(l, HLO_OP_TRANSPOSE, turned, *id, HLO_NONE, id))
            return l->e->code;
        for (size_t n = 0; n < n_kept; n++)
            dims[n] = kept[order[n]];
    } else {
        memcpy(dims, kept, n_kept * sizeof *dims);
    }
    *count = n_kept;
    return 0;
}

int hlo_lower_BROADCAST_IN_DIM(struct lower *l)
{
    int64_t dims[HLO_RANK_MAX];
    size_t count = 0;
    struct mlir_span s;
    hlo_id id;

    if (need_operands(l, 1) || need_one_result(l) || hlo_lower_operand(l, 0, &id))
        return l->e->code;
    const struct hlo_shape *to = result_shape(l), *from = hlo_lower_shape_of(l, id);
    if (hlo_mlir_attr(l->m, l->op, "broadcast_dimensions", "dims", &s) &&
        !hlo_mlir_ints(s, dims, HLO_RANK_MAX, &count))
        return hlo_lower_fail(l, "dims \"%.*s\", expected such as [0, 1]",
                              s.size < 60 ? (int)s.size : 60, s.text);
    if (count != from->rank)
        return hlo_lower_fail(l, "%zu dims, expected %u as the operand has", count, from->rank);
    bool in_order = true;
    for (size_t n = 1; n < count; n++)
        in_order &= dims[n - 1] < dims[n];
    if (from->elements == to->elements && in_order && from->rank != to->rank && !l->as_is) {
        if (hlo_lower_push(l, id) || hlo_lower_common_attrs(l))
            return l->e->code;
        return hlo_lower_results(l, HLO_OP_RESHAPE, 0, NULL, 0);
    }
    if (fit_for_broadcast(l, &id, to, dims, &count) || hlo_lower_push(l, id) ||
        hlo_lower_attr_ints(l, HLO_ATTR_DIMENSIONS, dims, count) || hlo_lower_common_attrs(l))
        return l->e->code;
    return hlo_lower_results(l, HLO_OP_BROADCAST, 0, NULL, 0);
}

/* New major dims. */
int hlo_lower_BROADCAST(struct lower *l)
{
    int64_t dims[HLO_RANK_MAX];

    if (need_operands(l, 1) || need_one_result(l) || hlo_lower_operands(l))
        return l->e->code;
    uint32_t rank = hlo_lower_operand_shape(l, 0)->rank, all = result_shape(l)->rank;
    if (all < rank)
        return hlo_lower_fail(l, "a result of %u dims, expected at least %u", all, rank);
    for (uint32_t n = 0; n < rank; n++)
        dims[n] = n + all - rank;
    if (hlo_lower_attr_ints(l, HLO_ATTR_DIMENSIONS, dims, rank) || hlo_lower_common_attrs(l))
        return l->e->code;
    return hlo_lower_results(l, HLO_OP_BROADCAST, 0, NULL, 0);
}

/* `[0:5, 1:9:2]` */
static bool pretty_slice(struct mlir_span s, size_t rank, int64_t (*out)[3])
{
    const char *p = s.text + 1;

    for (size_t n = 0; n < rank; n++) {
        out[n][2] = 1;
        for (int k = 0; k < 3; k++) {
            p = hlo_lex_int(lex_skip(p), &out[n][k]);
            if (!p)
                return false;
            p = lex_skip(p);
            if (*p != ':')
                break;
            p++;
        }
        if (*p != (n + 1 < rank ? ',' : ']'))
            return false;
        p++;
    }
    return rank || *lex_skip(p) == ']';
}

int hlo_lower_SLICE(struct lower *l)
{
    int64_t pretty[HLO_RANK_MAX][3], start[HLO_RANK_MAX], limit[HLO_RANK_MAX], stride[HLO_RANK_MAX];
    struct mlir_span s;

    if (need_operands(l, 1) || hlo_lower_operands(l))
        return l->e->code;
    uint32_t rank = hlo_lower_operand_shape(l, 0)->rank;
    if (hlo_mlir_attr(l->m, l->op, "indices", NULL, &s)) {
        if (!pretty_slice(s, rank, pretty))
            return hlo_lower_fail(l, "\"%.*s\", expected %u parts such as 0:4:1",
                                  s.size < 60 ? (int)s.size : 60, s.text, rank);
        for (uint32_t n = 0; n < rank; n++) {
            start[n] = pretty[n][0];
            limit[n] = pretty[n][1];
            stride[n] = pretty[n][2];
        }
    } else if (hlo_lower_numbers(l, "start_indices", NULL, rank, 0, start) ||
               hlo_lower_numbers(l, "limit_indices", NULL, rank, 0, limit) ||
               hlo_lower_numbers(l, "strides", NULL, rank, 1, stride)) {
        return l->e->code;
    }
    str_clear(&l->text);
    str_add_char(&l->text, '{');
    for (uint32_t n = 0; n < rank; n++) {
        str_add(&l->text, n ? ", [" : "[");
        str_add_int(&l->text, start[n]);
        str_add_char(&l->text, ':');
        str_add_int(&l->text, limit[n]);
        if (stride[n] != 1) {
            str_add_char(&l->text, ':');
            str_add_int(&l->text, stride[n]);
        }
        str_add_char(&l->text, ']');
    }
    str_add_char(&l->text, '}');
    if (hlo_lower_attr_text(l, HLO_ATTR_SLICE) || hlo_lower_common_attrs(l))
        return l->e->code;
    return hlo_lower_results(l, HLO_OP_SLICE, 0, NULL, 0);
}

int hlo_lower_PAD(struct lower *l)
{
    int64_t low[HLO_RANK_MAX], high[HLO_RANK_MAX], interior[HLO_RANK_MAX];

    if (need_operands(l, 2) || hlo_lower_operands(l))
        return l->e->code;
    uint32_t rank = hlo_lower_operand_shape(l, 0)->rank;
    if (hlo_lower_numbers(l, "edge_padding_low", "low", rank, 0, low) ||
        hlo_lower_numbers(l, "edge_padding_high", "high", rank, 0, high) ||
        hlo_lower_numbers(l, "interior_padding", "interior", rank, 0, interior))
        return l->e->code;
    str_clear(&l->text);
    for (uint32_t n = 0; n < rank; n++) {
        if (n)
            str_add_char(&l->text, 'x');
        str_add_int(&l->text, low[n]);
        str_add_char(&l->text, '_');
        str_add_int(&l->text, high[n]);
        if (interior[n]) {
            str_add_char(&l->text, '_');
            str_add_int(&l->text, interior[n]);
        }
    }
    if (hlo_lower_attr_text(l, HLO_ATTR_PADDING) || hlo_lower_common_attrs(l))
        return l->e->code;
    return hlo_lower_results(l, HLO_OP_PAD, 0, NULL, 0);
}

/* ---- the rest ---- */

/* Reached when nothing is simplified: else constants are made where they are used. */
int hlo_lower_CONSTANT(struct lower *l)
{
    hlo_id id;

    if (need_one_result(l))
        return l->e->code;
    l->s.constant[l->op->results] = (mlir_op_id)(l->op - l->m->ops);
    int rc = hlo_lower_constant(l, l->op->results, &id);
    l->s.constant[l->op->results] = MLIR_NONE;
    return rc;
}

/* HLO has no operand for the shape. */
int hlo_lower_RNG(struct lower *l)
{
    for (uint32_t n = 0; n < 2 && n < l->op->operand_count; n++) {
        hlo_id id;
        if (hlo_lower_operand(l, n, &id) || hlo_lower_push(l, id))
            return l->e->code;
    }
    return hlo_lower_table_attrs(l) ? l->e->code : hlo_lower_results(l, HLO_OP_RNG, 0, NULL, 0);
}

int hlo_lower_ELEMENT(struct lower *l)
{
    struct mlir_span s;
    int64_t index = -1;
    hlo_id id;

    if (need_operands(l, 1) || need_one_result(l) || hlo_lower_operand(l, 0, &id))
        return l->e->code;
    if (hlo_mlir_attr(l->m, l->op, "indices", NULL, &s) && s.size > 2)
        hlo_lex_int(lex_skip(s.text + 1), &index);
    else if (hlo_mlir_attr(l->m, l->op, "index", NULL, &s))
        hlo_mlir_int(s, &index);
    const struct hlo_shape *tuple = hlo_lower_shape_of(l, id);
    if (tuple->type != HLO_TUPLE || index < 0 || index >= tuple->part_count)
        return hlo_lower_fail(l, "element %lld of a tuple of %u", (long long)index,
                              tuple->part_count);
    hlo_id out;
    if (hlo_lower_element(l, id, (uint32_t)index, &out))
        return l->e->code;
    lower_set(l, l->op->results, out);
    return 0;
}

int hlo_lower_BARRIER(struct lower *l)
{
    const struct mlir_op *op = l->op;
    hlo_id tuple, barrier, element;

    if (op->operand_count != op->result_count || !op->operand_count)
        return hlo_lower_fail(l, "%u operands and %u results, expected as many", op->operand_count,
                              op->result_count);
    if (hlo_lower_operands(l) || hlo_lower_tuple(l, l->ids, l->id_count, true, &tuple) ||
        hlo_lower_simple(l, HLO_OP_OPT_BARRIER, hlo_builder_at(l->b, tuple)->shape, tuple, HLO_NONE,
                         &barrier))
        return l->e->code;
    for (uint32_t n = 0; n < op->result_count; n++) {
        element = barrier;
        if (op->result_count > 1 && hlo_lower_element(l, barrier, n, &element))
            return l->e->code;
        lower_set(l, op->results + n, element);
    }
    return 0;
}

int hlo_lower_TOP_K(struct lower *l)
{
    struct mlir_span s;

    if (need_operands(l, 1) || hlo_lower_operands(l) || hlo_lower_table_attrs(l))
        return l->e->code;
    bool has = hlo_mlir_attr(l->m, l->op, "largest", NULL, &s);
    bool smallest = has && hlo_mlir_is(s, "false"); /* a flag that is not set is not written */
    if ((!has || smallest) &&
        hlo_lower_attr(l, HLO_ATTR_LARGEST, smallest ? "false" : "true", smallest ? 5 : 4))
        return l->e->code;
    return hlo_lower_results(l, HLO_OP_TOPK, 0, NULL, 0);
}

/* The split parts are joined along another dim: HLO joins along the dim it splits, the rest is
 * reshapes and a transpose, as XLA does it. */
int hlo_lower_ALL_TO_ALL(struct lower *l)
{
    int64_t split = 0, concat = 0, count = 0, dims[HLO_RANK_MAX], order[HLO_RANK_MAX];
    struct mlir_span s;
    hlo_id id;
    int rc;

    if (l->op->operand_count != 1) /* the form of a tuple: part k goes to device k */
        return hlo_lower_PLAIN(l);
    if (hlo_mlir_attr(l->m, l->op, "split_dimension", NULL, &s))
        hlo_mlir_int(s, &split);
    if (hlo_mlir_attr(l->m, l->op, "concat_dimension", NULL, &s))
        hlo_mlir_int(s, &concat);
    if (hlo_mlir_attr(l->m, l->op, "split_count", NULL, &s))
        hlo_mlir_int(s, &count);
    const struct hlo_shape x = *hlo_lower_operand_shape(l, 0), *to = result_shape(l);
    if (split < 0 || concat < 0 || split >= x.rank || concat >= x.rank || count < 1 ||
        x.dims[split] % count || x.rank + 1 > HLO_RANK_MAX || to->rank != x.rank)
        return hlo_lower_fail(l,
                              "split along dim %lld in %lld, joined along %lld: not dims of the "
                              "operand that divide",
                              (long long)split, (long long)count, (long long)concat);
    if (hlo_lower_operand(l, 0, &id) || hlo_lower_table_attrs(l) ||
        hlo_lower_attr_ints(l, HLO_ATTR_DIMENSIONS, &split, 1))
        return l->e->code;
    if (split == concat) {
        if (hlo_lower_push(l, id))
            return l->e->code;
        return hlo_lower_results(l, HLO_OP_ALL_TO_ALL, 0, NULL, 0);
    }
    hlo_shape_id same = l->m->values[lower_same(l, mlir_operand(l->m, l->op, 0))].shape;
    if (hlo_lower_simple(l, HLO_OP_ALL_TO_ALL, same, id, HLO_NONE, &id))
        return l->e->code;
    uint32_t rank = x.rank;
    for (uint32_t n = 0, at = 0; n < rank; n++) { /* split dim as count x rest */
        if (n == split)
            dims[at++] = count;
        dims[at++] = n == split ? x.dims[n] / count : x.dims[n];
    }
    hlo_shape_id parted = hlo_lower_array(l, (enum hlo_type)x.type, dims, rank + 1, &rc);
    if (rc || hlo_lower_simple(l, HLO_OP_RESHAPE, parted, id, HLO_NONE, &id))
        return l->e->code;
    int64_t moved[HLO_RANK_MAX];
    uint32_t at = 0;
    for (uint32_t n = 0; n < rank; n++) { /* the parts go before the dim they are joined along */
        if (n == concat)
            order[at++] = split;
        order[at++] = n < split ? n : n + 1;
    }
    for (uint32_t n = 0; n < rank + 1; n++)
        moved[n] = dims[order[n]];
    hlo_shape_id turned = hlo_lower_array(l, (enum hlo_type)x.type, moved, rank + 1, &rc);
    if (rc || hlo_lower_attr_ints(l, HLO_ATTR_DIMENSIONS, order, rank + 1) ||
        hlo_lower_simple(l, HLO_OP_TRANSPOSE, turned, id, HLO_NONE, &id) || hlo_lower_push(l, id))
        return l->e->code;
    return hlo_lower_results(l, HLO_OP_RESHAPE, 0, NULL, 0);
}

int hlo_lower_INFEED(struct lower *l)
{
    size_t parts = l->part_count;
    hlo_shape_id data, both[2];
    hlo_id id, element;
    uint32_t count = l->op->result_count;

    if (need_operands(l, 1) || !count || hlo_lower_operand(l, 0, &id) || hlo_lower_table_attrs(l))
        return count ? l->e->code : hlo_lower_fail(l, "no result, expected at least a token");
    if (!mem_grow(&l->parts, &l->part_room, parts, count))
        return hlo_lower_memory(l);
    for (uint32_t n = 0; n < count; n++)
        l->parts[parts + n] = l->m->values[l->op->results + n].shape;
    both[1] = l->parts[parts + count - 1];
    if (hlo_lower_tuple_shape(l, l->parts + parts, count - 1, true, &data))
        return l->e->code;
    both[0] = data;
    hlo_shape_id whole;
    hlo_id feed, array;
    if (hlo_lower_tuple_shape(l, both, 2, false, &whole) ||
        hlo_lower_simple(l, HLO_OP_INFEED, whole, id, HLO_NONE, &feed) ||
        hlo_lower_element(l, feed, 0, &array))
        return l->e->code;
    for (uint32_t n = 0; n + 1 < count; n++) {
        element = array;
        if (count > 2 && hlo_lower_element(l, array, n, &element))
            return l->e->code;
        lower_set(l, l->op->results + n, element);
    }
    if (hlo_lower_element(l, feed, 1, &element))
        return l->e->code;
    lower_set(l, l->op->results + count - 1, element);
    return 0;
}

int hlo_lower_OUTFEED(struct lower *l)
{
    hlo_id tuple, token;

    if (!l->op->operand_count || need_one_result(l))
        return hlo_lower_fail(l, "no operand, expected at least a token");
    if (hlo_lower_operands(l))
        return l->e->code;
    token = l->ids[l->id_count - 1];
    if (hlo_lower_tuple(l, l->ids, l->id_count - 1, true, &tuple))
        return l->e->code;
    l->id_count = 0;
    if (hlo_lower_push(l, tuple) || hlo_lower_push(l, token) || hlo_lower_table_attrs(l))
        return l->e->code;
    return hlo_lower_results(l, HLO_OP_OUTFEED, 0, NULL, 0);
}
