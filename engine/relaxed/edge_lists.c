#include "engine/relaxed/edge_lists.h"

#include "hlo/support/mem.h"

#include <string.h>

bool edge_lists_new(const struct energy *g, struct edge_lists *out)
{
    size_t nodes = (size_t)g->nodes + 1, edges = (size_t)g->edge_count + 1;

    *out = (struct edge_lists){.edge_count = g->edge_count};
    out->edges = mem_try(edges, sizeof *out->edges);
    out->first = mem_try(nodes, sizeof *out->first);
    out->degree = mem_try(nodes, sizeof *out->degree);
    out->next = mem_try(2 * edges, sizeof *out->next);
    out->prev = mem_try(2 * edges, sizeof *out->prev);
    if (!out->edges || !out->first || !out->degree || !out->next || !out->prev)
        return false;
    memset(out->first, 0xff, nodes * sizeof *out->first);
    return true;
}

void edge_lists_release(struct edge_lists *s)
{
    free(s->edges);
    free(s->first);
    free(s->degree);
    free(s->next);
    free(s->prev);
    memset(s, 0, sizeof *s);
}

static void link_half(struct edge_lists *s, uint32_t half)
{
    uint32_t node = edge_owner(s, half);

    s->next[half] = s->first[node];
    s->prev[half] = EDGE_END;
    if (s->first[node] != EDGE_END)
        s->prev[s->first[node]] = half;
    s->first[node] = half;
    s->degree[node]++;
}

static void unlink_half(struct edge_lists *s, uint32_t half)
{
    uint32_t node = edge_owner(s, half);

    if (s->prev[half] == EDGE_END)
        s->first[node] = s->next[half];
    else
        s->next[s->prev[half]] = s->next[half];
    if (s->next[half] != EDGE_END)
        s->prev[s->next[half]] = s->prev[half];
    s->degree[node]--;
}

uint32_t edge_lists_add(struct edge_lists *s, struct tables *t, uint32_t slot, uint32_t a,
                        uint32_t b, struct sight table)
{
    uint32_t from = s->degree[a] <= s->degree[b] ? a : b, to = a + b - from;

    for (uint32_t half = s->first[from]; half != EDGE_END; half = s->next[half]) {
        if (edge_other(s, half) != to)
            continue;
        struct energy_edge *known = &s->edges[half >> 1];
        struct sight add = {table.table, table.turned ^ (known->a != a)};
        known->table = (struct sight){tables_sum(t, known->table, add), false};
        return half >> 1;
    }
    s->edges[slot] = (struct energy_edge){a, b, table};
    link_half(s, 2 * slot);
    link_half(s, 2 * slot + 1);
    return slot;
}

void edge_lists_drop(struct edge_lists *s, uint32_t slot)
{
    unlink_half(s, 2 * slot);
    unlink_half(s, 2 * slot + 1);
    s->edges[slot].a = s->edges[slot].b = EDGE_END;
}
