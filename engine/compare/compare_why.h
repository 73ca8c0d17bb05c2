/* engine/compare/compare_why.h - why a contender is where it is, in sentences. Private to compare.
 */
#ifndef AUTOMAP_ENGINE_COMPARE_COMPARE_WHY_H
#define AUTOMAP_ENGINE_COMPARE_COMPARE_WHY_H

#include "engine/compare/compare.h"
#include "hlo/support/err.h"

/* Fills why of every contender of a ranked comparison. */
int compare_explain(struct comparison *c, struct err *e) MUST_CHECK;

#endif
