/* engine/hybrid/export_stages.h - writes the modules of a hybrid plan (stage_modules.h).
 *
 *     stages   JSON of schema automap.stages/1: devices and axes of each stage, its modules as HLO
 *              with what they read and make, the collectives planned in each, the order of passes
 *     jax      the same as a Python program for JAX: a mesh per stage, a loop in that order */
#ifndef AUTOMAP_ENGINE_HYBRID_EXPORT_STAGES_H
#define AUTOMAP_ENGINE_HYBRID_EXPORT_STAGES_H

#include "engine/hybrid/hybrid.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

/* Appended. Errors of stage_modules_new. */
int export_stages(const struct hybrid *h, struct str *out, struct err *e) MUST_CHECK;
int export_stages_jax(const struct hybrid *h, struct str *out, struct err *e) MUST_CHECK;

#endif
