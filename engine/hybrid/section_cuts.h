/* engine/hybrid/section_cuts.h - where the forward order is cut into sections: between layers, at
 * the cheapest cut of each gap; without layers the cheapest cut of each of SECTIONS_PLAIN parts of
 * equal work. Private to engine/hybrid/. */
#ifndef AUTOMAP_ENGINE_HYBRID_SECTION_CUTS_H
#define AUTOMAP_ENGINE_HYBRID_SECTION_CUTS_H

#include "engine/pipeline/order.h"
#include "hlo/support/err.h"

#include <stdint.h>

struct section_cuts {
    uint32_t *position; /* [count + 1] of the forward order; the caller's, also on error */
    uint32_t count;
};

/* `asked`: cuts besides those, ascending. ERR_INPUT: one is no cut; ERR_LIMIT: more sections than
 * HYBRID_SECTIONS_MOST. O(operations + asked x sections). */
int section_cuts_new(const struct order *order, const struct order_cuts *cuts,
                     const uint32_t *asked, uint32_t asked_count, struct section_cuts *out,
                     struct err *e) MUST_CHECK;

#endif
