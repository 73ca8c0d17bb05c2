#include "engine/place/two_levels.h"

#include "engine/place/chain_program.h"
#include "engine/place/coarsen.h"
#include "engine/place/family.h"
#include "engine/place/operator_graph.h"
#include "engine/place/placement.h"
#include "engine/place/prepare.h"
#include "engine/place/servers.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <string.h>

enum { ORDERS = 3, COARSEST = 48, FINEST = 400 };

struct climbing {
    const struct place_graph *g;
    const struct place_asking *a;
    struct place_prepared *p;
    struct placement *plan;
    uint64_t looks; /* left */
    uint32_t *order;
    bool exact;
};

/* Told to stop, or there is nothing left to win. */
static bool is_done(const struct climbing *c)
{
    if (c->plan->value_ms <= c->plan->bound_ms * (1 + 1e-9))
        return true;
    return c->a->stop && atomic_load_explicit(c->a->stop, memory_order_relaxed);
}

/* The chain becomes the plan; group_of leads from positions of c->p to those of the chain, NULL:
 * they are the same. */
static void take(struct climbing *c, const struct place_chain *chain, const uint32_t *device,
                 const uint32_t *group_of)
{
    struct placement *plan = c->plan;

    memset(plan->stage, 0xff, plan->devices * sizeof *plan->stage);
    memset(plan->copies, 0, plan->devices * sizeof *plan->copies);
    for (uint32_t s = 0; s < chain->stages; s++) {
        plan->stage[device[s]] = s;
        plan->copies[device[s]] = 1;
    }
    for (uint32_t v = 0; v < c->g->nodes; v++) {
        uint32_t p = c->p->nets->position_of[v];
        plan->device[v] = device[chain->stage_of[group_of ? group_of[p] : p]];
    }
    plan->value_ms = chain->value_ms;
    plan->algo = "exact";
    if (c->a->better)
        c->a->better(c->a->context, plan);
}

/* Over a family of p's ideals, with a part of the looks that are left. */
static int ask(struct climbing *c, const struct place_prepared *p, const struct place_family *f,
               const uint32_t *group_of, uint32_t part, struct err *e)
{
    struct place_question q = {.rules = &c->a->rules,
                               .below_ms = c->plan->value_ms,
                               .pairs = 1 + c->looks / part,
                               .stop = c->a->stop};
    struct place_effort effort;
    struct place_chain *chain;
    uint32_t *device;
    struct err why = {0};
    int rc = place_servers_program(p, f, &q, &chain, &device, &effort, &why);

    if (rc == ERR_LIMIT)
        return 0;
    if (rc) {
        *e = why;
        return rc;
    }
    c->looks -= effort.looks < c->looks ? effort.looks : c->looks;
    c->plan->pairs += effort.pairs;
    if (chain)
        take(c, chain, device, group_of);
    c->exact = effort.complete && f->complete && !group_of;
    place_chain_free(chain);
    free(device);
    return 0;
}

/* Stretches of c->order, `target` of them or so. */
static int try_coarse(struct climbing *c, uint32_t target, struct err *e)
{
    struct place_prepared *coarse;
    struct place_family *f;
    uint32_t *group_of;
    int rc = place_coarsen(c->p, c->order, target, NULL, 0, &coarse, &group_of, e);

    if (rc)
        return rc;
    uint32_t groups = coarse->nets->positions, *one = mem_try((size_t)groups + 1, sizeof *one);
    rc = one ? 0 : err_no_memory(e, "for an order");
    if (rc)
        goto out;
    for (uint32_t i = 0; i < groups; i++)
        one[i] = i;
    rc = place_family_prefixes(coarse, one, &f, e);
    if (rc)
        goto out;
    rc = ask(c, coarse, f, group_of, 8, e);
    place_family_free(f);
out:
    free(one);
    free(group_of);
    place_prepared_free(coarse);
    return rc;
}

static int try_order(struct climbing *c, uint32_t seed, struct err *e)
{
    int rc = place_depth_first(c->p, seed, c->order, e);
    uint32_t m = c->p->nets->positions, target = COARSEST;

    for (; target < m && target <= FINEST && !rc && !is_done(c); target *= 2)
        rc = try_coarse(c, target, e);
    if (rc || m > FINEST || is_done(c))
        return rc;
    struct place_family *f;
    rc = place_family_prefixes(c->p, c->order, &f, e);
    if (!rc) {
        f->complete = false;
        rc = ask(c, c->p, f, NULL, 4, e);
        place_family_free(f);
    }
    return rc;
}

static int try_all(struct climbing *c, struct err *e)
{
    struct place_limits limits = c->a->limits;
    struct place_family *f;
    struct err why = {0};

    limits.stop = c->a->stop;
    int rc = place_family_all(c->p, &limits, NULL, &f, &why);
    if (rc == ERR_LIMIT)
        return 0;
    if (rc) {
        *e = why;
        return rc;
    }
    rc = ask(c, c->p, f, NULL, 1, e);
    if (c->exact)
        c->plan->ideals = f->count;
    place_family_free(f);
    return rc;
}

int place_two_levels(const struct place_graph *g, const struct place_asking *a,
                     struct placement *plan, struct err *e)
{
    struct climbing c = {
        .g = g, .a = a, .plan = plan, .looks = a->looks ? a->looks / 2 : 4000000000};
    int rc = place_prepare(g, &c.p, e);

    if (rc)
        return rc;
    c.order = mem_try((size_t)c.p->nets->positions + 1, sizeof *c.order);
    if (!c.order)
        rc = err_no_memory(e, "for an order");
    for (uint32_t seed = 0; seed < ORDERS && !rc && !is_done(&c); seed++)
        rc = try_order(&c, seed, e);
    c.exact = false;
    if (!rc && !is_done(&c))
        rc = try_all(&c, e);
    if (!rc && c.exact) {
        plan->proven = true;
        plan->bound_ms = plan->value_ms;
        plan->bound_by = "all ideals, servers in turn";
    }
    plan->proven |= plan->value_ms <= plan->bound_ms * (1 + 1e-9);
    free(c.order);
    place_prepared_free(c.p);
    return rc;
}
