#include "tui/commands/search_run.h"

#include "engine/live/checkpoint.h"
#include "engine/live/command.h"
#include "engine/live/journal.h"
#include "engine/live/snapshot.h"
#include "engine/problem/problem.h"
#include "engine/search/search.h"
#include "hlo/support/clock.h"
#include "hlo/support/err.h"
#include "hlo/support/stop.h"
#include "rl/agent.h"
#include "rl/agent_state.h"
#include "tui/files/sessions.h"
#include "tui/files/user_files.h"
#include "tui/options/problem_args.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PLANS_WITHOUT_LIMIT = 10000, STEPS_BETWEEN_TELLS = 32, THREADS_MOST = 64 };
#define TICK_S 0.1

/* What the search takes where a core is free for it, however many others run beside it. */
static double thread_seconds(void *context)
{
    (void)context;
    return clock_thread_seconds();
}

static void tell_progress(struct search_run *r)
{
    const struct search_state *c = &r->state;
    struct rl_agent *agent = search_agent(c->search);

    atomic_store(&r->progress.episodes, search_episodes(c->search));
    atomic_store(&r->progress.best_ms, c->best ? c->best->cost.step_ms : 0);
    atomic_store(&r->progress.best_score, c->best ? c->best->score : -INFINITY);
    atomic_store(&r->progress.epsilon, agent ? rl_agent_epsilon(agent) : 0);
    atomic_store(&r->progress.seconds, c->seconds);
}

/* Where a script stands. */
struct script {
    const struct timed_list *by_step, *by_episode;
    size_t step, episode;
    char origin; /* of the last command: 's' by step, 'e' by episode */
    bool quit;
};

/* The next command that is due; `idle`: the search waits, so the next one is due whatever its time.
 */
static const struct timed_command *next_command(struct script *s, const struct search_state *c,
                                                bool idle)
{
    const struct timed_list *a = s->by_step, *b = s->by_episode;
    bool step = s->step < a->count, episode = s->episode < b->count;
    bool step_due = step && a->items[s->step].at <= c->steps;
    bool episode_due = episode && b->items[s->episode].at <= search_episodes(c->search);

    if (step_due || (step && idle && !episode_due)) {
        s->origin = 's';
        return &a->items[s->step++];
    }
    if (episode_due || (episode && idle)) {
        s->origin = 'e';
        return &b->items[s->episode++];
    }
    return NULL;
}

/* Without it results would differ from those of a machine with more memory. */
static int keep_proof(const struct search_state *c, struct err *e)
{
    return c->lost_proof ? err_no_memory(e, "to prove the optimum under these pins") : 0;
}

int search_obey(struct search_state *c, const struct timed_command *t, struct err *e)
{
    int rc = search_state_apply(c, &t->command, e);

    rc = rc ? rc : keep_proof(c, e);
    if (rc && t->file) {
        e->line = t->line;
        e->col = 1;
        err_in_file(e, t->file);
    }
    return rc;
}

static int follow_script(struct script *s, struct search_state *c, struct err *e)
{
    const struct timed_command *t;

    while (!s->quit && (t = next_command(s, c, !search_state_wants_step(c)))) {
        c->origin = s->origin;
        int rc = search_obey(c, t, e);
        c->origin = 'c';
        if (rc)
            return rc;
        s->quit = t->command.verb == COMMAND_QUIT;
    }
    return 0;
}

static bool is_enough(const struct search_args *a, const struct search_state *c, double start)
{
    bool unlimited = !a->episodes && a->seconds <= 0;

    if (a->episodes && search_episodes(c->search) >= a->episodes)
        return true;
    if (a->seconds > 0 && clock_seconds() - start >= a->seconds)
        return true;
    if (!unlimited)
        return false;
    return c->options.algorithm == SEARCH_DQN
               ? search_rounds(c->search) > 0
               : search_evaluations(c->search) >= PLANS_WITHOUT_LIMIT;
}

/* Does again what the journal holds; the script stands where it stood. */
static int resume(const struct search_args *a, struct search_run *r, struct script *script)
{
    const struct live_command run = {.verb = COMMAND_RUN};
    char note[RESUME_NOTE_ROOM] = "";
    int rc = a->resume ? checkpoint_resume(&r->state, a->resume, a->log, note, &r->error)
                       : search_state_replay(&r->state, a->log, 0, &r->error);

    if (note[0])
        fprintf(stderr, "automap search: %s\n", note);
    for (size_t k = 0; k < a->log->record_count; k++) {
        script->step += a->log->records[k].kind == 's';
        script->episode += a->log->records[k].kind == 'e';
    }
    if (rc)
        return rc;
    if (a->resume)
        rc = journal_reopen(a->resume, a->log, &r->state.journal, &r->error);
    if (rc)
        return rc;
    if (a->resume && a->explored && !search_state_wants_step(&r->state))
        rc = search_state_apply(&r->state, &run, &r->error); /* it was left paused, by its person */
    return rc;
}

/* A journal that was cut short before "run" begins as it would have. */
static bool has_begun(const struct search_args *a)
{
    size_t commands = 0;

    for (size_t k = 0; k < a->log->record_count; k++)
        commands += a->log->records[k].kind == 'c';
    return commands > a->pin_count || a->explored;
}

/* Where nobody named one it is a convenience, and not worth an error. */
static void keep_own_journal(const struct search_args *a, struct search_run *r)
{
    char dir[PATH_MAX], path[PATH_MAX];
    const struct problem *p = r->state.problem;
    struct word_list words = {0};
    struct err e;

    if (a->seeds > 1 || a->no_journal || !strcmp(a->problem.model, "-") ||
        !file_state_dir(dir, sizeof dir, true) ||
        !session_new_path(path, dir, a->problem.model, p->cluster.name, (int64_t)time(NULL)))
        return;
    search_args_words(a, &words);
    if (!words.failed && journal_create(path, p, words.items, words.count, &r->state.journal, &e) &&
        !a->quiet)
        fprintf(stderr, "automap search: %s\n", e.what);
    words_release(&words);
}

static int keep_journal(const struct search_args *a, struct search_run *r)
{
    struct word_list words = {0};

    if (!a->journal) {
        keep_own_journal(a, r);
        return 0;
    }
    search_args_words(a, &words);
    int rc = words.failed ? err_set(&r->error, ERR_MEMORY, "not enough memory for the journal")
                          : journal_create(a->journal, r->state.problem, words.items, words.count,
                                           &r->state.journal, &r->error);
    words_release(&words);
    return rc;
}

static int begin_seed(struct search_pool *pool, uint32_t n, struct script *script)
{
    struct search_run *r = &pool->runs[n];
    struct search_options o = pool->args->search;
    struct live_command run = {.verb = COMMAND_RUN};

    o.seed += n;
    int rc = search_state_new(pool->problem, &o, &r->state, &r->error);
    r->began = !rc;
    if (r->began)
        r->state.clock_s = thread_seconds;
    const struct search_args *a = pool->args;
    rc = rc ? rc : keep_proof(&r->state, &r->error);
    if (rc)
        return rc;
    if (a->log && has_begun(a))
        return resume(a, r, script);
    if (a->resume)
        return err_set(&r->error, ERR_INPUT,
                       "the journal ends before the search began; start it again");
    if (!a->replay)
        rc = keep_journal(a, r);
    if (rc)
        return rc;
    for (size_t k = 0; k < a->pin_count; k++) {
        rc = search_obey(&r->state, &a->pins[k], &r->error);
        if (rc)
            return rc;
    }
    return rc ? rc : search_state_apply(&r->state, &run, &r->error);
}

/* A learner that diverged leaves a best plan; one that found no memory is not what was asked for.
 */
static int check_end(struct search_run *r)
{
    if (r->state.state != LIVE_FAILED)
        return 0;
    if (search_lacks_memory(r->state.search))
        return err_set(&r->error, ERR_MEMORY, "%s", r->state.trouble);
    fprintf(stderr, "automap search: %s\n", r->state.trouble);
    return 0;
}

void search_pool_run_one(struct search_pool *pool, uint32_t n)
{
    struct search_run *r = &pool->runs[n];
    struct script script = {.by_step = &pool->args->by_step, .by_episode = &pool->args->by_episode};
    double start = clock_seconds();

    r->rc = begin_seed(pool, n, &script);
    for (uint64_t k = 0; !r->rc && !script.quit; k++) {
        if (k % STEPS_BETWEEN_TELLS == 0)
            tell_progress(r);
        if (stop_asked(pool->problem->stop) || pool->args->replay)
            break;
        r->rc = follow_script(&script, &r->state, &r->error);
        if (r->rc || script.quit || !search_state_wants_step(&r->state) ||
            is_enough(pool->args, &r->state, start))
            break;
        search_state_step(&r->state);
    }
    r->rc = r->rc ? r->rc : check_end(r);
    if (!r->rc)
        tell_progress(r);
    if (r->state.journal) {
        struct err e;
        snprintf(r->journal, sizeof r->journal, "%s", journal_path(r->state.journal));
        if (checkpoint_end_journal(&r->state, &e)) {
            err_print(&e, stderr);
            r->journal_lost = pool->args->journal || pool->args->resume;
        }
    }
}

static void *work_on_seeds(void *argument)
{
    struct search_pool *pool = argument;
    uint32_t n;

    while ((n = atomic_fetch_add(&pool->next, 1)) < pool->args->seeds) {
        search_pool_run_one(pool, n);
        pthread_mutex_lock(&pool->lock);
        atomic_fetch_add(&pool->finished, 1);
        pthread_cond_signal(&pool->has_ended);
        pthread_mutex_unlock(&pool->lock);
    }
    return NULL;
}

static uint32_t start_threads(struct search_pool *pool, pthread_t *threads)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    uint32_t most = cores < 1 ? 1 : cores > THREADS_MOST ? THREADS_MOST : (uint32_t)cores, n = 0;

    while (n < most && n < pool->args->seeds &&
           !pthread_create(&threads[n], NULL, work_on_seeds, pool))
        n++;
    if (!n)
        work_on_seeds(pool); /* no thread to be had: one after the other, here */
    return n;
}

void search_pool_run(struct search_pool *pool, void (*tick)(struct search_pool *pool, void *self),
                     void *self)
{
    pthread_t threads[THREADS_MOST];

    pthread_mutex_init(&pool->lock, NULL);
    clock_condition_init(&pool->has_ended);
    uint32_t count = start_threads(pool, threads);
    pthread_mutex_lock(&pool->lock);
    while (atomic_load(&pool->finished) < pool->args->seeds) {
        struct timespec until = clock_deadline(TICK_S);
        if (pthread_cond_timedwait(&pool->has_ended, &pool->lock, &until) == ETIMEDOUT)
            tick(pool, self);
    }
    pthread_mutex_unlock(&pool->lock);
    for (uint32_t n = 0; n < count; n++)
        pthread_join(threads[n], NULL);
    pthread_cond_destroy(&pool->has_ended);
    pthread_mutex_destroy(&pool->lock);
}
