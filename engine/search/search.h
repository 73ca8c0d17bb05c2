/* engine/search/search.h - the algorithms that play the game, behind one interface: the DQN and its
 * opponents, on the same evaluations.
 *
 * A search owns its game. search_step does the smallest thing a person can watch: one decision of
 * the DQN, one priced plan of the others. Same problem, options, seed and calls: same results, bit
 * for bit. Not thread-safe; several may run in several threads on one problem. */
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
    uint64_t seed;
    uint32_t
        stable_episodes; /* stage 1 is stable after so many episodes without a better plan; 0: 60 */
    uint32_t anneal_steps; /* evaluations of one cooling; 0: 20000 */
    /* One network for all models (policy.h), borrowed: with `continuous` it plays the DQN's first
     * SEARCH_LED episodes, from which the DQN learns. NULL, or under the paper's reward: the DQN
     * plays them itself. */
    const struct rl_scorer *policy;
    bool continuous;
};

/* What one step did. */
struct search_event {
    uint32_t move;             /* decided; UINT32_MAX when the algorithm works on whole plans */
    bool split, explored, led; /* led: by the network of all models */
    double reward;             /* of the decision */
    bool ended;                /* an episode ended: a whole plan was priced */
    bool improved;             /* it is the best so far */
    bool conflict;
    bool fine_tuning; /* the episode was one of stage 2 */
    double score;     /* of the episode: game_score */
    double step_ms;
    int updates; /* of the network */
    struct rl_update update;
};

struct search_best {
    label *on; /* [classes]; valid when score > -inf */
    double score;
    struct step_cost cost;
    uint64_t episode, evaluation; /* when it was found */
    bool fine_tuning;
};

/* Whether the network of all models leads. */
static inline bool search_is_continuous(const struct search_options *o)
{
    return o->algorithm == SEARCH_DQN && o->continuous && o->policy &&
           o->game.reward == GAME_REWARD_COST;
}

/* All but the policy, which is whoever reads them's; they are to be checked. */
struct rl_serializer;
void search_options_serialize(struct rl_serializer *w, struct search_options *o);
void step_cost_serialize(struct rl_serializer *w, struct step_cost *c);

struct search;

int search_new(const struct problem *p, const struct search_options *o, struct search **out,
               struct err *e) MUST_CHECK;
void search_free(struct search *s); /* NULL ok */
/* A step that solves ends when it is set (hlo/support/stop.h), in place of the problem's. NULL:
 * never. */
void search_set_stop(struct search *s, const atomic_bool *stop);

/* One step. False when the algorithm is finished and did nothing. A network that diverges is
 * ERR_INPUT in *e with *failed set; the best plan stays. */
bool search_step(struct search *s, struct search_event *out);

const struct game *search_game(const struct search *s);
const struct search_best *search_best(const struct search *s);
const struct search_options *search_options(const struct search *s);
uint64_t search_episodes(const struct search *s);
uint64_t search_evaluations(const struct search *s); /* whole plans priced */
uint64_t search_conflicts(const struct search *s);
bool search_is_done(const struct search *s);
/* A step was ended by the flag of search_set_stop: the same steps done again may find more. */
bool search_is_cut(const struct search *s);
bool search_is_proven(const struct search *s); /* exact, or enumeration run to its end */

/* What SEARCH_TRWS rounds: its last relaxed plan, with its bound; NULL before it has one, and of
 * others. */
struct relaxed_plan;
const struct relaxed_plan *search_relaxed(const struct search *s);

/* Times that a search came to its natural end without being done: the DQN's stage 2 set back every
 * group several times and found nothing better. */
uint32_t search_rounds(const struct search *s);
/* The learner's settings for a game when none are given. */
const struct rl_settings *search_preset(const struct game_options *o);

/* The person's hand. Pins are as game_set_pins; a best plan that breaks one is shelved, and is the
 * best again when pins it keeps take their place and nothing better was found. */
int search_set_pins(struct search *s, const struct game_pin *pins, size_t count,
                    struct strict_clash *clash, struct err *e) MUST_CHECK;
/* The move's group is set back to open from the best plan; exploration is raised for a while and
 * the network kept. DQN only; others start over. */
void search_backtrack(struct search *s, uint32_t move);
/* Forces the next decision (DQN, at the present position). */
bool search_force(struct search *s, bool split, struct search_event *out);
/* New learner settings between decisions. False: out of range, nothing changed. */
bool search_configure(struct search *s, const struct rl_settings *rl);

/* A search in the middle of its work to bytes and back (rl/serialize.h); false: this algorithm has
 * no such form. To read, `s` must be new, made for the same problem with the saved search's options
 * and its pins set; it then goes on bit for bit as the saved one would have. Wrong bytes set
 * w->failed, and leave `s` to be freed only. */
bool search_serialize(struct search *s, struct rl_serializer *w);
/* Whether options that came from bytes are such: no enum or bool out of its range. */
bool search_options_are_sound(const struct search_options *o);

/* To look at, without disturbing: the agent of a DQN search (NULL otherwise), Q of both actions. */
struct rl_agent *search_agent(struct search *s);
bool search_q(struct search *s, float q[2]);
/* The plan of the network's best actions alone, from all open, and its score; `on` [classes] may be
 * NULL. -INFINITY: it ends in a conflict, or the search has no network. Not counted. O(an episode).
 */
double search_greedy_plan(struct search *s, label *on);
/* What the last change of pins kept of the replay: zeros when there was none, and of others. */
struct dqn_replay_note search_kept(const struct search *s);

#endif
