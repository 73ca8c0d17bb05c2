/* engine/cost/memory_beside.h - what instructions need beside their operands and results while they
 * run: operands in another order, index arrays (fusion.h), workspaces of kernels. Private to
 * engine/cost. */
#ifndef AUTOMAP_ENGINE_COST_MEMORY_BESIDE_H
#define AUTOMAP_ENGINE_COST_MEMORY_BESIDE_H

#include "engine/cost/memory.h"

#include <stdbool.h>
#include <stdint.h>

/* Lists their ranges. False: out of memory; free *list in any case. O(instructions). */
bool memory_beside_find(const struct memory_model *model, struct memory_range **list,
                        uint32_t *count);

#endif
