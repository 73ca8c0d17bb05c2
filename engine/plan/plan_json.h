/* engine/plan/plan_json.h - the JSON form of a plan: what `automap plan --json` prints and what a
 * plan file holds. engine/plan/README.md lists its keys; plan_file.h reads it back. */
#ifndef AUTOMAP_ENGINE_PLAN_PLAN_JSON_H
#define AUTOMAP_ENGINE_PLAN_PLAN_JSON_H

#include "engine/plan/plan.h"
#include "hlo/meaning/factors.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#define PLAN_SCHEMA "automap.plan/1"

extern const char *const plan_reduction_names[HLO_COMBINE_COUNT]; /* as in options.reductions_off */

/* Appends one JSON object, schema PLAN_SCHEMA. */
int plan_write_json(const struct plan *p, struct str *out, struct err *e) MUST_CHECK;

#endif
