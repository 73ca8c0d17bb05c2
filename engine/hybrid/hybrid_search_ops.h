/* engine/hybrid/hybrid_search_ops.h - what an algorithm provides to hybrid_search.c. Private to
 * engine/hybrid/. */
#ifndef AUTOMAP_ENGINE_HYBRID_HYBRID_SEARCH_OPS_H
#define AUTOMAP_ENGINE_HYBRID_HYBRID_SEARCH_OPS_H

#include "engine/hybrid/hybrid_game.h"
#include "engine/hybrid/hybrid_instance.h"
#include "engine/hybrid/hybrid_search.h"
#include "engine/pipeline/pipe_instance.h"
#include "hlo/support/err.h"
#include "rl/rng.h"

#include <stdatomic.h>

struct hybrid_search {
    const struct hybrid_search_ops *ops;
    struct hybrid_search_options options;
    const struct hybrid_space *space;
    const atomic_bool *stop;
    struct hybrid_game game; /* whatever the algorithm plays */
    struct rl_rng rng;
    void *self; /* of the algorithm; NULL: it needs nothing */
    struct hybrid_search_best best;
    uint64_t evaluations;
    bool done, diverged; /* the learner's loss is not finite, and it ended */
};

struct hybrid_search_ops {
    int (*start)(struct hybrid_search *s, struct err *e); /* NULL: nothing to do */
    void (*stop)(struct hybrid_search *s);                /* frees self */
    void (*step)(struct hybrid_search *s);
};

extern const struct hybrid_search_ops hybrid_ops_dqn, hybrid_ops_random, hybrid_ops_greedy,
    hybrid_ops_alpa;

/* Counts a plan that was priced, and keeps it when it is the best. */
void hybrid_search_priced(struct hybrid_search *s, uint32_t level, const struct hybrid_plan *p,
                          enum pipe_schedule_kind schedule, double step_ms);
/* The same of a game that is over. */
void hybrid_search_played(struct hybrid_search *s, const struct hybrid_game *g);
/* One of the bits, at random. */
uint32_t hybrid_search_pick(struct hybrid_search *s, uint64_t bits);
/* There is one plan, nothing to decide: it was priced, and the search is done. */
bool hybrid_search_is_decided(struct hybrid_search *s);

#endif
