/* The DQN's opponents: random, greedy, enumeration with pruning, annealing, the exact solver. Each
 * step prices one whole plan. */
#include "engine/cost/step_tables.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/decide/strict.h"
#include "engine/plan/plan.h"
#include "engine/problem/problem.h"
#include "engine/search/game.h"
#include "engine/search/optimum.h"
#include "engine/search/search.h"
#include "engine/search/search_ops.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/stop.h"
#include "rl/rng.h"
#include "rl/serialize.h"

#include <math.h>
#include <string.h>

static const char MEMORY_FOR[] = "for the search";

/* ---- random and greedy: the same walk, another way to choose ---- */

struct walk {
    struct rl_rng rng;
    uint64_t walks;
};

static int walk_start(struct search *s, struct err *e)
{
    struct walk *w = mem_try(1, sizeof *w);

    s->self = w;
    if (!w)
        return err_no_memory(e, MEMORY_FOR);
    rl_rng_seed(&w->rng, s->options.seed, 1);
    return 0;
}

static void walk_stop(struct search *s)
{
    free(s->self);
    s->self = NULL;
}

static void walk_pins_changed(struct search *s)
{
    ((struct walk *)s->self)->walks = 0;
}

static void plain_serialize(struct search *s, struct rl_serializer *w)
{
    struct walk *own = s->self;

    RL_ONE(w, own->rng.s);
    RL_ONE(w, own->walks);
}

static bool choose_random(struct search *s)
{
    struct walk *w = s->self;
    uint32_t legal = game_legal(&s->game);

    return legal == 3 ? rl_rng_below(&w->rng, 2) : legal == 2;
}

static bool random_step(struct search *s, struct search_event *out)
{
    struct game *g = &s->game;

    game_reset(g);
    while (!game_is_over(g))
        game_play(g, choose_random(s));
    search_ended(s, g->state.on, g->conflict, out);
    if (!g->move_count)
        s->done = true;
    return true;
}

/* Worth of an action: its reward, tried and taken back. Within a memory limit that of the plan
 * which leaves whole what is undecided: the reward knows the limit at the end only. */
static double worth_of_move(struct game *g, bool split)
{
    struct game_place here = game_here(g);
    double reward = game_play(g, split);

    if (g->budget && !g->conflict)
        reward = game_score(g);
    game_return(g, &here);
    return reward;
}

/* First walk greedy from the start; each later one after a random beginning of random length. */
static bool greedy_step(struct search *s, struct search_event *out)
{
    struct game *g = &s->game;
    struct walk *w = s->self;

    game_reset(g);
    uint32_t random = w->walks++ && g->move_count ? rl_rng_below(&w->rng, g->move_count) : 0;
    while (!game_is_over(g)) {
        uint32_t legal = game_legal(g);
        bool split = legal == 2;
        if (legal == 3)
            split = random           ? random--,
            rl_rng_below(&w->rng, 2) : worth_of_move(g, true) > worth_of_move(g, false);
        game_play(g, split);
    }
    search_ended(s, g->state.on, g->conflict, out);
    if (!g->move_count)
        s->done = true;
    return true;
}

const struct search_ops search_random = {walk_start, walk_stop, random_step, walk_pins_changed,
                                         plain_serialize};
const struct search_ops search_greedy = {walk_start, walk_stop, greedy_step, walk_pins_changed,
                                         plain_serialize};

/* ---- enumeration: depth first, split before whole ---- */

struct branch {
    struct game_place place;
    uint8_t tried; /* actions: bit 1 split, bit 0 whole */
};

struct enumeration {
    struct branch *stack; /* [moves + 1] */
    uint32_t depth;
    bool begun;
};

static int enumerate_start(struct search *s, struct err *e)
{
    struct enumeration *n = mem_try(1, sizeof *n);

    s->self = n;
    if (!n)
        return err_no_memory(e, MEMORY_FOR);
    n->stack = mem_try((size_t)s->game.move_count + 1, sizeof *n->stack);
    return n->stack ? 0 : err_no_memory(e, MEMORY_FOR);
}

static void enumerate_stop(struct search *s)
{
    free(((struct enumeration *)s->self)->stack);
    free(s->self);
    s->self = NULL;
}

static void enumerate_pins_changed(struct search *s)
{
    struct enumeration *n = s->self;

    n->begun = false;
    n->depth = 0;
}

/* Least value of a term that the statuses still allow: an axis can only go to a class that is not
 * whole along it, and must go to one that is split. */
static double term_bound(const struct game *g, const struct term *t)
{
    const struct step_tables *terms = &g->problem->step_tables;
    double least = INFINITY;

    for (uint32_t entry = 0; entry < t->entries; entry++) {
        uint32_t rest = entry;
        bool possible = true;
        for (uint32_t x = 0; x < terms->labels->axes && possible; x++, rest /= t->class_count + 1) {
            uint32_t owner = rest % (t->class_count + 1);
            for (uint32_t k = 0; k < t->class_count && possible; k++) {
                int status = strict_status(&g->state, terms->class_pool[t->classes + k], x);
                possible = owner == k + 1 ? status != 0 : status != 1;
            }
        }
        double value =
            terms->compute_ms[t->table + entry] + terms->communication_ms[t->table + entry];
        if (possible && value < least)
            least = value;
    }
    return least;
}

/* No completion of the present state scores higher: a memory limit only takes away. */
static double optimistic_score(const struct game *g)
{
    const struct problem *p = g->problem;

    if (g->options.reward == GAME_REWARD_PAPER) {
        double score = 0;
        for (class_id k = 0; k < p->classes.count; k++) {
            bool may_split =
                g->state.on[k] || (label)(g->state.on[k] | g->state.off[k]) != g->state.all;
            score += (may_split ? PAPER_REWARD_PARTITIONED : PAPER_REWARD_REPLICATED) *
                     game_weight(g, k);
        }
        return score;
    }
    double ms = p->step_tables.fixed_ms;
    for (uint32_t n = 0; n < p->step_tables.count; n++)
        ms += term_bound(g, &p->step_tables.items[n]);
    return log((game_pinned_ms(g)) / ms);
}

static void push_branch(struct enumeration *n, const struct game *g)
{
    n->stack[n->depth++] = (struct branch){.place = game_here(g)};
}

/* Goes on from the deepest branch with an action left to the next whole plan that is not cut. */
static bool enumerate_step(struct search *s, struct search_event *out)
{
    struct enumeration *n = s->self;
    struct game *g = &s->game;

    if (!n->begun) {
        n->begun = true;
        game_reset(g);
        if (game_is_over(g)) {
            search_ended(s, g->state.on, false, out);
            s->done = true;
            s->proven = game_decides_all(&s->game);
            return true;
        }
        push_branch(n, g);
    }
    while (n->depth) {
        struct branch *b = &n->stack[n->depth - 1];
        game_return(g, &b->place);
        uint32_t left = game_legal(g) & ~(uint32_t)b->tried;
        if (!left) {
            n->depth--;
            continue;
        }
        bool split = left & 2;
        b->tried |= split ? 2 : 1;
        game_play(g, split);
        if (g->conflict || optimistic_score(g) <= s->best.score + 1e-12)
            continue;
        if (game_is_over(g)) {
            search_ended(s, g->state.on, false, out);
            return true;
        }
        push_branch(n, g);
    }
    s->done = true;
    s->proven = game_decides_all(&s->game);
    return false;
}

/* The branches again as they stand: below each but the last lies its last action tried. */
static void branch_again(struct search *s, struct rl_serializer *w)
{
    struct enumeration *n = s->self;
    struct game *g = &s->game;

    game_reset(g);
    for (uint32_t k = 0; k < n->depth && !w->failed; k++) {
        struct branch *b = &n->stack[k];
        if (game_is_over(g) || b->tried > 3) {
            w->failed = true;
            return;
        }
        b->place = game_here(g);
        bool last = k + 1 == n->depth, split = !(b->tried & 1); /* split is tried first */
        w->failed |= !last && !(game_legal(g) >> split & 1);
        if (!last && !w->failed)
            game_play(g, split);
    }
}

static void enumerate_serialize(struct search *s, struct rl_serializer *w)
{
    struct enumeration *n = s->self;

    rl_serialize_flag(w, &n->begun);
    RL_ONE(w, n->depth);
    w->failed |= n->depth > s->game.move_count + 1;
    for (uint32_t k = 0; k < n->depth && !w->failed; k++)
        RL_ONE(w, n->stack[k].tried);
    if (w->pass == RL_READ && !w->failed)
        branch_again(s, w);
}

const struct search_ops search_enumerate = {enumerate_start, enumerate_stop, enumerate_step,
                                            enumerate_pins_changed, enumerate_serialize};

/* ---- annealing: flips of one move of a whole plan ---- */

struct annealing {
    struct rl_rng rng;
    label *on, *trial; /* [classes] */
    double score;
    uint64_t steps;
};

static int anneal_start(struct search *s, struct err *e)
{
    struct annealing *a = mem_try(1, sizeof *a);
    size_t count = s->game.problem->classes.count;

    s->self = a;
    if (!a)
        return err_no_memory(e, MEMORY_FOR);
    a->on = mem_try(count, sizeof *a->on);
    a->trial = mem_try(count, sizeof *a->trial);
    rl_rng_seed(&a->rng, s->options.seed, 1);
    return a->on && a->trial ? 0 : err_no_memory(e, MEMORY_FOR);
}

static void anneal_stop(struct search *s)
{
    struct annealing *a = s->self;

    free(a->on);
    free(a->trial);
    free(a);
    s->self = NULL;
}

static void anneal_pins_changed(struct search *s)
{
    ((struct annealing *)s->self)->steps = 0;
}

/* Splits a class along an axis in an assignment: what it meets gives the axis up. False when a pin
 * or the class's labels forbid it. */
static bool take_axis(const struct game *g, label *on, class_id k, label bit)
{
    const struct classes *c = &g->problem->classes;

    if (!label_is_admissible(&g->problem->labels, k, on[k] | bit) || (g->state.off[k] & bit))
        return false;
    on[k] |= bit;
    for (uint32_t n = 0; n < c->info[k].meet_count; n++) {
        class_id other = c->meets[c->info[k].meets + n].other;
        if (g->state.on[other] & bit)
            return false;
        on[other] &= (label)~bit;
    }
    return true;
}

static bool flip_move(const struct game *g, uint32_t move, label *on)
{
    const struct game_move *m = &g->moves[move];
    label bit = (label)(1u << m->axis);
    bool split = !(on[g->pool[m->classes]] & bit);

    for (uint32_t n = 0; n < m->class_count; n++) {
        class_id k = g->pool[m->classes + n];
        if (split && !take_axis(g, on, k, bit))
            return false;
        if (!split && (g->state.on[k] & bit))
            return false;
        if (!split)
            on[k] &= (label)~bit;
    }
    for (class_id k = 0; k < g->problem->classes.count;
         k++) { /* giving an axis up may leave an inadmissible rest */
        if (on[k] && !label_is_admissible(&g->problem->labels, k, on[k]))
            return false;
    }
    return true;
}

/* Scores are logarithms of step time, or sums of 0.1 and 0.4: temperatures from about the
 * difference of one decision down to a hundredth of it, cooling geometrically; then it starts over.
 */
static double temperature(const struct search *s, uint64_t step)
{
    double share = (double)(step % s->options.anneal_steps) / s->options.anneal_steps;
    double hot = s->options.game.reward == GAME_REWARD_PAPER ? 2.0 : 0.3;

    return hot * pow(1e-3, share);
}

static bool anneal_step(struct search *s, struct search_event *out)
{
    struct annealing *a = s->self;
    struct game *g = &s->game;
    size_t count = g->problem->classes.count;
    struct step_cost cost;

    if (a->steps % s->options.anneal_steps == 0) {
        game_reset(g); /* leaves exactly the pins in g->state */
        memcpy(a->on, g->state.on, count * sizeof *a->on);
        a->score = game_score_of(g, a->on, &cost);
    }
    a->steps++;
    memcpy(a->trial, a->on, count * sizeof *a->on);
    if (!g->move_count || !flip_move(g, rl_rng_below(&a->rng, g->move_count), a->trial))
        memcpy(a->trial, a->on, count * sizeof *a->on);
    search_ended(s, a->trial, false, out);
    if (out->score >= a->score ||
        rl_rng_unit(&a->rng) < exp((out->score - a->score) / temperature(s, a->steps))) {
        memcpy(a->on, a->trial, count * sizeof *a->on);
        a->score = out->score;
    }
    s->done = !g->move_count;
    return true;
}

static void anneal_serialize(struct search *s, struct rl_serializer *w)
{
    struct annealing *a = s->self;

    RL_ONE(w, a->rng.s);
    RL_ONE(w, a->score);
    RL_ONE(w, a->steps);
    search_serialize_labels(s, w, a->on);
}

const struct search_ops search_anneal = {anneal_start, anneal_stop, anneal_step,
                                         anneal_pins_changed, anneal_serialize};

/* ---- exact ---- */

static int exact_start(struct search *s, struct err *e)
{
    s->self = mem_try(1, 1);
    return s->self ? 0 : err_no_memory(e, MEMORY_FOR);
}

static void exact_stop(struct search *s)
{
    free(s->self);
    s->self = NULL;
}

static bool exact_step(struct search *s, struct search_event *out)
{
    struct game *g = &s->game;
    struct optimum r;
    struct err e;

    s->done = true;
    game_reset(g);
    if (optimum_find(g->problem, &g->options, &g->state, s->stop, &r, &e)) {
        s->no_memory = e.code == ERR_MEMORY;
        return false;
    }
    search_ended(s, r.on, false, out);
    s->proven = r.proven;
    s->is_cut = stop_asked(s->stop);
    optimum_release(&r);
    return true;
}

static void exact_pins_changed(struct search *s)
{
    (void)s;
}

static void exact_serialize(struct search *s, struct rl_serializer *w)
{
    (void)s, (void)w; /* one step, and nothing to remember */
}

const struct search_ops search_exact = {exact_start, exact_stop, exact_step, exact_pins_changed,
                                        exact_serialize};
