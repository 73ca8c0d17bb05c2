/* engine/place/from_module.h - the operator graph of a model on a cluster.
 *
 * Nodes are the operations one step executes, with calls inlined and loops of known trip count
 * unrolled (engine/pipeline/unroll.h). Times are the same as in every other search: the roofline or
 * a measured profile, by kind of device; a core of the host has a roofline of its own. Sending an
 * output costs its bytes over the link (far: over the network) plus the latency, at either end.
 *
 * Operations that belong together share a color; costs stay exact (nets.h):
 *   - a result that is not written to memory goes to its one user (cost/fusion.h);
 *   - a variable goes to its one forward user, with gradient, optimizer state and update; one with
 *     several is a node of its own, without work, that users elsewhere fetch;
 *   - a backward operation has the color of the forward operation it can share a stage with
 *     (engine/pipeline/order.h).
 * An operation holds the values it keeps for the backward pass, of one batch in flight.
 * A module without variables or without a batch is inference: all of it is forward.
 *
 * Servers of unequal size: every transfer is priced as one over the network. */
#ifndef AUTOMAP_ENGINE_PLACE_FROM_MODULE_H
#define AUTOMAP_ENGINE_PLACE_FROM_MODULE_H

#include "engine/place/operator_graph.h"
#include "engine/problem/problem.h"
#include "hlo/support/err.h"

/* Of a step of so many samples; 0: as p says. `p` is not kept. ERR_LIMIT: more kinds of devices or
 * operations than a graph takes; what unroll_any says. O(operations log). */
int place_graph_of_problem(const struct problem *p, uint32_t samples, struct place_graph **out,
                           struct err *e) MUST_CHECK;

#endif
