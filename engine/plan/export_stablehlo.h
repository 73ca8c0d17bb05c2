/* engine/plan/export_stablehlo.h - a plan as Shardy annotations on StableHLO.
 *
 * The module is the one export_hlo writes, inlined, read again and written as StableHLO: mesh,
 * layouts of arguments and results, a constraint behind every value and wherever the plan changes a
 * split. Shardy keeps them. Partial sums are kept as `unreduced` where that was proved right
 * (partial_sums.h), and combined where they arise elsewhere, which is said. */
#ifndef AUTOMAP_ENGINE_PLAN_EXPORT_STABLEHLO_H
#define AUTOMAP_ENGINE_PLAN_EXPORT_STABLEHLO_H

#include "engine/plan/plan.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

/* Appends the module, and to `warnings` one line per thing a person should know. ERR_INPUT:
 * something that StableHLO cannot say; ERR_MEMORY. O(instructions). */
int export_stablehlo(const struct plan *p, struct str *out, struct str *warnings,
                     struct err *e) MUST_CHECK;

/* Reads such text again: its arguments and results are those of the plan's module, the arguments
 * split as there. What stands inside was checked before it was translated (export_hlo_check).
 * ERR_INPUT otherwise. */
int export_stablehlo_check(const struct plan *p, const char *text, size_t size,
                           struct err *e) MUST_CHECK;

#endif
