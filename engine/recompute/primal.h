/* engine/recompute/primal.h - what the backward pass of a step needs of the forward pass, and what
 * that could be made from again.
 *
 * Values by number (numbering.h), so that what the module itself recomputes is undone: the same
 * model saved in full, in part or not at all has one primal graph. Kinds of values:
 *   given    variables, state, inputs, constants and what follows from variables and constants
 * alone primal   made without any gradient: ancestors of the loss, all that their loops do forward,
 * and what follows from those without a product; in a loop of the backward pass all that reads no
 * changed state derived  the rest: gradients, updates A primal value that a derived operation reads
 * is needed in the backward pass: kept there since the forward pass, or computed again from values
 * that are there. Which of them the module keeps is read from what its backward pass reads of its
 * forward pass. Values that leave one numbered layer for another are never computed again: without
 * that a module of written-out layers would be recomputed as a whole, at once. Plan-independent,
 * immutable. Method after Jain et al., "Checkmate" (MLSys 2020), and Gruslys et al. (2016) for what
 * to ask; the primal graph itself is ours. */
#ifndef AUTOMAP_ENGINE_RECOMPUTE_PRIMAL_H
#define AUTOMAP_ENGINE_RECOMPUTE_PRIMAL_H

#include "engine/cost/attention.h"
#include "engine/cost/memory.h"
#include "hlo/meaning/cost.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"

/* How a value comes into being again. */
enum primal_rule {
    PRIMAL_FUSED,  /* on the fly in what reads it: no time, no memory */
    PRIMAL_KERNEL, /* reads and writes memory */
    PRIMAL_WORK,   /* a product, convolution, sort ..: the cost model's time of its instruction */
    PRIMAL_NEVER,  /* random numbers, loop state, what other layers read */
};

#define PRIMAL_NO_LAYER UINT32_MAX

struct primal {
    hlo_value value; /* where it is made first, in the forward pass if it is there at all */
    hlo_id maker;
    uint8_t rule;                /* enum primal_rule */
    bool is_needed;              /* a derived operation reads it */
    bool is_kept;                /* by the module as it is written */
    bool is_stored;              /* in memory where it is made again */
    bool is_forward;             /* made in the forward pass; else in the backward pass alone */
    double trips;                /* of the loops around it: it is that many arrays */
    uint32_t layer;              /* order of its written-out layer, 0 first; PRIMAL_NO_LAYER */
    uint32_t reads, read_count;  /* into graph->edges: nodes it is computed from */
    uint32_t whole, whole_count; /* into graph->edges: stored nodes its kernel reads, through fused
                                    ones; of PRIMAL_KERNEL */
    double given_bytes; /* of given operands that its kernel reads part of: tables (gather) */
    /* Positions in the entry's schedule. */
    uint32_t made;                  /* made, or used last by the forward pass; loops: the loop's */
    uint32_t first_read, last_read; /* by derived operations; HLO_NONE: by none */
};

/* A product of the entry's backward pass, with the nodes it reads. */
struct primal_reader {
    hlo_id id;
    uint32_t position;
    uint32_t nodes, node_count; /* into graph->edges */
};

/* Positions while the backward pass runs through a layer: from its first operation to the next
 * layer's. Products of gradients of variables may wait until later. */
struct primal_window {
    uint32_t from, to;
};

struct primal_graph {
    struct primal *nodes; /* operands before what reads them */
    uint32_t count;
    uint32_t *edges;
    uint32_t edge_count;
    uint32_t layers;               /* written-out layers that hold nodes; 1: none */
    struct primal_window *windows; /* [layers] */
    struct primal_reader *readers;
    uint32_t reader_count;
    double loop_trips;   /* most trips of a loop that holds nodes; 1: none */
    uint32_t *of_buffer; /* [values] of buffers (fusion.h): node + 1 whose kept array it is; 0 */
};

/* O(instructions x operands). */
int primal_new(const struct memory_model *memory, const struct hlo_roles *roles,
               const struct hlo_costs *costs, const struct attention *attention,
               struct primal_graph *out, struct err *e) MUST_CHECK;
void primal_release(struct primal_graph *g);

#endif
