#include "engine/hybrid/pin_prices.h"

#include "engine/hybrid/hybrid.h"
#include "engine/hybrid/hybrid_pins.h"
#include "engine/hybrid/hybrid_search.h"
#include "engine/hybrid/stage_table.h"
#include "engine/pipeline/pipe_instance.h"
#include "engine/problem/problem.h"
#include "engine/text/units.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/stop.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The step under these options; INFINITY: there is no plan. */
static int search_with(const struct problem *p, const struct hybrid_options *o, double *ms,
                       struct err *e)
{
    struct hybrid_options with = *o;
    struct hybrid *h = mem_try(1, sizeof *h);

    *ms = INFINITY;
    if (!h)
        return err_no_memory(e, "to price pins");
    with.no_bound = true;
    with.relaxes = false;
    if (hybrid_algorithm_plays(
            o->algorithm)) /* which looks at some plans, and finds others each time */
        with.algorithm = HYBRID_EXACT;
    int rc = hybrid_new(p, &with, h, e);
    if (!rc) {
        *ms = hybrid_least_ms(h);
        hybrid_release(h);
    }
    free(h);
    return rc == ERR_INFEASIBLE ? 0 : rc;
}

/* The same under the pins of `which`. */
static int search_without(const struct problem *p, const struct hybrid_options *o, uint32_t which,
                          double *ms, struct err *e)
{
    struct hybrid_wish wish[HYBRID_PINS_MOST];
    struct hybrid_options with = *o;

    with.pin_count = 0;
    with.pins = wish;
    for (uint32_t n = 0; n < o->pin_count; n++)
        if (which >> n & 1)
            wish[with.pin_count++] = o->pins[n];
    return search_with(p, &with, ms, e);
}

/* What was found with more asked for is a plan where less is. */
static double added(const struct hybrid *h, double without)
{
    return stop_asked(h->options.stop) ? INFINITY : fmax(0, hybrid_least_ms(h) - without);
}

int hybrid_pin_prices(const struct hybrid *h, double ms[static HYBRID_PINS_MOST], double *all_ms,
                      struct err *e)
{
    const struct hybrid_options *o = &h->options;
    uint32_t all = (uint32_t)(((uint64_t)1 << o->pin_count) - 1);
    double without;
    int rc = search_without(h->problem, o, 0, &without, e);

    *all_ms = added(h, without);
    for (uint32_t n = 0; n < o->pin_count; n++) {
        if (rc)
            return rc;
        ms[n] = *all_ms;
        if (o->pin_count > 1)
            rc = search_without(h->problem, o, all & ~((uint32_t)1 << n), &without, e);
        if (o->pin_count > 1)
            ms[n] = added(h, without);
    }
    return rc;
}

/* ---- what holds for the whole plan ---- */

enum limit {
    LIMIT_STAGES,
    LIMIT_TENSOR,
    LIMIT_DATA,
    LIMIT_MICRO,
    LIMIT_SCHEDULE,
    LIMIT_RECOMPUTE,
    LIMIT_ZERO,
    LIMIT_MEMORY,
    LIMIT_UNIFORM,
    LIMITS
};

static bool name_limit(const struct hybrid_options *o, enum limit l, char *out, size_t room)
{
    char text[UNITS_ROOM];

    switch (l) {
    case LIMIT_STAGES:
        snprintf(out, room, "stages %u", o->stages);
        return o->stages;
    case LIMIT_TENSOR:
        snprintf(out, room, "tp %u", o->tp);
        return o->tp;
    case LIMIT_DATA:
        snprintf(out, room, "dp %u", o->dp);
        return o->dp;
    case LIMIT_MICRO:
        snprintf(out, room, "micro-batches %u", o->micro_batches);
        return o->micro_batches;
    case LIMIT_SCHEDULE:
        snprintf(out, room, "schedule %s", pipe_schedule_names[o->schedule]);
        return o->is_schedule_given;
    case LIMIT_RECOMPUTE:
        snprintf(out, room, o->recompute == STAGE_RECOMPUTE_ALL ? "recompute" : "no recompute");
        return o->recompute != STAGE_RECOMPUTE_ANY;
    case LIMIT_ZERO:
        snprintf(out, room, "zero %d", o->zero);
        return o->zero >= 0;
    case LIMIT_MEMORY:
        snprintf(out, room, "memory-limit %s", units_bytes(text, o->limit_bytes));
        return o->limit_bytes > 0;
    default:
        if (o->chunks)
            snprintf(out, room, "chunks %u", o->chunks);
        else
            snprintf(out, room, "uniform");
        return o->is_uniform;
    }
}

static void let_go(struct hybrid_options *o, enum limit l)
{
    o->stages = l == LIMIT_STAGES ? 0 : o->stages;
    o->tp = l == LIMIT_TENSOR ? 0 : o->tp;
    o->dp = l == LIMIT_DATA ? 0 : o->dp;
    o->micro_batches = l == LIMIT_MICRO ? 0 : o->micro_batches;
    o->is_schedule_given &= l != LIMIT_SCHEDULE;
    o->recompute = l == LIMIT_RECOMPUTE ? STAGE_RECOMPUTE_ANY : o->recompute;
    o->zero = l == LIMIT_ZERO ? HYBRID_ZERO_NEEDED : o->zero;
    o->limit_bytes = l == LIMIT_MEMORY ? 0 : o->limit_bytes;
    o->chunks = l == LIMIT_UNIFORM ? 0 : o->chunks;
    o->is_uniform &= l != LIMIT_UNIFORM;
}

uint32_t hybrid_limit_names(const struct hybrid_options *o,
                            struct hybrid_limit_price out[static HYBRID_LIMITS_MOST])
{
    uint32_t count = 0;

    for (int l = 0; l < LIMITS; l++) {
        if (name_limit(o, (enum limit)l, out[count].text, sizeof out[count].text))
            out[count++].ms = NAN;
    }
    return count;
}

int hybrid_limit_prices(const struct hybrid *h,
                        struct hybrid_limit_price out[static HYBRID_LIMITS_MOST], uint32_t *count,
                        struct err *e)
{
    *count = 0;
    if (hybrid_algorithm_plays(h->options.algorithm)) /* the learner's gap is no option's price */
        return 0;
    for (int l = 0; l < LIMITS; l++) {
        struct hybrid_options with = h->options;
        struct hybrid_limit_price *to = &out[*count];
        double without;
        if (!name_limit(&with, (enum limit)l, to->text, sizeof to->text))
            continue;
        let_go(&with, (enum limit)l);
        int rc = search_with(h->problem, &with, &without, e);
        if (rc)
            return rc;
        to->ms = added(h, without);
        ++*count;
    }
    return 0;
}

/* ---- clashes ---- */

static int is_impossible(const struct problem *p, const struct hybrid_options *o, uint32_t which,
                         bool *out, struct err *e)
{
    double ms;
    int rc = search_without(p, o, which, &ms, e);

    *out = ms == INFINITY && !stop_asked(o->stop);
    return rc;
}

/* Pins that leave no plan and of which none can be left out. */
static int find_clash(const struct problem *p, const struct hybrid_options *o, uint32_t *which,
                      struct err *e)
{
    bool none;
    int rc = 0;

    for (uint32_t apart = 0; apart < o->pin_count; apart++) /* 0: one alone */
        for (uint32_t n = apart; n < o->pin_count; n++) {
            *which = (uint32_t)1 << n | (uint32_t)1 << (n - apart);
            rc = is_impossible(p, o, *which, &none, e);
            if (rc || none)
                return rc;
        }
    *which = (uint32_t)(((uint64_t)1 << o->pin_count) - 1);
    for (uint32_t n = 0; n < o->pin_count; n++) {
        uint32_t fewer = *which & ~((uint32_t)1 << n);
        rc = is_impossible(p, o, fewer, &none, e);
        if (rc)
            return rc;
        *which = none ? fewer : *which;
    }
    return 0;
}

int hybrid_pin_clash(const struct problem *p, const struct hybrid_options *o,
                     uint32_t clash[static HYBRID_PINS_MOST], uint32_t *count, struct err *e)
{
    uint32_t which = 0;
    bool none;
    int rc = is_impossible(p, o, 0, &none, e);

    *count = 0;
    if (rc || none || stop_asked(o->stop))
        return rc;
    rc = is_impossible(p, o, (uint32_t)(((uint64_t)1 << o->pin_count) - 1), &none, e);
    if (rc || !none || stop_asked(o->stop)) /* a plan that is not played keeps them all */
        return rc;
    rc = find_clash(p, o, &which, e);
    for (uint32_t n = 0; n < o->pin_count; n++)
        if (which >> n & 1)
            clash[(*count)++] = n;
    return rc;
}
