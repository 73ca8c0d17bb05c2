#include "tui/watch/fewer_job.h"

#include "engine/live/snapshot.h"
#include "engine/problem/problem.h"
#include "engine/search/game.h"
#include "engine/text/units.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/thread.h"
#include "tui/watch/watch.h"

#include <stdatomic.h>
#include <stdio.h>

struct fewer_job {
    const struct problem *problem;
    struct fewer_question question;
    struct fewer found; /* once `done` */
    pthread_t thread;
    bool in_thread;
    atomic_bool stop, done;
};

static void *run_fewer(void *context)
{
    struct fewer_job *j = context;
    struct err e;

    if (fewer_devices(j->problem, &j->question, &j->found, &e))
        j->found.found = false;
    atomic_store(&j->done, true);
    return NULL;
}

/* What to ask now; false: nothing, for there is no optimum to hold others against, or it keeps
 * pins, which have no meaning on other devices. */
static bool ask_fewer(const struct watch *w, struct fewer_question *out)
{
    const struct game_options *game = &w->shot->options.game;

    if (!w->exact || w->shot->pin_count ||
        game->reward == GAME_REWARD_PAPER) /* its optimum is of another goal */
        return false;
    *out = (struct fewer_question){.step_ms = w->exact->cost.step_ms,
                                   .does_not_fit = !w->exact->fits,
                                   .limit_bytes = game->memory_limit > 0 ? game->memory_limit : 0,
                                   .variables = game->kind != GAME_ADP,
                                   .inputs = game->kind != GAME_OPP};
    return true;
}

static bool is_same(const struct fewer_question *a, const struct fewer_question *b)
{
    return a->step_ms == b->step_ms && a->does_not_fit == b->does_not_fit &&
           a->limit_bytes == b->limit_bytes && a->variables == b->variables &&
           a->inputs == b->inputs;
}

void fewer_follow(struct watch *w, bool in_thread)
{
    struct fewer_question q;
    struct err e;

    bool is_asked = ask_fewer(w, &q);
    if (is_asked && w->fewer && is_same(&q, &w->fewer->question))
        return;
    fewer_job_free(w->fewer);
    w->fewer = NULL;
    if (!is_asked)
        return;
    w->fewer = mem_try(1, sizeof *w->fewer);
    if (!w->fewer)
        return;
    w->fewer->problem = w->problem;
    w->fewer->question = q;
    w->fewer->question.stop = &w->fewer->stop;
    if (!in_thread)
        run_fewer(w->fewer);
    else if (thread_start(&w->fewer->thread, run_fewer, w->fewer, "fewer devices", &e))
        atomic_store(&w->fewer->done, true);
    else
        w->fewer->in_thread = true;
}

bool fewer_is_asked(const struct watch *w)
{
    return w->fewer && !atomic_load(&w->fewer->done);
}

const struct fewer *fewer_found(const struct watch *w)
{
    const struct fewer_job *j = w->fewer;

    return j && atomic_load(&j->done) && j->found.found ? &j->found : NULL;
}

void fewer_words(const struct watch *w, double step_ms, char *out, size_t room)
{
    const struct fewer *f = fewer_found(w);
    char ms[UNITS_ROOM];

    out[0] = 0;
    if (f && f->step_ms < 0.99 * step_ms)
        snprintf(out, room, "   on %u device%s %s", f->devices, f->devices == 1 ? "" : "s",
                 units_ms(ms, f->step_ms));
}

void fewer_command(const struct fewer *f, char *out, size_t room)
{
    snprintf(out, room, "servers %s %s", f->servers, f->mesh);
}

void fewer_job_free(struct fewer_job *j)
{
    if (!j)
        return;
    atomic_store(&j->stop, true);
    if (j->in_thread)
        pthread_join(j->thread, NULL);
    free(j);
}
