/* rl/agent.h - the learner a search talks to: networks, replay, exploration and their schedules.
 *
 * One decision at a time, so that a person can step through it:
 *     action = rl_agent_choose(a, observation, legal, &explored);
 *     ... carry it out, observe ...
 *     updates = rl_agent_learn(a, &decision, context, &update);
 * The decision need not be the one chosen: the agent learns just as well from a forced one.
 * rl/run.h drives an environment this way. Reading (q, epsilon, visits, priorities) changes
 * nothing: a run that is watched equals one that is not, bit for bit. The same shape, settings,
 * seed and decisions give the same bits. No global state, no allocation after rl_agent_new except
 * in configure and save. Use an agent from one thread at a time; several agents may run in
 * parallel. */
#ifndef AUTOMAP_RL_AGENT_H
#define AUTOMAP_RL_AGENT_H

#include "rl/env.h"
#include "rl/error.h"
#include "rl/learner.h"
#include "rl/replay.h"
#include "rl/settings.h"
#include "rl/taught.h"

struct rl_agent;

struct rl_shape {
    uint32_t observation_size, action_count;
    uint32_t context_count; /* 0 counts as 1 */
};

int rl_agent_new(struct rl_agent **out, const struct rl_shape *shape, const struct rl_settings *s,
                 uint64_t seed) RL_MUST_CHECK;
void rl_agent_free(struct rl_agent *a); /* NULL: nothing */

const struct rl_shape *rl_agent_shape(const struct rl_agent *a);
const struct rl_settings *rl_agent_settings(const struct rl_agent *a);

/* Adopts new settings between two decisions. RL_E_SETTING: out of range, or `hidden` or
 * `replay_capacity` differ; RL_E_MEMORY. On failure nothing changes. Switching dueling keeps the Q
 * values where all actions are legal; switching prioritized keeps the known errors. */
int rl_agent_configure(struct rl_agent *a, const struct rl_settings *s) RL_MUST_CHECK;

/* Epsilon-greedy over the legal actions only, in the random branch too. `legal` must not be empty.
 * *explored (may be NULL): the random branch was taken. Draws from the acting stream. */
uint32_t rl_agent_choose(struct rl_agent *a, const float *observation, const uint64_t *legal,
                         bool *explored);

/* Stores a decision, counts it, and trains if it is due. Returns the number of updates done, or
 * RL_E_DIVERGED; after an update *u (may be NULL) describes the last one. RL_E_SHAPE: illegal
 * action, reward not finite, unknown context; nothing is stored. */
int rl_agent_learn(struct rl_agent *a, const struct rl_decision *d, uint32_t context,
                   struct rl_update *u) RL_MUST_CHECK;

/* Does `updates` updates now from replay. Returns as rl_agent_learn; 0: replay is empty. */
int rl_agent_train(struct rl_agent *a, uint32_t updates, struct rl_update *u) RL_MUST_CHECK;

/* Abandons the episode: its last decision counts as cut short (RL_TRUNCATED). */
void rl_agent_cut(struct rl_agent *a);

/* Moves epsilon linearly from start to end over the next `steps` decisions (a backtrack raises it
 * this way). Changes the agent's settings accordingly. */
int rl_agent_explore(struct rl_agent *a, double start, double end, uint32_t steps) RL_MUST_CHECK;
void rl_agent_hold_epsilon(struct rl_agent *a, double epsilon); /* fixed; < 0: schedule again */
double rl_agent_epsilon(const struct rl_agent *a);              /* of the next choice */
double rl_agent_beta(const struct rl_agent *a);                 /* of the next update */

/* Writes Q of every action to q[action_count]. Not const because it uses a buffer of the agent; it
 * changes nothing that training reads. */
void rl_agent_q(struct rl_agent *a, const float *observation, const uint64_t *legal, float *q);

struct rl_counts {
    uint64_t decisions, explored, episodes, updates;
    uint64_t since_copy; /* updates since the target network was copied */
};
struct rl_counts rl_agent_counts(const struct rl_agent *a);
const struct rl_update *rl_agent_last_update(const struct rl_agent *a);

/* The online network (rl/net.h, of the settings' widths), owned by the agent. */
const float *rl_agent_parameters(const struct rl_agent *a);

/* How often each action was taken in a context: [action_count], owned by the agent. */
const uint32_t *rl_agent_visits(const struct rl_agent *a, uint32_t context);

/* The replay, for inspection: priorities, errors, ages. */
const struct rl_replay *rl_agent_replay(const struct rl_agent *a);

/* From now on every decision fills *lesson, borrowed; NULL: none does. */
void rl_agent_teach(struct rl_agent *a, struct rl_lesson *lesson);

/* Stores a decision as rl_agent_learn does, but neither counts it nor trains. */
int rl_agent_remember(struct rl_agent *a, const struct rl_decision *d) RL_MUST_CHECK;
void rl_agent_forget(struct rl_agent *a); /* empties replay; networks and counts stay */

#endif
