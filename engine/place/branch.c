#include "engine/place/branch.h"

#include "engine/place/cut_bound.h"
#include "engine/place/cut_tree.h"
#include "engine/place/fill_devices.h"
#include "engine/place/nets.h"
#include "engine/place/operator_graph.h"
#include "engine/place/partial_placement.h"
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
    struct place_partial *part;
    uint32_t *order;              /* positions by depth */
    struct place_load *whole;     /* scratch for whole plans */
    double *left;                 /* by depth: work of the yardstick behind it */
    double rate[PLACE_TYPES_MAX]; /* work of the yardstick done in one ms, at most */
    double nothing;               /* work that some kind does in no time */
    uint32_t base;
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

static bool sort_positions(struct tree *t)
{
    uint32_t m = t->n->positions;
    struct place_weighed *w = mem_try((size_t)m + 1, sizeof *w);

    for (uint32_t p = 0; p < m && w; p++)
        w[p] = (struct place_weighed){weight_of(t, p), p};
    if (!w)
        return false;
    place_sort_weighed(w, m);
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

static bool allocate_tree(struct tree *t)
{
    size_t m = (size_t)t->n->positions + 1;

    t->order = mem_try(m, sizeof(uint32_t));
    t->best = mem_try(m, sizeof(uint32_t));
    t->left = mem_try(m + 1, sizeof(double));
    t->whole = mem_try((size_t)t->part->devices + 1, sizeof *t->whole);
    return t->order && t->best && t->left && t->whole;
}

static void release_tree(struct tree *t)
{
    place_partial_free(t->part);
    place_nets_free(t->n);
    free(t->order);
    free(t->best);
    free(t->left);
    free(t->whole);
}

/* ---- bounds ---- */

/* No plan below this node is better than this. */
static double bound_of(const struct tree *t, uint32_t depth)
{
    const struct place_partial *part = t->part;
    double room = 0;

    for (uint32_t d = 0; d < part->devices && !t->b->rules.apart; d++) {
        const struct place_load *l = &part->load[d];
        double busy = t->b->rules.communication == PLACE_SUM ? place_partial_load(part, d)
                                                             : l->compute_ms[0] + l->compute_ms[1];
        room += fmax(0, t->best_ms - busy) * t->rate[part->type_of[d]];
    }
    bool overfull = !t->b->rules.apart && t->left[depth] - t->nothing > room * (1 + 1e-9) + 1e-12;
    return overfull ? INFINITY : place_partial_value(part);
}

/* ---- the tree ---- */

static void leaf(struct tree *t)
{
    place_loads(t->n, t->part->device, t->whole);
    double value = place_value(t->n, &t->b->rules, t->whole, NULL);

    if (value >= t->best_ms * (1 - 1e-12) || place_faults(t->n, t->part->device, t->whole))
        return;
    t->best_ms = value;
    t->found = true;
    memcpy(t->best, t->part->device, t->n->positions * sizeof *t->best);
}

static bool is_over(struct tree *t)
{
    uint64_t most = t->b->nodes ? t->b->nodes : 2000000;

    if (++t->nodes > most || (t->b->stop && atomic_load_explicit(t->b->stop, memory_order_relaxed)))
        t->cut_short = true;
    return t->cut_short;
}

/* Depth is at most the number of positions, which place_branch limits. */
static void descend_branches(struct tree *t, uint32_t depth)
{
    struct place_partial *part = t->part;
    bool opened[PLACE_TYPES_MAX] = {false};

    if (is_over(t) || bound_of(t, depth) >= t->best_ms * (1 - 1e-12))
        return;
    if (depth == t->n->positions) {
        leaf(t);
        return;
    }
    uint32_t p = t->order[depth];
    for (uint32_t d = 0; d < part->devices && !t->cut_short; d++) {
        bool fresh = !part->load[d].positions;
        if (fresh && part->equal_devices && opened[part->type_of[d]])
            continue;
        opened[part->type_of[d]] |= fresh;
        if (!place_partial_allows(part, p, d))
            continue;
        place_partial_put(part, p, d);
        descend_branches(t, depth + 1);
        place_partial_take(part, p);
    }
}

static void told_by_branching(struct placement *p)
{
    p->contiguous = false;
    p->algo = "branch and bound";
    memset(p->stage, 0xff, p->devices * sizeof *p->stage);
}

static int search_tree(struct tree *t, struct placement *start, struct err *e)
{
    if (place_partial_new(t->n, &t->b->rules, &t->part, e))
        return e->code;
    if (!allocate_tree(t))
        return err_no_memory(e, MEMORY_FOR);
    find_rates(t);
    if (!sort_positions(t))
        return err_no_memory(e, MEMORY_FOR);
    descend_branches(t, 0);
    for (uint32_t v = 0; v < t->g->nodes && t->found; v++)
        start->device[v] = t->best[t->n->position_of[v]];
    if (t->found) {
        start->value_ms = t->best_ms;
        told_by_branching(start);
    }
    return 0;
}

/* A way to prove that looks for better plans on the way. */
struct attempt {
    const char *bound_by;
    bool (*takes)(const struct place_nets *n, const struct place_rules *r);
    int (*run)(const struct tree *t, double *value_ms, uint32_t *device, bool *found, bool *proven,
               struct err *e);
};

static int run_complete(const struct tree *t, double *value_ms, uint32_t *device, bool *found,
                        bool *proven, struct err *e)
{
    struct place_completing c = {
        .rules = &t->b->rules, .steps = 30 * t->b->nodes, .stop = t->b->stop};

    return place_complete(t->n, &c, value_ms, device, found, proven, e);
}

static int run_cuts(const struct tree *t, double *value_ms, uint32_t *device, bool *found,
                    bool *proven, struct err *e)
{
    struct place_cutting c = {
        .rules = &t->b->rules, .steps = 500 * t->b->nodes, .stop = t->b->stop};

    return place_cut_tree(t->n, &c, value_ms, device, found, proven, e);
}

static const struct attempt attempts[] = {
    {"all sets, device by device", place_completes, run_complete},
    {"a tree of minimum cuts", place_cut_tree_takes, run_cuts},
};

static int try_to_prove(struct tree *t, const struct attempt *a, struct placement *start,
                        bool *done, struct err *e)
{
    uint32_t *device = mem_try((size_t)t->n->positions + 1, sizeof *device);
    bool found = false;
    int rc = device ? 0 : err_no_memory(e, MEMORY_FOR);

    if (rc)
        return rc;
    rc = a->run(t, &start->value_ms, device, &found, done, e);
    for (uint32_t v = 0; v < t->g->nodes && found; v++)
        start->device[v] = device[t->n->position_of[v]];
    free(device);
    t->best_ms = start->value_ms;
    if (found)
        told_by_branching(start);
    if (*done) {
        start->proven = true;
        start->bound_ms = start->value_ms;
        start->bound_by = a->bound_by;
    }
    return rc;
}

/* Nothing is proven: a bound that is, on the long round. */
static int raise_bound(const struct tree *t, struct placement *start, struct err *e)
{
    struct place_cutting c = {
        .rules = &t->b->rules, .steps = PLACE_CUT_STEPS / 8, .stop = t->b->stop};
    double bound;

    if (t->b->nodes || !isfinite(start->value_ms) || !place_cut_tree_takes(t->n, &t->b->rules))
        return 0;
    if (place_cut_tree_bound(t->n, &c, start->bound_ms, start->value_ms, &bound, e))
        return e->code;
    if (bound > start->bound_ms) {
        start->bound_ms = bound;
        start->bound_by = "a tree of minimum cuts";
    }
    return 0;
}

/* The start may be as good as the least its heaviest positions' devices can do; else it is proven
 * device by device, or cut by cut. True in `done` when nothing is left open. */
static int try_shortcuts(struct tree *t, struct placement *start, bool *done, struct err *e)
{
    double least;

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
    for (size_t i = 0; i < sizeof attempts / sizeof *attempts && !*done; i++) {
        if (!isfinite(start->value_ms) || !attempts[i].takes(t->n, &t->b->rules))
            continue;
        if (try_to_prove(t, &attempts[i], start, done, e))
            return e->code;
    }
    return *done ? 0 : raise_bound(t, start, e);
}

int place_branch(const struct place_graph *g, const struct place_branching *b,
                 struct placement *start, struct err *e)
{
    bool done = false;
    struct tree t = {.g = g, .b = b, .best_ms = start->value_ms};
    struct err none = {0};
    int rc = 0;

    if (place_devices(g))
        rc = isfinite(start->value_ms) ? place_reduce(g, &b->rules, start->value_ms, &t.n, &none)
                                       : place_prepare_classes(g, &t.n, &none);
    if (rc == ERR_INFEASIBLE || !place_devices(g)) {
        rc = 0; /* nothing is better than the start */
    } else if (rc) {
        *e = none;
    } else if (t.n->positions > PLACE_BRANCH_MOST) {
        t.cut_short = true;
    } else if (isfinite(start->value_ms)) {
        rc = try_shortcuts(&t, start, &done, e);
    }
    if (rc)
        goto out;
    rc = !done && !t.cut_short && t.n ? search_tree(&t, start, e) : 0;
    start->moves += t.nodes;
    if (rc)
        goto out;
    if (isinf(start->value_ms)) {
        rc = err_set(e, ERR_INFEASIBLE, "no plan %s memory, kinds of devices and pins",
                     t.cut_short ? "was found that keeps" : "keeps");
        goto out;
    }
    if (!t.cut_short && !done) {
        start->proven = true;
        start->bound_ms = start->value_ms;
        start->bound_by = "branch and bound";
    }
out:
    release_tree(&t);
    return rc;
}
