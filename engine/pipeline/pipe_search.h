/* engine/pipeline/pipe_search.h - the algorithms that look for a pipeline, behind one interface.
 *
 * pipe_search_step does the smallest thing a person can watch: one decision of the DQN, one priced
 * plan of the others, one device cut of the exact search. Plans priced by L are counted: that is
 * what algorithms are compared at. dqn, random, greedy and enumerate look among the paper's
 * candidates (engine/pipeline/space.h); descent, infer and exact among all pivots and device cuts.
 * Same problem, options and calls: same results, bit for bit. Not thread-safe. */
#ifndef AUTOMAP_ENGINE_PIPELINE_PIPE_SEARCH_H
#define AUTOMAP_ENGINE_PIPELINE_PIPE_SEARCH_H

#include "engine/pipeline/descent.h"
#include "engine/pipeline/pipe_exact.h"
#include "engine/pipeline/pipe_game.h"
#include "engine/pipeline/pipe_instance.h"
#include "engine/pipeline/pipe_net.h"
#include "engine/pipeline/space.h"
#include "hlo/support/err.h"
#include "rl/agent_state.h"
#include "rl/learner.h"
#include "rl/rl.h"

/* Constant, name, what it is. */
#define PIPE_ALGORITHMS(X)                                                                   \
    X(DQN, "dqn", "learns which device cuts pay (Rainbow-style DQN)")                        \
    X(RANDOM, "random", "random candidates")                                                 \
    X(GREEDY, "greedy", "one cut after the other, the best offset each; restarts at random") \
    X(ENUMERATE, "enumerate", "every candidate in order")                                    \
    X(DESCENT, "descent", "closed form, then small changes; restarts at random")             \
    X(INFER, "infer", "a network that was trained once, on other problems; then descent")    \
    X(EXACT, "exact", "the proven optimum by dynamic programming")

enum pipe_algorithm {
#define X(id, name, summary) PIPE_SEARCH_##id,
    PIPE_ALGORITHMS(X)
#undef X
        PIPE_ALGORITHM_COUNT
};
extern const char *const pipe_search_names[PIPE_ALGORITHM_COUNT];

/* Where exact and descent may cut the devices. */
enum pipe_cuts { PIPE_CUTS_ANYWHERE, PIPE_CUTS_NEAR, PIPE_CUTS_SERVERS };

struct pipe_search_options {
    enum pipe_algorithm algorithm;
    struct pipe_space_options space; /* stages, pins and empty_stages hold for all */
    enum pipe_cuts cuts;             /* NEAR: within the space's radius of a server boundary */
    struct rl_settings rl;           /* of the DQN */
    bool rl_set;                     /* false: the preset below */
    bool paper;                      /* paper-pp, the paper's own; false: rainbow-pp, ours */
    uint64_t seed;
    const struct pipe_net *net; /* of infer, borrowed; NULL: none, it goes by equal shares */
    const atomic_bool *stop;    /* set elsewhere: the step under way ends at once; NULL: never */
};

struct pipe_event {
    bool ended; /* a plan was priced */
    bool improved;
    struct pipe_plan plan; /* that one */
    double length_ms;      /* its L; INFINITY: does not fit */
    uint32_t cut, offset;  /* dqn: decided; UINT32_MAX otherwise */
    bool explored;
    double reward;
    int updates; /* of the network; negative: it diverged, the search is done */
    struct rl_update update;
};

struct pipe_best {
    struct pipe_plan plan;
    double length_ms;    /* INFINITY: none yet */
    uint64_t evaluation; /* when it was found */
};

struct pipe_search;

/* The instance and the pins are borrowed. Errors as pipe_space_new. */
int pipe_search_new(const struct pipe_instance *in, const struct pipe_search_options *o,
                    struct pipe_search **out, struct err *e) MUST_CHECK;
void pipe_search_free(struct pipe_search *s); /* NULL ok */
/* False: it is finished and did nothing. */
bool pipe_search_step(struct pipe_search *s, struct pipe_event *out);

const struct pipe_best *pipe_search_best(const struct pipe_search *s);
uint64_t pipe_search_evaluations(const struct pipe_search *s); /* exact: transitions */
bool pipe_search_is_proven(const struct pipe_search *s); /* of what the algorithm looks among */

/* To look at; agent and game of a DQN search, NULL for others. */
struct rl_agent *pipe_search_agent(struct pipe_search *s);
const struct pipe_space *pipe_search_space(const struct pipe_search *s);
const struct pipe_game *pipe_search_game(const struct pipe_search *s);

#endif
