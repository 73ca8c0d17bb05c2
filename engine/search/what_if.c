#include "engine/search/what_if.h"

#include "engine/decide/classes.h"
#include "engine/decide/weak.h"
#include "engine/search/game.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <math.h>

/* A decision of the game, made here as well. */
struct step {
    struct weak_decision made; /* as the game holds it */
    size_t mark;               /* here: where its wave begins */
    size_t classes;            /* split before it */
};

struct what_if {
    uint32_t move;
    uint64_t asked; /* the last time, by what_ifs->questions */
    struct weak weak;
    struct step *steps;
    size_t step_count, step_room;
    size_t holds;      /* steps that were made without a conflict; SIZE_MAX: all */
    bool never;        /* the split alone is a conflict */
    class_id *classes; /* that it splits, in order */
    size_t class_count;
    uint8_t *is_split; /* [classes] */
};

struct what_ifs {
    struct what_if item[WHAT_IF_MOST];
    uint32_t count;
    uint64_t questions, settled;
};

static void release(struct what_if *x)
{
    weak_release(&x->weak);
    free(x->steps);
    free(x->classes);
    free(x->is_split);
    *x = (struct what_if){0};
}

/* The classes of values that the wave from `mark` on splits. */
static void list_classes(struct what_if *x, const struct classes *c, size_t mark)
{
    const struct weak *w = &x->weak;

    for (size_t n = mark; n < w->trail_count; n++) {
        if (w->trail[n].is_dim || w->status[w->trail[n].id] <= WEAK_WHOLE)
            continue;
        hlo_value v = w->trail[n].id;
        class_id k = c->class_of[class_dim(c, v, (uint32_t)w->status[v] - 1)];
        if (k == CLASS_NONE || x->is_split[k])
            continue;
        x->is_split[k] = 1;
        x->classes[x->class_count++] = k;
    }
}

static bool begin(struct what_if *x, const struct game *g, uint32_t move)
{
    const struct classes *c = &g->problem->classes;
    struct err ignored;

    *x = (struct what_if){.move = move, .holds = SIZE_MAX};
    x->classes = mem_try(c->count, sizeof *x->classes);
    x->is_split = mem_try(c->count, 1);
    if (!x->classes || !x->is_split || weak_new(&g->problem->labels, &x->weak, &ignored)) {
        release(x);
        return false;
    }
    x->never = !weak_decide(&x->weak, g->moves[move].dim, true);
    list_classes(x, c, 0);
    return true;
}

/* Back to the first `keep` steps. */
static void go_back(struct what_if *x, size_t keep)
{
    if (keep == x->step_count)
        return;
    const struct step *first = &x->steps[keep];
    weak_undo(&x->weak, first->mark);
    while (x->class_count > first->classes)
        x->is_split[x->classes[--x->class_count]] = 0;
    if (keep <= x->holds)
        x->holds = SIZE_MAX;
    x->step_count = keep;
}

static bool same_decision(const struct weak_decision *a, const struct weak_decision *b)
{
    return a->dim == b->dim && a->split == b->split;
}

/* How many steps are still the game's decisions. One with its serial is, and all before it are. */
static size_t steps_kept(struct what_if *x, const struct weak *game)
{
    size_t least = game->decision_count < x->step_count ? game->decision_count : x->step_count;
    size_t keep = least;

    while (keep && x->steps[keep - 1].made.serial != game->decisions[keep - 1].serial)
        keep--;
    while (keep < least && same_decision(&x->steps[keep].made, &game->decisions[keep])) {
        x->steps[keep].made = game->decisions[keep];
        keep++;
    }
    return keep;
}

/* Makes the decisions of the game that are missing here. */
static bool follow(struct what_if *x, const struct game *g)
{
    const struct weak *game = &g->weak;

    go_back(x, steps_kept(x, game));
    size_t more = game->decision_count - x->step_count;
    if (!mem_grow(&x->steps, &x->step_room, x->step_count, more))
        return false;
    while (x->step_count < game->decision_count) {
        size_t n = x->step_count++;
        struct step *s = &x->steps[n];
        *s = (struct step){game->decisions[n], weak_mark(&x->weak), x->class_count};
        if (x->never || x->holds != SIZE_MAX)
            continue;
        if (!weak_decide(&x->weak, s->made.dim, s->made.split))
            x->holds = n;
        list_classes(x, &g->problem->classes, s->mark);
        g->what_ifs->settled += weak_mark(&x->weak) - s->mark;
    }
    return true;
}

static double priced(struct game *g, const struct what_if *x)
{
    struct game_place here = game_here(g);
    double base = game_pinned_ms(g), before = log(base / game_step_ms(g));
    bool holds = true;

    for (size_t n = 0; n < x->class_count && holds; n++) {
        class_id k = x->classes[n];
        holds = g->state.on[k] || game_split_class(g, k);
    }
    double gain = log(base / game_step_ms(g)) - before;
    game_return(g, &here);
    return holds ? gain : -INFINITY;
}

static struct what_if *find(struct what_ifs *all, const struct game *g, uint32_t move)
{
    struct what_if *oldest = all->item;

    for (uint32_t n = 0; n < all->count; n++) {
        if (all->item[n].move == move)
            return &all->item[n];
        if (all->item[n].asked < oldest->asked)
            oldest = &all->item[n];
    }
    struct what_if fresh;
    if (!begin(&fresh, g, move))
        return NULL;
    if (all->count < WHAT_IF_MOST)
        oldest = &all->item[all->count++];
    else
        release(oldest);
    *oldest = fresh;
    all->settled += weak_mark(&fresh.weak);
    return oldest;
}

double what_if_split(struct game *g, uint32_t move)
{
    if (!g->what_ifs)
        g->what_ifs = mem_try(1, sizeof *g->what_ifs);
    if (!g->what_ifs)
        return NAN;
    struct what_if *x = find(g->what_ifs, g, move);
    if (!x || !follow(x, g))
        return NAN;
    x->asked = ++g->what_ifs->questions;
    return x->never || x->holds != SIZE_MAX ? -INFINITY : priced(g, x);
}

uint64_t what_if_settled(const struct game *g)
{
    return g->what_ifs ? g->what_ifs->settled : 0;
}

void what_ifs_free(struct what_ifs *w)
{
    for (uint32_t n = 0; w && n < w->count; n++)
        release(&w->item[n]);
    free(w);
}
