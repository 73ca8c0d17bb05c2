/* engine/place/chain_hull.h - what a contiguous plan must be like, given the devices of some
 * positions.
 *
 * Devices stand in an order: d comes before e where a position of d precedes one of e. So d holds
 * what stands between two of its positions; it lacks what precedes a position of a device before
 * it, and what follows one of a device behind it. */
#ifndef AUTOMAP_ENGINE_PLACE_CHAIN_HULL_H
#define AUTOMAP_ENGINE_PLACE_CHAIN_HULL_H

#include "engine/place/prepare.h"
#include "hlo/support/err.h"

struct place_hull;

/* p is borrowed. O(positions x edges / 64). */
int place_hull_new(const struct place_prepared *p, struct place_hull **out,
                   struct err *e) MUST_CHECK;
void place_hull_free(struct place_hull *h); /* NULL is fine */

/* device by position, PLACE_NONE: open; at most 64 devices. False: no contiguous plan is like that.
 * O(positions x positions / 64 + devices^3). */
bool place_hull_set(struct place_hull *h, const uint32_t *device, uint32_t devices);

/* Of the assignment that was set: positions that d must hold, or must lack, marked in `where` as
 * PLACE_CUT_IN or PLACE_CUT_OUT (place_cut.h). */
void place_hull_add(const struct place_hull *h, uint32_t d, uint8_t *where);
/* Does a set of positions hold what d must hold, and lack what it must lack? */
bool place_hull_agrees(const struct place_hull *h, uint32_t d, const uint64_t *set);

#endif
