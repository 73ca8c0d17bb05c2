#include "engine/place/two_levels.h"

#include "engine/place/chain_program.h"
#include "engine/place/coarsen.h"
#include "engine/place/family.h"
#include "engine/place/improve.h"
#include "engine/place/nets.h"
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
    struct place_chain *best; /* that plan is, once a program has found it */
    double value_ms;          /* of plan, if its servers come in turn; else INFINITY */
    uint32_t accelerators;    /* it needs, for a target */
    uint64_t looks;           /* left */
    uint32_t *order;
    bool exact, limited;
};

/* Told to stop, or there is nothing left to win. */
static bool is_done(const struct climbing *c)
{
    if (!(c->a->target_ms > 0) && c->value_ms <= c->plan->bound_ms * (1 + 1e-9))
        return true;
    return c->a->stop && atomic_load_explicit(c->a->stop, memory_order_relaxed);
}

static uint32_t accelerators_of(const struct place_graph *g, const struct place_chain *c)
{
    uint32_t all = 0;

    for (uint32_t s = 0; s < c->stages; s++)
        all += g->type[c->stage[s].type].is_host ? 0 : c->stage[s].copies;
    return all;
}

/* ---- one family ---- */

struct family_asked {
    struct climbing *c;
    const struct place_prepared *p;
    const struct place_family *f;
    const uint32_t *group_of; /* from positions of c->p to those of p; NULL: they are the same */
    uint64_t part;            /* of the looks that are left one question may use: 1 / part */
};

static int ask_level(void *context, struct place_question *q, struct place_chain **out,
                     struct err *e)
{
    struct family_asked *k = context;
    struct climbing *c = k->c;
    struct place_effort effort;
    struct err why = {0};

    q->pairs = 1 + c->looks / k->part;
    q->stop = c->a->stop;
    *out = NULL;
    int rc = place_servers_program(k->p, k->f, q, out, &effort, &why);
    if (rc == ERR_LIMIT) {
        c->limited = true;
        return 0;
    }
    if (rc) {
        *e = why;
        return rc;
    }
    c->looks -= effort.looks < c->looks ? effort.looks : c->looks;
    c->plan->pairs += effort.pairs;
    c->limited |= !effort.complete;
    return 0;
}

/* The chain becomes the plan. */
static int take_climbed(void *context, struct place_chain *chain, double value, struct err *e)
{
    struct family_asked *k = context;
    struct climbing *c = k->c;
    uint32_t accelerators = accelerators_of(c->g, chain);
    struct placement *plan, old;
    int rc = 0;

    if (c->a->target_ms > 0 && accelerators >= c->accelerators) { /* of a plan that is no chain */
        place_chain_free(chain);
        return 0;
    }
    place_chain_free(c->best);
    c->best = chain;
    c->value_ms = value;
    c->accelerators = accelerators;
    if (k->group_of)
        rc = place_coarsen_undo(chain, k->group_of, c->p->nets->positions, e);
    if (rc)
        return rc;
    rc = placement_of_chain(c->p, chain, &plan, e);
    if (rc)
        return rc;
    old = *c->plan;
    plan->value_ms = value;
    plan->bound_ms = old.bound_ms;
    plan->bound_by = old.bound_by;
    plan->positions = old.positions;
    plan->pairs = old.pairs;
    plan->algo = "exact";
    *c->plan = *plan;
    *plan = old;
    placement_free(plan);
    if (c->a->better)
        c->a->better(c->a->context, c->plan);
    return 0;
}

static int ask_family(struct family_asked *k, struct err *e)
{
    struct climbing *c = k->c;
    struct place_improving i = {.graph = c->g,
                                .rules = &c->a->rules,
                                .target_ms = c->a->target_ms,
                                .best = &c->best,
                                .value_ms = &c->value_ms,
                                .limited = &c->limited,
                                .ask = ask_level,
                                .take = take_climbed,
                                .context = k};

    c->limited = false;
    int rc = place_improve(&i, e);
    c->exact = !rc && !c->limited && k->f->complete && !k->group_of;
    return rc;
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
    rc = ask_family(&(struct family_asked){c, coarse, f, group_of, 8}, e);
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
    if (rc)
        return rc;
    f->complete = false;
    rc = ask_family(&(struct family_asked){c, c->p, f, NULL, 4}, e);
    place_family_free(f);
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
    rc = ask_family(&(struct family_asked){c, c->p, f, NULL, 1}, e);
    if (c->exact)
        c->plan->ideals = f->count;
    place_family_free(f);
    return rc;
}

static int give_answer(struct climbing *c, struct err *e)
{
    struct placement *plan = c->plan;

    if (!isfinite(c->value_ms) && c->a->target_ms > 0)
        return err_set(e, ERR_INFEASIBLE, "no contiguous plan %s %g ms per sample",
                       c->exact ? "reaches" : "was found that reaches", c->a->target_ms);
    if (c->exact && isfinite(c->value_ms)) {
        plan->proven = true;
        plan->bound_ms = c->a->target_ms > 0 ? plan->bound_ms : plan->value_ms;
        plan->bound_by = "all ideals, servers in turn";
    }
    plan->bound_ms = fmin(plan->bound_ms, plan->value_ms);
    if (isfinite(c->value_ms) && !(c->a->target_ms > 0))
        plan->proven |= plan->value_ms <= plan->bound_ms * (1 + 1e-9);
    return 0;
}

int place_two_levels(const struct place_graph *g, const struct place_asking *a, bool in_turn,
                     struct placement *plan, struct err *e)
{
    struct climbing c = {.g = g, .a = a, .plan = plan, .value_ms = INFINITY};
    int rc = place_prepare(g, &c.p, e);

    if (rc)
        return rc;
    c.looks = a->looks ? a->looks / 2 : 4000000000;
    c.accelerators = PLACE_NONE;
    if (in_turn && !(a->target_ms > 0 && plan->value_ms > a->target_ms * (1 + 1e-12))) {
        c.value_ms = plan->value_ms;
        c.accelerators = placement_accelerators(plan, g);
    }
    c.order = mem_try((size_t)c.p->nets->positions + 1, sizeof *c.order);
    rc = c.order ? 0 : err_no_memory(e, "for an order");
    for (uint32_t seed = 0; seed < ORDERS && !rc && !is_done(&c); seed++)
        rc = try_order(&c, seed, e);
    if (rc)
        goto out;
    c.exact = false;
    rc = is_done(&c) ? 0 : try_all(&c, e);
    if (rc)
        goto out;
    rc = give_answer(&c, e);
out:
    place_chain_free(c.best);
    free(c.order);
    place_prepared_free(c.p);
    return rc;
}
