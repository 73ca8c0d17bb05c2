/* Keep on the device, keep on the host, or compute again.
 *
 * A byte of any kept value costs the same on the link, so a choice with X bytes on the host is the
 * same choice without a host within a limit that is X larger, and the bound of the latter holds for
 * it: added ms >= bound(limit + X) + shown(X). Of both terms the first falls with X and the second
 * rises, which bounds whole intervals of X; the most promising is halved until nothing better can
 * be left. At each X looked at, the values that the backward pass reads last go to the host. */
#include "engine/recompute/recompute_internal.h"

#include "engine/recompute/primal.h"
#include "engine/recompute/recompute.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char FOR[] = "for what goes to the host";

enum { LOOKS_MOST = 12, RETURNS_MOST = 24, AIMS_MOST = 3 };
static const double NARROW = 1e-2, MORE = 1.02;

/* ---- what copies cost ---- */

/* ms of a step that copying X bytes of a micro-batch there and back shows: behind the forward pass
 * there, behind the backward pass back. */
static double shown_ms(const struct recompute *r, double x)
{
    const struct recompute_host *h = &r->host;
    double copy = h->passes * x / h->bytes_per_ms;

    return fmax(0, copy - h->forward_ms) + fmax(0, copy - h->backward_ms);
}

/* Where the last trip's are on the host too, they are fetched at once and nothing hides it. */
static double first_fetch_ms(const struct recompute *r, const struct recompute_choice *c)
{
    double bytes = 0;

    for (uint32_t k = 0; k < r->graph->count && c->host_layers == r->layers; k++) {
        const struct primal *n = &r->graph->nodes[k];
        if (n->trips > 1 && c->rest[k] == VALUE_OFFLOADED)
            bytes += r->bytes[k] / n->trips;
    }
    return r->host.passes * bytes / r->host.bytes_per_ms;
}

static void price_copies(const struct recompute *r, struct recompute_choice *c)
{
    double bytes = 0;

    for (uint32_t k = 0; k < r->graph->count; k++)
        bytes += r->bytes[k] * recompute_host_part(r, c, k);
    c->kept -= bytes - c->host_bytes;
    c->ms -= c->host_ms;
    c->host_bytes = bytes;
    c->host_ms = bytes > 0 ? shown_ms(r, bytes) + first_fetch_ms(r, c) : 0;
    c->ms += c->host_ms;
}

/* ---- which values go ---- */

static bool may_leave(const struct recompute *r, uint32_t k)
{
    const struct primal *n = &r->graph->nodes[k];

    if (n->trips > 1)
        return n->trips > 2;
    return n->layer != PRIMAL_NO_LAYER && n->layer + 1 < r->graph->layers;
}

static void set_state(struct recompute_choice *c, uint32_t k, uint8_t from, uint8_t to)
{
    c->rest[k] = c->rest[k] == from ? to : c->rest[k];
    c->first[k] = c->first[k] == from ? to : c->first[k];
}

static double peak_with(const struct recompute *r, struct recompute_choice *c, uint32_t layers)
{
    c->host_layers = layers;
    return c->peak = recompute_peak(r, c);
}

/* Back to the device goes what there is room for, the largest first. */
static void take_back(const struct recompute *r, struct recompute_choice *c, double limit)
{
    for (uint32_t tries = 0; tries < RETURNS_MOST; tries++) {
        double room = limit - c->peak, most = 0;
        uint32_t best = UINT32_MAX;
        for (uint32_t k = 0; k < r->graph->count; k++) {
            double bytes = r->bytes[k] * recompute_host_part(r, c, k);
            if (bytes > most && bytes <= room) {
                most = bytes;
                best = k;
            }
        }
        if (best == UINT32_MAX)
            return;
        uint8_t rest = c->rest[best], first = c->first[best];
        set_state(c, best, VALUE_OFFLOADED, VALUE_KEPT);
        double peak = recompute_peak(r, c);
        if (!(peak >= 0 && peak <= limit)) {
            c->rest[best] = rest;
            c->first[best] = first;
            return;
        }
        c->peak = peak;
    }
}

/* Sends to the host what as few of the first layers keep as bring a choice within the limit: the
 * backward pass reads it last. */
static int send_away(const struct recompute *r, struct recompute_choice *c, double limit,
                     struct err *e)
{
    uint32_t low = 0, high = r->layers;

    for (uint32_t k = 0; k < r->graph->count; k++)
        if (may_leave(r, k))
            set_state(c, k, VALUE_KEPT, VALUE_OFFLOADED);
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        double peak = peak_with(r, c, mid);
        if (peak >= 0 && peak <= limit)
            high = mid;
        else
            low = mid + 1;
    }
    if (peak_with(r, c, high) < 0)
        return err_no_memory(e, FOR);
    c->fits = c->peak <= limit;
    if (c->fits)
        take_back(r, c, limit);
    for (uint32_t k = 0; k < r->graph->count; k++)
        if (!(recompute_host_part(r, c, k) > 0))
            set_state(c, k, VALUE_OFFLOADED, VALUE_KEPT);
    price_copies(r, c);
    return 0;
}

/* ---- how much ---- */

/* Bytes on the host that were looked at, in order. */
struct looks {
    double x[LOOKS_MOST + 3], bound[LOOKS_MOST + 3];
    uint32_t count;
};

static double bound_of(const struct recompute *r, const struct looks *l, uint32_t n)
{
    return l->bound[n] + shown_ms(r, l->x[n - 1]);
}

/* The interval in which most may be left, as its end. */
static uint32_t widest(const struct recompute *r, const struct looks *l)
{
    uint32_t best = 1;

    for (uint32_t n = 2; n < l->count; n++)
        if (bound_of(r, l, n) < bound_of(r, l, best))
            best = n;
    return best;
}

static int look_at(struct recompute_looks *fronts, double limit, double x, double enough_ms,
                   struct looks *l, struct recompute_choice *best, double *moved, struct err *e)
{
    const struct recompute *r = recompute_looks_of(fronts);
    struct recompute_choice c = {0};
    uint32_t n = l->count++;
    int rc = recompute_on_device(fronts, limit + x, enough_ms, &c, e);

    if (rc)
        return rc;
    for (; n > 1 && l->x[n - 1] > x; n--) {
        l->x[n] = l->x[n - 1];
        l->bound[n] = l->bound[n - 1];
    }
    l->x[n] = x;
    l->bound[n] = c.bound_ms;
    rc = send_away(r, &c, limit, e);
    *moved = c.host_bytes;
    if (!rc && recompute_is_better(&c, best)) {
        struct recompute_choice worse = *best;
        c.bound_ms = best->bound_ms;
        *best = c;
        c = worse;
    }
    recompute_choice_release(&c);
    return rc;
}

/* With more on the host nothing has to be computed again. */
static double most_bytes(const struct recompute *r, double limit)
{
    uint8_t *all = r->points[0].state;

    return recompute_peak(r, &(struct recompute_choice){.rest = all, .first = all}) - limit;
}

/* What no copy shows: arrays on their way take memory too, so that a little more goes than was
 * asked for; less is asked for then. */
static int look_at_free(struct recompute_looks *fronts, double limit, double enough_ms,
                        struct looks *l, double most, struct recompute_choice *best, struct err *e)
{
    const struct recompute_host *h = &recompute_looks_of(fronts)->host;
    double free_bytes = fmin(h->forward_ms, h->backward_ms) / h->passes * h->bytes_per_ms;
    double x = free_bytes, moved = 0;
    int rc = 0;

    for (int k = 0; k < AIMS_MOST && !rc && x > 0 && x < most; k++) {
        rc = look_at(fronts, limit, x, enough_ms, l, best, &moved, e);
        if (!(moved > free_bytes))
            break;
        x -= MORE * (moved - free_bytes);
    }
    return rc;
}

int recompute_offload(struct recompute_looks *fronts, double limit, double enough_ms,
                      struct recompute_choice *best, struct err *e)
{
    const struct recompute *r = recompute_looks_of(fronts);
    struct looks l = {.count = 1}; /* nothing on the host */
    double most = most_bytes(r, limit), moved;

    l.bound[0] = best->bound_ms;
    if (!(most > 0))
        return 0;
    int rc = look_at_free(fronts, limit, enough_ms, &l, most, best, e);
    rc = rc ? rc : look_at(fronts, limit, most, enough_ms, &l, best, &moved, e);
    while (!rc && l.count < LOOKS_MOST) {
        uint32_t n = widest(r, &l);
        if ((best->fits && bound_of(r, &l, n) >= best->ms - enough_ms) ||
            l.x[n] - l.x[n - 1] < NARROW * most)
            break;
        rc = look_at(fronts, limit, (l.x[n - 1] + l.x[n]) / 2, enough_ms, &l, best, &moved, e);
    }
    best->bound_ms = fmin(l.bound[0], bound_of(r, &l, widest(r, &l)));
    return rc;
}
