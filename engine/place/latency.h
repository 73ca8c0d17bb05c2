/* engine/place/latency.h - the time of one sample, nothing pipelined (Tarnawski et al., section 4).
 *
 * An accelerator runs its nodes in at most q pieces, one after the other. A piece starts when all
 * it needs is made, fetches it, computes, and sends what others need; all its outputs are there at
 * its end. A node on the host starts when its inputs are there; cores are as many as needed and
 * transfers to them cost nothing. The sample is done with its last node.
 *     piece   latest outside producer + sum of their send_ms + work + sum of send_ms used outside
 *     node    latest producer + its time on a core
 * Pieces are contiguous: no path leaves one and comes back. */
#ifndef AUTOMAP_ENGINE_PLACE_LATENCY_H
#define AUTOMAP_ENGINE_PLACE_LATENCY_H

#include "engine/place/contiguous.h"
#include "engine/place/operator_graph.h"
#include "engine/place/placement.h"
#include "hlo/support/err.h"

struct place_latency {
    uint32_t pieces; /* of one accelerator; 0: 1 */
    uint64_t seed;
    uint64_t moves; /* of the search; 0: 400,000,000 node visits worth */
    void (*better)(void *context, const struct placement *p);
    void *context;
    const atomic_bool *stop;
};

/* Value of p by its device and piece rows (piece NULL: cut_into_pieces first); INFINITY when pieces
 * wait for each other in a circle. With `ordered`, pieces of one accelerator run in their order.
 * O(nodes + edges). */
int place_latency_value(const struct place_graph *g, struct placement *p, bool ordered,
                        double *value, struct err *e) MUST_CHECK;

/* A split as contiguous pieces: the piece of a node is how often a path to it left its device and
 * came back, at most. Fills p->piece (made when NULL). */
int place_latency_pieces(const struct place_graph *g, struct placement *p,
                         struct err *e) MUST_CHECK;

/* Inseparable nodes along a depth-first order, accelerator after accelerator filled up to its
 * memory, the rest on the host; the best of several orders. */
int place_latency_greedy(const struct place_graph *g, const struct place_latency *l,
                         struct placement **out, struct err *e) MUST_CHECK;

/* The greedy plan, then a search over (device, piece) of positions; up to 12 positions all of them
 * are tried. bound_ms: place_latency_bound, or the value where it is proven. ERR_INFEASIBLE. */
int place_latency_best(const struct place_graph *g, const struct place_latency *l,
                       struct placement **out, struct err *e) MUST_CHECK;

/* No plan is faster. Along a path with every node on its fastest device; where the memory of an
 * accelerator ends, the path leaves it, and pays for what crosses at both ends. The largest of a
 * few paths. O(nodes + edges + path^2). */
double place_latency_bound(const struct place_graph *g);
#define PLACE_LATENCY_BOUND_BY "longest path, cut where memory ends"

#endif
