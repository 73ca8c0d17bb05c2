/* engine/plan/cost_parts.h - the computation and communication of a plan, broken down by kind of
 * work.
 *
 * The computing parts add up to the plan's computation; communication is the plan's. Whatever
 * belongs to the update (training.h, is_once) is one part. O(instructions). */
#ifndef AUTOMAP_ENGINE_PLAN_COST_PARTS_H
#define AUTOMAP_ENGINE_PLAN_COST_PARTS_H

#include "engine/plan/plan.h"
#include "hlo/module/hlo.h"

enum cost_part {
    PART_PRODUCTS,     /* matrix products */
    PART_CONVOLUTIONS, /* */
    PART_KERNELS,      /* custom-calls and other opaque kernels: attention, factorisations */
    PART_MOVEMENT,     /* everything else in the passes: memory traffic of element-wise work, and
                          adding up gradients over micro-batches */
    PART_UPDATE,       /* of variables and optimizer state */
    PART_COMMUNICATION,
    PART_COUNT
};
extern const char *const cost_part_names[PART_COUNT];

struct cost_parts {
    double ms[PART_COUNT]; /* of one step */
};
struct cost_parts plan_cost_parts(const struct plan *p);

/* Compute time of one instruction under the plan, ms per step. */
double plan_compute_ms(const struct plan *p, hlo_id id);

#endif
