/* Calls of what is not known or long, and the short expansions of chlo. */
#include "hlo/module/attr.h"
#include "hlo/module/build.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/stablehlo/lower.h"
#include "hlo/stablehlo/mlir.h"
#include "hlo/stablehlo/mlir_parse.h"
#include "hlo/stablehlo/simplify.h"
#include "hlo/stablehlo/stablehlo_ops.h"
#include "hlo/support/lex.h"
#include "hlo/support/mem.h"

#include <string.h>

/* ---- custom calls ---- */

static int target_attr(struct lower *l, const char *text, size_t size)
{
    str_clear(&l->text);
    str_add_char(&l->text, '"');
    for (size_t n = 0; n < size; n++)
        str_add_char(&l->text, lex_is(text[n], LEX_NAME) || strchr("$:/@#", text[n] ? text[n] : ' ')
                                   ? text[n]
                                   : '_');
    str_add_char(&l->text, '"');
    return hlo_lower_attr_text(l, HLO_ATTR_CUSTOM_CALL_TARGET);
}

static int api_version(struct lower *l)
{
    static const char *const names[] = {"API_VERSION_STATUS_RETURNING",
                                        "API_VERSION_STATUS_RETURNING_UNIFIED",
                                        "API_VERSION_TYPED_FFI"};
    struct mlir_span s;
    int64_t version;

    if (!hlo_mlir_attr(l->m, l->op, "api_version", NULL, &s) || !hlo_mlir_int(s, &version))
        version = hlo_mlir_attr(l->m, l->op, "mhlo.backend_config", NULL, &s) ? 4 : 1;
    if (version < 2 || version > 4)
        return 0;
    return hlo_lower_attr(l, HLO_ATTR_API_VERSION, names[version - 2], strlen(names[version - 2]));
}

/* ---- layouts: `[dense<[0, 1]> : tensor<2xindex>, ..]`, the fastest dim first ---- */

/* The layout at *p, moved past it: of as many dims as `s` has. */
static bool next_layout(struct mlir_span *at, const struct hlo_shape *s, uint8_t *out)
{
    int64_t dims[HLO_RANK_MAX];
    size_t count, from = 0;

    while (from + 6 < at->size && memcmp(at->text + from, "dense<", 6) != 0)
        from++;
    struct mlir_span one = {at->text + from, at->size - (uint32_t)from};
    const char *end = one.size > 6 ? hlo_mlir_group_end(one.text + 5) : NULL;
    if (!end || end > one.text + one.size)
        return false;
    *at = (struct mlir_span){end, (uint32_t)(one.text + one.size - end)};
    if (!hlo_mlir_ints(one, dims, HLO_RANK_MAX, &count) || count != s->rank)
        return false;
    for (size_t n = 0; n < count; n++) {
        if (dims[n] < 0 || dims[n] >= (int64_t)count)
            return false;
        out[n] = (uint8_t)dims[n];
    }
    return true;
}

/* Results have the layouts that the call says: what it runs may know one alone, as LAPACK does. */
static int result_layouts(struct lower *l)
{
    const struct mlir_op *op = l->op;
    struct mlir_span s;
    uint8_t layout[HLO_RANK_MAX];

    if (!hlo_mlir_attr(l->m, op, "result_layouts", NULL, &s))
        return 0;
    for (uint32_t k = 0; k < op->result_count; k++) {
        hlo_shape_id *of = &l->m->values[op->results + k].shape;
        const struct hlo_shape *bare = hlo_builder_shape(l->b, *of);
        struct hlo_shape_draft d = {.type = (enum hlo_type)bare->type,
                                    .rank = bare->rank,
                                    .has_layout = true,
                                    .dims = bare->dims,
                                    .minor_to_major = layout,
                                    .layout_rest = ""};
        if (!next_layout(&s, bare, layout))
            return 0;
        if (bare->rank && !bare->has_layout &&
            hlo_lower_placed(l, hlo_build_shape(l->b, &d, of, l->e)))
            return l->e->code;
    }
    return 0;
}

static bool names_each_once(const uint8_t *layout, uint8_t rank)
{
    uint64_t named = 0;

    for (uint8_t n = 0; n < rank; n++) {
        if (named >> layout[n] & 1)
            return false;
        named |= (uint64_t)1 << layout[n];
    }
    return true;
}

/* `{f32[8,4]{0,1}, f32[]}` */
static int operand_layouts(struct lower *l)
{
    struct mlir_span s;
    uint8_t layout[HLO_RANK_MAX];

    if (!hlo_mlir_attr(l->m, l->op, "operand_layouts", NULL, &s))
        return 0;
    str_clear(&l->text);
    for (uint32_t k = 0; k < l->op->operand_count; k++) {
        const struct hlo_shape *of = hlo_lower_operand_shape(l, k);
        if (of->type >= HLO_TYPE_COUNT || !hlo_type_info[of->type].bits ||
            !next_layout(&s, of, layout))
            return 0;
        if (!names_each_once(layout, of->rank))
            return hlo_lower_fail(l, "layout of operand %u, expected each of its %u dims once", k,
                                  of->rank);
        str_format(&l->text, "%s%s[", k ? ", " : "{", hlo_type_info[of->type].name);
        for (uint8_t n = 0; n < of->rank; n++)
            str_format(&l->text, "%s%lld", n ? "," : "", (long long)of->dims[n]);
        str_add(&l->text, of->rank ? "]{" : "]");
        for (uint8_t n = 0; n < of->rank; n++)
            str_format(&l->text, "%s%u", n ? "," : "", layout[n]);
        str_add(&l->text, of->rank ? "}" : "");
    }
    str_add(&l->text, l->op->operand_count ? "}" : "{}");
    return hlo_lower_attr_text(l, HLO_ATTR_OPERAND_LAYOUT_CONSTRAINTS);
}

/* Functions that it hands on, at most MLIR_CALLED_MOST. */
static int called_functions(struct lower *l, hlo_comp *out, uint32_t *count)
{
    uint32_t f;

    for (*count = 0; hlo_mlir_called(l->m, l->op, *count, &f); ++*count) {
        if (f == MLIR_NONE || l->func_comp[f] == HLO_NONE)
            return hlo_lower_fail(l,
                                  "called computation %u is not defined, expected it in this "
                                  "module",
                                  *count);
        out[*count] = l->func_comp[f];
    }
    return 0;
}

/* `[0:16, 0:4]`: the first elements of an array, as many as `to` has. */
static int first_elements(struct lower *l, const struct hlo_shape *to)
{
    str_clear(&l->text);
    str_add_char(&l->text, '{');
    for (uint32_t d = 0; d < to->rank; d++) {
        str_add(&l->text, d ? ", [0:" : "[0:");
        str_add_int(&l->text, to->dims[d]);
        str_add_char(&l->text, ']');
    }
    str_add_char(&l->text, '}');
    return hlo_lower_attr_text(l, HLO_ATTR_SLICE);
}

/* `{key = value, ..}` */
static bool config_of(const struct lower *l, struct mlir_span *out)
{
    return (hlo_mlir_attr(l->m, l->op, "mhlo.backend_config", NULL, out) ||
            hlo_mlir_attr(l->m, l->op, "backend_config", NULL, out)) &&
           out->size >= 2 && *out->text == '{';
}

/* It is handed on as it stands: what HLO would not read as one group is none. */
static int config_attr(struct lower *l)
{
    struct mlir_span s;

    if (!config_of(l, &s))
        return 0;
    const char *end = hlo_lex_group_end(s.text), *behind = s.text + s.size;
    if (!end || end > behind || lex_skip(end) < behind)
        return hlo_lower_fail(l, "the brackets of backend_config do not match");
    return hlo_lower_attr(l, HLO_ATTR_BACKEND_CONFIG, s.text, (size_t)(end - s.text));
}

/* Whether the call is one that runs as a sort: ApproxTopK of arrays, their indices and as many
 * initial values, on devices that do not approximate. *dim: which of theirs. */
static bool falls_back_to_sort(struct lower *l, struct mlir_span target, uint32_t called_count,
                               int64_t *dim)
{
    const struct mlir_op *op = l->op;
    struct mlir_span all, s;

    if (target.size != 11 || memcmp(target.text, "@ApproxTopK", 11) != 0 || called_count != 1 ||
        !op->result_count || op->operand_count != 2 * op->result_count || !config_of(l, &all) ||
        !hlo_mlir_field(all, "is_fallback", &s) || !hlo_mlir_true(s) ||
        !hlo_mlir_field(all, "reduction_dim", &s) || !hlo_mlir_int(s, dim) || *dim < 0)
        return false;
    for (uint32_t k = 0; k < op->result_count; k++) {
        const struct hlo_shape *from = hlo_lower_operand_shape(l, k);
        const struct hlo_shape *to = mlir_shape(l->m, op->results + k);
        bool fits = from->type == to->type && from->rank == to->rank && *dim < to->rank;
        for (uint32_t d = 0; fits && d < to->rank; d++)
            fits = d == *dim ? to->dims[d] <= from->dims[d] : to->dims[d] == from->dims[d];
        if (!fits)
            return false;
    }
    return true;
}

/* As XLA's ApproxTopKFallback (hlo/builder/lib/approx_topk.cc): sorted by the comparator, cut. */
static int sort_and_cut(struct lower *l, const hlo_comp *comparator, int64_t dim)
{
    const struct mlir_op *op = l->op;
    size_t parts = l->part_count;
    struct lower_new sort = {.opcode = HLO_OP_SORT,
                             .operand_count = op->result_count,
                             .called = comparator,
                             .called_count = 1};
    hlo_id sorted, element;

    if (!mem_grow(&l->parts, &l->part_room, parts, op->result_count))
        return hlo_lower_memory(l);
    for (uint32_t k = 0; k < op->result_count; k++)
        l->parts[parts + k] = l->m->values[mlir_operand(l->m, op, k)].shape;
    if (hlo_lower_tuple_shape(l, l->parts + parts, op->result_count, true, &sort.shape) ||
        hlo_lower_operands(l) || hlo_lower_attr_ints(l, HLO_ATTR_DIMENSIONS, &dim, 1))
        return l->e->code;
    sort.operands = l->ids;
    if (hlo_lower_make(l, &sort, &sorted))
        return l->e->code;
    for (uint32_t k = 0; k < op->result_count; k++) {
        hlo_shape_id to = l->m->values[op->results + k].shape;
        element = sorted;
        if ((op->result_count > 1 && hlo_lower_element(l, sorted, k, &element)) ||
            first_elements(l, hlo_builder_shape(l->b, to)) ||
            hlo_lower_simple(l, HLO_OP_SLICE, to, element, HLO_NONE, &element))
            return l->e->code;
        lower_set(l, op->results + k, element);
    }
    return 0;
}

int hlo_lower_CUSTOM_CALL(struct lower *l)
{
    hlo_comp called[MLIR_CALLED_MOST];
    uint32_t called_count;
    int64_t dim;
    static const struct mlir_attr_info config = {"backend_config", NULL, HLO_ATTR_BACKEND_CONFIG,
                                                 MLIR_KIND_STRING},
                                       target = {"call_target_name", "callee",
                                                 HLO_ATTR_CUSTOM_CALL_TARGET, MLIR_KIND_STRING};
    struct mlir_span s;

    if (!hlo_mlir_attr(l->m, l->op, target.name, target.pretty, &s) || s.size < 2)
        return hlo_lower_fail(l, "no target, expected one such as @name");
    if (called_functions(l, called, &called_count))
        return l->e->code;
    if (!l->as_is && falls_back_to_sort(l, s, called_count, &dim))
        return sort_and_cut(l, called, dim);
    uint32_t at = *s.text == '@'; /* `@name`, `@"name"`, `"name"` */
    s = (struct mlir_span){s.text + at, s.size - at};
    if ((*s.text == '"' ? hlo_lower_string_attr(l, &target, s) : target_attr(l, s.text, s.size)) ||
        api_version(l))
        return l->e->code;
    if (hlo_mlir_attr(l->m, l->op, "has_side_effect", NULL, &s) && hlo_mlir_true(s) &&
        hlo_lower_attr(l, HLO_ATTR_CUSTOM_CALL_HAS_SIDE_EFFECT, "true", 4))
        return l->e->code;
    if (hlo_mlir_attr(l->m, l->op, config.name, NULL, &s) && s.size > 2 && *s.text == '"' &&
        hlo_lower_string_attr(l, &config, s))
        return l->e->code;
    if (config_attr(l) || operand_layouts(l) || result_layouts(l) || hlo_lower_common_attrs(l) ||
        hlo_lower_operands(l))
        return l->e->code;
    return hlo_lower_results(l, HLO_OP_CUSTOM_CALL, 0, called, called_count);
}

/* An operation of a dialect that is not known: its results, whole. */
int hlo_lower_OPAQUE(struct lower *l)
{
    hlo_build_warning(l->b, l->op->at, "operation %.*s is not known: taken as opaque",
                      l->op->name.size < 60 ? (int)l->op->name.size : 60, l->op->name.text);
    if (target_attr(l, l->op->name.text, l->op->name.size) || hlo_lower_common_attrs(l) ||
        hlo_lower_operands(l))
        return l->e->code;
    return hlo_lower_results(l, HLO_OP_CUSTOM_CALL, 0, NULL, 0);
}

/* A long expansion, kept whole (see MLIR_CHLO_WHOLE). */
int hlo_lower_WHOLE(struct lower *l)
{
    const char *name = hlo_mlir_op_info[l->op->row].name;

    if (target_attr(l, name, strlen(name)) || hlo_lower_operands(l))
        return l->e->code;
    return hlo_lower_results(l, HLO_OP_CUSTOM_CALL, 0, NULL, 0);
}
