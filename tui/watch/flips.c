#include "tui/watch/flips.h"

#include "engine/cost/step_tables.h"
#include "engine/decide/classes.h"
#include "engine/decide/strict.h"
#include "engine/live/snapshot.h"
#include "engine/problem/problem.h"
#include "engine/search/game.h"
#include "hlo/support/clock.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "tui/watch/price.h"
#include "tui/watch/watch.h"

#include <stdlib.h>
#include <string.h>

struct flips {
    const struct live_moves *moves; /* only compared, as long as `plan` is held */
    struct live_plan *plan, *exact; /* held */
    struct flip *of;                /* [count] by first move, of so many moves: */
    int *together;
    struct turned *anew; /* [count], of so many: */
    int *anew_together;
    int count;
};

struct flips *flips_new(void)
{
    return mem_alloc(sizeof(struct flips));
}

static void forget_flips(struct flips *f)
{
    live_plan_release(f->plan);
    live_plan_release(f->exact);
    free(f->of);
    free(f->together);
    free(f->anew);
    free(f->anew_together);
    *f = (struct flips){0};
}

void flips_free(struct flips *f)
{
    if (!f)
        return;
    forget_flips(f);
    free(f);
}

/* Keeps what is known as long as the best plan and the optimum, which follows the pins, stay. */
static void follow_plan(struct flips *f, const struct watch *w)
{
    if (f->plan == w->best && f->exact == w->exact && f->moves == w->moves)
        return;
    forget_flips(f);
    f->plan = live_plan_share(w->best);
    f->exact = w->exact ? live_plan_share(w->exact) : NULL;
    f->moves = w->moves;
    f->count = w->move_count;
    f->of = mem_alloc(((size_t)f->count + 1) * sizeof *f->of);
    f->together = mem_alloc(((size_t)f->count + 1) * sizeof *f->together);
    f->anew = mem_alloc(((size_t)f->count + 1) * sizeof *f->anew);
    f->anew_together = mem_alloc(((size_t)f->count + 1) * sizeof *f->anew_together);
}

static bool any_split(const struct watch *w, int first, int count)
{
    for (int n = first; n < first + count; n++) {
        if (w->move[n].best)
            return true;
    }
    return false;
}

/* What is turned: every class of some moves, or one class of them; without moves, that class. */
struct turn {
    int first, count;
    class_id only;   /* CLASS_NONE: all */
    bool split;      /* to this, where not */
    const label *to; /* [classes]; NULL: as `split` says */
};

static bool is_turned(const struct turn *t, int move, class_id k)
{
    return move >= t->first && move < t->first + t->count &&
           (t->only == CLASS_NONE || t->only == k);
}

/* One class on every axis; false: it can not be so. */
static bool take_class(const struct watch *w, struct strict *s, const struct turn *t)
{
    bool can = true;

    for (uint32_t x = 0; x < w->problem->mesh.axes; x++)
        can &= strict_decide(s, t->only, x, t->to[t->only] >> x & 1, NULL);
    return can;
}

/* Decides what is turned; false: none of it can be, or not all of it as `to` has it. */
static bool turn(const struct watch *w, struct strict *s, const struct turn *t)
{
    bool any = false, all = true;

    if (!t->count)
        return take_class(w, s, t);

    for (int n = t->first; n < t->first + t->count; n++) {
        const struct game_move *m = &w->moves->items[n];
        for (uint32_t i = 0; i < m->class_count; i++) {
            class_id k = w->moves->pool[m->classes + i];
            bool split = t->to ? t->to[k] >> m->axis & 1 : t->split;
            if (!is_turned(t, n, k))
                continue;
            bool can = strict_decide(s, k, m->axis, split, NULL);
            any |= can;
            all &= can;
        }
    }
    return t->to ? all : any;
}

/* The rest as the plan has it, decisions in their order, then what none decides. */
static uint32_t keep_rest(const struct watch *w, struct strict *s, const label *on,
                          const struct turn *t)
{
    uint32_t in_way = 0;

    for (int n = 0; n < w->move_count; n++) {
        const struct game_move *m = &w->moves->items[n];
        bool stays = true;
        for (uint32_t i = 0; i < m->class_count; i++) {
            class_id k = w->moves->pool[m->classes + i];
            if (!is_turned(t, n, k) && on[k] >> m->axis & 1)
                stays &= strict_decide(s, k, m->axis, true, NULL);
        }
        in_way += !stays;
    }
    for (class_id k = 0; k < w->problem->classes.count; k++) {
        for (uint32_t x = 0; on[k] && x < w->problem->mesh.axes; x++) {
            if (on[k] >> x & 1 && watch_move_of(w, k) == MOVE_NONE && (t->count || t->only != k))
                in_way += !strict_decide(s, k, x, true, NULL);
        }
    }
    return in_way;
}

static bool carry_out(const struct watch *w, const struct turn *t, label *on, uint32_t *in_way)
{
    struct strict s;
    struct err e;

    if (strict_new(&w->problem->labels, &s, &e))
        return false;
    bool can = turn(w, &s, t);
    if (can) {
        *in_way = keep_rest(w, &s, on, t);
        memcpy(on, s.on, (size_t)w->problem->classes.count * sizeof *on);
    }
    strict_release(&s);
    return can;
}

bool flips_turn(const struct watch *w, int first, int count, class_id only, bool split, label *on,
                uint32_t *in_way)
{
    return carry_out(w, &(struct turn){first, count, only, split, NULL}, on, in_way);
}

bool flips_take(const struct watch *w, int move, class_id k, const label *to, label *on,
                uint32_t *in_way)
{
    bool all = move != MOVE_NONE;
    return carry_out(w, &(struct turn){all ? move : 0, all, all ? CLASS_NONE : k, false, to}, on,
                     in_way);
}

static struct flip work_out(const struct watch *w, int first, int count)
{
    struct flip p = {.known = true, .impossible = true};
    size_t size = (size_t)w->problem->classes.count * sizeof(label);
    label *on = mem_alloc(size + 1);

    memcpy(on, w->best->on, size);
    p.split = !any_split(w, first, count);
    p.impossible = !flips_turn(w, first, count, CLASS_NONE, p.split, on, &p.in_way);
    if (!p.impossible)
        p.change_ms = step_tables_cost(&w->problem->step_tables, on).step_ms -
                      step_tables_cost(&w->problem->step_tables, w->best->on).step_ms;
    free(on);
    return p;
}

/* Moves of which only one can be split, none of which the best plan splits. */
static bool are_exclusive(const struct watch *w, int first, int count)
{
    return count > 1 && w->move[first].series_only != MOVE_NONE && !any_split(w, first, count);
}

static struct flip work_out_one(const struct watch *w, int first, int count)
{
    struct flip best = {.known = true, .impossible = true};

    for (int n = first; n < first + count; n++) {
        struct flip p = work_out(w, n, 1);
        if (!p.impossible && (best.impossible || p.change_ms < best.change_ms))
            best = p;
    }
    best.one = true;
    return best;
}

struct flip flips_of(struct flips *f, const struct watch *w, int first, int count, double until_s)
{
    if (!w->best)
        return (struct flip){0};
    follow_plan(f, w);
    if (f->together[first] == count && f->of[first].known)
        return f->of[first];
    if (until_s > 0 && clock_seconds() > until_s)
        return (struct flip){0};
    f->together[first] = count;
    f->of[first] =
        are_exclusive(w, first, count) ? work_out_one(w, first, count) : work_out(w, first, count);
    return f->of[first];
}

static struct turned work_out_anew(const struct watch *w, int first, int count)
{
    struct price p = price_of_series(w, first, count, !any_split(w, first, count));

    return (struct turned){.known = true,
                           .impossible = !p.known,
                           .proven = p.proven,
                           .change_ms = p.cost.step_ms - w->best->cost.step_ms};
}

static struct turned work_out_one_anew(const struct watch *w, int first, int count)
{
    struct turned best = {.known = true, .impossible = true};
    bool proven = true;

    for (int n = first; n < first + count; n++) {
        struct turned t = work_out_anew(w, n, 1);
        proven &= t.proven || t.impossible;
        if (!t.impossible && (best.impossible || t.change_ms < best.change_ms))
            best = t;
    }
    best.proven &= proven;
    return best;
}

struct turned flips_anew(struct flips *f, const struct watch *w, int first, int count,
                         double until_s)
{
    if (!w->best)
        return (struct turned){0};
    follow_plan(f, w);
    if (f->anew_together[first] == count && f->anew[first].known)
        return f->anew[first];
    if (until_s > 0 && clock_seconds() > until_s)
        return (struct turned){0};
    f->anew_together[first] = count;
    f->anew[first] = are_exclusive(w, first, count) ? work_out_one_anew(w, first, count)
                                                    : work_out_anew(w, first, count);
    return f->anew[first];
}

uint32_t flips_settled(const struct watch *w, int first, int count)
{
    uint32_t settled = 0;
    struct strict s;
    struct err e;

    if (strict_new(&w->problem->labels, &s, &e))
        return 0;
    for (int n = first; n < first + count; n++) {
        const struct game_move *m = &w->moves->items[n];
        for (uint32_t i = 0; i < m->class_count; i++)
            (void)strict_decide(&s, w->moves->pool[m->classes + i], m->axis, true, NULL);
    }
    for (int n = 0; n < w->move_count; n++) {
        const struct game_move *m = &w->moves->items[n];
        bool open = false;
        for (uint32_t i = 0; i < m->class_count; i++)
            open |= strict_status(&s, w->moves->pool[m->classes + i], m->axis) < 0;
        settled += !open;
    }
    strict_release(&s);
    return settled;
}
