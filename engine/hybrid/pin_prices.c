#include "engine/hybrid/pin_prices.h"

#include "engine/hybrid/hybrid.h"
#include "engine/hybrid/hybrid_pins.h"
#include "engine/hybrid/hybrid_search.h"
#include "engine/problem/problem.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/stop.h"

#include <math.h>

/* The step under the pins of `which`; INFINITY: there is no plan. */
static int search(const struct problem *p, const struct hybrid_options *o, uint32_t which,
                  double *ms, struct err *e)
{
    struct hybrid_wish wish[HYBRID_PINS_MOST];
    struct hybrid_options with = *o;
    struct hybrid *h = mem_try(1, sizeof *h);

    *ms = INFINITY;
    if (!h)
        return err_no_memory(e, "to price pins");
    with.pin_count = 0;
    with.no_bound = true;
    with.pins = wish;
    if (hybrid_algorithm_plays(
            o->algorithm)) /* which looks at some plans, and finds others each time */
        with.algorithm = HYBRID_EXACT;
    for (uint32_t n = 0; n < o->pin_count; n++)
        if (which >> n & 1)
            wish[with.pin_count++] = o->pins[n];
    int rc = hybrid_new(p, &with, h, e);
    if (!rc) {
        *ms = hybrid_step_ms(h);
        hybrid_release(h);
    }
    free(h);
    return rc == ERR_INFEASIBLE ? 0 : rc;
}

int hybrid_pin_prices(const struct hybrid *h, double ms[static HYBRID_PINS_MOST], double *all_ms,
                      struct err *e)
{
    const struct hybrid_options *o = &h->options;
    uint32_t all = (uint32_t)(((uint64_t)1 << o->pin_count) - 1);
    double without, step = hybrid_step_ms(h);
    int rc = search(h->problem, o, 0, &without, e);

    *all_ms = stop_asked(o->stop) ? INFINITY : step - without;
    for (uint32_t n = 0; n < o->pin_count; n++) {
        if (rc)
            return rc;
        ms[n] = *all_ms;
        if (o->pin_count > 1)
            rc = search(h->problem, o, all & ~((uint32_t)1 << n), &without, e);
        if (o->pin_count > 1)
            ms[n] = stop_asked(o->stop) ? INFINITY : step - without;
    }
    return rc;
}

static int is_impossible(const struct problem *p, const struct hybrid_options *o, uint32_t which,
                         bool *out, struct err *e)
{
    double ms;
    int rc = search(p, o, which, &ms, e);

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
