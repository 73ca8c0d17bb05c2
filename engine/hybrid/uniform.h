/* engine/hybrid/uniform.h - uniform plans: every stage has the same number of devices, axes and
 * labels, as Megatron-LM, torchtitan and DeepSpeed can express; plain or interleaved.
 *
 * For each slot that divides the devices, and each of its rows (stage_table.h), one program over
 * cuts alone. A row whose plan is close to the best is also cut into v chunks per group of devices,
 * so that the longest chunk is as short as can be, and simulated interleaved. Private to
 * engine/hybrid/. */
#ifndef AUTOMAP_ENGINE_HYBRID_UNIFORM_H
#define AUTOMAP_ENGINE_HYBRID_UNIFORM_H

#include "engine/hybrid/hybrid_instance.h"
#include "engine/pipeline/formula.h"
#include "engine/pipeline/pipe_instance.h"
#include "hlo/support/err.h"

#include <stdatomic.h>
#include <stdbool.h>

struct uniform_plan {
    struct hybrid_plan plan; /* of all chunks in order; chunk c on group c mod (stages / chunks) */
    uint32_t chunks;         /* 1: not interleaved */
    enum pipe_schedule_kind schedule;
    double step_ms; /* simulated */
};

struct uniform_options {
    int schedule;          /* < 0: any */
    bool interleaves;      /* interleaved ones too */
    uint32_t stages;       /* groups of devices; 0: any */
    uint32_t chunks;       /* 1: not interleaved; 2 ..: exactly so many; 0: any */
    bool only_interleaved; /* a plain plan only says whether its row is worth it */
    const atomic_bool *stop;
};

/* Where the best uniform plan on one slot is shorter than out->step_ms, it goes to *out.
 * ERR_MEMORY. */
int uniform_best(const struct hybrid_instance *in, uint32_t slot, const struct uniform_options *o,
                 struct uniform_plan *out, struct err *e) MUST_CHECK;

/* False: no such plan has this slot, whatever its rows cost. */
bool uniform_may_be(const struct hybrid_instance *in, uint32_t slot,
                    const struct uniform_options *o);

/* No interleaved plan on this slot's rows (ideal ones) is shorter, whatever its chunks: M
 * micro-batches of the least work that all sections take on groups of the same devices, shared out
 * evenly over the groups. INFINITY: there are none. O(sections^2 x points). */
double uniform_interleaved_least(const struct hybrid_instance *ideal, uint32_t slot,
                                 const struct uniform_options *o);

/* Bytes of each device of group s of an interleaved plan. */
double uniform_memory(const struct hybrid_instance *in, const struct uniform_plan *p, uint32_t s);

/* Between chunk c and the next of an interleaved plan. */
struct pipe_node uniform_transfer(const struct hybrid_instance *in, const struct hybrid_plan *p,
                                  uint32_t groups, uint32_t c);

#endif
