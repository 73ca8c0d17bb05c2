#include "engine/place/anneal.h"

#include "engine/place/nets.h"
#include "engine/place/operator_graph.h"
#include "engine/place/placement.h"
#include "engine/place/prepare.h"
#include "engine/place/reduce.h"
#include "engine/place/state.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "rl/rng.h"

#include <math.h>
#include <string.h>

enum { GROUP_MAX = 64 };

struct annealing {
    const struct place_annealing *a;
    const struct place_nets *n;
    struct place_state *s;
    struct rl_rng rng;
    uint32_t *best; /* by position */
    double best_ms; /* INFINITY: none keeps all rules */
    struct place_energy energy;
    uint64_t moves;
    uint32_t group[GROUP_MAX], from[GROUP_MAX], grouped;
};

/* ---- better plans ---- */

static int tell_placement(struct annealing *w, struct err *e)
{
    struct placement *p;

    if (!w->a->better)
        return 0;
    if (placement_new(w->n->graph, &p, e))
        return e->code;
    for (uint32_t v = 0; v < p->nodes; v++)
        p->device[v] = w->best[w->n->position_of[v]];
    p->value_ms = w->best_ms;
    p->algo = "anneal";
    w->a->better(w->a->context, p);
    placement_free(p);
    return 0;
}

static void note_best(struct annealing *w)
{
    double value;

    if (w->s->broken || place_state_over(w->s) > 0)
        return;
    value = place_state_value(w->s);
    if (value >= w->best_ms * (1 - 1e-12))
        return;
    w->best_ms = value;
    memcpy(w->best, w->s->device, w->n->positions * sizeof *w->best);
}

/* ---- moves ---- */

static uint32_t some_device(struct annealing *w, uint32_t p)
{
    for (int k = 0; k < 16; k++) {
        uint32_t d = rl_rng_below(&w->rng, w->s->devices);
        if (place_state_allows(w->s, p, d))
            return d;
    }
    return rl_rng_below(&w->rng, w->s->devices);
}

/* The device of a pin that shares a net with p. */
static uint32_t neighbour_device(struct annealing *w, uint32_t p)
{
    const struct place_nets *n = w->n;
    uint32_t nets = n->net_at[p + 1] - n->net_at[p];

    if (!nets)
        return some_device(w, p);
    uint32_t h = n->net[n->net_at[p] + rl_rng_below(&w->rng, nets)];
    uint32_t pins = n->pin_at[h + 1] - n->pin_at[h];
    return w->s->device[n->pin[n->pin_at[h] + rl_rng_below(&w->rng, pins)]];
}

static void add_to_group(struct annealing *w, uint32_t p)
{
    for (uint32_t i = 0; i < w->grouped; i++) {
        if (w->group[i] == p)
            return;
    }
    if (w->grouped < GROUP_MAX) {
        w->from[w->grouped] = w->s->device[p];
        w->group[w->grouped++] = p;
    }
}

/* p, and now and then the pins of some nets around it that are on its device. */
static void pick_group(struct annealing *w, uint32_t p)
{
    const struct place_nets *n = w->n;
    uint32_t hops = rl_rng_below(&w->rng, 8), at = p;

    w->grouped = 0;
    add_to_group(w, p);
    for (hops = hops < 5 ? 0 : hops - 4; hops > 0; hops--) {
        uint32_t nets = n->net_at[at + 1] - n->net_at[at];
        if (!nets)
            return;
        uint32_t h = n->net[n->net_at[at] + rl_rng_below(&w->rng, nets)];
        for (uint32_t i = n->pin_at[h]; i < n->pin_at[h + 1]; i++) {
            if (w->s->device[n->pin[i]] == w->s->device[p])
                add_to_group(w, n->pin[i]);
        }
        at = w->group[rl_rng_below(&w->rng, w->grouped)];
    }
}

/* Swaps of two positions keep loads level where single moves cannot. */
static void pick_swap(struct annealing *w, uint32_t p, uint32_t to)
{
    for (int k = 0; k < 8; k++) {
        uint32_t q = rl_rng_below(&w->rng, w->n->positions);
        if (q != p && w->s->device[q] == to) {
            add_to_group(w, q);
            return;
        }
    }
}

static void apply_move(struct annealing *w, uint32_t to)
{
    for (uint32_t i = 0; i < w->grouped; i++)
        place_state_move(w->s, w->group[i], w->from[i] == to ? w->from[0] : to);
}

static void revert(struct annealing *w)
{
    for (uint32_t i = w->grouped; i-- > 0;)
        place_state_move(w->s, w->group[i], w->from[i]);
}

static bool is_stopped(const struct annealing *w)
{
    return w->a->stop && atomic_load_explicit(w->a->stop, memory_order_relaxed);
}

/* ---- rounds ---- */

static void cool(struct annealing *w, double hot, double cold, uint64_t moves)
{
    double now = place_state_energy(w->s, &w->energy), heat = hot * w->energy.unit_ms;
    double factor = pow(cold / hot, 1024.0 / (double)(moves > 1024 ? moves : 1024));

    for (uint64_t i = 0; i < moves; i++) {
        if ((i & 1023) == 1023) {
            heat *= factor;
            w->energy.power = 3 + (int)(4 * i / moves);
            if ((i & 0xffff) == 0xffff)
                place_state_set(w->s, w->s->device);
            now = place_state_energy(w->s, &w->energy);
            if (is_stopped(w))
                return;
        }
        if (place_tally_is_spent(w->a->tally))
            return;
        uint32_t p = rl_rng_below(&w->rng, w->n->positions);
        uint32_t kind = rl_rng_below(&w->rng, 10);
        uint32_t to = kind < 7 ? neighbour_device(w, p) : some_device(w, p);
        w->moves++;
        if (to == w->s->device[p])
            continue;
        pick_group(w, p);
        if (kind == 9)
            pick_swap(w, p, to);
        apply_move(w, to);
        double then = place_state_energy(w->s, &w->energy);
        bool taken = then <= now || rl_rng_unit(&w->rng) < exp((now - then) / heat);
        if (taken && (then < w->best_ms * 1.05 || then < now))
            note_best(w);
        place_tally_plan(w->a->tally, w->best_ms);
        if (!taken)
            revert(w);
        else
            now = then;
    }
}

/* Stretches of a topological order, each on some device; now and then no stretches at all. */
static void random_plan(struct annealing *w)
{
    const struct place_graph *g = w->n->graph;
    uint32_t *device = w->s->device, length = 0, d = 0;
    uint32_t stretch = 1 + rl_rng_below(&w->rng, 1 + 2 * g->nodes / w->s->devices);

    for (uint32_t i = 0; i < g->nodes; i++, length++) {
        if (length % stretch == 0)
            d = rl_rng_below(&w->rng, w->s->accelerators ? w->s->accelerators : w->s->devices);
        device[w->n->position_of[g->order[i]]] = d;
    }
    for (uint32_t p = 0; p < w->n->positions; p++) {
        if (!place_state_allows(w->s, p, device[p]))
            device[p] = some_device(w, p);
    }
    place_state_set(w->s, device);
}

static int rounds(struct annealing *w, struct err *e)
{
    uint32_t count = w->a->rounds ? w->a->rounds : 12;
    uint64_t moves = (w->a->moves ? w->a->moves : PLACE_ANNEAL_MOVES) / count;

    if (w->a->tally) /* moves to the same device are not priced: rounds go on until it is spent */
        count *= 8;
    for (uint32_t i = 0; i < count && !is_stopped(w) && !place_tally_is_spent(w->a->tally); i++) {
        double before = w->best_ms;
        bool fresh = i % 2 == 1 || isinf(w->best_ms);
        if (fresh)
            random_plan(w);
        else
            place_state_set(w->s, w->best);
        w->energy.unit_ms = fmax(fmin(w->best_ms, place_state_value(w->s)), 1e-9);
        cool(w, fresh ? 0.3 : i % 4 ? 0.02 : 0.08, fresh ? 2e-5 : 1e-5, moves);
        if (w->best_ms < before && tell_placement(w, e))
            return e->code;
    }
    return 0;
}

static void begin_annealing(struct annealing *w)
{
    const struct place_graph *g = w->n->graph;

    w->best_ms = INFINITY;
    w->energy.power = 3;
    rl_rng_seed(&w->rng, w->a->seed, 11);
    if (!w->a->start)
        return;
    for (uint32_t v = 0; v < g->nodes; v++)
        w->best[w->n->position_of[v]] = w->a->start->device[v];
    place_state_set(w->s, w->best);
    note_best(w);
}

static int finish_annealing(struct annealing *w, struct placement **out, struct err *e)
{
    const struct place_graph *g = w->n->graph;
    struct place_load *load;

    if (isinf(w->best_ms))
        return err_set(e, ERR_INFEASIBLE,
                       "no plan was found that keeps memory, kinds of devices and pins");
    if (placement_new(g, out, e))
        return e->code;
    load = mem_try((size_t)w->s->devices + 1, sizeof *load);
    if (!load) {
        placement_free(*out);
        return err_no_memory(e, "for a plan");
    }
    for (uint32_t v = 0; v < g->nodes; v++)
        (*out)->device[v] = w->best[w->n->position_of[v]];
    placement_price(*out, w->n, &w->a->rules, load);
    free(load);
    (*out)->bound_ms = place_work_bound(g, &w->a->rules);
    (*out)->bound_by = "work shared out";
    (*out)->algo = "anneal";
    (*out)->positions = w->n->positions;
    (*out)->moves = w->moves;
    return 0;
}

int place_anneal(const struct place_graph *g, const struct place_annealing *a,
                 struct placement **out, struct err *e)
{
    struct annealing w = {.a = a};
    struct place_nets *n = NULL;
    int rc;

    if (!place_devices(g))
        return err_set(e, ERR_INFEASIBLE, "there is no device, expected one at least");
    rc = a->start && !a->start->faults ? place_reduce(g, &a->rules, a->start->value_ms, &n, e)
                                       : place_prepare_classes(g, &n, e);
    if (rc)
        return rc;
    w.n = n;
    rc = place_state_new(n, &a->rules, &w.s, e);
    if (rc)
        goto out;
    w.best = mem_try((size_t)n->positions + 1, sizeof *w.best);
    rc = w.best ? 0 : err_no_memory(e, "for a search");
    if (rc)
        goto out;
    begin_annealing(&w);
    if (n->positions)
        rc = rounds(&w, e);
    else
        w.best_ms = 0;
    if (rc)
        goto out;
    rc = finish_annealing(&w, out, e);
out:
    free(w.best);
    place_state_free(w.s);
    place_nets_free(n);
    return rc;
}
