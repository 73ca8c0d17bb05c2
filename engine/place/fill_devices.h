/* engine/place/fill_devices.h - plans of any sets, proven device by device (bin completion, Korf
 * 2003, with transfers).
 *
 * A position is picked, and every set that its device could hold below the best value is gone
 * through; then the next position of what is left. Devices are alike, so nothing is met twice. A
 * set is left as soon as its work and the nets sure to be cut reach the best value, or what it
 * leaves out cannot fit the other devices: by work, with the nets
 * between them, and by count: of positions of which no k+1 go together below the best, a device
 * takes k at most (as Fekete and Schepers 2001, with transfers). The position
 * picked is the one with the fewest such sets, found out by looking. */
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

/* Is this a question it answers? Sums, passes together, one kind of accelerators on one server, a
 * core at most, no pins, memory for everything on each device. */
bool place_completes(const struct place_nets *n, const struct place_rules *r);

/* Better plans than *value_ms: device (by position) and *value_ms are set to the best, *found says
 * so; *proven when all were gone through. ERR_MEMORY. */
int place_complete(const struct place_nets *n, const struct place_completing *c, double *value_ms,
                   uint32_t *device, bool *found, bool *proven, struct err *e) MUST_CHECK;

#endif
