/* engine/exact/exact.h - the proven best strict plan.
 *
 * Costs and rewards are sums of small tables over classes that meet, so the optimum comes from
 * bucket elimination (Dechter 1999): take the class with the smallest joint table, minimise it out,
 * go on. Exact for any number of axes. Where a joint table would pass EXACT_TABLE_MOST entries the
 * class with most neighbours is fixed to each of its labels in turn (conditioning), best bound
 * first, with pruning; if EXACT_NODES_MOST such cases are not enough the best found is given with
 * the bound that remains.
 *
 * With overlap the step has an excess, max(0, E), E a sum like the others. Step + w E, 0 <= w <= 1,
 * is a sum whose least is a lower bound; its plan is the best when the excess it leaves out is
 * none. Else w is bisected to where E turns, and what the bound leaves open is searched case by
 * case (exact_overlap.c), EXACT_CASES_MOST at most. */
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
    bool variables,
        inputs; /* which classes may be split: those with dims of variables, of inputs; both, for
                   the step time: every class, those too that only hold dims in between */
    double partitioned,
        replicated; /* paper reward per dim in reach; used by EXACT_PAPER_REWARD: 0.4, 0.1 */
    double
        excess_weight; /* of step times, 0 to 1: how much of the excess of overlap counts, were it
                          not cut off at 0 (cost/overlap.h). exact_strict finds it; 0 elsewhere */
    size_t table_most; /* lower limits than the above, for those who study the fallback; 0: the
                          above */
    uint64_t nodes_most;
    const atomic_bool *stop; /* set elsewhere: the best of what was looked into; NULL: never */
};

struct exact_result {
    label *on;    /* [classes] */
    double value; /* step_ms, or the reward */
    double bound; /* no plan is better than this; equals value when proven */
    bool proven;
    uint32_t width; /* classes of the largest joint table */
    uint64_t nodes; /* cases of conditioning; 1: elimination alone */
};

/* `fixed` holds decisions that must stay (pins); NULL: none. O(sum of joint tables). */
int exact_strict(const struct step_tables *t, const struct strict *fixed,
                 const struct exact_options *o, struct exact_result *out, struct err *e) MUST_CHECK;
void exact_release(struct exact_result *r);

#endif
