#include "engine/recompute/front.h"

#include "engine/recompute/primal.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char FOR[] = "for the front of what the backward pass keeps";
static const double NEAR = 1e-9, SAME = 1e-5;

/* Prices of the two ends, of all added ms for all bytes: what is less than a 10^9th of all bytes
 * may stay at the end that keeps least. */
static const double FIRST_PRICE = 1e-7, LAST_PRICE = 1e9;

enum { POINTS_MOST = 512 };

/* The best choice at a price per byte. What it counts as kept is by the bytes of the front. */
static struct recompute_point solve_at(struct front *s, double price, uint8_t *state)
{
    const struct recompute *r = s->r;
    double least;

    for (uint32_t k = 0; k < r->graph->count; k++) {
        s->priced.kept_price[k] = price * (s->counts ? s->counts[k] : 1);
        s->priced.again_ms[k] = s->again_bytes ? price * s->again_bytes[k] : 0;
    }
    struct recompute_point out = priced_solve(&s->priced, state, &least);
    out.kept = 0;
    for (uint32_t k = 0; k < r->graph->count; k++)
        out.kept += recompute_is_kept(state[k])
                        ? (s->counts ? s->counts[k] : 1) * recompute_kept_bytes(r, k, state[k])
                    : state[k] == VALUE_AGAIN && s->again_bytes ? s->again_bytes[k]
                                                                : 0;
    return out;
}

/* Puts the point at `price` at place `at` of the list. */
static int add_point(struct front *s, uint32_t at, double price, struct err *e)
{
    uint8_t *state = mem_try((size_t)s->r->graph->count + 1, 1);

    if (!state || !mem_grow(&s->points, &s->room, s->count, 1)) {
        free(state);
        return err_no_memory(e, FOR);
    }
    memmove(&s->points[at + 1], &s->points[at], (s->count - at) * sizeof *s->points);
    s->points[at] = (struct front_point){.p = solve_at(s, price, state)};
    s->count++;
    return 0;
}

static void drop_point(struct front *s, uint32_t at)
{
    free(s->points[at].p.state);
    s->count--;
    memmove(&s->points[at], &s->points[at + 1], (s->count - at) * sizeof *s->points);
}

int front_refine(struct front *s, uint32_t k, struct err *e)
{
    struct recompute_point a = s->points[k].p, b = s->points[k + 1].p;
    double less = a.kept - b.kept, price = (b.ms - a.ms) / less;

    s->points[k].is_last |= !(less > NEAR * s->sum_bytes) || !(less > SAME * a.kept) ||
                            !(price > 0) || s->count >= POINTS_MOST;
    if (s->points[k].is_last)
        return 0;
    int rc = add_point(s, k + 1, price, e);
    if (rc)
        return rc;
    struct recompute_point mid = s->points[k + 1].p;
    double value = mid.ms + price * mid.kept, ends = a.ms + price * a.kept;
    if (!(value < ends - 1e-7 * (fabs(b.ms - a.ms) + price * less)) || mid.kept >= a.kept ||
        mid.kept <= b.kept) {
        drop_point(s, k + 1);
        s->points[k].is_last = s->points[k].is_line = true;
    }
    return 0;
}

/* Without what another beats, or is as good as. */
static void tidy_front(struct front *s)
{
    for (uint32_t k = 0; k + 1 < s->count;) {
        const struct recompute_point *a = &s->points[k].p, *b = &s->points[k + 1].p;
        if (a->ms >= b->ms * (1 - NEAR) && a->kept >= b->kept)
            drop_point(s, k);
        else if (b->kept <= a->kept * (1 + SAME) && b->kept >= a->kept * (1 - SAME) &&
                 k + 2 < s->count)
            drop_point(s, k + 1);
        else
            k++;
    }
}

int front_finish(struct front *s, struct err *e)
{
    for (uint32_t k = 0; k + 1 < s->count; k += s->points[k].is_last) {
        int rc = front_refine(s, k, e);
        if (rc)
            return rc;
    }
    tidy_front(s);
    for (uint32_t k = 0; k < s->count; k++)
        s->points[k].is_last = true;
    return 0;
}

int front_new(const struct recompute *r, const double *counts, const double *again_bytes,
              struct front *out, struct err *e)
{
    *out = (struct front){.r = r, .counts = counts, .again_bytes = again_bytes};
    int rc = priced_new(r, NULL, 0, &out->priced, e);
    if (rc)
        return rc;
    for (uint32_t k = 0; k < r->graph->count; k++) {
        out->sum_ms += r->again_ms[k] + r->keep_ms[k] + r->gather_ms[k];
        out->sum_bytes +=
            (counts ? counts[k] : 1) * r->bytes[k] + (again_bytes ? again_bytes[k] : 0);
    }
    double per_byte = (out->sum_ms + 1e-12) / (out->sum_bytes + 1e-12);
    out->last_price = LAST_PRICE * per_byte;
    rc = add_point(out, 0, FIRST_PRICE * per_byte, e);
    return rc ? rc : add_point(out, 1, out->last_price, e);
}

void front_release(struct front *s)
{
    priced_release(&s->priced);
    for (uint32_t k = 0; k < s->count; k++)
        free(s->points[k].p.state);
    free(s->points);
    memset(s, 0, sizeof *s);
}
