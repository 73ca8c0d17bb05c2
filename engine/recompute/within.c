/* The best choice within a limit. */
#include "engine/recompute/front.h"
#include "engine/recompute/primal.h"
#include "engine/recompute/recompute.h"
#include "engine/recompute/recompute_internal.h"
#include "engine/recompute/sight.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char FOR[] = "for what the backward pass keeps within a limit";
static const double NEAR = 1e-9;

/* ---- what positions see ---- */

const struct recompute *recompute_looks_of(const struct recompute_looks *l)
{
    return l->r;
}

static int looks_new(const struct recompute *r, struct recompute_looks **out, struct err *e)
{
    struct recompute_looks *l = mem_try(1, sizeof *l);

    if (!l)
        return err_no_memory(e, FOR);
    l->r = r;
    *out = l;
    return 0;
}

static void release_look(struct position_look *k)
{
    front_release(&k->front);
    sight_release(&k->sight);
}

static void looks_free(struct recompute_looks *l)
{
    for (uint32_t k = 0; l && k < l->count; k++)
        release_look(&l->seen[k]);
    free(l);
}

/* The front as a position sees it, made when it is asked for first. */
static int look_at(struct recompute_looks *l, uint32_t position, struct position_look **out,
                   struct err *e)
{
    for (uint32_t k = 0; k < l->count; k++) {
        *out = &l->seen[k];
        if (l->seen[k].sight.position == position)
            return 0;
    }
    if (l->count == SEEN_MOST) { /* the oldest goes */
        release_look(&l->seen[0]);
        memmove(&l->seen[0], &l->seen[1], --l->count * sizeof *l->seen);
    }
    struct position_look *look = &l->seen[l->count++];
    *look = (struct position_look){0};
    *out = look;
    if (!sight_new(l->r, position, &look->sight))
        return err_no_memory(e, FOR);
    return front_new(l->r, look->sight.kept, look->sight.again, &look->front, e);
}

/* ---- points and pairs of them ---- */

double recompute_peak_between(const struct recompute *r, struct between_points p, uint32_t *at)
{
    struct recompute_choice c = {
        .rest = p.rest->state, .first = p.first->state, .layers = p.layers};

    return recompute_peak_at(r, &c, at);
}

int recompute_offer(const struct recompute *r, struct between_points p, double peak, double limit,
                    struct recompute_choice *best, struct err *e)
{
    const struct primal_graph *g = r->graph;
    const uint8_t *a = p.rest->state, *b = p.first->state;
    struct recompute_choice c = {.fits = peak <= limit, .layers = p.layers, .peak = peak};

    for (uint32_t k = 0; k < g->count; k++) {
        double part = recompute_part(r, k, p.layers), rest = 1 - part;
        c.ms += part * recompute_state_ms(r, k, b[k]) + rest * recompute_state_ms(r, k, a[k]);
        c.kept += part * recompute_kept_bytes(r, k, b[k]) + rest * recompute_kept_bytes(r, k, a[k]);
    }
    if (best->rest && !recompute_is_better(&c, best))
        return 0;
    c.rest = mem_try((size_t)g->count + 1, 1);
    c.first = mem_try((size_t)g->count + 1, 1);
    c.bound_ms = best->bound_ms;
    recompute_choice_release(best);
    *best = c;
    if (!c.rest || !c.first)
        return err_no_memory(e, FOR);
    memcpy(c.rest, a, g->count);
    memcpy(c.first, b, g->count);
    return 0;
}

/* Peak of a front's point; < 0: out of memory. */
static double point_peak(const struct recompute *r, struct front_point *k)
{
    if (!(k->peak > 0))
        k->peak = recompute_peak_between(r, (struct between_points){&k->p, &k->p, 0}, &k->peak_at);
    return k->peak;
}

/* The fastest point within the limit, else the one of least peak: a peak need not fall all along a
 * front. Every point between it and the one before it is known. */
static int find_point(const struct recompute *r, struct front *f, double limit, uint32_t *out,
                      struct err *e)
{
    for (;;) {
        uint32_t best = 0, count = f->count;
        for (uint32_t k = 0; k < count && (!k || f->points[best].peak > limit); k++) {
            double peak = point_peak(r, &f->points[k]);
            if (peak < 0)
                return err_no_memory(e, FOR);
            if (peak < f->points[best].peak)
                best = k;
        }
        *out = best;
        if (!best || f->points[best - 1].is_last)
            return 0;
        int rc = front_refine(f, best - 1, e);
        if (rc)
            return rc;
    }
}

/* The fastest of a front that stays within the limit, else that of least peak; where its peak is.
 */
static int search_front(const struct recompute *r, struct front *f, double limit,
                        struct recompute_choice *best, uint32_t *at, struct err *e)
{
    uint32_t k = 0, low = 1, high = r->layers;
    int rc = find_point(r, f, limit, &k, e);

    if (rc)
        return rc;
    *at = f->points[k].peak_at;
    rc = recompute_offer(r, (struct between_points){&f->points[k].p, &f->points[k].p, 0},
                         f->points[k].peak, limit, best, e);
    if (rc || !k)
        return rc;
    struct between_points pair = {&f->points[k - 1].p, &f->points[k].p, 0};
    while (low < high) {
        pair.layers = low + (high - low) / 2;
        double peak = recompute_peak_between(r, pair, at);
        if (peak < 0)
            return err_no_memory(e, FOR);
        if (peak <= limit)
            high = pair.layers;
        else
            low = pair.layers + 1;
    }
    *at = f->points[k].peak_at;
    if (high == r->layers)
        return 0;
    pair.layers = high;
    double peak = recompute_peak_between(r, pair, at);
    return peak < 0 ? err_no_memory(e, FOR) : recompute_offer(r, pair, peak, limit, best, e);
}

/* Of the first point that keeps at most `room`, and the one before it; k == count: of none, where
 * more than what all of it adds says that no choice does. */
static double least_below(const struct front *f, uint32_t k, double room)
{
    const struct recompute_point *last = &f->points[f->count - 1].p;

    if (k == f->count) {
        double least = last->ms + f->last_price * (last->kept - room);
        return least > f->sum_ms ? INFINITY : least;
    }
    const struct recompute_point *p = &f->points[k].p, *before = k ? &f->points[k - 1].p : p;
    if (!k || !f->points[k - 1].is_line)
        return before->ms;
    return p->ms - (p->ms - before->ms) / (before->kept - p->kept) * (room - p->kept);
}

/* Least ms of a choice that keeps at most `room` bytes of the front's; INFINITY: there is none. */
static int least_within(struct front *f, double room, double *ms, struct err *e)
{
    uint32_t k = 0;

    *ms = INFINITY;
    while (k < f->count && f->points[k].p.kept > room)
        k++;
    while (k && k < f->count && !f->points[k - 1].is_last) {
        int rc = front_refine(f, k - 1, e);
        if (rc)
            return rc;
        k += f->points[k].p.kept > room;
    }
    *ms = least_below(f, k, room);
    return 0;
}

/* The front of a look: a bound, and other choices. *at: where the best of them has its peak. */
static int look_again(const struct recompute *r, struct position_look *k, double limit,
                      uint32_t *at, struct recompute_choice *best, struct err *e)
{
    double least;
    int rc = least_within(&k->front, limit - k->sight.base, &least, e);

    if (rc)
        return rc;
    best->bound_ms = fmax(best->bound_ms, least);
    return search_front(r, &k->front, limit, best, at, e);
}

/* ---- the choice ---- */

enum { LOOKS_MOST = 3 };

bool recompute_is_better(const struct recompute_choice *c, const struct recompute_choice *than)
{
    if (c->fits != than->fits)
        return c->fits;
    return c->fits ? c->ms < than->ms : c->peak < than->peak;
}

bool recompute_is_enough(const struct recompute *r, const struct recompute_choice *best,
                         double enough_ms)
{
    return (best->fits && best->ms - best->bound_ms <= enough_ms) ||
           (isfinite(r->beat_ms) && best->bound_ms >= r->beat_ms && !(r->host.bytes_per_ms > 0));
}

int recompute_on_device(struct recompute_looks *l, double limit, double enough_ms,
                        struct recompute_choice *out, struct err *e)
{
    struct recompute_choice best = {.bound_ms = l->r->points[0].ms};
    uint32_t at = 0, seen[LOOKS_MOST + 1];
    int rc = search_front(l->r, l->r->front, limit, &best, &at, e);

    for (uint32_t k = 0; k < LOOKS_MOST && !rc; k++) {
        bool again = false;
        for (uint32_t i = 0; i < k; i++)
            again |= seen[i] == at;
        if (again || recompute_is_enough(l->r, &best, enough_ms))
            break;
        struct position_look *look;
        seen[k] = at;
        rc = look_at(l, at, &look, e);
        rc = rc ? rc : look_again(l->r, look, limit, &at, &best, e);
    }
    if (best.fits && best.bound_ms > best.ms)
        best.bound_ms = best.ms;
    if (rc)
        recompute_choice_release(&best);
    else
        *out = best;
    return rc;
}

int recompute_within(const struct recompute *r, double limit, double enough_ms,
                     struct recompute_choice *out, struct err *e)
{
    struct recompute_looks *l = NULL;
    int rc = looks_new(r, &l, e);

    if (rc)
        return rc;
    rc = recompute_on_device(l, limit, enough_ms, out, e);
    if (rc)
        goto out;
    rc = recompute_look_at_several(l, limit, enough_ms, out, e);
    if (rc)
        goto out;
    bool is_fastest = out->fits && out->ms <= r->points[0].ms * (1 + NEAR);
    if (is_fastest || !(r->host.bytes_per_ms > 0))
        goto out;
    rc = recompute_offload(l, limit, enough_ms, out, e);
    if (out->fits && out->bound_ms > out->ms)
        out->bound_ms = out->ms;
    if (rc)
        recompute_choice_release(out);
out:
    looks_free(l);
    return rc;
}

void recompute_choice_release(struct recompute_choice *c)
{
    free(c->rest);
    free(c->first);
    memset(c, 0, sizeof *c);
}
