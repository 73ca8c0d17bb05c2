/* rl/agent_state.h - the inside of an agent, for agent.c and save_agent.c. */
#ifndef AUTOMAP_RL_AGENT_STATE_H
#define AUTOMAP_RL_AGENT_STATE_H

#include "rl/agent.h"
#include "rl/learner.h"
#include "rl/replay.h"
#include "rl/rng.h"
#include "rl/settings.h"
#include "rl/taught.h"

/* Streams of an agent's seed; RL_STREAM_ENV is for the environment it plays (rl/run.c). */
enum { RL_STREAM_INIT, RL_STREAM_ACT, RL_STREAM_DRAW, RL_STREAM_ENV };

struct rl_agent {
    struct rl_shape shape;
    struct rl_settings settings;
    struct rl_learner learner;
    struct rl_replay replay;
    struct rl_batch batch; /* its arrays lie in batch_block */
    void *batch_block;
    struct rl_rng act, draw;
    uint64_t decisions, explored, episodes;
    uint64_t epsilon_origin;         /* decision at which epsilon_start held, */
    uint64_t epsilon_origin_episode; /* and episode */
    double held_epsilon;             /* < 0: the schedule decides */
    struct rl_update last;
    uint32_t *visits;         /* [context_count x action_count] */
    struct rl_lesson *lesson; /* filled by every decision; NULL: nobody looks */
    bool chosen;              /* the next decision, by rl_agent_choose; and how: */
    bool random;
    double dice, dice_epsilon;
};

#endif
