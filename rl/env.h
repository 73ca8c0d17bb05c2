/* rl/env.h - what the learner asks of the thing it learns to play.
 *
 * An environment is plain callbacks over its own data `self`. The learner draws nothing for it: a
 * stream of random numbers is handed in, so that a run is a function of its seed. Positions with
 * one legal action are best skipped inside reset and step (a pinned decision is no decision); if
 * they are not, they are learned like any other.
 * Called from the thread that drives the agent; none of the callbacks may keep its pointers. */
#ifndef AUTOMAP_RL_ENV_H
#define AUTOMAP_RL_ENV_H

#include "rl/rng.h"

#include <stddef.h>
#include <stdint.h>

enum {
    RL_ACTIONS_MAX = 64,          /* a set of legal actions is the bits of one uint64_t */
    RL_OBSERVATION_MAX = 1 << 16, /* floats */
    RL_CONTEXTS_MAX = 1 << 20,
};

enum rl_end {
    RL_GOES_ON = 0,
    RL_TERMINATED = 1, /* nothing follows: the value of what follows is 0 */
    RL_TRUNCATED = 2,  /* cut short from outside (a time limit): what follows still has a value */
};

struct rl_outcome {
    float reward; /* scale it to about +-1 */
    enum rl_end end;
};

struct rl_env {
    void *self;
    uint32_t observation_size; /* floats, 1 .. RL_OBSERVATION_MAX */
    uint32_t action_count;     /* 2 .. RL_ACTIONS_MAX */
    uint32_t context_count;    /* kinds of position that visits are counted by; 0 is read as 1 */

    void (*reset)(void *self, struct rl_rng *rng);
    struct rl_outcome (*step)(void *self, uint32_t action, struct rl_rng *rng);

    /* Writes the present position into out[observation_size]. Also asked after the last step. */
    void (*observe)(void *self, float *out);

    /* Bit a set: action a is legal now. Never 0 while the episode goes on. NULL: all are. */
    uint64_t (*legal)(void *self);

    /* Which of the context_count kinds the present position is. NULL: always 0. */
    uint32_t (*context)(void *self);

    /* The bytes that hold everything that changes, if they are plain data (no pointers):
     * rl_run_save then stores a run in the middle of an episode. NULL and 0: runs are saved between
     * episodes. */
    void *state;
    size_t state_size;
};

/* All actions of an environment of n actions, as a mask. */
static inline uint64_t rl_all_actions(uint32_t n)
{
    return n >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << n) - 1;
}

#endif
