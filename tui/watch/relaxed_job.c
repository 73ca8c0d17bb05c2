#include "tui/watch/relaxed_job.h"

#include "engine/cost/memory.h"
#include "engine/problem/problem.h"
#include "engine/relaxed/relaxed.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/thread.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { SWEEPS_AT_ONCE = 20, SWEEPS_MOST = 200 };

struct relaxed_job {
    const struct problem *problem;
    struct relaxed_pin *pins;
    uint32_t pin_count;
    struct relaxed_plan plan;
    struct relaxed_look look; /* under the lock */
    pthread_mutex_t lock;
    pthread_t thread;
    bool in_thread, has_plan;
    atomic_bool stop;
};

/* One pin for each dim of a variable that a pinned class holds. */
static bool take_pins(struct relaxed_job *j, const struct snapshot *s)
{
    const struct problem *p = j->problem;
    size_t room = 0;

    for (uint32_t n = 0; n < s->pin_count; n++) {
        for (uint32_t k = 0; k < p->roles.param_count; k++) {
            const struct hlo_param_role *r = &p->roles.params[k];
            for (uint32_t d = 0;
                 r->role == HLO_ROLE_VARIABLE && d < hlo_value_shape(p->m, r->value)->rank; d++) {
                if (problem_param_class(p, k, d) != s->pins[n].class)
                    continue;
                if (!mem_grow(&j->pins, &room, j->pin_count, 1))
                    return false;
                j->pins[j->pin_count++] =
                    (struct relaxed_pin){.param = k,
                                         .dim = d,
                                         .axis = s->pins[n].axis,
                                         .kind = s->pins[n].split ? RELAXED_SPLIT : RELAXED_WHOLE};
            }
        }
    }
    return true;
}

/* A few sweeps at a time, so that it can be left; what is known is kept from one to the next. */
static int solve_relaxed(struct relaxed_job *j, struct relaxed *r, struct err *e)
{
    int rc = 0;

    for (uint32_t sweeps = 0; sweeps < SWEEPS_MOST && !atomic_load(&j->stop);
         sweeps += SWEEPS_AT_ONCE) {
        struct relaxed_plan next;
        rc = relaxed_solve(r, SWEEPS_AT_ONCE, &next, e);
        if (rc)
            return rc;
        bool better = !j->has_plan || next.cost.step_ms < j->plan.cost.step_ms ||
                      next.bound_ms > j->plan.bound_ms;
        if (j->has_plan)
            relaxed_plan_release(&j->plan);
        j->plan = next;
        j->has_plan = true;
        pthread_mutex_lock(&j->lock);
        j->look.sweeps = sweeps + SWEEPS_AT_ONCE;
        pthread_mutex_unlock(&j->lock);
        if (next.gap <= 1e-6 || !better)
            break;
    }
    return rc;
}

static void *run_relaxed(void *context)
{
    struct relaxed_job *j = context;
    struct relaxed_options o = {0};
    struct memory_cost memory = {0};
    struct relaxed *r = NULL;
    struct err e = {0};
    int rc = relaxed_new(j->problem, &o, &r, &e);

    if (!rc)
        relaxed_set_stop(r, &j->stop);
    rc = rc ? rc : relaxed_set_pins(r, j->pins, j->pin_count, &e);
    rc = rc ? rc : solve_relaxed(j, r, &e);
    relaxed_free(r);
    if (!rc && j->has_plan)
        rc = relaxed_memory(&j->plan, &memory, &e);
    pthread_mutex_lock(&j->lock);
    if (rc) {
        snprintf(j->look.trouble, sizeof j->look.trouble, "%.255s", e.what);
    } else if (j->has_plan) {
        j->look.plan = &j->plan;
        j->look.memory = memory;
        relaxed_sums(&j->plan, j->look.sums);
    }
    j->look.done = true;
    pthread_mutex_unlock(&j->lock);
    return NULL;
}

int relaxed_job_new(const struct problem *p, const struct snapshot *s, bool in_thread,
                    struct relaxed_job **out, struct err *e)
{
    struct relaxed_job *j = mem_try(1, sizeof *j);

    if (!j)
        return err_set(e, ERR_MEMORY, "not enough memory for a relaxed plan");
    j->problem = p;
    pthread_mutex_init(&j->lock, NULL);
    if (!take_pins(j, s)) {
        relaxed_job_free(j);
        return err_set(e, ERR_MEMORY, "not enough memory for the pins");
    }
    if (!in_thread)
        run_relaxed(j);
    else if (thread_start(&j->thread, run_relaxed, j, "a relaxed plan", e)) {
        relaxed_job_free(j);
        return e->code;
    }
    j->in_thread = in_thread;
    *out = j;
    return 0;
}

int relaxed_job_of(const struct relaxed_plan *x, struct relaxed_job **out, struct err *e)
{
    struct relaxed_job *j = mem_try(1, sizeof *j);

    if (!j)
        return err_set(e, ERR_MEMORY, "not enough memory for a relaxed plan");
    j->problem = x->problem;
    pthread_mutex_init(&j->lock, NULL);
    int rc = relaxed_plan_copy(x, &j->plan, e);
    if (!rc) {
        j->has_plan = true;
        rc = relaxed_memory(&j->plan, &j->look.memory, e);
    }
    if (rc) {
        relaxed_job_free(j);
        return rc;
    }
    relaxed_sums(&j->plan, j->look.sums);
    j->look.plan = &j->plan;
    j->look.done = true;
    *out = j;
    return 0;
}

void relaxed_job_free(struct relaxed_job *j)
{
    if (!j)
        return;
    atomic_store(&j->stop, true);
    if (j->in_thread)
        pthread_join(j->thread, NULL);
    if (j->has_plan)
        relaxed_plan_release(&j->plan);
    free(j->pins);
    pthread_mutex_destroy(&j->lock);
    free(j);
}

void relaxed_job_look(struct relaxed_job *j, struct relaxed_look *out)
{
    pthread_mutex_lock(&j->lock);
    *out = j->look;
    pthread_mutex_unlock(&j->lock);
}
