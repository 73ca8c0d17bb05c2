/* engine/plan/partial_sums.h - which partial sums of a relaxed plan can be said to Shardy.
 *
 * `unreduced={"x"}` keeps a sum apart along an axis until a constraint without it. XLA (jaxlib
 * 0.10.2) takes the word for it and gives wrong numbers, without an error, where the sum meets what
 * is no such sum: of 49 cases tried 7. So it is said only where it was proved right: made by
 * products, convolutions and sums from zero; passed on by what is linear, with every other summand
 * unreduced too, or zero. All uses must be in the same computation and none a tuple, a loop or a
 * call. What is left out is combined where it arises. */
#ifndef AUTOMAP_ENGINE_PLAN_PARTIAL_SUMS_H
#define AUTOMAP_ENGINE_PLAN_PARTIAL_SUMS_H

#include "engine/decide/labels.h"
#include "engine/plan/plan.h"
#include "hlo/support/err.h"

/* [instructions] the axes along which a result is written unreduced; freed by the caller. NULL of a
 * strict plan. `dropped` gets how many instructions pass partial results on in the plan alone.
 * O(rounds x operands), rounds at most the longest chain of such instructions. */
int partial_sums_new(const struct plan *p, label **out, uint32_t *dropped,
                     struct err *e) MUST_CHECK;

#endif
