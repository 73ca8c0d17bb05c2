/* engine/place/contiguous.h - the best contiguous plan: a quick answer first, then the proof.
 *
 * Depth-first orders first (DPL: a plan in milliseconds, usually within 1 % of the optimum), then
 * the program over all ideals with that plan as its bound. Where there are too many ideals it takes
 * a beam of them, and it coarsens graphs of more than PLACE_POSITIONS_MAX positions; then the plan
 * comes with the bound that remains. */
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
    bool dpl_only;     /* no certificate is looked for */
    bool as_published; /* one order, that of the published code (place_last_ready) */
    struct place_limits limits;
    /* Pairs considered in all, half of what is left at a time; 0: 4 * 10^9. However few they are,
     * one order is looked through to its end for a first plan: O(positions^2) pairs. */
    uint64_t looks;
    double target_ms; /* > 0: the fewest accelerators that reach this, instead of the best plan */
    /* Called with every better plan, NULL: nobody. It may copy the plan; it may not keep it. */
    void (*better)(void *context, const struct placement *p);
    void *context;
    struct place_tally *tally; /* of the simple ways (baselines.h, place_learner.h); NULL: none */
    const atomic_bool *stop;
};

/* ERR_INFEASIBLE: no contiguous plan keeps memory, kinds and pins (or reaches the target), proven
 * when all ideals could be listed, else "none was found". The message says how much memory or how
 * many devices would be enough (place_needs). ERR_MEMORY. */
int place_contiguous(const struct place_graph *g, const struct place_asking *a,
                     struct placement **out, struct err *e) MUST_CHECK;

#endif
