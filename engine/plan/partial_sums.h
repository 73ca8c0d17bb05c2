/* engine/plan/partial_sums.h - which partial sums of a plan Shardy can be told about: those of a
 * relaxed plan, and those that a strict plan joins (cost/joined_sums.h).
 *
 * `unreduced={"x"}` leaves a sum uncombined along an axis until a constraint without it. XLA
 * (jaxlib 0.10.2) trusts it, and silently computes wrong numbers where such a sum meets a value
 * that is not one: in 7 of 49 cases tried. So it is used only where it is known to be right: the
 * sum comes from products, convolutions, sums from zero or additions into zeros (scatter), and
 * passes through linear instructions whose other summands are unreduced too, or zero. All uses must
 * be in the same computation, and none may be a tuple, a loop or a call. Any other partial result
 * is combined where it arises. */
#ifndef AUTOMAP_ENGINE_PLAN_PARTIAL_SUMS_H
#define AUTOMAP_ENGINE_PLAN_PARTIAL_SUMS_H

#include "engine/decide/labels.h"
#include "engine/plan/plan.h"
#include "hlo/support/err.h"

struct partial_sums {
    label *on;        /* [instructions] axes along which a result is written unreduced; NULL: a
                         strict plan that reduces at once */
    label *ends;      /* [instructions] of a strict plan: those of them combined right behind */
    uint32_t dropped; /* instructions that pass sums on in the plan, but not in the export */
};

/* Release it even on error. O(rounds x operands), rounds at most the longest chain of such
 * instructions. */
int partial_sums_new(const struct plan *p, struct partial_sums *out, struct err *e) MUST_CHECK;
void partial_sums_release(struct partial_sums *s);

#endif
