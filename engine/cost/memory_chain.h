/* engine/cost/memory_chain.h - where a peak is: a position in the entry's schedule, one in the
 * computation that runs there, and so on inwards. What is live at the peak is live at any of
 * these. */
#ifndef AUTOMAP_ENGINE_COST_MEMORY_CHAIN_H
#define AUTOMAP_ENGINE_COST_MEMORY_CHAIN_H

#include "engine/cost/memory.h"

enum { MEMORY_CHAIN_MOST = 16 };

struct memory_chain {
    uint32_t at[MEMORY_CHAIN_MOST], depth;
};

/* Finds the peak from what memory_sweep left in `scratch` and `at`. */
void memory_chain_find(const struct memory_model *m, const double *scratch, const uint32_t *at,
                       struct memory_chain *out);
bool memory_chain_equals(const struct memory_chain *a, const struct memory_chain *b);
/* Calls `each` with every range that is live there, arguments among them. */
void memory_chain_each(const struct memory_model *m, const struct memory_chain *c,
                       void (*each)(void *self, uint32_t range), void *self);

#endif
