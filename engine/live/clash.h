/* engine/live/clash.h - why a set of pins cannot hold: the smallest part of it that clashes. */
#ifndef AUTOMAP_ENGINE_LIVE_CLASH_H
#define AUTOMAP_ENGINE_LIVE_CLASH_H

#include "engine/decide/labels.h"
#include "engine/live/pins_and_undo.h"
#include "hlo/support/err.h"

/* Whether pins can hold together. */
bool pins_hold(const struct labels *l, const struct pinned *pins, size_t count);

/* `pins` clash, and without the last wish they would not: finds the fewest wishes that clash. Wish
 * of pin n: wish[n], 0 .. wishes - 1 (one wish may pin several classes). Tries the last alone, then
 * it with each other one, then drops wishes one by one as long as the rest still clashes: smallest
 * up to two, irreducible beyond. `keep[wishes]` is set to 1 for those. O(wishes x pins). */
int pins_clash(const struct labels *l, const struct pinned *pins, const uint32_t *wish,
               size_t count, uint32_t wishes, uint8_t *keep, struct err *e) MUST_CHECK;

#endif
