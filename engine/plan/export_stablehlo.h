/* engine/plan/export_stablehlo.h - a plan as Shardy annotations on StableHLO.
 *
 * Takes the module that export_hlo writes, inlined, and writes it as StableHLO: mesh, layouts of
 * arguments and results, a constraint after every value and wherever the plan changes a split.
 * Shardy keeps them. Partial sums stay `unreduced` where that is known to be right
 * (partial_sums.h); elsewhere they are combined where they arise, with a warning. */
#ifndef AUTOMAP_ENGINE_PLAN_EXPORT_STABLEHLO_H
#define AUTOMAP_ENGINE_PLAN_EXPORT_STABLEHLO_H

#include "engine/plan/plan.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

/* Appends the module, and to `warnings` one line per thing a person should know. ERR_INPUT:
 * something that StableHLO cannot express; ERR_MEMORY. O(instructions). */
int export_stablehlo(const struct plan *p, struct str *out, struct str *warnings,
                     struct err *e) MUST_CHECK;

/* Checks that such text has the arguments and results of the plan's module, with the arguments
 * split as planned; else ERR_INPUT. The inside was checked before it was translated
 * (export_hlo_check). */
int export_stablehlo_check(const struct plan *p, const char *text, size_t size,
                           struct err *e) MUST_CHECK;

#endif
