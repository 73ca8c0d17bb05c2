/* engine/cost/fold.h - classes that play the same role in repeated layers, so that one decision
 * serves them all.
 *
 * Colour refinement on the classes: two classes share a colour if they have equal sizes, equal
 * numbers of dims of variables and inputs, and, table by table, equal costs towards classes of
 * equal colours. A colour whose classes meet each other is broken up. So deciding a whole colour
 * alike never clashes with itself, and costs what the tables say. */
#ifndef AUTOMAP_ENGINE_COST_FOLD_H
#define AUTOMAP_ENGINE_COST_FOLD_H

#include "engine/cost/step_tables.h"
#include "hlo/support/err.h"

struct fold {
    uint32_t *colour; /* [classes] */
    uint32_t count;
};

/* `on` false: every class its own colour. O(rounds x terms log terms). */
int fold_new(const struct step_tables *t, bool on, struct fold *out, struct err *e) MUST_CHECK;
void fold_release(struct fold *f);

#endif
