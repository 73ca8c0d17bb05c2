/* rl/run.h - an agent at an environment, one decision at a time.
 *
 *     struct rl_run run;
 *     rl_run_init(&run, &env, agent, seed);
 *     for (...) { rl_run_step(&run, -1, &step); ... }
 *     rl_run_release(&run);
 * Agent and environment are borrowed. The environment has a stream of random numbers of its own. */
#ifndef AUTOMAP_RL_RUN_H
#define AUTOMAP_RL_RUN_H

#include "rl/agent.h"
#include "rl/agent_state.h"
#include "rl/env.h"
#include "rl/error.h"
#include "rl/learner.h"
#include "rl/rng.h"

struct rl_run {
    struct rl_env env;
    struct rl_agent *agent;
    struct rl_rng rng;
    float *now, *next; /* [observation_size] */
    uint64_t legal;    /* of `now` */
    uint32_t context;
    bool playing;      /* in the middle of an episode */
    uint32_t length;   /* of the present or, when not playing, the last episode */
    double reward_sum; /* of that episode, undiscounted */
};

/* What one decision did. */
struct rl_step {
    uint32_t action;
    bool explored, forced;
    float reward;
    enum rl_end end;
    int updates;             /* trainings that followed */
    struct rl_update update; /* the last, if updates > 0 */
    uint32_t length;         /* of the episode so far */
    double reward_sum;
};

int rl_run_init(struct rl_run *r, const struct rl_env *env, struct rl_agent *agent,
                uint64_t seed) RL_MUST_CHECK;
void rl_run_release(struct rl_run *r);

/* Begins an episode if none is under way; then r->now, r->legal and r->context are the position
 * that is decided next, for a person to look at. */
void rl_run_ready(struct rl_run *r);

/* The environment stands in the middle of an episode of `length` decisions already, as one that was
 * saved and played again: goes on from there. */
void rl_run_go_on(struct rl_run *r, uint32_t length, double reward_sum);

/* One decision: the agent's, or `forced` if that is >= 0 (it must be legal: RL_E_SHAPE). 0 or a
 * negative error of rl_agent_learn. */
int rl_run_step(struct rl_run *r, int forced, struct rl_step *out) RL_MUST_CHECK;

/* Decisions up to the end of an episode, at most `most` of them; *out is the last. */
int rl_run_episode(struct rl_run *r, uint32_t most, struct rl_step *out) RL_MUST_CHECK;

/* Leaves the episode where it stands. */
void rl_run_cut(struct rl_run *r);

/* One episode of the environment by the agent's best actions alone, with the given share of random
 * ones, learning nothing. Not on the environment of a run that is in the
 * middle of an episode. *reward_sum is what it earned; random draws come from *rng only. */
int rl_run_trial(struct rl_agent *a, const struct rl_env *env, double epsilon, struct rl_rng *rng,
                 double *reward_sum) RL_MUST_CHECK;

#endif
