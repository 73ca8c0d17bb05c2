/* engine/search/pretrain_moves.h - trains the network of policy.h over models and clusters.
 *
 * A round takes one model, draws a random cluster (servers, devices, their speeds and links) and a
 * mesh of one or two axes for it, and plays games on it: variables, inputs, both; layers folded and
 * separate. For each decision met it computes the proven optimum after either action, and the
 * network learns listwise from the difference (rl/scorer.h). Half of the moves are the network's
 * own, so that it sees its own mistakes. All draws follow from (seed, round); the learning rate
 * falls with rounds, never with time.
 *
 * Eight rounds at a time are played with the same weights, by all ranks (engine/ranks/ranks.h), and
 * learned from by rank 0 in their order: the network does not depend on how many ranks there are. A
 * training that is stopped leaves its state in a file of its own, from which the next with the same
 * models and recipe goes on. */
#ifndef AUTOMAP_ENGINE_SEARCH_PRETRAIN_MOVES_H
#define AUTOMAP_ENGINE_SEARCH_PRETRAIN_MOVES_H

#include "engine/problem/problem.h"
#include "engine/ranks/ranks.h"
#include "engine/search/policy.h"
#include "hlo/support/err.h"
#include "rl/rng.h"

#include <stdatomic.h>

struct pretrain_moves_options {
    uint64_t seed, rounds;
    struct ranks *ranks;     /* that play, all with the same options */
    const char *state;       /* where a stopped training is kept; NULL: nowhere. The caller removes
                                it when the network is on disk */
    const atomic_bool *stop; /* NULL: never */
};

struct pretrain_moves_progress {
    uint64_t round, episodes, states, updates;
    double loss, gap; /* of the rounds; gap as in policy_point */
    bool resumed;
};

/* Changes the problems: another cluster each round. `tell` (may be NULL) is called on rank 0.
 * ERR_INFEASIBLE: stopped; `out` then holds nothing, nor does it on ranks other than 0. */
int pretrain_moves(struct problem *const *problem, uint32_t count,
                   const struct pretrain_moves_options *o,
                   void (*tell)(void *self, const struct pretrain_moves_progress *p), void *self,
                   struct policy *out, struct err *e) MUST_CHECK;

/* Gives a problem a random cluster and mesh. */
int pretrain_moves_draw(struct problem *p, struct rl_rng *rng, struct err *e) MUST_CHECK;

#endif
