/* engine/doctor/walks.h - ways from split to split in several steps, where the partitioner, left
 * alone, gathers the value whole. Private to engine/doctor. */
#ifndef AUTOMAP_ENGINE_DOCTOR_WALKS_H
#define AUTOMAP_ENGINE_DOCTOR_WALKS_H

#include "engine/problem/problem.h"
#include "engine/relaxed/relaxed.h"

#include <stdbool.h>
#include <stdint.h>

struct walk {
    uint32_t count; /* steps; at least one, also where it is no such way */
    double ms;
    uint32_t whole_count; /* collectives that gather the value whole instead */
    double whole_ms;
};

/* Whether the steps that begin with reshard `k` of the plan are such a way, and shorter than to
 * gather the value. The next way begins at k + out->count. */
bool walk_at(const struct problem *p, const struct relaxed_plan *plan, uint32_t k,
             struct walk *out);

#endif
