/* rl/env.h - what an environment offers the learner.
 *
 * An environment is a set of callbacks over its own data `self`. Each receives the random stream it
 * draws from, so a run is a function of its seed. Positions with one legal action are best skipped
 * within reset and step (a pinned decision is no decision); otherwise they are learned like any
 * other. Callbacks run in the thread that drives the agent and must not keep the pointers they
 * receive. */
#ifndef AUTOMAP_RL_ENV_H
#define AUTOMAP_RL_ENV_H

#include "rl/action_set.h"
#include "rl/rng.h"

#include <stddef.h>
#include <stdint.h>

enum {
    RL_OBSERVATION_MAX = 1 << 16, /* floats */
    RL_CONTEXTS_MAX = 1 << 20,
};

enum rl_end {
    RL_GOES_ON = 0,
    RL_TERMINATED = 1, /* nothing follows: the value of what follows is 0 */
    RL_TRUNCATED = 2,  /* cut short from outside (a time limit): what would follow still has a
                          value */
};

struct rl_outcome {
    float reward; /* scale it to about +-1 */
    enum rl_end end;
};

struct rl_env {
    void *self;
    uint32_t observation_size; /* floats, 1 .. RL_OBSERVATION_MAX */
    uint32_t action_count;     /* 2 .. RL_ACTIONS_MAX */
    uint32_t context_count;    /* kinds of position, for counting visits; 0 counts as 1 */

    void (*reset)(void *self, struct rl_rng *rng);
    struct rl_outcome (*step)(void *self, uint32_t action, struct rl_rng *rng);

    /* Writes the current position to out[observation_size]. Also called after the last step. */
    void (*observe)(void *self, float *out);

    /* Writes the set of the actions that are legal now (rl/action_set.h, rl_words(action_count)
     * words). Never empty while the episode goes on. NULL: all actions. */
    void (*legal)(void *self, uint64_t *out);

    /* The kind of the current position, below context_count. NULL: always 0. */
    uint32_t (*context)(void *self);

    /* The bytes that hold everything that changes, if they are plain data (no pointers). With them
     * rl_run_save works in the middle of an episode; with NULL and 0 only between episodes. */
    void *state;
    size_t state_size;
};

#endif
