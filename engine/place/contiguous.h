/* engine/place/contiguous.h - the best contiguous plan: an answer at once, then the certificate.
 *
 * Depth-first orders first (DPL: a plan in milliseconds, usually within 1 % of the optimum), then
 * the program over all ideals with that plan as its bound. Where the ideals are too many, a beam of
 * them, and graphs of more than PLACE_POSITIONS_MAX positions are coarsened: then the plan stands
 * with the bound that remains. */
#ifndef AUTOMAP_ENGINE_PLACE_CONTIGUOUS_H
#define AUTOMAP_ENGINE_PLACE_CONTIGUOUS_H

#include "engine/place/family.h"
#include "engine/place/nets.h"
#include "engine/place/operator_graph.h"
#include "engine/place/placement.h"
#include "engine/place/tally.h"
#include "hlo/support/err.h"

enum { PLACE_POSITIONS_MAX = 1024 };

struct place_asking {
    struct place_rules rules;
    uint32_t orders; /* of DPL; 0: 5 */
    uint64_t seed;
    bool dpl_only; /* no certificate is looked for */
    struct place_limits limits;
    uint64_t looks;   /* pairs considered in all, half of what is left at a time; 0: 4 * 10^9 */
    double target_ms; /* > 0: the fewest accelerators that reach this, instead of the best plan */
    /* Called with every better plan, NULL: nobody. It may copy the plan; it may not keep it. */
    void (*better)(void *context, const struct placement *p);
    void *context;
    struct place_tally *tally; /* of the simple ways (baselines.h, place_learner.h); NULL: none */
    const atomic_bool *stop;
};

/* ERR_INFEASIBLE, where no contiguous plan keeps memory, kinds and pins (or reaches the target):
 * proven when the ideals could be listed, else "none was found". The text says what would do: the
 * least memory and the fewest devices (place_needs). ERR_MEMORY. */
int place_contiguous(const struct place_graph *g, const struct place_asking *a,
                     struct placement **out, struct err *e) MUST_CHECK;

#endif
