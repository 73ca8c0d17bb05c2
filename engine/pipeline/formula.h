/* engine/pipeline/formula.h - what a stage costs, and the length of a pipeline by formula.
 *
 * A step runs M micro-batches through nodes 0 .. N-1: the stages and, between them, the transfers,
 * which are stages that compute nothing. With F, B the forward and backward time of one micro-batch
 * and R what follows a node's last backward pass (all-reduce, optimizer), for a bounding node Q
 *     L(Q) = sum of F over 0 .. Q  +  T(Q)  +  max over s of (R_s + e_s)
 *     T(Q) = (M - 1) (F_Q + B_Q), or (M - 1) max(F_Q, B_Q) for a link that moves both ways at once
 *     e_s  = + sum of B over s .. Q for s <= Q,   - sum of B over Q+1 .. s-1 for s > Q
 * and L = max over Q of L(Q). This is DAPPLE's latency (Fan et al. 2021) with the maximum in place
 * of its rule for finding Q. It describes 1F1B with 2k - 1 forward passes first (PIPE_EAGER). */
#ifndef AUTOMAP_ENGINE_PIPELINE_FORMULA_H
#define AUTOMAP_ENGINE_PIPELINE_FORMULA_H

#include "engine/pipeline/pipe_instance.h"

/* A node: a stage, or a transfer. ms. */
struct pipe_node {
    double forward_ms, backward_ms; /* of one micro-batch */
    double reduce_ms;               /* after the last: see pipe_stage; once_bytes for a transfer */
};

enum { PIPE_NODES_MOST = 2 * PIPE_STAGES_MOST - 1 };

/* Points [i, j) on devices [a, b). Backward includes the repeated forward pass under recompute.
 *     R = (1 - overlap) (all-reduce of the gradients + adding those of ties) + update
 * or, of OVERLAP_AUTO, what the backward pass of the last micro-batch leaves of the all-reduce
 * (overlap.h), the ties whole, and the update.
 * O(types + ties). */
struct pipe_node pipe_stage_node(const struct pipe_instance *in, uint32_t i, uint32_t j, uint32_t a,
                                 uint32_t b);
/* Across `cut` from devices [a, m) to [m, b). */
struct pipe_node pipe_link_node(const struct pipe_instance *in, uint32_t cut, uint32_t a,
                                uint32_t m, uint32_t b);

/* Stage 0, transfer, stage 1, ..: 2 stages - 1 nodes. */
uint32_t pipe_plan_nodes(const struct pipe_instance *in, const struct pipe_plan *p,
                         struct pipe_node *out);

/* L of nodes that alternate as above; *bounding (may be NULL) is the Q that gives it. O(count). */
double pipe_nodes_length(const struct pipe_node *node, uint32_t count, const struct pipe_options *o,
                         uint32_t *bounding);
double pipe_length(const struct pipe_instance *in, const struct pipe_plan *p);

/* ---- memory ---- */
/* Micro-batches in flight in a stage with k stages to the end, itself included: eager min(M, 2k -
 * 1), 1F1B min(M, k), GPipe M. */
uint32_t pipe_in_flight(const struct pipe_options *o, uint32_t k);

/* Of each replica: states + in_flight x (input + stash) + working memory; under recompute
 * in_flight x input + one stash. */
double pipe_stage_memory(const struct pipe_instance *in, uint32_t i, uint32_t j, uint32_t a,
                         uint32_t b, uint32_t in_flight);
/* The memory limit of devices [a, b); INFINITY when there is none. */
double pipe_memory_limit(const struct pipe_instance *in, uint32_t a, uint32_t b);
bool pipe_fits(const struct pipe_instance *in, const struct pipe_plan *p);

/* L, or INFINITY when the plan does not fit: what the searches minimise. */
double pipe_score(const struct pipe_instance *in, const struct pipe_plan *p);

/* ---- to look at ---- */
struct pipe_stage {
    uint32_t first_point, end_point, first_device, end_device;
    uint32_t in_flight, variables;
    double forward_ms, backward_ms;           /* as in its node */
    double all_reduce_ms, sync_ms, update_ms; /* the two first before overlap is taken off */
    double reduce_ms;                         /* R */
    double parameter_bytes, gradient_bytes, state_bytes; /* the last: both, and optimizer state */
    double stash_bytes, input_bytes;                     /* of one micro-batch, of one replica */
    double temporary_bytes, memory_bytes, limit_bytes;
};
struct pipe_transfer {
    uint32_t cut;
    double forward_bytes, backward_bytes, once_bytes; /* of the whole micro-batch; of a step */
    double forward_ms, backward_ms, once_ms;
};
/* stage < p->stages; transfer `stage` lies between `stage` and `stage` + 1. */
struct pipe_stage pipe_stage_of(const struct pipe_instance *in, const struct pipe_plan *p,
                                uint32_t stage);
struct pipe_transfer pipe_transfer_of(const struct pipe_instance *in, const struct pipe_plan *p,
                                      uint32_t stage);

/* The model along the pipeline, for curves: `columns` equal parts of the points; with more columns
 * than points some show the same point. Bytes are of the cuts before the points, both ways. */
struct pipe_spot {
    uint32_t first, end;
    double compute_ms; /* forward and backward, unsplit, on the first type of device */
    double least_bytes, most_bytes;
    double gradient_bytes;
};
void pipe_spots(const struct pipe_instance *in, uint32_t columns, struct pipe_spot *out);

#endif
