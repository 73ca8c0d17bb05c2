/* engine/problem/setting.h - decisions in words: "*self*q/kernel:1=1" splits dim 1 of every match.
 * Thread: any; nothing is kept. O(parameters) a call. */
#ifndef AUTOMAP_ENGINE_PROBLEM_SETTING_H
#define AUTOMAP_ENGINE_PROBLEM_SETTING_H

#include "engine/decide/labels.h"
#include "engine/decide/strict.h"
#include "engine/problem/problem.h"
#include "hlo/support/err.h"

/* A decision asked for by name: "*self*q/kernel:1=1". The pattern is a parameter's name as
 * inspect prints it, a glob over it (* and ?), #17 for parameter number 17, or %dot.3 for an
 * instruction, %while.2#5 for leaf 5 of its result. The value is 0, 1
 * (the first axis), or names of axes: xy. Decides every match; a clash is ERR_INFEASIBLE with both
 * classes and the place in the sentence; a pattern that matches nothing ERR_INPUT. */
int setting_apply(const struct problem *p, struct strict *s, const char *setting,
                  struct err *e) MUST_CHECK;

/* The same, taken apart: which dims it speaks of (pattern points into `setting`). */
struct problem_setting {
    const char *pattern;
    size_t size;
    uint32_t dim;
    label over; /* 0: whole */
};
int setting_parse(const struct problem *p, const char *setting, struct problem_setting *out,
                  struct err *e) MUST_CHECK;
/* Whether a pattern (as of a setting, `size` bytes) means parameter leaf `param`. */
bool setting_names_param(const struct problem *p, uint32_t param, const char *pattern, size_t size);
bool setting_matches(const struct problem *p, const struct problem_setting *s, uint32_t param);

#endif
