/* hlo/module/check_types.h - the element types that StableHLO lets meet in one operation.
 *
 * HLO's floating-point types may differ within many instructions, and XLA looks at few of the
 * types that computations are applied to; StableHLO's verifier looks at all. What it refuses is
 * refused of a module read as StableHLO, and not written as StableHLO. Rules: StablehloOps.td and
 * TypeInference.cpp of StableHLO. */
#ifndef AUTOMAP_HLO_MODULE_CHECK_TYPES_H
#define AUTOMAP_HLO_MODULE_CHECK_TYPES_H

#include "hlo/module/hlo.h"

/* NULL if StableHLO takes the types of `id`, of its operands and of what it calls; else what they
 * should be, `expected` and all. Parameters of what it calls must have been counted. Thread-safe.
 * O(operands). */
const char *hlo_stablehlo_types(const struct hlo_module *m, hlo_id id);

#endif
