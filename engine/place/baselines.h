/* engine/place/baselines.h - simple ways to place a graph, as others do it: the opponents.
 *
 * Each keeps pins and kinds of devices, or finds no plan (ERR_INFEASIBLE). Where memory is
 * exceeded, placement.faults says so. Contracts as place_anneal; random ones take `seed`. */
#ifndef AUTOMAP_ENGINE_PLACE_BASELINES_H
#define AUTOMAP_ENGINE_PLACE_BASELINES_H

#include "engine/place/contiguous.h"
#include "engine/place/operator_graph.h"
#include "engine/place/placement.h"
#include "hlo/support/err.h"

/* Everything on the first accelerator that may hold it, else on the first core. Memory may be
 * exceeded. O(nodes). */
int place_one(const struct place_graph *g, const struct place_asking *a, struct placement **out,
              struct err *e) MUST_CHECK;

/* Follows a depth-first order and fills one device after the other, up to its share of the work or
 * its memory. The rest goes to the last device that may hold it. */
int place_greedy(const struct place_graph *g, const struct place_asking *a, struct placement **out,
                 struct err *e) MUST_CHECK;

/* Puts every class on a random accelerator, then makes the best single move until none helps. The
 * best of ten tries. Ignores memory, as the published one does. */
int place_local(const struct place_graph *g, const struct place_asking *a, struct placement **out,
                struct err *e) MUST_CHECK;

/* The best of 10,000 random plans that keep kinds, pins and memory. */
int place_random(const struct place_graph *g, const struct place_asking *a, struct placement **out,
                 struct err *e) MUST_CHECK;

/* As PipeDream cuts (Harlap et al., arXiv 1806.03377): the tails of the edges of each biconnected
 * component are joined, then the program over the prefixes of one order. */
int place_pipedream(const struct place_graph *g, const struct place_asking *a,
                    struct placement **out, struct err *e) MUST_CHECK;

#endif
