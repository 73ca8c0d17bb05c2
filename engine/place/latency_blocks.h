/* engine/place/latency_blocks.h - what runs as one when latency is counted: pieces, and nodes on
 * the host. Private to the files of latency. */
#ifndef AUTOMAP_ENGINE_PLACE_LATENCY_BLOCKS_H
#define AUTOMAP_ENGINE_PLACE_LATENCY_BLOCKS_H

#include "engine/place/latency.h"
#include "engine/place/operator_graph.h"
#include "engine/place/placement.h"
#include "hlo/support/err.h"

/* Blocks: pieces that hold a node first, then nodes on the host. */
struct place_blocks {
    const struct place_graph *g;
    const struct placement *p;
    uint32_t accelerators, pieces; /* most of one accelerator */
    uint32_t *block_of;            /* by node */
    uint32_t count, slots;
    uint32_t *open;           /* by block: edges that still come in */
    double *ready;            /* by block: latest producer outside */
    double *cost;             /* by block: work and transfers */
    uint32_t *fetched;        /* by block: node + 1 whose output it fetched last */
    uint32_t *node_at, *node; /* nodes of a block */
    uint32_t *queue;
};

/* For b->g, p, accelerators and pieces, which are set. False: not enough memory. */
bool place_blocks_allocate(struct place_blocks *b);
void place_blocks_release(struct place_blocks *b);

/* The latency of b->p; INFINITY when some blocks wait for each other. O(nodes + edges). */
double place_blocks_run(struct place_blocks *b, bool ordered);

/* Was the value of b->p worked out with the pieces of an accelerator in their order? A split's is
 * not (place_latency_value). */
bool place_blocks_ordered(struct place_blocks *b, double value_ms);

/* A split as contiguous pieces: the piece of a node is how often a path to it left its device and
 * came back, at most. Fills p->piece (made when NULL). ERR_MEMORY. O(edges x accelerators). */
int place_cut_into_pieces(const struct place_graph *g, struct placement *p,
                          struct err *e) MUST_CHECK;

#endif
