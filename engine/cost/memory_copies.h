/* engine/cost/memory_copies.h - variables that are copied before their update. Private to
 * engine/cost.
 *
 * An update that takes its variable's place overwrites what a kernel may still read; where the
 * update does not depend on all that read the variable, XLA copies it first (copy insertion). */
#ifndef AUTOMAP_ENGINE_COST_MEMORY_COPIES_H
#define AUTOMAP_ENGINE_COST_MEMORY_COPIES_H

#include "engine/cost/memory.h"

#include <stdbool.h>
#include <stdint.h>

/* Lists the roles params with such a copy. is_placed[values]: buffers that end in an argument's
 * place. False: out of memory. `*list` is the caller's to free, on failure too.
 * O(instructions x variables / 64), at most 2^14 variables. */
bool memory_copies_find(const struct memory_model *model, const uint8_t *is_placed, uint32_t **list,
                        uint32_t *count);

#endif
