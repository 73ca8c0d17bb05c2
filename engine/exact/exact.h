/* engine/exact/exact.h - the proven best strict plan.
 *
 * Costs and rewards are sums of small tables over classes that meet, so the optimum comes from
 * bucket elimination (Dechter 1999): take the class with the smallest joint table, minimise it out,
 * repeat. Exact for any number of axes. Where a joint table would exceed EXACT_TABLE_MOST entries,
 * the class with most neighbours is fixed to each of its labels in turn (conditioning), best bound
 * first, with pruning. After EXACT_NODES_MOST such cases it returns the best found and the
 * remaining bound.
 *
 * With overlap the step has an excess, max(0, E), E a sum like the others. Step + w E, 0 <= w <= 1,
 * is a sum whose minimum is a lower bound; its plan is optimal if it leaves out no excess.
 * Otherwise w is bisected to where E changes sign, and the remaining gap is searched case by case
 * (exact_overlap.c), at most EXACT_CASES_MOST. */
#ifndef AUTOMAP_ENGINE_EXACT_EXACT_H
#define AUTOMAP_ENGINE_EXACT_EXACT_H

#include "engine/cost/step_tables.h"
#include "engine/decide/labels.h"
#include "engine/decide/strict.h"
#include "hlo/support/err.h"
#include "hlo/support/stop.h"

enum {
    EXACT_TABLE_MOST = 1 << 20, /* entries of one joint table: 8 MB */
    EXACT_NODES_MOST = 1 << 12,
    EXACT_CASES_MOST = 256
};

enum exact_goal { EXACT_STEP_TIME, EXACT_PAPER_REWARD };

struct exact_options {
    enum exact_goal goal;
    bool variables, inputs; /* which classes may be split: those with dims of variables; of inputs.
                               Both, for the step time: every class, even without either */
    double partitioned,
        replicated;       /* EXACT_PAPER_REWARD: reward per dim that may be split: 0.4, 0.1 */
    double excess_weight; /* the weight w above, 0 to 1. exact_strict finds it; pass 0 */
    size_t table_most;    /* lower limits than the above, to study the fallback; 0: those above */
    uint64_t nodes_most;
    const atomic_bool *stop; /* once set, returns the best so far; NULL: never */
};

struct exact_result {
    label *on;    /* [classes] */
    double value; /* step_ms, or the reward */
    double bound; /* no plan is better than this; equals value when proven */
    bool proven;
    uint32_t width; /* classes of the largest joint table */
    uint64_t nodes; /* cases of conditioning; 1: elimination alone */
};

/* `fixed`: decisions that must stay (pins); NULL: none. O(sum of joint tables). */
int exact_strict(const struct step_tables *t, const struct strict *fixed,
                 const struct exact_options *o, struct exact_result *out, struct err *e) MUST_CHECK;
void exact_release(struct exact_result *r);

#endif
