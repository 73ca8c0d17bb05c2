/* engine/plan/plan_json.h - what `automap plan --json` prints: the plan with its costs. */
#ifndef AUTOMAP_ENGINE_PLAN_PLAN_JSON_H
#define AUTOMAP_ENGINE_PLAN_PLAN_JSON_H

#include "engine/plan/plan.h"

/* Appends one JSON object, schema "automap.plan/1". */
int plan_write_json(const struct plan *p, struct str *out, struct err *e) MUST_CHECK;

#endif
