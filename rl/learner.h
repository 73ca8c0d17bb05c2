/* rl/learner.h - the networks, their optimizer, and one update: no replay, no exploration.
 *
 * The update, for each row i of a batch with window reward R, bootstrap discount D, weight w:
 *
 *     a*     = argmax of Q(next) over the legal next actions, the lowest index on ties
 *     target = R + D Q_target(next, a*)
 *     error  = target - Q_online(observation, action)
 *     loss   = mean over i of w x (error^2, or Huber: error^2 / 2 within delta, else linear)
 *
 * Q(next) is the online network's if double_q (van Hasselt et al. 2016), else the target network's.
 * With return_bound the target is raised to the best return of equal decisions, a lower bound on Q
 * where nothing is random (He et al. 2017). Then the gradient is clipped by its global norm and
 * Adam takes one step. Every `target_every` updates the target network becomes a copy of the online
 * one. Allocates one block, once. Not thread-safe; different learners may run in different threads.
 */
#ifndef AUTOMAP_RL_LEARNER_H
#define AUTOMAP_RL_LEARNER_H

#include "rl/adam.h"
#include "rl/error.h"
#include "rl/net.h"
#include "rl/replay.h"
#include "rl/rng.h"
#include "rl/settings.h"

struct rl_lesson_row;

struct rl_learner {
    struct rl_net net;
    float *online, *target; /* [net.parameters] */
    float *gradient;
    struct rl_adam adam; /* adam.step counts the updates */
    uint64_t since_copy; /* updates since the target was copied */
    bool dueling;        /* the form the head has now */

    uint32_t batch_room;  /* the buffers below are sized for this batch */
    float *out;           /* outputs of 2 x batch rows */
    float *scratch;       /* [2 x batch x widest] */
    float *next_q;        /* [batch x (actions + 1)] heads of the target network */
    float *slope, *error; /* [batch] */
    float *one_out;       /* outputs of one row, for rl_learner_q */
    void *held[2];
    struct rl_lesson_row *taught; /* [RL_LESSON_ROWS] filled by an update (taught.h); NULL: none */
};

/* The figures of an update, taken before its step. */
struct rl_update {
    double loss;
    double error_mean, error_max; /* of |TD error| */
    double q_mean;                /* of the actions in the batch */
    double gradient_norm;         /* before clipping */
};

int rl_learner_init(struct rl_learner *l, uint32_t observation_size, uint32_t actions,
                    const struct rl_settings *s, struct rl_rng *init) RL_MUST_CHECK;
void rl_learner_release(struct rl_learner *l);

/* Adopts changed settings: the batch size, and dueling, which converts the head in place. */
int rl_learner_follow(struct rl_learner *l, const struct rl_settings *s) RL_MUST_CHECK;

/* One update. l->error holds the TD errors afterwards. RL_E_DIVERGED: loss or gradient not finite,
 * nothing changed. */
int rl_learner_update(struct rl_learner *l, const struct rl_settings *s, const struct rl_batch *b,
                      struct rl_update *u) RL_MUST_CHECK;

/* Writes the online network's Q of every action to q[actions]. Changes nothing that training
 * reads. */
void rl_learner_q(struct rl_learner *l, const float *observation, const uint64_t *legal, float *q);

#endif
