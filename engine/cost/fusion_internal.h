/* engine/cost/fusion_internal.h - what fusion.c and traffic.c share. Private to engine/cost. */
#ifndef AUTOMAP_ENGINE_COST_FUSION_INTERNAL_H
#define AUTOMAP_ENGINE_COST_FUSION_INTERNAL_H

#include "engine/cost/fusion.h"
#include "hlo/module/hlo.h"

/* Another name of its operand's buffer: reshape, bitcast. */
bool fusion_is_alias(uint16_t opcode);

/* Whether all that reads value `v` can do its computation on the fly, looking through tuples and
 * their elements. Counts the readers. `takes` says whether one reader can. */
typedef bool fusion_takes(const void *self, hlo_id reader, hlo_id made);
bool fusion_all_take(const struct hlo_module *m, hlo_value v, fusion_takes *takes, const void *self,
                     uint32_t *readers);

/* Values of about its own size, stored by `is_stored`, that one reads to compute `id`, at most
 * `most` counted: its operands, or through fused operands what those are made of. Vectors beside a
 * matrix cost nothing to read again. reads[o] was found before, operands come first. */
uint8_t fusion_count_reads(const struct hlo_module *m, const hlo_value *buffer,
                           const uint8_t *is_stored, hlo_id id, const uint8_t *reads,
                           unsigned most);

#endif
