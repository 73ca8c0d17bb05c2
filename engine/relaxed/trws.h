/* engine/relaxed/trws.h - sequential tree-reweighted message passing (Kolmogorov 2006) on an
 * energy, with its lower bound, and the local search that finishes a labelling.
 *
 * A sweep goes through the nodes in order and back. It may start from any messages (an earlier
 * solution's, a folded one's): the bound is valid for all, being the sum of the minima of a
 * reparametrisation. Deterministic; use from one thread at a time. */
#ifndef AUTOMAP_ENGINE_RELAXED_TRWS_H
#define AUTOMAP_ENGINE_RELAXED_TRWS_H

#include "engine/relaxed/energy.h"
#include "hlo/support/err.h"

struct trws {
    const struct energy *g;
    uint32_t *first;       /* [nodes + 1] into ends */
    struct trws_end *ends; /* per node: edges to lower nodes, then to higher ones */
    uint32_t *split;       /* [nodes] where the higher ones begin */
    double *gamma;         /* [nodes] share of a node's costs in each chain through it */
    double *message;       /* one arena: per edge the vector to its a, then to its b */
    size_t message_size;
    double *scratch;
    uint8_t *is_stale; /* [nodes] trws_icm: a neighbour changed since its last visit */
    uint16_t *x;       /* [nodes] labels of the last forward pass */
    double bound;      /* the best so far, constant included */
};

/* An edge as seen from one of its nodes. Offsets into tables->data, which may move but is never
 * reordered. */
struct trws_end {
    uint32_t other, cols; /* labels of the other node */
    size_t table, turned; /* rows: labels of this node; of the other */
    size_t in, out;       /* into message: to this node, to the other */
};

int trws_new(const struct energy *g, struct trws *out,
             struct err *e) MUST_CHECK; /* messages zero */
void trws_release(struct trws *s);

/* One sweep; raises s->bound. With `with_labels` the forward pass leaves labels in s->x.
 * O(sum of table sizes). */
void trws_sweep(struct trws *s, bool with_labels);

/* Changes one label at a time while that lowers the energy; at most `rounds` passes. */
void trws_icm(const struct trws *s, uint16_t *x, uint32_t rounds);

#endif
