/* tui/commands/search_race.h - automap search --algo race. */
#ifndef AUTOMAP_TUI_COMMANDS_SEARCH_RACE_H
#define AUTOMAP_TUI_COMMANDS_SEARCH_RACE_H

#include "engine/problem/problem.h"
#include "engine/search/game.h"
#include "tui/options/search_args.h"

/* Races until the limits of `a` (default: 10000 plans each), prints who led when. An exit code. */
int search_race(const struct search_args *a, const struct problem *p, const struct game_pin *pins,
                size_t pin_count);

#endif
