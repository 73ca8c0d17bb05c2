#include "engine/place/cut_tree.h"

#include "engine/place/chain_hull.h"
#include "engine/place/nets.h"
#include "engine/place/operator_graph.h"
#include "engine/place/partial_placement.h"
#include "engine/place/place_cut.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/stop.h"

#include <math.h>
#include <string.h>

enum { LOOKED_AT = 12, WORDS_A_STEP = 4, SORTED_PART = 8 };

/* What is known of a device at a node: the least it takes, and the set that takes it; the same
 * without work. */
struct least {
    double load, moved;
    uint64_t *with, *without; /* sets of positions */
};

struct child {
    uint32_t device;
    double most; /* the largest bound of a device */
};

struct cutting {
    const struct place_nets *n;
    const struct place_cutting *c;
    struct place_partial *part;
    struct place_cut *cut;
    struct place_load *whole; /* scratch */
    uint32_t words;
    uint32_t *order;     /* positions, those with the largest own cuts first */
    uint8_t *where;      /* scratch */
    struct least *least; /* [(depth + 1) * devices + device]; the last row is scratch */
    uint64_t *sets;
    struct child *child;     /* [depth * devices] */
    struct place_hull *hull; /* of contiguous plans; NULL: any sets */
    bool pools;              /* one kind of accelerator: all work must fit together */
    double work, idle, rate; /* of all; of what the host does in no time; of a core's ms */
    double best_ms;
    uint32_t *best;
    uint64_t other_steps; /* besides those of cuts */
    bool found, over;
};

static bool has(const uint64_t *set, uint32_t p)
{
    return set[p / 64] >> (p % 64) & 1;
}

static bool is_over(struct cutting *w)
{
    uint64_t most = w->c->steps ? w->c->steps : PLACE_CUT_STEPS;

    w->over |= place_cut_steps(w->cut) + w->other_steps > most || stop_asked(w->c->stop);
    return w->over;
}

/* ---- bounds ---- */

static struct least *row_of(const struct cutting *w, uint32_t depth)
{
    return w->least + (size_t)depth * w->part->devices;
}

static void copy_least(const struct cutting *w, struct least *to, const struct least *from)
{
    to->load = from->load;
    to->moved = from->moved;
    memcpy(to->with, from->with, w->words * sizeof *to->with);
    memcpy(to->without, from->without, w->words * sizeof *to->without);
}

/* What d holds and lacks for sure, into w->where. */
static void fill_where(struct cutting *w, uint32_t d)
{
    for (uint32_t q = 0; q < w->n->positions; q++) {
        uint32_t at = w->part->device[q];
        w->where[q] = at == d ? PLACE_CUT_IN : at == PLACE_NONE ? PLACE_CUT_FREE : PLACE_CUT_OUT;
    }
    if (w->hull)
        place_hull_add(w->hull, d, w->where);
}

static void renew(struct cutting *w, struct least *l, uint32_t d, bool first, bool with,
                  bool without)
{
    if (with && without && !first)
        return;
    fill_where(w, d);
    if (first || !with)
        l->load = fmax(l->load, place_cut_least(w->cut, w->where, true, w->best_ms, l->with));
    if (w->pools && l->load < w->best_ms && (first || !without))
        l->moved = fmax(l->moved, place_cut_least(w->cut, w->where, false, INFINITY, l->without));
}

/* Device d after p was placed on `on`: a cut that agrees with it stays the least. */
static void look_again(struct cutting *w, struct least *l, uint32_t p, uint32_t on, uint32_t d)
{
    bool first = w->part->load[d].positions == 1 && on == d, mine = on == d;

    if (!w->part->load[d].positions)
        return;
    if (w->hull)
        renew(w, l, d, first, place_hull_agrees(w->hull, d, l->with),
              place_hull_agrees(w->hull, d, l->without));
    else
        renew(w, l, d, first, has(l->with, p) == mine, has(l->without, p) == mine);
}

/* Work and what must move anyhow, against all accelerators. */
static bool is_overfull(const struct cutting *w, const struct least *row)
{
    uint32_t cores = w->part->devices - w->part->accelerators;
    double room = w->part->accelerators * w->best_ms, all = w->work - w->idle;

    if (!w->pools)
        return false;
    all -= cores * w->rate * w->best_ms;
    for (uint32_t d = 0; d < w->part->accelerators; d++)
        all += row[d].moved;
    return all > room * (1 + 1e-9);
}

/* The bounds of the node's child with p on d, where p is placed there by now. False: no plan below
 * the best is in it. */
static bool bound_child(struct cutting *w, const struct least *parent, struct least *child,
                        uint32_t p, uint32_t on)
{
    double limit = w->best_ms * (1 - 1e-12);

    for (uint32_t d = w->part->accelerators; d < w->part->devices; d++) {
        if (place_partial_load(w->part, d) >= limit)
            return false;
    }
    w->other_steps += w->hull ? (uint64_t)w->n->positions * w->words / WORDS_A_STEP : 0;
    if (w->hull && !place_hull_set(w->hull, w->part->device, w->part->devices))
        return false;
    for (uint32_t d = 0; d < w->part->accelerators; d++) {
        copy_least(w, &child[d], &parent[d]);
        look_again(w, &child[d], p, on, d);
        if (child[d].load >= limit)
            return false;
    }
    return !is_overfull(w, child);
}

/* ---- the tree ---- */

static int compare_children(const void *a, const void *b)
{
    const struct child *x = a, *y = b;

    return x->most != y->most ? (x->most > y->most) - (x->most < y->most)
                              : (x->device > y->device) - (x->device < y->device);
}

/* Devices p may go to below the best, least bounds first, and how wide open they leave the tree. */
static uint32_t find_children(struct cutting *w, const struct least *row, uint32_t p,
                              struct child *out, double *open)
{
    struct least *scratch = row_of(w, w->n->positions + 1);
    bool opened[PLACE_TYPES_MAX] = {false};
    struct place_partial *part = w->part;
    uint32_t count = 0;

    *open = 0;
    for (uint32_t d = 0; d < part->devices && !is_over(w); d++) {
        bool fresh = !part->load[d].positions;
        if (fresh && part->equal_devices && opened[part->type_of[d]])
            continue;
        opened[part->type_of[d]] |= fresh;
        if (!place_partial_allows(part, p, d))
            continue;
        place_partial_put(part, p, d);
        if (bound_child(w, row, scratch, p, d)) {
            double sum = 0, most = 0;
            for (uint32_t c = 0; c < part->accelerators; c++) {
                sum += scratch[c].load;
                most = fmax(most, scratch[c].load);
            }
            out[count++] = (struct child){d, most};
            *open += exp(-6 * sum / w->best_ms);
        }
        place_partial_take(part, p);
    }
    qsort(out, count, sizeof *out, compare_children);
    return count;
}

static uint32_t choose_children(struct cutting *w, const struct least *row, struct child *out,
                                uint32_t *count)
{
    struct child tried[PLACE_CUT_TREE_DEVICES];
    uint32_t best = PLACE_NONE, looked = 0;
    double least = INFINITY, open;

    for (uint32_t i = 0; i < w->n->positions && looked < LOOKED_AT && !is_over(w); i++) {
        uint32_t p = w->order[i];
        if (w->part->device[p] != PLACE_NONE)
            continue;
        looked++;
        uint32_t found = find_children(w, row, p, tried, &open);
        if (best != PLACE_NONE && open >= least)
            continue;
        best = p;
        least = open;
        *count = found;
        memcpy(out, tried, found * sizeof *tried);
        if (found <= 1)
            break;
    }
    return best;
}

static void leaf(struct cutting *w)
{
    place_loads(w->n, w->part->device, w->whole);
    double value = place_value(w->n, w->c->rules, w->whole, NULL);

    if (value >= w->best_ms * (1 - 1e-12) || place_faults(w->n, w->part->device, w->whole))
        return;
    w->best_ms = value;
    w->found = true;
    memcpy(w->best, w->part->device, w->n->positions * sizeof *w->best);
}

/* Depth is at most PLACE_CUT_TREE_MOST. */
static void descend_cuts(struct cutting *w, uint32_t depth)
{
    struct child *child = w->child + (size_t)depth * w->part->devices;
    struct least *row = row_of(w, depth);
    uint32_t count = 0;

    if (depth == w->n->positions) {
        leaf(w);
        return;
    }
    uint32_t p = choose_children(w, row, child, &count);
    for (uint32_t i = 0; i < count && !is_over(w); i++) {
        place_partial_put(w->part, p, child[i].device);
        if (bound_child(w, row, row_of(w, depth + 1), p, child[i].device))
            descend_cuts(w, depth + 1);
        place_partial_take(w->part, p);
    }
}

/* ---- set-up ---- */

bool place_cut_tree_takes(const struct place_nets *n, const struct place_rules *r)
{
    uint32_t devices = place_devices(n->graph);

    return r->communication == PLACE_SUM && !r->apart && !r->replicate && n->positions &&
           n->positions <= PLACE_CUT_TREE_MOST && devices <= PLACE_CUT_TREE_DEVICES &&
           devices * (n->positions + 2) * (n->positions / 64 + 1) <= 2000000;
}

static int allocate_cutting(struct cutting *w, struct err *e)
{
    size_t m = (size_t)w->n->positions + 1, rows = (m + 1) * w->part->devices;

    w->words = w->n->positions / 64 + 1;
    w->order = mem_try(m, sizeof *w->order);
    w->best = mem_try(m, sizeof *w->best);
    w->where = mem_try(m, sizeof *w->where);
    w->whole = mem_try((size_t)w->part->devices + 1, sizeof *w->whole);
    w->least = mem_try(rows, sizeof *w->least);
    w->sets = mem_try(2 * rows * w->words, sizeof *w->sets);
    w->child = mem_try(rows, sizeof *w->child);
    if (!w->order || !w->best || !w->where || !w->whole || !w->least || !w->sets || !w->child)
        return err_no_memory(e, "for branch and bound");
    for (size_t i = 0; i < rows; i++) {
        w->least[i].with = w->sets + 2 * i * w->words;
        w->least[i].without = w->sets + (2 * i + 1) * w->words;
    }
    return 0;
}

static void release_cutting(struct cutting *w)
{
    place_partial_free(w->part);
    place_cut_free(w->cut);
    place_hull_free(w->hull);
    free(w->order);
    free(w->best);
    free(w->where);
    free(w->whole);
    free(w->least);
    free(w->sets);
    free(w->child);
}

/* By what their devices take at least: worked out for those that take most on a device of their
 * own, as long as a part of the steps lasts; the others come behind. */
static int sort_positions(struct cutting *w, struct err *e)
{
    uint64_t most = (w->c->steps ? w->c->steps : PLACE_CUT_STEPS) / SORTED_PART;
    uint32_t m = w->n->positions, done = 0;
    struct place_weighed *all = mem_try((size_t)m + 1, sizeof *all);

    if (!all)
        return err_no_memory(e, "for branch and bound");
    for (uint32_t p = 0; p < m; p++)
        all[p] = (struct place_weighed){place_cut_alone(w->n, p), p};
    place_sort_weighed(all, m);
    for (; done < m && place_cut_steps(w->cut) < most; done++)
        all[done].weight = place_cut_with(w->cut, w->where, all[done].p);
    place_sort_weighed(all, done);
    for (uint32_t i = 0; i < m; i++)
        w->order[i] = all[i].p;
    free(all);
    return 0;
}

static void find_rates(struct cutting *w)
{
    w->pools = w->n->graph->types == 2;
    for (uint32_t p = 0; p < w->n->positions && w->pools; p++) {
        double time = place_least_time(w->n, p, false), host = place_least_time(w->n, p, true);
        if (isinf(time))
            continue;
        w->work += time;
        w->idle += host > 0 ? 0 : time;
        w->rate = host > 0 ? fmax(w->rate, time / host) : w->rate;
    }
}

int place_cut_tree(const struct place_nets *n, const struct place_cutting *c, double *value_ms,
                   uint32_t *device, bool *found, bool *proven, struct err *e)
{
    struct cutting w = {.n = n, .c = c, .best_ms = *value_ms};
    int rc = place_partial_new(n, c->rules, &w.part, e);

    if (rc)
        goto out;
    rc = allocate_cutting(&w, e);
    if (rc)
        goto out;
    rc = place_cut_new(n, &w.cut, e);
    if (rc)
        goto out;
    rc = sort_positions(&w, e);
    if (rc)
        goto out;
    rc = c->chain ? place_hull_new(c->chain, &w.hull, e) : 0;
    if (rc)
        goto out;
    find_rates(&w);
    descend_cuts(&w, 0);
    *found = w.found;
    *proven = !is_over(&w);
    if (w.found) {
        *value_ms = w.best_ms;
        memcpy(device, w.best, n->positions * sizeof *device);
    }
out:
    release_cutting(&w);
    return rc;
}

enum { BOUND_ROUNDS = 6 };

int place_cut_tree_bound(const struct place_nets *n, const struct place_cutting *c, double low,
                         double high, double *out, struct err *e)
{
    uint32_t *device = mem_try((size_t)n->positions + 1, sizeof *device);
    struct place_cutting part = *c;
    int rc = 0;

    if (!device)
        return err_no_memory(e, "for a bound");
    part.steps = (c->steps ? c->steps : PLACE_CUT_STEPS) / BOUND_ROUNDS;
    for (int round = 0; round < BOUND_ROUNDS && high - low > 1e-3 * high; round++) {
        double middle = (low + high) / 2, value = middle;
        bool found, proven;
        rc = place_cut_tree(n, &part, &value, device, &found, &proven, e);
        if (rc || stop_asked(c->stop))
            break;
        if (proven && !found)
            low = middle;
        else
            high = middle;
    }
    free(device);
    *out = low;
    return rc;
}
