/* tui/commands/search_hybrid.h - automap search --kind hybrid. */
#ifndef AUTOMAP_TUI_COMMANDS_SEARCH_HYBRID_H
#define AUTOMAP_TUI_COMMANDS_SEARCH_HYBRID_H

#include "engine/hybrid/hybrid.h"
#include "engine/problem/problem.h"
#include "tui/options/search_args.h"

/* Returns an exit code. */
int search_hybrid(const struct search_args *a, const struct problem *p);

/* All algorithms on one clock: automap search --kind hybrid --algo race. */
int search_hybrid_race(const struct search_args *a, const struct problem *p,
                       const struct hybrid_options *o);

#endif
