/* hlo/module/whole_number.h - whole numbers that are known before a step runs: counters of loops,
 * and what they index. */
#ifndef AUTOMAP_HLO_MODULE_WHOLE_NUMBER_H
#define AUTOMAP_HLO_MODULE_WHOLE_NUMBER_H

#include "hlo/module/hlo.h"
#include "hlo/module/shape.h"

enum { HLO_FOLD_OPERANDS_MOST = 3 };

/* A scalar that is no float, with at most so many operands: hlo_fold may know it. */
bool hlo_can_fold(const struct hlo_module *m, hlo_id id);
/* Its value, given those of its operands: a constant, or the arithmetic of counters. False: not
 * known. */
bool hlo_fold(const struct hlo_module *m, hlo_id id, const int64_t *operands, int64_t *out);

/* The one dim along which `part`, an array of 1 in it, is a slice of `whole`. */
bool hlo_slice_dim(const struct hlo_shape *whole, const struct hlo_shape *part, uint32_t *dim);

#endif
