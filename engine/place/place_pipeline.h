/* engine/place/place_pipeline.h - a contiguous placement of a training step as a pipeline plan.
 *
 * The devices of a contiguous placement take differences of a chain of ideals. Listed device by
 * device, the forward operations are in an order (engine/pipeline/order.h) in which each device has
 * an interval. So the pipeline of that order, cut where the device changes, can be simulated,
 * memory included. The number of micro-batches is the one with the shortest step that fits.
 *
 * What changes:
 *   - time per sample of a stream becomes the step of one batch: filling, draining and the update
 *     count;
 *   - devices are numbered along the chain, and what is left over at the end is idle; or, where
 *     that is shorter or the only way (devices of several kinds), a stage has copies up to where
 *     the next one begins;
 *   - a backward operation stands where the pipeline's order puts it, nearly always with the
 *     forward operation it was placed with. */
#ifndef AUTOMAP_ENGINE_PLACE_PLACE_PIPELINE_H
#define AUTOMAP_ENGINE_PLACE_PLACE_PIPELINE_H

#include "engine/pipeline/pipeline.h"
#include "engine/place/operator_graph.h"
#include "engine/place/placement.h"
#include "engine/problem/problem.h"
#include "hlo/support/err.h"

struct place_pipeline {
    struct pipeline pipeline;
    struct pipeline_plan plan; /* found_by "place" */
    uint32_t raised;           /* forward operations that read a later stage, and went there */
    uint32_t elsewhere;        /* backward operations on another stage than in the placement */
    uint32_t backward;         /* of so many */
};

/* `g` is the graph of `p` (place_graph_of_problem), `q` a plan of it. Of `o` it reads batch,
 * micro-batches, schedule, memory and overlap; where nothing fits, it recomputes forward passes.
 * The caller owns *out and releases out->pipeline. ERR_INFEASIBLE says why it is no pipeline: not
 * contiguous, inference, something on the host, kinds of devices that do not follow the chain; else
 * as pipeline_new. O(pipeline_new x numbers of micro-batches). */
int place_pipeline_new(const struct problem *p, const struct place_graph *g,
                       const struct placement *q, const struct pipeline_options *o,
                       struct place_pipeline *out, struct err *e) MUST_CHECK;

#endif
