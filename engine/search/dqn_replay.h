/* engine/search/dqn_replay.h - what was learned from, played again under other pins.
 *
 * A stored decision shows where it was taken: the status of every move, and the position. So its
 * episode can be played again: what the pins settle is as they say, decisions they settle fall out,
 * those they forbid are taken the other way. What comes of it are decisions of the game as it is
 * now, with its rewards. Settings that a person changes need none of this: windows, discounts and
 * priorities are found when a batch is drawn. */
#ifndef AUTOMAP_ENGINE_SEARCH_DQN_REPLAY_H
#define AUTOMAP_ENGINE_SEARCH_DQN_REPLAY_H

#include "engine/search/game.h"
#include "rl/agent.h"
#include "rl/agent_state.h"

struct dqn_replay_note {
    uint32_t before, after; /* decisions in replay */
};

/* The newest `most` decisions take the place of all. The game is left in some episode. Out of
 * memory the replay is emptied. O(most x an observation). */
void dqn_replay_again(struct game *g, struct rl_agent *a, uint32_t most,
                      struct dqn_replay_note *out);

#endif
