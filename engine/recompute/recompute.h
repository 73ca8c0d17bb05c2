/* engine/recompute/recompute.h - which values of the forward pass to keep for the backward pass,
 * and which to compute again, under a given plan.
 *
 * At a given price per byte the best choice is a minimum cut: a needed value is either kept (price
 * x bytes, plus a write and a read if it would not be in memory otherwise) or computed again (its
 * time; its operands must then be available in turn). Prices from 0 upwards give the points of a
 * convex front. Between two neighbouring points the first layers use the one that keeps less (the
 * backward pass ends there) and the others the one that keeps more. The front is a bound: no choice
 * that keeps as much at the end of the forward pass adds less time. Memory is that of the plan's
 * schedule without what the backward pass reads of the forward pass; plus kept values, from where
 * they are made to their last use; plus what is computed again, while the backward pass runs
 * through its layer. Products of weight gradients that read the latter are moved there, and their
 * results live from then on. All ms and bytes are of one device and step. Not modelled: overlap of
 * recomputation with communication, launches, contention of copies to the host. */
#ifndef AUTOMAP_ENGINE_RECOMPUTE_RECOMPUTE_H
#define AUTOMAP_ENGINE_RECOMPUTE_RECOMPUTE_H

#include "engine/cost/memory.h"
#include "engine/recompute/primal.h"
#include "hlo/support/err.h"

enum recompute_state {
    VALUE_UNUSED,
    VALUE_KEPT,
    VALUE_IN_PIECES, /* kept split further than it is used; gathered for the backward pass */
    VALUE_AGAIN,
    VALUE_OFFLOADED /* kept in host memory: copied there behind the forward pass, back before its
                       layer's turn of the backward pass */
};

/* The way to host memory of one device. */
struct recompute_host {
    double bytes_per_ms;            /* each way; 0: there is none */
    double forward_ms, backward_ms; /* of a step: computation that hides copies */
    double passes;                  /* micro-batches */
};

/* A plan's figures for the nodes of a graph; the arrays [graph->count] are borrowed during
 * recompute_new. */
struct recompute_prices {
    const double *bytes;                   /* of one array, one micro-batch, local */
    const double *piece_bytes, *gather_ms; /* of one array split further, < bytes where possible;
                                              time of gathering it, all executions */
    const double *work_ms; /* of PRIMAL_WORK: computing and reducing it again, all its executions */
    const double *reader_bytes; /* [graph->reader_count] of the product's result */
    double bytes_per_ms;        /* memory bandwidth of kernels */
    double passes;              /* micro-batches: each recomputes */
    struct recompute_host host;
    const struct memory_model *memory;
    double *range_bytes; /* as memory_sweep leaves its scratch: ranges, computations, copies */
    bool ends_alone;     /* of the front: recompute_within finds the points it needs */
};

/* One choice for all layers. */
struct recompute_point {
    double ms;      /* added to a step that keeps everything at no cost */
    double kept;    /* bytes kept at the end of the forward pass */
    uint8_t *state; /* [nodes] enum recompute_state */
};

struct front;

struct recompute {
    const struct primal_graph *graph;
    double *bytes, *piece_bytes;    /* [nodes] kept: of all trips of its loops */
    double *gather_ms;              /* [nodes] */
    double *again_ms;               /* [nodes] */
    double *keep_ms;                /* [nodes] */
    double *reader_bytes;           /* [readers] */
    struct recompute_point *points; /* the front: from most kept, the fastest, to least; with
                                       ends_alone these two */
    uint32_t count;
    struct front *front;           /* the same, and what was worked out about its points */
    struct recompute_point module; /* as the module is written */
    double *base;              /* [positions] bytes of the entry's schedule without what is kept */
    uint32_t positions, start; /* start: position of the entry's first */
    uint32_t layers;           /* most layers of a kind: written out or trips */
    uint32_t *made_by;         /* [written-out layers] position by which the forward pass has made
                                  what each has */
    struct recompute_host host;
    double beat_ms; /* may be set: a choice that adds as much is not looked for any further */
};

/* The address of `out` must not change. */
int recompute_new(const struct primal_graph *g, const struct recompute_prices *p,
                  struct recompute *out, struct err *e) MUST_CHECK;
void recompute_release(struct recompute *r);

/* The choice that keeps the nodes marked in keeps[node] (VALUE_KEPT, VALUE_IN_PIECES; 0: not), plus
 * whatever is then needed and cannot be computed again. Fills `state` [nodes]. O(edges). */
struct recompute_point recompute_point_of(const struct recompute *r, const uint8_t *keeps,
                                          uint8_t *state);
bool recompute_is_kept(uint8_t state);
/* What node `k` takes in that state, of all its layers: bytes kept, ms of a step. */
double recompute_kept_bytes(const struct recompute *r, uint32_t k, uint8_t state);
double recompute_state_ms(const struct recompute *r, uint32_t k, uint8_t state);
/* Share of node `k`'s layers that are among the first `layers`. */
double recompute_part(const struct recompute *r, uint32_t k, uint32_t layers);

struct recompute_choice {
    bool fits;
    uint8_t *rest,
        *first;      /* [nodes] owned: for the layers after the first `layers`, and for those */
    uint32_t layers; /* 0: one kind of layer, `rest` */
    uint32_t host_layers;  /* VALUE_OFFLOADED goes to the host in so many first layers; behind them
                              it is kept */
    double ms, kept, peak; /* ms as in points, and host_ms; bytes */
    double host_bytes;     /* of one micro-batch, in host memory; beside kept */
    double host_ms;        /* of copies that nothing hides */
    double bound_ms;       /* no choice within the limit adds less; INFINITY: provably none fits */
};
/* The best choice within `limit` bytes (INFINITY: the fastest); if none fits, that of least memory.
 * With a host, values may go there: copies hide behind the passes' computation, what is longer
 * shows; not eligible is what the last of written-out layers keeps, which is read at once, and what
 * is kept in pieces. A loop's last trip may go; its first fetch shows. The bound holds for all
 * choices of keeping, offloading and computing again, of one or two kinds of layers in a loop. If
 * the peak is at a position that some kept values do not reach, builds the front again for that
 * position, and has a price for each of several that bind, until the bound is within `enough_ms`.
 * Then mixes choices near it: two kinds of a loop's layers, or written-out layers each its own,
 * which is one kind with what `rest` says of each node. One thread at a time. */
int recompute_within(const struct recompute *r, double limit, double enough_ms,
                     struct recompute_choice *out, struct err *e) MUST_CHECK;
/* Peak of a step under a choice, of which rest, first and the two numbers of layers are read. < 0:
 * out of memory. O(edges + positions). */
double recompute_peak(const struct recompute *r, const struct recompute_choice *c);
/* Share of node `k`'s layers whose value is on the host. */
double recompute_host_part(const struct recompute *r, const struct recompute_choice *c, uint32_t k);
void recompute_choice_release(struct recompute_choice *c);

#endif
