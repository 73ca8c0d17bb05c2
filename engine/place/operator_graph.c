#include "engine/place/operator_graph.h"

#include "hlo/support/sort.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

int place_graph_new(uint32_t nodes, uint32_t types, struct place_graph **out, struct err *e)
{
    struct place_graph *g = mem_try(1, sizeof *g);

    if (!g)
        return err_no_memory(e, "for this graph");
    struct arena *a = &g->arena;
    size_t n = nodes ? nodes : 1;
    g->nodes = nodes;
    g->types = types;
    g->id = arena_get(a, n, sizeof *g->id);
    g->name = arena_get(a, n, sizeof *g->name);
    g->layer = arena_get(a, n, sizeof *g->layer);
    g->time_ms = arena_get(a, n * types, sizeof *g->time_ms);
    g->bytes = arena_get(a, n, sizeof *g->bytes);
    g->send_ms = arena_get(a, n, sizeof *g->send_ms);
    g->color = arena_get(a, n, sizeof *g->color);
    g->supported = arena_get(a, n, sizeof *g->supported);
    g->backward = arena_get(a, n, sizeof *g->backward);
    g->allowed = arena_get(a, n, sizeof *g->allowed);
    g->fixed = arena_get(a, n, sizeof *g->fixed);
    g->apart = arena_get(a, 2 * PLACE_PINS_MAX, sizeof *g->apart);
    g->user_at = arena_get(a, n + 1, sizeof *g->user_at);
    g->order = arena_get(a, n, sizeof *g->order);
    if (!g->id || !g->name || !g->layer || !g->time_ms || !g->bytes || !g->send_ms || !g->color ||
        !g->supported || !g->backward || !g->allowed || !g->fixed || !g->apart || !g->user_at ||
        !g->order) {
        place_graph_free(g);
        return err_no_memory(e, "for this graph");
    }
    memset(g->color, 0xff, n * sizeof *g->color);
    memset(g->fixed, 0xff, n * sizeof *g->fixed);
    *out = g;
    return 0;
}

void place_graph_free(struct place_graph *g)
{
    if (!g)
        return;
    arena_release(&g->arena);
    free(g);
}

/* ---- edges ---- */

/* Rows of `from`, sorted, each user once. */
static bool fill_users(struct place_graph *g, const uint32_t *from, const uint32_t *to,
                       uint32_t edges)
{
    uint32_t *at = g->user_at, kept = 0;

    g->user = arena_get(&g->arena, edges ? edges : 1, sizeof *g->user);
    if (!g->user)
        return false;
    for (uint32_t i = 0; i < edges; i++)
        at[from[i] + 1]++;
    for (uint32_t v = 0; v < g->nodes; v++)
        at[v + 1] += at[v];
    for (uint32_t i = edges; i-- > 0;) /* at[v] runs back from its row's end to its begin */
        g->user[--at[from[i] + 1]] = to[i];
    for (uint32_t v = 0; v < g->nodes; v++) {
        uint32_t begin = at[v + 1], end = v + 1 < g->nodes ? at[v + 2] : edges;
        sort_u32(g->user + begin, end - begin);
        uint32_t first = kept;
        for (uint32_t i = begin; i < end; i++) {
            if (kept == first || g->user[kept - 1] != g->user[i])
                g->user[kept++] = g->user[i];
        }
        at[v] = first;
    }
    at[g->nodes] = kept;
    g->edges = kept;
    return true;
}

struct edges {
    const uint32_t *from, *to;
    uint32_t count;
};

/* The last edge of a cycle and, in *nodes, how long the cycle is. `open` nodes are on one or behind
 * one; `last`: scratch, by node. */
static uint32_t find_cycle(const struct place_graph *g, const struct edges *all,
                           const uint32_t *open, uint32_t *last, uint32_t *nodes)
{
    uint32_t v = 0, found = 0;

    for (uint32_t i = 0; i < all->count; i++) { /* each is behind another one that is open */
        if (open[all->from[i]] && open[all->to[i]])
            last[all->to[i]] = i;
    }
    while (!open[v])
        v++;
    for (uint32_t k = 0; k < g->nodes; k++) /* far enough back, v is on a cycle */
        v = all->from[last[v]];
    *nodes = 0;
    uint32_t first = v;
    do {
        found = last[v] > found ? last[v] : found;
        v = all->from[last[v]];
        ++*nodes;
    } while (v != first);
    return found;
}

/* Nodes without open inputs, first in first out, in the order of the file. */
static int sort_nodes(struct place_graph *g, const struct edges *all, uint32_t *culprit,
                      struct err *e)
{
    uint32_t *open = mem_try((size_t)g->nodes + 1, sizeof *open), head = 0, tail = 0;

    if (!open)
        return err_no_memory(e, "for this graph");
    for (uint32_t i = 0; i < g->edges; i++)
        open[g->user[i]]++;
    for (uint32_t v = 0; v < g->nodes; v++) {
        if (!open[v])
            g->order[tail++] = v;
    }
    for (; head < tail; head++) {
        uint32_t v = g->order[head];
        for (uint32_t i = g->user_at[v]; i < g->user_at[v + 1]; i++) {
            if (!--open[g->user[i]])
                g->order[tail++] = g->user[i];
        }
    }
    int rc = 0;
    if (tail < g->nodes) { /* no order: it is room for the search of a cycle */
        uint32_t nodes, i = find_cycle(g, all, open, g->order, &nodes);
        rc = err_set(e, ERR_INPUT,
                     "the edge from node %" PRId64 " to node %" PRId64
                     " closes a cycle of %u nodes, expected none",
                     g->id[all->from[i]], g->id[all->to[i]], nodes);
        if (culprit)
            *culprit = i;
    }
    free(open);
    return rc;
}

static bool densify_colors(struct place_graph *g)
{
    uint32_t *seen = mem_try((size_t)g->nodes + 1, sizeof *seen);

    if (!seen)
        return false;
    for (uint32_t v = 0; v < g->nodes; v++) {
        if (g->color[v] != PLACE_NONE)
            BUG_ON(g->color[v] >= g->nodes);
    }
    for (uint32_t v = 0; v < g->nodes; v++) {
        uint32_t *slot = g->color[v] == PLACE_NONE ? NULL : &seen[g->color[v]];
        if (slot && *slot) {
            g->color[v] = *slot - 1;
            continue;
        }
        g->color[v] = g->colors++;
        if (slot)
            *slot = g->color[v] + 1;
    }
    free(seen);
    return true;
}

static int check_edge(const struct place_graph *g, uint32_t from, uint32_t to, struct err *e)
{
    if (from == to)
        return err_set(e, ERR_INPUT, "an edge from node %" PRId64 " to itself", g->id[from]);
    if (g->backward[from] && !g->backward[to])
        return err_set(e, ERR_INPUT,
                       "an edge from backward node %" PRId64 " to forward node %" PRId64
                       ", expected none that way",
                       g->id[from], g->id[to]);
    return 0;
}

int place_graph_connect(struct place_graph *g, const uint32_t *from, const uint32_t *to,
                        uint32_t edges, uint32_t *culprit, struct err *e)
{
    if (culprit)
        *culprit = PLACE_NONE;
    for (uint32_t i = 0; i < edges; i++) {
        BUG_ON(from[i] >= g->nodes || to[i] >= g->nodes);
        if (check_edge(g, from[i], to[i], e)) {
            if (culprit)
                *culprit = i;
            return e->code;
        }
    }
    if (!fill_users(g, from, to, edges) || !densify_colors(g))
        return err_no_memory(e, "for this graph");
    for (uint32_t v = 0; v < g->nodes; v++) {
        g->training |= g->backward[v];
        for (uint32_t t = 0; t < g->types; t++)
            g->allowed[v] |= (uint8_t)((g->supported[v] || g->type[t].is_host) << t);
    }
    return sort_nodes(g, &(struct edges){from, to, edges}, culprit, e);
}

/* ---- names ---- */

struct place_who place_who(const struct place_graph *g, uint32_t node)
{
    struct place_who who;

    if (g->name && g->name[node] && g->name[node][0])
        snprintf(who.text, sizeof who.text, "%s", g->name[node]);
    else
        snprintf(who.text, sizeof who.text, "%" PRId64, g->id[node]);
    return who;
}

char *place_device_name(const struct place_graph *g, uint32_t device, char out[static 16])
{
    const struct place_type *t = &g->type[place_type_of(g, device)];
    char letters[8];
    uint32_t number = device, size = 0;

    if (t->is_host) {
        number -= place_devices(g) - t->count;
        snprintf(out, 16, number ? "h%u" : "h", number + 1);
        return out;
    }
    do {
        letters[size++] = (char)('A' + number % 26);
        number /= 26;
    } while (number--);
    for (uint32_t i = 0; i < size; i++)
        out[i] = letters[size - 1 - i];
    out[size] = 0;
    return out;
}

uint64_t place_fingerprint(const struct place_graph *g)
{
    uint64_t h = mem_hash(&g->nodes, sizeof g->nodes, 17);
    size_t n = g->nodes;

    for (uint32_t t = 0; t < g->types; t++) {
        h = mem_hash(&g->type[t].count, sizeof g->type[t].count, h);
        h = mem_hash(&g->type[t].memory_bytes, sizeof(double), h);
    }
    h = mem_hash(g->id, n * sizeof *g->id, h);
    h = mem_hash(g->time_ms, n * g->types * sizeof(double), h);
    h = mem_hash(g->bytes, n * sizeof(double), h);
    h = mem_hash(g->send_ms, n * sizeof(double), h);
    h = mem_hash(g->color, n * sizeof *g->color, h);
    h = mem_hash(g->supported, n * sizeof *g->supported, h);
    h = mem_hash(g->backward, n * sizeof *g->backward, h);
    h = mem_hash(g->user_at, (n + 1) * sizeof *g->user_at, h);
    for (uint32_t v = 0; v < g->nodes && g->per_server && g->far_ms; v++) {
        uint64_t far[] = {v, g->per_server, 0};
        memcpy(&far[2], &g->far_ms[v], sizeof far[2]);
        if (g->user_at[v] < g->user_at[v + 1] && g->far_ms[v] != g->send_ms[v])
            h = mem_hash(far, sizeof far, h);
    }
    return mem_hash(g->user, g->edges * sizeof *g->user, h);
}
