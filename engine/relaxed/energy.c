#include "engine/relaxed/energy.h"

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

/* Edge k stands in two lists, as half 2k at its end a and half 2k + 1 at its end b. */
struct shrinking {
    struct tables *t;
    struct energy_edge *edges;
    uint32_t edge_count;
    uint32_t *first, *degree; /* [nodes] */
    uint32_t *next, *prev;    /* [2 edges] halves; UINT32_MAX ends */
    table_id *unary;          /* [nodes] */
    bool *is_gone, *is_waiting;
    uint32_t *queue, head, tail, nodes;
    double constant;
};
#define END UINT32_MAX

static uint32_t owner(const struct shrinking *s, uint32_t half)
{
    return half & 1 ? s->edges[half >> 1].b : s->edges[half >> 1].a;
}

static uint32_t other(const struct shrinking *s, uint32_t half)
{
    return owner(s, half ^ 1);
}

/* The edge's table with the rows of the half's own end. */
static struct sight sight_from(const struct shrinking *s, uint32_t half)
{
    struct sight i = s->edges[half >> 1].table;

    i.turned ^= half & 1;
    return i;
}

static void link_half(struct shrinking *s, uint32_t half)
{
    uint32_t node = owner(s, half);

    s->next[half] = s->first[node];
    s->prev[half] = END;
    if (s->first[node] != END)
        s->prev[s->first[node]] = half;
    s->first[node] = half;
    s->degree[node]++;
}

static void unlink_half(struct shrinking *s, uint32_t half)
{
    uint32_t node = owner(s, half);

    if (s->prev[half] == END)
        s->first[node] = s->next[half];
    else
        s->next[s->prev[half]] = s->next[half];
    if (s->next[half] != END)
        s->prev[s->next[half]] = s->prev[half];
    s->degree[node]--;
}

static bool is_ripe(const struct shrinking *s, uint32_t node)
{
    return !s->is_gone[node] && (s->degree[node] <= 2 || s->t->items[s->unary[node]].cols == 1);
}

/* A ring of nodes: each waits at most once. */
static void enqueue(struct shrinking *s, uint32_t node)
{
    if (!is_ripe(s, node) || s->is_waiting[node])
        return;
    s->is_waiting[node] = true;
    s->queue[s->tail++ % s->nodes] = node;
}

/* Adds an edge in slot `slot`, or its table to the one that joins the two already. */
static void add_edge(struct shrinking *s, uint32_t slot, uint32_t a, uint32_t b, struct sight table)
{
    uint32_t from = s->degree[a] <= s->degree[b] ? a : b, to = a + b - from;

    for (uint32_t half = s->first[from]; half != END; half = s->next[half]) {
        if (other(s, half) != to)
            continue;
        struct energy_edge *known = &s->edges[half >> 1];
        struct sight add = {table.table, table.turned ^ (known->a != a)};
        known->table = (struct sight){tables_sum(s->t, known->table, add), false};
        return;
    }
    s->edges[slot] = (struct energy_edge){a, b, table};
    link_half(s, 2 * slot);
    link_half(s, 2 * slot + 1);
}

/* A node with one label: its costs go to its neighbours, one by one. */
static void drop_constant(struct shrinking *s, uint32_t node, struct elimination *step)
{
    table_id inner = s->unary[node];

    step->count = 0;
    while (s->first[node] != END) {
        uint32_t half = s->first[node], to = other(s, half);
        s->unary[to] = tables_absorb(s->t, s->unary[to], sight_from(s, half ^ 1), inner);
        inner = 0; /* counted once */
        unlink_half(s, half);
        unlink_half(s, half ^ 1);
        enqueue(s, to);
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
    uint32_t half[2] = {s->first[node], s->first[node] == END ? END : s->next[s->first[node]]};
    uint32_t labels = s->t->items[s->unary[node]].cols;

    *step = (struct elimination){.node = node, .count = s->degree[node], .unary = s->unary[node]};
    if (labels == 1) {
        drop_constant(s, node, step);
        return true;
    }
    for (uint32_t k = 0; k < step->count; k++) {
        step->next[k] = other(s, half[k]);
        step->table[k] = sight_from(s, half[k]);
    }
    if (step->count == 2) {
        size_t cells = (size_t)s->t->items[s->unary[step->next[0]]].cols *
                       s->t->items[s->unary[step->next[1]]].cols;
        if (cells * labels > JOIN_CELLS_MOST)
            return false;
    }
    for (uint32_t k = 0; k < step->count; k++) {
        unlink_half(s, half[k]);
        unlink_half(s, half[k] ^ 1);
    }
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
        add_edge(s, half[0] >> 1, step->next[0], step->next[1], (struct sight){joined, false});
    }
    for (uint32_t k = 0; k < step->count; k++)
        enqueue(s, step->next[k]);
    return true;
}

static bool start(struct shrinking *s, const struct energy *g)
{
    size_t nodes = g->nodes + 1, edges = g->edge_count;

    *s = (struct shrinking){
        .t = g->tables, .edge_count = g->edge_count, .nodes = g->nodes, .constant = g->constant};
    s->edges = mem_try(edges, sizeof *s->edges);
    s->first = mem_try(nodes, sizeof *s->first);
    s->degree = mem_try(nodes, sizeof *s->degree);
    s->next = mem_try(2 * edges, sizeof *s->next);
    s->prev = mem_try(2 * edges, sizeof *s->prev);
    s->unary = mem_try(nodes, sizeof *s->unary);
    s->is_gone = mem_try(nodes, 1);
    s->is_waiting = mem_try(nodes, 1);
    s->queue = mem_try(nodes, sizeof *s->queue);
    if (!s->edges || !s->first || !s->degree || !s->next || !s->prev || !s->unary || !s->is_gone ||
        !s->is_waiting || !s->queue)
        return false;
    memcpy(s->unary, g->unary, g->nodes * sizeof *s->unary);
    memset(s->first, 0xff, nodes * sizeof *s->first);
    for (uint32_t k = 0; k < g->edge_count; k++)
        add_edge(s, k, g->edges[k].a, g->edges[k].b, g->edges[k].table);
    return true;
}

/* What is left, renumbered. */
static bool collect(const struct shrinking *s, const struct energy *g,
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
        for (uint32_t half = s->first[n]; half != END; half = s->next[half]) {
            if (other(s, half) > n)
                left->edges[left->edge_count++] =
                    (struct energy_edge){number[n], number[other(s, half)], sight_from(s, half)};
        }
    }
    free(number);
    return true;
}

static void finish(struct shrinking *s)
{
    free(s->edges);
    free(s->first);
    free(s->degree);
    free(s->next);
    free(s->prev);
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
    bool ok = start(&s, g) && out->steps;
    for (uint32_t n = 0; ok && n < g->nodes; n++)
        enqueue(&s, n);
    while (ok && s.head != s.tail) {
        uint32_t node = s.queue[s.head++ % s.nodes];
        s.is_waiting[node] = false;
        if (is_ripe(&s, node) && eliminate(&s, node, &out->steps[out->step_count])) {
            s.is_gone[node] = true;
            out->step_count++;
        }
    }
    ok = ok && collect(&s, g, out) && !g->tables->failed;
    finish(&s);
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
