#include "tui/watch/export_job.h"

#include "engine/live/series.h"
#include "engine/live/snapshot.h"
#include "engine/plan/export_report.h"
#include "engine/plan/plan.h"
#include "engine/search/game.h"
#include "hlo/support/clock.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/thread.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { CURVE_POINTS = 256 };

struct export_job {
    const struct export_form *form;
    struct plan plan;
    struct report_about about;
    char *model, *command;
    float curve[CURVE_POINTS];

    struct str text, warnings;
    struct err error;
    int rc;

    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t ended;
    bool has_ended;
};

/* Best step time over the search, from the curve of scores: ln(baseline / step). */
static void draw_curve(struct export_job *j, const struct snapshot *s)
{
    const struct series *best = &s->best_ms;

    if (s->options.game.reward != GAME_REWARD_COST || best->count < 2)
        return;
    double last = best->block->points[best->count - 1].x;
    uint32_t at = 0;
    for (uint32_t n = 0; n < CURVE_POINTS; n++) {
        while (at + 1 < best->count &&
               best->block->points[at + 1].x <= last * n / (CURVE_POINTS - 1))
            at++;
        j->curve[n] = (float)(s->baseline_ms * exp(-(double)best->block->points[at].high));
    }
    j->about.best_ms = j->curve;
    j->about.points = CURVE_POINTS;
    j->about.episodes = last;
}

static void *work_on_export(void *argument)
{
    struct export_job *j = argument;

    j->rc = export_form_write(j->form, &j->plan, &j->about, &j->text, &j->warnings, &j->error);
    pthread_mutex_lock(&j->lock);
    j->has_ended = true;
    pthread_cond_broadcast(&j->ended);
    pthread_mutex_unlock(&j->lock);
    return NULL;
}

static int start_thread(struct export_job *j, struct err *e)
{
    pthread_mutex_init(&j->lock, NULL);
    clock_condition_init(&j->ended);
    return thread_start(&j->thread, work_on_export, j, "the export", e);
}

static void drop_export(struct export_job *j)
{
    plan_release(&j->plan);
    str_release(&j->text);
    str_release(&j->warnings);
    free(j->model);
    free(j->command);
    free(j);
}

struct export_job *export_job_start(const struct watch *w, struct plan *plan,
                                    const struct export_form *form, const char *model,
                                    const char *command, struct err *e)
{
    struct export_job *j = mem_alloc(sizeof *j);

    j->form = form;
    j->plan = *plan;
    memset(plan, 0, sizeof *plan);
    j->model = strdup(model);
    j->command = strdup(command);
    j->about.model = j->model;
    j->about.command = j->command;
    j->about.baseline_ms = w->shot->baseline_ms;
    if (!j->plan.relaxed)
        draw_curve(j, w->shot);
    int rc = j->model && j->command ? start_thread(j, e)
                                    : err_set(e, ERR_MEMORY, "not enough memory for an export");
    if (rc) {
        drop_export(j);
        return NULL;
    }
    return j;
}

void export_job_free(struct export_job *j)
{
    if (!j)
        return;
    pthread_join(j->thread, NULL);
    pthread_mutex_destroy(&j->lock);
    pthread_cond_destroy(&j->ended);
    drop_export(j);
}

bool export_job_wait(struct export_job *j, double seconds)
{
    struct timespec until = clock_deadline(seconds);

    pthread_mutex_lock(&j->lock);
    while (!j->has_ended && pthread_cond_timedwait(&j->ended, &j->lock, &until) != ETIMEDOUT) {
    }
    bool ended = j->has_ended;
    pthread_mutex_unlock(&j->lock);
    return ended;
}

int export_job_result(const struct export_job *j, const struct str **text,
                      const struct str **warnings, struct err *e)
{
    *text = &j->text;
    *warnings = &j->warnings;
    if (j->rc)
        *e = j->error;
    return j->rc;
}
