/* Windows of convolutions and of reductions, and the dims of contractions. */
#include "hlo/module/attr.h"
#include "hlo/module/build.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/stablehlo/lower.h"
#include "hlo/stablehlo/mlir.h"
#include "hlo/support/lex.h"
#include "hlo/support/mem.h"

#include <string.h>

static bool all_are(const int64_t *values, size_t count, int64_t value)
{
    for (size_t n = 0; n < count; n++) {
        if (values[n] != value)
            return false;
    }
    return true;
}

static void add_by_dims(struct str *out, const char *key, const int64_t *values, size_t rank)
{
    str_add(out, out->size > 1 ? " " : "");
    str_add(out, key);
    for (size_t n = 0; n < rank; n++) {
        if (n)
            str_add_char(out, 'x');
        str_add_int(out, values[n]);
    }
}

struct window {
    int64_t size[HLO_RANK_MAX], stride[HLO_RANK_MAX], pad[2 * HLO_RANK_MAX];
    int64_t base[HLO_RANK_MAX], dilation[HLO_RANK_MAX], reversal[HLO_RANK_MAX];
};

static int window_attr(struct lower *l, const struct window *w, size_t rank)
{
    str_clear(&l->text);
    str_add_char(&l->text, '{');
    if (rank)
        add_by_dims(&l->text, "size=", w->size, rank);
    if (!all_are(w->stride, rank, 1))
        add_by_dims(&l->text, "stride=", w->stride, rank);
    if (!all_are(w->pad, 2 * rank, 0)) {
        str_add(&l->text, " pad=");
        for (size_t n = 0; n < rank; n++) {
            if (n)
                str_add_char(&l->text, 'x');
            str_add_int(&l->text, w->pad[2 * n]);
            str_add_char(&l->text, '_');
            str_add_int(&l->text, w->pad[2 * n + 1]);
        }
    }
    if (!all_are(w->base, rank, 1))
        add_by_dims(&l->text, "lhs_dilate=", w->base, rank);
    if (!all_are(w->dilation, rank, 1))
        add_by_dims(&l->text, "rhs_dilate=", w->dilation, rank);
    if (!all_are(w->reversal, rank, 0))
        add_by_dims(&l->text, "rhs_reversal=", w->reversal, rank);
    str_add_char(&l->text, '}');
    return hlo_lower_attr_text(l, HLO_ATTR_WINDOW);
}

int hlo_lower_window(struct lower *l, uint32_t rank, const int64_t *dilation)
{
    struct window w = {.size = {0}};

    if (hlo_lower_numbers(l, "window_dimensions", NULL, rank, 1, w.size) ||
        hlo_lower_numbers(l, "window_strides", NULL, rank, 1, w.stride) ||
        hlo_lower_numbers(l, "padding", NULL, (size_t)rank * 2, 0, w.pad) ||
        hlo_lower_numbers(l, "base_dilations", NULL, rank, 1, w.base) ||
        hlo_lower_numbers(l, "window_dilations", NULL, rank, 1, w.dilation))
        return l->e->code;
    if (dilation)
        memcpy(w.dilation, dilation, rank * sizeof *dilation);
    return window_attr(l, &w, rank);
}

/* ---- convolution ---- */

/* `[b, 0, 1, f]`: letters without blanks and commas. */
static const char *add_labels(struct str *out, const char *p, const char *end)
{
    for (; p < end && *p != ']'; p++) {
        if (*p != '[' && *p != ',' && !lex_is(*p, LEX_BLANK))
            str_add_char(out, *p);
    }
    return p < end ? p + 1 : NULL;
}

/* `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`, or #stablehlo.conv of it. */
static bool labels_of(struct str *out, struct mlir_span s)
{
    const char *p = memchr(s.text, '[', s.size), *end = s.text + s.size;

    for (int part = 0; p && part < 3; part++) {
        str_add(out, part == 1 ? "_" : part ? "->" : "");
        while (p < end && *p != '[')
            p++;
        p = add_labels(out, p, end);
    }
    return p;
}

/* #mhlo.conv<raw input_batch_dimension = 0, ..>: where each dim stands, by name; `raw` is the
 * first. */
static bool raw_labels_of(struct str *out, struct mlir_span s, struct mlir_span raw)
{
    static const struct {
        const char *minor, *major, *spatial, *letters;
    } parts[] = {
        {"input_batch_dimension", "input_feature_dimension", "input_spatial_dimensions", "bf"},
        {"kernel_input_feature_dimension", "kernel_output_feature_dimension",
         "kernel_spatial_dimensions", "io"},
        {"output_batch_dimension", "output_feature_dimension", "output_spatial_dimensions", "bf"}};

    const char *is = memchr(raw.text, '=', raw.size);
    if (!is)
        return false;
    const char *number = lex_skip(is + 1), *end = raw.text + raw.size;
    if (number >= end)
        return false;
    raw = (struct mlir_span){number, (uint32_t)(end - number)};
    for (size_t n = 0; n < 3; n++) {
        char labels[HLO_RANK_MAX + 2] = {0};
        int64_t dims[HLO_RANK_MAX];
        struct mlir_span first, second, list;
        size_t count;

        first = raw;
        if ((n && !hlo_mlir_field(s, parts[n].minor, &first)) || !hlo_mlir_int(first, &dims[0]) ||
            !hlo_mlir_field(s, parts[n].major, &second) || !hlo_mlir_int(second, &dims[1]) ||
            !hlo_mlir_field(s, parts[n].spatial, &list) ||
            !hlo_mlir_ints(list, dims + 2, 10, &count))
            return false;
        for (size_t k = 0; k < count + 2; k++) {
            if (dims[k] < 0 || (size_t)dims[k] >= count + 2 || labels[dims[k]])
                return false;
            labels[dims[k]] = (char)(k < 2 ? parts[n].letters[k] : '0' + (int)k - 2);
        }
        str_add(out, n == 1 ? "_" : n ? "->" : "");
        str_add(out, labels);
    }
    return true;
}

static int labels_attr(struct lower *l, struct mlir_span s, size_t *spatial)
{
    struct hlo_conv_dims dims;
    struct mlir_span raw;

    str_clear(&l->text);
    bool fits =
        hlo_mlir_field(s, "raw", &raw) ? raw_labels_of(&l->text, s, raw) : labels_of(&l->text, s);
    if (!fits || l->text.failed || !hlo_parse_conv_dims(l->text.text, l->text.size, &dims)) {
        str_clear(&l->text);
        return hlo_lower_fail(l,
                              "dim_numbers \"%.*s\", expected such as [b, 0, f]x[0, i, o]->[b, 0, "
                              "f]",
                              s.size < 80 ? (int)s.size : 80, s.text);
    }
    *spatial = dims.spatial_count;
    return hlo_lower_attr_text(l, HLO_ATTR_DIM_LABELS);
}

static int window_numbers(struct lower *l, struct mlir_span window, const char *field,
                          const char *generic, size_t count, int64_t absent, int64_t *out)
{
    struct mlir_span s;
    size_t found;

    if (!window.size || !hlo_mlir_field(window, field, &s))
        return hlo_lower_numbers(l, generic, NULL, count, absent, out);
    if (!hlo_mlir_ints(s, out, count, &found) || found != count)
        return hlo_lower_fail(l, "%s of the window is \"%.*s\", expected %zu numbers", field,
                              s.size < 60 ? (int)s.size : 60, s.text, count);
    return 0;
}

int hlo_lower_CONVOLUTION(struct lower *l)
{
    struct mlir_span dims, window = {"", 0};
    struct window w;
    size_t spatial = 0;
    struct hlo_conv_dims d;

    if (l->op->operand_count != 2)
        return hlo_lower_fail(l, "%u operands, expected 2", l->op->operand_count);
    if (hlo_lower_operands(l))
        return l->e->code;
    if (!hlo_mlir_attr(l->m, l->op, "dimension_numbers", "dim_numbers", &dims))
        return hlo_lower_fail(l, "no dim_numbers, expected such as [b, 0, f]x[0, i, o]->[b, 0, f]");
    if (labels_attr(l, dims, &spatial))
        return l->e->code;
    const struct hlo_attr *labels = &l->attrs[l->attr_count - 1];
    const struct hlo_shape *kernel = hlo_lower_operand_shape(l, 1);
    hlo_mlir_attr(l->m, l->op, "window", NULL, &window);
    if (!hlo_parse_conv_dims(labels->text, labels->size, &d))
        return hlo_lower_fail(l, "dim_numbers cannot be read");
    for (size_t n = 0; n < spatial; n++) {
        if (d.kernel_spatial[n] >= kernel->rank)
            return hlo_lower_fail(l, "dim_numbers name more dims than the kernel has");
        w.size[n] = kernel->dims[d.kernel_spatial[n]];
    }
    if (window_numbers(l, window, "stride", "window_strides", spatial, 1, w.stride) ||
        window_numbers(l, window, "pad", "padding", 2 * spatial, 0, w.pad) ||
        window_numbers(l, window, "lhs_dilate", "lhs_dilation", spatial, 1, w.base) ||
        window_numbers(l, window, "rhs_dilate", "rhs_dilation", spatial, 1, w.dilation) ||
        window_numbers(l, window, "reverse", "window_reversal", spatial, 0, w.reversal))
        return l->e->code;
    if ((spatial && window_attr(l, &w, spatial)) || hlo_lower_table_attrs(l))
        return l->e->code;
    return hlo_lower_results(l, HLO_OP_CONVOLUTION, 0, NULL, 0);
}

/* ---- dots ---- */

static int dims_attr(struct lower *l, enum hlo_attr_key key, struct mlir_span s)
{
    int64_t dims[HLO_RANK_MAX];
    size_t count;

    if (!hlo_mlir_ints(s, dims, HLO_RANK_MAX, &count))
        return hlo_lower_fail(l, "dims \"%.*s\", expected such as [0, 1]",
                              s.size < 60 ? (int)s.size : 60, s.text);
    return count ? hlo_lower_attr_ints(l, key, dims, count) : 0;
}

/* `[2] x [1]` */
static int pair_attr(struct lower *l, struct mlir_span s, enum hlo_attr_key lhs,
                     enum hlo_attr_key rhs)
{
    const char *x = memchr(s.text, ']', s.size), *end = s.text + s.size;

    if (!x)
        return hlo_lower_fail(l, "dims \"%.*s\", expected such as [2] x [1]",
                              s.size < 60 ? (int)s.size : 60, s.text);
    x++;
    const char *second = x;
    while (second < end && *second != '[')
        second++;
    return dims_attr(l, lhs, (struct mlir_span){s.text, (uint32_t)(x - s.text)}) ||
                   dims_attr(l, rhs, (struct mlir_span){second, (uint32_t)(end - second)})
               ? l->e->code
               : 0;
}

static const struct {
    const char *field;
    enum hlo_attr_key key;
} dot_fields[] = {
    {"lhs_batching_dimensions", HLO_ATTR_LHS_BATCH_DIMS},
    {"lhs_contracting_dimensions", HLO_ATTR_LHS_CONTRACTING_DIMS},
    {"rhs_batching_dimensions", HLO_ATTR_RHS_BATCH_DIMS},
    {"rhs_contracting_dimensions", HLO_ATTR_RHS_CONTRACTING_DIMS},
    {"lhs_ragged_dimensions", HLO_ATTR_LHS_RAGGED_DIMS},
    {"rhs_group_dimensions", HLO_ATTR_RHS_GROUP_DIMS},
};

static int fields_attr(struct lower *l, struct mlir_span in)
{
    struct mlir_span s, nested;

    for (size_t n = 0; n < sizeof dot_fields / sizeof *dot_fields; n++) {
        if (hlo_mlir_field(in, dot_fields[n].field, &s) && dims_attr(l, dot_fields[n].key, s))
            return l->e->code;
    }
    if (hlo_mlir_field(in, "dot_dimension_numbers", &nested))
        return fields_attr(l, nested);
    return 0;
}

/* `<lhs_precision_type = tf32, ..>`: XLA's name of the algorithm, when it has one. */
static int algorithm_attr(struct lower *l)
{
    struct mlir_span s, lhs, rhs, sum, parts[3];
    int64_t count = 1;

    if (!hlo_mlir_attr(l->m, l->op, "algorithm", NULL, &s) ||
        !hlo_mlir_field(s, "lhs_precision_type", &lhs) ||
        !hlo_mlir_field(s, "rhs_precision_type", &rhs) ||
        !hlo_mlir_field(s, "accumulation_type", &sum))
        return 0;
    if (hlo_mlir_field(s, "num_primitive_operations", &parts[0]))
        hlo_mlir_int(parts[0], &count);
    parts[0] = lhs;
    parts[1] = rhs;
    parts[2] = sum;
    str_clear(&l->text);
    str_add(&l->text, "dot");
    for (int n = 0; n < 3; n++) {
        str_add_char(&l->text, '_');
        for (uint32_t k = 0; k < parts[n].size && lex_is(parts[n].text[k], LEX_NAME); k++) {
            char c = parts[n].text[k];
            str_add_char(&l->text, c >= 'A' && c <= 'Z' ? (char)(c + 32) : c);
        }
    }
    if (count > 1) {
        str_add(&l->text, "_x");
        str_add_int(&l->text, count);
    }
    return hlo_lower_attr_text(l, HLO_ATTR_ALGORITHM);
}

static int dot_with(struct lower *l, uint16_t opcode, uint32_t operands)
{
    if (l->op->operand_count != operands)
        return hlo_lower_fail(l, "%u operands, expected %u", l->op->operand_count, operands);
    if (hlo_lower_table_attrs(l) || algorithm_attr(l) || hlo_lower_operands(l))
        return l->e->code;
    return hlo_lower_results(l, opcode, 0, NULL, 0);
}

int hlo_lower_DOT_GENERAL(struct lower *l)
{
    struct mlir_span s;

    if (hlo_mlir_attr(l->m, l->op, "dot_dimension_numbers", NULL, &s) && fields_attr(l, s))
        return l->e->code;
    if (hlo_mlir_attr(l->m, l->op, "batching_dims", NULL, &s) &&
        pair_attr(l, s, HLO_ATTR_LHS_BATCH_DIMS, HLO_ATTR_RHS_BATCH_DIMS))
        return l->e->code;
    if (hlo_mlir_attr(l->m, l->op, "contracting_dims", NULL, &s) &&
        pair_attr(l, s, HLO_ATTR_LHS_CONTRACTING_DIMS, HLO_ATTR_RHS_CONTRACTING_DIMS))
        return l->e->code;
    return dot_with(l, HLO_OP_DOT, 2);
}

/* The last dim of the left with the first of the right. */
int hlo_lower_DOT(struct lower *l)
{
    int64_t last = 0, first = 0;

    if (l->op->operand_count == 2)
        last = (int64_t)hlo_lower_operand_shape(l, 0)->rank - 1;
    if (last < 0 || hlo_lower_attr_ints(l, HLO_ATTR_LHS_CONTRACTING_DIMS, &last, 1) ||
        hlo_lower_attr_ints(l, HLO_ATTR_RHS_CONTRACTING_DIMS, &first, 1))
        return last < 0 ? hlo_lower_fail(l, "a scalar operand, expected vectors or matrices")
                        : l->e->code;
    return dot_with(l, HLO_OP_DOT, 2);
}

int hlo_lower_RAGGED_DOT(struct lower *l)
{
    struct mlir_span s;

    if (!hlo_mlir_attr(l->m, l->op, "ragged_dot_dimension_numbers", NULL, &s))
        return hlo_lower_fail(l, "no ragged_dot_dimension_numbers");
    return fields_attr(l, s) ? l->e->code : dot_with(l, HLO_OP_RAGGED_DOT, 3);
}

/* ---- einsum ---- */

enum { EINSUM_PARTS = 3 };
struct einsum {
    struct mlir_span parts[EINSUM_PARTS]; /* the letters of left, right and result */
    int64_t lhs[HLO_RANK_MAX], rhs[HLO_RANK_MAX];
    char made[2 * HLO_RANK_MAX]; /* the letters of the product: shared, left, right */
    size_t made_count;
};

static const char *letter_in(struct mlir_span s, char c)
{
    return memchr(s.text, c, s.size);
}

/* "ab,bc->ac" */
static bool einsum_parts(struct mlir_span s, struct einsum *x)
{
    const char *comma = memchr(s.text, ',', s.size), *end = s.text + s.size;
    const char *arrow = comma ? memchr(comma, '>', (size_t)(end - comma)) : NULL;

    if (s.size < 2 || !arrow || arrow[-1] != '-')
        return false;
    x->parts[0] = (struct mlir_span){s.text + 1, (uint32_t)(comma - s.text - 1)};
    x->parts[1] = (struct mlir_span){comma + 1, (uint32_t)(arrow - 2 - comma)};
    x->parts[2] = (struct mlir_span){arrow + 1, (uint32_t)(end - arrow - 2)};
    for (int n = 0; n < EINSUM_PARTS; n++) {
        const struct mlir_span *part = &x->parts[n];
        for (uint32_t k = 0; k < part->size; k++) {
            char c = part->text[k];
            bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
            if (!is_letter || letter_in(*part, c) != part->text + k)
                return false; /* an ellipsis, a diagonal */
        }
    }
    return true;
}

/* Dims that both have and the result has, or has not. */
static size_t shared(struct einsum *x, bool in_result)
{
    size_t count = 0;

    for (uint32_t k = 0; k < x->parts[0].size; k++) {
        char c = x->parts[0].text[k];
        const char *right = letter_in(x->parts[1], c);
        if (!right || !letter_in(x->parts[2], c) == in_result)
            continue;
        x->lhs[count] = k;
        x->rhs[count++] = right - x->parts[1].text;
        if (in_result)
            x->made[x->made_count++] = c;
    }
    return count;
}

static bool einsum_free(struct einsum *x)
{
    for (int side = 0; side < 2; side++) {
        for (uint32_t k = 0; k < x->parts[side].size; k++) {
            char c = x->parts[side].text[k];
            if (letter_in(x->parts[1 - side], c))
                continue;
            if (!letter_in(x->parts[2], c))
                return false; /* a sum over one operand alone */
            x->made[x->made_count++] = c;
        }
    }
    return x->made_count == x->parts[2].size;
}

static int einsum_dims(struct lower *l, struct einsum *x)
{
    size_t count = shared(x, true);

    if (count && (hlo_lower_attr_ints(l, HLO_ATTR_LHS_BATCH_DIMS, x->lhs, count) ||
                  hlo_lower_attr_ints(l, HLO_ATTR_RHS_BATCH_DIMS, x->rhs, count)))
        return l->e->code;
    count = shared(x, false);
    if (count && (hlo_lower_attr_ints(l, HLO_ATTR_LHS_CONTRACTING_DIMS, x->lhs, count) ||
                  hlo_lower_attr_ints(l, HLO_ATTR_RHS_CONTRACTING_DIMS, x->rhs, count)))
        return l->e->code;
    return 0;
}

/* The product, whose dims come in the order of a dot, and their order in the result. */
static int einsum_turned(struct lower *l, const struct einsum *x, const struct hlo_shape *to)
{
    int64_t sizes[HLO_RANK_MAX], order[HLO_RANK_MAX];
    hlo_id made;
    int rc;

    for (size_t n = 0; n < x->made_count; n++) {
        size_t at = (size_t)(letter_in(x->parts[2], x->made[n]) - x->parts[2].text);
        sizes[n] = to->dims[at];
        order[at] = (int64_t)n;
    }
    struct lower_new dot = {.opcode = HLO_OP_DOT, .operands = l->ids, .operand_count = 2};
    dot.shape = hlo_lower_array(l, (enum hlo_type)to->type, sizes, (uint32_t)x->made_count, &rc);
    if (rc || hlo_lower_make(l, &dot, &made))
        return l->e->code;
    l->id_count = 0;
    if (hlo_lower_push(l, made) ||
        hlo_lower_attr_ints(l, HLO_ATTR_DIMENSIONS, order, x->made_count) ||
        hlo_lower_common_attrs(l))
        return l->e->code;
    return hlo_lower_results(l, HLO_OP_TRANSPOSE, 0, NULL, 0);
}

/* A dot; of dims in another order than a dot's, and a transpose. */
int hlo_lower_EINSUM(struct lower *l)
{
    struct einsum x = {.made_count = 0};
    struct mlir_span s;

    if (l->op->operand_count != 2 || l->op->result_count != 1)
        return hlo_lower_fail(l, "%u operands and %u results, expected 2 and 1",
                              l->op->operand_count, l->op->result_count);
    if (hlo_lower_operands(l))
        return l->e->code;
    const struct hlo_shape *to = mlir_shape(l->m, l->op->results);
    if (!hlo_mlir_attr(l->m, l->op, "einsum_config", "config", &s) || !einsum_parts(s, &x) ||
        x.parts[0].size != hlo_lower_operand_shape(l, 0)->rank ||
        x.parts[1].size != hlo_lower_operand_shape(l, 1)->rank || x.parts[2].size != to->rank)
        return hlo_lower_fail(l,
                              "no einsum_config such as \"ab,bc->ac\" with a letter for each dim");
    if (einsum_dims(l, &x))
        return l->e->code;
    if (!einsum_free(&x))
        return hlo_lower_fail(l, "einsum_config sums over dims of one operand alone: no dot does");
    if (hlo_lower_table_attrs(l))
        return l->e->code;
    if (!memcmp(x.made, x.parts[2].text, x.made_count))
        return hlo_lower_results(l, HLO_OP_DOT, 0, NULL, 0);
    return einsum_turned(l, &x, to);
}
