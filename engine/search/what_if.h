/* engine/search/what_if.h - weak propagation: what a split out of turn would gain, asked for the
 * same moves at every decision.
 *
 * Splitting a move of one class often settles half of the model, and nearly the same half at every
 * decision of an episode. So a state is kept for each such move, in which it is split and the
 * decisions of the game were made as well; it follows the game by what was decided since, and is
 * taken back with it. A question costs what these decisions settle, not what the split does: an
 * episode as a whole is linear in the model for each move, where trying anew is quadratic.
 *
 * The split comes first there and last in the game. Propagation is not quite free of order (only
 * settled values wake others, excluded dims do not), so an answer could differ from that of trying;
 * on no shipped model does it (test_engine_what_if).
 *
 * Follows the decisions on the game's own state (struct weak), whoever makes them: episodes, pins,
 * openings, players that try and undo. Not thread-safe; one per game. */
#ifndef AUTOMAP_ENGINE_SEARCH_WHAT_IF_H
#define AUTOMAP_ENGINE_SEARCH_WHAT_IF_H

#include <stdbool.h>
#include <stdint.h>

struct game;
struct what_ifs; /* of one game */

/* States kept; a question about another move then takes the place of the one asked longest ago. */
enum { WHAT_IF_MOST = 16 };

/* Of a game with weak propagation: ln(step now / step with `move`, which is open, split too).
 * -INFINITY: a conflict. NAN: no memory; to be tried on the game itself. Leaves the game as it is.
 */
double what_if_split(struct game *g, uint32_t move);
/* Values and dims settled for the answers so far. */
uint64_t what_if_settled(const struct game *g);
void what_ifs_free(struct what_ifs *w); /* may be NULL */

#endif
