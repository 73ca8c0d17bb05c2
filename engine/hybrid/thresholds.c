/* The rule of Alpa: the least  sum of t + (M - 1) max t  over stages of t = F + B, by a program
 * over stages for each threshold of max t (Zheng et al., OSDI 2022, 5.2). */
#include "engine/hybrid/hybrid_game.h"
#include "engine/hybrid/hybrid_instance.h"
#include "engine/hybrid/hybrid_pins.h"
#include "engine/hybrid/hybrid_search.h"
#include "engine/hybrid/hybrid_search_ops.h"
#include "engine/pipeline/formula.h"
#include "engine/pipeline/pipe_instance.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/stop.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STATES_MOST = 1 << 22 };
static const double GAP = 1.01; /* between thresholds */

/* The stages behind section j and device b, k of them: the least sum, and the first of them. */
struct behind {
    double sum_ms;
    uint32_t point, section, device; /* where that stage ends */
    uint8_t slot;
};

struct thresholds {
    const struct hybrid_space *space;
    const struct hybrid_instance *in;
    struct behind *state; /* [stages_most + 1][sections + 1][devices + 1] */
    uint32_t next;        /* level to solve */
    const atomic_bool *stop;
};

static struct behind *state_at(const struct thresholds *t, uint32_t k, uint32_t j, uint32_t b)
{
    return &t->state[((size_t)k * (t->in->sections + 1) + j) * ((size_t)t->in->devices + 1) + b];
}

static size_t state_count(const struct hybrid_space *s)
{
    const struct hybrid_instance *in = s->level[0].in;

    return (size_t)(s->stages_most + 1) * (in->sections + 1) * ((size_t)in->devices + 1);
}

/* The fastest point of a stage within memory as k-th from the end; fronts are in order of F + B. */
static uint32_t fastest(const struct thresholds *t, uint32_t slot, uint32_t i, uint32_t j,
                        uint32_t k)
{
    const struct hybrid_front *f = hybrid_front_of(t->in, slot, i, j);
    struct pipe_options o = t->in->options;

    o.schedule = t->space->schedule < 0 ? PIPE_1F1B : (enum pipe_schedule_kind)t->space->schedule;
    uint32_t fly = pipe_in_flight(&o, k);
    for (uint32_t n = f->first; n < f->first + f->count; n++)
        if (hybrid_point_bytes(&t->in->points[n], fly) <= t->in->slot[slot].limit_bytes)
            return n;
    return UINT32_MAX;
}

/* Puts a stage before the k stages of a state, in all ways. */
static void extend_suffix(struct thresholds *t, uint32_t k, uint32_t j, uint32_t b, double most_ms)
{
    const struct hybrid_instance *in = t->in;
    const struct behind *from = state_at(t, k, j, b);

    for (uint32_t slot = 0; slot < in->slots; slot++) {
        uint32_t d = in->slot[slot].devices;
        if (d > b || !hybrid_can_begin(in, b - d, slot))
            continue;
        for (uint32_t i = j; i-- > 0;) {
            uint32_t p = fastest(t, slot, i, j, k + 1);
            if (p == UINT32_MAX || in->points[p].both_ms > most_ms ||
                !hybrid_may_be(in, slot, i, j, b - d))
                continue;
            struct behind *to = state_at(t, k + 1, i, b - d);
            double sum = from->sum_ms + in->points[p].both_ms;
            if (sum < to->sum_ms)
                *to = (struct behind){sum, p, j, b, (uint8_t)slot};
        }
    }
}

/* The least sum with no stage longer than the threshold, and its first stage; NULL: none. */
static const struct behind *solve_within(struct thresholds *t, double most_ms, uint32_t *stages,
                                         uint32_t *device)
{
    const struct hybrid_space *s = t->space;
    const struct hybrid_instance *in = t->in;
    const struct behind *best = NULL;

    for (size_t n = 0; n < state_count(s); n++)
        t->state[n].sum_ms = INFINITY;
    state_at(t, 0, in->sections, in->devices)->sum_ms = 0;
    for (uint32_t k = 0; k < s->stages_most; k++)
        for (uint32_t j = 1; j <= in->sections && !stop_asked(t->stop); j++)
            for (uint32_t b = 1; b <= in->devices; b++)
                if (state_at(t, k, j, b)->sum_ms < INFINITY)
                    extend_suffix(t, k, j, b, most_ms);
    for (uint32_t k = 1; k <= s->stages_most && !stop_asked(t->stop); k++)
        for (uint32_t b = 0; b <= in->devices; b++) {
            const struct behind *x = state_at(t, k, 0, b);
            if ((s->stages && k != s->stages) || !(x->sum_ms < (best ? best->sum_ms : INFINITY)))
                continue;
            best = x;
            *stages = k;
            *device = b;
        }
    return best;
}

static void read_plan(const struct thresholds *t, const struct behind *x, uint32_t stages,
                      uint32_t device, struct hybrid_plan *p)
{
    uint32_t section = 0;

    *p = (struct hybrid_plan){.stages = stages};
    for (uint32_t n = 0; n < stages; n++) {
        p->cut[n] = section;
        p->device[n] = device;
        p->slot[n] = x->slot;
        p->point[n] = x->point;
        section = x->section;
        device = x->device;
        x = state_at(t, stages - 1 - n, section, device);
    }
    p->cut[stages] = section;
    p->device[stages] = device;
}

static int compare_ms(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Thresholds in order, as long as one can still be better. */
static bool solve_level(struct hybrid_search *s, struct thresholds *t, double *list,
                        struct hybrid_plan *out)
{
    double m = t->in->options.micro_batches, best = INFINITY, last = 0;
    size_t count = t->in->point_count;

    for (size_t n = 0; n < count; n++)
        list[n] = t->in->points[n].both_ms;
    qsort(list, count, sizeof *list, compare_ms);
    for (size_t n = m > 1 || !count ? 0 : count - 1; n < count && !stop_asked(s->stop); n++) {
        uint32_t stages = 0, device = 0;
        if (n + 1 < count && list[n + 1] <= last * GAP)
            continue; /* the largest of those that are near */
        last = list[n];
        if ((m - 1) * last >= best)
            break;
        const struct behind *x = solve_within(t, last, &stages, &device);
        if (!x || x->sum_ms + (m - 1) * last >= best)
            continue;
        best = x->sum_ms + (m - 1) * last;
        read_plan(t, x, stages, device, out);
    }
    return best < INFINITY;
}

static void thresholds_step(struct hybrid_search *s)
{
    struct thresholds *t = s->self;
    struct hybrid_plan plan;

    if (t->next == s->space->levels) {
        s->done = true;
        return;
    }
    uint32_t level = t->next++;
    t->in = s->space->level[level].in;
    double *list = mem_try(t->in->point_count + 1, sizeof *list);
    if (!list) {
        s->done = true;
        return;
    }
    if (solve_level(s, t, list, &plan)) {
        enum pipe_schedule_kind kind = PIPE_1F1B;
        double ms = hybrid_plan_play(t->in, &plan, s->space->schedule, &kind);
        hybrid_search_priced(s, level, &plan, kind, ms);
    }
    free(list);
}

static int thresholds_start(struct hybrid_search *s, struct err *e)
{
    struct thresholds *t = mem_try(1, sizeof *t);

    s->self = t;
    if (!t)
        return err_no_memory(e, "for thresholds");
    t->space = s->space;
    t->stop = s->stop;
    if (state_count(s->space) > STATES_MOST)
        return err_set(e, ERR_LIMIT, "%u sections on %u devices are too many for thresholds",
                       s->space->level[0].in->sections, s->space->level[0].in->devices);
    t->state = mem_try(state_count(s->space), sizeof *t->state);
    return t->state ? 0 : err_no_memory(e, "for thresholds");
}

static void thresholds_stop(struct hybrid_search *s)
{
    struct thresholds *t = s->self;

    free(t->state);
    free(t);
}

const struct hybrid_search_ops hybrid_ops_alpa = {
    .start = thresholds_start, .stop = thresholds_stop, .step = thresholds_step};
