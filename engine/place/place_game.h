/* engine/place/place_game.h - placement as a game: positions in topological order, a device for
 * each.
 *
 * A move is a device; the loads so far, cut nets among them, are bounds of what can still come
 * (partial_placement.h). The reward of a move is what it adds to ln(largest load / bound), below
 * the bound nothing, so an episode earns -ln(value / bound), whatever the discount of 1 adds up.
 * Moves that break kinds, pins, memory or, for contiguous plans, the order of devices are not
 * legal; where none is, the episode ends with PLACE_DEAD_END. Of equal devices without positions
 * only the first is legal. One thread. */
#ifndef AUTOMAP_ENGINE_PLACE_PLACE_GAME_H
#define AUTOMAP_ENGINE_PLACE_PLACE_GAME_H

#include "engine/place/nets.h"
#include "engine/place/operator_graph.h"
#include "engine/place/partial_placement.h"
#include "engine/place/prepare.h"
#include "hlo/support/err.h"
#include "rl/env.h"

#define PLACE_DEAD_END (-2.0)
enum { PLACE_GAME_DEVICES_MOST = 64 }; /* bits of a word */

struct place_game {
    const struct place_nets *n;
    struct place_prepared *prepared; /* contiguous plans, else NULL; owned, as n is */
    struct place_partial *part;
    struct place_load *whole;                 /* scratch for the finished plan */
    uint32_t *order;                          /* positions as they are decided */
    uint32_t at;                              /* decided so far */
    uint64_t legal;                           /* bit d: the next position may be on d */
    uint64_t behind[PLACE_GAME_DEVICES_MOST]; /* by device: those that edges lead to, near or far */
    double bound_ms;                          /* > 0 */
    double value_ms;                          /* of the finished plan; INFINITY: a dead end */
};

/* ERR_LIMIT: more than PLACE_GAME_DEVICES_MOST devices. ERR_INFEASIBLE: no device at all. */
int place_game_new(const struct place_graph *g, const struct place_rules *rules, bool any_sets,
                   double bound_ms, struct place_game **out, struct err *e) MUST_CHECK;
void place_game_free(struct place_game *g); /* NULL is fine */

void place_game_reset(struct place_game *g);
bool place_game_is_over(const struct place_game *g);
/* `device` is legal. Returns the reward. O(nets of the position x devices). */
double place_game_play(struct place_game *g, uint32_t device);

/* The game for a learner: loads, the load after a move and the neighbours' share by device, then
 * progress and the position's own figures. `g` is borrowed. */
struct rl_env place_game_env(struct place_game *g);

#endif
