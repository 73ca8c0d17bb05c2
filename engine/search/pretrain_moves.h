/* engine/search/pretrain_moves.h - the network of policy.h, trained over models and clusters.
 *
 * A round takes one model, draws it a cluster (servers, devices, and how fast they and their links
 * are) and a mesh of one or two axes, and plays games on it: variables, inputs, both; layers folded
 * and apart. Of the decisions met on the way the proven optimum behind each action is computed, and
 * the network learns listwise from the difference (rl/scorer.h). Half of the moves are its own, so
 * that it sees its own mistakes. What is drawn follows from (seed, round); the rate of learning
 * falls with the rounds, never with time. */
#ifndef AUTOMAP_ENGINE_SEARCH_PRETRAIN_MOVES_H
#define AUTOMAP_ENGINE_SEARCH_PRETRAIN_MOVES_H

#include "engine/problem/problem.h"
#include "engine/search/policy.h"
#include "hlo/support/err.h"
#include "rl/rng.h"

#include <stdatomic.h>

struct pretrain_moves_options {
    uint64_t seed, rounds;
    const atomic_bool *stop; /* NULL: never */
};

struct pretrain_moves_progress {
    uint64_t round, episodes, states, updates;
    double loss, gap; /* of the round; gap: as policy_point */
};

/* `problem[]` are changed: another cluster each round. ERR_INFEASIBLE: it was stopped; `out` then
 * holds nothing. */
int pretrain_moves(struct problem *const *problem, uint32_t count,
                   const struct pretrain_moves_options *o,
                   void (*tell)(void *self, const struct pretrain_moves_progress *p), void *self,
                   struct policy *out, struct err *e) MUST_CHECK;

/* Gives a problem a drawn cluster and mesh. */
int pretrain_moves_draw(struct problem *p, struct rl_rng *rng, struct err *e) MUST_CHECK;

#endif
