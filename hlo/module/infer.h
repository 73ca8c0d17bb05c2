/* hlo/module/infer.h - infers an opcode's result from its operands' shapes and its attributes, to
 * check a module after loading and to read text that leaves shapes out. Private to hlo/.
 *
 * Rules are those of XLA's ShapeInference. One rule per opcode in the table of infer.c; opcodes
 * without a rule claim nothing. Attributes must have been checked against their kinds. */
#ifndef AUTOMAP_HLO_MODULE_INFER_H
#define AUTOMAP_HLO_MODULE_INFER_H

#include "hlo/module/attr.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"

enum hlo_infer_claim {
    HLO_INFER_NOTHING,
    HLO_INFER_DIMS,   /* one array of `rank`, `dims`; its type is free */
    HLO_INFER_ARRAY,  /* one array of `type`, `rank`, `dims` */
    HLO_INFER_INPUTS, /* an array like this per input, each of its input's type: one array, or a
                         tuple of `inputs` */
};

struct hlo_infer {
    uint16_t opcode;
    const struct hlo_shape *const *operands;
    uint32_t operand_count;
    const struct hlo_attr *attrs;
    uint32_t attr_count;
    const struct hlo_shape *declared; /* the result as written; NULL: none, to be inferred */
    struct err *e;                    /* messages omit the instruction's name */
    /* result */
    enum hlo_infer_claim claim;
    uint8_t type, rank;
    uint32_t inputs;
    int64_t dims[HLO_RANK_MAX];
};

/* Fills the result. ERR_INPUT when operands and attributes contradict each other. O(operands x
 * rank). */
int hlo_infer(struct hlo_infer *f) MUST_CHECK;

/* True if the result is an array like each operand: nothing to infer when all shapes are equal. */
bool hlo_infer_is_elementwise(uint16_t opcode);

/* True if dims are the same; a dynamic or unbounded dim matches any. */
bool hlo_same_dims(const struct hlo_shape *a, const struct hlo_shape *b);
/* `type[dims]` for messages. */
void hlo_infer_name(char *out, size_t size, const struct hlo_shape *s);

/* ---- for the rules ---- */

typedef int (*hlo_infer_rule)(struct hlo_infer *f);

const struct hlo_attr *hlo_infer_attr(const struct hlo_infer *f, enum hlo_attr_key key);
int64_t hlo_infer_int(const struct hlo_infer *f, enum hlo_attr_key key, int64_t absent);

/* A list of dims. `below` bounds each (dims of what they index), -1 any; each once where `below` is
 * given. Absent: count 0. */
struct hlo_dim_list {
    size_t count;
    int64_t dims[HLO_RANK_MAX];
    uint64_t mask; /* bit d: d is in the list (below 64) */
};
int hlo_infer_list(struct hlo_infer *f, enum hlo_attr_key key, int64_t below,
                   struct hlo_dim_list *out) MUST_CHECK;
int hlo_infer_bad(struct hlo_infer *f, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The claim is an array like operand n. */
void hlo_infer_like(struct hlo_infer *f, uint32_t n);
static inline const struct hlo_shape *hlo_infer_operand(const struct hlo_infer *f, uint32_t n)
{
    return f->operands[n];
}
static inline bool hlo_infer_has(const struct hlo_dim_list *l, int64_t d)
{
    return l->mask >> d & 1;
}
/* True if both element types may meet in one instruction: equal, or both floating point. */
bool hlo_infer_types_mix(enum hlo_type a, enum hlo_type b);

/* clang-format off */
#define HLO_INFER_RULES(X) \
    X(broadcast) X(transpose) X(reverse) X(reshape) X(concatenate) X(slice) X(dynamic_slice) \
    X(dynamic_update_slice) X(pad) X(iota) X(reduce) X(sort) X(dot) X(gather) X(scatter) \
    X(convolution) X(reduce_window) X(select_and_scatter) X(fft) X(dimension_size) X(cholesky) \
    X(triangular_solve) X(all_gather) X(reduce_scatter) X(batch_norm_inference) X(topk)
/* clang-format on */
#define X(name) int hlo_infer_##name(struct hlo_infer *f);
HLO_INFER_RULES(X)
#undef X

#endif
