/* engine/pipeline/pretrain.h - trains the network of pipe_infer.h on generated problems.
 *
 * Problem number n is drawn from (seed, n): points, servers, stages, device cuts, and arrays of
 * computation, bytes and parameters (engine/pipeline/environment.h). The exact programme gives the
 * best completion of every decision met on the way; the network learns listwise from those gaps
 * (rl/scorer.h). 40 % of the moves are the network's own, so that it sees its own mistakes.
 *
 * Problems come in rounds, played with the weights of the round's start by `processes` children, or
 * by ranks (engine/ranks/ranks.h), and taken in the order of their numbers: the file is the same
 * bit for bit for any number of either. Rank 0 learns; the others play. The rate of learning falls
 * with the count of problems, never with time. A training that is stopped leaves its state in a
 * file of its own, and the next with the same recipe goes on from there to the same network. */
#ifndef AUTOMAP_ENGINE_PIPELINE_PRETRAIN_H
#define AUTOMAP_ENGINE_PIPELINE_PRETRAIN_H

#include "engine/pipeline/pipe_net.h"
#include "engine/ranks/ranks.h"
#include "hlo/support/err.h"

#include <stdatomic.h>

enum { PRETRAIN_PROCESSES_MOST = 64 };

struct pretrain_options {
    uint64_t seed;
    uint64_t environments;
    struct ranks *ranks;         /* that play, all with the same options */
    uint32_t processes;          /* of rank 0, if it is alone */
    uint32_t range;              /* of environment_ranges */
    uint32_t families;           /* bits of environment_families; 0: all */
    const struct pipe_net *from; /* to begin with; NULL: random weights */
    const char *state;           /* where a stopped training is kept; NULL: nowhere. The caller
                                    removes it when the network is on disk */
    const atomic_bool *stop;     /* looked at between problems; NULL: never */
};

struct pretrain_progress {
    uint64_t environments, states, updates;
    double loss; /* mean of the last round */
    double gap;  /* of its own decisions to the best, mean of the last round: problems it had not
                    learned from; NAN: the best was known of none */
    bool resumed;
};

/* The gap over so many; NAN over none. */
double pretrain_mean_gap(double sum, uint64_t count);

/* `tell` (may be NULL) is called on rank 0 after every round. ERR_INFEASIBLE: it was stopped; `out`
 * then holds nothing, nor does it on ranks other than 0. */
int pretrain_pipelines(const struct pretrain_options *o,
                       void (*tell)(void *self, const struct pretrain_progress *p), void *self,
                       struct pipe_net *out, struct err *e) MUST_CHECK;

/* Gaps to the proven optimum over problems that no training draws, in parts of 1; mean and 95th
 * percentile. */
#define PRETRAIN_WAYS(X)                                           \
    X(PASS, "the network, one pass")                               \
    X(BEAMS, "the network, its 8 best first decisions")            \
    X(ANSWER, "the network: those and equal shares, then descent") \
    X(GREEDY, "no network: equal shares looked ahead")             \
    X(GREEDY_DESCENT, "no network: equal shares looked ahead, then descent")

enum {
#define X(id, text) PRETRAIN_##id,
    PRETRAIN_WAYS(X)
#undef X
        PRETRAIN_WAY_COUNT
};
extern const char *const pretrain_way_names[PRETRAIN_WAY_COUNT];

struct pretrain_gaps {
    double mean[PRETRAIN_WAY_COUNT], high[PRETRAIN_WAY_COUNT]; /* 95 % */
    uint32_t count;                                            /* problems whose proof ended */
};
int pretrain_measure(const struct pipe_net *net, uint32_t range, uint64_t seed, uint32_t count,
                     struct pretrain_gaps *out, struct err *e) MUST_CHECK;

#endif
