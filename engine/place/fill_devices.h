/* engine/place/fill_devices.h - plans of any sets, proven device by device (bin completion, Korf
 * 2003, with transfers).
 *
 * It picks a position and tries every set that the position's device could hold below the best
 * value; then it picks the next position among the rest. Devices are alike, so no set comes up
 * twice. It drops a set as soon as its work and the nets that are cut in any case reach the best
 * value, or when the rest cannot fit the other devices: by work, including the nets between them,
 * and by count: where no k+1 of some positions fit together, a device takes k of them at most (as
 * Fekete and Schepers 2001, with transfers). It picks the position with the fewest sets, by
 * counting them. */
#ifndef AUTOMAP_ENGINE_PLACE_FILL_DEVICES_H
#define AUTOMAP_ENGINE_PLACE_FILL_DEVICES_H

#include "engine/place/nets.h"
#include "hlo/support/err.h"

#include <stdatomic.h>
#include <stdint.h>

enum { PLACE_COMPLETE_MOST = 64 }; /* positions; with more nothing is tried */

struct place_completing {
    const struct place_rules *rules;
    uint64_t steps; /* positions taken in or left out; 0: 10 million */
    const atomic_bool *stop;
};

/* Whether it applies: sums, passes together, one kind of accelerators on one server, at most one
 * core, no pins, and memory for everything on each device. */
bool place_completes(const struct place_nets *n, const struct place_rules *r);

/* Looks for plans below *value_ms. On *found, device (by position) and *value_ms hold the best;
 * *proven when all sets were tried. ERR_MEMORY. */
int place_complete(const struct place_nets *n, const struct place_completing *c, double *value_ms,
                   uint32_t *device, bool *found, bool *proven, struct err *e) MUST_CHECK;

#endif
