/* engine/search/optimum.h - the best plan that a game can reach: within its memory limit where it
 * has one, and then with layers decided apart, for layers that are alike may differ there. */
#ifndef AUTOMAP_ENGINE_SEARCH_OPTIMUM_H
#define AUTOMAP_ENGINE_SEARCH_OPTIMUM_H

#include "engine/decide/labels.h"
#include "engine/decide/strict.h"
#include "engine/problem/problem.h"
#include "engine/search/game.h"
#include "hlo/support/err.h"

struct optimum {
    label *on; /* [classes] */
    bool fits; /* false: no plan within the limit was found, and this is the one of least memory */
    bool proven;    /* fits: no plan is better; else: none is within the limit */
    uint64_t nodes; /* cases, an elimination each */
};

/* Under the fixed decisions. ERR_INFEASIBLE where they cannot hold. As exact_strict, exact_limited.
 */
int optimum_find(const struct problem *p, const struct game_options *o, const struct strict *fixed,
                 const atomic_bool *stop, struct optimum *out, struct err *e) MUST_CHECK;
void optimum_release(struct optimum *o);

#endif
