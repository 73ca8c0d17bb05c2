/* engine/recompute/front.h - the convex front of a graph's choices, made where it is looked at.
 *
 * A minimum cut at a price per byte is a point of the front. It begins with its two ends; each
 * refinement looks between two neighbouring points with the price that makes both equally good, and
 * finds a point below their line or proves that there is none. Private to engine/recompute. */
#ifndef AUTOMAP_ENGINE_RECOMPUTE_FRONT_H
#define AUTOMAP_ENGINE_RECOMPUTE_FRONT_H

#include "engine/recompute/priced.h"
#include "engine/recompute/recompute.h"
#include "hlo/support/err.h"

struct front_point {
    struct recompute_point p; /* its kept: as the front counts bytes */
    bool is_last;             /* between it and the next there is none, or none is looked for */
    bool is_line;             /* there is none: the line to the next bounds what is between */
    double peak;              /* of the schedule, for who works it out; 0: not yet */
    uint32_t peak_at;
};

struct front {
    const struct recompute *r;
    const double *counts;      /* [nodes] part of a kept one's bytes that counts; NULL: all */
    const double *again_bytes; /* [nodes] and one that is computed again; NULL: nothing */
    double sum_ms, sum_bytes;
    double last_price;          /* per byte, of the last point */
    struct front_point *points; /* from most kept, the fastest, to least */
    uint32_t count;
    size_t room;
    struct priced priced;
};

/* The two ends. The arrays are borrowed; release it after an error too. Two cuts. */
int front_new(const struct recompute *r, const double *counts, const double *again_bytes,
              struct front *out, struct err *e) MUST_CHECK;
void front_release(struct front *f);
/* Looks between points `k` and `k` + 1: there is a new point `k` + 1, or `k` is_last. One cut. */
int front_refine(struct front *f, uint32_t k, struct err *e) MUST_CHECK;
/* All points there are, without what is as good as its neighbour. */
int front_finish(struct front *f, struct err *e) MUST_CHECK;

#endif
