/* engine/live/clash.h - explains why a set of pins cannot hold: the smallest part of it that
 * clashes. */
#ifndef AUTOMAP_ENGINE_LIVE_CLASH_H
#define AUTOMAP_ENGINE_LIVE_CLASH_H

#include "engine/decide/labels.h"
#include "engine/live/pins_and_undo.h"
#include "hlo/support/err.h"

/* Whether pins can hold together. */
bool pins_hold(const struct labels *l, const struct pinned *pins, size_t count);

/* Given `pins` that clash, but would not without the last wish, finds few wishes that clash. Pin n
 * belongs to wish wish[n], 0 .. wishes - 1 (one wish may pin several classes). Tries the last wish
 * alone, then with each other one, then drops wishes one by one while the rest still clashes: the
 * result is smallest up to two wishes, irreducible beyond. Sets `keep[wishes]` to 1 for those.
 * O(wishes x pins). */
int pins_clash(const struct labels *l, const struct pinned *pins, const uint32_t *wish,
               size_t count, uint32_t wishes, uint8_t *keep, struct err *e) MUST_CHECK;

#endif
