#include "tui/watch/past_job.h"

#include "engine/live/journal.h"
#include "engine/live/past.h"
#include "engine/live/search_state.h"
#include "engine/live/snapshot.h"
#include "engine/problem/problem.h"
#include "engine/search/search.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/thread.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { SURVEY_STEPS = 256 }; /* at a time: somebody may want to be elsewhere, or to leave */

struct past_job {
    struct journal_log log;
    struct past *past; /* the thread's alone, as soon as there is one */
    pthread_t thread;
    bool in_thread;
    char journal[PATH_MAX], state_dir[PATH_MAX]; /* "": none */

    atomic_bool stop;     /* set under the lock, which the search for branches does not hold */
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t work;
    bool surveyed;
    uint64_t wanted, step;
    bool is_there;
    const struct snapshot *shot;
    struct past_event *events;
    uint64_t *episodes;
    size_t event_count, event_room, episode_count, episode_room;
    struct err trouble;                         /* code 0: none */
    struct past_branch branches[BRANCHES_MOST]; /* there once looked_for, and not changed then */
    int branch_count, more_branches;
    bool looked_for;

    struct past_event *shown_events; /* the reader's */
    uint64_t *shown_episodes;
    size_t shown_event_count, shown_event_room, shown_episode_count, shown_episode_room;
    const struct snapshot *shown;
};

/* Appends what `from` has more. False: out of memory. */
static bool follow_array(void **to, size_t *room, size_t *count, const void *from, size_t all,
                         size_t size)
{
    if (all > *room) {
        size_t wanted = all + all / 2 + 16;
        void *grown = realloc(*to, wanted * size);
        if (!grown)
            return false;
        *to = grown;
        *room = wanted;
    }
    if (all > *count)
        memcpy((char *)*to + *count * size, (const char *)from + *count * size,
               (all - *count) * size);
    *count = all;
    return true;
}

static void fail_past(struct past_job *j, const struct err *e)
{
    j->trouble = *e;
    j->surveyed = true;
}

/* Under the lock, which it lets go meanwhile. */
static void go_to_moment(struct past_job *j)
{
    uint64_t step = j->wanted;
    struct search_state *c = NULL;
    struct snapshot *shot = NULL;
    struct err e = {0};
    int rc = 0;

    while (!c && !rc && !j->stop && j->wanted == step) {
        pthread_mutex_unlock(&j->lock);
        rc = past_go(j->past, step, SURVEY_STEPS, &c, &e);
        if (c && !(shot = search_state_snapshot(c)))
            rc = err_no_memory(&e, "for a moment of the past");
        pthread_mutex_lock(&j->lock);
    }
    if (!c && !rc) /* asked elsewhere, or to end */
        return;
    if (rc)
        fail_past(j, &e);
    j->is_there = true;
    j->step = step;
    if (!shot)
        return;
    snapshot_release(j->shot);
    j->shot = shot;
}

static void survey(struct past_job *j)
{
    bool done = false;
    struct err e = {0};
    size_t events, episodes;

    pthread_mutex_unlock(&j->lock);
    int rc = past_survey(j->past, SURVEY_STEPS, &done, &e);
    const struct past_event *v = past_events(j->past, &events);
    const uint64_t *ends = past_episodes(j->past, &episodes);
    pthread_mutex_lock(&j->lock);
    if (!follow_array((void **)&j->events, &j->event_room, &j->event_count, v, events, sizeof *v) ||
        !follow_array((void **)&j->episodes, &j->episode_room, &j->episode_count, ends, episodes,
                      sizeof *ends))
        rc = err_no_memory(&e, "for the past of a search");
    j->surveyed = done;
    if (rc)
        fail_past(j, &e);
}

/* Under the lock, which it lets go meanwhile. */
static void look_for_branches(struct past_job *j)
{
    pthread_mutex_unlock(&j->lock);
    int more, count = branches_find(j->branches, &more, j->state_dir[0] ? j->state_dir : NULL,
                                    j->journal, &j->log, &j->stop);
    pthread_mutex_lock(&j->lock);
    j->branch_count = count;
    j->more_branches = more;
    j->looked_for = true;
}

static void *run_past(void *context)
{
    struct past_job *j = context;

    pthread_mutex_lock(&j->lock);
    if (!j->looked_for)
        look_for_branches(j);
    while (!j->stop) {
        if (!j->surveyed)
            survey(j);
        else if (!j->is_there || j->step != j->wanted)
            go_to_moment(j);
        else if (j->in_thread)
            pthread_cond_wait(&j->work, &j->lock);
        else
            break;
    }
    pthread_mutex_unlock(&j->lock);
    return NULL;
}

int past_job_new(const struct problem *p, const struct search_options *o, const char *journal,
                 const char *state_dir, bool in_thread, struct past_job **out, struct err *e)
{
    struct past_job *j = mem_try(1, sizeof *j);

    if (!j)
        return err_no_memory(e, "for the past of a search");
    pthread_mutex_init(&j->lock, NULL);
    pthread_cond_init(&j->work, NULL);
    int rc = journal_read(journal, &j->log, e);
    if (rc)
        goto out;
    rc = past_new(p, o, &j->log, &j->past, e);
    if (rc)
        goto out;
    j->wanted = past_last_step(j->past);
    snprintf(j->journal, sizeof j->journal, "%s", journal);
    snprintf(j->state_dir, sizeof j->state_dir, "%s", state_dir ? state_dir : "");
    j->in_thread = in_thread; /* before there is a thread to read it */
    if (in_thread)
        rc = thread_start(&j->thread, run_past, j, "the past of a search", e);
    else
        run_past(j);
    j->in_thread = in_thread && rc == 0;
out:
    if (rc)
        past_job_free(j);
    else
        *out = j;
    return rc;
}

void past_job_free(struct past_job *j)
{
    if (!j)
        return;
    if (j->in_thread) {
        pthread_mutex_lock(&j->lock);
        j->stop = true;
        pthread_cond_signal(&j->work);
        pthread_mutex_unlock(&j->lock);
        pthread_join(j->thread, NULL);
    }
    snapshot_release(j->shot);
    snapshot_release(j->shown);
    past_free(j->past);
    journal_log_release(&j->log);
    free(j->events);
    free(j->episodes);
    free(j->shown_events);
    free(j->shown_episodes);
    pthread_mutex_destroy(&j->lock);
    pthread_cond_destroy(&j->work);
    free(j);
}

void past_job_look(struct past_job *j, struct past_look *out)
{
    pthread_mutex_lock(&j->lock);
    bool follows =
        follow_array((void **)&j->shown_events, &j->shown_event_room, &j->shown_event_count,
                     j->events, j->event_count, sizeof *j->events) &&
        follow_array((void **)&j->shown_episodes, &j->shown_episode_room, &j->shown_episode_count,
                     j->episodes, j->episode_count, sizeof *j->episodes);
    snapshot_release(j->shown);
    j->shown = snapshot_keep(j->shot);
    *out = (struct past_look){.events = j->shown_events,
                              .episodes = j->shown_episodes,
                              .event_count = j->shown_event_count,
                              .episode_count = j->shown_episode_count,
                              .last_step = past_last_step(j->past),
                              .step = j->step,
                              .shot = j->shown,
                              .branches = j->branches,
                              .branch_count = j->branch_count,
                              .more_branches = j->more_branches,
                              .looked_for = j->looked_for,
                              .surveyed = j->surveyed,
                              .is_there = j->is_there && j->step == j->wanted};
    if (!follows && !j->trouble.code)
        err_no_memory(&j->trouble, "for the past of a search");
    out->trouble = j->trouble;
    pthread_mutex_unlock(&j->lock);
}

void past_job_go(struct past_job *j, uint64_t step)
{
    uint64_t last = past_last_step(j->past);

    pthread_mutex_lock(&j->lock);
    j->wanted = step < last ? step : last;
    pthread_cond_signal(&j->work);
    pthread_mutex_unlock(&j->lock);
    if (!j->in_thread)
        run_past(j);
}

int past_job_branch(struct past_job *j, uint64_t step, const char *path, struct err *e)
{
    return journal_branch(&j->log, step, path, e);
}
