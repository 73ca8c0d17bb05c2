/* hlo/module/graph.h - which values each value is computed from, over the whole module.
 *
 * Nodes are values (hlo_value). Instructions that only pass values on (tuple, while, fusion, ...)
 * give edges leaf by leaf (hlo_flows_of), across computations; for all others every leaf of the
 * result depends on every leaf of every operand (through the first leaf, to keep edges few).
 * Loops make cycles. Inline the module first: a computation with several callers would join their
 * graphs. */
#ifndef AUTOMAP_HLO_MODULE_GRAPH_H
#define AUTOMAP_HLO_MODULE_GRAPH_H

#include "hlo/module/hlo.h"
#include "hlo/support/err.h"

struct hlo_graph {
    const struct hlo_module *m;
    uint32_t *pred_first, *succ_first; /* [value_count + 1] */
    hlo_value *preds, *succs;
    bool *is_flow;    /* [value_count] the value is passed on unchanged */
    uint16_t *opcode; /* [value_count] what makes it: instructions are far apart */
    hlo_id
        *order; /* [order_count] instructions in order of execution, bodies where they are called */
    uint32_t order_count;
    uint32_t *position; /* [count] in `order`; HLO_NONE: applied computations, dead ones */
};

int hlo_graph_new(const struct hlo_module *m, struct hlo_graph *out,
                  struct err *e) MUST_CHECK; /* O(count) */
void hlo_graph_release(struct hlo_graph *g);

/* A set of values that grows along edges. `queue` holds the members in the order found: breadth
 * first while they are few thousand. */
struct hlo_reach {
    bool *has;        /* [value_count] */
    hlo_value *queue; /* [value_count] */
    uint32_t count;
};
bool hlo_reach_init(struct hlo_reach *r, const struct hlo_graph *g); /* false: out of memory */
void hlo_reach_release(struct hlo_reach *r);
void hlo_reach_clear(struct hlo_reach *r); /* O(members) */
void hlo_reach_add(struct hlo_reach *r, hlo_value v);

/* May `v` be entered? NULL: always. */
typedef bool (*hlo_reach_filter)(const void *context, hlo_value v);
/* Add all that the members are computed from (back), or all computed from them (ahead).
 * O(edges). */
void hlo_reach_back(struct hlo_reach *r, const struct hlo_graph *g, hlo_reach_filter filter,
                    const void *context);
void hlo_reach_ahead(struct hlo_reach *r, const struct hlo_graph *g, hlo_reach_filter filter,
                     const void *context);

/* The value that `v` passes on: follows flows with one source. */
hlo_value hlo_graph_source(const struct hlo_graph *g, hlo_value v);

/* The opcode of `id`, which is nearer here than in its instruction. */
static inline uint16_t hlo_graph_opcode(const struct hlo_graph *g, hlo_id id)
{
    hlo_value v = g->m->leaf_base[id];

    return v < g->m->leaf_base[id + 1] ? g->opcode[v] : hlo_at(g->m, id)->opcode;
}

#endif
