#include "engine/compare/compare.h"

#include "engine/cluster/cluster.h"
#include "engine/cluster/mesh.h"
#include "engine/compare/best_pipeline.h"
#include "engine/compare/best_strict.h"
#include "engine/compare/compare_why.h"
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
                               .zero = p->options.zero ? p->options.zero : HYBRID_ZERO_NEEDED,
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
        for (; at > 0 && moved.exists &&
               contender_loses_to(&c->of[at - 1], moved.fits, moved.step_ms);
             at--)
            c->of[at] = c->of[at - 1];
        c->of[at] = moved;
    }
}

int comparison_new(const struct problem *p, const struct plan *found,
                   const struct pipeline_options *o, struct comparison *out, struct err *e)
{
    struct strict_rules rules;
    int rc = strict_rules_new(p, o, &rules, e);

    memset(out, 0, sizeof *out);
    out->limit_bytes = rules.limit;
    out->batch = o->batch ? o->batch : (uint32_t)p->training.batch_divisor;
    out->batch_given = rules.own != NULL;
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
                                   : best_strict(&rules, found, &out->of[k], e);
        if (rc)
            goto out;
    }
    rank(out);
    rc = compare_explain(out, e);
out:
    strict_rules_release(&rules);
    if (rc)
        comparison_free(out);
    return rc;
}

void contender_release(struct contender *c)
{
    plan_release(&c->plan);
    if (c->problem)
        problem_release(c->problem);
    free(c->problem);
    best_pipeline_free(c->pipeline);
    if (c->hybrid)
        hybrid_release(c->hybrid);
    free(c->hybrid);
    *c = (struct contender){0};
}

void comparison_free(struct comparison *c)
{
    for (int k = 0; k < COMPARE_KIND_COUNT; k++)
        contender_release(&c->of[k]);
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
