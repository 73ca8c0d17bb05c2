#include "engine/compare/best_strict.h"

#include "engine/cluster/cluster.h"
#include "engine/cluster/mesh.h"
#include "engine/cost/memory.h"
#include "engine/cost/step_tables.h"
#include "engine/cost/training.h"
#include "engine/decide/classes.h"
#include "engine/decide/strict.h"
#include "engine/exact/batch_and_zero.h"
#include "engine/exact/exact.h"
#include "hlo/support/mem.h"
#include "hlo/support/stop.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

bool contender_loses_to(const struct contender *c, bool fits, double step_ms)
{
    if (!c->exists || fits != c->fits)
        return !c->exists || fits;
    return step_ms < c->step_ms;
}

/* A plan with the labels of a solver. */
static int plan_of_labels(const struct problem *p, const label *on, double bound, struct plan *out,
                          struct err *e)
{
    struct strict s;
    int rc = strict_new(&p->labels, &s, e);

    if (rc)
        return rc;
    rc = plan_from_strict(p, &s, PLAN_BY_NOBODY, out, e);
    strict_release(&s);
    if (rc)
        return rc;
    for (class_id k = 0; k < p->classes.count; k++) {
        out->on[k] = on[k];
        out->by[k] = on[k] ? PLAN_BY_OPTIMUM : PLAN_BY_PROPAGATION;
        out->decided[k] = (label)(p->labels.count - 1);
    }
    out->cost = step_tables_cost(&p->step_tables, out->on);
    out->bound_ms = bound;
    snprintf(out->found_by, sizeof out->found_by, "exact");
    return 0;
}

static int exact_plan(const struct problem *p, enum compare_kind kind, struct plan *out,
                      bool *proven, struct err *e)
{
    struct exact_options o = {.goal = EXACT_STEP_TIME,
                              .variables = kind != COMPARE_DATA,
                              .inputs = kind != COMPARE_OPERATORS,
                              .stop = p->stop};
    struct exact_result r;
    int rc = exact_strict(&p->step_tables, NULL, &o, &r, e);

    if (rc)
        return rc;
    rc = plan_of_labels(p, r.on, r.bound, out, e);
    *proven = r.proven;
    exact_release(&r);
    return rc;
}

/* Puts the best plan within the limit, over the numbers of micro-batches and ZeRO levels allowed,
 * in the place of `plan`; `p` is left in its batching. Where nothing fits all stays, and *least is
 * what the plan that needs least needs. */
static int limit_plan(struct problem *p, enum compare_kind kind, const struct strict_rules *rules,
                      struct plan *plan, bool *proven, double *least, struct err *e)
{
    struct batch_and_zero before = problem_batch_and_zero(p);
    struct batch_and_zero_options o = {.limit = rules->limit,
                                       .variables = kind != COMPARE_DATA,
                                       .inputs = kind != COMPARE_OPERATORS};
    struct batch_and_zero_result r;

    if (rules->batching_given) {
        o.micro_batches = problem_batch_and_zero(p).micro_batches;
        o.zero = problem_batch_and_zero(p).zero;
    } else {
        o.zero = -1;
    }
    int rc = exact_batch_and_zero(p, &o, &r, e);
    if (rc)
        return rc;
    if (r.fits) {
        plan_release(plan);
        rc = plan_of_labels(p, r.plan.on, r.bound, plan, e);
        *proven = r.proven;
    } else {
        *least = r.plan.peak;
        rc = problem_set_batch_and_zero(p, &before, e);
    }
    batch_and_zero_release(&r);
    return rc;
}

/* Takes plan and problem over when they are better; else frees the plan. */
static int offer_contender(const struct strict_rules *rules, struct contender *c, struct problem *p,
                           struct plan *plan, bool proven, struct err *e)
{
    struct memory_cost memory;
    int rc = plan_memory(plan, &memory, e);
    bool fits = !rc && memory.peak <= rules->limit * (1 + 1e-9);

    if (rc || !contender_loses_to(c, fits, plan->cost.step_ms)) {
        plan_release(plan);
        return rc;
    }
    plan_release(&c->plan);
    c->plan = *plan;
    c->exists = true;
    c->fits = fits;
    c->proven = proven;
    c->step_ms = plan->cost.step_ms;
    c->compute_ms = plan->cost.compute_ms;
    c->waiting_ms = plan->cost.communication_ms;
    c->memory_bytes = memory.peak;
    c->problem = p;
    return 0;
}

/* The same question on another mesh, as a problem of its own. */
static int derive_problem(const struct strict_rules *rules, const char *mesh, struct problem **out,
                          struct err *e)
{
    struct problem_change change = {.mesh = mesh, .batch_param = BATCH_AS_FOUND};
    struct problem *p = mem_try(1, sizeof *p);
    int rc =
        p ? problem_derive(rules->problem, &change, p, e) : err_no_memory(e, "to compare plans");

    if (rc) {
        free(p);
        return rc;
    }
    p->stop = rules->stop;
    *out = p;
    return 0;
}

static void drop_problem(struct problem *p)
{
    if (p)
        problem_release(p);
    free(p);
}

/* The best of `kind` on one mesh, offered to `c`: without a limit, and where that does not fit
 * within it. */
static int find_on_mesh(const struct strict_rules *rules, const char *mesh, struct contender *c,
                        struct err *e)
{
    struct problem *p, *before = c->problem;
    struct memory_cost memory;
    struct plan plan;
    double least = INFINITY;
    bool proven;
    int rc = derive_problem(rules, mesh, &p, e);

    if (rc)
        return rc;
    rc = exact_plan(p, c->kind, &plan, &proven, e);
    if (!rc) {
        rc = plan_memory(&plan, &memory, e);
        if (!rc && memory.peak > rules->limit)
            rc = limit_plan(p, c->kind, rules, &plan, &proven, &least, e);
        if (rc)
            plan_release(&plan);
    }
    rc = rc ? rc : offer_contender(rules, c, p, &plan, proven, e);
    c->least_bytes = fmin(least, c->least_bytes);
    drop_problem(c->problem == p ? before : p);
    return rc;
}

/* A search's plan, priced at the batch of the comparison. */
static int offer_found(const struct strict_rules *rules, const struct plan *found,
                       struct contender *c, struct err *e)
{
    struct problem *p, *before = c->problem;
    struct plan copy;
    int rc = derive_problem(rules, NULL, &p, e);

    if (rc)
        return rc;
    rc = plan_copy(found, &copy, e);
    if (rc)
        goto out;
    copy.problem = p;
    copy.cost = step_tables_cost(&p->step_tables, copy.on);
    rc = offer_contender(rules, c, p, &copy, false, e);
out:
    drop_problem(c->problem == p ? before : p);
    return rc;
}

int best_strict(const struct strict_rules *rules, const struct plan *found, struct contender *c,
                struct err *e)
{
    const struct problem *from = rules->problem;
    struct cluster_mesh by_server;
    char mesh[64];
    int rc = find_on_mesh(rules, NULL, c, e);

    mesh_by_server(&by_server, &from->cluster);
    mesh_format(&by_server, mesh, sizeof mesh);
    if (rc)
        return rc;
    if (!from->options.mesh[0] && by_server.axes > 1 && !stop_asked(rules->stop))
        rc = find_on_mesh(rules, mesh, c, e);
    if (rc)
        return rc;
    if (c->kind == COMPARE_BOTH && found && !found->relaxed)
        rc = offer_found(rules, found, c, e);
    return rc;
}

/* ---- what they keep to ---- */

int strict_rules_new(const struct problem *p, const struct pipeline_options *o,
                     struct strict_rules *out, struct err *e)
{
    bool same_batch = !o->batch || p->training.batch == CLASS_NONE ||
                      o->batch == (uint64_t)p->training.batch_divisor;

    *out = (struct strict_rules){.problem = p,
                                 .limit = o->no_limit ? INFINITY
                                                      : cluster_weakest(&p->cluster).memory_bytes,
                                 .batching_given = p->options.micro_batches > 1 || p->options.zero,
                                 .stop = o->stop ? o->stop : p->stop};
    if (!o->no_limit && o->limit_bytes > 0)
        out->limit = fmin(out->limit, o->limit_bytes);
    if (same_batch)
        return 0;
    int rc = derive_problem(out, NULL, &out->own, e);
    if (rc)
        return rc;
    out->problem = out->own;
    return problem_set_batch_size(out->own, o->batch, e);
}

void strict_rules_release(struct strict_rules *r)
{
    drop_problem(r->own);
    r->own = NULL;
}
