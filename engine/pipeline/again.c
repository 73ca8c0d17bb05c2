#include "engine/pipeline/again.h"

#include "hlo/support/mem.h"

#include <stdlib.h>
#include <string.h>

static int compare_pairs(const void *x, const void *y)
{
    const struct again_pair *a = x, *b = y;

    if (a->at != b->at)
        return a->at < b->at ? -1 : 1;
    if (a->before != b->before)
        return a->before < b->before ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

static void join_pairs(const struct again_pair *pair, uint32_t count, const double *amount,
                       struct again *g)
{
    for (uint32_t n = 0; n < count; n++) {
        struct again_pair *last = g->count ? &g->pair[g->count - 1] : NULL;
        if (!last || last->at != pair[n].at || last->before != pair[n].before) {
            last = &g->pair[g->count];
            *last = (struct again_pair){pair[n].before, pair[n].at, g->count};
            g->count++;
        }
        for (uint32_t c = 0; c < g->columns; c++)
            g->amount[(size_t)last->row * g->columns + c] +=
                amount[(size_t)pair[n].row * g->columns + c];
    }
}

/* The pairs of a level from those of the one below, two blocks merged into one. */
static void merge_level(const struct again *g, uint32_t level, const uint32_t *from, uint32_t *to)
{
    uint32_t half = level ? 1u << (level - 1) : 1;

    for (uint32_t start = 0; start < g->count; start += 2 * half) {
        uint32_t a = start, middle = start + half < g->count ? start + half : g->count;
        uint32_t b = middle, end = start + 2 * half < g->count ? start + 2 * half : g->count;
        for (uint32_t k = start; k < end; k++) {
            bool left =
                b == end || (a < middle && g->pair[from[a]].before <= g->pair[from[b]].before);
            to[k] = left ? from[a++] : from[b++];
        }
    }
}

static void sum_level(struct again *g, uint32_t level, const uint32_t *row)
{
    uint32_t size = 1u << level;

    for (uint32_t k = 0; k < g->count; k++) {
        g->before[(size_t)level * g->count + k] = g->pair[row[k]].before;
        for (uint32_t c = 0; c < g->columns; c++) {
            double *sum = g->sum + ((size_t)level * g->columns + c) * g->count;
            sum[k] = g->amount[(size_t)row[k] * g->columns + c] + (k % size ? sum[k - 1] : 0);
        }
    }
}

static bool fill_levels(struct arena *arena, struct again *g)
{
    size_t n = g->count;
    uint32_t *row = mem_try(n, sizeof *row), *next = mem_try(n, sizeof *next);

    while (g->count >> g->levels)
        g->levels++;
    g->before = arena_get(arena, g->levels * n, sizeof *g->before);
    g->sum = arena_get(arena, g->levels * n * g->columns, sizeof *g->sum);
    bool ok = row && next && g->before && g->sum;
    for (uint32_t k = 0; ok && k < g->count; k++)
        row[k] = k;
    for (uint32_t level = 0; ok && level < g->levels; level++) {
        if (level) {
            merge_level(g, level, row, next);
            memcpy(row, next, n * sizeof *row);
        }
        sum_level(g, level, row);
    }
    free(row);
    free(next);
    return ok;
}

bool again_new(struct arena *arena, uint32_t points, uint32_t columns, struct again_pair *pair,
               uint32_t count, const double *amount, struct again *out)
{
    *out = (struct again){.points = points, .columns = columns};
    if (!count)
        return true;
    qsort(pair, count, sizeof *pair, compare_pairs);
    out->pair = arena_get(arena, count, sizeof *out->pair);
    out->amount = arena_get(arena, (size_t)count * columns, sizeof *out->amount);
    out->first = arena_get(arena, (size_t)points + 1, sizeof *out->first);
    if (!out->pair || !out->amount || !out->first)
        return false;
    join_pairs(pair, count, amount, out);
    for (uint32_t i = 0, n = 0; i <= points; i++) {
        while (n < out->count && out->pair[n].at < i)
            n++;
        out->first[i] = n;
    }
    return fill_levels(arena, out);
}

bool again_coarsen(struct arena *arena, const struct again *from, const uint32_t *cut,
                   uint32_t points, struct again *out)
{
    struct again_pair *pair = mem_try((size_t)from->count + 1, sizeof *pair);
    uint32_t *point = mem_try((size_t)from->points + 1, sizeof *point), count = 0;
    bool ok = pair && point;

    for (uint32_t i = 0, n = 0; ok && i < from->points; i++) {
        while (cut[n + 1] <= i)
            n++;
        point[i] = n;
    }
    for (uint32_t n = 0; ok && n < from->count; n++) {
        const struct again_pair *p = &from->pair[n];
        if (point[p->before] < point[p->at])
            pair[count++] = (struct again_pair){point[p->before], point[p->at], n};
    }
    ok = ok && again_new(arena, points, from->columns, pair, count, from->amount, out);
    free(pair);
    free(point);
    return ok;
}

/* The pairs of a block with `before` below i. */
static double block_sum(const struct again *g, uint32_t column, uint32_t level, uint32_t start,
                        uint32_t i)
{
    const uint32_t *before = g->before + (size_t)level * g->count + start;
    const double *sum = g->sum + ((size_t)level * g->columns + column) * g->count + start;
    uint32_t low = 0, high = 1u << level;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (before[middle] < i)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? sum[low - 1] : 0;
}

double again_tree_sum(const struct again *g, uint32_t column, uint32_t i, uint32_t j)
{
    uint32_t low = g->first[i], high = g->first[j];
    double sum = 0;

    for (uint32_t level = 0; low < high; level++) {
        uint32_t size = 1u << level;
        if (low & size) {
            sum += block_sum(g, column, level, low, i);
            low += size;
        }
        if (low < high && high & size) {
            high -= size;
            sum += block_sum(g, column, level, high, i);
        }
    }
    return sum;
}
