/* engine/plan/export_jax.h - a plan as Python: mesh and PartitionSpecs for JAX training code.
 *
 * The snippet lists arguments and results of the training step in JAX's flattening order, with
 * name, shape and PartitionSpec. Its distribute() makes the jitted step after checking the number
 * and shapes of the real arguments against the list. Inside the step, JAX's partitioner propagates
 * from arguments and results. */
#ifndef AUTOMAP_ENGINE_PLAN_EXPORT_JAX_H
#define AUTOMAP_ENGINE_PLAN_EXPORT_JAX_H

#include "engine/plan/plan.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

/* Appends the snippet, and to `warnings` one line per thing a person should know: JAX refuses to
 * split arguments unevenly, so such dims stay whole. ERR_MEMORY. */
int export_jax(const struct plan *p, struct str *out, struct str *warnings,
               struct err *e) MUST_CHECK;

/* Checks the lists of such a snippet against the plan. ERR_INPUT on a difference. */
int export_jax_check(const struct plan *p, const char *text, size_t size, struct err *e) MUST_CHECK;

#endif
