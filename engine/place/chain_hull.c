#include "engine/place/chain_hull.h"

#include "engine/place/cut_tree.h"
#include "engine/place/nets.h"
#include "engine/place/operator_graph.h"
#include "engine/place/place_cut.h"
#include "engine/place/prepare.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <string.h>

/* Sets of positions: rows of words, bit p for position p. */
struct place_hull {
    uint32_t positions, words;
    uint64_t *before, *after;     /* by position: all that precede it, that follow it, and itself */
    uint64_t *own, *front, *back; /* by device: its positions, and unions of their rows */
    uint64_t *in, *out;           /* by device: what it must hold, must lack */
    uint64_t behind[PLACE_CUT_TREE_DEVICES]; /* bit e: e comes behind that device */
};

static uint64_t *row_of(const struct place_hull *h, uint64_t *rows, uint32_t k)
{
    return rows + (size_t)k * h->words;
}

static void add_set(const struct place_hull *h, uint64_t *to, const uint64_t *from)
{
    for (uint32_t k = 0; k < h->words; k++)
        to[k] |= from[k];
}

static void add_one(uint64_t *to, uint32_t p)
{
    to[p / 64] |= (uint64_t)1 << (p % 64);
}

static bool meet(const struct place_hull *h, const uint64_t *a, const uint64_t *b)
{
    for (uint32_t k = 0; k < h->words; k++) {
        if (a[k] & b[k])
            return true;
    }
    return false;
}

int place_hull_new(const struct place_prepared *p, struct place_hull **out, struct err *e)
{
    struct place_hull *h = mem_try(1, sizeof *h);
    uint32_t m = p->nets->positions, words = m / 64 + 1;
    size_t devices = (size_t)PLACE_CUT_TREE_DEVICES * words;

    if (!h)
        return err_no_memory(e, "for a bound");
    h->positions = m;
    h->words = words;
    h->before = mem_try((size_t)m * words + 1, sizeof *h->before);
    h->after = mem_try((size_t)m * words + 1, sizeof *h->after);
    h->own = mem_try(5 * devices, sizeof *h->own);
    if (!h->before || !h->after || !h->own) {
        place_hull_free(h);
        return err_no_memory(e, "for a bound");
    }
    h->front = h->own + devices;
    h->back = h->front + devices;
    h->in = h->back + devices;
    h->out = h->in + devices;
    for (uint32_t v = 0; v < m; v++) { /* positions are in a topological order */
        add_one(row_of(h, h->before, v), v);
        for (uint32_t i = p->before_at[v]; i < p->before_at[v + 1]; i++)
            add_set(h, row_of(h, h->before, v), row_of(h, h->before, p->before[i]));
    }
    for (uint32_t v = m; v-- > 0;) {
        add_one(row_of(h, h->after, v), v);
        for (uint32_t i = p->after_at[v]; i < p->after_at[v + 1]; i++)
            add_set(h, row_of(h, h->after, v), row_of(h, h->after, p->after[i]));
    }
    *out = h;
    return 0;
}

void place_hull_free(struct place_hull *h)
{
    if (!h)
        return;
    free(h->before);
    free(h->after);
    free(h->own);
    free(h);
}

/* Who comes behind whom, through others too (Warshall 1962). False: in a circle. */
static bool order_devices(struct place_hull *h, uint32_t devices)
{
    for (uint32_t d = 0; d < devices; d++) {
        h->behind[d] = 0;
        for (uint32_t c = 0; c < devices; c++) {
            if (c != d && meet(h, row_of(h, h->back, d), row_of(h, h->own, c)))
                h->behind[d] |= (uint64_t)1 << c;
        }
    }
    for (uint32_t k = 0; k < devices; k++) {
        for (uint32_t d = 0; d < devices; d++)
            h->behind[d] |= h->behind[d] >> k & 1 ? h->behind[k] : 0;
    }
    for (uint32_t d = 0; d < devices; d++) {
        if (h->behind[d] >> d & 1)
            return false;
    }
    return true;
}

bool place_hull_set(struct place_hull *h, const uint32_t *device, uint32_t devices)
{
    memset(h->own, 0, 5 * (size_t)PLACE_CUT_TREE_DEVICES * h->words * sizeof *h->own);
    for (uint32_t p = 0; p < h->positions; p++) {
        if (device[p] == PLACE_NONE)
            continue;
        add_one(row_of(h, h->own, device[p]), p);
        add_set(h, row_of(h, h->front, device[p]), row_of(h, h->before, p));
        add_set(h, row_of(h, h->back, device[p]), row_of(h, h->after, p));
    }
    if (!order_devices(h, devices))
        return false;
    for (uint32_t d = 0; d < devices; d++) {
        uint64_t *in = row_of(h, h->in, d), *out = row_of(h, h->out, d);
        for (uint32_t k = 0; k < h->words; k++)
            in[k] = row_of(h, h->front, d)[k] & row_of(h, h->back, d)[k];
        for (uint32_t c = 0; c < devices; c++) {
            if (h->behind[d] >> c & 1)
                add_set(h, out, row_of(h, h->back, c));
            if (h->behind[c] >> d & 1)
                add_set(h, out, row_of(h, h->front, c));
            if (c != d)
                add_set(h, out, row_of(h, h->own, c));
        }
        if (meet(h, in, out))
            return false;
    }
    return true;
}

void place_hull_add(const struct place_hull *h, uint32_t d, uint8_t *where)
{
    const uint64_t *in = row_of(h, h->in, d), *out = row_of(h, h->out, d);

    for (uint32_t p = 0; p < h->positions; p++) {
        if (in[p / 64] >> (p % 64) & 1)
            where[p] = PLACE_CUT_IN;
        else if (out[p / 64] >> (p % 64) & 1)
            where[p] = PLACE_CUT_OUT;
    }
}

bool place_hull_agrees(const struct place_hull *h, uint32_t d, const uint64_t *set)
{
    const uint64_t *in = row_of(h, h->in, d), *out = row_of(h, h->out, d);

    for (uint32_t k = 0; k < h->words; k++) {
        if ((in[k] & ~set[k]) | (out[k] & set[k]))
            return false;
    }
    return true;
}
