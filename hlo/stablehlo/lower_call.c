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
    if (config_of(l, &s) && hlo_lower_attr(l, HLO_ATTR_BACKEND_CONFIG, s.text, s.size))
        return l->e->code;
    if (operand_layouts(l) || result_layouts(l) || hlo_lower_common_attrs(l) ||
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

/* ---- chlo ---- */

static int number_like(struct lower *l, const struct hlo_shape *s, const char *value, hlo_id *out)
{
    int rc;
    hlo_shape_id scalar = hlo_lower_array(l, (enum hlo_type)s->type, NULL, 0, &rc);
    struct lower_new n = {
        .opcode = HLO_OP_CONSTANT, .shape = scalar, .literal = {value, (uint32_t)strlen(value)}};

    if (rc || hlo_lower_make(l, &n, out))
        return l->e->code;
    if (!s->rank)
        return 0;
    hlo_shape_id wide = hlo_lower_array(l, (enum hlo_type)s->type, s->dims, s->rank, &rc);
    return rc ? rc : hlo_lower_broadcast(l, *out, wide, out);
}

/* One step of a short expansion: opcode, and its operands: 'x' the argument, 'a'..'t' results of
 * steps before, or a number of `numbers`. Formulas: XLA's chlo_legalize_to_hlo, and of complex
 * numbers StableHLO's complex math expander. */
enum { STEPS_MOST = 20, STEP_OPERANDS = 3, NUMBERS_MOST = 3 };
struct step {
    uint16_t opcode;
    char operands[STEP_OPERANDS];
};
struct expansion {
    uint16_t row;
    bool is_complex;
    const char *numbers[NUMBERS_MOST]; /* '0', '1', '2' */
    struct step steps[STEPS_MOST];
};

static const struct expansion expansions[] = {
    {MLIR_OP_CHLO_SQUARE, false, {0}, {{HLO_OP_MULTIPLY, "xx"}}},
    {MLIR_OP_CHLO_SQUARE,
     true,
     {"0", "2"},
     {{HLO_OP_REAL, "x"},
      {HLO_OP_IS_FINITE, "a"},
      {HLO_OP_ABS, "a"},
      {HLO_OP_IMAG, "x"},
      {HLO_OP_ABS, "d"},
      {HLO_OP_COMPARE, "ce"},
      {HLO_OP_AND, "bf"},
      {HLO_OP_SUBTRACT, "ad"},
      {HLO_OP_ADD, "ad"},
      {HLO_OP_MULTIPLY, "hi"},
      {HLO_OP_SELECT, "g0j"},
      {HLO_OP_MULTIPLY, "ad"},
      {HLO_OP_MULTIPLY, "l1"},
      {HLO_OP_COMPLEX, "km"}}},
    {MLIR_OP_EXPONENTIAL,
     true,
     {"inf", "0.5", "0"},
     {{HLO_OP_REAL, "x"},
      {HLO_OP_EXPONENTIAL, "a"},
      {HLO_OP_COMPARE, "b0"},
      {HLO_OP_MULTIPLY, "a1"},
      {HLO_OP_EXPONENTIAL, "d"},
      {HLO_OP_IMAG, "x"},
      {HLO_OP_COSINE, "f"},
      {HLO_OP_MULTIPLY, "eg"},
      {HLO_OP_MULTIPLY, "he"},
      {HLO_OP_MULTIPLY, "bg"},
      {HLO_OP_SELECT, "cij"},
      {HLO_OP_COMPARE, "f2"},
      {HLO_OP_SINE, "f"},
      {HLO_OP_MULTIPLY, "em"},
      {HLO_OP_MULTIPLY, "ne"},
      {HLO_OP_MULTIPLY, "bm"},
      {HLO_OP_SELECT, "cop"},
      {HLO_OP_SELECT, "l2q"},
      {HLO_OP_COMPLEX, "kr"}}},
    {MLIR_OP_CHLO_CONJ,
     true,
     {0},
     {{HLO_OP_REAL, "x"}, {HLO_OP_IMAG, "x"}, {HLO_OP_NEGATE, "b"}, {HLO_OP_COMPLEX, "ac"}}},
    {MLIR_OP_CHLO_ATAN, false, {"1"}, {{HLO_OP_ATAN2, "x0"}}},
    {MLIR_OP_CHLO_ASIN,
     false,
     {"1"},
     {{HLO_OP_SUBTRACT, "0x"},
      {HLO_OP_ADD, "x0"},
      {HLO_OP_MULTIPLY, "ab"},
      {HLO_OP_SQRT, "c"},
      {HLO_OP_ADD, "d0"},
      {HLO_OP_ATAN2, "xe"},
      {HLO_OP_ADD, "ff"}}},
    {MLIR_OP_CHLO_ACOS,
     false,
     {"1"},
     {{HLO_OP_SUBTRACT, "0x"},
      {HLO_OP_ADD, "x0"},
      {HLO_OP_MULTIPLY, "ab"},
      {HLO_OP_SQRT, "c"},
      {HLO_OP_ATAN2, "dx"}}},
    {MLIR_OP_CHLO_COSH,
     false,
     {"-0.693147182"},
     {{HLO_OP_ADD, "x0"},
      {HLO_OP_EXPONENTIAL, "a"},
      {HLO_OP_SUBTRACT, "0x"},
      {HLO_OP_EXPONENTIAL, "c"},
      {HLO_OP_ADD, "bd"}}},
    {MLIR_OP_CHLO_IS_INF, false, {"inf"}, {{HLO_OP_ABS, "x"}, {HLO_OP_COMPARE, "a0"}}},
    {MLIR_OP_CHLO_IS_POS_INF, false, {"inf"}, {{HLO_OP_COMPARE, "x0"}}},
    {MLIR_OP_CHLO_IS_NEG_INF, false, {"-inf"}, {{HLO_OP_COMPARE, "x0"}}},
};

/* The argument's array of truth values, of complex numbers, of their parts or of real numbers. */
static uint8_t type_made(uint16_t opcode, uint8_t argument)
{
    if (opcode == HLO_OP_COMPARE || opcode == HLO_OP_IS_FINITE || opcode == HLO_OP_AND)
        return HLO_PRED;
    if (opcode == HLO_OP_COMPLEX || hlo_type_info[argument].class != 'C')
        return argument;
    return argument == HLO_C64 ? HLO_F32 : HLO_F64;
}

static int expand_call(struct lower *l, const struct expansion *x, hlo_id argument)
{
    struct hlo_shape part = *hlo_lower_shape_of(l, argument); /* their list moves as it grows */
    uint8_t type = part.type;
    hlo_id numbers[NUMBERS_MOST] = {HLO_NONE}, made[STEPS_MOST] = {HLO_NONE};
    int n = 0, rc;

    part.type = type_made(HLO_OP_REAL, type);
    for (int k = 0; k < NUMBERS_MOST && x->numbers[k]; k++) {
        if (number_like(l, &part, x->numbers[k], &numbers[k]))
            return l->e->code;
    }
    for (; n < STEPS_MOST && *x->steps[n].operands; n++) {
        const struct step *step = &x->steps[n];
        enum hlo_type to = (enum hlo_type)type_made(step->opcode, type);
        struct lower_new new = {.opcode = step->opcode,
                                .shape = hlo_lower_array(l, to, part.dims, part.rank, &rc)};
        hlo_id ids[STEP_OPERANDS];
        for (const char *p = step->operands; new.operand_count < STEP_OPERANDS &&*p; p++)
            ids[new.operand_count++] = *p == 'x'   ? argument
                                       : *p <= '2' ? numbers[*p - '0']
                                                   : made[*p - 'a'];
        new.operands = ids;
        if (rc ||
            (step->opcode == HLO_OP_COMPARE && hlo_lower_attr(l, HLO_ATTR_DIRECTION, "EQ", 2)) ||
            hlo_lower_make(l, &new, &made[n]))
            return l->e->code;
    }
    lower_set(l, l->op->results, made[n - 1]);
    return 0;
}

/* NULL: none. What XLA computes in f32 whatever the type stays whole where that is another. */
static const struct expansion *expansion_of(const struct lower *l, hlo_id argument)
{
    const struct hlo_type_info *type = &hlo_type_info[hlo_lower_shape_of(l, argument)->type];
    bool is_complex = type->class == 'C';

    if (l->op->row == MLIR_OP_CHLO_COSH && type->bits < 32)
        return NULL;
    for (size_t n = 0; n < sizeof expansions / sizeof *expansions; n++) {
        if (expansions[n].row == l->op->row && expansions[n].is_complex == is_complex)
            return &expansions[n];
    }
    return NULL;
}

int hlo_lower_CHLO(struct lower *l)
{
    hlo_id id;

    if (l->op->operand_count != 1 || l->op->result_count != 1)
        return hlo_lower_fail(l, "%u operands and %u results, expected one of each",
                              l->op->operand_count, l->op->result_count);
    if (hlo_lower_operand(l, 0, &id))
        return l->e->code;
    const struct expansion *x = expansion_of(l, id);
    return x ? expand_call(l, x, id) : hlo_lower_WHOLE(l);
}

/* One instruction; of complex numbers, which XLA expands, what XLA makes of it. */
int hlo_lower_FUNCTION(struct lower *l)
{
    bool is_plain = l->as_is || l->op->operand_count != 1 || l->op->result_count != 1;
    const struct expansion *x = NULL;
    hlo_id id;

    if (!is_plain && hlo_lower_operand(l, 0, &id))
        return l->e->code;
    if (!is_plain)
        x = expansion_of(l, id);
    return x ? expand_call(l, x, id) : hlo_lower_PLAIN(l);
}
