/* hlo/stablehlo/write_internal.h - the writer's insides: write_stablehlo.c (module, regions,
 * values), write_ops.c (operations), write_attrs.c (attributes, constants). Private to
 * hlo/stablehlo/. */
#ifndef AUTOMAP_HLO_STABLEHLO_WRITE_INTERNAL_H
#define AUTOMAP_HLO_STABLEHLO_WRITE_INTERNAL_H

#include "hlo/module/attr.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/stablehlo/stablehlo_ops.h"
#include "hlo/stablehlo/write_stablehlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

struct mlir_writer {
    const struct hlo_module *m;
    const struct stablehlo_write_options *o; /* without a mesh there is no plan */
    struct str *out;
    struct err *e;
    uint32_t *ids;                 /* [values] the SSA value of each leaf */
    uint32_t next;                 /* the next SSA value */
    int depth;                     /* of regions */
    bool *is_func;                 /* [computations] written as a function */
    uint16_t row_of[HLO_OP_COUNT]; /* the row of stablehlo_ops.h that is this opcode;
                                      MLIR_OP_UNKNOWN: none */
    uint32_t attrs;                /* of the op being written */
    uint32_t *place_of;            /* [metas] the number of its location; 0: not named so far */
    uint32_t *places, place_count; /* metas that are named, in order */
};

int hlo_mlir_write_fail(struct mlir_writer *w, hlo_id id, const char *what);
void hlo_mlir_write_type(struct mlir_writer *w, const struct hlo_shape *s);
void hlo_mlir_write_indent(struct mlir_writer *w);
/* `{`, a block whose arguments are the leaves of the parameters, `}`. */
int hlo_mlir_write_region(struct mlir_writer *w, hlo_comp c);
/* Instructions of `c`, whose parameters have their SSA values, and `end` with what it returns. */
int hlo_mlir_write_body(struct mlir_writer *w, hlo_comp c, const char *end);
/* `%5:2 = ` and the SSA values of the leaves of `id`. */
void hlo_mlir_write_results(struct mlir_writer *w, hlo_id id);
/* ` : (types) -> types` and the end of the line. */
void hlo_mlir_write_signature(struct mlir_writer *w, hlo_id id, uint32_t operands);

/* `mhlo.sharding = "{replicated}"` behind `before` when the module has it and no plan says
 * otherwise; of one leaf, or HLO_NONE: as it stands. */
void hlo_mlir_write_users_sharding(struct mlir_writer *w, hlo_id id, uint32_t leaf,
                                   const char *before);

int hlo_mlir_write_op(struct mlir_writer *w, hlo_id id);

/* Attributes: begin with `<{`, one after the other, end with `}>`. */
void hlo_mlir_write_attrs_begin(struct mlir_writer *w);
void hlo_mlir_write_attrs_end(struct mlir_writer *w);
void hlo_mlir_write_attr(struct mlir_writer *w, const char *name); /* `, name = ` */
void hlo_mlir_write_array(struct mlir_writer *w, const char *name, const int64_t *ints,
                          size_t count);
void hlo_mlir_write_ints_list(struct mlir_writer *w, const int64_t *ints, size_t count);
void hlo_mlir_write_int(struct mlir_writer *w, const char *name, int64_t value, const char *type);
/* In quotes; what is no printable ASCII as MLIR prints it: `\0A`. */
void hlo_mlir_write_string(struct mlir_writer *w, const char *text, size_t size);
/* A string of HLO's text, whose escapes are those of C. */
void hlo_mlir_write_hlo_string(struct mlir_writer *w, const struct hlo_attr *a);
/* Those of the table; 0 or ERR_INPUT. */
int hlo_mlir_write_table(struct mlir_writer *w, hlo_id id, const struct mlir_op_info *info);
int hlo_mlir_write_literal(struct mlir_writer *w, hlo_id id);
/* Window of reductions; of convolutions with their dims. */
int hlo_mlir_write_window(struct mlir_writer *w, hlo_id id, uint32_t rank);
int hlo_mlir_write_convolution(struct mlir_writer *w, hlo_id id);

#endif
