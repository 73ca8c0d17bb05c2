/* engine/relaxed/limited_between.c - plans between one that fits and one that does not. */
#include "engine/cost/memory.h"
#include "engine/cost/memory_chain.h"
#include "engine/relaxed/energy.h"
#include "engine/relaxed/limited_internal.h"
#include "engine/relaxed/tables.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/stop.h"
#include "hlo/support/union_find.h"

#include <string.h>

/* Nodes that have other labels in the two plans, held together by edges. */
struct part {
    double ms, memory_ms; /* what taking it changes; memory at its present prices */
    double turn;          /* the scale of the prices at which it is worth as much as not */
    uint32_t root;        /* a node of it */
};

enum side { NEVER, ALWAYS, WHEN_CHEAP, WHEN_DEAR };

struct cross {
    struct limited_search *w;
    const uint16_t *from, *to;
    uint32_t *root; /* [nodes] */
    struct part *parts;
    uint32_t *part_of; /* [nodes] of roots; while parts are sorted */
    uint32_t count;
};

static enum side side_of(const struct part *p)
{
    if (p->ms <= 0)
        return p->memory_ms <= 0 ? ALWAYS : WHEN_CHEAP;
    return p->memory_ms < 0 ? WHEN_DEAR : NEVER;
}

static int compare_parts(const void *x, const void *y)
{
    const struct part *a = x, *b = y;

    if (a->turn != b->turn)
        return (a->turn < b->turn) - (a->turn > b->turn);
    return (a->root > b->root) - (a->root < b->root);
}

static void find_parts(struct cross *c)
{
    const struct energy *g = &c->w->r->pinned;

    for (uint32_t n = 0; n < g->nodes; n++)
        c->root[n] = n;
    for (uint32_t k = 0; k < g->edge_count; k++) {
        uint32_t a = g->edges[k].a, b = g->edges[k].b;
        if (c->from[a] != c->to[a] && c->from[b] != c->to[b])
            c->root[union_root(c->root, a)] = union_root(c->root, b);
    }
    for (uint32_t n = 0; n < g->nodes; n++) {
        if (c->from[n] == c->to[n] || union_root(c->root, n) != n)
            continue;
        c->part_of[n] = c->count;
        c->parts[c->count++] = (struct part){.root = n};
    }
}

static double change_of_cost(const struct tables *t, table_id table, size_t from, size_t to)
{
    const double *cells = tables_at(t, table, false);

    return cells[to] - cells[from];
}

/* What an edge costs between the one labels or the other. */
static double edge_change(const struct cross *c, const struct energy_edge *k)
{
    const struct tables *t = c->w->r->pinned.tables;
    const double *cells = tables_at(t, k->table.table, k->table.turned);
    uint32_t cols = tables_cols(t, k->table.table, k->table.turned);

    return cells[(size_t)c->to[k->a] * cols + c->to[k->b]] -
           cells[(size_t)c->from[k->a] * cols + c->from[k->b]];
}

static void weigh_parts(struct cross *c)
{
    const struct limited_search *w = c->w;
    const struct energy *g = &w->r->pinned;

    for (uint32_t n = 0; n < g->nodes; n++) {
        if (c->from[n] == c->to[n])
            continue;
        struct part *p = &c->parts[c->part_of[union_root(c->root, n)]];
        p->ms += change_of_cost(g->tables, w->unary[n], c->from[n], c->to[n]);
        p->memory_ms += change_of_cost(g->tables, g->unary[n], c->from[n], c->to[n]);
    }
    for (uint32_t k = 0; k < g->edge_count; k++) {
        uint32_t a = w->edges[k].a, b = w->edges[k].b, end = c->from[a] != c->to[a] ? a : b;
        if (c->from[end] == c->to[end])
            continue;
        struct part *p = &c->parts[c->part_of[union_root(c->root, end)]];
        p->ms += edge_change(c, &w->edges[k]);
        p->memory_ms += edge_change(c, &g->edges[k]);
    }
    for (uint32_t k = 0; k < c->count; k++) {
        struct part *p = &c->parts[k];
        p->memory_ms -= p->ms; /* the priced energy holds time, too */
        p->turn = p->memory_ms != 0 ? -p->ms / p->memory_ms : 0;
    }
}

/* Labels when the first `cheap` parts are worth their memory, in r->best. */
static void change_parts(const struct cross *c, uint32_t cheap)
{
    uint16_t *x = c->w->r->best;

    memcpy(x, c->from, c->w->r->pinned.nodes * sizeof *x);
    for (uint32_t n = 0; n < c->w->r->pinned.nodes; n++) {
        if (c->from[n] == c->to[n])
            continue;
        uint32_t k = c->part_of[c->root[n]];
        enum side side = side_of(&c->parts[k]);
        if (side == ALWAYS || (side == WHEN_CHEAP && k < cheap) ||
            (side == WHEN_DEAR && k >= cheap))
            x[n] = c->to[n];
    }
}

static int bisect(struct cross *c, struct err *e)
{
    uint32_t low = 0, high = c->count;

    while (low < high && !stop_asked(c->w->r->stop)) {
        uint32_t middle = low + (high - low + 1) / 2;
        struct memory_cost memory;
        struct memory_chain where;
        double ms;
        change_parts(c, middle);
        int rc = limited_offer(c->w, &ms, &memory, &where, NULL, e);
        if (rc)
            return rc;
        if (memory.peak <= c->w->limit)
            low = middle;
        else
            high = middle - 1;
    }
    return 0;
}

/* Parts by the price at which they turn; every node knows its own. */
static void order_parts(struct cross *c)
{
    uint32_t nodes = c->w->r->pinned.nodes;

    qsort(c->parts, c->count, sizeof *c->parts, compare_parts);
    for (uint32_t n = 0; n < nodes; n++)
        c->root[n] = union_root(c->root, n);
    for (uint32_t k = 0; k < c->count; k++)
        c->part_of[c->parts[k].root] = k;
}

int limited_try_between(struct limited_search *w, const uint16_t *x, struct err *e)
{
    size_t nodes = (size_t)w->r->pinned.nodes + 1;
    uint16_t *from = mem_try(nodes, sizeof *from);
    struct cross c = {.w = w, .from = from, .to = x};
    int rc;

    c.root = mem_try(nodes, sizeof *c.root);
    c.part_of = mem_try(nodes, sizeof *c.part_of);
    c.parts = mem_try(nodes, sizeof *c.parts);
    if (!from || !c.root || !c.part_of || !c.parts) {
        rc = err_no_memory(e, "for a plan within a limit");
        goto out;
    }
    memcpy(from, w->best_x, (nodes - 1) * sizeof *from);
    find_parts(&c);
    weigh_parts(&c);
    order_parts(&c);
    rc = bisect(&c, e);
out:
    free(from);
    free(c.root);
    free(c.part_of);
    free(c.parts);
    return rc;
}
