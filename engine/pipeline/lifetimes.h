/* engine/pipeline/lifetimes.h - what a stage holds for one micro-batch, and for how long.
 *
 * A stage runs points [i, j) of a micro-batch forward, from the first to the last, and later
 * backward, from the last to the first; under recompute a second forward pass stands before the
 * backward pass. Its clock has one step a point and pass: forward 0 .. n - 1, then, under
 * recompute, again n .. 2n - 1, then backward; the last n of `steps` are the backward pass, the
 * first n the forward pass.
 *
 * A value lives from the step that makes it, or the beginning of the pass it arrives with, to its
 * last use in this stage; if another stage needs it, to the end of the pass, and then in a buffer
 * until it is sent. A use by something that is not stored (cost/fusion.h) counts as the uses of
 * that. Inputs of the model are there from the beginning of the forward pass. Nothing is computed
 * in another's place. Gradients of variables, and what crosses a cut once a step, live all the time
 * and are left out. Under recompute the forward pass keeps what arrived and inputs, all else is
 * made again. */
#ifndef AUTOMAP_ENGINE_PIPELINE_LIFETIMES_H
#define AUTOMAP_ENGINE_PIPELINE_LIFETIMES_H

#include "engine/pipeline/formula.h"
#include "engine/pipeline/order.h"
#include "engine/pipeline/pipe_instance.h"
#include "hlo/support/err.h"

enum lifetimes_buffer {
    BUFFER_IN,
    BUFFER_OUT,
    BUFFER_GRADIENT_IN,
    BUFFER_GRADIENT_OUT,
    LIFETIMES_BUFFERS
};

struct lifetime {
    uint32_t value;       /* of order->steps */
    uint32_t from, until; /* steps, both inclusive */
    double bytes;         /* of one replica */
    bool kept;            /* rests between the passes: from the first to one behind it */
    uint8_t buffers;      /* bit b: also waits in buffer b */
};

struct lifetimes {
    struct lifetime *life; /* by value, then from */
    uint32_t count;
    uint32_t points, steps;
    double *kept,
        *working; /* [steps + 1] bytes that live then: those that rest between the passes; others */
    double resting; /* of one micro-batch between its passes: the sum of those kept */
    double buffer[LIFETIMES_BUFFERS]; /* what arrives with a pass, from the beginning of its
                                         transfer; what is sent after one and not kept, to the end
                                         of its transfer */
};

/* Of points [i, j) on `replicas` devices; `in` over the points of the order. O(operations +
 * values). */
int lifetimes_new(const struct order *o, const struct pipe_instance *in, uint32_t i, uint32_t j,
                  uint32_t replicas, struct lifetimes *out, struct err *e) MUST_CHECK;
void lifetimes_release(struct lifetimes *l);

/* The point that runs at a step of a stage that begins at point `first`. */
uint32_t lifetimes_point(const struct lifetimes *l, uint32_t first, uint32_t step);
static inline bool lifetimes_is_backward(const struct lifetimes *l, uint32_t step)
{
    return step >= l->steps - l->points;
}

#endif
