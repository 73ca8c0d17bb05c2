/* engine/pipeline/pipe_search_ops.h - what an algorithm provides to search.c. Private to
 * engine/pipeline. */
#ifndef AUTOMAP_ENGINE_PIPELINE_PIPE_SEARCH_OPS_H
#define AUTOMAP_ENGINE_PIPELINE_PIPE_SEARCH_OPS_H

#include "engine/pipeline/descent.h"
#include "engine/pipeline/pipe_game.h"
#include "engine/pipeline/pipe_instance.h"
#include "engine/pipeline/pipe_search.h"
#include "engine/pipeline/space.h"
#include "hlo/support/err.h"
#include "rl/rng.h"

struct pipe_search {
    const struct pipe_search_ops *ops;
    struct pipe_search_options options;
    const struct pipe_instance *in;
    struct pipe_space space;
    struct pipe_game game; /* over space; of the DQN */
    struct pipe_goal goal; /* of exact and descent; counts the evaluations of all */
    uint8_t *device_cut;   /* [devices + 1] the goal's, NULL: anywhere */
    struct rl_rng rng;
    void *self; /* of the algorithm */
    struct pipe_best best;
    bool done, proven;
};

struct pipe_search_ops {
    int (*start)(struct pipe_search *s, struct err *e); /* allocates self */
    void (*stop)(struct pipe_search *s);                /* frees self */
    bool (*step)(struct pipe_search *s, struct pipe_event *out);
};

extern const struct pipe_search_ops pipe_ops_dqn, pipe_ops_random, pipe_ops_greedy,
    pipe_ops_enumerate, pipe_ops_descent, pipe_ops_exact, pipe_ops_infer;

/* A plan was priced: compares it with the best and fills the event. Does not count. */
void pipe_search_priced(struct pipe_search *s, const struct pipe_plan *p, double length_ms,
                        struct pipe_event *out);
/* Prices a candidate, counts it, and so on as above. */
double pipe_search_price(struct pipe_search *s, const struct pipe_plan *p, struct pipe_event *out);

#endif
