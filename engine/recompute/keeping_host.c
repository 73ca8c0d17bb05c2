/* Values of a stretch kept on the device, on the host, or computed again.
 *
 * A byte on the host costs the same whatever value it is of, so at so many of them the choice is
 * that of a device with as much more room: every choice between corners of the front is tried with
 * as few bytes on the host as bring it within the limit. */
#include "engine/recompute/keeping.h"

#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char MEMORY_FOR[] = "for what stages keep";

enum { ON_THE_WAY = 3 };

static double shown_ms(const struct keep_host *h, double bytes)
{
    double copy = bytes / h->bytes_per_ms;

    return fmax(0, copy - h->forward_ms) + fmax(0, copy - h->backward_ms);
}

/* ---- the bound ---- */

/* ms of the front's line with `bytes` on the host, and what copies of them show. */
static double bound_at(const struct keep_front *f, const struct keep_host *h, double bytes,
                       double on_host)
{
    return keep_line(f, bytes + on_host) + shown_ms(h, on_host);
}

/* Both terms are convex and bend at corners of the front and where copies begin to show: the least
 * is at one of these. Nothing lies beside, nothing is on its way. */
static double bound_of(const struct keep_front *f, const struct keep_host *h, double bytes)
{
    double ends[2] = {h->forward_ms * h->bytes_per_ms, h->backward_ms * h->bytes_per_ms};
    double best = bound_at(f, h, bytes, 0);

    for (int n = 0; n < 2; n++)
        best = fmin(best, bound_at(f, h, bytes, ends[n]));
    for (uint32_t k = 0; k < f->count; k++) {
        double more = f->points[k].bytes - bytes;
        if (more > 0)
            best = fmin(best, f->points[k].ms + shown_ms(h, more));
    }
    return best;
}

/* ---- what goes ---- */

struct sending {
    const struct keep_front *f;
    const struct keep_host *host;
    double times, room;
    double *group; /* [groups] bytes kept by each */
    struct keep_choice best;
    bool fits;
};

static double memory_of(const struct sending *s, const struct keep_choice *c, double on_host,
                        double most)
{
    return s->times * (c->bytes - on_host) + c->beside + ON_THE_WAY * most;
}

/* The groups, from the first on, whose values go to the host, as few as fit; their bytes and the
 * most of one. False: with all of them it does not fit. */
static bool count_groups(const struct sending *s, const struct keep_choice *c, uint32_t *groups,
                         double *on_host, double *most)
{
    *groups = 0;
    *on_host = *most = 0;
    while (memory_of(s, c, *on_host, *most) > s->room) {
        if (*groups + 1 >= s->f->problem->groups)
            return false;
        *on_host += s->group[*groups];
        *most = fmax(*most, s->group[*groups]);
        ++*groups;
    }
    return true;
}

/* Values of the last of these groups that there is room for stay, in their order. */
static void send(const struct sending *s, struct keep_choice *c, uint32_t groups, double on_host,
                 double most)
{
    const struct keep_problem *p = s->f->problem;

    for (uint32_t k = 0; k < p->count; k++) {
        const struct keep_value *v = &p->values[k];
        if (c->state[k] != KEEP_KEPT || v->group >= groups || !(v->bytes > 0))
            continue;
        if (v->group + 1 == groups && memory_of(s, c, on_host - v->bytes, most) <= s->room) {
            on_host -= v->bytes;
            continue;
        }
        c->state[k] = KEEP_HOST;
    }
    c->host_bytes = on_host;
    c->host_ms = shown_ms(s->host, on_host);
    c->bytes -= on_host;
    c->beside += ON_THE_WAY * most;
    c->ms += c->host_ms;
}

static int look_with_host(void *self, struct keep_choice *c, bool *enough, struct err *e)
{
    struct sending *s = self;
    const struct keep_problem *p = s->f->problem;
    double on_host, most;
    uint32_t groups;

    (void)e;
    *enough = s->fits && c->ms >= s->best.ms;
    memset(s->group, 0, p->groups * sizeof *s->group);
    for (uint32_t k = 0; k < p->count; k++)
        if (c->state[k] == KEEP_KEPT)
            s->group[p->values[k].group] += p->values[k].bytes;
    bool fits = !*enough && count_groups(s, c, &groups, &on_host, &most);
    if (fits && groups)
        send(s, c, groups, on_host, most);
    if (!fits || (s->fits && c->ms >= s->best.ms)) {
        keep_choice_release(c);
        return 0;
    }
    keep_choice_release(&s->best);
    s->best = *c;
    s->fits = true;
    return 0;
}

int keep_within_host(const struct keep_front *f, double times, double room,
                     const struct keep_host *host, struct keep_choice *out, bool *fits,
                     double *bound_ms, struct err *e)
{
    struct sending s = {.f = f, .host = host, .times = times, .room = room};
    int rc = keep_within(f, times, room, out, fits, bound_ms, e);

    if (rc || !(host->bytes_per_ms > 0) || !(times > 0))
        return rc;
    *bound_ms = bound_of(f, host, room / times);
    s.group = mem_try((size_t)f->problem->groups + 1, sizeof *s.group);
    rc = s.group ? keep_each(f, look_with_host, &s, e) : err_no_memory(e, MEMORY_FOR);
    free(s.group);
    if (rc) {
        keep_choice_release(&s.best);
        keep_choice_release(out);
        return rc;
    }
    bool is_better = s.fits && !(*fits && out->ms <= s.best.ms);
    keep_choice_release(is_better ? out : &s.best);
    *out = is_better ? s.best : *out;
    *fits |= is_better;
    return 0;
}
