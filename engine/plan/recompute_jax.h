/* engine/plan/recompute_jax.h - a choice of what to keep as code for jax.checkpoint. */
#ifndef AUTOMAP_ENGINE_PLAN_RECOMPUTE_JAX_H
#define AUTOMAP_ENGINE_PLAN_RECOMPUTE_JAX_H

#include "engine/plan/recompute_at.h"
#include "engine/plan/recompute_rows.h"
#include "engine/recompute/recompute.h"
#include "hlo/support/mem.h"

#include <stdint.h>

/* Appends Python: names for kept values, and a policy for each kind of layers; with the stock
 * policy and the settings of other trainers where they say the same. `rows` and `policies` are
 * those of the choice. Out of memory, `out` has failed. */
void recompute_write_jax(const struct plan_recompute *r, const struct recompute_choice *c,
                         const struct recompute_row *rows, uint32_t row_count,
                         const struct recompute_policy *policies, uint32_t policy_count,
                         struct str *out);

#endif
