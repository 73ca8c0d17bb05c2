#include "engine/live/session.h"

#include "engine/live/checkpoint.h"
#include "engine/live/command.h"
#include "engine/live/journal.h"
#include "engine/live/search_state_internal.h"
#include "engine/live/series.h"
#include "engine/live/snapshot.h"
#include "engine/problem/problem.h"
#include "hlo/support/clock.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { QUEUE_ROOM = 4096, REFUSALS = 64 };

struct refusal {
    uint64_t ticket;
    struct err error;
};

struct session {
    pthread_t thread;
    struct search_state state; /* the search thread's alone */

    pthread_mutex_t lock;      /* of all below; held for a few instructions only */
    pthread_cond_t work, done; /* a command came; one was applied or the search came to rest */
    struct live_command queue[QUEUE_ROOM];
    uint64_t sent, applied; /* queue[ticket % QUEUE_ROOM] */
    struct refusal refused[REFUSALS];
    uint64_t refusals;
    bool idle, ended;
    struct snapshot *newest;
    uint64_t numbered;
    int wake[2]; /* a pipe: one byte when a snapshot is there that was not looked at */
    bool woken;

    atomic_bool pending; /* a command is queued */
    atomic_bool wanted;  /* a snapshot is asked for */
};

/* ---- the search thread ---- */

static void publish_snapshot(struct session *s)
{
    struct snapshot *next = search_state_snapshot(&s->state), *old;

    if (!next)
        return;
    pthread_mutex_lock(&s->lock);
    next->number = ++s->numbered;
    old = s->newest;
    s->newest = next;
    bool wake = !s->woken;
    s->woken = true;
    pthread_mutex_unlock(&s->lock);
    snapshot_release(old);
    if (wake && write(s->wake[1], "", 1) < 0 && errno != EAGAIN)
        return;
}

/* `quits`: nothing left to take is the end of the thread; what is sent later is refused. */
static bool take_command(struct session *s, bool quits, struct live_command *out)
{
    bool any;

    pthread_mutex_lock(&s->lock);
    any = s->applied < s->sent;
    if (any)
        *out = s->queue[(s->applied + 1) % QUEUE_ROOM];
    else
        atomic_store(&s->pending, false);
    s->ended = quits && !any;
    pthread_mutex_unlock(&s->lock);
    return any;
}

static int too_late(struct err *e)
{
    return err_set(e, ERR_INPUT, "the search has ended");
}

/* Under the lock: the next command was carried out, or refused with `e`. */
static void answer_command(struct session *s, int rc, const struct err *e)
{
    s->applied++;
    if (rc)
        s->refused[s->refusals++ % REFUSALS] = (struct refusal){s->applied, *e};
    pthread_cond_broadcast(&s->done);
}

static void finish_command(struct session *s, int rc, const struct err *e)
{
    pthread_mutex_lock(&s->lock);
    answer_command(s, rc, e);
    pthread_mutex_unlock(&s->lock);
}

/* True when a quit was among them. */
static bool apply_commands(struct session *s)
{
    struct live_command c;
    bool quit = false;

    while (take_command(s, quit, &c)) {
        struct err e;
        int rc = quit ? too_late(&e) : search_state_apply(&s->state, &c, &e);
        quit |= c.verb == COMMAND_QUIT;
        if (search_state_wants_step(&s->state) || quit) {
            pthread_mutex_lock(&s->lock);
            s->idle = quit;
            pthread_mutex_unlock(&s->lock);
        }
        publish_snapshot(s); /* before the answer: who waits for it sees what it did */
        finish_command(s, rc, &e);
    }
    return quit;
}

/* Sleeps until a command comes, or for at most `seconds` (< 0: for ever). */
static void wait_for_work(struct session *s, double seconds, bool idle)
{
    struct timespec until = clock_deadline(seconds > 0 ? seconds : 0);

    pthread_mutex_lock(&s->lock);
    if (idle && s->applied == s->sent && !s->idle) {
        s->idle = true;
        pthread_cond_broadcast(&s->done);
    }
    while (s->applied == s->sent && !atomic_load(&s->wanted)) {
        if (seconds < 0)
            pthread_cond_wait(&s->work, &s->lock);
        else if (pthread_cond_timedwait(&s->work, &s->lock, &until) == ETIMEDOUT)
            break;
    }
    pthread_mutex_unlock(&s->lock);
}

static void *search_thread(void *argument)
{
    struct session *s = argument;

    for (;;) {
        if (atomic_load_explicit(&s->pending, memory_order_relaxed) && apply_commands(s))
            return NULL;
        s->state.watched = atomic_load_explicit(&s->wanted, memory_order_relaxed) &&
                           atomic_exchange(&s->wanted, false);
        if (s->state.watched)
            publish_snapshot(s);
        if (!search_state_wants_step(&s->state)) {
            wait_for_work(s, -1, true);
            continue;
        }
        search_state_step(&s->state);
        if (!search_state_wants_step(&s->state)) {
            publish_snapshot(s);
        } else if (s->state.pace > 0) {
            publish_snapshot(s);
            wait_for_work(s, 1 / s->state.pace, false);
        }
    }
}

/* ---- the others ---- */

static int init_sync(struct session *s, struct err *e)
{
    if (pipe(s->wake))
        return err_set(e, ERR_IO, "cannot make a pipe: %s", strerror(errno));
    for (int end = 0; end < 2; end++) {
        fcntl(s->wake[end], F_SETFL, O_NONBLOCK);
        fcntl(s->wake[end], F_SETFD, FD_CLOEXEC);
    }
    pthread_mutex_init(&s->lock, NULL);
    clock_condition_init(&s->work);
    clock_condition_init(&s->done);
    return 0;
}

static void release_sync(struct session *s)
{
    close(s->wake[0]);
    close(s->wake[1]);
    pthread_mutex_destroy(&s->lock);
    pthread_cond_destroy(&s->work);
    pthread_cond_destroy(&s->done);
}

static int begin_thread(struct session *s, struct err *e)
{
    s->newest = search_state_snapshot(&s->state);
    if (!s->newest)
        return err_no_memory(e, "for the session");
    s->newest->number = ++s->numbered;
    s->idle =
        !search_state_wants_step(&s->state); /* a replayed one may be in the middle of a run */
    return thread_start(&s->thread, search_thread, s, "the search", e);
}

static int begin_state(struct session *s, const struct problem *p, const struct session_options *o,
                       struct err *e)
{
    int rc = search_state_new(p, &o->search, &s->state, e);
    char note[RESUME_NOTE_ROOM];

    if (rc || !o->resume)
        return rc;
    rc = checkpoint_resume(&s->state, journal_path(o->journal), o->resume, note, e);
    if (rc)
        search_state_release(&s->state);
    else if (note[0])
        state_say(&s->state, LOG_TROUBLE, "%s", note);
    return rc;
}

int session_new(const struct problem *p, const struct session_options *o, struct session **out,
                struct err *e)
{
    struct session *s = mem_try(1, sizeof *s);
    int rc;

    if (!s) {
        journal_close(o->journal);
        return err_no_memory(e, "for the session");
    }
    rc = begin_state(s, p, o, e);
    if (rc) {
        journal_close(o->journal);
        free(s);
        return rc;
    }
    s->state.journal = o->journal;
    rc = init_sync(s, e);
    if (rc)
        goto out;
    rc = begin_thread(s, e);
    if (rc) {
        snapshot_release(s->newest);
        release_sync(s);
    }
out:
    if (rc) {
        journal_close(s->state.journal);
        search_state_release(&s->state);
        free(s);
    } else {
        *out = s;
    }
    return rc;
}

void session_free(struct session *s)
{
    struct live_command quit = {.verb = COMMAND_QUIT};
    struct err unused;

    if (!s)
        return;
    session_send(s, &quit);
    pthread_join(s->thread, NULL);
    snapshot_release(s->newest);
    release_sync(s);
    checkpoint_end_journal(&s->state, &unused); /* the log has said it */
    search_state_release(&s->state);
    free(s);
}

uint64_t session_send(struct session *s, const struct live_command *c)
{
    uint64_t ticket;

    pthread_mutex_lock(&s->lock);
    while (s->sent - s->applied == QUEUE_ROOM - 1)
        pthread_cond_wait(&s->done, &s->lock);
    ticket = ++s->sent;
    if (s->ended) {
        struct err e;
        answer_command(s, too_late(&e), &e);
    } else {
        s->queue[ticket % QUEUE_ROOM] = *c;
        s->idle = false;
        atomic_store(&s->pending, true);
        pthread_cond_signal(&s->work);
    }
    pthread_mutex_unlock(&s->lock);
    return ticket;
}

int session_wait(struct session *s, uint64_t ticket, double timeout_s, struct err *e)
{
    struct timespec until = clock_deadline(timeout_s);
    int rc = 0;

    pthread_mutex_lock(&s->lock);
    while (s->applied < ticket) {
        if (pthread_cond_timedwait(&s->done, &s->lock, &until) == ETIMEDOUT) {
            rc = err_set(e, ERR_IO, "no answer from the search in %.1f s", timeout_s);
            goto out;
        }
    }
    for (uint64_t n = 0; n < REFUSALS && n < s->refusals; n++) {
        if (s->refused[n].ticket == ticket) {
            *e = s->refused[n].error;
            rc = e->code;
        }
        if (rc)
            goto out;
    }
out:
    pthread_mutex_unlock(&s->lock);
    return rc;
}

bool session_wait_idle(struct session *s, double timeout_s)
{
    struct timespec until = clock_deadline(timeout_s);
    bool idle = true;

    pthread_mutex_lock(&s->lock);
    while (!s->idle && idle)
        idle = pthread_cond_timedwait(&s->done, &s->lock, &until) != ETIMEDOUT;
    pthread_mutex_unlock(&s->lock);
    return idle;
}

const struct snapshot *session_look(struct session *s)
{
    char bytes[16];
    const struct snapshot *newest;

    pthread_mutex_lock(&s->lock);
    newest = snapshot_keep(s->newest);
    if (s->woken) {
        s->woken = false;
        while (read(s->wake[0], bytes, sizeof bytes) > 0) {
        }
    }
    atomic_store(&s->wanted, true);
    if (!s->idle) /* at rest the newest one says all; a thread asleep in slow motion is woken */
        pthread_cond_signal(&s->work);
    else
        atomic_store(&s->wanted, false);
    pthread_mutex_unlock(&s->lock);
    return newest;
}

int session_fd(const struct session *s)
{
    return s->wake[0];
}

uint64_t session_refused(struct session *s, struct err *e)
{
    uint64_t ticket = 0;

    pthread_mutex_lock(&s->lock);
    if (s->refusals) {
        const struct refusal *last = &s->refused[(s->refusals - 1) % REFUSALS];
        ticket = last->ticket;
        *e = last->error;
    }
    pthread_mutex_unlock(&s->lock);
    return ticket;
}
