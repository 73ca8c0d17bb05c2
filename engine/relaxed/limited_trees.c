/* engine/relaxed/limited_trees.c - plans near the bound's prices, by moves of trees.
 *
 * Equal layers have equal prices, so the plans of the bound's solves change all of them at once:
 * most are a little above the limit or far below it. Here the prices stand in the costs of nodes
 * and pairs (limited_price.c), the memory of every position is kept while labels change
 * (live_bytes.h), and a tree gets the best labels at those prices as long as the plan fits: layers
 * change one by one. What is above the limit is repaired first, at prices that rise where it is. */
#include "engine/cost/memory.h"
#include "engine/cost/memory_chain.h"
#include "engine/relaxed/energy.h"
#include "engine/relaxed/limited_internal.h"
#include "engine/relaxed/live_bytes.h"
#include "engine/relaxed/tables.h"
#include "engine/relaxed/tree_search.h"
#include "engine/relaxed/trws.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/stop.h"

#include <math.h>
#include <string.h>

enum {
    STARTS_MOST = 2,
    LEVELS = 12, /* of prices, that fade in a walk */
    ROUNDS = 12, /* of prices, that rise in a repair */
    ABOVE_AT_ONCE = 8,
    TREE_MOST = 3000,
    WALK_WORK = 30, /* passes over all tables */
    ROUND_WORK = 3,
    PASS_LEAST = 150000, /* cells */
    MOVE_WORK = 50       /* cells, besides those looked at */
};
#define NEAR 1e-6      /* to the bound, that ends it */
#define NEW_SHARE 0.05 /* of all prices, what a new one begins with */

struct tree_walk {
    struct limited_search *w;
    struct energy plain;     /* without prices, as energy_ms has it */
    struct trws graph, dear; /* of plain; of the energy with prices */
    size_t *label_first;     /* [nodes + 1] */
    double *cost;            /* [labels] */
    struct live_bytes *lives;
    struct tree_search trees;
    uint64_t pass; /* cells of all tables */
    uint16_t *x;   /* [nodes] the best labels that fit */
    double ms;     /* their energy */
};

/* ---- begin and end ---- */

static int copy_costs(struct tree_walk *t, struct err *e)
{
    const struct energy *g = &t->plain;

    t->label_first = mem_try((size_t)g->nodes + 1, sizeof *t->label_first);
    t->x = mem_try((size_t)g->nodes + 1, sizeof *t->x);
    if (!t->label_first || !t->x)
        return err_no_memory(e, "for a plan within a limit");
    for (uint32_t n = 0; n < g->nodes; n++)
        t->label_first[n + 1] = t->label_first[n] + energy_labels(g, n);
    t->cost = mem_try(t->label_first[g->nodes] + 1, sizeof *t->cost);
    if (!t->cost)
        return err_no_memory(e, "for a plan within a limit");
    for (uint32_t n = 0; n < g->nodes; n++)
        memcpy(t->cost + t->label_first[n], tables_at(g->tables, g->unary[n], false),
               energy_labels(g, n) * sizeof *t->cost);
    for (uint32_t k = 0; k < g->edge_count; k++)
        t->pass += (uint64_t)energy_labels(g, g->edges[k].a) * energy_labels(g, g->edges[k].b);
    t->pass = t->pass > PASS_LEAST ? t->pass : PASS_LEAST;
    return 0;
}

/* The prices of w->peaks, in the energy and in the moves. */
static int set_prices(struct tree_walk *t, struct err *e)
{
    int rc = limited_price(t->w, e);

    if (rc)
        return rc;
    trws_release(&t->dear);
    rc = trws_new(&t->w->r->pinned, &t->dear, e);
    if (rc)
        return rc;
    if (t->trees.x)
        tree_search_reprice(&t->trees, &t->dear);
    return 0;
}

static int begin_walk(struct tree_walk *t, struct limited_search *w, struct err *e)
{
    *t = (struct tree_walk){.w = w, .plain = w->r->pinned, .ms = INFINITY};
    t->plain.unary = w->unary;
    t->plain.edges = (struct energy_edge *)w->edges;
    t->plain.constant = w->r->model.energy.constant;
    for (uint32_t k = 0; k < w->count; k++)
        w->peaks[k].now = w->peaks[k].best;
    int rc = set_prices(t, e);
    if (rc)
        return rc;
    rc = trws_new(&t->plain, &t->graph, e);
    if (rc)
        return rc;
    rc = copy_costs(t, e);
    if (rc)
        return rc;
    rc = live_bytes_new(&w->r->model, &w->best, &t->lives, e);
    if (rc || !t->lives)
        return rc;
    return tree_search_relaxed(&t->graph, &t->dear, t->lives, w->limit, t->cost, t->label_first, 1,
                               &t->trees, e);
}

static void end_walk(struct tree_walk *t)
{
    if (t->trees.x)
        tree_search_release(&t->trees);
    live_bytes_free(t->lives);
    trws_release(&t->graph);
    trws_release(&t->dear);
    free(t->label_first);
    free(t->cost);
    free(t->x);
}

/* ---- moves ---- */

static bool is_over(const struct tree_walk *t, uint64_t until)
{
    return t->trees.work >= until || t->ms <= t->w->how->bound_ms * (1 + NEAR) ||
           stop_asked(t->w->r->stop);
}

static bool fits(const struct tree_walk *t)
{
    return tree_search_peak(&t->trees) <= t->w->limit;
}

static void move_tree(struct tree_walk *t)
{
    uint32_t most = t->plain.nodes < TREE_MOST ? t->plain.nodes : TREE_MOST;

    tree_search_move(&t->trees, tree_search_size(&t->trees, most));
    t->trees.work += MOVE_WORK;
}

/* Where the labels are over the limit, a price begins or doubles. */
static int raise_prices(struct tree_walk *t, struct err *e)
{
    struct limited_search *w = t->w;
    struct memory_chain above[ABOVE_AT_ONCE];
    uint32_t count = live_bytes_above(t->lives, w->limit, above, ABOVE_AT_ONCE);
    double all = 0;

    for (uint32_t k = 0; k < w->count; k++)
        all += w->peaks[k].now;
    for (uint32_t n = 0; n < count; n++) {
        struct peak *p = limited_peak_at(w, &above[n]);
        if (p)
            p->now = fmax(fmax(2 * p->now, NEW_SHARE * all), w->unit);
    }
    return set_prices(t, e);
}

static int repair(struct tree_walk *t, struct err *e)
{
    struct tree_search *s = &t->trees;

    s->level = 1;
    for (uint32_t k = 0; k < ROUNDS && !fits(t) && limited_has_room(t->w); k++) {
        uint64_t until = s->work + ROUND_WORK * t->pass;
        int rc = k ? raise_prices(t, e) : 0;
        if (rc)
            return rc;
        while (!is_over(t, until) && !fits(t)) {
            s->limit = tree_search_peak(s);
            move_tree(t);
        }
    }
    s->limit = t->w->limit;
    return 0;
}

static void keep_labels(struct tree_walk *t)
{
    if (!fits(t) || t->trees.energy >= t->ms)
        return;
    t->ms = t->trees.energy;
    memcpy(t->x, t->trees.x, t->plain.nodes * sizeof *t->x);
}

/* From labels that fit: prices fade, in the end time alone counts. */
static void walk(struct tree_walk *t)
{
    struct tree_search *s = &t->trees;

    keep_labels(t);
    for (uint32_t k = 0; k < LEVELS; k++) {
        uint64_t until = s->work + WALK_WORK * t->pass / LEVELS;
        s->level = k < LEVELS / 2 ? 1 : 2 * (1 - (k + 1.0) / LEVELS);
        while (!is_over(t, until)) {
            move_tree(t);
            keep_labels(t);
        }
    }
}

/* ---- starts ---- */

/* The known plans with the least energy at the best prices, the least first. */
static uint32_t choose_starts(const struct limited_search *w, const uint16_t *starts[])
{
    double worth[STARTS_MOST];
    uint32_t count = 0;

    for (uint32_t k = 0; k < w->known_count; k++) {
        double energy = energy_of(&w->r->pinned, w->known[k].x);
        uint32_t at = count;
        for (; at > 0 && energy < worth[at - 1]; at--) {
            if (at == STARTS_MOST)
                continue;
            worth[at] = worth[at - 1];
            starts[at] = starts[at - 1];
        }
        if (at == STARTS_MOST)
            continue;
        worth[at] = energy;
        starts[at] = w->known[k].x;
        count += count < STARTS_MOST;
    }
    return count;
}

static int walk_from(struct tree_walk *t, const uint16_t *x, struct err *e)
{
    tree_search_set(&t->trees, x);
    int rc = repair(t, e);
    if (rc)
        return rc;
    if (fits(t))
        walk(t);
    return 0;
}

static int walk_all(struct tree_walk *t, struct err *e)
{
    const uint16_t *starts[STARTS_MOST];
    uint32_t count = choose_starts(t->w, starts);
    int rc = 0;

    if (t->w->how->fits)
        rc = walk_from(t, t->w->best_x, e);
    for (uint32_t k = 0; k < count; k++) {
        if (rc)
            return rc;
        rc = walk_from(t, starts[k], e);
    }
    return rc;
}

/* The best labels found, as a plan. */
static int offer_walk(struct tree_walk *t, struct err *e)
{
    struct limited_search *w = t->w;
    struct memory_cost memory;
    struct memory_chain where;
    double ms;

    if (!isfinite(t->ms))
        return 0;
    memcpy(w->r->best, t->x, t->plain.nodes * sizeof *t->x);
    return limited_offer(w, &ms, &memory, &where, NULL, e);
}

static int find_plan(struct tree_walk *t, struct limited_search *w, struct err *e)
{
    int rc = begin_walk(t, w, e);

    if (rc || !t->lives)
        return rc;
    rc = walk_all(t, e);
    return rc ? rc : offer_walk(t, e);
}

int limited_walk_trees(struct limited_search *w, struct err *e)
{
    uint32_t count = w->count;
    struct tree_walk t;
    int rc = find_plan(&t, w, e);

    end_walk(&t);
    w->count = count; /* the prices of the bound are of the positions before */
    return rc;
}
