/* engine/pipeline/pipe_shares.h - plans of equal shares: what is left of a pipeline when its stages
 * get equal devices, and computation by how fast these are. */
#ifndef AUTOMAP_ENGINE_PIPELINE_PIPE_SHARES_H
#define AUTOMAP_ENGINE_PIPELINE_PIPE_SHARES_H

#include "engine/pipeline/pipe_infer.h"
#include "engine/pipeline/pipe_instance.h"

/* What so many devices do in the time of one, also where there is no whole number of them. */
double pipe_share_speed(const struct pipe_infer *f, double devices);
/* Where the stage that begins at `device` ends, by equal shares, with `left` stages to come. */
uint32_t pipe_share_next(const struct pipe_infer *f, uint32_t device, uint32_t left);
/* Decides cuts `cut` .. by equal shares of what is left, each at the cheapest place within `snap`
 * of all computation. False where they do not ascend. O(stages x (log points + points within)). */
bool pipe_share_complete(const struct pipe_infer *f, struct pipe_plan *p, uint32_t cut,
                         double snap);

#endif
