/* engine/place/partial_placement.h - an assignment that is still being made: what devices take at
 * least.
 *
 * A device's load so far counts the work placed on it and every net that is cut already, whatever
 * comes. Both only grow as positions are placed, so the loads are bounds of every completion.
 * place_partial_put and _take undo each other in any order; O(nets of the position x devices). */
#ifndef AUTOMAP_ENGINE_PLACE_PARTIAL_PLACEMENT_H
#define AUTOMAP_ENGINE_PLACE_PARTIAL_PLACEMENT_H

#include "engine/place/nets.h"
#include "hlo/support/err.h"

struct place_partial {
    const struct place_nets *n;
    const struct place_rules *rules;
    uint32_t devices, accelerators;
    bool equal_devices;      /* those of a type are the same but for their names */
    uint32_t *type_of;       /* by device */
    uint32_t *device;        /* by position; PLACE_NONE: open */
    struct place_load *load; /* by device; cut nets are all in in_ms */
    uint32_t *pins;          /* [net * devices + device] of placed positions */
    uint32_t *spread;        /* by net: devices with a placed pin */
};

int place_partial_new(const struct place_nets *n, const struct place_rules *rules,
                      struct place_partial **out, struct err *e) MUST_CHECK;
void place_partial_free(struct place_partial *t); /* NULL is fine */

void place_partial_put(struct place_partial *t, uint32_t p, uint32_t d);
void place_partial_take(struct place_partial *t, uint32_t p);

/* May p, which is open, be on d: by kind, pins, pairs apart, and what memory is left? */
bool place_partial_allows(const struct place_partial *t, uint32_t p, uint32_t d);

/* At least what a device with such parts takes: over a link used both ways, half of what it
 * moves. */
double place_partial_least(const struct place_partial *t, double compute, double moved);

static inline double place_partial_load(const struct place_partial *t, uint32_t d)
{
    const struct place_load *l = &t->load[d];

    return place_partial_least(t, l->compute_ms[0] + l->compute_ms[1], l->in_ms[0] + l->in_ms[1]);
}

/* No completion is below this. O(devices). */
double place_partial_value(const struct place_partial *t);

#endif
