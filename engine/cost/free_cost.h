/* engine/cost/free_cost.h - what free values cost that every device has to make whole.
 *
 * A use makes the part of a free value that it wants as part of its own work, which costs nothing
 * beside it. What can only be made whole (hlo_whole_values: random bits that come out of a loop)
 * every device computes in full, however the step is split: the roofline of its operations, of what
 * its loops carry, read and written once a trip, and of what it stores. O(leaves). */
#ifndef AUTOMAP_ENGINE_COST_FREE_COST_H
#define AUTOMAP_ENGINE_COST_FREE_COST_H

#include "engine/cost/step_tables.h"
#include "hlo/module/hlo.h"

/* All executions of instruction `id` in a step; nothing unless it makes free values whole. */
struct instruction_cost free_cost(const struct step_tables *t, hlo_id id);

#endif
