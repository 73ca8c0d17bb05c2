/* engine/search/move_features.h - a decision of the game described by what it does, so that one
 * network fits every model.
 *
 * Both actions are tried and taken back. Of each: what it gains at once, and where the step ends
 * when three simple players go on from there (all else whole; the better action at each position;
 * every split that is allowed), over the best of all these; what it changes of computation and
 * communication; what it settles; the best single gain that is left among the moves in conflict
 * with it. Beside these: the step so far, the size of the move, the mesh, the memory. All ratios;
 * nothing depends on how many moves there are or how large the model is. Of the cost reward only.
 */
#ifndef AUTOMAP_ENGINE_SEARCH_MOVE_FEATURES_H
#define AUTOMAP_ENGINE_SEARCH_MOVE_FEATURES_H

#include "engine/search/game.h"

enum { MOVE_FEATURES = 42 };

/* Rows of both actions at the present position (0 whole, 1 split), and which are legal: where only
 * one is, there is nothing to describe, and the rows are zero. The game is as it was.
 * O(MOVE_ROLLOUT_MOST decisions). */
enum { MOVE_ROLLOUT_MOST = 48 };
uint32_t move_describe(struct game *g, float rows[2 * MOVE_FEATURES]);

#endif
