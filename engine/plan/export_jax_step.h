/* engine/plan/export_jax_step.h - a plan, strict or relaxed, as Python that applies it to unchanged
 * JAX code.
 *
 * The file holds the whole step as annotated StableHLO (export_stablehlo.h), and a loader, which
 * exports the user's own step, checks that it is the planned program, puts the annotated module in
 * its place, and jits it with the planned layouts of arguments and results. */
#ifndef AUTOMAP_ENGINE_PLAN_EXPORT_JAX_STEP_H
#define AUTOMAP_ENGINE_PLAN_EXPORT_JAX_STEP_H

#include "engine/plan/plan.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

/* Appends the file, and to `warnings` those of export_stablehlo and that the step calls Python
 * back, which jax.export does not carry. ERR_INPUT: StableHLO cannot
 * express the step; ERR_MEMORY. */
int export_jax_step(const struct plan *p, struct str *out, struct str *warnings,
                    struct err *e) MUST_CHECK;

#endif
