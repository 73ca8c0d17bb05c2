#include "engine/relaxed/fold_energy.h"

#include "engine/relaxed/tables.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/slots.h"

#include <string.h>

/* As mem_hash ends, for two words: this runs for every end of every edge. */
static inline uint64_t mix_hash(uint64_t a, uint64_t b)
{
    uint64_t h = (a ^ 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu;

    h = (h ^ (h >> 32) ^ b) * 0xbf58476d1ce4e5b9u;
    h = (h ^ (h >> 29)) * 0x94d049bb133111ebu;
    return h ^ (h >> 32);
}

/* Neighbours count in any order: their hashes add up. */
static void refine(const struct energy *g, const uint64_t *colour, uint64_t *next)
{
    for (uint32_t n = 0; n < g->nodes; n++)
        next[n] = 0;
    for (uint32_t k = 0; k < g->edge_count; k++) {
        const struct energy_edge *i = &g->edges[k];
        uint64_t table = (uint64_t)i->table.table << 2 | (uint64_t)i->table.turned << 1;
        next[i->a] += mix_hash(table, colour[i->b]);
        next[i->b] += mix_hash(table ^ 3, colour[i->a]);
    }
    for (uint32_t n = 0; n < g->nodes; n++)
        next[n] = mix_hash(colour[n], next[n]);
}

/* ---- numbering by hash ---- */

struct numbers {
    uint64_t *keys; /* [most] */
    struct slots slots;
    uint32_t count;
    bool failed;
};

static bool numbers_new(struct numbers *n, uint32_t most)
{
    *n = (struct numbers){.keys = mem_try((size_t)most + 1, sizeof *n->keys)};
    return n->keys != NULL;
}

static void numbers_release(struct numbers *n)
{
    free(n->keys);
    slots_release(&n->slots);
}

static uint32_t number_of(struct numbers *n, uint64_t key)
{
    struct slot_walk at;

    for (uint32_t k = slots_first(&n->slots, key, &at); k != SLOTS_END;
         k = slots_next(&n->slots, &at)) {
        if (n->keys[k] == key)
            return k;
    }
    n->failed |= !slots_add(&n->slots, key, n->count);
    n->keys[n->count] = key;
    return n->count++;
}

/* ---- colours ---- */

static int find_colours(const struct energy *g, const uint32_t *kind, uint32_t rounds,
                        struct folded_energy *f, uint32_t *size, struct err *e)
{
    uint64_t *colour = mem_try((size_t)g->nodes + 1, sizeof *colour);
    uint64_t *next = mem_try((size_t)g->nodes + 1, sizeof *next);
    struct numbers n = {0};
    bool ok = numbers_new(&n, g->nodes) && colour && next;

    for (uint32_t k = 0; ok && k < g->nodes; k++)
        colour[k] = mix_hash(g->unary[k], kind[k]);
    for (uint32_t r = 0; ok && r < rounds; r++) {
        refine(g, colour, next);
        uint64_t *swap = colour;
        colour = next;
        next = swap;
    }
    for (uint32_t k = 0; ok && k < g->nodes; k++) {
        uint32_t c = f->colour[k] = number_of(&n, colour[k]);
        if (!size[c]++)
            f->member[c] = k;
    }
    f->energy.nodes = n.count;
    ok &= !n.failed;
    numbers_release(&n);
    free(colour);
    free(next);
    return ok ? 0 : err_no_memory(e, "to fold repeated layers");
}

/* ---- edges ---- */

struct bundle {
    struct energy_edge edge; /* between colours, a <= b */
    uint32_t count;
};

/* Edges between the same colours with the same table, counted. */
static uint32_t bundle_edges(const struct energy *g, const uint32_t *colour, struct bundle *out,
                             struct numbers *n)
{
    for (uint32_t k = 0; k < g->edge_count; k++) {
        struct energy_edge i = g->edges[k];
        i.a = colour[i.a];
        i.b = colour[i.b];
        if (i.a > i.b)
            i = (struct energy_edge){i.b, i.a, {i.table.table, !i.table.turned}};
        uint64_t ends = (uint64_t)i.a << 32 | i.b;
        uint32_t at = number_of(n, mix_hash(ends, (uint64_t)i.table.table << 1 | i.table.turned));
        out[at].edge = i;
        out[at].count++;
    }
    return n->count;
}

static void add_bundles(struct energy *g, const struct bundle *list, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++) {
        struct sight table = {tables_scaled(g->tables, list[k].edge.table.table, list[k].count),
                              list[k].edge.table.turned};
        if (list[k].edge.a == list[k].edge.b)
            g->unary[list[k].edge.a] = tables_diagonal(g->tables, g->unary[list[k].edge.a], table);
        else
            g->edges[g->edge_count++] = (struct energy_edge){list[k].edge.a, list[k].edge.b, table};
    }
}

int fold_energy_new(const struct energy *g, const uint32_t *kind, uint32_t rounds,
                    struct folded_energy *out, struct err *e)
{
    struct energy *f = &out->energy;
    struct numbers n = {0};
    int rc;

    memset(out, 0, sizeof *out);
    out->colour = mem_try((size_t)g->nodes + 1, sizeof *out->colour);
    out->member = mem_try((size_t)g->nodes + 1, sizeof *out->member);
    uint32_t *size = mem_try((size_t)g->nodes + 1, sizeof *size);
    struct bundle *bundles = mem_try((size_t)g->edge_count + 1, sizeof *bundles);
    f->unary = mem_try((size_t)g->nodes + 1, sizeof *f->unary);
    f->edges = mem_try((size_t)g->edge_count + 1, sizeof *f->edges);
    f->tables = g->tables;
    f->constant = g->constant;
    if (!out->colour || !out->member || !size || !bundles || !f->unary || !f->edges ||
        !numbers_new(&n, g->edge_count)) {
        rc = err_no_memory(e, "to fold repeated layers");
        goto out;
    }
    rc = find_colours(g, kind, rounds, out, size, e);
    if (rc)
        goto out;
    for (uint32_t c = 0; c < f->nodes; c++)
        f->unary[c] = tables_scaled(g->tables, g->unary[out->member[c]], size[c]);
    add_bundles(f, bundles, bundle_edges(g, out->colour, bundles, &n));
    if (g->tables->failed || n.failed)
        rc = err_no_memory(e, "to fold repeated layers");
out:
    numbers_release(&n);
    free(size);
    free(bundles);
    if (rc)
        fold_energy_release(out);
    return rc;
}

void fold_energy_release(struct folded_energy *f)
{
    energy_release(&f->energy);
    free(f->colour);
    free(f->member);
    memset(f, 0, sizeof *f);
}
