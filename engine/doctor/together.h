/* engine/doctor/together.h - the changes that are offered for several collectives, in one plan.
 * Private to engine/doctor. */
#ifndef AUTOMAP_ENGINE_DOCTOR_TOGETHER_H
#define AUTOMAP_ENGINE_DOCTOR_TOGETHER_H

#include "engine/doctor/wishes.h"
#include "engine/relaxed/relaxed.h"
#include "engine/relaxed/status.h"
#include "hlo/support/err.h"
#include "hlo/support/stop.h"

#include <stdbool.h>
#include <stdint.h>

/* What is offered for one collective: shardings that become others. */
enum { OFFER_MOST = 12 };
struct offer {
    double saves_ms; /* of the step, planned alone */
    uint32_t rank;   /* in which order equal ones come */
    uint32_t count;
    uint32_t wish[OFFER_MOST];
    status to[OFFER_MOST];
};

struct together {
    struct relaxed *r;
    const struct doctor_wish *wishes; /* [wish_count] */
    uint32_t wish_count;
    double step_ms;  /* with the shardings as they are */
    uint32_t solves; /* may be made at most; at least two are */
    const atomic_bool *stop;

    struct relaxed_plan plan; /* the best; the caller's */
    bool has_plan;
    /* Offers of which a sharding is in the plan; those that change what none before them has
     * changed; of these, those that no plan was made with: changes + untried <= offered. */
    uint32_t changes, offered, untried;
};

/* The plan with all offers, where no single one saves more; else offers are taken in, the best
 * first, as long as the step gets shorter. Of several that change one sharding the first counts.
 * Sorts `offers`. No plan, and that is no error: none could be made. ERR_MEMORY.
 * O(count log count) and the solves. */
int together_solve(struct together *t, struct offer *offers, uint32_t count,
                   struct err *e) MUST_CHECK;

#endif
