/* hlo/meaning/factors_internal.h - how factor rules write their answer. Private to hlo/factors*.c.
 *
 * Every operand of an instruction that reaches a rule is one array (or token), so operand n is leaf
 * n and result leaf j is leaf operand_count + j. Attributes were checked at load, but a rule need
 * not rely on that: a binding that does not fit its leaf drops the factor. */
#ifndef AUTOMAP_HLO_MEANING_FACTORS_INTERNAL_H
#define AUTOMAP_HLO_MEANING_FACTORS_INTERNAL_H

#include "hlo/meaning/factors.h"
#include "hlo/module/attr.h"
#include "hlo/module/hlo.h"
#include "hlo/module/shape.h"

struct hlo_maker {
    const struct hlo_module *m;
    hlo_id id;
    struct hlo_factors *f;
    uint32_t operands, results; /* leaves */
    bool is_open;               /* a factor is being bound */
    bool failed;                /* out of memory */
};

/* Opens a factor: dims are bound to it until the next begin. NULL, and later bindings are ignored,
 * when there is nothing to split (size below 2). The pointer lives until the next begin. */
struct hlo_factor *hlo_factor_begin(struct hlo_maker *k, int64_t size, enum hlo_factor_kind kind);
void hlo_factor_bind(struct hlo_maker *k, uint32_t leaf, int64_t dim);

/* begin(REDUCE) with its combiner. */
void hlo_factor_begin_reduce(struct hlo_maker *k, int64_t size, enum hlo_combiner c);

const struct hlo_shape *hlo_leaf_shape(const struct hlo_maker *k, uint32_t leaf);
const struct hlo_shape *hlo_result_shape(const struct hlo_maker *k, uint32_t leaf);
/* Size of dim d; -1 when there is no such dim. */
int64_t hlo_dim(const struct hlo_shape *s, int64_t d);

/* Marks listed dims; those out of range are ignored. */
void hlo_mark_dims(struct hlo_maker *k, enum hlo_attr_key key, bool marks[static HLO_RANK_MAX]);

/* One PASS factor per dim of result leaf 0 that is not blocked, over the first `operands` operands
 * and all result leaves that have this dim in the same size and as many dims. */
void hlo_factor_same_dims(struct hlo_maker *k, const bool blocked[static HLO_RANK_MAX],
                          uint32_t operands);

typedef void (*hlo_factor_rule)(struct hlo_maker *k);
#define X(rule) void hlo_factors_##rule(struct hlo_maker *k);
HLO_FACTOR_RULES(X)
#undef X

#endif
