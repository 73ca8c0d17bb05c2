/* engine/relaxed/price_ascent.h - prices of memory over time, and the bound they prove.
 *
 *     L(price) = min over x of energy(x) + sum over points of price_t (bytes_t(x) / limit - 1)
 * is at most the energy of every labelling that fits, for all prices >= 0. TRW-S bounds the minimum
 * from below, its messages staying warm from step to step; its rounding is the subgradient. Steps
 * of Polyak towards a target a little above the best bound, with averaged directions. */
#ifndef AUTOMAP_ENGINE_RELAXED_PRICE_ASCENT_H
#define AUTOMAP_ENGINE_RELAXED_PRICE_ASCENT_H

#include "engine/relaxed/energy.h"
#include "engine/relaxed/over_time.h"
#include "engine/relaxed/trws.h"
#include "hlo/support/err.h"
#include "hlo/support/stop.h"

struct price_ascent {
    const struct over_time *memory;
    struct energy g; /* its unary tables are own, with the prices in them */
    struct trws trws;
    size_t *label_first;                                   /* [nodes + 1] */
    double *cost;                                          /* [labels] without prices */
    double *price, *best_price, *direction, *bytes, *sums; /* [points + 1] */
    double bound;                                          /* the best L */
    double reach;                                          /* how far above it the target is */
    double peak;                                           /* of the last rounding, trws.x */
    double grown;                                          /* of the bound in these steps */
    uint32_t steps;
    uint64_t work, sweep_work;
    const atomic_bool *stop; /* once set, sweeps end; NULL: never */
};

/* `g` and its tables must outlive it; a vector per node is added to them. */
int price_ascent_new(struct energy *g, const struct over_time *m, const atomic_bool *stop,
                     struct price_ascent *out, struct err *e) MUST_CHECK;
void price_ascent_release(struct price_ascent *a);

/* One step; `known`: the energy of some labelling that fits, INFINITY: none. Leaves a rounding in
 * trws.x. O(tables + spans x labels + points). */
void price_ascent_step(struct price_ascent *a, double known);
/* Sweeps at `scale` times the best prices, no step. */
void price_ascent_settle(struct price_ascent *a, double scale, uint32_t sweeps);
/* Raises the prices where `x` is over the limit by `share` of their sum. */
void price_ascent_raise(struct price_ascent *a, const uint16_t *x, double share);

/* sums[t]: of price[0 .. t) per byte; [points + 1]. Returns the sum of all prices. */
double price_sums(const struct over_time *m, const double *price, double *sums);

#endif
