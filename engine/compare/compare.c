#include "engine/compare/compare.h"

#include "engine/cluster/cluster.h"
#include "engine/cluster/mesh.h"
#include "engine/compare/best_pipeline.h"
#include "engine/compare/compare_why.h"
#include "engine/cost/memory.h"
#include "engine/cost/step_tables.h"
#include "engine/cost/training.h"
#include "engine/decide/classes.h"
#include "engine/decide/strict.h"
#include "engine/exact/batch_and_zero.h"
#include "engine/exact/exact.h"
#include "engine/hybrid/stage_table.h"
#include "engine/pipeline/descent.h"
#include "engine/pipeline/formula.h"
#include "engine/pipeline/pipe_exact.h"
#include "engine/pipeline/pipe_instance.h"
#include "engine/pipeline/pipeline.h"
#include "engine/place/from_module.h"
#include "engine/place/operator_graph.h"
#include "engine/place/place_pipeline.h"
#include "engine/place/placement.h"
#include "engine/place/solve.h"
#include "engine/problem/problem.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/stop.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const compare_names[COMPARE_KIND_COUNT] = {
#define X(id, name, words) name,
    COMPARE_KINDS(X)
#undef X
};
const char *const compare_words[COMPARE_KIND_COUNT] = {
#define X(id, name, words) words,
    COMPARE_KINDS(X)
#undef X
};

static bool is_better(bool fits, double ms, const struct contender *than)
{
    if (!than->exists || fits != than->fits)
        return !than->exists || fits;
    return ms < than->step_ms;
}

/* ---- strict kinds ---- */

/* What all kinds have to keep to. */
struct rules {
    const struct problem *problem; /* at the global batch */
    double limit;                  /* bytes of a device; INFINITY: none */
    bool batching_given;           /* micro-batches and ZeRO are the problem's: not to be chosen */
};

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
static int limit_plan(struct problem *p, enum compare_kind kind, const struct rules *rules,
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
static int offer_contender(const struct rules *rules, struct contender *c, struct problem *p,
                           struct plan *plan, bool proven, struct err *e)
{
    struct memory_cost memory;
    int rc = plan_memory(plan, &memory, e);
    bool fits = !rc && memory.peak <= rules->limit * (1 + 1e-9);

    if (rc || !is_better(fits, plan->cost.step_ms, c)) {
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

/* The same question on another mesh or in another batching, as a problem of its own. */
static int derive_problem(const struct problem *from, const char *mesh,
                          const struct batch_and_zero *r, struct problem **out, struct err *e)
{
    struct problem_change change = {.mesh = mesh, .batch_param = BATCH_AS_FOUND, .batching = r};
    struct problem *p = mem_try(1, sizeof *p);
    int rc = p ? problem_derive(from, &change, p, e) : err_no_memory(e, "to compare plans");

    if (rc)
        free(p);
    else
        *out = p;
    return rc;
}

static void drop_problem(struct problem *p)
{
    if (p)
        problem_release(p);
    free(p);
}

/* The best of `kind` on one mesh, offered to `c`: without a limit, and where that does not fit
 * within it. */
static int find_on_mesh(const struct rules *rules, const char *mesh, struct contender *c,
                        struct err *e)
{
    struct problem *p, *before = c->problem;
    struct memory_cost memory;
    struct plan plan;
    double least = INFINITY;
    bool proven;
    int rc = derive_problem(rules->problem, mesh, NULL, &p, e);

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
static int offer_found(const struct rules *rules, const struct plan *found, struct contender *c,
                       struct err *e)
{
    struct problem *p, *before = c->problem;
    struct plan copy;
    int rc = derive_problem(rules->problem, NULL, NULL, &p, e);

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

static int find_strict(const struct rules *rules, const struct plan *found, struct contender *c,
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
    if (!from->options.mesh[0] && by_server.axes > 1 && !stop_asked(from->stop))
        rc = find_on_mesh(rules, mesh, c, e);
    if (rc)
        return rc;
    if (c->kind == COMPARE_BOTH && found && !found->relaxed)
        rc = offer_found(rules, found, c, e);
    return rc;
}

/* ---- the pipeline ---- */

/* What its busiest stage computes in a step. */
static double busiest_ms(const struct pipeline *l, const struct pipeline_plan *p)
{
    double most = 0;

    for (uint32_t s = 0; s < p->plan.stages; s++) {
        struct pipe_stage stage = pipe_stage_of(&l->all, &p->plan, s);
        most = fmax(most, l->options.micro_batches * (stage.forward_ms + stage.backward_ms) +
                              stage.update_ms);
    }
    return most;
}

/* What a contender with a pipeline comes to. */
static void take_pipeline(struct pipeline *l, struct contender *c)
{
    c->exists = true;
    c->pipeline = l;
    c->fits = c->pipeline_plan.fits;
    c->step_ms = pipeline_step_ms(l, &c->pipeline_plan);
    c->compute_ms = busiest_ms(l, &c->pipeline_plan);
    c->waiting_ms = c->step_ms - c->compute_ms;
    c->memory_bytes = pipeline_memory(l, &c->pipeline_plan, NULL);
}

static int find_pipeline(const struct problem *p, const struct pipeline_options *options,
                         struct contender *c, struct err *e)
{
    struct pipeline *l;
    int rc = best_pipeline_new(p, options, &l, &c->pipeline_plan, e);

    if (rc == ERR_INFEASIBLE || rc == ERR_LIMIT) {
        snprintf(c->why, sizeof c->why, "%.300s", e->what);
        return 0;
    }
    if (rc)
        return rc;
    take_pipeline(l, c);
    c->proven = c->pipeline_plan.certified;
    return 0;
}

/* ---- the hybrid ---- */

static int find_hybrid(const struct problem *p, const struct pipeline_options *options,
                       struct contender *c, struct err *e)
{
    struct hybrid_options o = {.batch = options->batch,
                               .micro_batches = options->micro_batches,
                               .recompute = STAGE_RECOMPUTE_ANY,
                               .zero = p->options.zero ? p->options.zero : -1,
                               .overlap = problem_overlap(p),
                               .no_limit = options->no_limit,
                               .half_duplex = options->half_duplex,
                               .limit_bytes = options->limit_bytes,
                               .stop = p->stop};
    struct hybrid *h = mem_try(1, sizeof *h);

    if (!h)
        return err_no_memory(e, "to compare plans");
    int rc = hybrid_new(p, &o, h, e);
    if (rc) {
        free(h);
        if (rc != ERR_INFEASIBLE && rc != ERR_LIMIT)
            return rc;
        snprintf(c->why, sizeof c->why, "%.300s", e->what);
        return 0;
    }
    c->hybrid = h;
    c->exists = c->fits = true;
    c->step_ms = hybrid_step_ms(h);
    for (uint32_t n = 0; n < h->stages; n++) {
        const struct hybrid_stage *s = &h->stage[n];
        c->compute_ms = fmax(c->compute_ms, h->micro_batches * s->point.both_ms);
        c->memory_bytes = fmax(c->memory_bytes, s->memory_bytes);
    }
    c->waiting_ms = c->step_ms - c->compute_ms;
    return 0;
}

/* ---- the placement ---- */

enum { PLACE_LOOKS = 25000000 }; /* a tenth of what automap place takes: one kind of many */

/* The operators, on the accelerators within the limit. */
static int place_graph(const struct problem *p, const struct pipeline_options *options,
                       struct place_graph **out, struct err *e)
{
    int rc = place_graph_of_problem(p, options->batch, out, e);

    if (rc)
        return rc;
    (*out)->type[(*out)->types - 1].count = 0; /* a pipeline has no stage on the host */
    for (uint32_t t = 0; t + 1 < (*out)->types; t++) {
        double *limit = &(*out)->type[t].memory_bytes;
        if (options->no_limit)
            *limit = INFINITY;
        else if (options->limit_bytes > 0)
            *limit = fmin(*limit, options->limit_bytes);
    }
    return 0;
}

static int add_placement(const struct problem *p, const struct pipeline_options *options,
                         struct place_pipeline *l, struct contender *c, struct err *e)
{
    struct pipeline_options o = *options;
    struct place_job job = {.stop = p->stop};
    struct place_graph *g;
    struct placement *q = NULL;
    int rc = place_graph(p, options, &g, e);

    if (rc)
        return rc;
    place_job_of_model(&job);
    job.looks = PLACE_LOOKS;
    o.overlap = problem_overlap(p);
    o.stop = p->stop;
    o.pins = 0; /* of cuts in the usual order */
    rc = place_solve(g, &job, "exact", &q, e);
    if (rc)
        goto out;
    rc = place_pipeline_new(p, g, q, &o, l, e);
    if (rc)
        goto out;
    c->stream_ms = q->value_ms;
    c->proven = q->proven;
out:
    placement_free(q);
    place_graph_free(g);
    return rc;
}

static int find_place(const struct problem *p, const struct pipeline_options *options,
                      struct contender *c, struct err *e)
{
    struct place_pipeline l;
    struct pipeline *kept = mem_try(1, sizeof *kept);
    int rc = kept ? add_placement(p, options, &l, c, e) : err_no_memory(e, "to compare plans");

    if (rc) {
        free(kept);
        if (rc != ERR_INFEASIBLE && rc != ERR_LIMIT)
            return rc;
        snprintf(c->why, sizeof c->why, "%.300s", e->what);
        return 0;
    }
    *kept = l.pipeline;
    c->pipeline_plan = l.plan;
    take_pipeline(kept, c);
    return 0;
}

/* ---- the whole ---- */

static void rank(struct comparison *c)
{
    for (int n = 1; n < COMPARE_KIND_COUNT; n++) {
        struct contender moved = c->of[n];
        int at = n;
        for (; at > 0 && moved.exists && is_better(moved.fits, moved.step_ms, &c->of[at - 1]); at--)
            c->of[at] = c->of[at - 1];
        c->of[at] = moved;
    }
}

/* The problem at the global batch asked for: itself, or one derived from it, which goes to *own. */
static int at_batch(const struct problem *p, uint32_t batch, struct rules *rules,
                    struct problem **own, struct err *e)
{
    int64_t size = p->training.batch_divisor;

    rules->problem = p;
    *own = NULL;
    if (!batch || p->training.batch == CLASS_NONE || batch == size)
        return 0;
    int rc = derive_problem(p, NULL, NULL, own, e);
    if (rc)
        goto out;
    rc = problem_set_batch_size(*own, batch, e);
out:
    rules->problem = *own;
    return rc;
}

int comparison_new(const struct problem *p, const struct plan *found,
                   const struct pipeline_options *o, struct comparison *out, struct err *e)
{
    struct rules rules = {.limit =
                              o->no_limit ? INFINITY : cluster_weakest(&p->cluster).memory_bytes,
                          .batching_given = p->options.micro_batches > 1 || p->options.zero};
    struct problem *own;

    memset(out, 0, sizeof *out);
    if (!o->no_limit && o->limit_bytes > 0 && o->limit_bytes < rules.limit)
        rules.limit = o->limit_bytes;
    int rc = at_batch(p, o->batch, &rules, &own, e);
    out->limit_bytes = rules.limit;
    out->batch = o->batch ? o->batch : (uint32_t)p->training.batch_divisor;
    out->batch_given = own != NULL;
    if (rc)
        goto out;
    for (int k = 0; k < COMPARE_KIND_COUNT; k++) {
        out->of[k].kind = (enum compare_kind)k;
        out->of[k].least_bytes = INFINITY;
        if (stop_asked(p->stop)) {
            snprintf(out->of[k].why, sizeof out->of[k].why, "stopped before one was looked for");
            continue;
        }
        rc = k == COMPARE_PIPELINE ? find_pipeline(p, o, &out->of[k], e)
             : k == COMPARE_HYBRID ? find_hybrid(p, o, &out->of[k], e)
             : k == COMPARE_PLACE  ? find_place(p, o, &out->of[k], e)
                                   : find_strict(&rules, found, &out->of[k], e);
        if (rc)
            goto out;
    }
    rank(out);
    rc = compare_explain(out, e);
out:
    drop_problem(own);
    if (rc)
        comparison_free(out);
    return rc;
}

void comparison_free(struct comparison *c)
{
    for (int k = 0; k < COMPARE_KIND_COUNT; k++) {
        plan_release(&c->of[k].plan);
        drop_problem(c->of[k].problem);
        best_pipeline_free(c->of[k].pipeline);
        if (c->of[k].hybrid)
            hybrid_release(c->of[k].hybrid);
        free(c->of[k].hybrid);
    }
    memset(c, 0, sizeof *c);
}

void contender_setting(const struct contender *c, char *out, size_t room)
{
    char text[64];
    int size;

    out[0] = '\0';
    if (!c->exists)
        return;
    if (c->kind == COMPARE_HYBRID) {
        snprintf(out, room, "%u stage%s, %u micro-batch%s, ZeRO %u", c->hybrid->stages,
                 c->hybrid->stages == 1 ? "" : "s", c->hybrid->micro_batches,
                 c->hybrid->micro_batches == 1 ? "" : "es", c->hybrid->zero);
        return;
    }
    if (c->kind == COMPARE_PIPELINE || c->kind == COMPARE_PLACE) {
        snprintf(out, room, "%u stage%s, %u micro-batch%s%s", c->pipeline_plan.plan.stages,
                 c->pipeline_plan.plan.stages == 1 ? "" : "s", c->pipeline->options.micro_batches,
                 c->pipeline->options.micro_batches == 1 ? "" : "es",
                 c->pipeline->options.recompute ? ", recomputed" : "");
        return;
    }
    mesh_format(&c->problem->mesh, text, sizeof text);
    size = snprintf(out, room, "mesh %s", text);
    if (c->plan.batching.micro_batches > 1 && size > 0 && (size_t)size < room)
        size += snprintf(out + size, room - (size_t)size, ", %u micro-batches",
                         c->plan.batching.micro_batches);
    if (c->plan.batching.zero && size > 0 && (size_t)size < room)
        snprintf(out + size, room - (size_t)size, ", ZeRO %u", c->plan.batching.zero);
}
