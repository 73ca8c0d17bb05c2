/* engine/plan/recompute_report.h - reports what to keep and what to compute again in terms people
 * who train models know: values by source line and scope, the front, stock policies, and code to
 * paste. */
#ifndef AUTOMAP_ENGINE_PLAN_RECOMPUTE_REPORT_H
#define AUTOMAP_ENGINE_PLAN_RECOMPUTE_REPORT_H

#include "engine/plan/recompute_at.h"
#include "engine/recompute/recompute.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

/* Appends the full report for a limit of `limit` bytes (INFINITY: none): the choice, its rows, the
 * front, policies. */
int recompute_write(const struct plan_recompute *r, const struct recompute_choice *c, double limit,
                    struct str *out, struct err *e) MUST_CHECK;
/* As JSON, schema automap.recompute/1. Appended. */
int recompute_write_json(const struct plan_recompute *r, const struct recompute_choice *c,
                         double limit, struct str *out, struct err *e) MUST_CHECK;

#endif
