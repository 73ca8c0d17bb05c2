#include "engine/relaxed/contract.h"

#include "engine/relaxed/edge_lists.h"
#include "engine/relaxed/energy.h"
#include "engine/relaxed/tables.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <string.h>

/* Tables made on the way: half a GB. A node that decides another of many edges and fewer labels
 * makes their tables larger: by so much at most. */
#define CELLS_MOST ((size_t)1 << 26)
enum { GROWTH_MOST = 1 << 16 };

struct contracting {
    struct tables *t;
    struct edge_lists lists;
    uint32_t nodes;
    size_t *first;    /* [nodes + 1] labels of a node begin here */
    double *unary;    /* [labels] */
    uint8_t *alive;   /* [labels] */
    uint32_t *left;   /* [nodes] labels alive */
    uint32_t *parent; /* [nodes] who decides it; itself */
    size_t *map;      /* [nodes] into label, once it has a parent */
    uint16_t *label;  /* by the parent's label */
    size_t label_count, label_room;
    uint32_t *merged, merged_count; /* nodes in the order in which they went */
    uint32_t *queue, head, tail;    /* edges to look at */
    uint8_t *is_waiting;
    double forbidden;
    bool is_impossible, failed;
};

static uint32_t labels_of(const struct contracting *s, uint32_t node)
{
    return (uint32_t)(s->first[node + 1] - s->first[node]);
}

static void look_at(struct contracting *s, uint32_t edge)
{
    if (s->is_waiting[edge])
        return;
    s->is_waiting[edge] = 1;
    s->queue[s->tail++ % s->lists.edge_count] = edge;
}

static void look_around(struct contracting *s, uint32_t node)
{
    for (uint32_t h = s->lists.first[node]; h != EDGE_END; h = s->lists.next[h])
        look_at(s, h >> 1);
}

/* ---- one edge, seen from one end ---- */

struct seen_edge {
    uint32_t edge, a, b, rows, cols;
    const uint8_t *row_alive, *col_alive;
    const double *cells;
};

static struct seen_edge see_edge(const struct contracting *s, uint32_t half)
{
    uint32_t a = edge_owner(&s->lists, half), b = edge_other(&s->lists, half);
    struct sight i = edge_sight(&s->lists, half);

    return (struct seen_edge){half >> 1,
                              a,
                              b,
                              labels_of(s, a),
                              labels_of(s, b),
                              s->alive + s->first[a],
                              s->alive + s->first[b],
                              tables_at(s->t, i.table, i.turned)};
}

/* Columns that a row leaves, 2 for more than one; *at: the first. */
static uint32_t partners(const struct contracting *s, const struct seen_edge *i, uint32_t row,
                         uint32_t *at)
{
    const double *line = i->cells + (size_t)row * i->cols;
    uint32_t count = 0;

    for (uint32_t c = 0; c < i->cols && count < 2; c++) {
        if (!i->col_alive[c] || line[c] >= s->forbidden)
            continue;
        if (!count++)
            *at = c;
    }
    return count;
}

static void kill_label(struct contracting *s, uint32_t node, uint32_t label)
{
    s->alive[s->first[node] + label] = 0;
    if (!--s->left[node])
        s->is_impossible = true;
}

/* Takes labels off a; *decides: each that is left leaves one of b. */
static void make_consistent(struct contracting *s, const struct seen_edge *i, bool *decides)
{
    uint32_t before = s->left[i->a], at = 0;

    *decides = true;
    for (uint32_t r = 0; r < i->rows; r++) {
        if (!i->row_alive[r])
            continue;
        uint32_t count = partners(s, i, r, &at);
        if (!count)
            kill_label(s, i->a, r);
        *decides &= count < 2;
    }
    if (s->left[i->a] < before)
        look_around(s, i->a);
}

static uint32_t first_alive(const uint8_t *alive)
{
    uint32_t k = 0;

    while (!alive[k])
        k++;
    return k;
}

/* The table is f(a) + g(b), exactly. */
static bool is_sum(const struct contracting *s, const struct seen_edge *i)
{
    uint32_t r0 = first_alive(i->row_alive), c0 = first_alive(i->col_alive);
    const double *top = i->cells + (size_t)r0 * i->cols;

    for (uint32_t r = r0; r < i->rows; r++) {
        const double *line = i->cells + (size_t)r * i->cols;
        for (uint32_t c = c0; c < i->cols && i->row_alive[r]; c++) {
            if (i->col_alive[c] &&
                (line[c] >= s->forbidden || line[c] - line[c0] != top[c] - top[c0]))
                return false;
        }
    }
    return true;
}

static void dissolve(struct contracting *s, const struct seen_edge *i)
{
    uint32_t r0 = first_alive(i->row_alive), c0 = first_alive(i->col_alive);
    const double *top = i->cells + (size_t)r0 * i->cols;

    for (uint32_t r = 0; r < i->rows; r++) {
        if (i->row_alive[r])
            s->unary[s->first[i->a] + r] += i->cells[(size_t)r * i->cols + c0] - top[c0];
    }
    for (uint32_t c = 0; c < i->cols; c++) {
        if (i->col_alive[c])
            s->unary[s->first[i->b] + c] += top[c];
    }
    edge_lists_drop(&s->lists, i->edge);
}

/* ---- two nodes that become one ---- */

/* How much larger the tables of b's edges get with a's labels. */
static bool grows_too_much(const struct contracting *s, const struct seen_edge *i)
{
    size_t cells = 0, more = s->left[i->a] - s->left[i->b];

    for (uint32_t h = s->lists.first[i->b]; more && h != EDGE_END && cells <= GROWTH_MOST;
         h = s->lists.next[h])
        cells += more * s->left[edge_other(&s->lists, h)];
    return cells > GROWTH_MOST;
}

/* b's edges become a's. */
static void move_edges(struct contracting *s, uint32_t a, uint32_t b, struct label_map map)
{
    bool same = map.count == labels_of(s, b);

    for (uint32_t k = 0; k < map.count && same; k++)
        same = map.label[k] == k;
    while (s->lists.first[b] != EDGE_END) {
        uint32_t half = s->lists.first[b], to = edge_other(&s->lists, half);
        struct sight sight = edge_sight(&s->lists, half);
        edge_lists_drop(&s->lists, half >> 1);
        if (!same)
            sight = (struct sight){tables_pick(s->t, s->t, sight, map, (struct label_map){NULL, 0}),
                                   false};
        look_at(s, edge_lists_add(&s->lists, s->t, half >> 1, a, to, sight));
    }
}

/* a decides b. */
static void merge_edge(struct contracting *s, const struct seen_edge *i)
{
    uint32_t a = i->a, b = i->b;

    if (!mem_grow(&s->label, &s->label_room, s->label_count, i->rows)) {
        s->failed = true;
        return;
    }
    s->map[b] = s->label_count;
    uint16_t *map = s->label + s->label_count;
    s->label_count += i->rows;
    for (uint32_t r = 0; r < i->rows; r++) {
        uint32_t at = first_alive(i->col_alive);
        if (i->row_alive[r] && partners(s, i, r, &at) == 1)
            s->unary[s->first[a] + r] +=
                i->cells[(size_t)r * i->cols + at] + s->unary[s->first[b] + at];
        map[r] = (uint16_t)at;
    }
    edge_lists_drop(&s->lists, i->edge);
    move_edges(s, a, b, (struct label_map){map, i->rows});
    s->parent[b] = a;
    s->merged[s->merged_count++] = b;
}

static void visit_edge(struct contracting *s, uint32_t edge)
{
    bool decides[2];

    if (s->lists.edges[edge].a == EDGE_END)
        return;
    for (uint32_t k = 0; k < 2 && !s->is_impossible; k++) {
        struct seen_edge i = see_edge(s, 2 * edge + k);
        make_consistent(s, &i, &decides[k]);
    }
    if (s->is_impossible)
        return;
    struct seen_edge i = see_edge(s, 2 * edge);
    if (is_sum(s, &i)) {
        dissolve(s, &i);
        return;
    }
    bool turned =
        decides[0] && decides[1] ? s->lists.degree[i.a] < s->lists.degree[i.b] : decides[1];
    if (!decides[0] && !decides[1])
        return;
    i = see_edge(s, 2 * edge + turned);
    if (!grows_too_much(s, &i))
        merge_edge(s, &i);
}

/* ---- begin and end ---- */

static void begin_nodes(struct contracting *s, const struct energy *g)
{
    for (uint32_t n = 0; n < s->nodes; n++) {
        const double *v = tables_at(g->tables, g->unary[n], false);
        uint32_t labels = labels_of(s, n);
        s->parent[n] = n;
        s->left[n] = labels;
        memcpy(s->unary + s->first[n], v, labels * sizeof *v);
        memset(s->alive + s->first[n], 1, labels);
        for (uint32_t l = 0; l < labels; l++)
            if (v[l] >= s->forbidden)
                kill_label(s, n, l);
    }
}

static void begin_edges(struct contracting *s, const struct energy *g)
{
    for (uint32_t k = 0; k < g->edge_count; k++) {
        const struct energy_edge *i = &g->edges[k];
        const double *cells = tables_at(s->t, i->table.table, false);
        uint32_t labels = labels_of(s, i->a);
        if (i->a != i->b) {
            look_at(s, edge_lists_add(&s->lists, s->t, k, i->a, i->b, i->table));
            continue;
        }
        for (uint32_t l = 0; l < labels; l++) {
            double cell = cells[(size_t)l * labels + l];
            s->unary[s->first[i->a] + l] += cell;
            if (cell >= s->forbidden && s->alive[s->first[i->a] + l])
                kill_label(s, i->a, l);
        }
    }
}

static bool begin_contracting(struct contracting *s, const struct energy *g)
{
    size_t nodes = (size_t)g->nodes + 1, edges = (size_t)g->edge_count + 1;

    s->first = mem_try(nodes, sizeof *s->first);
    if (!edge_lists_new(g, &s->lists) || !s->first)
        return false;
    for (uint32_t n = 0; n < g->nodes; n++)
        s->first[n + 1] = s->first[n] + energy_labels(g, n);
    s->unary = mem_try(s->first[g->nodes] + 1, sizeof *s->unary);
    s->alive = mem_try(s->first[g->nodes] + 1, 1);
    s->left = mem_try(nodes, sizeof *s->left);
    s->parent = mem_try(nodes, sizeof *s->parent);
    s->map = mem_try(nodes, sizeof *s->map);
    s->merged = mem_try(nodes, sizeof *s->merged);
    s->queue = mem_try(edges, sizeof *s->queue);
    s->is_waiting = mem_try(edges, 1);
    if (!s->unary || !s->alive || !s->left || !s->parent || !s->map || !s->merged || !s->queue ||
        !s->is_waiting)
        return false;
    begin_nodes(s, g);
    begin_edges(s, g);
    return true;
}

static void release_contracting(struct contracting *s)
{
    edge_lists_release(&s->lists);
    free(s->first);
    free(s->unary);
    free(s->alive);
    free(s->left);
    free(s->parent);
    free(s->map);
    free(s->label);
    free(s->merged);
    free(s->queue);
    free(s->is_waiting);
}

/* Numbers and labels of a node in what is left. */
struct kept {
    uint32_t *number; /* [nodes] */
    uint16_t *labels; /* [labels] alive ones of a node from first[node] on */
};

static struct label_map kept_labels(const struct contracting *s, const struct kept *k, uint32_t n)
{
    return (struct label_map){k->labels + s->first[n], s->left[n]};
}

enum { UNARY = TABLE_KEYS };

static void write_nodes(struct contracting *s, struct kept *k, struct contraction *out)
{
    for (uint32_t n = 0; n < s->nodes; n++) {
        uint32_t at = 0, labels = labels_of(s, n);
        for (uint32_t l = 0; l < labels; l++)
            if (s->alive[s->first[n] + l])
                k->labels[s->first[n] + at++] = (uint16_t)l;
        k->number[n] = CONTRACTION_FIXED;
        if (s->parent[n] != n)
            continue;
        if (s->left[n] == 1 && s->lists.first[n] == EDGE_END) {
            out->left.constant += s->unary[s->first[n] + k->labels[s->first[n]]];
            continue;
        }
        bool is_new;
        table_id id =
            tables_get(&out->tables, (uint64_t[TABLE_KEY]){UNARY, n}, 1, s->left[n], &is_new);
        double *v = tables_at(&out->tables, id, false);
        for (uint32_t l = 0; l < s->left[n] && is_new; l++)
            v[l] = s->unary[s->first[n] + k->labels[s->first[n] + l]];
        k->number[n] = out->left.nodes;
        out->left.unary[out->left.nodes++] = id;
    }
}

static void write_edges(const struct contracting *s, const struct kept *k, struct contraction *out)
{
    for (uint32_t n = 0; n < s->nodes; n++) {
        for (uint32_t h = s->lists.first[n]; h != EDGE_END; h = s->lists.next[h]) {
            uint32_t to = edge_other(&s->lists, h);
            if (to < n)
                continue;
            table_id id = tables_pick(&out->tables, s->t, edge_sight(&s->lists, h),
                                      kept_labels(s, k, n), kept_labels(s, k, to));
            out->left.edges[out->left.edge_count++] =
                (struct energy_edge){k->number[n], k->number[to], {id, false}};
        }
    }
}

/* Whose label decides each node's, and how. Those that went last first: a parent is done. */
static bool write_maps(const struct contracting *s, const struct kept *k, struct contraction *out)
{
    size_t used = 0, room = 0;

    for (uint32_t n = 0; n < s->nodes; n++) {
        if (s->parent[n] != n)
            continue;
        struct label_map own = kept_labels(s, k, n);
        if (!mem_grow(&out->label, &room, used, own.count))
            return false;
        out->owner[n] = k->number[n];
        out->map[n] = used;
        memcpy(out->label + used, own.label, own.count * sizeof *own.label);
        used += own.count;
    }
    for (uint32_t m = s->merged_count; m-- > 0;) {
        uint32_t n = s->merged[m], parent = s->parent[n];
        out->owner[n] = out->owner[parent];
        uint32_t count =
            out->owner[n] == CONTRACTION_FIXED ? 1 : energy_labels(&out->left, out->owner[n]);
        if (!mem_grow(&out->label, &room, used, count))
            return false;
        out->map[n] = used;
        for (uint32_t l = 0; l < count; l++)
            out->label[used + l] = s->label[s->map[n] + out->label[out->map[parent] + l]];
        used += count;
    }
    return true;
}

static bool write_left(struct contracting *s, struct contraction *out)
{
    struct kept k = {mem_try((size_t)s->nodes + 1, sizeof *k.number),
                     mem_try(s->first[s->nodes] + 1, sizeof *k.labels)};
    bool ok = k.number && k.labels;

    out->left = (struct energy){.tables = &out->tables};
    out->left.unary = mem_try((size_t)s->nodes + 1, sizeof *out->left.unary);
    out->left.edges = mem_try((size_t)s->lists.edge_count + 1, sizeof *out->left.edges);
    out->owner = mem_try((size_t)s->nodes + 1, sizeof *out->owner);
    out->map = mem_try((size_t)s->nodes + 1, sizeof *out->map);
    ok = ok && out->left.unary && out->left.edges && out->owner && out->map;
    if (ok) {
        write_nodes(s, &k, out);
        write_edges(s, &k, out);
        ok = !out->tables.failed && write_maps(s, &k, out);
    }
    free(k.number);
    free(k.labels);
    return ok;
}

int energy_contract(const struct energy *g, double forbidden, const atomic_bool *stop,
                    struct contraction *out, struct err *e)
{
    struct contracting s = {.t = g->tables, .nodes = g->nodes, .forbidden = forbidden};
    int rc;

    *out = (struct contraction){.whole_nodes = g->nodes};
    rc = tables_new(&out->tables, e);
    if (rc)
        goto out;
    s.failed = !begin_contracting(&s, g);
    size_t before = s.t->used;
    while (s.head != s.tail && !s.failed && !s.is_impossible && !s.t->failed &&
           s.t->used - before < CELLS_MOST && !stop_asked(stop)) {
        uint32_t edge = s.queue[s.head++ % s.lists.edge_count];
        s.is_waiting[edge] = 0;
        visit_edge(&s, edge);
    }
    if (s.is_impossible)
        rc = err_set(e, ERR_INFEASIBLE, "every choice of strategies has a forbidden cost");
    else if (s.failed || s.t->failed || !write_left(&s, out))
        rc = err_no_memory(e, "to contract an energy");
    out->left.constant += rc ? 0 : g->constant;
out:
    release_contracting(&s);
    if (rc)
        contraction_release(out);
    return rc;
}

void contraction_release(struct contraction *c)
{
    tables_release(&c->tables);
    energy_release(&c->left);
    free(c->owner);
    free(c->map);
    free(c->label);
    memset(c, 0, sizeof *c);
}

void contraction_expand(const struct contraction *c, const uint16_t *left, uint16_t *x)
{
    for (uint32_t n = 0; n < c->whole_nodes; n++)
        x[n] = c->label[c->map[n] + (c->owner[n] == CONTRACTION_FIXED ? 0 : left[c->owner[n]])];
}
