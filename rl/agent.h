/* rl/agent.h - the learner a search talks to: networks, replay, exploration and their schedule.
 *
 * One decision at a time, so that a person can step through it:
 *     action = rl_agent_choose(a, observation, legal, &explored);
 *     ... carry it out, observe ...
 *     updates = rl_agent_learn(a, &decision, context, &update);
 * The decision need not be the one that was chosen: a forced one is learned just as well. rl/run.h
 * drives an environment this way.
 * Looking (q, epsilon, visits, priorities) changes nothing: a run that is looked at equals one that
 * is not, bit for bit. Same shape, settings, seed and decisions: same bits.
 * No global state, no allocation after rl_agent_new except in configure and save. An agent belongs
 * to one thread at a time; several may run side by side. */
#ifndef AUTOMAP_RL_AGENT_H
#define AUTOMAP_RL_AGENT_H

#include "rl/env.h"
#include "rl/error.h"
#include "rl/learner.h"
#include "rl/replay.h"
#include "rl/settings.h"

struct rl_agent;

struct rl_shape {
    uint32_t observation_size, action_count;
    uint32_t context_count; /* 0 is read as 1 */
};

int rl_agent_new(struct rl_agent **out, const struct rl_shape *shape, const struct rl_settings *s,
                 uint64_t seed) RL_MUST_CHECK;
void rl_agent_free(struct rl_agent *a); /* NULL: nothing */

const struct rl_shape *rl_agent_shape(const struct rl_agent *a);
const struct rl_settings *rl_agent_settings(const struct rl_agent *a);

/* Takes over new settings, between two decisions. RL_E_SETTING: out of range, or `hidden` or
 * `replay_capacity` differ; RL_E_MEMORY. On failure nothing changed. Switching dueling keeps the Q
 * values where all actions are legal; switching prioritized keeps what is known of the errors. */
int rl_agent_configure(struct rl_agent *a, const struct rl_settings *s) RL_MUST_CHECK;

/* Epsilon-greedy: among the legal actions only, in the random branch too. legal must not be 0.
 * *explored (may be NULL): the random branch was taken. Draws from the stream of acting. */
uint32_t rl_agent_choose(struct rl_agent *a, const float *observation, uint64_t legal,
                         bool *explored);

/* Stores a decision, counts it, and trains if it is due. Returns the number of updates done (then
 * *u, which may be NULL, is the last one), or RL_E_DIVERGED. RL_E_SHAPE: action not legal, reward
 * not finite, unknown context; nothing was stored. */
int rl_agent_learn(struct rl_agent *a, const struct rl_decision *d, uint32_t context,
                   struct rl_update *u) RL_MUST_CHECK;

/* `updates` updates now, from what is in replay. Returns as rl_agent_learn; 0: replay is empty. */
int rl_agent_train(struct rl_agent *a, uint32_t updates, struct rl_update *u) RL_MUST_CHECK;

/* The episode is left where it stands: the last decision counts as cut short (RL_TRUNCATED). */
void rl_agent_cut(struct rl_agent *a);

/* Epsilon goes linearly from start to end over the next `steps` decisions (a backtrack raises it
 * this way). Sets the settings too. */
int rl_agent_explore(struct rl_agent *a, double start, double end, uint32_t steps) RL_MUST_CHECK;
void rl_agent_hold_epsilon(struct rl_agent *a, double epsilon); /* fixed; < 0: schedule again */
double rl_agent_epsilon(const struct rl_agent *a);              /* of the next choice */
double rl_agent_beta(const struct rl_agent *a);                 /* of the next update */

/* Q of every action into q[action_count]; not the const one would like, as it uses the agent's
 * buffer, but nothing that training reads changes. */
void rl_agent_q(struct rl_agent *a, const float *observation, uint64_t legal, float *q);

struct rl_counts {
    uint64_t decisions, explored, episodes, updates;
    uint64_t since_copy; /* updates since the target network was copied */
};
struct rl_counts rl_agent_counts(const struct rl_agent *a);
const struct rl_update *rl_agent_last_update(const struct rl_agent *a);

/* How often each action was carried out in a context: [action_count], owned by the agent. */
const uint32_t *rl_agent_visits(const struct rl_agent *a, uint32_t context);

/* What is in replay, to look at: priorities, errors, ages. */
const struct rl_replay *rl_agent_replay(const struct rl_agent *a);

/* Stores a decision as rl_agent_learn does, but neither counts it nor trains. */
int rl_agent_remember(struct rl_agent *a, const struct rl_decision *d) RL_MUST_CHECK;
void rl_agent_forget(struct rl_agent *a); /* empties replay; networks and counts stay */

#endif
