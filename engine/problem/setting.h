/* engine/problem/setting.h - decisions as text: "*self*q/kernel:1=1" splits dim 1 of every match.
 * Any thread; keeps no state. O(parameters) a call. */
#ifndef AUTOMAP_ENGINE_PROBLEM_SETTING_H
#define AUTOMAP_ENGINE_PROBLEM_SETTING_H

#include "engine/decide/labels.h"
#include "engine/decide/strict.h"
#include "engine/problem/problem.h"
#include "hlo/support/err.h"

/* Applies a decision such as "*self*q/kernel:1=1". The pattern is a parameter's name as inspect
 * prints it, a glob over such names (* and ?), #17 for parameter number 17, %dot.3 for an
 * instruction, or %while.2#5 for leaf 5 of its result. The value is 0, 1 (the first axis), or names
 * of axes: xy. Decides every match. ERR_INFEASIBLE: a clash; the message names both classes and the
 * place. ERR_INPUT: nothing matches. */
int setting_apply(const struct problem *p, struct strict *s, const char *setting,
                  struct err *e) MUST_CHECK;

/* What setting_apply does to each match: dim `dim` of parameter leaf `param`. O(mesh axes). */
int setting_apply_to(const struct problem *p, struct strict *s, uint32_t param, uint32_t dim,
                     label over, struct err *e) MUST_CHECK;

/* The parts of a setting; `pattern` points into it. */
struct problem_setting {
    const char *pattern;
    size_t size;
    uint32_t dim;
    label over; /* 0: whole */
};
int setting_parse(const struct problem *p, const char *setting, struct problem_setting *out,
                  struct err *e) MUST_CHECK;
/* Whether a setting's pattern (`size` bytes) matches parameter leaf `param`. */
bool setting_names_param(const struct problem *p, uint32_t param, const char *pattern, size_t size);
bool setting_matches(const struct problem *p, const struct problem_setting *s, uint32_t param);

#endif
