/* engine/pipeline/pipe_net.h - the file of a network that cuts pipelines: weights, recipe and the
 * curve of its training. Of two kinds: the scorer of candidates (pipe_infer.h), and the paper's own
 * network (flat_net.h). */
#ifndef AUTOMAP_ENGINE_PIPELINE_PIPE_NET_H
#define AUTOMAP_ENGINE_PIPELINE_PIPE_NET_H

#include "engine/pipeline/flat_net.h"
#include "hlo/support/err.h"
#include "rl/scorer.h"
#include "rl/serialize.h"

/* What the network was trained with, and how it went; it is in the file. */
enum { PIPE_NET_CURVE_MOST = 64 };
struct pipe_net_point {
    uint64_t environments; /* problems learned from */
    double loss;
    double gap; /* of its own decisions to the best, mean: problems that it had not learned from;
                   NAN: the best was known of none */
};
struct pipe_net {
    struct rl_scorer scorer; /* of the listwise recipe */
    struct flat_net flat;    /* or of the paper's, else zero */
    uint64_t seed, environments;
    uint32_t range, families; /* pretrain.h */
    uint32_t tuned;           /* 1: from another network */
    double temperature, loss; /* the mean of the last updates */
    struct pipe_net_point curve[PIPE_NET_CURVE_MOST];
    uint32_t points;
};
/* In a walk (rl/serialize.h); read into one that is zero or has weights of its own. The curve is
 * its recipe with it. */
void pipe_net_serialize(struct rl_serializer *w, struct pipe_net *n);
void pipe_net_serialize_curve(struct rl_serializer *w, struct pipe_net *n);

/* RL_E_FORMAT, RL_E_VERSION: not such a file, of other features, damaged; RL_E_IO, RL_E_MEMORY. */
int pipe_net_load(struct pipe_net *n, const char *path) MUST_CHECK;
int pipe_net_save(const struct pipe_net *n, const char *path, struct err *e) MUST_CHECK;
void pipe_net_free(struct pipe_net *n);

#endif
