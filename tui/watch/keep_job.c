#include "tui/watch/keep_job.h"

#include "engine/cost/step_tables.h"
#include "engine/decide/labels.h"
#include "engine/plan/plan.h"
#include "engine/plan/recompute_at.h"
#include "engine/problem/problem.h"
#include "engine/recompute/recompute.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/thread.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct keep_job {
    struct plan plan;
    struct plan_recompute at; /* from here on of the thread, until it is done */
    struct recompute_choice choice;
    struct recompute_choice of[KEEP_POINTS_MOST]; /* borrowed states */
    struct keep_look look;
    bool has_front;
    pthread_t thread;
    bool in_thread;
    atomic_bool done;
};

/* ---- the points ---- */

static void add_point(struct keep_job *j, const struct recompute_choice *c)
{
    struct keep_look *l = &j->look;

    if (l->count == KEEP_POINTS_MOST)
        return;
    j->of[l->count] = *c;
    l->points[l->count++] = (struct keep_point){.peak = c->peak,
                                                .step_ms = j->at.free_ms + c->ms,
                                                .kept = c->kept,
                                                .host_bytes = c->host_bytes,
                                                .layers = c->layers};
}

/* The choice takes its place among the points, or that of the point it is. */
static void place_choice(struct keep_job *j)
{
    struct keep_look *l = &j->look;
    const struct recompute_choice *c = &j->choice;
    uint32_t at = 0;

    while (at < l->count && l->points[at].peak > c->peak * (1 + 1e-9))
        at++;
    bool same = at < l->count && fabs(l->points[at].step_ms - j->at.free_ms - c->ms) <
                                     1e-9 * (j->at.free_ms + c->ms);
    if (!same || c->layers || c->host_bytes > 0) {
        uint32_t behind = l->count - at;
        add_point(j, c);
        if (l->count == at + behind) /* full */
            return;
        struct keep_point point = l->points[l->count - 1];
        memmove(&l->points[at + 1], &l->points[at], behind * sizeof *l->points);
        memmove(&j->of[at + 1], &j->of[at], behind * sizeof *j->of);
        l->points[at] = point;
        j->of[at] = *c;
    }
    l->points[at].is_the_choice = true;
    l->choice = at;
    l->fits = c->fits;
}

/* Without points that are slower than one that needs less. */
static void drop_beaten(struct keep_job *j)
{
    struct keep_look *l = &j->look;
    uint32_t count = 0;

    for (uint32_t k = 0; k < l->count; k++) {
        double least = INFINITY;
        for (uint32_t i = k + 1; i < l->count; i++)
            least = fmin(least, l->points[i].step_ms);
        if (l->points[k].step_ms >= least && k != l->choice)
            continue;
        l->choice = k == l->choice ? count : l->choice;
        l->points[count] = l->points[k];
        j->of[count++] = j->of[k];
    }
    l->count = count;
}

static void price_points(struct keep_look *l)
{
    for (uint32_t k = 1; k < l->count; k++) {
        double less = (l->points[k - 1].peak - l->points[k].peak) / 1e9;
        if (less > 1e-6)
            l->points[k].ms_per_gb = (l->points[k].step_ms - l->points[k - 1].step_ms) / less;
    }
}

static int find_points(struct keep_job *j, struct err *e)
{
    const struct recompute *f = &j->at.front;
    int rc = plan_recompute_new(&j->plan, &j->at, e);

    if (rc)
        return rc;
    j->has_front = true;
    for (uint32_t k = 0; k < f->count && k < KEEP_POINTS_MOST - 1; k++) {
        struct recompute_choice c = {
            .rest = f->points[k].state, .first = f->points[k].state, .ms = f->points[k].ms};
        c.kept = f->points[k].kept;
        c.peak = recompute_peak(f, &c);
        if (c.peak < 0)
            return err_set(e, ERR_MEMORY, "not enough memory for what the backward pass keeps");
        if (!j->look.count || c.peak < j->look.points[j->look.count - 1].peak)
            add_point(j, &c);
    }
    rc = recompute_within(f, j->look.limit, RECOMPUTE_ENOUGH * j->plan.cost.step_ms, &j->choice, e);
    if (rc)
        return rc;
    place_choice(j);
    drop_beaten(j);
    price_points(&j->look);
    j->look.is_listed = j->at.is_listed;
    j->look.now_ms = j->plan.cost.step_ms;
    j->look.bound_ms = j->at.free_ms + j->choice.bound_ms;
    return 0;
}

static void *run_keep(void *context)
{
    struct keep_job *j = context;
    struct err e = {0};

    if (find_points(j, &e)) {
        snprintf(j->look.trouble, sizeof j->look.trouble, "%.150s", e.what);
        j->look.count = 0;
    } else if (j->look.count < 2) {
        snprintf(j->look.trouble, sizeof j->look.trouble,
                 "the backward pass keeps nothing that could be computed again");
    }
    j->look.done = true;
    atomic_store(&j->done, true);
    return NULL;
}

/* ---- the job ---- */

static int copy_plan(const struct problem *p, const struct live_plan *from, struct plan *out,
                     struct err *e)
{
    *out = (struct plan){.problem = p, .batching = problem_batch_and_zero(p)};
    out->on = mem_try((size_t)p->classes.count + 1, sizeof *out->on);
    if (!out->on)
        return err_set(e, ERR_MEMORY, "not enough memory for what the backward pass keeps");
    if (from)
        memcpy(out->on, from->on, p->classes.count * sizeof *out->on);
    out->cost = step_tables_cost(&p->step_tables, out->on);
    return 0;
}

int keep_job_new(const struct watch *w, const struct live_plan *plan, double limit, bool in_thread,
                 struct keep_job **out, struct err *e)
{
    struct keep_job *j = mem_try(1, sizeof *j);

    if (!j)
        return err_set(e, ERR_MEMORY, "not enough memory for what the backward pass keeps");
    j->look.limit = limit;
    int rc = copy_plan(w->problem, plan, &j->plan, e);
    if (rc)
        goto failed;
    if (in_thread)
        rc = thread_start(&j->thread, run_keep, j, "what the backward pass keeps", e);
    else
        run_keep(j);
    if (rc)
        goto failed;
    j->in_thread = in_thread;
    *out = j;
    return 0;
failed:
    keep_job_free(j);
    return rc;
}

void keep_job_free(struct keep_job *j)
{
    if (!j)
        return;
    if (j->in_thread)
        pthread_join(j->thread, NULL);
    recompute_choice_release(&j->choice);
    if (j->has_front)
        plan_recompute_release(&j->at);
    plan_release(&j->plan);
    free(j);
}

const struct keep_look *keep_job_look(const struct keep_job *j)
{
    return atomic_load(&j->done) ? &j->look : NULL;
}

int keep_job_rows(const struct keep_job *j, uint32_t point, struct recompute_row **out,
                  uint32_t *count, struct err *e)
{
    return recompute_rows(&j->at, &j->of[point], out, count, e);
}

hlo_value keep_job_value(const struct keep_job *j, const struct recompute_row *row)
{
    return j->at.graph.nodes[row->node].value;
}
