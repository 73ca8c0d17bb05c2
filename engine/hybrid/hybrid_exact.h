/* engine/hybrid/hybrid_exact.h - the hybrid plan of smallest L within memory, proven over all cuts,
 * slots and points of the tables.
 *
 * The program of pipe_exact.h, from the last stage to the first, over the same three figures of
 * what lies behind. A state is the first section, the first device, the slot and the count of
 * stages; a stage adds one of its front's points. It drops states whose bound exceeds the best
 * known plan: the part before takes at least the least forward and backward time of any partition
 * of it, and one of its stages at least the mean work per device.
 *
 * L does not bound a schedule's time: it makes the last backward pass wait for a stage behind the
 * slowest one, while the all-reduce of a later stage need not wait. Without that term, the maximum
 * over s <= Q alone (Z = 0), it is the length of a path through the passes of any schedule that
 * runs F and B of a stage one at a time: `is_bound`. */
#ifndef AUTOMAP_ENGINE_HYBRID_HYBRID_EXACT_H
#define AUTOMAP_ENGINE_HYBRID_HYBRID_EXACT_H

#include "engine/hybrid/hybrid_instance.h"
#include "hlo/support/err.h"

#include <stdatomic.h>

struct hybrid_exact_options {
    uint32_t stages;       /* exactly so many; 0: any number */
    uint32_t slots;        /* bit s: slot s may be used; 0: all */
    const uint8_t *no_cut; /* [sections + 1] 1: no stage begins there; NULL: anywhere */
    double known_ms;       /* what cannot be shorter is dropped; 0: nothing known */
    double near;           /* plans of L up to so much over the least are kept too: 0.10; 0: none */
    const uint32_t *only;  /* the one point of each front that may be taken; NULL: any */
    bool is_bound;         /* the least that any schedule can take, in place of L: see above */
    uint32_t set_most;     /* entries of one set; 0: 400. Past it: not certified */
    uint64_t transitions_most; /* 0: 4 x 10^8. Past it: ended, not certified */
    const atomic_bool *stop;   /* NULL: never */
};

enum { HYBRID_NEARBY_MOST = 256 };
struct hybrid_exact_result {
    bool found; /* false: none is shorter than known_ms */
    bool ended; /* stopped, or too many transitions or entries */
    bool
        certified; /* the plan is the shortest; when none was found, there is none below known_ms */
    struct hybrid_plan plan;
    double length_ms;
    /* the plan and those near it, in order of L: the shortest of every way to begin and count of
     * stages, and what was kept beside them */
    struct hybrid_plan *nearby; /* [nearby_count]; hybrid_exact_release */
    uint32_t nearby_count;
    uint64_t transitions, entries;
    uint32_t set_most;
};

/* Memory is counted for options.schedule of the instance. ERR_MEMORY. */
int hybrid_exact_solve(const struct hybrid_instance *in, const struct hybrid_exact_options *o,
                       struct hybrid_exact_result *out, struct err *e) MUST_CHECK;
void hybrid_exact_release(struct hybrid_exact_result *r);

#endif
