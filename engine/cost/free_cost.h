/* engine/cost/free_cost.h - the cost of free values that every device has to make whole.
 *
 * A use makes its part of a free value within its own work, at no extra cost. What can only be made
 * whole (hlo_whole_values: random bits from a loop), every device computes in full, however the
 * step is split. Its cost is the roofline of its operations, of loop state read and written once a
 * trip, and of what it stores. O(leaves). */
#ifndef AUTOMAP_ENGINE_COST_FREE_COST_H
#define AUTOMAP_ENGINE_COST_FREE_COST_H

#include "engine/cost/step_tables.h"
#include "hlo/module/hlo.h"

/* All executions of instruction `id` in a step; 0 unless it makes free values whole. */
struct instruction_cost free_cost(const struct step_tables *t, hlo_id id);

#endif
