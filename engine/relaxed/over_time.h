/* engine/relaxed/over_time.h - memory over time as a sum over nodes: what the labels of an energy
 * need at each point of a schedule, under one limit.
 *
 * A node needs bytes[label] in each of its spans of points; of a point only the sum counts. Points
 * that cannot exceed the limit, or are no maximal set of what lives together, are left out. */
#ifndef AUTOMAP_ENGINE_RELAXED_OVER_TIME_H
#define AUTOMAP_ENGINE_RELAXED_OVER_TIME_H

#include "engine/relaxed/contract.h"
#include "engine/relaxed/energy.h"
#include "hlo/support/err.h"

/* Memory as it is given: of the nodes before contraction. */
struct memory_lives {
    uint32_t nodes;
    double limit;             /* INFINITY: none */
    const int64_t *from, *to; /* [nodes] half open; from >= to: never lives */
    const size_t *first;      /* [nodes] into bytes */
    const double *bytes;      /* by label; 0 or more */
};

struct over_time_span {
    uint32_t from, to; /* points, half open */
    size_t bytes;      /* into over_time.bytes: by label of its node */
};

struct over_time {
    uint32_t points, nodes;
    double limit;
    double *base;    /* [points] what no label changes */
    uint32_t *first; /* [nodes + 1] into spans */
    struct over_time_span *spans;
    double *bytes;
    uint32_t span_count;
    bool never_fits; /* some point is over the limit whatever is chosen */
};

/* O(nodes log nodes + labels). */
int over_time_new(const struct memory_lives *l, const struct contraction *c, struct over_time *out,
                  struct err *e) MUST_CHECK;
void over_time_release(struct over_time *m);

/* Bytes at each point into out[points + 1]; returns the largest, 0 without points. O(spans +
 * points). */
double over_time_profile(const struct over_time *m, const uint16_t *x, double *out);

/* Adds to out[label] of a node what its spans cost when a point costs price by byte: `sums` are
 * sums of the prices of points before, [points + 1]. O(spans x labels). */
void over_time_price(const struct over_time *m, uint32_t node, uint32_t labels, const double *sums,
                     double scale, double *out);

#endif
