/* hlo/module/ops.c - the op table and the way from a name to its row. */
#include "hlo/module/ops.h"

#include "hlo/module/attr.h"

#include <string.h>

const struct hlo_op_info hlo_op_info[HLO_OP_COUNT] = {
#define R(key) (HLO_ATTR_##key + 1) | HLO_OP_ATTR_REQUIRED,
#define O(key) HLO_ATTR_##key + 1,
#define X(id, name, arity, factors, cost, partial, flags, attrs) \
    [HLO_OP_##id] = {name,                                       \
                     arity,                                      \
                     HLO_FACTORS_##factors,                      \
                     HLO_COST_##cost,                            \
                     HLO_PARTIAL_##partial,                      \
                     HLO_OP_IS_##flags,                          \
                     {attrs 0}},
    HLO_OPS(X)
#undef X
#undef O
#undef R
        [HLO_OP_UNKNOWN] = {"unknown",
                            -1,
                            HLO_FACTORS_NONE,
                            HLO_COST_UNKNOWN,
                            HLO_PARTIAL_NONE,
                            HLO_OP_IS_OPAQUE,
                            {0}},
};
_Static_assert((int)HLO_ATTR_COUNT < (int)HLO_OP_ATTR_REQUIRED,
               "attribute keys fit beside the flag");

static const uint8_t name_sizes[HLO_OP_COUNT] = {
#define X(id, name, arity, factors, cost, partial, flags, attrs) [HLO_OP_##id] = sizeof(name) - 1,
    HLO_OPS(X)
#undef X
};

/* Where the names of each first letter begin: the table is grouped by it. */
static const uint8_t first_of_letter[] = {
    ['a' - 'a'] = HLO_OP_ABS,
    ['b' - 'a'] = HLO_OP_BATCH_NORM_GRAD,
    ['c' - 'a'] = HLO_OP_CALL,
    ['d' - 'a'] = HLO_OP_DIVIDE,
    ['e' - 'a'] = HLO_OP_ERF,
    ['f' - 'a'] = HLO_OP_FFT,
    ['g' - 'a'] = HLO_OP_GATHER,
    ['h' - 'a'] = HLO_OP_IMAG,
    ['i' - 'a'] = HLO_OP_IMAG,
    ['j' - 'a'] = HLO_OP_LOG,
    ['k' - 'a'] = HLO_OP_LOG,
    ['l' - 'a'] = HLO_OP_LOG,
    ['m' - 'a'] = HLO_OP_MAP,
    ['n' - 'a'] = HLO_OP_NEGATE,
    ['o' - 'a'] = HLO_OP_OPT_BARRIER,
    ['p' - 'a'] = HLO_OP_PAD,
    ['q' - 'a'] = HLO_OP_RAGGED_ALL_TO_ALL,
    ['r' - 'a'] = HLO_OP_RAGGED_ALL_TO_ALL,
    ['s' - 'a'] = HLO_OP_SCALED_DOT,
    ['t' - 'a'] = HLO_OP_TAN,
    ['u' - 'a'] = HLO_OP_WHILE,
    ['v' - 'a'] = HLO_OP_WHILE,
    ['w' - 'a'] = HLO_OP_WHILE,
    ['x' - 'a'] = HLO_OP_XOR,
    ['y' - 'a'] = HLO_OP_UNKNOWN,
    ['z' - 'a'] = HLO_OP_UNKNOWN,
    ['z' - 'a' + 1] = HLO_OP_UNKNOWN,
};

enum hlo_opcode hlo_op_by_name(const char *name, size_t size)
{
    if (!size || name[0] < 'a' || name[0] > 'z')
        return HLO_OP_UNKNOWN;
    int letter = name[0] - 'a';
    for (unsigned op = first_of_letter[letter]; op < first_of_letter[letter + 1]; op++)
        if (name_sizes[op] == size && !memcmp(hlo_op_info[op].name, name, size))
            return (enum hlo_opcode)op;
    return HLO_OP_UNKNOWN;
}
