/* hlo/stablehlo/mlir_parse.h - reads MLIR text, split into files by what they read: mlir_module.c
 * (module, functions, aliases), mlir_op.c (one op, generic or pretty), mlir_pretty.c (the forms
 * of reduce, while, manual_computation), parse_type.c, mlir_attr.c.
 *
 * Every hlo_mlir_parse_X reads an X at p->at, moves p->at past it and returns 0, or a negative code
 * with the error set. Private to hlo/stablehlo/. */
#ifndef AUTOMAP_HLO_STABLEHLO_MLIR_PARSE_H
#define AUTOMAP_HLO_STABLEHLO_MLIR_PARSE_H

#include "hlo/module/shape.h"
#include "hlo/stablehlo/mlir.h"
#include "hlo/support/lex.h"

/* Types repeat: text of the last one with this hash. */
struct mlir_cached_type {
    const char *text;
    uint32_t size;
    hlo_shape_id id;
};
enum { MLIR_TYPES_CACHED = 1024 };

/* A name with another meaning outside the region. */
struct mlir_shadowed {
    uint32_t name, value;
};

struct mlir_parser {
    struct mlir_module *m;
    const char *at;
    int depth; /* of regions, tuples, nested attributes */
    mlir_region_id region;
    uint32_t line; /* of `line_at` */
    const char *line_begin, *line_at;
    struct mlir_names names;    /* SSA values now visible */
    struct mlir_names op_names; /* row + 1 */
    struct mlir_shadowed *shadowed;
    size_t shadowed_count, shadowed_room;
    /* stacks, used from a base upwards */
    mlir_value *operands;
    size_t operand_count, operand_room;
    mlir_value *inits; /* of a reduce */
    size_t init_count, init_room;
    struct mlir_attr *attrs;
    size_t attr_count, attr_room;
    hlo_shape_id *types;
    size_t type_count, type_room;
    struct mlir_span *results; /* names, with the count of each in counts */
    size_t result_count, result_room;
    uint32_t *counts;
    size_t counts_room;
    struct mlir_cached_type cached[MLIR_TYPES_CACHED];
};

/* What an op's text says before it becomes a struct mlir_op; bases into the stacks above. */
struct mlir_reading {
    mlir_op_id id;
    size_t operands, attrs, types, results;
    bool has_arrow; /* types: operands' .. `->` results'; `arrow` of them stand before it */
    size_t arrow;
};

int hlo_mlir_parse_fail(struct mlir_parser *p, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int hlo_mlir_parse_place(struct mlir_parser *p, const char *at, int code);
int hlo_mlir_parse_expect(struct mlir_parser *p, const char *what, const char *why);
static inline void mlir_skip(struct mlir_parser *p)
{
    p->at = lex_skip(p->at);
}
/* Skips blanks and then `text`, if it comes next; returns whether it did. */
bool hlo_mlir_eat(struct mlir_parser *p, const char *text);
/* For messages: at most 60 bytes of the word at `at`. */
#define MLIR_WORD(at) hlo_mlir_word_size(at), (at)
int hlo_mlir_word_size(const char *at);
/* Letters, digits, `_ $ . -` (not the `-` of `->`). */
const char *hlo_mlir_name_end(const char *p);
/* p at an opening bracket: past its partner, or NULL. All kinds of brackets count, `->` does not.
 */
const char *hlo_mlir_group_end(const char *p);
/* The end of an attribute's value: the comma or closing bracket behind it. NULL: it never ends. */
const char *hlo_mlir_value_end(const char *p);

int hlo_mlir_parse_type(struct mlir_parser *p, hlo_shape_id *out);
int hlo_mlir_push_type(struct mlir_parser *p); /* on p->types */
/* `(T, U)`, `T, U` or `()`: pushed on p->types. */
int hlo_mlir_parse_types(struct mlir_parser *p);
/* `{a = 1, b}` or `<{..}>`: pushed on p->attrs. */
int hlo_mlir_parse_attrs(struct mlir_parser *p);
/* Moves p->attrs from `base` on to the module. */
int hlo_mlir_keep_attrs(struct mlir_parser *p, size_t base, uint32_t *first, uint32_t *count);
/* `loc(...)` when it stands there: *out is behind the bracket, else NULL. */
int hlo_mlir_parse_loc(struct mlir_parser *p, const char **out);

/* `%name`, `%name#2`: pushed on p->operands. */
int hlo_mlir_parse_operand(struct mlir_parser *p);
int hlo_mlir_push_operand(struct mlir_parser *p, mlir_value v);
/* A value of region `region` with this name (`%x`). */
int hlo_mlir_push_attr(struct mlir_parser *p, const char *name, const char *text, const char *end);

/* A region of op `parent`: begin, then arguments, then the body, then end. */
int hlo_mlir_region_begin(struct mlir_parser *p, mlir_op_id parent, mlir_region_id *out);
/* `%a: T loc(..)`. */
int hlo_mlir_parse_argument(struct mlir_parser *p, struct mlir_span *name, hlo_shape_id *shape,
                            const char **loc);
int hlo_mlir_region_arg(struct mlir_parser *p, struct mlir_span name, hlo_shape_id shape);
/* Ops up to the `}`, which is passed. */
int hlo_mlir_region_body(struct mlir_parser *p);
void hlo_mlir_region_end(struct mlir_parser *p, size_t shadowed);
/* `{ ^bb0(%a: T): ops }` */
int hlo_mlir_parse_region(struct mlir_parser *p, mlir_op_id parent);

/* `[%a, %b:2 =] op ...`. */
int hlo_mlir_parse_op(struct mlir_parser *p);
/* Forms of their own, behind the name of the op; types and location are left to the caller. */
int hlo_mlir_parse_reduce(struct mlir_parser *p, struct mlir_reading *r);
int hlo_mlir_parse_while(struct mlir_parser *p, struct mlir_reading *r);
int hlo_mlir_parse_manual(struct mlir_parser *p, struct mlir_reading *r);
int hlo_mlir_parse_colon_types(struct mlir_parser *p, struct mlir_reading *r);

#endif
