/* engine/search/game.h - the search as a game: one decision after the other until all is settled.
 *
 * A position asks about one move: split these classes along this axis (action 1) or leave them
 * whole (action 0). Moves are ordered by linkage-group size, large first (Auto-MAP 4.1): the dims
 * of variables that the decision settles by propagation alone. A position whose answer is settled
 * already is skipped. An episode ends when all moves are settled, or, with weak propagation, at a
 * conflict. Under `kind` opp the moves are classes with dims of variables, under adp those with
 * dims of inputs, under all both. With folding one move decides all classes of a colour.
 *
 * Rewards. paper: 0.4 per dim of a variable (adp: of an input; all: of either) settled split, 0.1
 * per dim settled whole, by the decision or by what follows from it; -1 for a conflict. cost:
 * ln(step before / step after) of the decision, what is undecided counted whole: the sum over an
 * episode is ln(baseline / step), so no order of decisions is favoured.
 *
 * With a memory limit the last decision of an episode is also paid the difference to what the plan
 * is worth within it (budget.h): a plan over the limit ends below any that fits. Of the cost reward
 * only.
 *
 * With weak propagation (decide/weak.h) the moves are the dims themselves, one each, those of
 * classes that can never be split among them; nothing is folded. An episode that walks into a
 * conflict ends with -1 under both rewards,
 * within a memory limit with what makes it one worse than the worst plan that fits.
 *
 * Pricing is incremental: a decision touches the cost tables of the classes it changes. Plain state
 * on top of a problem; not thread-safe; one per search. */
#ifndef AUTOMAP_ENGINE_SEARCH_GAME_H
#define AUTOMAP_ENGINE_SEARCH_GAME_H

#include "engine/cost/fold.h"
#include "engine/cost/step_tables.h"
#include "engine/decide/classes.h"
#include "engine/decide/strict.h"
#include "engine/decide/weak.h"
#include "engine/problem/problem.h"
#include "engine/search/budget.h"
#include "hlo/support/err.h"

enum game_kind { GAME_OPP, GAME_ADP, GAME_ALL };
enum game_reward { GAME_REWARD_COST, GAME_REWARD_PAPER };

#define MEMORY_LIMIT_DEVICE (-1.0) /* a device's memory less the margin (problem.h) */

struct game_options {
    double memory_limit; /* bytes of one device; 0: none; MEMORY_LIMIT_DEVICE */
    enum game_kind kind;
    enum game_reward reward;
    bool no_folding;
    bool weak; /* propagation finds conflicts only when it walks into them: splits that clash are
                  offered, and end the episode */
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
    uint32_t group;                /* dims of variables (adp: inputs) that splitting it settles */
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
    struct weak weak; /* options.weak: what is settled; `state` then holds the classes it splits */
    size_t weak_pinned; /* trail mark */
    uint8_t *counted;   /* weak: [values] 1: its dims earn the paper's reward */
    struct strict state;
    struct game_pin *pins; /* in force */
    size_t pin_count;
    size_t pinned;     /* trail mark: decisions below it are pins and stay */
    uint32_t position; /* move to decide; move_count: the episode is over */
    bool conflict;     /* it ended in one */
    struct strict_clash clash;
    double compute_ms, communication_ms; /* of the present state, undecided = whole */
    double total_reward;
    size_t wave;        /* trail mark before the last decision: state.trail[wave..] is its wave */
    uint64_t decisions; /* made since game_new, for rates */

    double pinned_compute_ms, pinned_communication_ms;
    uint8_t *group; /* [classes] scratch of game_reset_from */
};

bool game_options_equal(const struct game_options *a, const struct game_options *b);
/* Bytes that plans have to stay within; INFINITY: no limit. */
double game_limit_bytes(const struct problem *p, const struct game_options *o);

/* ERR_INPUT: a memory limit under the paper's reward. */
int game_new(const struct problem *p, const struct game_options *o, struct game *out,
             struct err *e) MUST_CHECK;
void game_release(struct game *g);

/* Pins: decided now and at the start of every episode. The running episode starts over.
 * ERR_INFEASIBLE (nothing changed) with the clash when they cannot all hold. Earlier pins are
 * replaced. */
int game_set_pins(struct game *g, const struct game_pin *pins, size_t count,
                  struct strict_clash *clash, struct err *e) MUST_CHECK;

void game_reset(struct game *g);
static inline bool game_is_over(const struct game *g)
{
    return g->position >= g->move_count;
}
static inline double game_step_ms(const struct game *g)
{
    return g->compute_ms + g->communication_ms;
}
/* Bit 0: leaving whole is possible; bit 1: splitting is. Never 0 before the end. */
uint32_t game_legal(const struct game *g);
/* Carries out a legal action; returns its reward. O(what changes). */
double game_play(struct game *g, bool split);
/* Takes back everything from trail mark `mark` on and stands at `position` again: for searches that
 * try and undo. Costs and reward are those given, as they were then. */
struct game_place {
    size_t mark, weak_mark;
    uint32_t position;
    double compute_ms, communication_ms, total_reward;
};
struct game_place game_here(const struct game *g);
void game_return(struct game *g, const struct game_place *place);

/* How an episode begins: with all open but the pins (count 0), or from an assignment with some
 * moves and their linkage groups set back (Auto-MAP's fine-tuning; a person's backtrack). What `on`
 * splits is split and what it leaves whole is whole, except the classes of the moves, those they
 * meet, and, where `on` splits one of these, what it meets in turn: what was whole because of it is
 * open with it. `turn`: the first move is then decided the other way than `on` has it, if it can.
 */
enum { GAME_OPENING_MOST = 4 };
struct game_opening {
    const label *on; /* [classes], borrowed */
    uint32_t move[GAME_OPENING_MOST], count;
    bool turn;
};
void game_reset_from(struct game *g, const struct game_opening *o);
/* By hand: behind game_reset, decides moves out of order, without reward (what is not possible
 * stays as it is); then the episode begins with the first that is open. */
void game_settle(struct game *g, uint32_t move, bool split);
void game_begin(struct game *g);
/* Moves that are open. */
uint32_t game_open_count(const struct game *g);

/* What the present state is worth under the options' reward: ln(baseline / step), or the paper's
 * sum over all settled dims of variables; over the memory limit less (budget.h), whole where
 * undecided. With a limit O(stored values). */
double game_score(const struct game *g);
double game_score_of(const struct game *g, const label *on,
                     struct step_cost *cost); /* of a whole plan */

/* Whether a whole plan fits, and whether one of this score does. Without a limit all do. */
bool game_fits(const struct game *g, const label *on);
bool game_score_fits(const struct game *g, double score);

/* False when classes that hold neither variables nor inputs can be split too: the moves leave them
 * whole, so the best of all moves is no proof against plans that split them. O(classes). */
bool game_decides_all(const struct game *g);
/* Dims of a class that earn the paper's reward: of variables, of inputs, or both, by kind. */
uint32_t game_weight(const struct game *g, class_id k);

/* Whether a whole plan splits a move. */
bool game_splits(const struct game *g, const label *on, uint32_t move);
/* Status of a move now: -1 open, 0 whole, 1 split. */
int game_status(const struct game *g, uint32_t move);

/* What a learner sees: per move 1 if split, per move 1 if whole, per move 1 at the position; then
 * the log-ratio of step time to baseline so far. Size: 3 moves + 1. */
uint32_t game_observation_size(const struct game *g);
void game_observe(const struct game *g, float *out);

#endif
