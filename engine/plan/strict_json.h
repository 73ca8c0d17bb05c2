/* engine/plan/strict_json.h - the decisions of a strict plan in its file (plan_json.h). */
#ifndef AUTOMAP_ENGINE_PLAN_STRICT_JSON_H
#define AUTOMAP_ENGINE_PLAN_STRICT_JSON_H

#include "engine/decide/labels.h"
#include "engine/plan/plan.h"
#include "engine/problem/problem.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"

#include <cjson/cJSON.h>

/* From "decisions" of the checked document `root`: all of them at once, a clash is an error. *out
 * is the caller's to release. */
int strict_read_json(const struct problem *p, const cJSON *root, struct plan *out,
                     struct err *e) MUST_CHECK;

/* The value that "parameter" and "leaf" of an entry name; HLO_NONE: the model has none such. */
hlo_value strict_parameter_json(const struct problem *p, const cJSON *o);

/* A list of names of axes as a set; not 0: an unknown one, or one twice. */
int strict_axes_json(const struct problem *p, const cJSON *names, label *out);

#endif
