/* hlo/module/special.h - custom-calls that are element-wise functions: StableHLO's `chlo.lgamma`
 * and its like, for which HLO has no opcode and XLA writes dozens of instructions. They are kept as
 * one each. The counts are those of XLA's expansion (jax 0.10.2, as_text("hlo"): HloCostAnalysis of
 * it). */
#ifndef AUTOMAP_HLO_MODULE_SPECIAL_H
#define AUTOMAP_HLO_MODULE_SPECIAL_H

#include "hlo/module/hlo.h"

struct hlo_special {
    const char *target;              /* of the custom-call */
    uint16_t flops, transcendentals; /* of an element of f32 */
    uint16_t flops_f64;              /* 0: as f32 */
    uint8_t converts;                /* more of f16 and bf16, which are computed as f32 */
    uint16_t flops_complex, transcendentals_complex; /* 0: not of complex numbers */
};

/* NULL: another instruction. O(functions), O(1) unless it is a custom-call. */
const struct hlo_special *hlo_special_of(const struct hlo_module *m, hlo_id id);

/* The opcode that tells how it fuses and runs: its own; of such a custom-call that of a
 * transcendental function. */
uint16_t hlo_acts_as(const struct hlo_module *m, hlo_id id);

#endif
