/* engine/plan/plan_settings.h - a plan as the shortest list of decisions that makes it, in the form
 * of setting_apply.
 *
 * It leaves out what another decision settles, and whatever stays whole. */
#ifndef AUTOMAP_ENGINE_PLAN_PLAN_SETTINGS_H
#define AUTOMAP_ENGINE_PLAN_PLAN_SETTINGS_H

#include "engine/plan/plan.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

/* Appends "BEFORE'NAME:DIM=1'" for each, quoted for a shell; `before` is for example " --set ".
 * Parameters come first; instructions only for what they leave open. ERR_INPUT: a split class has
 * no name to refer to. O(dims), and O(instructions) for each named one. */
int plan_settings_write(const struct plan *p, const char *before, struct str *out,
                        struct err *e) MUST_CHECK;

/* Calls `take` for every --set '...' in a text, or for every text in the list "pins" of a JSON
 * object; `setting` is valid during the call. Returns the first non-zero result of `take`;
 * ERR_INPUT with the position of a bad text. O(size). */
int plan_settings_each(const char *text, size_t size,
                       int (*take)(void *context, const char *setting, struct err *e),
                       void *context, struct err *e) MUST_CHECK;

/* Applies every --set '...' in a text: ERR_INPUT unless that gives the plan. */
int plan_settings_check(const struct plan *p, const char *text, struct err *e) MUST_CHECK;

#endif
