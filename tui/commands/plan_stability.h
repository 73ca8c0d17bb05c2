/* tui/commands/plan_stability.h - automap plan --stability: how far each figure may move before
 * another plan is better, in words and as JSON. */
#ifndef AUTOMAP_TUI_COMMANDS_PLAN_STABILITY_H
#define AUTOMAP_TUI_COMMANDS_PLAN_STABILITY_H

#include "engine/exact/stability.h"
#include "engine/plan/plan.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

void plan_stability_print(const struct plan *plan, const struct stability *s);
/* {"schema": "automap.stability/1", ...}, appended. */
int plan_stability_json(const struct plan *plan, const struct stability *s, struct str *out,
                        struct err *e) MUST_CHECK;

#endif
