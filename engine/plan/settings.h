/* engine/plan/settings.h - a plan in as few words as it takes: the decisions that make it, in the
 * form of setting_apply.
 *
 * What a decision settles for others is not said again, and what stays whole is not said at all. */
#ifndef AUTOMAP_ENGINE_PLAN_SETTINGS_H
#define AUTOMAP_ENGINE_PLAN_SETTINGS_H

#include "engine/plan/plan.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

/* Appends "BEFORE'NAME:DIM=1'" for each, the quotes as a shell wants them; `before` is such as
 * " --set ". Parameters are named first; instructions only for what they leave open. ERR_INPUT when
 * a split class goes by no name. O(dims), and O(instructions) for each named one. */
int plan_settings_write(const struct plan *p, const char *before, struct str *out,
                        struct err *e) MUST_CHECK;

/* Calls `take` for every --set '...' of a text, or every text of the list "pins" when it is a JSON
 * object; `setting` is valid during the call. Returns what `take` did when not 0; ERR_INPUT with
 * the place of a bad text. O(size). */
int plan_settings_each(const char *text, size_t size,
                       int (*take)(void *context, const char *setting, struct err *e),
                       void *context, struct err *e) MUST_CHECK;

/* Reads every --set '...' of a text and decides it: ERR_INPUT unless that is the plan. */
int plan_settings_check(const struct plan *p, const char *text, struct err *e) MUST_CHECK;

#endif
