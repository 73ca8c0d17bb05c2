#include "engine/search/optimum.h"

#include "engine/decide/strict.h"
#include "engine/exact/exact.h"
#include "engine/exact/limit.h"
#include "engine/plan/plan.h"
#include "engine/problem/problem.h"
#include "hlo/support/err.h"

#include <string.h>

static int find_within(const struct problem *p, const struct game_options *g,
                       const struct strict *fixed, const atomic_bool *stop, struct optimum *out,
                       struct err *e)
{
    struct limit_options o = {.limit = game_limit_bytes(p, g),
                              .variables = g->kind != GAME_ADP,
                              .inputs = g->kind != GAME_OPP,
                              .stop = stop};
    struct limit_result r;
    int rc = exact_limited(&p->step_tables, &p->memory, fixed, &o, &r, e);

    if (rc)
        return rc;
    *out = (struct optimum){.on = r.on, .fits = r.fits, .proven = r.proven, .nodes = r.work};
    return rc;
}

int optimum_find(const struct problem *p, const struct game_options *g, const struct strict *fixed,
                 const atomic_bool *stop, struct optimum *out, struct err *e)
{
    struct exact_options o = {
        .goal = g->reward == GAME_REWARD_PAPER ? EXACT_PAPER_REWARD : EXACT_STEP_TIME,
        .variables = g->kind != GAME_ADP,
        .inputs = g->kind != GAME_OPP,
        .partitioned = PAPER_REWARD_PARTITIONED,
        .replicated = PAPER_REWARD_REPLICATED,
        .stop = stop,
    };
    struct exact_result r;

    if (g->memory_limit != 0)
        return find_within(p, g, fixed, stop, out, e);
    int rc = exact_strict(&p->step_tables, fixed, &o, &r, e);
    if (rc)
        return rc;
    *out = (struct optimum){.on = r.on, .fits = true, .proven = r.proven, .nodes = r.nodes};
    return rc;
}

void optimum_release(struct optimum *o)
{
    free(o->on);
    memset(o, 0, sizeof *o);
}
