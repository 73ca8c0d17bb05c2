/* tui/commands/search_pipeline.h - automap search --kind pp. */
#ifndef AUTOMAP_TUI_COMMANDS_SEARCH_PIPELINE_H
#define AUTOMAP_TUI_COMMANDS_SEARCH_PIPELINE_H

#include "engine/pipeline/pipeline.h"
#include "engine/problem/problem.h"
#include "tui/options/search_args.h"

/* Searches, prints, writes --plan. Returns an exit code. */
int search_pipeline(const struct search_args *a, const struct problem *p);

/* Algorithms on equally many plans priced by L: automap search --kind pp --algo race. */
int search_pipeline_race(const struct search_args *a, const struct pipeline *l);

#endif
