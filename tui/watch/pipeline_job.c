#include "tui/watch/pipeline_job.h"

#include "engine/cluster/cluster.h"
#include "engine/pipeline/formula.h"
#include "engine/pipeline/pipe_exact.h"
#include "engine/pipeline/pipe_infer.h"
#include "engine/pipeline/pipe_instance.h"
#include "engine/pipeline/pipe_net.h"
#include "engine/pipeline/pipeline_file.h"
#include "engine/problem/problem.h"
#include "hlo/support/clock.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/thread.h"
#include "tui/files/policy_file.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

struct pipeline_job {
    const struct problem *problem;
    struct pipeline_options options;
    struct pipeline pipeline;
    const struct pipe_net *net; /* NULL: none is shipped */
    bool made;
    struct pipeline_look look; /* under the lock */
    pthread_mutex_t lock;
    pthread_t thread;
    bool in_thread;
    atomic_bool stop;
    int users;
};

static bool pipeline_stopped(struct pipeline_job *j)
{
    return atomic_load_explicit(&j->stop, memory_order_relaxed);
}

static void take_plan(struct pipeline_job *j, const struct pipeline_plan *plan)
{
    pthread_mutex_lock(&j->lock);
    j->look.plan = *plan;
    j->look.version++;
    pthread_mutex_unlock(&j->lock);
}

static int make_pipeline(struct pipeline_job *j, struct err *e)
{
    int rc = pipeline_new(j->problem, &j->options, &j->pipeline, e);

    if (rc)
        return rc;
    j->made = true;
    pthread_mutex_lock(&j->lock);
    j->look.pipeline = &j->pipeline;
    pthread_mutex_unlock(&j->lock);
    return 0;
}

/* The answer that is there at once, not yet made shorter. */
static bool instant(struct pipeline_job *j, struct pipe_plan *plan)
{
    struct pipeline_plan first = {.found_by = "closed form"};

    if (!pipeline_instant(&j->pipeline, plan))
        return false;
    struct pipe_plan all = pipeline_refine(&j->pipeline, plan);
    pipeline_price(&j->pipeline, &all, &first);
    take_plan(j, &first);
    return true;
}

static int ask_network(struct pipeline_job *j, struct err *e)
{
    const struct pipe_net *net = j->net;
    double start = clock_thread_seconds();
    struct network_answer answer;
    int rc = network_answer_make(&j->pipeline, net, &answer, e);

    if (rc)
        return rc;
    pthread_mutex_lock(&j->lock);
    j->look.network = answer;
    j->look.has_network = answer.found;
    j->look.has_net = net;
    j->look.network_s = clock_thread_seconds() - start;
    pthread_mutex_unlock(&j->lock);
    return 0;
}

/* Of the instant answer and the network's the one of smaller L; INFINITY: neither. */
static double known_plan(const struct pipeline_job *j, const struct pipe_plan *first,
                         bool has_first, struct pipe_plan *out)
{
    const struct network_answer *n = &j->look.network; /* only this thread writes it */
    double ms = has_first ? pipe_score(&j->pipeline.few, first) : INFINITY;

    if (j->look.has_network && !(ms < n->length_ms)) {
        *out = n->plan;
        return n->length_ms;
    }
    if (has_first)
        *out = *first;
    return ms;
}

/* Step by step, so that it can be left. What cannot be as good as the plans known is left out:
 * where nothing else is found, the better of them is the optimum. */
static int solve_pipeline(struct pipeline_job *j, const struct pipe_plan *first, bool has_first,
                          struct err *e)
{
    struct pipe_exact_options o = {.stages = j->options.stages,
                                   .variables = true,
                                   .pins = pipeline_pins(&j->pipeline, &j->pipeline.few),
                                   .stop = &j->stop};
    struct pipe_exact_result result;
    struct pipe_exact *x;
    struct pipe_plan best;
    double known = known_plan(j, first, has_first, &best), start = clock_thread_seconds();
    bool more = true;

    o.known_ms = isfinite(known) ? known : 0;
    int rc = pipe_exact_new(&j->pipeline.few, &o, &x, e);

    if (rc)
        return rc;
    while (more && !pipeline_stopped(j)) {
        more = pipe_exact_step(x);
        pthread_mutex_lock(&j->lock);
        j->look.steps = pipe_exact_steps(x);
        j->look.steps_done = pipe_exact_steps_done(x);
        pthread_mutex_unlock(&j->lock);
    }
    if (!more) {
        pipe_exact_result(x, &result);
        if (!result.found && isfinite(known)) {
            result.found = true;
            result.plan = best;
            result.length_ms = known;
        }
        pthread_mutex_lock(&j->lock);
        j->look.proof_s = clock_thread_seconds() - start;
        j->look.exact = result;
        j->look.has_exact = true;
        pthread_mutex_unlock(&j->lock);
    }
    pipe_exact_free(x);
    return 0;
}

/* Of the optimum of L, the network's and the instant answer, each made shorter by simulation, the
 * shortest. */
static int choose_pipeline(struct pipeline_job *j, const struct pipe_plan *first, bool has_first,
                           struct err *e)
{
    const struct pipe_exact_result *exact = &j->look.exact; /* only this thread writes it */
    struct pipeline_start start[3];
    struct pipeline_plan plan = {0};
    uint32_t count = 0;

    if (j->look.has_exact && exact->found)
        start[count++] =
            (struct pipeline_start){pipeline_refine(&j->pipeline, &exact->plan), "exact"};
    if (has_first)
        start[count++] =
            (struct pipeline_start){pipeline_refine(&j->pipeline, first), "closed form"};
    if (j->look.has_network)
        start[count++] = (struct pipeline_start){
            pipeline_refine(&j->pipeline, &j->look.network.plan), "network"};
    if (!pipeline_choose(&j->pipeline, start, count, &plan))
        return err_set(e, ERR_INFEASIBLE,
                       "no pipeline fits with %u micro-batches; m tries others, r recomputes",
                       j->pipeline.options.micro_batches);
    plan.optimum_ms = j->look.has_exact && exact->found ? exact->length_ms : 0;
    plan.certified = plan.optimum_ms > 0 && exact->certified;
    take_plan(j, &plan);
    return 0;
}

/* By how much none fits, and what would lower it. What can not be made is left out. */
static void try_others(struct pipeline_job *j)
{
    for (int n = 0; n < PIPELINE_TRIES && !pipeline_stopped(j); n++) {
        struct pipeline_options o = j->pipeline.options;
        struct pipeline_try t = {.recompute = n & 1, .deepest = n >> 1};
        struct pipeline_plan plan;
        struct pipe_plan first;
        struct pipeline l;
        struct err e;

        bool is_deep =
            n >= 2 && j->look.try_count && j->look.tries[0].stages == j->problem->cluster.devices;
        if ((o.recompute && !t.recompute) || (o.stages && t.deepest) || (t.deepest && is_deep))
            continue;
        o.recompute = t.recompute;
        o.stages = t.deepest ? j->problem->cluster.devices : o.stages;
        o.no_limit = true;
        if (pipeline_new(j->problem, &o, &l, &e))
            continue;
        bool found = pipeline_instant(&l, &first);
        if (found) {
            struct pipe_plan all = pipeline_refine(&l, &first);
            pipeline_price(&l, &all, &plan);
            t.bytes = pipeline_memory(&l, &plan, &t.stage);
            t.stages = plan.plan.stages;
        }
        pipeline_release(&l);
        if (!found)
            continue;
        pthread_mutex_lock(&j->lock);
        j->look.limit_bytes = cluster_weakest(&j->problem->cluster).memory_bytes;
        if (o.limit_bytes > 0 && o.limit_bytes < j->look.limit_bytes)
            j->look.limit_bytes = o.limit_bytes;
        j->look.tries[j->look.try_count++] = t;
        pthread_mutex_unlock(&j->lock);
    }
}

static void *run_pipeline(void *context)
{
    struct pipeline_job *j = context;
    struct pipe_plan first;
    struct err e = {0};
    bool has_first = false;
    int rc = make_pipeline(j, &e);

    if (rc)
        goto out;
    if (!pipeline_stopped(j))
        has_first = instant(j, &first);
    if (!pipeline_stopped(j))
        rc = ask_network(j, &e);
    if (rc)
        goto out;
    if (!pipeline_stopped(j))
        rc = solve_pipeline(j, &first, has_first, &e);
    if (rc)
        goto out;
    if (!pipeline_stopped(j))
        rc = choose_pipeline(j, &first, has_first, &e);
out:
    if (rc == ERR_INFEASIBLE && j->made)
        try_others(j);
    pthread_mutex_lock(&j->lock);
    if (rc)
        snprintf(j->look.trouble, sizeof j->look.trouble, "%.255s", e.what);
    j->look.done = true;
    pthread_mutex_unlock(&j->lock);
    return NULL;
}

int pipeline_job_new(const struct problem *p, const struct pipeline_options *o, bool in_thread,
                     struct pipeline_job **out, struct err *e)
{
    struct pipeline_job *j = mem_try(1, sizeof *j);

    if (!j)
        return err_set(e, ERR_MEMORY, "not enough memory for a pipeline");
    j->users = 1;
    j->problem = p;
    j->options = *o;
    j->options.stop = &j->stop;
    j->net = pipe_net_shipped(); /* read here, once, by the thread of the screen */
    pthread_mutex_init(&j->lock, NULL);
    if (!in_thread)
        run_pipeline(j);
    else if (thread_start(&j->thread, run_pipeline, j, "the pipeline", e)) {
        pipeline_job_free(j);
        return e->code;
    }
    j->in_thread = in_thread;
    *out = j;
    return 0;
}

int pipeline_job_of_file(const struct problem *p, const char *path, struct pipeline_job **out,
                         struct err *e)
{
    struct pipeline_job *j = mem_try(1, sizeof *j);

    if (!j)
        return err_set(e, ERR_MEMORY, "not enough memory for a pipeline");
    j->users = 1;
    j->problem = p;
    pthread_mutex_init(&j->lock, NULL);
    if (pipeline_file_load(p, path, &j->pipeline, &j->look.plan, e)) {
        pipeline_job_free(j);
        return e->code;
    }
    j->made = true;
    j->options = j->pipeline.options;
    j->look.pipeline = &j->pipeline;
    j->look.version = 1;
    j->look.done = true;
    snprintf(j->look.plan.found_by, sizeof j->look.plan.found_by, "a file");
    *out = j;
    return 0;
}

const struct pipeline_options *pipeline_job_options(const struct pipeline_job *j)
{
    return &j->options;
}

void pipeline_job_stop(struct pipeline_job *j)
{
    atomic_store(&j->stop, true);
}

struct pipeline_job *pipeline_job_share(struct pipeline_job *j)
{
    j->users++;
    return j;
}

void pipeline_job_free(struct pipeline_job *j)
{
    if (!j || --j->users > 0)
        return;
    pipeline_job_stop(j);
    if (j->in_thread)
        pthread_join(j->thread, NULL);
    if (j->made)
        pipeline_release(&j->pipeline);
    pthread_mutex_destroy(&j->lock);
    free(j);
}

void pipeline_job_look(struct pipeline_job *j, struct pipeline_look *out)
{
    pthread_mutex_lock(&j->lock);
    *out = j->look;
    pthread_mutex_unlock(&j->lock);
}
