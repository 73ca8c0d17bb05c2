/* engine/exact/exact_overlap.h - the best strict plan when communication overlaps computation.
 * Private to engine/exact. */
#ifndef AUTOMAP_ENGINE_EXACT_EXACT_OVERLAP_H
#define AUTOMAP_ENGINE_EXACT_EXACT_OVERLAP_H

#include "engine/cost/step_tables.h"
#include "engine/decide/strict.h"
#include "engine/exact/eliminate.h"
#include "engine/exact/exact.h"
#include "hlo/support/err.h"

typedef int exact_solve(const struct step_tables *t, const struct strict *fixed,
                        const struct exact_options *o, struct exact_result *out, struct err *e);

/* Takes in `out` the best plan without the excess, from `solve`, and leaves the best plan with it.
 * On error `out` is still valid and must be released. */
int exact_overlap(const struct step_tables *t, const struct strict *fixed,
                  const struct exact_options *o, struct exact_result *out, exact_solve *solve,
                  struct err *e) MUST_CHECK;

#endif
