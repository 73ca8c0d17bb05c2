/* engine/place/prepare.h - from a graph to positions, the units that are placed apart from each
 * other.
 *
 * For any sets, a position is a color class. For contiguous plans (Tarnawski et al., section 5 and
 * the published code) more is joined:
 *   1. forward and backward part of a class go together;
 *   2. a class without a forward part gets an artificial one that mirrors its backward edges, so
 *      that it has a place in the forward order;
 *   3. classes on a cycle of the forward graph are joined: no order of devices could part them;
 *   4. a position without work, transfers of others or memory that is held by one neighbour alone
 *      joins it. (Exact: moving it there never adds a transfer. The published rule allows a little
 *      more and is exact only where that does not matter.)
 * What is left has a forward precedence without cycles, positions in a topological order of it. */
#ifndef AUTOMAP_ENGINE_PLACE_PREPARE_H
#define AUTOMAP_ENGINE_PLACE_PREPARE_H

#include "engine/place/nets.h"
#include "engine/place/operator_graph.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

struct place_prepared {
    struct place_nets *nets;
    /* Users and predecessors of positions in the forward graph, artificial edges included. */
    uint32_t *after_at, *after, *before_at, *before;
    struct arena arena;
};

/* Positions of any sets: one per class of colors. */
int place_prepare_classes(const struct place_graph *g, struct place_nets **out,
                          struct err *e) MUST_CHECK;

/* One position a node, colors or not; an inference graph's. O(edges log). */
int place_prepare_nodes(const struct place_graph *g, struct place_prepared **out,
                        struct err *e) MUST_CHECK;

/* Positions of contiguous plans. O((nodes + edges) log) a round of step 4, at most 64 rounds. */
int place_prepare(const struct place_graph *g, struct place_prepared **out,
                  struct err *e) MUST_CHECK;
void place_prepared_free(struct place_prepared *p);

/* Joins positions into groups, for graphs too wide or too large otherwise: `group` by position,
 * dense below `groups`, numbered so that precedence among groups has no cycle. */
int place_prepare_groups(const struct place_prepared *p, const uint32_t *group, uint32_t groups,
                         struct place_prepared **out, struct err *e) MUST_CHECK;

#endif
