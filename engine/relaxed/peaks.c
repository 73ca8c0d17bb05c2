#include "engine/relaxed/peaks.h"

#include "hlo/support/mem.h"

#include <math.h>
#include <string.h>

bool peaks_new(uint32_t points, struct peaks *out)
{
    *out = (struct peaks){.points = points, .leaves = 1};
    while (out->leaves < points)
        out->leaves *= 2;
    out->most = mem_try(2 * (size_t)out->leaves, sizeof *out->most);
    out->added = mem_try(2 * (size_t)out->leaves, sizeof *out->added);
    return out->most && out->added;
}

void peaks_release(struct peaks *p)
{
    free(p->most);
    free(p->added);
    memset(p, 0, sizeof *p);
}

static void pull_peak(struct peaks *p, uint32_t node)
{
    double left = p->most[2 * node], right = p->most[2 * node + 1];

    p->most[node] = (left > right ? left : right) + p->added[node];
}

void peaks_set(struct peaks *p, const double *bytes)
{
    memset(p->added, 0, 2 * (size_t)p->leaves * sizeof *p->added);
    for (uint32_t t = 0; t < p->leaves; t++)
        p->most[p->leaves + t] = t < p->points ? bytes[t] : -INFINITY;
    for (uint32_t n = p->leaves; n-- > 1;)
        pull_peak(p, n);
}

static void add_to(struct peaks *p, uint32_t node, double bytes)
{
    p->most[node] += bytes;
    p->added[node] += bytes;
}

void peaks_add(struct peaks *p, uint32_t from, uint32_t to, double bytes)
{
    uint32_t left = from + p->leaves, right = to + p->leaves - 1;
    uint32_t first = left, last = right;

    if (from >= to)
        return;
    for (right++; left < right; left /= 2, right /= 2) {
        if (left & 1)
            add_to(p, left++, bytes);
        if (right & 1)
            add_to(p, --right, bytes);
    }
    for (first /= 2, last /= 2; first; first /= 2, last /= 2) {
        pull_peak(p, first);
        if (last != first)
            pull_peak(p, last);
    }
}

uint32_t peaks_worst(const struct peaks *p)
{
    uint32_t node = 1;

    while (node < p->leaves)
        node = 2 * node + (p->most[2 * node + 1] > p->most[2 * node]);
    return node - p->leaves;
}
