/* engine/search/game.h - the search as a game: one decision after another until everything is
 * settled.
 *
 * Each position offers one move: split certain classes along an axis (action 1) or leave them whole
 * (action 0). Moves are ordered by the size of their linkage group, largest first (Auto-MAP 4.1):
 * the number of variables' dims that the decision settles by propagation. Positions already settled
 * are skipped. An episode ends when all moves are settled or, with weak propagation, at a conflict.
 * With `kind` opp the moves are classes with dims of variables, with adp those with dims of inputs,
 * with all both, and with the cost reward those with neither too, like a batch of noise that the
 * step draws itself. With folding one move decides all classes of a colour.
 *
 * Rewards. paper: 0.4 for each dim of a variable (adp: of an input; all: of either) settled as
 * split, 0.1 for each settled as whole, by the decision or its consequences; -1 for a conflict.
 * cost: ln(step before / step after) of the decision, with undecided classes counted as whole. Over
 * an episode that sums to ln(baseline / step), so no order of decisions is favoured.
 *
 * With a memory limit, which needs the cost reward, the last decision of an episode also receives
 * the difference to the plan's worth within the limit (budget.h), so a plan over the limit ends
 * below any that fits.
 *
 * With weak propagation (decide/weak.h) every dim is a move of its own, even if its class can never
 * be split; nothing is folded. An episode that runs into a conflict ends with -1 under both
 * rewards, and under a memory limit with a total 1 below the worst plan that fits.
 *
 * Candidate inputs of adp are the parameters recognised as data. With `paper_candidates` they are
 * Auto-MAP's, which knows no roles: every entry parameter but variables and what is kept of them
 * from step to step, so random keys and the like too.
 *
 * Pricing is incremental: a decision touches only the cost tables of the classes it changes. Plain
 * state over a problem; not thread-safe; one per search. */
#ifndef AUTOMAP_ENGINE_SEARCH_GAME_H
#define AUTOMAP_ENGINE_SEARCH_GAME_H

#include "engine/cost/fold.h"
#include "engine/cost/overlap.h"
#include "engine/cost/step_tables.h"
#include "engine/decide/classes.h"
#include "engine/decide/strict.h"
#include "engine/decide/weak.h"
#include "engine/problem/problem.h"
#include "engine/search/budget.h"
#include "engine/search/what_if.h"
#include "hlo/support/err.h"

enum game_kind { GAME_OPP, GAME_ADP, GAME_ALL };
enum game_reward { GAME_REWARD_COST, GAME_REWARD_PAPER };

#define MEMORY_LIMIT_DEVICE (-1.0) /* a device's memory minus the margin (problem.h) */

struct game_options {
    double memory_limit; /* bytes of one device; 0: none; MEMORY_LIMIT_DEVICE */
    enum game_kind kind;
    enum game_reward reward;
    bool no_folding;
    bool weak;        /* weak propagation: offers splits that clash, and a clash ends the episode */
    bool paper_state; /* game_observe writes what Auto-MAP's learner sees */
    bool paper_candidates; /* weak: Auto-MAP's candidate inputs, below */
};

struct game_pin {
    class_id class;
    uint8_t axis;
    bool split;
};

struct game_move {
    uint32_t classes, class_count; /* into game->pool */
    uint32_t axis;
    uint32_t var_dims, input_dims; /* of its classes */
    dim_id dim;                    /* weak: the dim decided */
    uint32_t group;                /* dims of variables (adp: of inputs) that splitting it
                                      settles */
};

struct game {
    const struct problem *problem;
    struct game_options options;
    struct fold fold;
    struct game_move *moves;
    uint32_t move_count;
    class_id *pool;
    uint32_t pool_count;
    uint32_t *move_of; /* [classes x axes] move that decides it; UINT32_MAX: none */

    struct budget *budget; /* NULL: no memory limit */
    struct weak weak; /* with options.weak: the settled values; `state` then holds the classes they
                         split */
    size_t weak_pinned;        /* trail mark */
    struct what_ifs *what_ifs; /* weak: of what_if.h, once asked for */
    uint8_t *counted;          /* weak: [values] 1: its dims count for the paper's reward */
    struct strict state;
    struct game_pin *pins; /* in force */
    size_t pin_count;
    size_t pinned;     /* trail mark: decisions below it are pins and stay */
    uint32_t position; /* move to decide; move_count: the episode is over */
    bool conflict;     /* the episode ended in one */
    struct strict_clash clash;
    /* of the current state; undecided counts as whole. What is not hidden of beside_ms (overlap.h)
     * comes on top */
    double compute_ms, communication_ms, beside_ms;
    double total_reward;
    size_t wave;        /* trail mark before the last decision: its wave is state.trail[wave..] */
    uint64_t decisions; /* made since game_new, for rates */

    double pinned_compute_ms, pinned_communication_ms, pinned_beside_ms;
    uint8_t *group; /* [classes] scratch of game_reset_from */
};

bool game_options_equal(const struct game_options *a, const struct game_options *b);
/* By game_kind: "variables", "inputs", "variables and inputs". */
extern const char *const game_decides[3];
/* What the optimum of a game is the best of: "strict plans on this mesh that split variables alone,
 * with the pins given, within the memory limit". */
void game_scope(const struct game_options *o, uint32_t pins, char *out, size_t room);

/* Bytes that plans must not exceed; INFINITY: no limit. */
double game_limit_bytes(const struct problem *p, const struct game_options *o);

/* ERR_INPUT: a memory limit under the paper's reward; the paper's candidates under full
 * propagation, which offers classes, not dims. */
int game_new(const struct problem *p, const struct game_options *o, struct game *out,
             struct err *e) MUST_CHECK;
void game_release(struct game *g);

/* Replaces the pins, which are decided now and at the start of every episode, and restarts the
 * episode. ERR_INFEASIBLE with *clash if they cannot all hold; then nothing changes. */
int game_set_pins(struct game *g, const struct game_pin *pins, size_t count,
                  struct strict_clash *clash, struct err *e) MUST_CHECK;

void game_reset(struct game *g);
static inline bool game_is_over(const struct game *g)
{
    return g->position >= g->move_count;
}
static inline double game_step_ms(const struct game *g)
{
    return g->compute_ms + g->communication_ms +
           overlap_excess(&g->problem->step_tables.overlap, g->compute_ms, g->beside_ms);
}
/* The same of the pins alone. */
static inline double game_pinned_ms(const struct game *g)
{
    return g->pinned_compute_ms + g->pinned_communication_ms +
           overlap_excess(&g->problem->step_tables.overlap, g->pinned_compute_ms,
                          g->pinned_beside_ms);
}
/* Bit 0: leaving whole is possible; bit 1: splitting is. Never 0 before the end. */
uint32_t game_legal(const struct game *g);
/* Carries out a legal action; returns its reward. O(what changes). */
double game_play(struct game *g, bool split);
/* A place to return to, for searches that try and undo: game_return undoes everything after trail
 * mark `mark` and restores position, costs and reward. */
struct game_place {
    size_t mark, weak_mark;
    uint32_t position;
    double compute_ms, communication_ms, beside_ms, total_reward;
};
/* Weak: splits a class in the state of classes and in the price, as a wave does that splits a
 * value. False: it clashes, and nothing changed. */
bool game_split_class(struct game *g, class_id k);
struct game_place game_here(const struct game *g);
void game_return(struct game *g, const struct game_place *place);

/* How an episode begins: with everything open except the pins (count 0), or from an assignment with
 * some moves and their linkage groups reopened (Auto-MAP's fine-tuning; a person's backtrack).
 * Classes start as in `on`, except for the classes of these moves, those they meet and, where `on`
 * splits one of the latter, those it meets in turn, which were whole because of it. `turn`: the
 * first move is then decided opposite to `on`, if possible. */
enum { GAME_OPENING_MOST = 4 };
struct game_opening {
    const label *on; /* [classes], borrowed */
    uint32_t move[GAME_OPENING_MOST], count;
    bool turn;
};
void game_reset_from(struct game *g, const struct game_opening *o);
/* A manual opening: after game_reset, game_settle decides moves in any order without reward (and
 * ignores impossible ones); game_begin then starts the episode at the first open move. */
void game_settle(struct game *g, uint32_t move, bool split);
void game_begin(struct game *g);
/* The number of open moves. */
uint32_t game_open_count(const struct game *g);

/* The worth of the current state under the options' reward: ln(baseline / step) with undecided
 * classes whole, less if over the memory limit (budget.h); or the paper's sum over all settled dims
 * of variables. O(stored values) with a limit. */
double game_score(const struct game *g);
double game_score_of(const struct game *g, const label *on,
                     struct step_cost *cost); /* of a whole plan */

/* Whether a complete plan fits, and whether one with this score does. Without a limit all do. */
bool game_fits(const struct game *g, const label *on);
bool game_score_fits(const struct game *g, double score);

/* Whether moves of full propagation split the class. */
bool game_may_split(const struct game *g, class_id k);
/* False if moves leave some class whole that can be split: an optimum over moves proves nothing
 * about plans that split it. O(classes). */
bool game_decides_all(const struct game *g);
/* Dims of a class that count for the paper's reward: of variables, of inputs, or both, by kind. */
uint32_t game_weight(const struct game *g, class_id k);

/* The share of the dims that the game decides which are settled now, by decisions, by what
 * followed, or pinned (Auto-MAP's figure 16). 1 without moves. O(moves). */
double game_progress(const struct game *g);

/* Whether a complete plan keeps the pins. */
bool game_keeps_pins(const struct game *g, const label *on);
/* Whether a complete plan of the same problem is one of this game: it keeps the pins, and what it
 * splits moves or pins split. Folded classes may differ. O(classes). */
bool game_holds(const struct game *g, const label *on);
/* Whether a complete plan splits a move. */
bool game_splits(const struct game *g, const label *on, uint32_t move);
/* Status of a move now: -1 open, 0 whole, 1 split. */
int game_status(const struct game *g, uint32_t move);

/* What a learner sees: for each move 1 if split, for each move 1 if whole, for each move 1 if it is
 * next; then the log-ratio of step time to baseline so far. Size: 3 x moves + 1.
 * With `paper_state` (Auto-MAP 4.1): for each move -1 open, 0 whole, 1 split; then the position as
 * an integer. Size: moves + 1. */
uint32_t game_observation_size(const struct game *g);
void game_observe(const struct game *g, float *out);
/* Reads an observation back: the status of every move [moves], and the position. */
void game_observed(const struct game *g, const float *seen, int8_t *status, uint32_t *position);

#endif
