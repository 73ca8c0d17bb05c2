/* hlo/stablehlo/lower.h - lowers ops to instructions, split into files by what they make: lower.c
 * (functions, regions, values, instructions), lower_attrs.c (attributes by the table), lower_ops.c,
 * lower_window.c, lower_control.c (loops, branches, calls, reducers), lower_call.c (custom calls,
 * chlo), lower_literal.c (constants), lower_sharding.c, lower_loc.c (metadata and names).
 *
 * Makes one computation at a time, inner ones before outer ones and callees before callers, so the
 * module grows in its final order. A constant is made where it is first used, once per computation,
 * even in regions that capture it from outside. Private to hlo/stablehlo/. */
#ifndef AUTOMAP_HLO_STABLEHLO_LOWER_H
#define AUTOMAP_HLO_STABLEHLO_LOWER_H

#include "hlo/module/attr.h"
#include "hlo/module/build.h"
#include "hlo/module/hlo.h"
#include "hlo/module/shape.h"
#include "hlo/stablehlo/mlir.h"
#include "hlo/stablehlo/simplify.h"
#include "hlo/stablehlo/stablehlo_ops.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

/* A constant (or a broadcast of one) already made in a computation. Open addressing. */
struct lower_constant {
    uint64_t hash;
    hlo_comp computation;
    hlo_shape_id shape;
    struct mlir_span literal;
    hlo_id id; /* HLO_NONE: free slot */
};

struct lower {
    struct mlir_module *m;
    struct hlo_builder *b;
    struct err *e;
    struct mlir_simplified s;
    bool as_is;            /* the text is XLA's own translation of HLO: each op is an instruction */
    hlo_comp computation;  /* being made */
    hlo_id *made;          /* [values] its instruction .. */
    hlo_comp *made_in;     /* .. in this computation */
    hlo_comp *region_comp; /* [regions] */
    hlo_comp *func_comp;   /* [funcs]; HLO_NONE: not yet */
    uint32_t *seen;        /* [values] stamp of the last list of captures */
    uint32_t stamp;
    const struct mlir_op *op; /* whose rule runs: places and metadata of what is made */
    uint32_t meta;            /* of op */
    struct mlir_span base;    /* first part of the names of what is made */
    hlo_id *ids;              /* stack of operands */
    size_t id_count, id_room;
    struct hlo_attr *attrs; /* of the instruction being made: from attr_base on */
    size_t attr_count, attr_base, attr_room;
    mlir_value *captures;
    size_t capture_count, capture_room;
    hlo_shape_id *parts; /* stack of tuple elements */
    size_t part_count, part_room;
    struct mlir_names bases; /* first parts of names -> how often used */
    struct str text;
    struct lower_constant *constants;
    size_t constant_count, constant_room;
    uint32_t regions_named; /* region_N */
};

/* ERR_INPUT at l->op. */
int hlo_lower_fail(struct lower *l, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Adds the place of l->op to an error of the builder; `rc`. */
int hlo_lower_placed(struct lower *l, int rc);
int hlo_lower_memory(struct lower *l);

/* ---- values (lower.c) ---- */
static inline mlir_value lower_same(const struct lower *l, mlir_value v)
{
    return l->s.same[v];
}
/* The instruction of a value in this computation; makes constants as needed. */
int hlo_lower_value(struct lower *l, mlir_value v, hlo_id *out);
int hlo_lower_operand(struct lower *l, uint32_t n, hlo_id *out); /* of l->op */
static inline void lower_set(struct lower *l, mlir_value v, hlo_id id)
{
    l->made[v] = id;
    l->made_in[v] = l->computation;
}
const struct hlo_shape *hlo_lower_shape_of(const struct lower *l, hlo_id id);
/* Shape of operand n and result n of l->op. */
const struct hlo_shape *hlo_lower_operand_shape(const struct lower *l, uint32_t n);
hlo_shape_id hlo_lower_array(struct lower *l, enum hlo_type type, const int64_t *dims,
                             uint32_t rank, int *rc);
/* The tuple of these shapes; of one, it alone when `bare_one`. */
int hlo_lower_tuple_shape(struct lower *l, const hlo_shape_id *parts, size_t count, bool bare_one,
                          hlo_shape_id *out);

/* ---- instructions (lower.c) ---- */
int hlo_lower_push(struct lower *l, hlo_id id); /* on l->ids */
struct lower_new {
    uint16_t opcode;
    hlo_shape_id shape;
    const hlo_id *operands;
    uint32_t operand_count;
    const hlo_comp *called;
    uint32_t called_count;
    uint32_t number;
    struct mlir_span literal;
};
/* Makes an instruction with the attributes pushed and the metadata, name and position of l->op. */
int hlo_lower_make(struct lower *l, const struct lower_new *n, hlo_id *out);
/* Without attributes. */
int hlo_lower_simple(struct lower *l, uint16_t opcode, hlo_shape_id shape, hlo_id a, hlo_id b,
                     hlo_id *out);
int hlo_lower_tuple(struct lower *l, const hlo_id *ids, size_t count, bool bare_one, hlo_id *out);
int hlo_lower_element(struct lower *l, hlo_id tuple, uint32_t n, hlo_id *out);
/* l->op as `opcode` with operands l->ids[base..] and results as the op has them: several are a
 * tuple and an element for each that is needed. */
int hlo_lower_results(struct lower *l, uint16_t opcode, size_t base, const hlo_comp *called,
                      uint32_t called_count);
int hlo_lower_broadcast(struct lower *l, hlo_id from, hlo_shape_id to, hlo_id *out);

/* ---- attributes (lower_attrs.c) ---- */
int hlo_lower_attr(struct lower *l, enum hlo_attr_key key, const char *text, size_t size);
int hlo_lower_attr_text(struct lower *l, enum hlo_attr_key key); /* l->text, which is emptied */
int hlo_lower_attr_ints(struct lower *l, enum hlo_attr_key key, const int64_t *ints, size_t count);
int hlo_lower_table_attrs(struct lower *l);  /* those of the row of l->op */
int hlo_lower_common_attrs(struct lower *l); /* sharding, frontend attributes */
/* A string of MLIR as a string of HLO. */
int hlo_lower_string_attr(struct lower *l, const struct mlir_attr_info *a, struct mlir_span s);
int hlo_lower_sharding(struct lower *l, const struct mlir_attr *list, uint32_t count);
/* Of an argument, Shardy's or HLO's own (lower_sharding.c). */
int hlo_lower_slot_sharding(struct lower *l, const struct mlir_slot *slot);
/* How the results of the entry are split: an attribute of the tuple to be made of l->ids; a
 * constraint of the one result otherwise. */
int hlo_lower_result_shardings(struct lower *l, const struct mlir_func *f);
/* Numbers of an attribute: exactly `count`; absent: all `absent`. */
int hlo_lower_numbers(struct lower *l, const char *path, const char *pretty, size_t count,
                      int64_t absent, int64_t *out);
/* The window of a reduction over arrays of this rank. `dilation` NULL: that of the op. */
int hlo_lower_window(struct lower *l, uint32_t rank, const int64_t *dilation);

/* ---- control (lower_control.c) ---- */
bool hlo_lower_needs(const struct lower *l, mlir_op_id id, uint32_t n);
/* Values from outside that [first, end) needs, pushed on l->captures; outside: regions before
 * `region`. Constants are left out. */
int hlo_lower_captures(struct lower *l, mlir_region_id region, mlir_op_id first, mlir_op_id end);
int hlo_lower_region(struct lower *l, mlir_region_id r);
int hlo_lower_begin_region(struct lower *l, hlo_comp *out); /* a computation region_N */
int hlo_lower_operands(struct lower *l);                    /* all of l->op, pushed on l->ids */

/* ---- computations (lower.c) ---- */
int hlo_lower_begin(struct lower *l, struct mlir_span base, hlo_comp *out);
int hlo_lower_parameter(struct lower *l, uint32_t number, hlo_shape_id shape, hlo_id *out);
/* Arguments as parameters 0.., the values l->captures[captures..] behind them. */
int hlo_lower_parameters(struct lower *l, mlir_value first, uint32_t count, size_t captures);
/* The ops of region `r`, whose arguments are set; what it returns is left on l->ids. */
int hlo_lower_body(struct lower *l, mlir_region_id r);
/* The root: l->ids as one value or a tuple. */
int hlo_lower_root(struct lower *l, bool bare_one);

/* ---- constants and metadata ---- */
/* The literal of a constant op for an array of this shape (all its elements, or the one of a splat)
 * in l->text. */
int hlo_lower_constant(struct lower *l, mlir_value v, hlo_id *out);
int hlo_lower_meta(struct lower *l, const char *loc, bool is_argument, uint32_t *out);
/* A name for the next instruction, in l->text: `base.N`. */
int hlo_lower_name(struct lower *l, struct mlir_span base);
struct mlir_span hlo_lower_base(struct lower *l, uint32_t meta, uint16_t opcode);

/* Everything: l->m to a finished builder. */
int hlo_lower_module(struct lower *l, hlo_comp *entry) MUST_CHECK;

#define X(name) int hlo_lower_##name(struct lower *l);
MLIR_RULES(X)
#undef X

#endif
