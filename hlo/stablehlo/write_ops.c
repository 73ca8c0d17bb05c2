/* One instruction as one operation. */
#include "hlo/module/attr.h"
#include "hlo/module/check_types.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/stablehlo/mlir_parse.h"
#include "hlo/stablehlo/stablehlo_ops.h"
#include "hlo/stablehlo/write_internal.h"
#include "hlo/support/lex.h"
#include "hlo/support/mem.h"

#include <string.h>

static const struct hlo_shape *operand_shape(const struct mlir_writer *w, hlo_id id, uint32_t n)
{
    return hlo_shape(w->m, hlo_operand(w->m, id, n));
}

/* `"name"(%1, %2`, without the closing bracket. */
static void begin_operation(struct mlir_writer *w, hlo_id id, const char *name, uint32_t operands)
{
    bool is_first = true;

    hlo_mlir_write_indent(w);
    hlo_mlir_write_results(w, id);
    str_format(w->out, "\"%s\"(", name);
    for (uint32_t n = 0; n < operands; n++) {
        hlo_id from = hlo_operand(w->m, id, n);
        for (hlo_value v = w->m->leaf_base[from]; v < w->m->leaf_base[from + 1]; v++) {
            str_format(w->out, "%s%%%u", is_first ? "" : ", ", w->ids[v]);
            is_first = false;
        }
    }
    str_add_char(w->out, ')');
}

static int finish_operation(struct mlir_writer *w, hlo_id id)
{
    hlo_mlir_write_signature(w, id, hlo_at(w->m, id)->operand_count);
    return 0;
}

/* Operands read their SSA values before results get theirs: see hlo_mlir_write_results. */
static int write_plain(struct mlir_writer *w, hlo_id id, const struct mlir_op_info *info)
{
    const struct hlo_instruction *i = hlo_at(w->m, id);

    begin_operation(w, id, info->name, i->operand_count);
    hlo_mlir_write_attrs_begin(w);
    if (hlo_mlir_write_table(w, id, info))
        return w->e->code;
    hlo_mlir_write_attrs_end(w);
    for (uint32_t n = 0; n < i->called_count; n++) {
        str_add(w->out, n ? ", " : " (");
        if (hlo_mlir_write_region(w, hlo_called(w->m, id, n)))
            return w->e->code;
    }
    str_add(w->out, i->called_count ? ")" : "");
    return finish_operation(w, id);
}

static int write_constant(struct mlir_writer *w, hlo_id id)
{
    begin_operation(w, id, "stablehlo.constant", 0);
    str_add(w->out, " <{value = ");
    if (hlo_mlir_write_literal(w, id))
        return w->e->code;
    str_add(w->out, "}>");
    return finish_operation(w, id);
}

static int write_broadcast(struct mlir_writer *w, hlo_id id)
{
    int64_t dims[HLO_RANK_MAX];
    size_t count = hlo_attr_ints(w->m, id, HLO_ATTR_DIMENSIONS, dims);

    begin_operation(w, id, "stablehlo.broadcast_in_dim", 1);
    hlo_mlir_write_attrs_begin(w);
    hlo_mlir_write_array(w, "broadcast_dimensions", dims, count);
    hlo_mlir_write_attrs_end(w);
    return finish_operation(w, id);
}

static int write_compare(struct mlir_writer *w, hlo_id id)
{
    const struct hlo_attr *a = hlo_attr(w->m, id, HLO_ATTR_DIRECTION);

    begin_operation(w, id, "stablehlo.compare", 2);
    str_format(w->out, " <{comparison_direction = #stablehlo<comparison_direction %.*s>",
               (int)a->size, a->text);
    if (hlo_attr_is(w->m, id, HLO_ATTR_TYPE, "TOTALORDER"))
        str_add(w->out, ", compare_type = #stablehlo<comparison_type TOTALORDER>");
    str_add(w->out, "}>");
    return finish_operation(w, id);
}

static void write_dims(struct mlir_writer *w, hlo_id id, const char *name, enum hlo_attr_key key)
{
    int64_t dims[HLO_RANK_MAX];
    size_t count = hlo_attr_ints(w->m, id, key, dims);

    str_format(w->out, "%s = [", name);
    hlo_mlir_write_ints_list(w, dims, count);
    str_add_char(w->out, ']');
}

static void write_dot_dims(struct mlir_writer *w, hlo_id id)
{
    write_dims(w, id, "lhs_batching_dimensions", HLO_ATTR_LHS_BATCH_DIMS);
    write_dims(w, id, ", rhs_batching_dimensions", HLO_ATTR_RHS_BATCH_DIMS);
    write_dims(w, id, ", lhs_contracting_dimensions", HLO_ATTR_LHS_CONTRACTING_DIMS);
    write_dims(w, id, ", rhs_contracting_dimensions", HLO_ATTR_RHS_CONTRACTING_DIMS);
}

static int write_dot(struct mlir_writer *w, hlo_id id)
{
    begin_operation(w, id, "stablehlo.dot_general", 2);
    hlo_mlir_write_attrs_begin(w);
    hlo_mlir_write_attr(w, "dot_dimension_numbers");
    str_add(w->out, "#stablehlo.dot<");
    write_dot_dims(w, id);
    str_add_char(w->out, '>');
    if (hlo_mlir_write_table(w, id, &hlo_mlir_op_info[MLIR_OP_DOT_GENERAL]))
        return w->e->code;
    hlo_mlir_write_attrs_end(w);
    return finish_operation(w, id);
}

static int write_ragged_dot(struct mlir_writer *w, hlo_id id)
{
    const struct mlir_op_info *info = &hlo_mlir_op_info[MLIR_OP_RAGGED_DOT];

    begin_operation(w, id, info->name, 3);
    hlo_mlir_write_attrs_begin(w);
    hlo_mlir_write_attr(w, "ragged_dot_dimension_numbers");
    str_add(w->out, "#chlo.ragged_dot<");
    write_dot_dims(w, id);
    write_dims(w, id, ", lhs_ragged_dimensions", HLO_ATTR_LHS_RAGGED_DIMS);
    write_dims(w, id, ", rhs_group_dimensions", HLO_ATTR_RHS_GROUP_DIMS);
    str_add_char(w->out, '>');
    if (hlo_mlir_write_table(w, id, info))
        return w->e->code;
    hlo_mlir_write_attrs_end(w);
    return finish_operation(w, id);
}

static int write_convolution(struct mlir_writer *w, hlo_id id)
{
    begin_operation(w, id, "stablehlo.convolution", 2);
    hlo_mlir_write_attrs_begin(w);
    if (hlo_mlir_write_convolution(w, id) ||
        hlo_mlir_write_table(w, id, &hlo_mlir_op_info[MLIR_OP_CONVOLUTION]))
        return w->e->code;
    hlo_mlir_write_attrs_end(w);
    return finish_operation(w, id);
}

/* Three numbers a dim: one array of each. */
static int write_triples(struct mlir_writer *w, hlo_id id, const int64_t (*parts)[3], size_t count,
                         const char *const names[static 3])
{
    int64_t row[HLO_RANK_MAX];

    hlo_mlir_write_attrs_begin(w);
    for (int k = 0; k < 3; k++) {
        for (size_t n = 0; n < count; n++)
            row[n] = parts[n][k];
        hlo_mlir_write_array(w, names[k], row, count);
    }
    hlo_mlir_write_attrs_end(w);
    return finish_operation(w, id);
}

static int write_slice(struct mlir_writer *w, hlo_id id)
{
    const struct hlo_attr *a = hlo_attr(w->m, id, HLO_ATTR_SLICE);
    int64_t parts[HLO_RANK_MAX][3];
    static const char *const names[] = {"start_indices", "limit_indices", "strides"};
    size_t count;

    if (!hlo_parse_slices(a->text, a->size, parts, HLO_RANK_MAX, &count))
        return hlo_mlir_write_fail(w, id, "its slices cannot be read");
    begin_operation(w, id, "stablehlo.slice", 1);
    return write_triples(w, id, (const int64_t(*)[3])parts, count, names);
}

static int write_pad(struct mlir_writer *w, hlo_id id)
{
    const struct hlo_attr *a = hlo_attr(w->m, id, HLO_ATTR_PADDING);
    int64_t parts[HLO_RANK_MAX][3];
    static const char *const names[] = {"edge_padding_low", "edge_padding_high",
                                        "interior_padding"};
    size_t count;

    if (!hlo_parse_padding(a->text, a->size, parts, HLO_RANK_MAX, &count))
        return hlo_mlir_write_fail(w, id, "its padding cannot be read");
    begin_operation(w, id, "stablehlo.pad", 2);
    return write_triples(w, id, (const int64_t(*)[3])parts, count, names);
}

static int write_windowed(struct mlir_writer *w, hlo_id id)
{
    bool is_scatter = hlo_at(w->m, id)->opcode == HLO_OP_SELECT_AND_SCATTER;

    begin_operation(w, id, is_scatter ? "stablehlo.select_and_scatter" : "stablehlo.reduce_window",
                    hlo_at(w->m, id)->operand_count);
    hlo_mlir_write_attrs_begin(w);
    if (hlo_mlir_write_window(w, id, operand_shape(w, id, 0)->rank))
        return w->e->code;
    hlo_mlir_write_attrs_end(w);
    for (uint32_t n = 0; n < hlo_at(w->m, id)->called_count; n++) {
        str_add(w->out, n ? ", " : " (");
        if (hlo_mlir_write_region(w, hlo_called(w->m, id, n)))
            return w->e->code;
    }
    str_add_char(w->out, ')');
    return finish_operation(w, id);
}

static int write_reduce_precision(struct mlir_writer *w, hlo_id id)
{
    begin_operation(w, id, "stablehlo.reduce_precision", 1);
    hlo_mlir_write_attrs_begin(w);
    hlo_mlir_write_int(w, "exponent_bits", hlo_attr_int(w->m, id, HLO_ATTR_EXPONENT_BITS, 0),
                       "i32");
    hlo_mlir_write_int(w, "mantissa_bits", hlo_attr_int(w->m, id, HLO_ATTR_MANTISSA_BITS, 0),
                       "i32");
    hlo_mlir_write_attrs_end(w);
    return finish_operation(w, id);
}

static int write_topk(struct mlir_writer *w, hlo_id id)
{
    if (!hlo_attr_bool(w->m, id, HLO_ATTR_LARGEST, true))
        return hlo_mlir_write_fail(w, id, "the smallest values have no form");
    begin_operation(w, id, "chlo.top_k", 1);
    hlo_mlir_write_attrs_begin(w);
    hlo_mlir_write_int(w, "k", hlo_attr_int(w->m, id, HLO_ATTR_K, 0), "i64");
    hlo_mlir_write_attrs_end(w);
    return finish_operation(w, id);
}

/* Devices of the first group of `{{0,1},{2,3}}`; 0: no such list, as `[2,4]<=[8]`. */
static int64_t group_size(const struct hlo_attr *a)
{
    int64_t count = 0;

    if (!a || a->size < 2 || a->text[1] != '{')
        return 0;
    for (uint32_t n = 2; n < a->size && a->text[n - 1] != '}'; n++)
        count += lex_is(a->text[n - 1], LEX_DIGIT) && !lex_is(a->text[n], LEX_DIGIT);
    return count;
}

/* HLO joins along the dim it splits. */
static int write_all_to_all(struct mlir_writer *w, hlo_id id)
{
    int64_t dims[HLO_RANK_MAX];
    int64_t count = group_size(hlo_attr(w->m, id, HLO_ATTR_REPLICA_GROUPS));

    if (hlo_at(w->m, id)->operand_count != 1 ||
        hlo_attr_ints(w->m, id, HLO_ATTR_DIMENSIONS, dims) != 1 || !count)
        return hlo_mlir_write_fail(w, id,
                                   "one of many arrays or without groups in a list has no form");
    begin_operation(w, id, "stablehlo.all_to_all", 1);
    hlo_mlir_write_attrs_begin(w);
    hlo_mlir_write_int(w, "split_dimension", dims[0], "i64");
    hlo_mlir_write_int(w, "concat_dimension", dims[0], "i64");
    hlo_mlir_write_int(w, "split_count", count, "i64");
    if (hlo_mlir_write_table(w, id, &hlo_mlir_op_info[MLIR_OP_ALL_TO_ALL]))
        return w->e->code;
    hlo_mlir_write_attrs_end(w);
    return finish_operation(w, id);
}

/* The operation has the shape of its result as an operand. */
static int write_rng(struct mlir_writer *w, hlo_id id)
{
    const struct hlo_shape *s = hlo_shape(w->m, id);
    uint32_t shape = w->next++;

    hlo_mlir_write_indent(w);
    str_format(w->out, "%%%u = \"stablehlo.constant\"() <{value = dense<", shape);
    if (s->rank)
        str_add_char(w->out, '[');
    hlo_mlir_write_ints_list(w, s->dims, s->rank);
    str_format(w->out, "%s> : tensor<%uxi64>}> : () -> tensor<%uxi64>\n", s->rank ? "]" : "",
               s->rank, s->rank);
    begin_operation(w, id, "stablehlo.rng", 2);
    w->out->size--;
    str_format(w->out, ", %%%u)", shape);
    hlo_mlir_write_attrs_begin(w);
    if (hlo_mlir_write_table(w, id, &hlo_mlir_op_info[MLIR_OP_RNG]))
        return w->e->code;
    hlo_mlir_write_attrs_end(w);
    str_add(w->out, " : (");
    hlo_mlir_write_type(w, operand_shape(w, id, 0));
    str_add(w->out, ", ");
    hlo_mlir_write_type(w, operand_shape(w, id, 1));
    str_format(w->out, ", tensor<%uxi64>) -> ", s->rank);
    hlo_mlir_write_type(w, s);
    str_add_char(w->out, '\n');
    return 0;
}

static void write_called(struct mlir_writer *w, hlo_id id)
{
    uint32_t count = hlo_at(w->m, id)->called_count;

    str_add(w->out, count ? ", called_computations = [" : "");
    for (uint32_t n = 0; n < count; n++)
        str_format(w->out, "%s@\"%s\"", n ? ", " : "",
                   w->m->computations[hlo_called(w->m, id, n)].name);
    str_add(w->out, count ? "]" : "");
}

/* ---- what a custom-call says beside its configuration ---- */

/* `dense<[0, 1]> : tensor<2xindex>`; `layout` NULL: as HLO has it without one, the last dim
 * fastest. */
static void add_layout(struct str *out, const struct hlo_shape *s, const int64_t *layout)
{
    str_add(out, "dense<");
    for (uint8_t n = 0; n < s->rank; n++) {
        str_add(out, n ? ", " : "[");
        str_add_int(out, layout              ? layout[n]
                         : s->minor_to_major ? s->minor_to_major[n]
                                             : s->rank - 1 - n);
    }
    str_format(out, "%s> : tensor<%uxindex>", s->rank ? "]" : "", s->rank);
}

/* The layout of the shape at *p of `{f32[8,4]{0,1}, ..}`, moved past it: false when it has none, or
 * one that does not name each dim once. */
static bool next_constraint(const char **p, const char *end, const struct hlo_shape *s,
                            int64_t *layout)
{
    const char *at = memchr(*p, ']', (size_t)(end - *p));
    uint64_t named = 0;

    if (!at || ++at >= end)
        return false;
    if (s->rank && *at++ != '{')
        return false;
    for (uint8_t n = 0; n < s->rank; n++) {
        at = at < end ? hlo_lex_int(at, &layout[n]) : NULL;
        if (!at || at >= end || *at != (n + 1 < s->rank ? ',' : '}') || layout[n] < 0 ||
            layout[n] >= s->rank || named >> layout[n] & 1)
            return false;
        named |= (uint64_t)1 << layout[n];
        at++;
    }
    *p = at;
    return true;
}

static void write_layouts(struct mlir_writer *w, hlo_id id)
{
    const struct hlo_attr *a = hlo_attr(w->m, id, HLO_ATTR_OPERAND_LAYOUT_CONSTRAINTS);
    const struct hlo_shape *result = hlo_shape(w->m, id);
    struct str text = {0};
    int64_t layout[HLO_RANK_MAX];
    const char *p = a ? a->text : NULL;

    if (!a)
        return;
    str_add(&text, ", operand_layouts = [");
    for (uint32_t n = 0; n < hlo_at(w->m, id)->operand_count; n++) {
        const struct hlo_shape *s = operand_shape(w, id, n);
        if (s->type == HLO_TUPLE || !next_constraint(&p, a->text + a->size, s, layout))
            goto out;
        str_add(&text, n ? ", " : "");
        add_layout(&text, s, layout);
    }
    str_add(&text, "], result_layouts = [");
    for (uint32_t n = 0; n < result->leaf_count; n++) {
        const struct hlo_shape *leaf = &w->m->shapes[result->leaves[n]];
        if (!hlo_type_info[leaf->type].bits)
            goto out;
        str_add(&text, n ? ", " : "");
        add_layout(&text, leaf, NULL);
    }
    str_add(&text, "]");
    str_add_bytes(w->out, text.text, text.size);
out:
    w->out->failed |= text.failed;
    str_release(&text);
}

/* `{num_batch_dims="1"}` as `mhlo.frontend_attributes = {"num_batch_dims" = "1"}`; Shardy's own say
 * nothing of a plan. */
static const char *write_frontend(struct mlir_writer *w, hlo_id id, const char *between)
{
    const struct hlo_attr *a = hlo_attr(w->m, id, HLO_ATTR_FRONTEND_ATTRIBUTES);
    const char *p = a ? a->text + 1 : NULL, *end = a ? a->text + a->size : NULL, *first = between;

    while (a && p < end && *p != '}') {
        const char *name = p = lex_skip(p), *name_end = lex_name_end(p);
        p = lex_skip(name_end);
        if (name_end == name || *p != '=' || *(p = lex_skip(p + 1)) != '"')
            break;
        struct hlo_attr value = {.text = p};
        for (p++; p < end && *p != '"'; p++)
            p += *p == '\\';
        if (p >= end)
            break;
        value.size = (uint32_t)(++p - value.text);
        if (name_end - name < 8 || memcmp(name, "xla.sdy.", 8) != 0) {
            str_add(w->out, first == between ? between : ", ");
            str_add(w->out, first == between ? "mhlo.frontend_attributes = {" : "");
            hlo_mlir_write_string(w, name, (size_t)(name_end - name));
            str_add(w->out, " = ");
            hlo_mlir_write_hlo_string(w, &value);
            first = NULL;
        }
        p = lex_skip(p);
        p += *p == ',';
    }
    str_add(w->out, first == between ? "" : "}");
    return first == between ? between : ", ";
}

/* MLIR pairs more kinds of brackets than HLO does. */
static bool is_dictionary(const struct hlo_attr *config)
{
    struct str text = {0};

    str_add_bytes(&text, config->text, config->size);
    const char *end = text.failed || *text.text != '{' ? NULL : hlo_mlir_group_end(text.text);
    bool is_all = end && end == text.text + text.size;
    str_release(&text);
    return is_all;
}

static int write_custom_call(struct mlir_writer *w, hlo_id id)
{
    const struct hlo_attr *a = hlo_attr(w->m, id, HLO_ATTR_CUSTOM_CALL_TARGET);
    const struct hlo_attr *config = hlo_attr(w->m, id, HLO_ATTR_BACKEND_CONFIG);
    bool is_whole =
        a->size > 7 && !memcmp(a->text, "\"chlo.", 6) && !memchr(a->text, '\\', a->size);
    char name[64];

    if (is_whole && a->size < sizeof name) {
        snprintf(name, sizeof name, "%.*s", (int)a->size - 2, a->text + 1);
        begin_operation(w, id, name, hlo_at(w->m, id)->operand_count);
        return finish_operation(w, id);
    }
    begin_operation(w, id, "stablehlo.custom_call", hlo_at(w->m, id)->operand_count);
    str_add(w->out, " <{call_target_name = ");
    hlo_mlir_write_hlo_string(w, a);
    if (hlo_attr_bool(w->m, id, HLO_ATTR_CUSTOM_CALL_HAS_SIDE_EFFECT, false))
        str_add(w->out, ", has_side_effect = true");
    bool is_typed = hlo_attr_is(w->m, id, HLO_ATTR_API_VERSION, "API_VERSION_TYPED_FFI");
    if (is_typed)
        str_add(w->out, ", api_version = 4 : i32");
    else if (hlo_attr_is(w->m, id, HLO_ATTR_API_VERSION, "API_VERSION_STATUS_RETURNING"))
        str_add(w->out, ", api_version = 2 : i32");
    if (config && config->size && (config->text[0] == '"') != is_typed) {
        if (is_typed && !is_dictionary(config))
            return hlo_mlir_write_fail(w, id, "its backend_config is no dictionary");
        str_add(w->out, ", backend_config = ");
        if (is_typed)
            str_add_bytes(w->out, config->text, config->size);
        else
            hlo_mlir_write_hlo_string(w, config);
    } else if (is_typed) {
        str_add(w->out, ", backend_config = {}");
    }
    write_called(w, id);
    write_layouts(w, id);
    str_add(w->out, "}>");
    const char *between = write_frontend(w, id, " {");
    if (!w->o->mesh && hlo_attr(w->m, id, HLO_ATTR_SHARDING)) {
        str_add(w->out, between);
        hlo_mlir_write_users_sharding(w, id, HLO_NONE, "");
        between = ", ";
    }
    str_add(w->out, *between == ',' ? "}" : "");
    return finish_operation(w, id);
}

static int write_call(struct mlir_writer *w, hlo_id id)
{
    begin_operation(w, id, "func.call", hlo_at(w->m, id)->operand_count);
    str_format(w->out, " <{callee = @\"%s\"}>", w->m->computations[hlo_called(w->m, id, 0)].name);
    return finish_operation(w, id);
}

/* HLO has body, condition; the operation condition, body. */
static int write_while(struct mlir_writer *w, hlo_id id)
{
    begin_operation(w, id, "stablehlo.while", 1);
    str_add(w->out, " (");
    if (hlo_mlir_write_region(w, hlo_called(w->m, id, 1)))
        return w->e->code;
    str_add(w->out, ", ");
    if (hlo_mlir_write_region(w, hlo_called(w->m, id, 0)))
        return w->e->code;
    str_add_char(w->out, ')');
    return finish_operation(w, id);
}

/* Branches have no arguments: what they get is seen from outside. */
static int write_conditional(struct mlir_writer *w, hlo_id id)
{
    const struct hlo_module *m = w->m;
    bool is_if = operand_shape(w, id, 0)->type == HLO_PRED;

    begin_operation(w, id, is_if ? "stablehlo.if" : "stablehlo.case", 1);
    for (uint32_t n = 0; n < hlo_at(m, id)->called_count; n++) {
        hlo_comp c = hlo_called(m, id, n);
        hlo_id from = hlo_operand(m, id, n + 1), param = m->computations[c].params[0];
        for (uint32_t k = 0; k < m->leaf_base[from + 1] - m->leaf_base[from]; k++)
            w->ids[m->leaf_base[param] + k] = w->ids[m->leaf_base[from] + k];
        str_add(w->out, n ? ", {\n" : " ({\n");
        w->depth++;
        if (hlo_mlir_write_body(w, c, "stablehlo.return"))
            return w->e->code;
        w->depth--;
        hlo_mlir_write_indent(w);
        str_add_char(w->out, '}');
    }
    str_add_char(w->out, ')');
    hlo_mlir_write_signature(w, id, 1);
    return 0;
}

/* Operands that are tuples in HLO are flat here, so the plain form does. */
static int write_barrier(struct mlir_writer *w, hlo_id id)
{
    begin_operation(w, id, "stablehlo.optimization_barrier", 1);
    return finish_operation(w, id);
}

static const struct {
    uint16_t opcode;
    int (*write)(struct mlir_writer *w, hlo_id id);
} rules[] = {
    {HLO_OP_ALL_TO_ALL, write_all_to_all},
    {HLO_OP_BROADCAST, write_broadcast},
    {HLO_OP_CALL, write_call},
    {HLO_OP_COMPARE, write_compare},
    {HLO_OP_CONDITIONAL, write_conditional},
    {HLO_OP_CONSTANT, write_constant},
    {HLO_OP_CONVOLUTION, write_convolution},
    {HLO_OP_CUSTOM_CALL, write_custom_call},
    {HLO_OP_DOT, write_dot},
    {HLO_OP_OPT_BARRIER, write_barrier},
    {HLO_OP_PAD, write_pad},
    {HLO_OP_RAGGED_DOT, write_ragged_dot},
    {HLO_OP_REDUCE_PRECISION, write_reduce_precision},
    {HLO_OP_REDUCE_WINDOW, write_windowed},
    {HLO_OP_RNG, write_rng},
    {HLO_OP_SELECT_AND_SCATTER, write_windowed},
    {HLO_OP_SLICE, write_slice},
    {HLO_OP_TOPK, write_topk},
    {HLO_OP_WHILE, write_while},
};

/* chlo has what StableHLO itself has not. */
static const struct mlir_op_info chlo[] = {
    {.name = "chlo.acos", .opcode = HLO_OP_ACOS},   {.name = "chlo.acosh", .opcode = HLO_OP_ACOSH},
    {.name = "chlo.asin", .opcode = HLO_OP_ASIN},   {.name = "chlo.asinh", .opcode = HLO_OP_ASINH},
    {.name = "chlo.atanh", .opcode = HLO_OP_ATANH}, {.name = "chlo.cosh", .opcode = HLO_OP_COSH},
    {.name = "chlo.sinh", .opcode = HLO_OP_SINH},
};

int hlo_mlir_write_op(struct mlir_writer *w, hlo_id id)
{
    uint16_t opcode = hlo_at(w->m, id)->opcode;
    const struct mlir_op_info *info = &hlo_mlir_op_info[w->row_of[opcode]];

    if (hlo_stablehlo_types(w->m, id))
        return hlo_mlir_write_fail(w, id, "it has no form for these types");
    for (size_t n = 0; n < sizeof rules / sizeof *rules; n++) {
        if (rules[n].opcode == opcode)
            return rules[n].write(w, id);
    }
    for (size_t n = 0; n < sizeof chlo / sizeof *chlo; n++) {
        if (chlo[n].opcode == opcode)
            return write_plain(w, id, &chlo[n]);
    }
    if (w->row_of[opcode] == MLIR_OP_UNKNOWN ||
        (info->rule != MLIR_RULE_PLAIN && info->rule != MLIR_RULE_APPLY &&
         info->rule != MLIR_RULE_SPREAD && info->rule != MLIR_RULE_FUNCTION))
        return hlo_mlir_write_fail(w, id, "it has no form in StableHLO");
    return write_plain(w, id, info);
}
