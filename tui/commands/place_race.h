/* tui/commands/place_race.h - a race of ways to place a graph, as text and for programs. Private to
 * cmd_place.c. */
#ifndef AUTOMAP_TUI_COMMANDS_PLACE_RACE_H
#define AUTOMAP_TUI_COMMANDS_PLACE_RACE_H

#include "engine/place/operator_graph.h"
#include "engine/place/race_placements.h"
#include "engine/place/solve.h"
#include "hlo/support/err.h"

/* A row per contender, best first, and what each had after so many plans priced. */
void place_race_print(const char *name, const struct place_graph *g, const struct place_job *job,
                      const struct place_race *r);

/* schema automap-place-race-1: fingerprint, seed, plans, bound_ms, proven_scope, levels,
 * runners[{algo, value_ms, answers, contiguous, proven, plans, best_at, seconds, curve, why}].
 * ERR_MEMORY. */
int place_race_json(const struct place_graph *g, const struct place_job *job,
                    const struct place_race *r, struct err *e) MUST_CHECK;

#endif
