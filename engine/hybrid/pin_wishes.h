/* engine/hybrid/pin_wishes.h - pins by the names of layers (hybrid_pins.h). */
#ifndef AUTOMAP_ENGINE_HYBRID_PIN_WISHES_H
#define AUTOMAP_ENGINE_HYBRID_PIN_WISHES_H

#include "engine/cluster/cluster.h"
#include "engine/hybrid/hybrid_pins.h"
#include "engine/hybrid/sections.h"
#include "hlo/support/err.h"

/* ERR_INPUT naming the wish: no such layer or server, a number that is none. ERR_LIMIT: more than
 * HYBRID_PINS_MOST. O(wishes x sections). */
int hybrid_pins_make(const struct sections *s, const struct cluster *c,
                     const struct hybrid_wish *wish, uint32_t count, struct hybrid_pins *out,
                     struct err *e) MUST_CHECK;

#endif
