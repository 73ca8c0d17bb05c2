/* engine/hybrid/hybrid_search.h - those who play the game of hybrid plans (hybrid_game.h), and the
 * rule of Alpa, behind one interface.
 *
 * hybrid_search_step does the smallest thing a person can watch: one decision of the DQN, one plan
 * of the others. Plans are priced by simulating them; that is what algorithms are compared at.
 *     dqn     learns which decisions pay; preset planner. In its first HYBRID_LED episodes four of
 *             five decisions are the usual ones (hybrid_game_usual)
 *     random  each decision at random
 *     greedy  each decision takes the action whose usual completion is the shortest plan; then
 *             again behind a random beginning
 *     alpa    for each number of micro-batches M the least  sum of t + (M - 1) max t  of stages of
 *             t = F + B, over thresholds for the longest stage (Zheng et al., OSDI 2022, 5.2):
 *             memory counts, transfers and what is paid once a step do not; one plan each
 * `uniform` and `exact` are hybrid.h's own. Same space, options and calls: same results. */
#ifndef AUTOMAP_ENGINE_HYBRID_HYBRID_SEARCH_H
#define AUTOMAP_ENGINE_HYBRID_HYBRID_SEARCH_H

#include "engine/hybrid/hybrid_game.h"
#include "engine/hybrid/hybrid_instance.h"
#include "engine/pipeline/pipe_instance.h"
#include "hlo/support/err.h"
#include "rl/learner.h"
#include "rl/settings.h"

#include <stdatomic.h>

/* Constant, name, what it is. */
#define HYBRID_ALGORITHMS(X)                                                            \
    X(EXACT, "exact", "least L by a program over stages, then played and made shorter") \
    X(DQN, "dqn", "learns which decisions pay (Rainbow-style DQN)")                     \
    X(RANDOM, "random", "random decisions")                                             \
    X(GREEDY, "greedy", "the best action at each decision; restarts at random")         \
    X(UNIFORM, "uniform", "all stages alike, as trainers can be told")                  \
    X(ALPA, "alpa", "thresholds for the longest stage, without transfers and once a step")

enum hybrid_algorithm {
#define X(id, name, summary) HYBRID_##id,
    HYBRID_ALGORITHMS(X)
#undef X
        HYBRID_ALGORITHM_COUNT
};
extern const char *const hybrid_algorithm_names[HYBRID_ALGORITHM_COUNT];
/* False: there is none of this name. */
bool hybrid_algorithm_named(const char *name, enum hybrid_algorithm *out);
/* It plays the game or stands in its race: hybrid_search_new takes it. */
static inline bool hybrid_algorithm_plays(enum hybrid_algorithm a)
{
    return a != HYBRID_EXACT && a != HYBRID_UNIFORM;
}

struct hybrid_search_options {
    struct rl_settings rl; /* of the DQN */
    bool rl_set;           /* false: preset planner */
    uint64_t seed;
    uint64_t plans_most; /* priced; 0: HYBRID_PLANS */
    double seconds_most; /* of the thread on a processor; 0: any */
};
enum { HYBRID_PLANS = 1000, HYBRID_LED = 100 };

struct hybrid_search_best {
    struct hybrid_plan plan;
    uint32_t level; /* of the space */
    enum pipe_schedule_kind schedule;
    double step_ms;      /* INFINITY: none yet */
    uint64_t evaluation; /* when it was found, from 1 */
};

struct hybrid_search;

/* `a` is one that plays. The space is borrowed. */
int hybrid_search_new(const struct hybrid_space *s, enum hybrid_algorithm a,
                      const struct hybrid_search_options *o, const atomic_bool *stop,
                      struct hybrid_search **out, struct err *e) MUST_CHECK;
void hybrid_search_free(struct hybrid_search *s); /* NULL ok */
/* False: it is finished and did nothing. */
bool hybrid_search_step(struct hybrid_search *s);
const struct hybrid_search_best *hybrid_search_best(const struct hybrid_search *s);
uint64_t hybrid_search_evaluations(const struct hybrid_search *s); /* plans priced */
/* The learner ended because its loss was not finite. */
bool hybrid_search_diverged(const struct hybrid_search *s);

#endif
