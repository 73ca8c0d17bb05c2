#include "hlo/stablehlo/stablehlo_ops.h"

#include <string.h>

#define A(name, pretty, key, kind) {name, pretty, HLO_ATTR_##key, MLIR_KIND_##kind},
const struct mlir_op_info hlo_mlir_op_info[MLIR_OP_COUNT] = {
#define X(id, name, rule, opcode, attrs) \
    [MLIR_OP_##id] = {name, MLIR_RULE_##rule, HLO_OP_##opcode, {attrs}},
    MLIR_OPS(X)
#undef X
#define X(id, name) [MLIR_OP_SAME_##id] = {"stablehlo." name, MLIR_RULE_PLAIN, HLO_OP_##id, {{0}}},
        MLIR_SAME(X)
#undef X
#define X(id, name) \
    [MLIR_OP_WHOLE_##id] = {"chlo." name, MLIR_RULE_WHOLE, HLO_OP_CUSTOM_CALL, {{0}}},
            MLIR_CHLO_WHOLE(X)
#undef X
#define X(id, name) [MLIR_OP_##id] = {name, MLIR_RULE_NONE, HLO_OP_UNKNOWN, {{0}}},
                MLIR_IDENTITIES(X)
#undef X
#define X(id, name) [MLIR_OP_##id] = {"stablehlo." name, MLIR_RULE_REFUSED, HLO_OP_UNKNOWN, {{0}}},
                    MLIR_REFUSED(X)
#undef X
                        [MLIR_OP_UNKNOWN] = {"", MLIR_RULE_OPAQUE, HLO_OP_CUSTOM_CALL, {{0}}},
};
#undef A

/* Old and short spellings. */
static const struct {
    const char *name;
    enum mlir_row row;
} spellings[] = {
    {"return", MLIR_OP_RETURN}, {"call", MLIR_OP_CALL},
    {"func", MLIR_OP_FUNC},     {"std.return", MLIR_OP_RETURN},
    {"std.call", MLIR_OP_CALL}, {"builtin.func", MLIR_OP_FUNC},
    {"module", MLIR_OP_MODULE}, {"chlo.constant", MLIR_OP_CONSTANT},
};

static bool is_name(const char *known, const char *name, size_t size)
{
    return strlen(known) == size && !memcmp(known, name, size);
}

enum mlir_row hlo_mlir_op_by_name(const char *name, size_t size)
{
    char renamed[80];

    if (size > 5 && !memcmp(name, "mhlo.", 5) && size + 5 < sizeof renamed) {
        memcpy(renamed, "stablehlo.", 10);
        memcpy(renamed + 10, name + 5, size - 5);
        name = renamed;
        size += 5;
    }
    for (int row = 0; row < MLIR_OP_UNKNOWN; row++) {
        if (is_name(hlo_mlir_op_info[row].name, name, size))
            return (enum mlir_row)row;
    }
    for (size_t n = 0; n < sizeof spellings / sizeof *spellings; n++) {
        if (is_name(spellings[n].name, name, size))
            return spellings[n].row;
    }
    return MLIR_OP_UNKNOWN;
}
