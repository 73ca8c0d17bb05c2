/* hlo/module/special.h - custom-calls that are element-wise functions, such as StableHLO's
 * `chlo.lgamma`. HLO has no opcode for them and XLA expands each into dozens of instructions; here
 * each stays one. The counts are those of HloCostAnalysis on XLA's expansion (jax 0.10.2,
 * as_text("hlo")). */
#ifndef AUTOMAP_HLO_MODULE_SPECIAL_H
#define AUTOMAP_HLO_MODULE_SPECIAL_H

#include "hlo/module/hlo.h"

struct hlo_special {
    const char *target;              /* of the custom-call */
    uint16_t flops, transcendentals; /* for one f32 element */
    uint16_t flops_f64;              /* 0: as f32 */
    uint8_t converts;                /* extra flops for f16 and bf16, which are computed as f32 */
    uint16_t flops_complex, transcendentals_complex; /* 0: not defined on complex numbers */
    /* Where the first operand is constant, and XLA folds what it alone decides; 0: as otherwise. */
    uint16_t flops_constant, transcendentals_constant;
};

/* NULL: not such a custom-call. O(functions) for custom-calls, else O(1). */
const struct hlo_special *hlo_special_of(const struct hlo_module *m, hlo_id id);

/* What XLA makes of a function of complex numbers, counted likewise for one number: StableHLO's
 * complex math expander writes it with real ones before anything runs. */
struct hlo_complex_function {
    uint16_t opcode, flops, transcendentals;
};
/* NULL: it runs as it stands. O(1). */
const struct hlo_complex_function *hlo_complex_function_of(uint16_t opcode);

/* The opcode by which the instruction fuses and runs: its own, or for such a custom-call that of a
 * transcendental function. */
uint16_t hlo_acts_as(const struct hlo_module *m, hlo_id id);

#endif
