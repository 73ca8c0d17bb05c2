/* engine/search/budget.h - how a memory limit enters the worth of a plan.
 *
 * A plan whose peak exceeds the limit is worth, instead of ln(baseline / step),
 *     ln(baseline / slowest) - ln(peak / limit)
 * where `slowest`, the sum of the largest entry of every cost table, bounds the step of any plan.
 * So any plan that fits ranks above any that does not, and among the latter a lower peak ranks
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
    label *on;       /* [classes] the last plan asked about, whose peak is known */
    double peak;     /* < 0: none yet */
};

/* `bytes` > 0. O(cost tables). */
int budget_new(const struct problem *p, double bytes, struct budget **out,
               struct err *e) MUST_CHECK;
void budget_free(struct budget *b); /* NULL ok */

/* Peak of a complete plan, bytes. O(stored values); O(classes) for the last plan asked about. */
double budget_peak(struct budget *b, const label *on);

/* The worth of a plan with this peak and a step of `ms`. */
double budget_worth(const struct budget *b, double baseline_ms, double ms, double peak);
/* Every plan that fits is worth at least this; every other one less. */
double budget_floor(const struct budget *b, double baseline_ms);

#endif
