/* rl/run.h - an agent plays an environment, one decision at a time.
 *
 *     struct rl_run run;
 *     rl_run_init(&run, &env, agent, seed);
 *     for (...) { rl_run_step(&run, -1, &step); ... }
 *     rl_run_release(&run);
 * Agent and environment are borrowed. The environment has its own random stream. */
#ifndef AUTOMAP_RL_RUN_H
#define AUTOMAP_RL_RUN_H

#include "rl/action_set.h"
#include "rl/agent.h"
#include "rl/agent_state.h"
#include "rl/env.h"
#include "rl/error.h"
#include "rl/learner.h"
#include "rl/rng.h"
#include "rl/settings.h"

struct rl_run {
    struct rl_env env;
    struct rl_agent *agent;
    struct rl_rng rng;
    float *now, *next;            /* [observation_size] */
    uint64_t legal[RL_WORDS_MAX]; /* of `now` */
    uint32_t context;
    bool playing;      /* in the middle of an episode */
    uint32_t length;   /* of the current or, when not playing, the last episode */
    double reward_sum; /* of that episode, undiscounted */
};

/* What one decision did. */
struct rl_step {
    uint32_t action;
    bool explored, forced;
    float reward;
    enum rl_end end;
    int updates;             /* updates that followed */
    struct rl_update update; /* the last, if updates > 0 */
    uint32_t length;         /* of the episode so far */
    double reward_sum;
};

int rl_run_init(struct rl_run *r, const struct rl_env *env, struct rl_agent *agent,
                uint64_t seed) RL_MUST_CHECK;
void rl_run_release(struct rl_run *r);

/* A new agent of the environment's shape, and a run of it, both from `seed`: rl_run_free ends both.
 * On an error there is nothing to free, and r->agent is NULL. */
int rl_run_new(struct rl_run *r, const struct rl_env *env, const struct rl_settings *settings,
               uint64_t seed) RL_MUST_CHECK;
void rl_run_free(struct rl_run *r); /* also of zeroes */

/* Begins an episode if none is under way. Afterwards r->now, r->legal and r->context describe the
 * position to decide next. */
void rl_run_ready(struct rl_run *r);

/* Continues from an environment that is `length` decisions into an episode already, for example
 * because a saved episode was replayed. */
void rl_run_go_on(struct rl_run *r, uint32_t length, double reward_sum);

/* Makes one decision: `forced` if that is >= 0 (RL_E_SHAPE unless legal), else the agent's. Returns
 * 0 or an error of rl_agent_learn. */
int rl_run_step(struct rl_run *r, int forced, struct rl_step *out) RL_MUST_CHECK;

/* Makes decisions until the episode ends, at most `most`; *out is the last. */
int rl_run_episode(struct rl_run *r, uint32_t most, struct rl_step *out) RL_MUST_CHECK;

/* Abandons the episode (rl_agent_cut). */
void rl_run_cut(struct rl_run *r);

/* Plays one episode greedily, with the share `epsilon` of random actions, and learns nothing. The
 * environment must not be in the middle of a run's episode. *reward_sum is what the episode earned;
 * all random draws come from *rng. */
int rl_run_trial(struct rl_agent *a, const struct rl_env *env, double epsilon, struct rl_rng *rng,
                 double *reward_sum) RL_MUST_CHECK;

#endif
