/* engine/recompute/primal.h - what the backward pass needs from the forward pass, and from what
 * that could be computed again.
 *
 * Values are identified by number (numbering.h), which undoes what the module itself recomputes:
 * the same model saved in full, in part or not at all has one primal graph. Kinds of values:
 *   given    variables, state, inputs, constants, and what follows from variables and constants
 *            alone
 *   primal   made without any gradient: ancestors of the loss, everything their loops do in the
 *            forward pass, and what follows from those without a product; in a loop of the
 *            backward pass, everything that reads no changed state
 *   derived  the rest: gradients, updates
 * A primal value that a derived operation reads is needed in the backward pass: it is either kept
 * from the forward pass or computed again from values that are available. Which values the module
 * itself keeps follows from what its backward pass reads of its forward pass. Values that pass
 * from one numbered layer to another are never computed again; otherwise a module of written-out
 * layers would be recomputed as a whole, at once. Plan-independent, immutable. What to ask follows
 * Jain et al., "Checkmate" (MLSys 2020), and Gruslys et al. (2016); the primal graph is ours. */
#ifndef AUTOMAP_ENGINE_RECOMPUTE_PRIMAL_H
#define AUTOMAP_ENGINE_RECOMPUTE_PRIMAL_H

#include "engine/cost/attention.h"
#include "engine/cost/memory.h"
#include "hlo/meaning/cost.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"

/* How a value is made again. */
enum primal_rule {
    PRIMAL_FUSED,  /* on the fly by its reader: no time, no memory */
    PRIMAL_KERNEL, /* reads and writes memory */
    PRIMAL_WORK,   /* a product, convolution, sort ..: the cost model's time of its instruction */
    PRIMAL_NEVER,  /* random numbers, loop state, what other layers read */
};

#define PRIMAL_NO_LAYER UINT32_MAX

struct primal {
    hlo_value value; /* its first occurrence, in the forward pass if it has one */
    hlo_id maker;
    uint8_t rule;                /* enum primal_rule */
    bool is_needed;              /* a derived operation reads it */
    bool is_kept;                /* by the module as written */
    bool is_stored;              /* in memory where it is made again */
    bool is_forward;             /* made in the forward pass; else only in the backward pass */
    double trips;                /* of the loops around it: it stands for that many arrays */
    uint32_t layer;              /* order of its written-out layer, 0 first; PRIMAL_NO_LAYER */
    uint32_t reads, read_count;  /* into graph->edges: nodes it is computed from */
    uint32_t whole, whole_count; /* into graph->edges: PRIMAL_KERNEL: stored nodes that its kernel
                                    reads, also through fused ones */
    double given_bytes; /* bytes of given operands that its kernel reads in part: tables (gather) */
    /* Positions in the entry's schedule. */
    uint32_t made;                  /* where it is made, or last used by the forward pass; in loops:
                                       the loop's */
    uint32_t first_read, last_read; /* by derived operations; HLO_NONE: by none */
};

/* A product of the entry's backward pass, with the nodes it reads. */
struct primal_reader {
    hlo_id id;
    uint32_t position;
    uint32_t nodes, node_count; /* into graph->edges */
};

/* Positions during which the backward pass runs through a layer: from its first operation to that
 * of the next layer. Products for gradients of variables may run later. */
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
    uint32_t *of_buffer; /* [values] of buffers (fusion.h): node + 1 whose kept array it is; 0:
                            none */
};

/* O(instructions x operands). */
int primal_new(const struct memory_model *memory, const struct hlo_roles *roles,
               const struct hlo_costs *costs, const struct attention *attention,
               struct primal_graph *out, struct err *e) MUST_CHECK;
void primal_release(struct primal_graph *g);

#endif
