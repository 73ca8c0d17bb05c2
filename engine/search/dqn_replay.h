/* engine/search/dqn_replay.h - replays stored decisions under new pins.
 *
 * A stored decision records the status of every move and the position, so its episode can be played
 * again: what the pins settle follows the pins, decisions they settle are dropped, and decisions
 * they forbid are reversed. The result is decisions, with rewards, of the game as it is now.
 * Changed settings need no replay: windows, discounts and priorities are computed when a batch is
 * drawn. */
#ifndef AUTOMAP_ENGINE_SEARCH_DQN_REPLAY_H
#define AUTOMAP_ENGINE_SEARCH_DQN_REPLAY_H

#include "engine/search/game.h"
#include "rl/agent.h"
#include "rl/agent_state.h"

struct dqn_replay_note {
    uint32_t before, after; /* decisions in replay */
    uint32_t times;         /* that it was replaced */
};

/* Replaces the stored decisions by the newest `most` of them, played again, and counts that in
 * *out. Leaves the game in some episode. Out of memory it empties the replay. O(most x observation
 * size). */
void dqn_replay_again(struct game *g, struct rl_agent *a, uint32_t most,
                      struct dqn_replay_note *out);

#endif
