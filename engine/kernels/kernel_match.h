/* engine/kernels/kernel_match.h - one instruction under one rule: its loop indices, and what
 * expressions ask of it. Private to engine/kernels. */
#ifndef AUTOMAP_ENGINE_KERNELS_KERNEL_MATCH_H
#define AUTOMAP_ENGINE_KERNELS_KERNEL_MATCH_H

#include "engine/kernels/kernel_check.h"
#include "engine/kernels/kernel_text.h"
#include "engine/text/yaml.h"
#include "hlo/meaning/kernels.h"
#include "hlo/module/attr.h"
#include "hlo/module/hlo.h"
#include "hlo/module/shape.h"

struct kernel_index {
    char name[KERNEL_NAME_ROOM]; /* "b.0": the first of leading dims b.. */
    int64_t size;                /* 0: not seen */
    int8_t dims[KERNEL_LEAVES_MOST];
    bool in_operand, in_result, is_whole, is_leading;
    uint8_t combiner; /* enum hlo_combiner of the partial results that splitting it leaves */
};

struct kernel_match {
    const struct hlo_module *m;
    hlo_id id;
    uint32_t operands, leaves; /* operands come first; all are arrays */
    struct kernel_index items[KERNEL_NAMES_MOST];
    uint32_t count;
    const char *dims;
    const struct yaml *lets, *wrong; /* wrong: the let that an error is in */
    int depth;
};

/* Fits `dims` (kernel_rules.h) onto the leaves, and lists the indices. */
bool kernel_fit(struct kernel_match *k, const char *dims);

/* The index called so, made where there is none; NULL: too many, or too long a name. */
struct kernel_index *kernel_index_of(struct kernel_match *k, const char *name, size_t size);

const struct hlo_shape *kernel_leaf_shape(const struct kernel_match *k, uint32_t leaf);
const struct hlo_attr *kernel_config_of(const struct kernel_match *k); /* or NULL */

/* Sizes, lets, config.PATH, bytes(), elements() and product() of the instruction. */
struct kernel_scope kernel_scope_of(struct kernel_match *k);

#endif
