/* tui/commands/search_compare.h - automap search --kind all: what it found against the best of each
 * kind. */
#ifndef AUTOMAP_TUI_COMMANDS_SEARCH_COMPARE_H
#define AUTOMAP_TUI_COMMANDS_SEARCH_COMPARE_H

#include "engine/compare/compare.h"
#include "engine/pipeline/pipeline.h"
#include "engine/problem/problem.h"
#include "hlo/support/err.h"
#include "tui/options/search_args.h"

#include <cjson/cJSON.h>

/* `p` and the pipeline's options as the search had them: fewer devices are looked at too. */
void comparison_print(const struct comparison *c, const struct problem *p,
                      const struct pipeline_options *options);
/* Adds "compared_at" {"batch", "memory_limit_bytes" (null: none)} and "kinds", a list whose first
 * is the best. */
void comparison_json(const struct comparison *c, const struct problem *p,
                     const struct pipeline_options *options, cJSON *out);

/* The plan of the first, as a plan file of its kind. */
int comparison_save(const struct comparison *c, const char *path, struct err *e) MUST_CHECK;

#endif
