/* engine/live/best_known.h - the best plan that each act was left with, for when it is in force
 * again: a search made anew knows nothing of what the one before had found. */
#ifndef AUTOMAP_ENGINE_LIVE_BEST_KNOWN_H
#define AUTOMAP_ENGINE_LIVE_BEST_KNOWN_H

#include "engine/live/search_state.h"

#include <stdint.h>

/* The act in force keeps the best plan. Call it before another is put in force. */
void best_keep(struct search_state *c);

/* The act `to` is in force again: the best plan that it, or any act of the same problem, was left
 * with is the best again, where the search knows none as good and the plan is one of its game.
 * Scores each such plan once. */
void best_recall(struct search_state *c, uint32_t to);

#endif
