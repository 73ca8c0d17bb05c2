/* Calls of what is not known or long, and the short expansions of chlo. */
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

    if (!hlo_mlir_attr(l->m, l->op, "api_version", NULL, &s) || !hlo_mlir_int(s, &version) ||
        version < 2 || version > 4)
        return 0;
    return hlo_lower_attr(l, HLO_ATTR_API_VERSION, names[version - 2], strlen(names[version - 2]));
}

int hlo_lower_CUSTOM_CALL(struct lower *l)
{
    static const struct mlir_attr_info config = {"backend_config", NULL, HLO_ATTR_BACKEND_CONFIG,
                                                 MLIR_KIND_STRING};
    struct mlir_span s;

    if (!hlo_mlir_attr(l->m, l->op, "call_target_name", "callee", &s) || s.size < 2)
        return hlo_lower_fail(l, "no target, expected one such as @name");
    bool is_quoted = *s.text == '"' || (*s.text == '@' && s.text[1] == '"');
    uint32_t skip = is_quoted ? (*s.text == '@' ? 2 : 1) : 1;
    if (target_attr(l, s.text + skip, s.size - skip - is_quoted) || api_version(l))
        return l->e->code;
    if (hlo_mlir_attr(l->m, l->op, "has_side_effect", NULL, &s) && hlo_mlir_true(s) &&
        hlo_lower_attr(l, HLO_ATTR_CUSTOM_CALL_HAS_SIDE_EFFECT, "true", 4))
        return l->e->code;
    if (hlo_mlir_attr(l->m, l->op, config.name, NULL, &s) && s.size > 2 && *s.text == '"' &&
        hlo_lower_string_attr(l, &config, s))
        return l->e->code;
    if (hlo_mlir_attr(l->m, l->op, "mhlo.backend_config", config.name, &s) && s.size > 2 &&
        *s.text == '{' && hlo_lower_attr(l, HLO_ATTR_BACKEND_CONFIG, s.text, s.size))
        return l->e->code;
    if (hlo_lower_common_attrs(l) || hlo_lower_operands(l))
        return l->e->code;
    return hlo_lower_results(l, HLO_OP_CUSTOM_CALL, 0, NULL, 0);
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

/* One step of a short expansion: opcode, and its operands: 'x' the argument, 'a'..'h' results of
 * steps before, or a number of `numbers`. Formulas: XLA's chlo_legalize_to_hlo. */
struct step {
    uint16_t opcode;
    char a, b;
};
struct expansion {
    uint16_t row;
    const char *numbers[2]; /* '0' and '1' */
    struct step steps[8];
};

static const struct expansion expansions[] = {
    {MLIR_OP_CHLO_SQUARE, {0}, {{HLO_OP_MULTIPLY, 'x', 'x'}}},
    {MLIR_OP_CHLO_ATAN, {"1"}, {{HLO_OP_ATAN2, 'x', '0'}}},
    {MLIR_OP_CHLO_ASIN,
     {"1"},
     {{HLO_OP_SUBTRACT, '0', 'x'},
      {HLO_OP_ADD, 'x', '0'},
      {HLO_OP_MULTIPLY, 'a', 'b'},
      {HLO_OP_SQRT, 'c', 0},
      {HLO_OP_ADD, 'd', '0'},
      {HLO_OP_ATAN2, 'x', 'e'},
      {HLO_OP_ADD, 'f', 'f'}}},
    {MLIR_OP_CHLO_ACOS,
     {"1"},
     {{HLO_OP_SUBTRACT, '0', 'x'},
      {HLO_OP_ADD, 'x', '0'},
      {HLO_OP_MULTIPLY, 'a', 'b'},
      {HLO_OP_SQRT, 'c', 0},
      {HLO_OP_ATAN2, 'd', 'x'}}},
    {MLIR_OP_CHLO_COSH,
     {"-0.693147182"},
     {{HLO_OP_ADD, 'x', '0'},
      {HLO_OP_EXPONENTIAL, 'a', 0},
      {HLO_OP_NEGATE, 'x', 0},
      {HLO_OP_ADD, 'c', '0'},
      {HLO_OP_EXPONENTIAL, 'd', 0},
      {HLO_OP_ADD, 'b', 'e'}}},
    {MLIR_OP_CHLO_IS_INF, {"inf"}, {{HLO_OP_ABS, 'x', 0}, {HLO_OP_COMPARE, 'a', '0'}}},
    {MLIR_OP_CHLO_IS_POS_INF, {"inf"}, {{HLO_OP_COMPARE, 'x', '0'}}},
    {MLIR_OP_CHLO_IS_NEG_INF, {"-inf"}, {{HLO_OP_COMPARE, 'x', '0'}}},
};

static int expand(struct lower *l, const struct expansion *x, hlo_id argument)
{
    hlo_shape_id shape = hlo_builder_at(l->b, argument)->shape;
    const struct hlo_shape s = *hlo_builder_shape(l->b, shape); /* their list moves as it grows */
    hlo_id numbers[2] = {HLO_NONE, HLO_NONE}, made[8] = {HLO_NONE};
    int n = 0;

    for (int k = 0; k < 2 && x->numbers[k]; k++) {
        if (number_like(l, &s, x->numbers[k], &numbers[k]))
            return l->e->code;
    }
    for (; n < 8 && x->steps[n].opcode; n++) {
        const struct step *step = &x->steps[n];
        const char names[2] = {step->a, step->b};
        hlo_id ids[2] = {HLO_NONE, HLO_NONE};
        for (int k = 0; k < 2 && names[k]; k++)
            ids[k] = names[k] == 'x'   ? argument
                     : names[k] <= '1' ? numbers[names[k] - '0']
                                       : made[names[k] - 'a'];
        bool is_compare = step->opcode == HLO_OP_COMPARE;
        if (is_compare && hlo_lower_attr(l, HLO_ATTR_DIRECTION, "EQ", 2))
            return l->e->code;
        if (hlo_lower_simple(l, step->opcode,
                             is_compare ? l->m->values[l->op->results].shape : shape, ids[0],
                             ids[1], &made[n]))
            return l->e->code;
    }
    lower_set(l, l->op->results, made[n - 1]);
    return 0;
}

/* The conjugate of complex numbers. */
static int conjugate(struct lower *l, hlo_id id)
{
    const struct hlo_shape *s = hlo_lower_shape_of(l, id);
    int rc;
    hlo_shape_id part =
        hlo_lower_array(l, s->type == HLO_C64 ? HLO_F32 : HLO_F64, s->dims, s->rank, &rc);
    hlo_id real, imag;

    if (rc || hlo_lower_simple(l, HLO_OP_REAL, part, id, HLO_NONE, &real) ||
        hlo_lower_simple(l, HLO_OP_IMAG, part, id, HLO_NONE, &imag) ||
        hlo_lower_simple(l, HLO_OP_NEGATE, part, imag, HLO_NONE, &imag) ||
        hlo_lower_simple(l, HLO_OP_COMPLEX, l->m->values[l->op->results].shape, real, imag, &id))
        return l->e->code;
    lower_set(l, l->op->results, id);
    return 0;
}

int hlo_lower_CHLO(struct lower *l)
{
    hlo_id id;

    if (l->op->operand_count != 1 || l->op->result_count != 1)
        return hlo_lower_fail(l, "%u operands and %u results, expected one of each",
                              l->op->operand_count, l->op->result_count);
    if (hlo_lower_operand(l, 0, &id))
        return l->e->code;
    bool is_complex = hlo_type_info[hlo_lower_shape_of(l, id)->type].class == 'C';
    if (l->op->row == MLIR_OP_CHLO_CONJ && is_complex)
        return conjugate(l, id);
    for (size_t n = 0; n < sizeof expansions / sizeof *expansions; n++) {
        if (expansions[n].row == l->op->row && (!is_complex || l->op->row == MLIR_OP_CHLO_SQUARE))
            return expand(l, &expansions[n], id);
    }
    return hlo_lower_WHOLE(l);
}
