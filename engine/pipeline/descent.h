/* engine/pipeline/descent.h - shortens pipelines by small changes, one priced plan at a time.
 *
 * A goal defines the length: L by the formula, or the simulated makespan of the options' schedule.
 * A plan that is not allowed costs INFINITY. One that does not fit costs PIPE_UNFIT_MS x (1 + the
 * excess of its stages over their limits, in limits), so descent leads back to plans that fit.
 * Descent tries moves in a fixed round - a pivot 1, 2, 4 or 8 points, a device cut 1 or 2 devices,
 * two neighbouring pivots together, a stage joined to the next - and keeps each that helps; it ends
 * when a whole round brought nothing. Deterministic. */
#ifndef AUTOMAP_ENGINE_PIPELINE_DESCENT_H
#define AUTOMAP_ENGINE_PIPELINE_DESCENT_H

#include "engine/pipeline/pipe_instance.h"
#include "engine/pipeline/simulation.h"

#include <stdatomic.h>

struct pipe_goal {
    const struct pipe_instance *in;
    bool simulate;             /* makespan in place of L */
    const uint8_t *device_cut; /* [devices + 1] borrowed; NULL: anywhere */
    struct pipe_pins pins;
    uint32_t stages;         /* exactly; 0: any */
    bool variables;          /* every stage holds a variable */
    const atomic_bool *stop; /* set elsewhere: descent ends where it is; NULL: never */
    uint64_t evaluations;    /* plans priced */
};
#define PIPE_UNFIT_MS 1e15
double pipe_goal_price(struct pipe_goal *g, const struct pipe_plan *p);

struct pipe_descent {
    struct pipe_plan plan; /* the shortest so far */
    double value;
    uint32_t next, failed; /* the move to try, moves in a row that gained nothing */
};
/* `value` is the plan's price. */
void pipe_descent_start(struct pipe_descent *d, const struct pipe_plan *p, double value);
/* Prices one plan, or fewer when moves are impossible; false: at the end, nothing was priced.
 * *tried (may be NULL) is the plan, *value its price. */
bool pipe_descent_step(struct pipe_descent *d, struct pipe_goal *g, struct pipe_plan *tried,
                       double *value);
/* To the end, until it is stopped, or until the goal has priced `most` plans in all (0: no limit).
 */
void pipe_descend(struct pipe_descent *d, struct pipe_goal *g, uint64_t most);

/* ---- the instant answer ---- */
/* Beginnings: for each count of stages up to max(8, 2 servers), or the goal's, equal parts of the
 * servers or, with more stages than servers, of the devices; pivots by the closed form
 * t[s+1] / t[s] = (M - 1) / M, which is optimal without communication, and by speed alone. Fills
 * `out` with up to `room` plans and returns how many; they keep the pins, and may not fit. */
uint32_t pipe_beginnings(const struct pipe_goal *g, struct pipe_plan *out, uint32_t room);

/* The best of the beginnings, and descent from the best `tries` of them. False: none fits. */
bool pipe_instant(struct pipe_goal *g, uint32_t tries, struct pipe_descent *out);

#endif
