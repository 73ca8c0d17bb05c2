#include "engine/place/branch.h"

#include "engine/place/complete.h"
#include "engine/place/cut_bound.h"
#include "engine/place/graph.h"
#include "engine/place/nets.h"
#include "engine/place/prepare.h"
#include "engine/place/reduce.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <string.h>

static const char MEMORY_FOR[] = "for branch and bound";

struct tree {
    const struct place_graph *g;
    const struct place_branching *b;
    struct place_nets *n;
    uint32_t devices, accelerators;
    uint32_t *type_of;        /* by device */
    uint32_t *order, *device; /* positions by depth; devices by position, PLACE_NONE open */
    uint32_t *pins;           /* [net * devices + device] of placed positions */
    uint32_t *spread;         /* by net: devices with a placed pin */
    struct place_load *load;  /* so far, and what is sure to come; scratch for whole plans */
    struct place_load *whole;
    double *left;                 /* by depth: work of the yardstick behind it */
    double rate[PLACE_TYPES_MAX]; /* work of the yardstick done in one ms, at most */
    double nothing;               /* work that some kind does in no time */
    uint32_t base;
    bool equal_devices;
    double best_ms;
    uint32_t *best; /* by position, once found */
    bool found;
    uint64_t nodes;
    bool cut_short;
};

static double time_of(const struct tree *t, uint32_t type, uint32_t p)
{
    return place_nets_time(t->n, 0, type, p) + place_nets_time(t->n, 1, type, p);
}

/* ---- set-up ---- */

static double weight_of(const struct tree *t, uint32_t p)
{
    double w = time_of(t, t->base, p);

    for (uint32_t i = t->n->net_at[p]; i < t->n->net_at[p + 1]; i++)
        w += t->n->near_ms[t->n->net[i]];
    return w;
}

struct weighed {
    double weight;
    uint32_t p;
};

static int compare_weighed(const void *a, const void *b)
{
    const struct weighed *x = a, *y = b;

    return x->weight != y->weight ? (x->weight < y->weight) - (x->weight > y->weight)
                                  : (x->p > y->p) - (x->p < y->p);
}

static bool sort_positions(struct tree *t)
{
    uint32_t m = t->n->positions;
    struct weighed *w = mem_try((size_t)m + 1, sizeof *w);

    for (uint32_t p = 0; p < m && w; p++)
        w[p] = (struct weighed){weight_of(t, p), p};
    if (!w)
        return false;
    qsort(w, m, sizeof *w, compare_weighed);
    for (uint32_t i = 0; i < m; i++)
        t->order[i] = w[i].p;
    for (uint32_t i = m; i-- > 0;)
        t->left[i] = t->left[i + 1] + time_of(t, t->base, t->order[i]);
    free(w);
    return true;
}

static void find_rates(struct tree *t)
{
    for (t->base = 0; t->base + 1 < t->g->types && !t->g->type[t->base].count;)
        t->base++;
    for (uint32_t type = 0; type < t->g->types; type++) {
        for (uint32_t p = 0; p < t->n->positions && t->g->type[type].count; p++) {
            double time = time_of(t, type, p), work = time_of(t, t->base, p);
            if (!(t->n->allowed[p] >> type & 1))
                continue;
            if (time > 0)
                t->rate[type] = fmax(t->rate[type], work / time);
            else
                t->nothing += work;
        }
    }
}

static bool allocate(struct tree *t)
{
    size_t m = (size_t)t->n->positions + 1, nets = (size_t)t->n->nets + 1;

    t->type_of = mem_try((size_t)t->devices + 1, sizeof(uint32_t));
    t->order = mem_try(m, sizeof(uint32_t));
    t->device = mem_try(m, sizeof(uint32_t));
    t->best = mem_try(m, sizeof(uint32_t));
    t->left = mem_try(m + 1, sizeof(double));
    t->pins = mem_try(nets * t->devices, sizeof(uint32_t));
    t->spread = mem_try(nets, sizeof(uint32_t));
    t->load = mem_try((size_t)t->devices + 1, sizeof *t->load);
    t->whole = mem_try((size_t)t->devices + 1, sizeof *t->whole);
    return t->type_of && t->order && t->device && t->best && t->left && t->pins && t->spread &&
           t->load && t->whole;
}

static void release(struct tree *t)
{
    place_nets_free(t->n);
    free(t->type_of);
    free(t->order);
    free(t->device);
    free(t->best);
    free(t->left);
    free(t->pins);
    free(t->spread);
    free(t->load);
    free(t->whole);
}

/* ---- loads of a part ---- */

/* A net that is cut now is paid on d: sure to come, in one direction or the other. */
static void charge(struct tree *t, uint32_t h, uint32_t d, double sign)
{
    if (d < t->accelerators)
        t->load[d].in_ms[t->n->pass[h]] += sign * t->n->near_ms[h];
}

static void add_pin(struct tree *t, uint32_t h, uint32_t d)
{
    uint32_t *pins = t->pins + (size_t)h * t->devices;

    if (pins[d]++)
        return;
    if (++t->spread[h] == 1)
        return;
    charge(t, h, d, 1);
    for (uint32_t c = 0; c < t->devices && t->spread[h] == 2; c++) {
        if (c != d && pins[c])
            charge(t, h, c, 1);
    }
}

static void take_pin(struct tree *t, uint32_t h, uint32_t d)
{
    uint32_t *pins = t->pins + (size_t)h * t->devices;

    if (--pins[d])
        return;
    if (!--t->spread[h])
        return;
    charge(t, h, d, -1);
    for (uint32_t c = 0; c < t->devices && t->spread[h] == 1; c++) {
        if (pins[c])
            charge(t, h, c, -1);
    }
}

static void put(struct tree *t, uint32_t p, uint32_t d, bool in)
{
    double sign = in ? 1 : -1;

    for (uint32_t pass = 0; pass < 2; pass++)
        t->load[d].compute_ms[pass] += sign * place_nets_time(t->n, pass, t->type_of[d], p);
    t->load[d].bytes += sign * t->n->bytes[p];
    t->load[d].positions += in ? 1 : UINT32_MAX;
    for (uint32_t i = t->n->net_at[p]; i < t->n->net_at[p + 1]; i++) {
        if (in)
            add_pin(t, t->n->net[i], d);
        else
            take_pin(t, t->n->net[i], d);
    }
    t->device[p] = in ? d : PLACE_NONE;
}

/* At least what a device takes: over a link used both ways, half of what it moves. */
static double least_of(const struct tree *t, double compute, double moved)
{
    switch (t->b->rules.communication) {
    case PLACE_SUM:
        return compute + moved;
    case PLACE_MAX:
        return fmax(compute, moved);
    default:
        return fmax(compute, moved / 2);
    }
}

static double least_load(const struct tree *t, const struct place_load *l)
{
    return least_of(t, l->compute_ms[0] + l->compute_ms[1], l->in_ms[0] + l->in_ms[1]);
}

/* No plan below this node is better than this. */
static double bound_of(const struct tree *t, uint32_t depth)
{
    double most[2] = {0, 0}, room = 0;

    for (uint32_t d = 0; d < t->devices; d++) {
        const struct place_load *l = &t->load[d];
        if (t->b->rules.apart) {
            for (uint32_t pass = 0; pass < 2; pass++)
                most[pass] = fmax(most[pass], least_of(t, l->compute_ms[pass], l->in_ms[pass]));
            continue;
        }
        double load = least_load(t, l);
        double busy =
            t->b->rules.communication == PLACE_SUM ? load : l->compute_ms[0] + l->compute_ms[1];
        most[0] = fmax(most[0], load);
        room += fmax(0, t->best_ms - busy) * t->rate[t->type_of[d]];
    }
    bool overfull = !t->b->rules.apart && t->left[depth] - t->nothing > room * (1 + 1e-9) + 1e-12;
    return overfull ? INFINITY : most[0] + most[1];
}

/* ---- the tree ---- */

static bool allows(const struct tree *t, uint32_t p, uint32_t d)
{
    const struct place_type *type = &t->g->type[t->type_of[d]];

    if (!(t->n->allowed[p] >> t->type_of[d] & 1))
        return false;
    if (t->n->fixed[p] != PLACE_NONE && t->n->fixed[p] != d)
        return false;
    for (uint32_t i = 0; i < t->n->aparts; i++) {
        uint32_t a = t->n->apart[2 * i], b = t->n->apart[2 * i + 1];
        if ((a == p && t->device[b] == d) || (b == p && t->device[a] == d))
            return false;
    }
    return type->is_host || t->load[d].bytes + t->n->bytes[p] <= type->memory_bytes * (1 + 1e-12);
}

static void leaf(struct tree *t)
{
    place_loads(t->n, t->device, t->whole);
    double value = place_value(t->n, &t->b->rules, t->whole, NULL);

    if (value >= t->best_ms * (1 - 1e-12) || place_faults(t->n, t->device, t->whole))
        return;
    t->best_ms = value;
    t->found = true;
    memcpy(t->best, t->device, t->n->positions * sizeof *t->best);
}

static bool is_over(struct tree *t)
{
    uint64_t most = t->b->nodes ? t->b->nodes : 2000000;

    if (++t->nodes > most || (t->b->stop && atomic_load_explicit(t->b->stop, memory_order_relaxed)))
        t->cut_short = true;
    return t->cut_short;
}

/* Depth is at most the number of positions, which place_branch limits. */
static void descend(struct tree *t, uint32_t depth)
{
    bool opened[PLACE_TYPES_MAX] = {false};

    if (is_over(t) || bound_of(t, depth) >= t->best_ms * (1 - 1e-12))
        return;
    if (depth == t->n->positions) {
        leaf(t);
        return;
    }
    uint32_t p = t->order[depth];
    for (uint32_t d = 0; d < t->devices && !t->cut_short; d++) {
        bool fresh = !t->load[d].positions;
        if (fresh && t->equal_devices && opened[t->type_of[d]])
            continue;
        opened[t->type_of[d]] |= fresh;
        if (!allows(t, p, d))
            continue;
        put(t, p, d, true);
        descend(t, depth + 1);
        put(t, p, d, false);
    }
}

static bool are_devices_equal(const struct tree *t)
{
    for (uint32_t p = 0; p < t->n->positions; p++) {
        if (t->n->fixed[p] != PLACE_NONE)
            return false;
    }
    return !t->g->per_server;
}

static void told_by_branching(struct placement *p)
{
    p->contiguous = false;
    p->algo = "branch and bound";
    memset(p->stage, 0xff, p->devices * sizeof *p->stage);
}

static int search(struct tree *t, struct placement *start, struct err *e)
{
    if (!allocate(t))
        return err_no_memory(e, MEMORY_FOR);
    for (uint32_t d = 0; d < t->devices; d++)
        t->type_of[d] = place_type_of(t->g, d);
    memset(t->device, 0xff, t->n->positions * sizeof *t->device);
    find_rates(t);
    if (!sort_positions(t))
        return err_no_memory(e, MEMORY_FOR);
    t->equal_devices = are_devices_equal(t);
    descend(t, 0);
    for (uint32_t v = 0; v < t->g->nodes && t->found; v++)
        start->device[v] = t->best[t->n->position_of[v]];
    if (t->found) {
        start->value_ms = t->best_ms;
        told_by_branching(start);
    }
    return 0;
}

/* The start may be as good as the least its heaviest positions' devices can do; else small
 * questions of one kind are answered device by device. True in `done` when nothing is left open. */
static int try_shortcuts(struct tree *t, struct placement *start, bool *done, struct err *e)
{
    double least;
    bool found = false;

    *done = false;
    if (place_cut_bound(t->n, &t->b->rules, &least, e))
        return e->code;
    if (least > start->bound_ms) {
        start->bound_ms = least;
        start->bound_by = "least load of one position's device";
    }
    if (start->value_ms <= least * (1 + 1e-9)) {
        start->proven = *done = true;
        return 0;
    }
    if (!isfinite(start->value_ms) || !place_completes(t->n, &t->b->rules))
        return 0;
    struct place_completing c = {
        .rules = &t->b->rules, .steps = 30 * t->b->nodes, .stop = t->b->stop};
    uint32_t *device = mem_try((size_t)t->n->positions + 1, sizeof *device);
    if (!device)
        return err_no_memory(e, MEMORY_FOR);
    int rc = place_complete(t->n, &c, &start->value_ms, device, &found, done, e);
    for (uint32_t v = 0; v < t->g->nodes && found; v++)
        start->device[v] = device[t->n->position_of[v]];
    free(device);
    t->best_ms = start->value_ms;
    if (found)
        told_by_branching(start);
    if (*done) {
        start->proven = true;
        start->bound_ms = start->value_ms;
        start->bound_by = "all sets, device by device";
    }
    return rc;
}

int place_branch(const struct place_graph *g, const struct place_branching *b,
                 struct placement *start, struct err *e)
{
    bool done = false;
    struct tree t = {.g = g, .b = b, .devices = place_devices(g), .best_ms = start->value_ms};
    struct err none = {0};
    int rc = 0;

    t.accelerators = t.devices - g->type[g->types - 1].count;
    if (t.devices)
        rc = isfinite(start->value_ms) ? place_reduce(g, &b->rules, start->value_ms, &t.n, &none)
                                       : place_prepare_classes(g, &t.n, &none);
    if (rc == ERR_INFEASIBLE || !t.devices) {
        rc = 0; /* nothing is better than the start */
    } else if (rc) {
        *e = none;
    } else if (t.n->positions > PLACE_BRANCH_MOST) {
        t.cut_short = true;
    } else if (isfinite(start->value_ms)) {
        rc = try_shortcuts(&t, start, &done, e);
    }
    if (!rc && !done && !t.cut_short && t.n)
        rc = search(&t, start, e);
    start->moves += t.nodes;
    if (!rc && !t.cut_short && isinf(start->value_ms))
        rc = err_set(e, ERR_INFEASIBLE, "no plan keeps memory, kinds of devices and pins");
    if (!rc && t.cut_short && isinf(start->value_ms))
        rc = err_set(e, ERR_INFEASIBLE,
                     "no plan was found that keeps memory, kinds of devices and pins");
    if (!rc && !t.cut_short && !done) {
        start->proven = true;
        start->bound_ms = start->value_ms;
        start->bound_by = "branch and bound";
    }
    release(&t);
    return rc;
}
