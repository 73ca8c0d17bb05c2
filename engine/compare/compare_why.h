/* engine/compare/compare_why.h - explains the rank of each contender in sentences. Private to
 * engine/compare. */
#ifndef AUTOMAP_ENGINE_COMPARE_COMPARE_WHY_H
#define AUTOMAP_ENGINE_COMPARE_COMPARE_WHY_H

#include "engine/compare/compare.h"
#include "hlo/support/err.h"

/* Fills `why` of every contender of a ranked comparison. */
int compare_explain(struct comparison *c, struct err *e) MUST_CHECK;

#endif
