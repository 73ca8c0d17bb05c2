/* engine/search/opponent_trws.c - message passing among the opponents: the relaxed plan, rounded to
 * a strict one.
 *
 * The game is about strict plans, where all dims of a class are split alike; a relaxed plan
 * (relaxed.h) may split them differently. Rounded: the classes whose bytes are split along an axis
 * by more than a threshold are split, those with the largest share first, as far as they do not
 * clash. What is scored is the rounded plan; the relaxed one and its bound are told beside it
 * (search_relaxed). */
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/decide/strict.h"
#include "engine/problem/problem.h"
#include "engine/relaxed/relaxed.h"
#include "engine/relaxed/status.h"
#include "engine/search/game.h"
#include "engine/search/search.h"
#include "engine/search/search_ops.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/stop.h"

#include "engine/relaxed/limited.h"

#include <math.h>
#include <string.h>

enum { SWEEPS = 10, SOLVES_MOST = 10 };
static const double thresholds[] = {0.5, 0.25, 0.75, 0.1};
enum { THRESHOLDS = sizeof thresholds / sizeof *thresholds };

struct candidate {
    double share; /* of the class's bytes that are split along the axis */
    class_id class;
    uint32_t axis;
};

struct trws_search {
    struct relaxed *relaxed;
    struct relaxed_plan plan;
    bool has_plan;
    uint32_t solves, next; /* solved so often; next threshold */
    struct candidate *list;
    uint32_t count;
    label *on;
};

static void trws_stop(struct search *s)
{
    struct trws_search *t = s->self;

    relaxed_plan_release(&t->plan);
    relaxed_free(t->relaxed);
    free(t->list);
    free(t->on);
    free(t);
    s->self = NULL;
}

static int trws_start(struct search *s, struct err *e)
{
    const struct problem *p = s->game.problem;
    struct trws_search *t = mem_try(1, sizeof *t);
    bool apart =
        s->options.game.no_folding || s->game.budget; /* within a limit equal layers may differ */
    struct relaxed_options o = {.folding = apart ? RELAXED_FOLD_OFF : RELAXED_FOLD_ON};

    if (!t)
        return err_no_memory(e, "for the search");
    s->self = t;
    t->list = mem_try((size_t)p->classes.count * p->mesh.axes + 1, sizeof *t->list);
    t->on = mem_try(p->classes.count, sizeof *t->on);
    return t->list && t->on ? relaxed_new(p, &o, &t->relaxed, e)
                            : err_no_memory(e, "for the search");
}

/* ---- rounding ---- */

/* Per axis the bytes of the class's dims that are split along it, and all bytes of its dims. */
static double split_share(const struct search *s, const struct relaxed_plan *plan, class_id k,
                          uint32_t axis)
{
    const struct classes *c = &s->game.problem->classes;
    const struct class_info *info = &c->info[k];
    double split = 0, all = 0;

    for (uint32_t n = 0; n < info->dim_count; n++) {
        dim_id d = c->members[info->dims + n];
        hlo_value v = c->dim_value[d];
        double bytes = (double)hlo_value_shape(c->m, v)->bytes;
        all += bytes;
        if (status_on(plan->made[v], axis) == d - c->dim_base[v] + 1)
            split += bytes;
    }
    return all > 0 ? split / all : 0;
}

static int compare_candidates(const void *x, const void *y)
{
    const struct candidate *a = x, *b = y;

    if (a->share != b->share)
        return (a->share < b->share) - (a->share > b->share);
    if (a->class != b->class)
        return (a->class > b->class) - (a->class < b->class);
    return (a->axis > b->axis) - (a->axis < b->axis);
}

static void list_candidates(struct search *s)
{
    struct trws_search *t = s->self;
    const struct problem *p = s->game.problem;

    t->count = 0;
    for (class_id k = 0; k < p->classes.count; k++) {
        if (!game_may_split(&s->game, k))
            continue;
        for (uint32_t x = 0; x < p->mesh.axes; x++) {
            struct candidate c = {split_share(s, &t->plan, k, x), k, x};
            if (c.share > 0)
                t->list[t->count++] = c;
        }
    }
    if (t->count)
        qsort(t->list, t->count, sizeof *t->list, compare_candidates);
}

/* The strict plan of what passes the threshold, under the pins the game's state begins with. */
static void round_plan(struct search *s, double threshold)
{
    struct trws_search *t = s->self;
    struct strict *state = &s->game.state;

    game_reset(&s->game);
    size_t mark = strict_mark(state);
    for (uint32_t n = 0; n < t->count && t->list[n].share >= threshold; n++)
        (void)strict_decide(state, t->list[n].class, t->list[n].axis, true, NULL);
    memcpy(t->on, state->on, s->game.problem->classes.count * sizeof *t->on);
    strict_undo(state, mark);
}

/* ---- steps ---- */

/* A few sweeps more; within a memory limit all there is to do, once. False when that cannot bring
 * anything new. */
static bool solve_on(struct search *s)
{
    struct trws_search *t = s->self;
    uint32_t most = s->game.budget ? 1 : SOLVES_MOST;
    struct relaxed_limited how;
    struct relaxed_plan next;
    struct err e;

    relaxed_set_stop(t->relaxed, s->stop);
    if (t->solves == most || (t->has_plan && t->plan.gap <= 1e-6))
        return false;
    if (s->game.budget
            ? relaxed_solve_limited(t->relaxed, s->game.budget->bytes, INFINITY, &next, &how, &e)
            : relaxed_solve(t->relaxed, SWEEPS, &next, &e)) {
        s->no_memory = e.code == ERR_MEMORY;
        return false;
    }
    relaxed_plan_release(&t->plan);
    t->plan = next;
    t->has_plan = true;
    s->is_cut |= stop_asked(s->stop);
    t->solves++;
    list_candidates(s);
    return true;
}

static bool trws_step(struct search *s, struct search_event *out)
{
    struct trws_search *t = s->self;

    if (t->next % THRESHOLDS == 0 && !solve_on(s)) {
        s->done = true;
        return false;
    }
    round_plan(s, thresholds[t->next++ % THRESHOLDS]);
    search_ended(s, t->on, false, out);
    return true;
}

/* What the pins split must be split in the relaxed plan, too; the rest is the rounding's care. */
static void trws_pins_changed(struct search *s)
{
    struct trws_search *t = s->self;
    const struct problem *p = s->game.problem;
    struct relaxed_pin *pins = NULL;
    size_t room = 0, count = 0;
    bool ok = true;
    struct err e;

    game_reset(&s->game);
    for (uint32_t k = 0; k < p->roles.param_count; k++) {
        for (uint32_t d = 0; d < hlo_value_shape(p->m, p->roles.params[k].value)->rank; d++) {
            class_id c = problem_param_class(p, k, d);
            for (uint32_t x = 0; x < p->mesh.axes && c != CLASS_NONE; x++) {
                if (!(s->game.state.on[c] >> x & 1))
                    continue;
                ok = ok && mem_grow(&pins, &room, count, 1);
                if (ok)
                    pins[count++] = (struct relaxed_pin){k, d, x, RELAXED_SPLIT};
            }
        }
    }
    relaxed_plan_release(&t->plan);
    t->has_plan = false;
    t->solves = t->next = 0;
    s->done = relaxed_set_pins(t->relaxed, pins, (uint32_t)count, &e) != 0;
    free(pins);
}

const struct search_ops search_trws = {trws_start, trws_stop, trws_step, trws_pins_changed, NULL};

const struct relaxed_plan *search_relaxed(const struct search *s)
{
    const struct trws_search *t = s->self;

    return s->options.algorithm == SEARCH_TRWS && t->has_plan ? &t->plan : NULL;
}
