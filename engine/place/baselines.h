/* engine/place/baselines.h - what others do: simple ways to place a graph, to be beaten or not.
 *
 * Each keeps pins and kinds of devices, or finds no plan (ERR_INFEASIBLE); memory that is exceeded
 * is in placement.faults. Contracts as place_anneal; `seed` where chance is in it. */
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

/* Along a depth-first order, each device in turn until it has its share of the work or its memory
 * is full; what is left goes to the last that may hold it. */
int place_greedy(const struct place_graph *g, const struct place_asking *a, struct placement **out,
                 struct err *e) MUST_CHECK;

/* Every class on a random accelerator, then the best single move until none helps; ten times, the
 * best of them. Memory is not looked at (as published). */
int place_local(const struct place_graph *g, const struct place_asking *a, struct placement **out,
                struct err *e) MUST_CHECK;

/* Random plans that keep kinds and pins, the best that keeps memory of 10,000. */
int place_random(const struct place_graph *g, const struct place_asking *a, struct placement **out,
                 struct err *e) MUST_CHECK;

/* As PipeDream cuts (Harlap et al., arXiv 1806.03377): the tails of the edges of each biconnected
 * component are joined, then the program over the prefixes of one order. */
int place_pipedream(const struct place_graph *g, const struct place_asking *a,
                    struct placement **out, struct err *e) MUST_CHECK;

#endif
