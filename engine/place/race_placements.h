/* engine/place/race_placements.h - every way to place a graph on one question, kept level in plans
 * priced.
 *
 * Each contender has the same seed and may price as many plans as the others (tally.h); those that
 * build one plan, the exact search among them, run to their end and price one. Time is the
 * processor's, measured for each apart, so one that thinks longer about a plan shows it. Nothing of
 * one contender is known to another. Results but the seconds are functions of the question and the
 * seed. */
#ifndef AUTOMAP_ENGINE_PLACE_RACE_PLACEMENTS_H
#define AUTOMAP_ENGINE_PLACE_RACE_PLACEMENTS_H

#include "engine/place/operator_graph.h"
#include "engine/place/placement.h"
#include "engine/place/solve.h"
#include "engine/place/tally.h"
#include "hlo/support/err.h"

enum { PLACE_LANES_MOST = 16, PLACE_RACE_PLANS = 500 };

struct place_lane {
    const char *name;    /* of the algorithm, or "expert"; static */
    struct placement *p; /* NULL: it found nothing */
    char why[160];       /* then: why */
    bool answers;        /* it keeps all rules and is contiguous where that is asked */
    struct place_tally tally;
    double seconds; /* of its own work */
};

struct place_race {
    struct place_lane lane[PLACE_LANES_MOST]; /* best first; those that do not answer behind */
    uint32_t lanes;
    uint64_t plans;  /* each might price */
    double bound_ms; /* the best that any of them proved */
};

/* job->moves plans each, 0: PLACE_RACE_PLANS; job->better is not called. `expert`: a plan at hand,
 * NULL: none. When stopped, the contenders that did not run say so. ERR_MEMORY. */
int place_race_run(const struct place_graph *g, const struct place_job *job,
                   const struct placement *expert, struct place_race *out,
                   struct err *e) MUST_CHECK;
void place_race_release(struct place_race *r);

#endif
