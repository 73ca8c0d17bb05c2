/* engine/search/budget.h - a memory limit in the worth of a plan.
 *
 * A plan whose peak is over the limit is worth, in place of ln(baseline / step),
 *     ln(baseline / slowest) - ln(peak / limit)
 * where no plan takes longer than `slowest`: the largest entry of every cost table, added up. So
 * what fits ranks above what does not, whatever it costs, and of what does not the lower peak ranks
 * higher. Plain state; one per thread. */
#ifndef AUTOMAP_ENGINE_SEARCH_BUDGET_H
#define AUTOMAP_ENGINE_SEARCH_BUDGET_H

#include "engine/decide/labels.h"
#include "engine/problem/problem.h"
#include "hlo/support/err.h"

struct budget {
    const struct problem *problem;
    double bytes; /* of one device */
    double slowest_ms;
    double *scratch; /* of the memory model */
    label *on;       /* [classes] the plan looked at last, whose peak is known */
    double peak;     /* < 0: none yet */
};

/* `bytes` > 0. O(cost tables). */
int budget_new(const struct problem *p, double bytes, struct budget **out,
               struct err *e) MUST_CHECK;
void budget_free(struct budget *b); /* NULL ok */

/* Peak of a whole plan, bytes. O(stored values), O(classes) for the plan asked about last. */
double budget_peak(struct budget *b, const label *on);

/* The worth of a plan with this peak, of a step of `ms`. */
double budget_worth(const struct budget *b, double baseline_ms, double ms, double peak);
/* Any plan that fits is worth at least this, any other less. */
double budget_floor(const struct budget *b, double baseline_ms);

#endif
