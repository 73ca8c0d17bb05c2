/* engine/search/game_moves.h - what a game decides, and in which order. Private to engine/search.
 */
#ifndef AUTOMAP_ENGINE_SEARCH_GAME_MOVES_H
#define AUTOMAP_ENGINE_SEARCH_GAME_MOVES_H

#include "engine/search/game.h"
#include "hlo/support/err.h"

/* Fills moves, pool and move_of of a game whose options and fold, or weak rules, are there: the
 * classes of each colour on each axis or, where propagation is weak, each dim of each variable or
 * input; largest group first. What fails leaves them to game_release. O(classes log classes and
 * what they meet). ERR_MEMORY. */
int game_make_moves(struct game *g, struct err *e) MUST_CHECK;

#endif
