/* engine/relaxed/energy.h - a sum of costs over labels of nodes and pairs of nodes, and its exact
 * reduction.
 *
 * energy(x) = sum over nodes of unary[x_i] + sum over edges of table[x_a][x_b].
 * A node with at most two neighbours can be minimised out exactly: its cost becomes part of its
 * neighbour, or an edge between the two. That removes three quarters or more of the nodes of a
 * network (chains of element-wise work) and leaves the rest for message passing. */
#ifndef AUTOMAP_ENGINE_RELAXED_ENERGY_H
#define AUTOMAP_ENGINE_RELAXED_ENERGY_H

#include "engine/relaxed/tables.h"
#include "hlo/support/err.h"

struct energy_edge {
    uint32_t a, b;
    struct sight table; /* rows: labels of a */
};

struct energy {
    struct tables *tables; /* shared, not owned */
    table_id *unary;       /* [nodes] a vector; its columns are the node's labels */
    struct energy_edge *edges;
    uint32_t nodes, edge_count;
    double constant;
};

static inline uint32_t energy_labels(const struct energy *g, uint32_t node)
{
    return g->tables->items[g->unary[node]].cols;
}
double energy_of(const struct energy *g, const uint16_t *x); /* O(nodes + edges) */
void energy_release(struct energy *g);

/* How one node was eliminated. */
struct elimination {
    uint32_t node, count; /* neighbours it had */
    uint32_t next[2];
    struct sight table[2]; /* rows: labels of `node` */
    table_id unary;
};

struct reduction_of_energy {
    struct energy left; /* nodes in their original order */
    uint32_t *node;     /* [left.nodes] their numbers in the original */
    struct elimination *steps;
    uint32_t step_count, whole_nodes;
};

/* O(nodes + edges) table operations, most of which repeat earlier ones (tables.h). */
int energy_reduce(const struct energy *g, struct reduction_of_energy *out,
                  struct err *e) MUST_CHECK;
void energy_reduced_release(struct reduction_of_energy *r);
/* Extends labels of the reduced energy to the original: eliminated nodes at least cost. */
void energy_expand(const struct reduction_of_energy *r, const uint16_t *left, uint16_t *x);
/* Restricts labels of the original to the reduced energy. */
void energy_restrict(const struct reduction_of_energy *r, const uint16_t *x, uint16_t *left);

#endif
