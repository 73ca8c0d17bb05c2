/* engine/cost/fusion_internal.h - what fusion.c and traffic.c share. Private to engine/cost. */
#ifndef AUTOMAP_ENGINE_COST_FUSION_INTERNAL_H
#define AUTOMAP_ENGINE_COST_FUSION_INTERNAL_H

#include "engine/cost/fusion.h"
#include "hlo/module/hlo.h"

/* Another name of its operand's buffer: reshape, bitcast. */
bool fusion_is_alias(uint16_t opcode);

/* Whether every reader of value `v` can compute it on the fly, looking through tuples and their
 * elements; `takes` answers for one reader. *readers receives their number. */
typedef bool fusion_takes(const void *self, hlo_id reader, hlo_id made);
bool fusion_all_take(const struct hlo_module *m, hlo_value v, fusion_takes *takes, const void *self,
                     uint32_t *readers);

/* Counts, up to `most`, the stored values of about the size of `id` that computing it reads: its
 * operands or, through fused operands, theirs. Much smaller values, such as a vector beside a
 * matrix, do not count. reads[o] must be known for each operand. */
uint8_t fusion_count_reads(const struct hlo_module *m, const hlo_value *buffer,
                           const uint8_t *is_stored, hlo_id id, const uint8_t *reads,
                           unsigned most);

#endif
