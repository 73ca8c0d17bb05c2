/* Element types as StableHLO wants them. */
#include "hlo/module/check_types.h"
#include "hlo/module/infer.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"

#include <stddef.h>
#include <string.h>

/* Classes of hlo_type_info that an operation takes; of iota what it makes. */
static const struct {
    uint16_t opcode;
    const char *classes, *what;
} takes[] = {
    {HLO_OP_AND, "PIU", "expected integers or booleans"},
    {HLO_OP_NOT, "PIU", "expected integers or booleans"},
    {HLO_OP_OR, "PIU", "expected integers or booleans"},
    {HLO_OP_XOR, "PIU", "expected integers or booleans"},
    {HLO_OP_COUNT_LEADING_ZEROS, "IU", "expected integers"},
    {HLO_OP_POPCNT, "IU", "expected integers"},
    {HLO_OP_SHIFT_LEFT, "IU", "expected integers"},
    {HLO_OP_SHIFT_RIGHT_ARITHMETIC, "IU", "expected integers"},
    {HLO_OP_SHIFT_RIGHT_LOGICAL, "IU", "expected integers"},
    {HLO_OP_CEIL, "F", "expected floating-point numbers"},
    {HLO_OP_ERF, "F", "expected floating-point numbers"},
    {HLO_OP_FLOOR, "F", "expected floating-point numbers"},
    {HLO_OP_IS_FINITE, "F", "expected floating-point numbers"},
    {HLO_OP_REDUCE_PRECISION, "F", "expected floating-point numbers"},
    {HLO_OP_ROUND_NEAREST_AFZ, "F", "expected floating-point numbers"},
    {HLO_OP_ROUND_NEAREST_EVEN, "F", "expected floating-point numbers"},
    {HLO_OP_ATAN2, "FC", "expected floating-point or complex numbers"},
    {HLO_OP_CBRT, "FC", "expected floating-point or complex numbers"},
    {HLO_OP_CHOLESKY, "FC", "expected floating-point or complex numbers"},
    {HLO_OP_COSINE, "FC", "expected floating-point or complex numbers"},
    {HLO_OP_EXPONENTIAL, "FC", "expected floating-point or complex numbers"},
    {HLO_OP_EXPONENTIAL_MINUS_ONE, "FC", "expected floating-point or complex numbers"},
    {HLO_OP_LOG, "FC", "expected floating-point or complex numbers"},
    {HLO_OP_LOG_PLUS_ONE, "FC", "expected floating-point or complex numbers"},
    {HLO_OP_LOGISTIC, "FC", "expected floating-point or complex numbers"},
    {HLO_OP_RSQRT, "FC", "expected floating-point or complex numbers"},
    {HLO_OP_SINE, "FC", "expected floating-point or complex numbers"},
    {HLO_OP_SQRT, "FC", "expected floating-point or complex numbers"},
    {HLO_OP_TAN, "FC", "expected floating-point or complex numbers"},
    {HLO_OP_TANH, "FC", "expected floating-point or complex numbers"},
    {HLO_OP_TRIANGULAR_SOLVE, "FC", "expected floating-point or complex numbers"},
    {HLO_OP_ABS, "IFC", "expected signed, floating-point or complex numbers"},
    {HLO_OP_SIGN, "IFC", "expected signed, floating-point or complex numbers"},
    {HLO_OP_DIVIDE, "IUFC", "expected numbers"},
    {HLO_OP_IOTA, "IUFC", "expected numbers"},
    {HLO_OP_NEGATE, "IUFC", "expected numbers"},
    {HLO_OP_POWER, "IUFC", "expected numbers"},
    {HLO_OP_REMAINDER, "IUFC", "expected numbers"},
    {HLO_OP_SUBTRACT, "IUFC", "expected numbers"},
};

/* Operands first to first + count - 1, and the results if `with_results`, are of one type. */
static const struct {
    uint16_t opcode;
    uint8_t first, count;
    bool with_results;
} of_one_type[] = {
    {HLO_OP_BATCH_NORM_GRAD, 0, 5, true},
    {HLO_OP_BATCH_NORM_INFERENCE, 0, 5, true},
    {HLO_OP_BATCH_NORM_TRAINING, 0, 3, true},
    {HLO_OP_CLAMP, 0, 3, true},
    {HLO_OP_COMPARE, 0, 2, false},
    {HLO_OP_CONCATENATE, 0, UINT8_MAX, true},
    {HLO_OP_CONVOLUTION, 0, 2, false},
    {HLO_OP_DYNAMIC_SLICE, 1, UINT8_MAX, false},
    {HLO_OP_DYNAMIC_UPDATE_SLICE, 0, 2, true},
    {HLO_OP_DYNAMIC_UPDATE_SLICE, 2, UINT8_MAX, false},
    {HLO_OP_PAD, 0, 2, true},
    {HLO_OP_RNG, 0, 2, true},
    {HLO_OP_SELECT, 1, 2, true},
    {HLO_OP_TRIANGULAR_SOLVE, 0, 2, true},
};

static const char one_type[] = "its types differ, expected one type";
static const char called_type[] = "its types differ from those of the computation it applies, "
                                  "expected the same";

static enum hlo_type leaf_type(const struct hlo_module *m, hlo_id id, uint32_t leaf)
{
    return (enum hlo_type)m->shapes[hlo_shape(m, id)->leaves[leaf]].type;
}

static bool is_all_of(const struct hlo_module *m, hlo_id id, enum hlo_type type)
{
    for (uint32_t n = 0; n < hlo_shape(m, id)->leaf_count; n++) {
        if (leaf_type(m, id, n) != type)
            return false;
    }
    return true;
}

static bool is_of_one_type(const struct hlo_module *m, hlo_id id, uint32_t first, uint32_t count,
                           bool with_results)
{
    uint32_t all = hlo_at(m, id)->operand_count;

    if (first >= all)
        return true;
    enum hlo_type type = hlo_shape(m, hlo_operand(m, id, first))->type;
    for (uint32_t n = first; n < all && n - first < count; n++) {
        if (!is_all_of(m, hlo_operand(m, id, n), type))
            return false;
    }
    return !with_results || is_all_of(m, id, type);
}

/* Reducers may compute in a wider type, of floating-point numbers in any. */
static bool may_become(enum hlo_type from, enum hlo_type to)
{
    char a = hlo_type_info[from].class, b = hlo_type_info[to].class;

    if (a == 'F' || b == 'F' || a == 'C' || b == 'C')
        return a == b && (a == 'F' || hlo_type_info[from].bits <= hlo_type_info[to].bits);
    return from == to || hlo_type_info[from].bits < hlo_type_info[to].bits;
}

/* The parameter of what `id` applies that takes elements of operand `n`; HLO_NONE: none. */
static uint32_t param_of(const struct hlo_instruction *i, uint32_t n)
{
    uint32_t inputs = i->operand_count / 2;

    switch (i->opcode) {
    case HLO_OP_SCATTER:
        return n < inputs ? n : n == inputs ? HLO_NONE : n - 1;
    case HLO_OP_SELECT_AND_SCATTER:
        return n < 2 ? n : 0;
    case HLO_OP_SORT:
        return 2 * n;
    case HLO_OP_ALL_REDUCE:
    case HLO_OP_REDUCE_SCATTER:
        return 0;
    default:
        return n;
    }
}

static bool applies(uint16_t opcode)
{
    switch (opcode) {
    case HLO_OP_ALL_REDUCE:
    case HLO_OP_MAP:
    case HLO_OP_REDUCE:
    case HLO_OP_REDUCE_SCATTER:
    case HLO_OP_REDUCE_WINDOW:
    case HLO_OP_SCATTER:
    case HLO_OP_SELECT_AND_SCATTER:
    case HLO_OP_SORT:
        return true;
    default:
        return false;
    }
}

/* The last computation: of select-and-scatter the one that scatters; the first one selects. */
static bool fits_what_it_applies(const struct hlo_module *m, hlo_id id)
{
    const struct hlo_instruction *i = hlo_at(m, id);
    const struct hlo_computation *selects = &m->computations[hlo_called(m, id, 0)];

    if (i->opcode == HLO_OP_SELECT_AND_SCATTER &&
        hlo_shape(m, selects->params[0])->type != hlo_shape(m, hlo_operand(m, id, 0))->type)
        return false;
    const struct hlo_computation *c = &m->computations[hlo_called(m, id, i->called_count - 1)];
    bool is_exact = i->opcode == HLO_OP_MAP || i->opcode == HLO_OP_SORT;

    for (uint32_t n = 0; n < i->operand_count; n++) {
        uint32_t p = param_of(i, n);
        enum hlo_type from = hlo_shape(m, hlo_operand(m, id, n))->type;
        if (p >= c->param_count)
            continue;
        enum hlo_type to = hlo_shape(m, c->params[p])->type;
        if (is_exact ? from != to : !may_become(from, to))
            return false;
        if (i->opcode == HLO_OP_SORT && hlo_shape(m, c->params[p + 1])->type != from)
            return false;
    }
    if (i->opcode == HLO_OP_SORT)
        return true;
    uint32_t returned = hlo_shape(m, c->root)->leaf_count;
    for (uint32_t n = 0; n < hlo_shape(m, id)->leaf_count; n++) {
        if (leaf_type(m, id, n) != leaf_type(m, c->root, n < returned ? n : 0))
            return false;
    }
    return true;
}

const char *hlo_stablehlo_types(const struct hlo_module *m, hlo_id id)
{
    const struct hlo_instruction *i = hlo_at(m, id);

    for (size_t n = 0; n < sizeof takes / sizeof *takes; n++) {
        hlo_id from = i->operand_count ? hlo_operand(m, id, 0) : id;
        if (takes[n].opcode == i->opcode &&
            !strchr(takes[n].classes, hlo_type_info[hlo_shape(m, from)->type].class))
            return takes[n].what;
    }
    if (hlo_infer_is_elementwise(i->opcode) && !is_of_one_type(m, id, 0, UINT32_MAX, true))
        return one_type;
    for (size_t n = 0; n < sizeof of_one_type / sizeof *of_one_type; n++) {
        if (of_one_type[n].opcode == i->opcode &&
            !is_of_one_type(m, id, of_one_type[n].first, of_one_type[n].count,
                            of_one_type[n].with_results))
            return one_type;
    }
    return i->called_count && applies(i->opcode) && !fits_what_it_applies(m, id) ? called_type
                                                                                 : NULL;
}
