#include "tui/watch/price.h"

#include "engine/cost/step_tables.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/decide/strict.h"
#include "engine/live/snapshot.h"
#include "engine/plan/plan.h"
#include "engine/problem/problem.h"
#include "engine/search/game.h"
#include "engine/search/optimum.h"
#include "hlo/support/err.h"
#include "tui/watch/plan_diff.h"

#include <string.h>

/* Classes eliminated, each case anew: some 30 ms. A count, not a clock: what is on the screen does
 * not hang on what else the machine does. */
static const double SLOW_CLASSES = 250e3;

static bool is_slow(const struct watch *w)
{
    return w->exact && (double)w->exact->nodes * w->problem->classes.count > SLOW_CLASSES;
}

static bool pin_move(const struct watch *w, struct strict *s, int move, bool split)
{
    const struct game_move *m = &w->moves->items[move];

    for (uint32_t n = 0; n < m->class_count; n++) {
        if (!strict_decide(s, w->moves->pool[m->classes + n], m->axis, split, NULL))
            return false;
    }
    return true;
}

static bool pin_all(const struct watch *w, struct strict *s, int first, int count, int split)
{
    for (int n = first; split >= 0 && n < first + count; n++) {
        if (!pin_move(w, s, n, split == 1))
            return false;
    }
    for (uint32_t n = 0; n < w->shot->pin_count; n++) {
        const struct live_pin *pin = &w->shot->pins[n]; /* maybe of no decision of this search */
        bool asked =
            split >= 0 && pin->move >= (uint32_t)first && pin->move < (uint32_t)(first + count);
        if (!asked && !strict_decide(s, pin->class, pin->axis, pin->split, NULL))
            return false;
    }
    return true;
}

static void count_reduces(const struct watch *w, label *on, struct price *p)
{
    struct plan plan = {.problem = w->problem, .on = on};
    struct plan_collective *items = NULL;
    size_t count = 0;
    struct err e;

    if (plan_collectives(&plan, &items, &count, &e))
        return;
    for (size_t n = 0; n < count; n++) {
        p->reduces += items[n].count;
        p->reduced_bytes += items[n].bytes;
    }
    free(items);
}

static uint32_t count_changes(const struct watch *w, const label *on)
{
    uint32_t changes = 0;

    for (int n = 0; n < w->move_count && w->exact; n++) {
        const struct game_move *m = &w->moves->items[n];
        bool same = true;
        for (uint32_t i = 0; i < m->class_count; i++) {
            class_id k = w->moves->pool[m->classes + i];
            same = same && !((on[k] ^ w->exact->on[k]) >> m->axis & 1);
        }
        changes += !same;
    }
    return changes;
}

static double peak_memory(const struct watch *w, label *on)
{
    struct plan_figures figures;
    struct err e;
    return plan_figures(w, on, &figures, &e) ? 0 : figures.memory;
}

static struct price find_price(const struct watch *w, int first, int count, int split,
                               bool with_memory)
{
    struct game_options game = w->shot->options.game;
    struct price p = {.known = false};
    struct optimum r;
    struct strict s;
    struct err e;

    game.reward = GAME_REWARD_COST; /* prices are times */
    if (is_slow(w) || strict_new(&w->problem->labels, &s, &e))
        return p;
    p.impossible = !pin_all(w, &s, first, count, split);
    if (!p.impossible && !optimum_find(w->problem, &game, &s, w->problem->stop, &r, &e)) {
        p.known = r.fits;
        p.over = !r.fits;
        p.proven = r.proven;
        p.cost = step_tables_cost(&w->problem->step_tables, r.on);
        p.changes = count_changes(w, r.on);
        count_reduces(w, r.on, &p);
        p.memory = with_memory || p.over ? peak_memory(w, r.on) : 0;
        optimum_release(&r);
    }
    strict_release(&s);
    return p;
}

struct price price_of_series(const struct watch *w, int first, int count, int split)
{
    return find_price(w, first, count, split, false);
}

struct price price_at_best(const struct watch *w, int move, int split)
{
    return find_price(w, move, 1, split, false);
}

struct price price_with_memory(const struct watch *w, int move, int split)
{
    return find_price(w, move, 1, split, true);
}
