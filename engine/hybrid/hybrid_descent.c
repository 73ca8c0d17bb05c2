#include "engine/hybrid/hybrid_descent.h"

#include "engine/hybrid/hybrid_instance.h"
#include "engine/pipeline/formula.h"
#include "engine/pipeline/pipe_instance.h"
#include "hlo/support/stop.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double PASSES_MOST = 1e7, SHORTER = 1 - 1e-9;
enum { REACH = 3 }; /* sections that a cut may move when devices are shared out anew */

struct descent {
    const struct hybrid_instance *in;
    const struct hybrid_descent_options *o;
    struct hybrid_found best;
    double left; /* passes that may still be simulated */
};

static bool goes_on(const struct descent *d)
{
    return d->left > 0 && !stop_asked(d->o->stop);
}

static bool is_asked(const struct descent *d, enum pipe_schedule_kind kind)
{
    return d->o->schedule < 0 || d->o->schedule == (int)kind;
}

/* Plays a plan in one schedule; true: it is the best now. */
static bool play(struct descent *d, const struct hybrid_plan *p, enum pipe_schedule_kind kind)
{
    if (!hybrid_plan_fits(d->in, p, kind) || hybrid_plan_least(d->in, p) >= d->best.ms * SHORTER)
        return false;
    d->left -= 2.0 * (2 * p->stages - 1) * d->in->options.micro_batches;
    double ms = hybrid_plan_makespan(d->in, p, kind);
    if (!(ms < d->best.ms * SHORTER))
        return false;
    d->best = (struct hybrid_found){*p, ms, kind};
    return true;
}

/* The point of stage `n` that fits as k-th from the end and has the least M (F + B) + R. */
static bool choose_point(const struct descent *d, struct hybrid_plan *p, uint32_t n,
                         enum pipe_schedule_kind kind)
{
    const struct hybrid_instance *in = d->in;
    struct hybrid_front f = *hybrid_front_of(in, p->slot[n], p->cut[n], p->cut[n + 1]);
    struct pipe_options o = in->options;
    double best = INFINITY;

    o.schedule = kind;
    uint32_t fly = pipe_in_flight(&o, p->stages - n);
    for (uint32_t m = f.first; m < f.first + f.count; m++) {
        const struct hybrid_point *q = &in->points[m];
        double ms = o.micro_batches * q->both_ms + q->reduce_ms;
        if (hybrid_point_bytes(q, fly) > in->slot[p->slot[n]].limit_bytes || ms >= best)
            continue;
        best = ms;
        p->point[n] = m;
    }
    return best < INFINITY;
}

/* Plays a plan whose stages with a bit in `changed` have no points yet, in every schedule. */
static bool try_plan(struct descent *d, struct hybrid_plan *p, const uint32_t *changed,
                     uint32_t count)
{
    bool shorter = false;

    for (int k = 0; k < PIPE_SCHEDULE_COUNT && !shorter; k++) {
        enum pipe_schedule_kind kind = (enum pipe_schedule_kind)k;
        bool ok = is_asked(d, kind);
        for (uint32_t n = 0; n < count && ok; n++)
            ok = choose_point(d, p, changed[n], kind);
        shorter = ok && play(d, p, kind);
    }
    return shorter;
}

/* ---- changes ---- */

static bool move_cut(struct hybrid_plan *p, uint32_t n, int by)
{
    p->cut[n] = (uint32_t)((int)p->cut[n] + by);
    return p->cut[n] > p->cut[n - 1] && p->cut[n] < p->cut[n + 1];
}

static bool change_cut(struct descent *d, const struct hybrid_plan *from)
{
    for (uint32_t n = 1; n < from->stages && goes_on(d); n++)
        for (int by = -1; by <= 1; by += 2) {
            struct hybrid_plan p = *from;
            if (move_cut(&p, n, by) && try_plan(d, &p, (uint32_t[]){n - 1, n}, 2))
                return true;
        }
    return false;
}

static bool change_two_cuts(struct descent *d, const struct hybrid_plan *from)
{
    for (uint32_t n = 1; n < from->stages; n++)
        for (uint32_t m = n + 1; m < from->stages && goes_on(d); m++)
            for (int way = 0; way < 4; way++) {
                struct hybrid_plan p = *from;
                bool ok = move_cut(&p, m, way & 1 ? 1 : -1) && move_cut(&p, n, way & 2 ? 1 : -1) &&
                          p.cut[n] < p.cut[n + 1];
                if (ok && try_plan(d, &p, (uint32_t[]){n - 1, n, m - 1, m}, 4))
                    return true;
            }
    return false;
}

static bool change_point(struct descent *d, const struct hybrid_plan *from)
{
    for (uint32_t n = 0; n < from->stages && goes_on(d); n++) {
        struct hybrid_front f =
            *hybrid_front_of(d->in, from->slot[n], from->cut[n], from->cut[n + 1]);
        for (uint32_t m = f.first; m < f.first + f.count; m++) {
            struct hybrid_plan p = *from;
            p.point[n] = m;
            if (m != from->point[n] && try_plan(d, &p, NULL, 0))
                return true;
        }
    }
    return false;
}

/* Stage n of p, split in two at `middle` devices and about `cut` sections. */
static bool try_two(struct descent *d, const struct hybrid_plan *p, uint32_t n, uint32_t middle,
                    uint32_t cut)
{
    uint32_t from = cut > REACH ? cut - REACH : 0;

    for (uint32_t c = from; c <= cut + REACH && goes_on(d); c++) {
        struct hybrid_plan q = *p;
        q.cut[n + 1] = c;
        q.device[n + 1] = middle;
        if (c > q.cut[n] && c < q.cut[n + 2] && try_plan(d, &q, (uint32_t[]){n, n + 1}, 2))
            return true;
    }
    return false;
}

/* The sections and devices of two neighbours, which p has room for, in other ways. */
static bool share_out(struct descent *d, struct hybrid_plan *p, uint32_t n, uint32_t now)
{
    const struct hybrid_instance *in = d->in;
    uint32_t a = p->device[n], b = p->device[n + 2], i = p->cut[n], j = p->cut[n + 2];

    for (uint32_t s = 0; s < in->slots && goes_on(d); s++) {
        uint32_t middle = a + in->slot[s].devices;
        if (middle >= b || middle == now || !hybrid_can_begin(in, a, s))
            continue;
        p->slot[n] = s;
        p->slot[n + 1] = hybrid_slot_of(in, middle, b);
        uint32_t cut = i + (uint32_t)((uint64_t)(j - i) * in->slot[s].devices / (b - a));
        if (p->slot[n + 1] < in->slots && try_two(d, p, n, middle, cut))
            return true;
    }
    return false;
}

static bool change_devices(struct descent *d, const struct hybrid_plan *from)
{
    for (uint32_t n = 0; n + 1 < from->stages; n++) {
        struct hybrid_plan p = *from;
        if (share_out(d, &p, n, from->device[n + 1]))
            return true;
    }
    return false;
}

/* The first stage begins at another device, those before it idle. */
static bool change_begin(struct descent *d, const struct hybrid_plan *from)
{
    const struct hybrid_instance *in = d->in;
    uint32_t end = from->device[1], first = 0;

    for (uint32_t s = 0; s < in->slots && goes_on(d); s++) {
        struct hybrid_plan p = *from;
        p.slot[0] = s;
        p.device[0] = end - in->slot[s].devices;
        if (in->slot[s].devices <= end && p.device[0] != from->device[0] &&
            hybrid_can_begin(in, p.device[0], s) && try_plan(d, &p, &first, 1))
            return true;
    }
    return false;
}

/* A stage more or less behind stage n, whose room is made. */
static void shift_cut(struct hybrid_plan *p, uint32_t n, int by)
{
    uint32_t from = n + 1 + (by < 0), count = p->stages - from;
    uint32_t to = (uint32_t)((int)from + by);

    memmove(&p->slot[to], &p->slot[from], count * sizeof *p->slot);
    memmove(&p->point[to], &p->point[from], count * sizeof *p->point);
    memmove(&p->cut[to], &p->cut[from], (count + 1) * sizeof *p->cut);
    memmove(&p->device[to], &p->device[from], (count + 1) * sizeof *p->device);
    p->stages = (uint32_t)((int)p->stages + by);
}

static bool change_count(struct descent *d, const struct hybrid_plan *from)
{
    for (uint32_t n = 0; n + 1 < from->stages && goes_on(d); n++) {
        struct hybrid_plan p = *from;
        shift_cut(&p, n, -1);
        p.slot[n] = hybrid_slot_of(d->in, p.device[n], p.device[n + 1]);
        if (p.slot[n] < d->in->slots && try_plan(d, &p, &n, 1))
            return true;
    }
    for (uint32_t n = 0; n < from->stages && from->stages < HYBRID_STAGES_MOST; n++) {
        struct hybrid_plan p = *from;
        shift_cut(&p, n, 1);
        if (share_out(d, &p, n, UINT32_MAX))
            return true;
    }
    return false;
}

/* ---- down ---- */

static bool change_plan(struct descent *d)
{
    const struct hybrid_plan from = d->best.plan;

    return change_cut(d, &from) || change_point(d, &from) || change_devices(d, &from) ||
           change_begin(d, &from) || (!d->o->stages && change_count(d, &from)) ||
           change_two_cuts(d, &from);
}

static bool same_devices(const struct hybrid_plan *a, const struct hybrid_plan *b)
{
    return a->stages == b->stages &&
           !memcmp(a->device, b->device, (a->stages + 1) * sizeof *a->device);
}

/* The shortest plans, each of other devices, in order. The first is played whatever is asked. */
static uint32_t choose_starts(struct descent *d, const struct hybrid_plan *plans, uint32_t count,
                              struct hybrid_found *out)
{
    uint32_t kept = 0;

    for (uint32_t n = 0; n < count && (!n || goes_on(d)); n++) {
        d->best.ms = INFINITY;
        struct hybrid_plan p = plans[n];
        for (int k = 0; k < PIPE_SCHEDULE_COUNT; k++)
            if (is_asked(d, (enum pipe_schedule_kind)k))
                play(d, &p, (enum pipe_schedule_kind)k);
        uint32_t at = 0;
        while (at < kept && !same_devices(&out[at].plan, &p))
            at++;
        if (d->best.ms == INFINITY || (at < kept && out[at].ms <= d->best.ms))
            continue;
        if (at == kept && kept == HYBRID_DESCENTS && out[--at].ms <= d->best.ms)
            continue;
        kept += at == kept;
        for (; at && out[at - 1].ms > d->best.ms; at--)
            out[at] = out[at - 1];
        out[at] = d->best;
    }
    return kept;
}

struct hybrid_found hybrid_descend(const struct hybrid_instance *in,
                                   const struct hybrid_plan *plans, uint32_t count,
                                   const struct hybrid_descent_options *o)
{
    struct hybrid_found start[HYBRID_DESCENTS], best = {.ms = INFINITY};
    struct descent d = {in, o, best, o->passes_most > 0 ? o->passes_most : PASSES_MOST};
    uint32_t starts = choose_starts(&d, plans, count, start);

    for (uint32_t n = 0; n < starts; n++) {
        d.best = start[n];
        while (goes_on(&d) && change_plan(&d))
            ;
        if (d.best.ms < best.ms)
            best = d.best;
    }
    return best;
}
