#include "engine/relaxed/energy.h"

#include "engine/relaxed/edge_lists.h"
#include "engine/relaxed/tables.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <string.h>

/* Tables larger than this are not made: the node stays for message passing. */
enum { JOIN_CELLS_MOST = 1 << 22 };

double energy_of(const struct energy *g, const uint16_t *x)
{
    double sum = g->constant;

    for (uint32_t n = 0; n < g->nodes; n++)
        sum += tables_at(g->tables, g->unary[n], false)[x[n]];
    for (uint32_t k = 0; k < g->edge_count; k++) {
        const struct energy_edge *i = &g->edges[k];
        uint32_t cols = tables_cols(g->tables, i->table.table, i->table.turned);
        sum +=
            tables_at(g->tables, i->table.table, i->table.turned)[(size_t)x[i->a] * cols + x[i->b]];
    }
    return sum;
}

void energy_release(struct energy *g)
{
    free(g->unary);
    free(g->edges);
    memset(g, 0, sizeof *g);
}

/* ---- a graph that shrinks ---- */

struct shrinking {
    struct tables *t;
    struct edge_lists lists;
    table_id *unary; /* [nodes] */
    bool *is_gone, *is_waiting;
    uint32_t *queue, head, tail, nodes;
    double constant;
};

static bool is_ripe(const struct shrinking *s, uint32_t node)
{
    return !s->is_gone[node] &&
           (s->lists.degree[node] <= 2 || s->t->items[s->unary[node]].cols == 1);
}

/* A ring of nodes: each waits at most once. */
static void enqueue_node(struct shrinking *s, uint32_t node)
{
    if (!is_ripe(s, node) || s->is_waiting[node])
        return;
    s->is_waiting[node] = true;
    s->queue[s->tail++ % s->nodes] = node;
}

/* A node with one label: its costs go to its neighbours, one by one. */
static void drop_constant(struct shrinking *s, uint32_t node, struct elimination *step)
{
    table_id inner = s->unary[node];

    step->count = 0;
    while (s->lists.first[node] != EDGE_END) {
        uint32_t half = s->lists.first[node], to = edge_other(&s->lists, half);
        s->unary[to] = tables_absorb(s->t, s->unary[to], edge_sight(&s->lists, half ^ 1), inner);
        inner = 0; /* counted once */
        edge_lists_drop(&s->lists, half >> 1);
        enqueue_node(s, to);
    }
    if (inner)
        s->constant += tables_at(s->t, inner, false)[0];
}

static double least(const struct tables *t, table_id vector)
{
    const double *v = tables_at(t, vector, false);
    double x = v[0];

    for (uint32_t k = 1; k < t->items[vector].cols; k++)
        x = v[k] < x ? v[k] : x;
    return x;
}

/* False when the node must stay. */
static bool eliminate(struct shrinking *s, uint32_t node, struct elimination *step)
{
    struct edge_lists *lists = &s->lists;
    uint32_t first = lists->first[node];
    uint32_t half[2] = {first, first == EDGE_END ? EDGE_END : lists->next[first]};
    uint32_t labels = s->t->items[s->unary[node]].cols;

    *step =
        (struct elimination){.node = node, .count = lists->degree[node], .unary = s->unary[node]};
    if (labels == 1) {
        drop_constant(s, node, step);
        return true;
    }
    for (uint32_t k = 0; k < step->count; k++) {
        step->next[k] = edge_other(lists, half[k]);
        step->table[k] = edge_sight(lists, half[k]);
    }
    if (step->count == 2) {
        size_t cells = (size_t)s->t->items[s->unary[step->next[0]]].cols *
                       s->t->items[s->unary[step->next[1]]].cols;
        if (cells * labels > JOIN_CELLS_MOST)
            return false;
    }
    for (uint32_t k = 0; k < step->count; k++)
        edge_lists_drop(lists, half[k] >> 1);
    if (step->count == 0) {
        s->constant += least(s->t, s->unary[node]);
    } else if (step->count == 1) {
        uint32_t to = step->next[0];
        s->unary[to] = tables_absorb(s->t, s->unary[to],
                                     (struct sight){step->table[0].table, !step->table[0].turned},
                                     s->unary[node]);
    } else {
        struct sight left = {step->table[0].table, !step->table[0].turned};
        table_id joined = tables_join(s->t, left, s->unary[node], step->table[1]);
        edge_lists_add(lists, s->t, half[0] >> 1, step->next[0], step->next[1],
                       (struct sight){joined, false});
    }
    for (uint32_t k = 0; k < step->count; k++)
        enqueue_node(s, step->next[k]);
    return true;
}

static bool start_shrinking(struct shrinking *s, const struct energy *g)
{
    size_t nodes = (size_t)g->nodes + 1;

    *s = (struct shrinking){.t = g->tables, .nodes = g->nodes, .constant = g->constant};
    bool ok = edge_lists_new(g, &s->lists);
    s->unary = mem_try(nodes, sizeof *s->unary);
    s->is_gone = mem_try(nodes, 1);
    s->is_waiting = mem_try(nodes, 1);
    s->queue = mem_try(nodes, sizeof *s->queue);
    if (!ok || !s->unary || !s->is_gone || !s->is_waiting || !s->queue)
        return false;
    memcpy(s->unary, g->unary, g->nodes * sizeof *s->unary);
    for (uint32_t k = 0; k < g->edge_count; k++)
        edge_lists_add(&s->lists, s->t, k, g->edges[k].a, g->edges[k].b, g->edges[k].table);
    return true;
}

/* What is left, renumbered. */
static bool collect_reduced(const struct shrinking *s, const struct energy *g,
                            struct reduction_of_energy *out)
{
    uint32_t *number = mem_try((size_t)g->nodes + 1, sizeof *number);
    struct energy *left = &out->left;

    out->node = mem_try((size_t)g->nodes + 1, sizeof *out->node);
    left->tables = g->tables;
    left->unary = mem_try((size_t)g->nodes + 1, sizeof *left->unary);
    left->edges = mem_try(g->edge_count, sizeof *left->edges);
    left->constant = s->constant;
    if (!number || !out->node || !left->unary || !left->edges) {
        free(number);
        return false;
    }
    for (uint32_t n = 0; n < g->nodes; n++) {
        if (s->is_gone[n])
            continue;
        number[n] = left->nodes;
        out->node[left->nodes] = n;
        left->unary[left->nodes++] = s->unary[n];
    }
    for (uint32_t n = 0; n < g->nodes; n++) { /* edges by their lower end, later ones first */
        for (uint32_t half = s->lists.first[n]; half != EDGE_END; half = s->lists.next[half]) {
            uint32_t to = edge_other(&s->lists, half);
            if (to > n)
                left->edges[left->edge_count++] =
                    (struct energy_edge){number[n], number[to], edge_sight(&s->lists, half)};
        }
    }
    free(number);
    return true;
}

static void finish_shrinking(struct shrinking *s)
{
    edge_lists_release(&s->lists);
    free(s->unary);
    free(s->is_gone);
    free(s->is_waiting);
    free(s->queue);
}

int energy_reduce(const struct energy *g, struct reduction_of_energy *out, struct err *e)
{
    struct shrinking s;

    *out = (struct reduction_of_energy){.whole_nodes = g->nodes};
    out->steps = mem_try((size_t)g->nodes + 1, sizeof *out->steps);
    bool ok = start_shrinking(&s, g) && out->steps;
    for (uint32_t n = 0; ok && n < g->nodes; n++)
        enqueue_node(&s, n);
    while (ok && s.head != s.tail) {
        uint32_t node = s.queue[s.head++ % s.nodes];
        s.is_waiting[node] = false;
        if (is_ripe(&s, node) && eliminate(&s, node, &out->steps[out->step_count])) {
            s.is_gone[node] = true;
            out->step_count++;
        }
    }
    ok = ok && collect_reduced(&s, g, out) && !g->tables->failed;
    finish_shrinking(&s);
    if (ok)
        return 0;
    energy_reduced_release(out);
    return err_no_memory(e, "for relaxed mode");
}

void energy_reduced_release(struct reduction_of_energy *r)
{
    energy_release(&r->left);
    free(r->node);
    free(r->steps);
    memset(r, 0, sizeof *r);
}

void energy_restrict(const struct reduction_of_energy *r, const uint16_t *x, uint16_t *left)
{
    for (uint32_t k = 0; k < r->left.nodes; k++)
        left[k] = x[r->node[k]];
}

void energy_expand(const struct reduction_of_energy *r, const uint16_t *left, uint16_t *x)
{
    const struct tables *t = r->left.tables;

    for (uint32_t k = 0; k < r->left.nodes; k++)
        x[r->node[k]] = left[k];
    for (uint32_t k = r->step_count; k-- > 0;) {
        const struct elimination *s = &r->steps[k];
        const double *unary = tables_at(t, s->unary, false), *row[2] = {0};
        double best = 0;
        x[s->node] = 0;
        for (uint32_t n = 0; n < s->count; n++) { /* rows by the neighbour's label */
            uint32_t labels = t->items[s->unary].cols;
            row[n] = tables_at(t, s->table[n].table, !s->table[n].turned) +
                     (size_t)x[s->next[n]] * labels;
        }
        for (uint32_t l = 0; l < t->items[s->unary].cols; l++) {
            double cost =
                unary[l] + (s->count > 0 ? row[0][l] : 0) + (s->count > 1 ? row[1][l] : 0);
            if (!l || cost < best) {
                best = cost;
                x[s->node] = (uint16_t)l;
            }
        }
    }
}
