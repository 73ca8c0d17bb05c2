/* engine/search/search.h - the algorithms that play the game, behind one interface: the DQN and its
 * opponents, on the same evaluations.
 *
 * A search owns its game. search_step does the smallest thing a person can watch: one decision of
 * the DQN, one priced plan of the others. The same problem, options, seed and calls give the same
 * results, bit for bit. Not thread-safe; several threads may run one search each on the same
 * problem. */
#ifndef AUTOMAP_ENGINE_SEARCH_SEARCH_H
#define AUTOMAP_ENGINE_SEARCH_SEARCH_H

#include "engine/cost/step_tables.h"
#include "engine/decide/labels.h"
#include "engine/decide/strict.h"
#include "engine/problem/problem.h"
#include "engine/search/dqn_replay.h"
#include "engine/search/game.h"
#include "hlo/support/err.h"
#include "hlo/support/stop.h"
#include "rl/agent_state.h"
#include "rl/learner.h"
#include "rl/rl.h"
#include "rl/scorer.h"
#include "rl/serialize.h"

/* Constant, name, what it is. */
#define SEARCH_ALGORITHMS(X)                                                                      \
    X(DQN, "dqn", "learns which decisions pay (Rainbow-style DQN)")                               \
    X(RANDOM, "random", "random decisions")                                                       \
    X(GREEDY, "greedy", "the better decision at each position; restarts after random beginnings") \
    X(ENUMERATE, "enumerate", "every plan in order, branches cut that cannot beat the best")      \
    X(ANNEAL, "anneal", "simulated annealing on whole plans")                                     \
    X(EXACT, "exact", "the proven optimum by elimination")                                        \
    X(TRWS, "trws", "the relaxed plan by message passing, rounded to a strict one, which is scored")

enum search_algorithm {
#define X(id, name, summary) SEARCH_##id,
    SEARCH_ALGORITHMS(X)
#undef X
        SEARCH_ALGORITHM_COUNT
};
extern const char *const search_names[SEARCH_ALGORITHM_COUNT];

enum { SEARCH_LED = 50 };

struct search_options {
    enum search_algorithm algorithm;
    struct game_options game;
    struct rl_settings rl; /* of the DQN */
    bool rl_set;           /* false: the preset for the game's reward and kind */
    bool paper;            /* these presets are the paper's own, not ours */
    uint64_t seed;
    uint32_t
        stable_episodes;   /* stage 1 ends after this many episodes without a better plan; 0: 60 */
    uint32_t anneal_steps; /* evaluations of one annealing run; 0: 20000 */
    /* One network for all models (policy.h), borrowed: with `continuous` it plays the first
     * SEARCH_LED episodes and, but for weak propagation, every other one of stage 2; the DQN learns
     * from them. If NULL, or under the paper's reward, the DQN plays them itself. */
    const struct rl_scorer *policy;
    bool continuous;
};

/* What one step did. */
struct search_event {
    uint32_t move;             /* the move decided; UINT32_MAX: the algorithm works on complete
                                  plans */
    bool split, explored, led; /* led: by the network of all models */
    double reward;             /* of the decision */
    bool ended;                /* an episode ended: a complete plan was priced */
    bool improved;             /* it is the best so far */
    bool conflict;
    bool fine_tuning; /* the episode was one of stage 2 */
    double score;     /* of the episode: game_score */
    double step_ms;
    int updates; /* of the network; negative: it diverged (RL_E_*) and the search is done */
    struct rl_update update;
};

struct search_best {
    label *on; /* [classes]; valid when score > -inf */
    double score;
    struct step_cost cost;
    uint64_t episode, evaluation; /* when it was found */
    bool fine_tuning;
    bool baseline; /* everything whole but the pins in force: nobody had to find it */
};

/* Whether the network of all models leads. */
static inline bool search_is_continuous(const struct search_options *o)
{
    return o->algorithm == SEARCH_DQN && o->continuous && o->policy &&
           o->game.reward == GAME_REWARD_COST;
}

/* Serializes everything but the policy, which the reader supplies; check what was read
 * (search_options_are_sound). */
struct rl_serializer;
void search_options_serialize(struct rl_serializer *w, struct search_options *o);
void step_cost_serialize(struct rl_serializer *w, struct step_cost *c);

struct search;

int search_new(const struct problem *p, const struct search_options *o, struct search **out,
               struct err *e) MUST_CHECK;
void search_free(struct search *s); /* NULL ok */
/* Sets the flag that ends solving steps early (hlo/support/stop.h), instead of the problem's. NULL:
 * none. */
void search_set_stop(struct search *s, const atomic_bool *stop);

/* Begins the next episode where none is under way, as the next step would. */
void search_ready(struct search *s);
/* Does one step. False: the algorithm is finished and did nothing. */
bool search_step(struct search *s, struct search_event *out);

const struct game *search_game(const struct search *s);
const struct search_best *search_best(const struct search *s);
const struct search_options *search_options(const struct search *s);
uint64_t search_episodes(const struct search *s);
uint64_t search_evaluations(const struct search *s); /* complete plans priced */
uint64_t search_conflicts(const struct search *s);
bool search_is_done(const struct search *s);
/* The flag of search_set_stop ended a step: the same steps done again may find more. */
bool search_is_cut(const struct search *s);
bool search_lacks_memory(const struct search *s); /* for a step: done before its end */
bool search_is_proven(const struct search *s);    /* exact, or enumeration run to its end */

/* The last relaxed plan that SEARCH_TRWS rounded, with its bound; NULL if it has none yet, and for
 * other algorithms. */
struct relaxed_plan;
const struct relaxed_plan *search_relaxed(const struct search *s);

/* How often a search reached a natural end without being done: the DQN's stage 2 reopened every
 * group several times and found nothing better. */
uint32_t search_rounds(const struct search *s);
/* The learner's default settings for the options' game. */
const struct rl_settings *search_preset(const struct search_options *o);
/* Auto-MAP as published, as far as options go (README.md), or ours. Leaves kind, seed, algorithm
 * and stable_episodes alone. */
void search_options_preset(struct search_options *o, bool paper);

/* A person's acts. Pins as in game_set_pins; a best plan that breaks a pin is shelved, and becomes
 * the best again once the pins allow it and nothing better was found. */
int search_set_pins(struct search *s, const struct game_pin *pins, size_t count,
                    struct strict_clash *clash, struct err *e) MUST_CHECK;
/* A plan known from elsewhere, one of this game (game_holds): it becomes the best if it is better.
 * Returns whether it did. */
bool search_offer(struct search *s, const label *on);
/* Reopens the move's group in the best plan, raises exploration for a while and keeps the network.
 * DQN only; others start over. */
void search_backtrack(struct search *s, uint32_t move);
/* Forces the next decision (DQN only). False: not possible. */
bool search_force(struct search *s, bool split, struct search_event *out);
/* Changes the learner's settings between decisions. False: out of range; nothing changes. */
bool search_configure(struct search *s, const struct rl_settings *rl);

/* Saves a running search to bytes and restores it (rl/serialize.h); false: not supported by this
 * algorithm. To read, `s` must be new, made for the same problem with the saved search's options,
 * and have its pins set; it then continues bit for bit as the saved one would have. Wrong bytes set
 * w->failed; `s` can then only be freed. */
bool search_serialize(struct search *s, struct rl_serializer *w);
/* Whether options read from bytes are valid: every enum and bool within its range. */
bool search_options_are_sound(const struct search_options *o);

/* For inspection without side effects: the agent of a DQN search (else NULL), and Q of both
 * actions. */
struct rl_agent *search_agent(struct search *s);
bool search_q(struct search *s, float q[2]);
/* The plan that the network's best actions make from the start, and its score; `on` [classes] may
 * be NULL. -INFINITY: it ends in a conflict, or there is no network. Does not count as an
 * evaluation. O(an episode). */
double search_greedy_plan(struct search *s, label *on);
/* What the last change of pins kept of the replay, and how many there were; zeros if there was
 * none, or no DQN. */
struct dqn_replay_note search_kept(const struct search *s);

#endif
