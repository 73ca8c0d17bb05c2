/* engine/search/move_features.h - describes a decision of the game by its effects, so that one
 * network fits every model.
 *
 * Both actions are tried and undone. Features of each: its immediate gain; the final step when
 * three simple players continue from there (all else whole; the better action at each position;
 * every allowed split), relative to the best of them all; the change in computation and
 * communication; what it settles; the best single gain left among the moves that conflict with it.
 * Also the step so far, the size of the move, and the mesh. All are ratios; nothing depends on the
 * number of moves or the size of the model. A memory limit shows in the gain and where players end,
 * through the worth of plans over it (budget.h); players choose by step time. For the cost reward
 * only. */
#ifndef AUTOMAP_ENGINE_SEARCH_MOVE_FEATURES_H
#define AUTOMAP_ENGINE_SEARCH_MOVE_FEATURES_H

#include "engine/search/game.h"

enum { MOVE_FEATURES = 42 };

/* Fills the rows of both actions at the current position (0 whole, 1 split) and returns the legal
 * ones as game_legal does; if only one is legal, the rows are zero. Leaves the game unchanged.
 * O(MOVE_ROLLOUT_MOST decisions), and with a limit 7 peaks. */
enum { MOVE_ROLLOUT_MOST = 48 };
uint32_t move_describe(struct game *g, float rows[2 * MOVE_FEATURES]);

#endif
