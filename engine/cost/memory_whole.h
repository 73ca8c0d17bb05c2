/* engine/cost/memory_whole.h - what the partitioner runs whole needs beside the pieces; of
 * engine/cost/memory.h. */
#ifndef AUTOMAP_ENGINE_COST_MEMORY_WHOLE_H
#define AUTOMAP_ENGINE_COST_MEMORY_WHOLE_H

#include "engine/cost/memory.h"

/* Ranges STORED_WHOLE under the model's schedule: an operand from its first use by such an
 * instruction to its last (XLA gathers it once), a result while its instruction runs. Freed by the
 * caller. False: no memory. O(leaves). */
bool memory_whole_find(const struct memory_model *m, struct memory_range **out, uint32_t *count);

#endif
