/* What changes of several collectives do together: one may stand in another's way. */
#include "engine/doctor/together.h"

#include "engine/doctor/wishes.h"
#include "engine/relaxed/plan_totals.h"
#include "engine/relaxed/relaxed.h"
#include "engine/relaxed/status.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/stop.h"

#include <stdlib.h>
#include <string.h>

/* What each sharding is to be. */
struct held {
    status to;
    uint32_t by; /* the offer that changes it, from 1 on; 0: as it is asked */
};

static int compare_offers(const void *a, const void *b)
{
    const struct offer *p = a, *q = b;

    if (p->saves_ms != q->saves_ms)
        return p->saves_ms > q->saves_ms ? -1 : 1;
    return (p->rank > q->rank) - (p->rank < q->rank);
}

/* How many shardings it changes that no other has. */
static uint32_t take(struct held *held, const struct offer *o, uint32_t by)
{
    uint32_t count = 0;

    for (uint32_t k = 0; k < o->count; k++) {
        if (held[o->wish[k]].by)
            continue;
        held[o->wish[k]] = (struct held){o->to[k], by};
        count++;
    }
    return count;
}

static void give_back(struct held *held, const struct offer *o, uint32_t by)
{
    for (uint32_t k = 0; k < o->count; k++) {
        if (held[o->wish[k]].by == by)
            held[o->wish[k]].by = 0;
    }
}

enum outcome { UNTRIED, LONGER, SHORTER };

/* Kept where the step is shorter than `most_ms`; UNTRIED: there is no plan. */
static int solve_held(struct together *t, const struct held *held, double most_ms,
                      enum outcome *out, struct err *e)
{
    struct relaxed_plan plan;
    int rc = relaxed_set_pins(t->r, NULL, 0, e);

    *out = UNTRIED;
    for (uint32_t k = 0; k < t->wish_count && !rc; k++)
        rc = relaxed_hold(t->r, t->wishes[k].id, held[k].by ? &held[k].to : &t->wishes[k].asked, 1,
                          e);
    rc = rc ? rc : relaxed_solve(t->r, 0, &plan, e);
    if (rc)
        return rc == ERR_MEMORY ? rc : 0;
    *out = plan.cost.step_ms < most_ms ? SHORTER : LONGER;
    if (*out == LONGER) {
        relaxed_plan_release(&plan);
        return 0;
    }
    if (t->has_plan)
        relaxed_plan_release(&t->plan);
    t->plan = plan;
    t->has_plan = true;
    return 0;
}

static int take_best_first(struct together *t, struct held *held, const struct offer *offers,
                           uint32_t count, struct err *e)
{
    uint32_t solves = 1;
    int rc = 0;

    for (uint32_t k = 0; k < count && !rc; k++) {
        enum outcome outcome = UNTRIED;
        if (!take(held, &offers[k], k + 1))
            continue;
        t->offered++;
        if (solves == 1 || (solves < t->solves && !stop_asked(t->stop))) {
            solves++;
            rc = solve_held(t, held, t->has_plan ? t->plan.cost.step_ms : t->step_ms, &outcome, e);
        }
        t->changes += outcome == SHORTER;
        t->untried += outcome == UNTRIED;
        if (outcome != SHORTER)
            give_back(held, &offers[k], k + 1);
    }
    return rc;
}

int together_solve(struct together *t, struct offer *offers, uint32_t count, struct err *e)
{
    struct held *held = mem_try((size_t)t->wish_count + 1, sizeof *held);
    enum outcome all = UNTRIED;

    t->has_plan = false;
    t->changes = t->offered = t->untried = 0;
    if (!held)
        return err_no_memory(e, "for changes together");
    if (count)
        qsort(offers, count, sizeof *offers, compare_offers);
    for (uint32_t k = 0; k < count; k++)
        t->offered += take(held, &offers[k], k + 1) > 0;
    double best_ms = count ? t->step_ms - offers[0].saves_ms : t->step_ms;
    int rc = t->offered ? solve_held(t, held, best_ms + 1e-9 * t->step_ms, &all, e) : 0;
    if (rc || !t->offered || all == SHORTER) {
        t->changes = t->offered;
        goto out;
    }
    memset(held, 0, t->wish_count * sizeof *held);
    t->offered = 0;
    rc = take_best_first(t, held, offers, count, e);
out:
    free(held);
    if (rc && t->has_plan)
        relaxed_plan_release(&t->plan);
    t->has_plan = t->has_plan && !rc;
    return rc;
}
