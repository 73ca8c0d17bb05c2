#include "tui/watch/unstaged_job.h"

#include "engine/cluster/cluster.h"
#include "engine/compare/best_strict.h"
#include "engine/compare/compare.h"
#include "engine/live/snapshot.h"
#include "engine/pipeline/pipeline.h"
#include "engine/problem/problem.h"
#include "engine/relaxed/relaxed.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/thread.h"
#include "tui/watch/plan_diff.h"
#include "tui/watch/plan_load.h"
#include "tui/watch/relaxed_job.h"
#include "tui/watch/watch.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>

struct unstaged_job {
    const struct problem *problem;
    double limit_bytes;        /* 0: what a device has */
    struct live_plan *weighed; /* kept; the known plan whose memory this is */
    double weighed_bytes;
    struct unstaged found; /* once `done`; name "": none */
    pthread_t thread;
    bool in_thread;
    atomic_bool stop, done;
};

static void take_contender(const struct contender *c, struct unstaged *out)
{
    char setting[80];

    if (!c->exists || !c->fits)
        return;
    contender_setting(c, setting, sizeof setting);
    out->step_ms = c->step_ms;
    snprintf(out->name, sizeof out->name, "%s%s", setting,
             c->proven ? ", proven over strict plans" : "");
}

static void *run_unstaged(void *context)
{
    struct unstaged_job *j = context;
    struct pipeline_options o = {.limit_bytes = j->limit_bytes, .stop = &j->stop};
    struct contender c = {.kind = COMPARE_BOTH};
    struct strict_rules rules;
    struct err e;

    if (!strict_rules_new(j->problem, &o, &rules, &e) && !best_strict(&rules, NULL, &c, &e))
        take_contender(&c, &j->found);
    contender_release(&c);
    strict_rules_release(&rules);
    atomic_store(&j->done, true);
    return NULL;
}

void unstaged_follow(struct watch *w, double limit_bytes, bool in_thread)
{
    struct err e;

    if (w->unstaged && w->unstaged->limit_bytes == limit_bytes)
        return;
    unstaged_job_free(w->unstaged);
    w->unstaged = mem_try(1, sizeof *w->unstaged);
    if (!w->unstaged)
        return;
    w->unstaged->problem = w->problem;
    w->unstaged->limit_bytes = limit_bytes;
    if (!in_thread)
        run_unstaged(w->unstaged);
    else if (thread_start(&w->unstaged->thread, run_unstaged, w->unstaged, "plans without stages",
                          &e))
        atomic_store(&w->unstaged->done, true);
    else
        w->unstaged->in_thread = true;
}

bool unstaged_is_asked(const struct watch *w)
{
    return w->unstaged && !atomic_load(&w->unstaged->done);
}

static double limit_of(const struct watch *w)
{
    double has = cluster_weakest(&w->problem->cluster).memory_bytes,
           asked = w->unstaged ? w->unstaged->limit_bytes : 0;

    return asked > 0 && asked < has ? asked : has;
}

static void take_faster(struct unstaged *best, double step_ms, const char *name)
{
    if (best->name[0] && best->step_ms <= step_ms)
        return;
    best->step_ms = step_ms;
    snprintf(best->name, sizeof best->name, "%s", name);
}

/* Bytes of a device under it, worked out once. */
static double weigh(const struct watch *w, struct live_plan *plan)
{
    struct unstaged_job *j = w->unstaged;
    struct plan_figures figures;
    struct err e;

    if (j && j->weighed == plan)
        return j->weighed_bytes;
    double bytes = plan_figures(w, plan->on, &figures, &e) ? INFINITY : figures.memory;
    if (j) {
        live_plan_release(j->weighed);
        j->weighed = live_plan_share(plan);
        j->weighed_bytes = bytes;
    }
    return bytes;
}

bool unstaged_best(const struct watch *w, struct unstaged *out)
{
    struct live_plan *plan = plan_load_best(w);
    struct relaxed_look relaxed = {0};

    *out = (struct unstaged){0};
    if (plan && weigh(w, plan) <= limit_of(w))
        take_faster(out, plan->cost.step_ms, plan->found_by);
    if (w->relaxed)
        relaxed_job_look(w->relaxed, &relaxed);
    if (relaxed.done && relaxed.plan && relaxed.memory.peak <= limit_of(w))
        take_faster(out, relaxed.plan->cost.step_ms, "relaxed");
    if (w->unstaged && !unstaged_is_asked(w) && w->unstaged->found.name[0])
        take_faster(out, w->unstaged->found.step_ms, w->unstaged->found.name);
    return out->name[0];
}

void unstaged_job_free(struct unstaged_job *j)
{
    if (!j)
        return;
    atomic_store(&j->stop, true);
    if (j->in_thread)
        pthread_join(j->thread, NULL);
    live_plan_release(j->weighed);
    free(j);
}
