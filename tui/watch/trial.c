#include "tui/watch/trial.h"

#include "engine/live/ledger.h"
#include "engine/live/search_state.h"
#include "engine/live/snapshot.h"
#include "engine/problem/problem.h"
#include "engine/search/search.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/thread.h"
#include "tui/watch/ledger_text.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIN_ROOM = 32 };

struct trial_job {
    struct problem problem;      /* the one in force, with a stop of its own */
    struct live_problem *edited; /* holds it; NULL: the session's original */
    struct search_options options;
    char (*pins)[PIN_ROOM]; /* as commands */
    uint32_t pin_count;
    struct live_command command;
    struct trial_look look; /* under the lock */
    pthread_mutex_t lock;
    pthread_t thread;
    bool in_thread;
    atomic_bool stop;
};

static int carry_out(const struct trial_job *j, struct search_state *c, struct err *e)
{
    struct live_command pin;
    int rc = 0;

    for (uint32_t n = 0; n < j->pin_count && !rc; n++) {
        rc = live_command_parse(j->pins[n], &pin, e);
        if (rc == 0)
            rc = search_state_apply(c, &pin, e);
    }
    return rc ? rc : search_state_apply(c, &j->command, e);
}

static void *run_trial(void *context)
{
    struct trial_job *j = context;
    struct search_state c = {0};
    struct trial_look look = {.done = true};
    struct err e = {0};

    int rc = search_state_new(&j->problem, &j->options, &c, &e);
    if (rc == 0) {
        rc = carry_out(j, &c, &e);
        const struct ledger_row *r = c.ledger ? &c.ledger->rows[c.ledger->now] : NULL;
        if (rc == 0 && r) {
            look.has_plan = ledger_has_plan(r);
            look.step_ms = r->figures.cost.step_ms;
            look.memory = r->figures.memory.peak;
            ledger_proof(r, false, look.proof);
        }
        search_state_release(&c);
    }
    if (rc)
        snprintf(look.trouble, sizeof look.trouble, "%.150s", e.what);
    pthread_mutex_lock(&j->lock);
    j->look = look;
    pthread_mutex_unlock(&j->lock);
    return NULL;
}

/* The pins there are, as commands. False: one is of a class that this search does not decide. */
static bool copy_pins(struct trial_job *j, const struct snapshot *s)
{
    for (uint32_t n = 0; n < s->pin_count; n++) {
        const struct live_pin *pin = &s->pins[n];
        if (pin->move == UINT32_MAX)
            return false;
        snprintf(j->pins[j->pin_count++], PIN_ROOM, "pin @%u=%d", pin->move, pin->split);
    }
    return true;
}

static void free_job(struct trial_job *j)
{
    if (!j)
        return;
    atomic_store(&j->stop, true);
    if (j->in_thread)
        pthread_join(j->thread, NULL);
    live_problem_release(j->edited);
    pthread_mutex_destroy(&j->lock);
    free(j->pins);
    free(j);
}

static int begin(const struct watch *w, const char *line, bool in_thread, struct trial_job **out,
                 struct err *e)
{
    struct trial_job *j = mem_try(1, sizeof *j);

    if (!j)
        return err_set(e, ERR_MEMORY, "not enough memory to try a change");
    pthread_mutex_init(&j->lock, NULL);
    j->problem = *w->problem;
    j->problem.stop = &j->stop;
    j->edited = live_problem_share(w->shot->edited);
    j->options = w->shot->options;
    j->pins = mem_try((size_t)w->shot->pin_count + 1, sizeof *j->pins);
    if (!j->pins)
        err_set(e, ERR_MEMORY, "not enough memory to try a change");
    else if (!copy_pins(j, w->shot))
        err_set(e, ERR_INPUT, "not tried: a pin is of no decision of this search");
    if (e->code || live_command_parse(line, &j->command, e))
        goto failed;
    if (!in_thread)
        run_trial(j);
    else if (thread_start(&j->thread, run_trial, j, "a change that is tried", e))
        goto failed;
    j->in_thread = in_thread;
    *out = j;
    return 0;
failed:
    free_job(j);
    return e->code;
}

static bool is_done(struct trial_job *j, struct trial_look *out)
{
    pthread_mutex_lock(&j->lock);
    *out = j->look;
    pthread_mutex_unlock(&j->lock);
    return out->done;
}

static void end_when_done(struct trial *t)
{
    struct trial_look look;

    if (!t->job || !is_done(t->job, &look))
        return;
    if (t->is_of_line)
        t->look = look;
    free_job(t->job);
    t->job = NULL;
}

void trial_follow(struct trial *t, const struct watch *w, const char *line, double now_ms)
{
    enum { STANDS_MS = 250 };
    const struct ledger *l = w->shot->ledger;
    uint32_t row = l ? l->rows[l->now].number : 0;
    struct err e = {0};

    if (strcmp(line, t->line) != 0 || row != t->row) {
        snprintf(t->line, sizeof t->line, "%s", line);
        t->row = row;
        t->since_ms = now_ms;
        t->look = (struct trial_look){0};
        t->is_of_line = false;
        if (t->job)
            atomic_store(&t->job->stop, true);
    }
    end_when_done(t);
    if (t->job || t->look.done || !t->line[0] || (now_ms > 0 && now_ms - t->since_ms < STANDS_MS))
        return;
    t->is_of_line = true;
    if (begin(w, t->line, now_ms > 0, &t->job, &e)) {
        t->look = (struct trial_look){.done = true};
        snprintf(t->look.trouble, sizeof t->look.trouble, "%.150s", e.what);
    }
    end_when_done(t);
}

bool trial_is_busy(const struct trial *t)
{
    return t->job || (t->line[0] && !t->look.done);
}

void trial_release(struct trial *t)
{
    free_job(t->job);
    t->job = NULL;
}
