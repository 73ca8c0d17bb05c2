/* engine/place/race_placements.h - all algorithms on one question, each allowed equally many priced
 * plans.
 *
 * Contenders share the seed and may each price equally many plans (tally.h). Those that build a
 * single plan, the exact search among them, run to their end and count as one. Each has its own
 * processor clock, which shows who thinks longer about a plan. They do not see each other's
 * results. All results but the seconds depend on the question and the seed alone. */
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

/* Each prices job->moves plans, 0: PLACE_RACE_PLANS; job->better is not called. `expert`: a given
 * plan, or NULL. After a stop, contenders that did not run say so. ERR_MEMORY. */
int place_race_run(const struct place_graph *g, const struct place_job *job,
                   const struct placement *expert, struct place_race *out,
                   struct err *e) MUST_CHECK;
void place_race_release(struct place_race *r);

#endif
