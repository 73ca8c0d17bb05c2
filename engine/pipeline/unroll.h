/* engine/pipeline/unroll.h - a training step as a list of executed operations: loops with known
 * trips unrolled, everything that only passes values on looked through.
 *
 * Operations stand in an order in which operands come before their users. Of a loop over stacked
 * parameters each trip reads its own slice: such a slice counts as a variable of its own, and an
 * array that a loop fills slice by slice is known slice by slice, so that layers in a loop can be
 * told apart like layers written out. Only forward and backward operations are kept; the update is
 * done variable by variable, wherever the variable lives.
 *
 * Loops stay rolled up (one trip, its cost times the trips) if their trip count is unknown (counted
 * once) or they would make more than UNROLL_LOOP_MOST operations. */
#ifndef AUTOMAP_ENGINE_PIPELINE_UNROLL_H
#define AUTOMAP_ENGINE_PIPELINE_UNROLL_H

#include "engine/decide/classes.h"
#include "engine/problem/problem.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"

enum {
    UNROLL_LOOP_MOST = 1 << 17, /* operations of one loop */
    UNROLL_OPS_MOST = 1 << 20,
    UNROLL_DEPTH_MOST = 64,     /* loops and branches inside each other */
    UNROLL_PARTS_MOST = 1 << 16 /* slices of one parameter */
};
#define UNROLL_NONE UINT32_MAX

struct unroll_op {
    hlo_id id;
    uint32_t operands, operand_count; /* into unrolled.operands; no free values */
    uint32_t values, value_count;     /* its results */
    double times;                     /* executions it stands for; 1 but in rolled loops */
    uint32_t trip;                    /* of the outermost unrolled loop around it; UNROLL_NONE */
    bool is_backward;
    bool is_free; /* its results are free values (classes.is_free): whoever reads them makes them */
};

struct unroll_value {
    hlo_value value; /* of the module: shape and classes */
    uint32_t op;     /* what makes it; UNROLL_NONE: a parameter or a slice of one */
    uint32_t param;  /* of those: index into roles.params; else UNROLL_NONE */
    double bytes;    /* whole, at the batch size of the file */
    bool has_batch;  /* a dim of it is the batch: bytes grow with the micro-batch */
    bool is_varying; /* computed from training data: differs from micro-batch to micro-batch */
    bool is_float;
    bool is_stored; /* written to memory (cost/fusion.h) */
};

struct unrolled {
    const struct problem *problem;
    class_id batch;     /* class of the batch dims */
    int64_t batch_size; /* of the file */
    struct unroll_op *ops;
    uint32_t op_count;
    struct unroll_value *values;
    uint32_t value_count;
    uint32_t *operands; /* values */
    uint32_t *gradient; /* [roles.param_count] value that reaches the update; UNROLL_NONE: unknown,
                           or known slice by slice */
    uint32_t loss;      /* operation that makes the loss; UNROLL_NONE unknown */
    uint32_t rolled;    /* loops left rolled up */
};

/* `p` must outlive it. ERR_INFEASIBLE when the inputs share no batch dim, ERR_LIMIT past the limits
 * above, ERR_MEMORY. O(operations). */
int unroll_new(const struct problem *p, struct unrolled *out, struct err *e) MUST_CHECK;
/* The same where the inputs need share no batch dim: then out->batch is CLASS_NONE. */
int unroll_any(const struct problem *p, struct unrolled *out, struct err *e) MUST_CHECK;
void unroll_release(struct unrolled *u);

#endif
