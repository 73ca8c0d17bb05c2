/* engine/pipeline/timeline.h - the memory of a stage while a schedule is played (simulation.h).
 *
 * At any time a replica holds
 *     parameters, gradients, optimizer state    all the time
 *     what crosses the cut before it once a step    all the time, counted as kept
 *     every micro-batch between its passes      what is kept for the backward pass (lifetimes.h)
 *     the micro-batch of the running pass       what lives at the current step of the pass
 *     messages                                  incoming ones from the start of their transfer to
 *                                               the start of their pass, outgoing ones from the end
 *                                               of their pass to the end of their transfer
 * A pass goes through its steps in proportion to their times. The formula and the searches count
 * less exactly, and mostly more: every micro-batch in flight in full, arriving data twice, no
 * buffers (pipe_stage_memory). */
#ifndef AUTOMAP_ENGINE_PIPELINE_TIMELINE_H
#define AUTOMAP_ENGINE_PIPELINE_TIMELINE_H

#include "engine/pipeline/lifetimes.h"
#include "engine/pipeline/order.h"
#include "engine/pipeline/pipe_instance.h"
#include "engine/pipeline/simulation.h"
#include "hlo/support/err.h"

enum timeline_kind {
    TIMELINE_PARAMETERS,
    TIMELINE_GRADIENTS,
    TIMELINE_OPTIMIZER,
    TIMELINE_KEPT,    /* for backward passes */
    TIMELINE_WORKING, /* of the running pass */
    TIMELINE_BUFFERS, /* of transfers */
    TIMELINE_KINDS
};
extern const char *const timeline_kind_names[TIMELINE_KINDS];

struct timeline {
    const struct order *order;
    struct lifetimes lifetimes;
    uint32_t stage, first_point;
    double constant[TIMELINE_KINDS];
    double *share; /* [steps] part of its pass that is over when a step ends */
};

/* A stretch of time in which nothing changes. */
struct timeline_moment {
    double start_ms, end_ms;
    uint32_t micro_batch, step;          /* of the running pass; TIMELINE_IDLE: none runs */
    uint32_t resting;                    /* micro-batches between their passes */
    uint32_t waiting[LIFETIMES_BUFFERS]; /* messages in each buffer */
};
#define TIMELINE_IDLE UINT32_MAX

/* Of a stage of a plan over the points of the order, which must outlive it. O(operations + values).
 */
int timeline_new(const struct order *o, const struct pipe_instance *in, const struct pipe_plan *p,
                 uint32_t stage, struct timeline *out, struct err *e) MUST_CHECK;
void timeline_release(struct timeline *t);

/* The first moment with most bytes. */
struct timeline_peak {
    struct timeline_moment at;
    double bytes[TIMELINE_KINDS], total;
};
int timeline_find_peak(const struct timeline *t, const struct pipe_schedule *s,
                       struct timeline_peak *out, struct err *e) MUST_CHECK;

/* The makespan in `columns` equal parts: of each the moment with most bytes, by kind. */
int timeline_columns(const struct timeline *t, const struct pipe_schedule *s, uint32_t columns,
                     double (*rows)[TIMELINE_KINDS], struct err *e) MUST_CHECK;

/* The largest values held at a moment, at most `room`, largest first. Values that the same kind of
 * operation makes, as large and as often held, are one: layers look alike. Returns how many. */
struct timeline_top {
    uint32_t value;  /* of order->steps: the first of them */
    uint32_t alike;  /* how many */
    uint32_t copies; /* of each: micro-batches and messages that hold one */
    bool kept;
    double bytes; /* of all copies of all */
};
uint32_t timeline_tops(const struct timeline *t, const struct timeline_moment *m,
                       struct timeline_top *out, uint32_t room);

#endif
