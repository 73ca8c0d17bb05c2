/* engine/recompute/recompute.h - which values of the forward pass to keep for the backward pass,
 * and which to compute again, at a plan.
 *
 * At a price per byte the best choice is a minimum cut: a needed value is kept (price x bytes, and
 * a write and a read where it would not be in memory otherwise) or computed again (its time, and
 * then its operands must be there in turn). Prices from 0 upwards give the points of a convex
 * front; between two neighbours the first layers take the one that keeps less (backward ends
 * there), the others the one that keeps more. So least time over prices is a bound: no choice that
 * keeps as much at the end of the forward pass adds less time. Memory is that of the plan's
 * schedule: what the backward pass reads of the forward pass taken out, then kept values from where
 * they are made to their last use, and what is computed again while the backward pass runs through
 * its layer; products of weight gradients that read it are moved there, and their results live from
 * then on. ms and bytes of one device and step. Not modelled: overlap of what is computed again
 * with communication, launches, copies of what is kept. */
#ifndef AUTOMAP_ENGINE_RECOMPUTE_RECOMPUTE_H
#define AUTOMAP_ENGINE_RECOMPUTE_RECOMPUTE_H

#include "engine/cost/memory.h"
#include "engine/recompute/primal.h"
#include "hlo/support/err.h"

enum recompute_state {
    VALUE_UNUSED,
    VALUE_KEPT,
    VALUE_IN_PIECES, /* kept split further than it is read: gathered again for the backward pass */
    VALUE_AGAIN
};

/* What a plan says of the nodes of a graph; arrays [graph->count] are borrowed while it is built.
 */
struct recompute_prices {
    const double *bytes;                   /* of one array, one micro-batch, local */
    const double *piece_bytes, *gather_ms; /* of one array split further, < bytes where it can be;
                                              gathering it again, all executions */
    const double *work_ms; /* of PRIMAL_WORK: computing and reducing it again, all its executions */
    const double *reader_bytes; /* [graph->reader_count] of the product's result */
    double bytes_per_ms;        /* what kernels move */
    double passes;              /* micro-batches: each computes again */
    const struct memory_model *memory;
    const double *range_bytes; /* as memory_sweep leaves its scratch: ranges, then computations */
};

/* One choice for all layers. */
struct recompute_point {
    double ms;      /* added to a step that keeps everything for nothing */
    double kept;    /* bytes kept at the end of the forward pass */
    uint8_t *state; /* [nodes] enum recompute_state */
};

struct recompute {
    const struct primal_graph *graph;
    double *bytes, *piece_bytes;    /* [nodes] kept: of all trips of its loops */
    double *gather_ms;              /* [nodes] */
    double *again_ms;               /* [nodes] */
    double *keep_ms;                /* [nodes] */
    double *reader_bytes;           /* [readers] */
    struct recompute_point *points; /* the front: from most kept, the fastest, to least */
    uint32_t count;
    struct recompute_point module; /* as the module is written */
    double *base;              /* [positions] bytes of the entry's schedule without what is kept */
    uint32_t positions, start; /* start: position of the entry's first */
    uint32_t layers;           /* most layers of a kind: written out or trips */
};

int recompute_new(const struct primal_graph *g, const struct recompute_prices *p,
                  struct recompute *out, struct err *e) MUST_CHECK;
void recompute_release(struct recompute *r);

/* The choice that keeps what keeps[node] says (0: not; VALUE_KEPT, VALUE_IN_PIECES), and what
 * cannot be computed again, of all that is needed then. `state` [nodes] is filled in. O(edges). */
struct recompute_point recompute_point_of(const struct recompute *r, const uint8_t *keeps,
                                          uint8_t *state);
/* Peak of a step in which the first `layers` of r->layers layers go by `first`, the others by
 * `rest`. < 0: out of memory. O(edges + positions). */
double recompute_peak(const struct recompute *r, const uint8_t *rest, const uint8_t *first,
                      uint32_t layers);
/* Part of node `k`'s layers that are among the first `layers`. */
double recompute_part(const struct recompute *r, uint32_t k, uint32_t layers);

struct recompute_choice {
    bool fits;
    uint8_t *rest,
        *first;      /* [nodes] owned: of the layers behind the first `layers`, and of those */
    uint32_t layers; /* 0: one kind of layer, `rest` */
    double ms, kept, peak; /* ms as those of points; bytes */
    double bound_ms; /* no choice within the limit adds less; INFINITY: proven that none fits */
};
/* Within `limit` bytes; not fits: the one of least memory. INFINITY: the fastest. Where the peak is
 * at a position that some kept values do not reach, the front is made anew for that position, until
 * the bound is within `enough_ms`. */
int recompute_within(const struct recompute *r, double limit, double enough_ms,
                     struct recompute_choice *out, struct err *e) MUST_CHECK;
void recompute_choice_release(struct recompute_choice *c);

#endif
