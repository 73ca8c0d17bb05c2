#include "engine/place/baselines.h"

#include "engine/place/nets.h"
#include "engine/place/operator_graph.h"
#include "engine/place/placement.h"
#include "engine/place/prepare.h"
#include "engine/place/state.h"
#include "engine/place/tally.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/stop.h"
#include "rl/rng.h"

#include <math.h>
#include <string.h>

/* A state of classes, and what is needed to make a plan of it. */
struct trying {
    const struct place_graph *g;
    const struct place_asking *a;
    struct place_nets *n;
    struct place_state *s;
    struct rl_rng rng;
    uint32_t *best; /* by position */
    double best_ms;
    double kept_ms; /* local: of plans that keep all rules */
};

static void finish_trying(struct trying *t)
{
    place_state_free(t->s);
    place_nets_free(t->n);
    free(t->best);
}

static int begin_trying(struct trying *t, const struct place_graph *g, const struct place_asking *a,
                        struct err *e)
{
    *t = (struct trying){.g = g, .a = a, .best_ms = INFINITY, .kept_ms = INFINITY};
    if (!place_devices(g))
        return err_set(e, ERR_INFEASIBLE, "there is no device, expected one at least");
    rl_rng_seed(&t->rng, a->seed, 5);
    if (place_prepare_classes(g, &t->n, e) || place_state_new(t->n, &a->rules, &t->s, e))
        return e->code;
    t->best = mem_try((size_t)t->n->positions + 1, sizeof *t->best);
    return t->best ? 0 : err_no_memory(e, "for a plan");
}

static void keep_best(struct trying *t)
{
    double value = place_state_value(t->s);

    if (value >= t->best_ms)
        return;
    t->best_ms = value;
    memcpy(t->best, t->s->device, t->n->positions * sizeof *t->best);
}

/* Pairs pinned apart that share a device: one of them goes where that costs least. */
static void part_pairs(struct trying *t)
{
    place_state_set(t->s, t->best);
    for (uint32_t i = 0; i < t->n->aparts; i++) {
        for (uint32_t k = 0; k < 2; k++) {
            uint32_t p = t->n->apart[2 * i + k], from = t->s->device[p], best = from;
            uint32_t broken = t->s->broken;
            double least = INFINITY;
            if (t->s->device[t->n->apart[2 * i + 1 - k]] != from)
                continue;
            for (uint32_t d = 0; d < t->s->devices; d++) {
                place_state_move(t->s, p, d);
                if (t->s->broken < broken && place_state_value(t->s) < least) {
                    least = place_state_value(t->s);
                    best = d;
                }
                place_state_move(t->s, p, from);
            }
            place_state_move(t->s, p, best);
        }
    }
    memcpy(t->best, t->s->device, t->n->positions * sizeof *t->best);
}

/* The plan of t->best, which is there. */
static int make_plan(struct trying *t, const char *algo, struct placement **out, struct err *e)
{
    struct place_load *load = mem_try((size_t)t->s->devices + 1, sizeof *load);

    if (!load)
        return err_no_memory(e, "for a plan");
    part_pairs(t);
    if (placement_new(t->g, out, e)) {
        free(load);
        return e->code;
    }
    for (uint32_t v = 0; v < t->g->nodes; v++)
        (*out)->device[v] = t->best[t->n->position_of[v]];
    placement_price(*out, t->n, &t->a->rules, load);
    free(load);
    if ((*out)->faults & ~(uint32_t)PLACE_OVER_MEMORY) {
        placement_free(*out);
        return err_set(e, ERR_INFEASIBLE, "%s found no plan that keeps kinds of devices and pins",
                       algo);
    }
    (*out)->bound_ms = place_work_bound(t->g, &t->a->rules);
    (*out)->bound_by = "work shared out";
    (*out)->algo = algo;
    (*out)->positions = t->n->positions;
    return 0;
}

/* The first device that may hold p. */
static uint32_t first_device(const struct trying *t, uint32_t p)
{
    uint32_t d = 0;

    while (d + 1 < t->s->devices && !place_state_allows(t->s, p, d))
        d++;
    return d;
}

/* ---- one, random, local ---- */

int place_one(const struct place_graph *g, const struct place_asking *a, struct placement **out,
              struct err *e)
{
    struct trying t;
    int rc = begin_trying(&t, g, a, e);

    if (rc)
        goto out;
    for (uint32_t p = 0; p < t.n->positions; p++)
        t.best[p] = first_device(&t, p);
    rc = make_plan(&t, "one", out, e);
out:
    finish_trying(&t);
    return rc;
}

/* A random device that may hold p: an accelerator where `works` asks for one and there is one. */
static uint32_t random_device(struct trying *t, uint32_t p, bool works)
{
    uint32_t most = works && t->s->accelerators ? t->s->accelerators : t->s->devices;

    for (int k = 0; k < 32; k++) {
        uint32_t d = rl_rng_below(&t->rng, most);
        if (place_state_allows(t->s, p, d))
            return d;
    }
    return first_device(t, p);
}

static void random_start(struct trying *t, bool works)
{
    for (uint32_t p = 0; p < t->n->positions; p++)
        t->s->device[p] = random_device(t, p, works);
    place_state_set(t->s, t->s->device);
}

/* Told to stop, or as many plans priced as it may. */
static bool is_over(const struct place_asking *a)
{
    return stop_asked(a->stop) || place_tally_is_spent(a->tally);
}

/* The best so far, the state's own value among it, where the rules are kept. */
static double best_with(const struct trying *t, double value)
{
    return t->s->broken || place_state_over(t->s) > 0 ? t->kept_ms : fmin(t->kept_ms, value);
}

int place_random(const struct place_graph *g, const struct place_asking *a, struct placement **out,
                 struct err *e)
{
    struct trying t;
    int rc = begin_trying(&t, g, a, e);

    if (rc)
        goto out;
    for (int k = 0; (a->tally || k < 10000) && !is_over(a); k++) {
        random_start(&t, rl_rng_below(&t.rng, 2));
        if (!t.s->broken && !(place_state_over(t.s) > 0))
            keep_best(&t);
        place_tally_plan(a->tally, t.best_ms);
    }
    if (isinf(t.best_ms)) {
        rc = err_set(e, ERR_INFEASIBLE, "no random plan keeps memory, kinds of devices and pins");
        goto out;
    }
    rc = make_plan(&t, "random", out, e);
out:
    finish_trying(&t);
    return rc;
}

/* The best single move to an accelerator; false when none helps. */
static bool descend_moves(struct trying *t)
{
    double now = place_state_value(t->s), least = now * (1 - 1e-12);
    uint32_t best_p = PLACE_NONE, best_d = 0;

    for (uint32_t p = 0; p < t->n->positions; p++) {
        uint32_t from = t->s->device[p];
        for (uint32_t d = 0; d < t->s->accelerators; d++) {
            if (d == from || !place_state_allows(t->s, p, d))
                continue;
            if (is_over(t->a))
                break;
            place_state_move(t->s, p, d);
            double then = place_state_value(t->s);
            t->kept_ms = best_with(t, then);
            place_tally_plan(t->a->tally, t->kept_ms);
            if (then < least) {
                least = then;
                best_p = p;
                best_d = d;
            }
        }
        place_state_move(t->s, p, from);
    }
    if (best_p == PLACE_NONE)
        return false;
    place_state_move(t->s, best_p, best_d);
    return true;
}

int place_local(const struct place_graph *g, const struct place_asking *a, struct placement **out,
                struct err *e)
{
    struct trying t;
    int rc = begin_trying(&t, g, a, e);

    if (rc)
        goto out;
    for (int k = 0; a->tally || k < 10; k++) {
        random_start(&t, true);
        t.kept_ms = best_with(&t, place_state_value(t.s));
        place_tally_plan(a->tally, t.kept_ms);
        while (!is_over(a) && descend_moves(&t))
            ;
        keep_best(&t);
        if (is_over(a))
            break;
    }
    rc = make_plan(&t, "local", out, e);
out:
    finish_trying(&t);
    return rc;
}

/* ---- greedy ---- */

static double time_on(const struct trying *t, uint32_t p, uint32_t d)
{
    uint32_t type = t->s->type_of[d];

    return place_nets_time(t->n, 0, type, p) + place_nets_time(t->n, 1, type, p);
}

/* Fills devices in turn along the order of the nodes. */
static void fill_greedily(struct trying *t, double share)
{
    uint32_t d = 0;
    double work = 0, bytes = 0;

    for (uint32_t p = 0; p < t->n->positions; p++)
        t->best[p] = PLACE_NONE;
    for (uint32_t i = 0; i < t->g->nodes; i++) {
        uint32_t p = t->n->position_of[t->g->order[i]];
        if (t->best[p] != PLACE_NONE)
            continue;
        double memory = t->g->type[t->s->type_of[d]].memory_bytes;
        bool full = work + time_on(t, p, d) > share || bytes + t->n->bytes[p] > memory;
        if (full && d + 1 < t->s->devices) {
            d++;
            work = bytes = 0;
        }
        t->best[p] = place_state_allows(t->s, p, d) ? d : first_device(t, p);
        work += time_on(t, p, d);
        bytes += t->n->bytes[p];
    }
}

int place_greedy(const struct place_graph *g, const struct place_asking *a, struct placement **out,
                 struct err *e)
{
    struct trying t;
    int rc = begin_trying(&t, g, a, e);
    double total = 0;

    if (rc)
        goto out;
    for (uint32_t p = 0; p < t.n->positions; p++)
        total += time_on(&t, p, 0);
    fill_greedily(&t, total / (t.s->accelerators ? t.s->accelerators : 1) * (1 + 1e-9));
    rc = make_plan(&t, "greedy", out, e);
out:
    finish_trying(&t);
    return rc;
}
