#include "engine/search/compare.h"

#include "engine/pipeline/descent.h"
#include "engine/search/compare_why.h"
#include "engine/search/exact.h"

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

enum { MICRO_BATCHES_TRIED = 64 };

static bool is_better(bool fits, double ms, const struct contender *than)
{
    if (!than->exists || fits != than->fits)
        return !than->exists || fits;
    return ms < than->step_ms;
}

/* ---- strict kinds ---- */

static int exact_plan(const struct problem *p, enum compare_kind kind, struct plan *out, bool *proven, struct err *e)
{
    struct exact_options o = {.goal = EXACT_STEP_TIME, .variables = kind != COMPARE_DATA, .inputs = kind != COMPARE_OPERATORS};
    struct exact_result r;
    struct strict s;
    int rc = strict_new(&p->labels, &s, e);

    if (rc)
        return rc;
    rc = plan_from_strict(p, &s, PLAN_BY_NOBODY, out, e);
    strict_release(&s);
    if (rc)
        return rc;
    rc = exact_strict(&p->terms, NULL, &o, &r, e);
    if (rc) {
        plan_release(out);
        return rc;
    }
    for (class_id k = 0; k < p->classes.count; k++) {
        out->on[k] = r.on[k];
        out->by[k] = r.on[k] ? PLAN_BY_OPTIMUM : PLAN_BY_PROPAGATION;
        out->decided[k] = (label)(p->labels.count - 1);
    }
    out->cost = terms_cost(&p->terms, out->on);
    out->bound_ms = r.bound;
    snprintf(out->found_by, sizeof out->found_by, "exact");
    *proven = r.proven;
    exact_release(&r);
    return 0;
}

/* Takes plan and problem over when they are better; else frees them. */
static int offer(struct contender *c, struct problem *p, struct plan *plan, bool proven, struct err *e)
{
    struct memory_cost memory;
    int rc = plan_memory(plan, &memory, e);
    bool fits = !rc && memory.peak <= cluster_weakest(&p->cluster).memory_bytes;

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

/* The same question on another mesh or in another regime, as a problem of its own. */
static int derive(const struct problem *from, const char *mesh, const struct regime *r, struct problem **out, struct err *e)
{
    struct problem_change change = {.mesh = mesh, .batch_param = BATCH_AS_FOUND, .regime = r};
    struct problem *p = mem_try(1, sizeof *p);
    int rc = p ? problem_derive(from, &change, p, e) : err_set(e, ERR_MEMORY, "not enough memory to compare plans");

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

/* The best of `kind` on one mesh in one regime, offered to `c`. */
static int try_one(const struct problem *from, const char *mesh, const struct regime *r, struct contender *c, struct err *e)
{
    struct problem *p, *before = c->problem;
    struct plan plan;
    bool proven;
    int rc = derive(from, mesh, r, &p, e);

    if (rc)
        return rc;
    rc = exact_plan(p, c->kind, &plan, &proven, e);
    if (!rc)
        rc = offer(c, p, &plan, proven, e);
    drop_problem(c->problem == p ? before : p);
    return rc;
}

/* More micro-batches and more of the state in pieces until the plan fits. A number that does not
 * divide the batch ends it. */
static int make_fit(const struct problem *from, const char *mesh, struct contender *c, struct err *e)
{
    static const uint8_t levels[] = {0, 1, 3};
    bool fits = false;
    int rc = 0;

    for (uint32_t k = 1; k <= MICRO_BATCHES_TRIED && !rc && !fits; k *= 2) {
        for (size_t n = 0; n < sizeof levels && !rc; n++) {
            struct regime r = {.micro_batches = k, .zero = levels[n], .overlap = from->options.overlap};
            if (training_check(&from->training, &r, e))
                return 0;
            if (k > 1 || levels[n])
                rc = try_one(from, mesh, &r, c, e);
        }
        fits = c->fits; /* of one number of micro-batches the fastest level that fits */
    }
    return rc;
}

/* The best of `kind` on one mesh, offered to `c`. */
static int find_on_mesh(const struct problem *from, const char *mesh, struct contender *c, struct err *e)
{
    struct contender here = {.kind = c->kind};
    bool regime_given = from->options.micro_batches > 1 || from->options.zero;
    int rc = try_one(from, mesh, NULL, &here, e);

    if (!rc && !here.fits && !regime_given)
        rc = make_fit(from, mesh, &here, e);
    struct contender *loser = !rc && here.exists && is_better(here.fits, here.step_ms, c) ? c : &here;
    plan_release(&loser->plan);
    drop_problem(loser->problem);
    if (loser == c)
        *c = here;
    return rc;
}

static int offer_found(const struct problem *from, const struct plan *found, struct contender *c, struct err *e)
{
    struct problem *p, *before = c->problem;
    struct plan copy;
    int rc = derive(from, NULL, NULL, &p, e);

    if (rc)
        return rc;
    rc = plan_copy(found, &copy, e);
    if (!rc) {
        copy.problem = p;
        rc = offer(c, p, &copy, false, e);
    }
    drop_problem(c->problem == p ? before : p);
    return rc;
}

static int find_strict(const struct problem *from, const struct plan *found, struct contender *c, struct err *e)
{
    struct cluster_mesh by_server;
    char mesh[64];
    int rc = find_on_mesh(from, NULL, c, e);

    mesh_by_server(&by_server, &from->cluster);
    mesh_format(&by_server, mesh, sizeof mesh);
    if (!rc && !from->options.mesh[0] && by_server.axes > 1)
        rc = find_on_mesh(from, mesh, c, e);
    if (!rc && c->kind == COMPARE_BOTH && found && found->cost.step_ms < c->step_ms)
        rc = offer_found(from, found, c, e);
    return rc;
}

/* ---- the pipeline ---- */

static bool choose_pipeline(const struct pipeline *l, struct pipeline_plan *out)
{
    struct pipeline_start start[3];
    struct pipe_exact_result exact;
    struct pipe_plan plan;
    uint32_t count = 0;
    double ms;
    struct err e;
    bool has_exact = !pipeline_exact(l, &exact, &e) && exact.found;

    if (has_exact)
        start[count++] = (struct pipeline_start){pipeline_refine(l, &exact.plan), "exact"};
    if (pipeline_best_candidate(l, &plan, &ms))
        start[count++] = (struct pipeline_start){pipeline_refine(l, &plan), "candidates"};
    if (pipeline_instant(l, &plan))
        start[count++] = (struct pipeline_start){pipeline_refine(l, &plan), "closed form"};
    if (!pipeline_choose(l, start, count, out))
        return false;
    out->optimum_ms = has_exact ? exact.length_ms : 0;
    out->certified = has_exact && exact.certified;
    return true;
}

/* What its busiest stage computes in a step. */
static double busiest_ms(const struct pipeline *l, const struct pipeline_plan *p)
{
    double most = 0;

    for (uint32_t s = 0; s < p->plan.stages; s++) {
        struct pipe_stage stage = pipe_stage_of(&l->all, &p->plan, s);
        most = fmax(most, l->options.micro_batches * (stage.forward_ms + stage.backward_ms) + stage.update_ms);
    }
    return most;
}

static int find_pipeline(const struct problem *p, const struct pipeline_options *options, struct contender *c, struct err *e)
{
    struct pipeline_options o = *options;
    struct pipeline *l = mem_try(1, sizeof *l);

    if (!l)
        return err_set(e, ERR_MEMORY, "not enough memory to compare plans");
    o.overlap = p->options.overlap;
    for (int again = 0; again < 2 && !c->exists; again++) {
        o.recompute |= again == 1;
        int rc = pipeline_new(p, &o, l, e);
        if (rc) {
            free(l);
            if (rc != ERR_INFEASIBLE && rc != ERR_LIMIT)
                return rc;
            snprintf(c->why, sizeof c->why, "%.300s", e->what);
            return 0;
        }
        c->exists = choose_pipeline(l, &c->pipeline_plan);
        if (!c->exists)
            pipeline_release(l);
    }
    if (!c->exists) {
        free(l);
        snprintf(c->why, sizeof c->why, "no pipeline fits its devices, forward passes run again or not");
        return 0;
    }
    c->pipeline = l;
    c->fits = c->pipeline_plan.fits;
    c->proven = c->pipeline_plan.certified;
    c->step_ms = pipeline_step_ms(l, &c->pipeline_plan);
    c->compute_ms = busiest_ms(l, &c->pipeline_plan);
    c->waiting_ms = c->step_ms - c->compute_ms;
    c->memory_bytes = pipeline_memory(l, &c->pipeline_plan, NULL);
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

int comparison_new(const struct problem *p, const struct plan *found, const struct pipeline_options *o,
                   struct comparison *out, struct err *e)
{
    int rc = 0;

    memset(out, 0, sizeof *out);
    out->limit_bytes = cluster_weakest(&p->cluster).memory_bytes;
    for (int k = 0; k < COMPARE_KIND_COUNT && !rc; k++) {
        out->of[k].kind = (enum compare_kind)k;
        rc = k == COMPARE_PIPELINE ? find_pipeline(p, o, &out->of[k], e) : find_strict(p, found, &out->of[k], e);
    }
    if (!rc) {
        rank(out);
        rc = compare_explain(out, e);
    }
    if (rc)
        comparison_free(out);
    return rc;
}

void comparison_free(struct comparison *c)
{
    for (int k = 0; k < COMPARE_KIND_COUNT; k++) {
        plan_release(&c->of[k].plan);
        drop_problem(c->of[k].problem);
        if (c->of[k].pipeline)
            pipeline_release(c->of[k].pipeline);
        free(c->of[k].pipeline);
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
    if (c->kind == COMPARE_PIPELINE) {
        snprintf(out, room, "%u stage%s, %u micro-batch%s%s", c->pipeline_plan.plan.stages,
                 c->pipeline_plan.plan.stages == 1 ? "" : "s", c->pipeline->options.micro_batches,
                 c->pipeline->options.micro_batches == 1 ? "" : "es", c->pipeline->options.recompute ? ", recomputed" : "");
        return;
    }
    mesh_format(&c->problem->mesh, text, sizeof text);
    size = snprintf(out, room, "mesh %s", text);
    if (c->plan.regime.micro_batches > 1 && size > 0 && (size_t)size < room)
        size += snprintf(out + size, room - (size_t)size, ", %u micro-batches", c->plan.regime.micro_batches);
    if (c->plan.regime.zero && size > 0 && (size_t)size < room)
        snprintf(out + size, room - (size_t)size, ", ZeRO %u", c->plan.regime.zero);
}
