/* engine/place/latency.h - the time of one sample, nothing pipelined (Tarnawski et al., section 4).
 *
 * An accelerator runs its nodes in at most q pieces, one after the other. A piece starts when all
 * its inputs exist, fetches them, computes, and sends what others need; its outputs are ready when
 * it ends. A node on the host starts when its inputs are ready; there are as many cores as needed,
 * and transfers to them cost nothing. The sample ends with its last node.
 *     piece   latest outside producer + sum of their send_ms + work + sum of send_ms used outside
 *     node    latest producer + its time on a core
 * Pieces are contiguous: no path leaves one and comes back. Nodes of a color share a device, in any
 * of its pieces; nodes pinned apart are not both on the host. */
#ifndef AUTOMAP_ENGINE_PLACE_LATENCY_H
#define AUTOMAP_ENGINE_PLACE_LATENCY_H

#include "engine/place/contiguous.h"
#include "engine/place/operator_graph.h"
#include "engine/place/placement.h"
#include "engine/place/tally.h"
#include "hlo/support/err.h"

struct place_latency {
    uint32_t pieces; /* of one accelerator; 0: 1 */
    uint64_t seed;
    uint64_t moves;            /* plans priced by a search; 0: 400,000,000 node visits worth */
    struct place_tally *tally; /* of place_latency_opponent: plans priced; NULL: not counted */
    void (*better)(void *context, const struct placement *p);
    void *context;
    const atomic_bool *stop;
};

/* The time of p by its device and piece of each node (piece NULL: place_latency_pieces fills it
 * first); INFINITY when pieces wait for each other in a circle. With `ordered`, pieces of one
 * accelerator run in their order. O(nodes + edges). */
int place_latency_value(const struct place_graph *g, struct placement *p, bool ordered,
                        double *value, struct err *e) MUST_CHECK;

/* Inseparable nodes along a depth-first order, accelerator after accelerator filled up to its
 * memory, the rest on the host; the best of several orders. */
int place_latency_greedy(const struct place_graph *g, const struct place_latency *l,
                         struct placement **out, struct err *e) MUST_CHECK;

/* The greedy plan, improved by a search over (device, piece) of positions, then of nodes where
 * colors joined some: they share a device, not a piece. Up to 12 nodes it tries all plans.
 * bound_ms: place_latency_bound, or the value where it is proven. ERR_INFEASIBLE. */
int place_latency_best(const struct place_graph *g, const struct place_latency *l,
                       struct placement **out, struct err *e) MUST_CHECK;

/* Searches that know nothing but prices, from random plans that keep memory, kinds and pins:
 *   "random"  10,000 such plans
 *   "local"   from ten of them, single moves while they help
 *   "anneal"  from one, 20,000 moves (Kirkpatrick et al. 1983)
 * l->moves in place of these numbers; they end with l->tally. ERR_INFEASIBLE. */
int place_latency_opponent(const struct place_graph *g, const struct place_latency *l,
                           const char *algorithm, struct placement **out, struct err *e) MUST_CHECK;

/* A lower bound: the longest of a few paths, with every node on its fastest device. Where an
 * accelerator's memory ends, the path leaves it and pays for what crosses, at both ends. O(nodes +
 * edges + path^2). */
double place_latency_bound(const struct place_graph *g);
#define PLACE_LATENCY_BOUND_BY "longest path, cut where memory ends"

#endif
