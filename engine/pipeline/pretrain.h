/* engine/pipeline/pretrain.h - the network of pipe_infer.h, trained on generated problems.
 *
 * Environment number e is drawn from (seed, e): points, servers, stages, device cuts, and arrays of
 * computation, bytes and parameters of one of three families (independent, transformer, CNN), with
 * transfers of 0.003 to 15 and all-reduces of 0.003 to 6 ideal steps. The exact programme gives the
 * best completion of every decision met on the way; the network learns listwise from those gaps
 * (rl/scorer.h). Of the moves 40 % are its own, so that it sees its own mistakes.
 *
 * Environments come in rounds, played with the weights of the round's start by `processes` children
 * and taken in the order of their numbers: the file is the same bit for bit for any number of
 * processes. The rate of learning falls with the count of environments, never with time. */
#ifndef AUTOMAP_ENGINE_PIPELINE_PRETRAIN_H
#define AUTOMAP_ENGINE_PIPELINE_PRETRAIN_H

#include "engine/pipeline/pipe_infer.h"
#include "hlo/support/err.h"
#include "rl/scorer.h"

#include <stdatomic.h>

enum { PRETRAIN_PROCESSES_MOST = 64 };

struct pretrain_options {
    uint64_t seed;
    uint64_t environments;
    uint32_t processes;
    const atomic_bool *stop; /* looked at between environments; NULL: never */
};

struct pretrain_progress {
    uint64_t environments, states, updates;
    double loss; /* mean of the last round */
};

/* `tell` (may be NULL) is called after every round. ERR_INFEASIBLE: it was stopped; `out` then
 * holds nothing. */
int pretrain_pipelines(const struct pretrain_options *o,
                       void (*tell)(void *self, const struct pretrain_progress *p), void *self,
                       struct pipe_net *out, struct err *e) MUST_CHECK;

/* Gaps to the optimum over `count` environments that no training draws, in parts of 1: of one pass,
 * and of the answer with PIPE_INFER_BEAMS first decisions and no descent. net NULL: greedy by
 * rollout. Mean and 95th percentile. */
struct pretrain_gaps {
    double pass_mean, pass_95, beams_mean, beams_95;
    uint32_t count;
};
int pretrain_measure(const struct rl_scorer *net, uint64_t seed, uint32_t count,
                     struct pretrain_gaps *out, struct err *e) MUST_CHECK;

#endif
