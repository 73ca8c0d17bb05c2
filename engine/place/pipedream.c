#include "engine/place/baselines.h"

#include "engine/place/contiguous.h"
#include "engine/place/operator_graph.h"
#include "engine/place/placement.h"
#include "engine/place/published.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/union_find.h"

#include <string.h>

/* ---- biconnected components ---- */

/* Biconnected components of an undirected graph by edges (Hopcroft and Tarjan 1973), without
 * recursion: component[edge]. Rows hold both directions; `edge` numbers them alike. */
struct blocks {
    uint32_t *at, *to, *edge; /* rows */
    uint32_t *depth, *low, *cursor, *frame, *entered, *stack;
    uint32_t *component, components, top, frames;
};

static void close_block(struct blocks *b, uint32_t edge)
{
    uint32_t k;

    do {
        k = b->stack[--b->top];
        b->component[k] = b->components;
    } while (k != edge);
    b->components++;
}

static void visit_blocks(struct blocks *b, uint32_t root)
{
    b->frames = 0;
    b->depth[root] = b->low[root] = 1;
    b->cursor[root] = b->at[root];
    b->entered[root] = PLACE_NONE;
    b->frame[b->frames++] = root;
    while (b->frames) {
        uint32_t v = b->frame[b->frames - 1];
        if (b->cursor[v] < b->at[v + 1]) {
            uint32_t i = b->cursor[v]++, w = b->to[i];
            if (b->edge[i] == b->entered[v])
                continue;
            if (!b->depth[w]) {
                b->stack[b->top++] = b->edge[i];
                b->depth[w] = b->low[w] = b->depth[v] + 1;
                b->cursor[w] = b->at[w];
                b->entered[w] = b->edge[i];
                b->frame[b->frames++] = w;
            } else if (b->depth[w] < b->depth[v]) {
                b->stack[b->top++] = b->edge[i];
                b->low[v] = b->depth[w] < b->low[v] ? b->depth[w] : b->low[v];
            }
            continue;
        }
        b->frames--;
        if (!b->frames)
            return;
        uint32_t u = b->frame[b->frames - 1];
        b->low[u] = b->low[v] < b->low[u] ? b->low[v] : b->low[u];
        if (b->low[v] >= b->depth[u])
            close_block(b, b->entered[v]);
    }
}

/* ---- who is joined ---- */

/* The graph with the nodes of a color and pass as one: its edges between such vertices. */
struct passes {
    uint32_t vertices, edges;
    uint32_t *from, *to;
};

static uint32_t vertex_of(const struct place_graph *g, uint32_t node)
{
    return 2 * g->color[node] + g->backward[node];
}

/* Vertices of the nodes that the published code leaves out, where the graph is one of its own. */
static void mark_inputs(const struct place_graph *g, bool *left_out)
{
    const int64_t *id = place_published_inputs(place_fingerprint(g));

    for (; id && *id; id++) {
        for (uint32_t v = 0; v < g->nodes; v++)
            left_out[vertex_of(g, v)] |= g->id[v] == *id;
    }
}

static bool list_edges(const struct place_graph *g, struct passes *l)
{
    bool *left_out = mem_try(2 * (size_t)g->colors + 1, 1);

    l->vertices = 2 * g->colors;
    l->from = mem_try((size_t)g->edges + 1, sizeof *l->from);
    l->to = mem_try((size_t)g->edges + 1, sizeof *l->to);
    bool ok = left_out && l->from && l->to;
    if (ok)
        mark_inputs(g, left_out);
    for (uint32_t v = 0; v < g->nodes && ok; v++) {
        for (uint32_t i = g->user_at[v]; i < g->user_at[v + 1]; i++) {
            uint32_t from = vertex_of(g, v), to = vertex_of(g, g->user[i]);
            if (from == to || left_out[from])
                continue;
            l->from[l->edges] = from;
            l->to[l->edges++] = to;
        }
    }
    free(left_out);
    return ok;
}

/* Rows of both directions of the edges, and their components. */
static uint32_t *make_blocks(const struct passes *l, struct blocks *b)
{
    uint32_t m = l->vertices, edges = l->edges;
    uint32_t *all = mem_try(7 * (size_t)m + 6 * (size_t)edges + 8, sizeof *all), *next = all;

    if (!all)
        return NULL;
    b->at = next, next += m + 2;
    b->depth = next, next += m;
    b->low = next, next += m;
    b->cursor = next, next += m;
    b->frame = next, next += m;
    b->entered = next, next += m;
    b->to = next, next += 2 * (size_t)edges;
    b->edge = next, next += 2 * (size_t)edges;
    b->stack = next, next += edges;
    b->component = next;
    for (uint32_t k = 0; k < edges; k++) {
        b->at[l->from[k] + 2]++;
        b->at[l->to[k] + 2]++;
    }
    for (uint32_t v = 0; v < m; v++)
        b->at[v + 2] += b->at[v + 1];
    for (uint32_t k = 0; k < edges; k++) {
        uint32_t i = b->at[l->from[k] + 1]++, j = b->at[l->to[k] + 1]++;
        b->to[i] = l->to[k], b->edge[i] = k;
        b->to[j] = l->from[k], b->edge[j] = k;
    }
    for (uint32_t v = 0; v < m; v++) {
        if (!b->depth[v])
            visit_blocks(b, v);
    }
    return all;
}

/* color[color of g]: one for all that hold a tail of an edge of one component. */
static int join_tails(const struct place_graph *g, uint32_t *color, struct err *e)
{
    struct passes l = {0};
    struct blocks b = {0};
    uint32_t *all = list_edges(g, &l) ? make_blocks(&l, &b) : NULL;
    uint32_t *first = mem_try((size_t)l.edges + 1, sizeof *first); /* tail, by component */
    int rc = all && first ? 0 : err_no_memory(e, "for a plan");

    if (rc)
        goto out;
    for (uint32_t c = 0; c < g->colors; c++)
        color[c] = c;
    for (uint32_t k = 0; k < l.edges; k++) {
        uint32_t *f = &first[b.component[k]], c = l.from[k] / 2;
        if (!*f)
            *f = c + 1;
        color[union_root(color, c)] = union_root(color, *f - 1);
    }
    for (uint32_t c = 0; c < g->colors; c++)
        color[c] = union_root(color, c);
out:
    free(all);
    free(first);
    free(l.from);
    free(l.to);
    return rc;
}

/* The graph with the groups as colors: preparing it joins what lies on cycles among them, leaves
 * without work and the rest. */
static int colored(const struct place_graph *g, const uint32_t *color, struct place_graph **out,
                   struct err *e)
{
    uint32_t *from = mem_try((size_t)g->edges + 1, sizeof *from);
    uint32_t *first = mem_try((size_t)g->colors + 1, sizeof *first);
    struct place_graph *h = NULL;
    int rc =
        from && first ? place_graph_new(g->nodes, g->types, &h, e) : err_no_memory(e, "for a plan");

    if (rc)
        goto out;
    memcpy(h->id, g->id, g->nodes * sizeof *h->id);
    memcpy(h->time_ms, g->time_ms, (size_t)g->nodes * g->types * sizeof *h->time_ms);
    memcpy(h->bytes, g->bytes, g->nodes * sizeof *h->bytes);
    memcpy(h->send_ms, g->send_ms, g->nodes * sizeof *h->send_ms);
    memcpy(h->supported, g->supported, g->nodes);
    memcpy(h->backward, g->backward, g->nodes);
    memcpy(h->type, g->type, sizeof h->type);
    for (uint32_t v = 0; v < g->nodes; v++) {
        uint32_t *f = &first[color[g->color[v]]];
        if (!*f)
            *f = v + 1;
        h->color[v] = *f - 1;
        for (uint32_t i = g->user_at[v]; i < g->user_at[v + 1]; i++)
            from[i] = v;
    }
    for (uint32_t v = 0; v < g->nodes; v++) /* a color is named by its least node */
        h->color[h->color[v]] = h->color[v];
    h->sync_ms_per_byte = g->sync_ms_per_byte;
    h->file_class = g->file_class; /* lent */
    rc = place_graph_connect(h, from, g->user, g->edges, NULL, e);
    for (uint32_t v = 0; v < g->nodes && !rc; v++) {
        h->allowed[v] = g->allowed[v];
        h->fixed[v] = g->fixed[v];
    }
    memcpy(h->apart, g->apart, 2 * (size_t)g->aparts * sizeof *h->apart);
    h->aparts = g->aparts;
out:
    free(from);
    free(first);
    if (rc)
        place_graph_free(h);
    else
        *out = h;
    return rc;
}

int place_pipedream(const struct place_graph *g, const struct place_asking *a,
                    struct placement **out, struct err *e)
{
    struct place_asking one = *a;
    struct place_graph *h = NULL;
    uint32_t *color = mem_try((size_t)g->colors + 1, sizeof *color);
    int rc = color ? join_tails(g, color, e) : err_no_memory(e, "for a plan");

    if (rc)
        goto out;
    rc = colored(g, color, &h, e);
    if (rc)
        goto out;
    one.dpl_only = true;
    one.as_published = true;
    one.better = NULL;
    rc = place_contiguous(h, &one, out, e);
    if (rc)
        goto out;
    (*out)->algo = "pipedream";
    (*out)->proven = false;
    (*out)->bound_ms = place_work_bound(g, &a->rules);
    (*out)->bound_by = "work shared out";
out:
    free(color);
    place_graph_free(h);
    return rc;
}
