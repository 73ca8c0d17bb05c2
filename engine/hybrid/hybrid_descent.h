/* engine/hybrid/hybrid_descent.h - makes plans shorter as they are played, by small changes.
 *
 * A change, then the best points of the stages it touches:
 *     a cut moves by a section, or two cuts do at once;
 *     a stage takes another point;
 *     two neighbours share out their devices, and their sections, in another way;
 *     two neighbours become one stage; a stage becomes two;
 *     the first stage begins at another device.
 * The first change that is shorter is taken, until none is. A plan is simulated only where the
 * longest path through its passes, which no schedule is below, leaves it a chance. Private to
 * engine/hybrid/. */
#ifndef AUTOMAP_ENGINE_HYBRID_HYBRID_DESCENT_H
#define AUTOMAP_ENGINE_HYBRID_HYBRID_DESCENT_H

#include "engine/hybrid/hybrid_instance.h"
#include "engine/pipeline/pipe_instance.h"

#include <stdatomic.h>

/* A plan as played. */
struct hybrid_found {
    struct hybrid_plan plan;
    double ms; /* INFINITY: none */
    enum pipe_schedule_kind schedule;
};

struct hybrid_descent_options {
    int schedule;       /* < 0: the one in which it is shortest */
    uint32_t stages;    /* exactly so many; 0: any */
    double passes_most; /* simulated, of all plans; 0: 10^7 */
    const atomic_bool *stop;
};

/* Down from the best of `plans`: those of the shortest HYBRID_DESCENTS of different devices.
 * Out of time it ends where it is. O(passes). */
enum { HYBRID_DESCENTS = 24 };
struct hybrid_found hybrid_descend(const struct hybrid_instance *in,
                                   const struct hybrid_plan *plans, uint32_t count,
                                   const struct hybrid_descent_options *o);

#endif
