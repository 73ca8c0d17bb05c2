/* tui/commands/search_compare.h - automap search --kind all: what it found against the best of each
 * kind. */
#ifndef AUTOMAP_TUI_COMMANDS_SEARCH_COMPARE_H
#define AUTOMAP_TUI_COMMANDS_SEARCH_COMPARE_H

#include "engine/compare/compare.h"
#include "engine/problem/problem.h"
#include "hlo/support/err.h"
#include "tui/options/search_args.h"

#include <cjson/cJSON.h>

/* `p` as the search had it: fewer of its devices are looked at too. */
void comparison_print(const struct comparison *c, const struct problem *p);
/* Adds "compared_at" {"batch", "memory_limit_bytes" (null: none)} and "kinds", a list whose first
 * is the best. */
void comparison_json(const struct comparison *c, const struct problem *p, cJSON *out);

/* A line when fewer devices than `p` has take less than `step_ms` (engine/compare/fewer.h); nothing
 * when none do, or on any error. */
void fewer_print(const struct problem *p, double step_ms);

/* The plan of the first, as a plan file of its kind. */
int comparison_save(const struct comparison *c, const char *path, struct err *e) MUST_CHECK;

#endif
