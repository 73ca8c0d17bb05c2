/* hlo/stablehlo/mlir.h - an MLIR module as its text has it: functions, regions, ops, values.
 *
 * mlir_parse.h fills it, simplify.h removes what XLA would remove, lower.h makes the HLO module.
 * Everything is arrays and ids. Ops are numbered in the order of the text, an op before the ops of
 * its regions: its subtree is id..end-1. A region has one block. Attributes are spans of the text,
 * whatever form they came in: the pretty form `dims = [1, 0]` and the generic one `permutation =
 * array<i64: 1, 0>` are both read by the accessors below. Types are shapes of the builder. Private
 * to hlo/stablehlo/. */
#ifndef AUTOMAP_HLO_STABLEHLO_MLIR_H
#define AUTOMAP_HLO_STABLEHLO_MLIR_H

#include "hlo/module/build.h"
#include "hlo/module/read.h"
#include "hlo/module/shape.h"
#include "hlo/stablehlo/stablehlo_ops.h"
#include "hlo/support/err.h"
#include "hlo/support/slots.h"

typedef uint32_t mlir_value;
typedef uint32_t mlir_op_id;
typedef uint32_t mlir_region_id;
#define MLIR_NONE UINT32_MAX

struct mlir_span {
    const char *text;
    uint32_t size;
};

struct mlir_attr {
    struct mlir_span name, value; /* value empty: a unit attribute */
};

struct mlir_value_info {
    hlo_shape_id shape;
    mlir_region_id region; /* that defines it */
    mlir_op_id op;         /* its maker, or MLIR_NONE: an argument of the region */
    uint32_t number;       /* of the result or argument */
};

struct mlir_op {
    uint16_t row;                     /* enum mlir_row; MLIR_OP_UNKNOWN: see name */
    struct mlir_span name;            /* as written, without quotes */
    mlir_region_id region;            /* it stands in */
    uint32_t operands, operand_count; /* into operand_pool */
    mlir_value results;               /* first of result_count */
    uint32_t result_count;
    uint32_t attrs, attr_count; /* into attr_pool */
    mlir_region_id regions;     /* first; the next one is at regions[..].next */
    uint32_t region_count;
    mlir_op_id end;  /* behind its subtree */
    const char *loc; /* behind `loc(`, or NULL */
    size_t at;       /* offset in the input */
    uint32_t line, col;
};

struct mlir_region {
    mlir_value first_arg;
    uint32_t arg_count;
    mlir_op_id first, end; /* its ops, subtrees included */
    mlir_op_id last;       /* its terminator; MLIR_NONE when it has no op */
    mlir_op_id parent;     /* op it belongs to; MLIR_NONE: a function's body */
    mlir_region_id after;  /* behind the regions within it */
    mlir_region_id next;   /* of the same op, or MLIR_NONE */
    bool is_never;         /* a branch that is never taken */
};

/* An argument or result of a function. */
struct mlir_slot {
    hlo_shape_id shape;
    uint32_t attrs, attr_count;
    const char *loc;
};

struct mlir_func {
    struct mlir_span name;
    bool is_private;
    mlir_region_id body;                             /* MLIR_NONE: a declaration */
    uint32_t args, arg_count, results, result_count; /* into slots */
    const char *loc;
    size_t at;
};

/* `#loc12 = loc(...)`, `!row = tensor<8xf32>` */
struct mlir_alias {
    struct mlir_span text; /* what stands behind `= ` */
    uint32_t meta;         /* of the builder, once `is_known` */
    bool is_known;
    hlo_shape_id shape; /* of a type */
};

/* Names (SSA values, aliases, symbols, bases of instruction names) and what they stand for now.
 * An entry is never taken out. */
struct mlir_names {
    struct mlir_name {
        const char *text;
        uint32_t size, value; /* value MLIR_NONE: nothing now */
    } * list;
    struct slots slots; /* of entries, by their text */
    size_t count, list_room;
};
/* The entry of a name, made when new; MLIR_NONE when out of memory. `text` must stay, with 8 bytes
 * readable behind it. */
uint32_t hlo_mlir_name(struct mlir_names *names, const char *text, size_t size);
void hlo_mlir_names_release(struct mlir_names *names);

struct mlir_module {
    const char *input;
    size_t size;
    struct hlo_builder *b;
    struct err *e;
    struct mlir_op *ops;
    size_t op_count, op_room;
    struct mlir_value_info *values;
    size_t value_count, value_room;
    mlir_value *operand_pool;
    size_t operand_count, operand_room;
    struct mlir_attr *attr_pool;
    size_t attr_count, attr_room;
    struct mlir_region *regions;
    size_t region_count, region_room;
    struct mlir_func *funcs;
    size_t func_count, func_room;
    struct mlir_slot *slots;
    size_t slot_count, slot_room;
    struct mlir_alias *aliases;
    size_t alias_count, alias_room;
    struct mlir_names alias_names; /* `#loc12`, `!row` -> index in aliases */
    struct mlir_names func_names;  /* `f` -> index in funcs */
    struct mlir_attr *resources;   /* dense_resource name -> "0x..." */
    size_t resource_count, resource_room;
    struct mlir_span name;
    uint32_t attrs, module_attr_count; /* of the module, into attr_pool */
    struct mlir_attr *meshes;          /* name, `<["x"=2]>` of each sdy.mesh */
    size_t mesh_count, mesh_room;
};

/* ERR_INPUT at this place of the input. */
int hlo_mlir_fail(struct mlir_module *m, size_t at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int hlo_mlir_memory(struct mlir_module *m);
void hlo_mlir_release(struct mlir_module *m); /* not the builder */

/* ---- attributes; `path` may name the field of a struct: "dimension_numbers/offset_dims" ---- */

/* The value under one of two names (the generic and the pretty one; the second may be NULL). */
bool hlo_mlir_attr(const struct mlir_module *m, const struct mlir_op *op, const char *path,
                   const char *pretty, struct mlir_span *out);
/* The same of a bare list of attributes. */
bool hlo_mlir_attr_in(const struct mlir_attr *list, uint32_t count, const char *name,
                      struct mlir_span *out);
/* Field of `<a = 1, b = [2]>` or `{a = 1}`. */
bool hlo_mlir_field(struct mlir_span in, const char *name, struct mlir_span *out);
/* `[1, 2]`, `array<i64: 1, 2>`, `dense<[1, 2]> : tensor<2xi64>`, `dense<3> : tensor<4xi64>` (four
 * times 3), also nested; booleans are 0 and 1. False: something else, or more than `room`. */
bool hlo_mlir_ints(struct mlir_span s, int64_t *out, size_t room, size_t *count);
bool hlo_mlir_int(struct mlir_span s, int64_t *out); /* `3`, `3 : i64` */
bool hlo_mlir_true(struct mlir_span s);              /* `true`, or a unit attribute */
/* `#stablehlo<comparison_direction LT>` or `LT`: LT. */
struct mlir_span hlo_mlir_word(struct mlir_span s);
/* `"a\22b"` without quotes and escapes, a NUL behind it, in the builder's arena; NULL when it is no
 * string or out of memory. */
const char *hlo_mlir_string(struct mlir_module *m, struct mlir_span s, size_t *size);
bool hlo_mlir_is(struct mlir_span s, const char *word);
static inline mlir_value mlir_operand(const struct mlir_module *m, const struct mlir_op *op,
                                      uint32_t n)
{
    return m->operand_pool[op->operands + n];
}
static inline const struct hlo_shape *mlir_shape(const struct mlir_module *m, mlir_value v)
{
    return hlo_builder_shape(m->b, m->values[v].shape);
}

/* ---- the steps ---- */

/* Text to ops. */
int hlo_mlir_parse(struct mlir_module *m) MUST_CHECK;

#endif
