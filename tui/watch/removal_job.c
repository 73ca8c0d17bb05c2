#include "tui/watch/removal_job.h"

#include "engine/plan/explain_reshard.h"
#include "engine/plan/plan.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/thread.h"

#include <stdatomic.h>
#include <stdio.h>

struct removal_job {
    struct plan plan;
    uint32_t number;
    struct removal_look look; /* under the lock */
    pthread_mutex_t lock;
    pthread_t thread;
    bool in_thread;
    atomic_bool stop;
};

static void *run_removal(void *context)
{
    struct removal_job *j = context;
    struct reshard_removal r = {0};
    struct removal_look look = {.done = true};
    struct err e = {0};

    if (reshard_remove_until(&j->plan, j->number, &j->stop, &r, &e))
        snprintf(look.trouble, sizeof look.trouble, "%.150s", e.what);
    else
        snprintf(look.trouble, sizeof look.trouble, "%s", r.why_not);
    look.is_possible = r.is_possible;
    look.step_ms = r.step_ms;
    reshard_removal_release(&r);
    pthread_mutex_lock(&j->lock);
    j->look = look;
    pthread_mutex_unlock(&j->lock);
    return NULL;
}

int removal_job_new(const struct relaxed_plan *x, uint32_t number, bool in_thread,
                    struct removal_job **out, struct err *e)
{
    struct removal_job *j = mem_try(1, sizeof *j);
    struct relaxed_plan copy;

    if (!j)
        return err_set(e, ERR_MEMORY, "not enough memory to leave a reshard out");
    pthread_mutex_init(&j->lock, NULL);
    j->number = number;
    if (relaxed_plan_copy(x, &copy, e) || plan_from_relaxed(&copy, &j->plan, e))
        goto failed;
    if (!in_thread)
        run_removal(j);
    else if (thread_start(&j->thread, run_removal, j, "a plan without a reshard", e))
        goto failed;
    j->in_thread = in_thread;
    *out = j;
    return 0;
failed:
    removal_job_free(j);
    return e->code;
}

void removal_job_free(struct removal_job *j)
{
    if (!j)
        return;
    atomic_store(&j->stop, true);
    if (j->in_thread)
        pthread_join(j->thread, NULL);
    plan_release(&j->plan);
    pthread_mutex_destroy(&j->lock);
    free(j);
}

void removal_job_look(struct removal_job *j, struct removal_look *out)
{
    pthread_mutex_lock(&j->lock);
    *out = j->look;
    pthread_mutex_unlock(&j->lock);
}
