/* engine/search/optimum.h - the best plan that a game can reach. With a memory limit: the best
 * within it, with layers decided separately, since equal layers may differ there. */
#ifndef AUTOMAP_ENGINE_SEARCH_OPTIMUM_H
#define AUTOMAP_ENGINE_SEARCH_OPTIMUM_H

#include "engine/decide/labels.h"
#include "engine/decide/strict.h"
#include "engine/problem/problem.h"
#include "engine/search/game.h"
#include "hlo/support/err.h"

struct optimum {
    label *on;      /* [classes] */
    bool fits;      /* false: found no plan within the limit; this is the one of least memory */
    bool proven;    /* fits: no plan is better; else: no plan is within the limit */
    uint64_t nodes; /* cases; each is one elimination */
};

/* The optimum under the fixed decisions, from exact_strict or exact_limited. ERR_INFEASIBLE: they
 * cannot hold. */
int optimum_find(const struct problem *p, const struct game_options *o, const struct strict *fixed,
                 const atomic_bool *stop, struct optimum *out, struct err *e) MUST_CHECK;
void optimum_release(struct optimum *o);

#endif
