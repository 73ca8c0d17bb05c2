#include "tui/watch/game_job.h"

#include "hlo/support/clock.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/thread.h"
#include "rl/agent.h"
#include "rl/agent_state.h"
#include "rl/env.h"
#include "rl/error.h"
#include "rl/net.h"
#include "rl/run.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

enum { SEED = 1, PLAYED_AT_ONCE = 3000, LESSON_EVERY = 256, AGAIN_MOST = 100000 };

struct game_job {
    uint64_t memory[RL_GAME_SIZE_MAX / sizeof(uint64_t)]; /* the game's state */
    struct rl_run run;                                    /* the thread's own, as the agent is */
    struct rl_lesson lesson;
    double ring[GAME_LAST], sum; /* rewards of the last episodes */
    bool has_hand;               /* in this episode */
    double drawn_s;              /* when `push` was worked out */

    struct game_look look; /* this and all below under the lock */
    uint32_t steps, episodes;
    int forced; /* -1: none */
    bool stop, again;
    struct rl_settings settings;          /* with `again` */
    struct rl_settings tried[GAME_UNDOS]; /* [tried_count], in order; undo and redo go along it */
    uint32_t tried_at, tried_count;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    bool in_thread;
};

/* ---- begin ---- */

static void look_at_game(struct game_job *j, struct game_look *k)
{
    uint32_t seen =
        j->run.env.observation_size < GAME_SEEN ? j->run.env.observation_size : GAME_SEEN;
    struct rl_counts counts = rl_agent_counts(j->run.agent);

    memcpy(k->seen, j->run.now, seen * sizeof *k->seen);
    k->decisions = counts.decisions;
    k->episodes = counts.episodes;
    k->updates = counts.updates;
    k->epsilon = rl_agent_epsilon(j->run.agent);
    k->length = j->run.length;
    k->reward_sum = j->run.reward_sum;
}

/* The first position, with a learner that knows nothing. */
static int begin_game(struct game_job *j, const struct rl_settings *s)
{
    const struct rl_game *g = j->look.game;
    struct rl_env env = {0};
    int rc;

    memset(j->memory, 0, sizeof j->memory);
    g->begin(j->memory, g->variant, &env);
    rc = rl_run_new(&j->run, &env, s, SEED);
    if (rc)
        return rc;
    rl_run_ready(&j->run);
    j->sum = 0;
    j->has_hand = false;
    struct game_look *k = &j->look;
    k->now = (struct game_run){.every = 1, .best = NAN, .settings = *s};
    k->mean = k->last = k->last_forced = NAN;
    k->has_lesson = k->failed = false;
    k->inputs = env.observation_size;
    k->actions = env.action_count;
    memset(k->push, 0, sizeof k->push);
    look_at_game(j, k);
    return 0;
}

/* ---- a decision ---- */

static void halve_curve(struct game_run *r)
{
    for (uint32_t n = 0; n < GAME_POINTS / 2; n++) {
        r->x[n] = r->x[2 * n + 1];
        r->mean[n] = r->mean[2 * n + 1];
    }
    r->count = GAME_POINTS / 2;
    r->every *= 2;
}

static void note_episode(struct game_job *j, struct game_look *k)
{
    uint64_t n = k->episodes - 1;
    double *at = &j->ring[n % GAME_LAST];

    j->sum += k->reward_sum - (n < GAME_LAST ? 0 : *at);
    *at = k->reward_sum;
    k->mean = j->sum / (double)(k->episodes < GAME_LAST ? k->episodes : GAME_LAST);
    k->last = k->reward_sum;
    if (j->has_hand)
        k->last_forced = k->reward_sum;
    j->has_hand = false;
    struct game_run *r = &k->now;
    if (k->episodes >= GAME_LAST)
        r->best = !(r->best >= k->mean) ? k->mean : r->best;
    if (k->episodes % r->every)
        return;
    if (r->count == GAME_POINTS)
        halve_curve(r);
    r->x[r->count] = (double)k->decisions;
    r->mean[r->count++] = k->mean;
}

/* What it would do, where that can be shown as a map. */
static void find_push(struct game_job *j, uint8_t push[GAME_SPINS][GAME_ANGLES])
{
    const double widest = 0.2095, fastest = 2;
    const uint64_t both = 3;
    float q[2];

    for (int y = 0; y < GAME_SPINS; y++) {
        for (int x = 0; x < GAME_ANGLES; x++) {
            double angle = widest * (2 * (x + 0.5) / GAME_ANGLES - 1);
            double spin = fastest * (1 - 2 * (y + 0.5) / GAME_SPINS);
            rl_agent_q(j->run.agent, (float[]){0, 0, (float)angle, (float)spin}, &both, q);
            push[y][x] = (uint8_t)(1 + rl_net_argmax(q, 2, &both));
        }
    }
}

/* Under the lock: nothing more is to be done. */
static void rest(struct game_job *j)
{
    j->look.running = false;
    j->steps = j->episodes = 0;
}

/* One decision; a person looks at it when it is one of few. */
static void decide_move(struct game_job *j, int forced, bool calm)
{
    uint8_t push[GAME_SPINS][GAME_ANGLES];
    struct rl_step step;
    bool taught = calm || rl_agent_counts(j->run.agent).decisions % LESSON_EVERY == 0;
    bool is_cartpole = j->run.env.reset && j->look.game->begin == rl_cartpole_begin;
    bool maps = is_cartpole && (!j->in_thread || clock_seconds() > j->drawn_s + 0.3);

    rl_agent_teach(j->run.agent, taught ? &j->lesson : NULL);
    int rc = rl_run_step(&j->run, forced, &step);
    rl_run_ready(&j->run);
    if (maps) {
        find_push(j, push);
        j->drawn_s = clock_seconds();
    }
    pthread_mutex_lock(&j->lock);
    struct game_look *k = &j->look;
    bool ended = step.end != RL_GOES_ON;
    j->has_hand |= forced >= 0;
    look_at_game(j, k);
    k->failed = rc != 0;
    if (ended && !rc) {
        k->reward_sum = step.reward_sum;
        note_episode(j, k);
        k->reward_sum = 0;
    }
    k->now.decisions = k->decisions;
    if (taught && !rc) {
        k->lesson = j->lesson;
        k->has_lesson = true;
    }
    if (maps)
        memcpy(k->push, push, sizeof push);
    if (j->steps)
        j->steps--;
    if (j->episodes && ended)
        j->episodes--;
    if (k->failed)
        rest(j);
    pthread_mutex_unlock(&j->lock);
}

/* ---- the thread ---- */

struct task {
    bool again, calm;
    int forced;
    struct rl_settings settings;
};

static bool has_work(const struct game_job *j)
{
    return !j->look.failed && (j->look.running || j->steps || j->episodes || j->forced >= 0);
}

/* Under the lock: what is to be done next. */
static struct task take_task(struct game_job *j)
{
    struct task t = {.again = j->again, .forced = j->forced, .settings = j->settings};

    t.calm = j->look.pace > 0 || !j->look.running;
    j->again = false;
    j->forced = -1;
    return t;
}

static void do_again(struct game_job *j, const struct rl_settings *s)
{
    pthread_mutex_lock(&j->lock);
    rl_run_free(&j->run);
    if (j->look.now.count)
        j->look.before = j->look.now;
    j->look.failed = begin_game(j, s) != 0;
    pthread_mutex_unlock(&j->lock);
}

static void *run_game(void *context)
{
    struct game_job *j = context;

    pthread_mutex_lock(&j->lock);
    while (!j->stop) {
        if (!has_work(j) && !j->again) {
            pthread_cond_wait(&j->changed, &j->lock);
            continue;
        }
        struct task t = take_task(j);
        pthread_mutex_unlock(&j->lock);
        if (t.again)
            do_again(j, &t.settings);
        else
            decide_move(j, t.forced, t.calm);
        pthread_mutex_lock(&j->lock);
        if (j->look.running && j->look.pace > 0 && !j->stop) {
            struct timespec until = clock_deadline(1 / j->look.pace);
            pthread_cond_timedwait(&j->changed, &j->lock, &until);
        }
    }
    pthread_mutex_unlock(&j->lock);
    return NULL;
}

/* Without a thread: all of it now, of a run the beginning. */
static void work_now(struct game_job *j)
{
    uint32_t most = PLAYED_AT_ONCE;

    if (j->in_thread)
        return;
    while (j->again || (has_work(j) && (j->steps || most--))) {
        struct task t = take_task(j);
        if (t.again)
            do_again(j, &t.settings);
        else
            decide_move(j, t.forced, t.calm);
    }
    j->look.running = false;
    j->episodes = 0;
}

/* ---- the others ---- */

int game_job_new(const struct rl_game *game, bool in_thread, struct game_job **out, struct err *e)
{
    struct game_job *j = mem_try(1, sizeof *j);
    int rc;

    if (!j)
        return err_no_memory(e, "for the game");
    pthread_mutex_init(&j->lock, NULL);
    clock_condition_init(&j->changed);
    j->forced = -1;
    j->look.game = game;
    j->look.pace = 20;
    j->tried[j->tried_count++] = *rl_preset(game->preset);
    rc = begin_game(j, &j->tried[0]);
    if (rc) {
        rc = err_set(e, rc == RL_E_MEMORY ? ERR_MEMORY : ERR_INPUT, "%s", rl_error_text(rc));
        goto out;
    }
    if (in_thread)
        rc = thread_start(&j->thread, run_game, j, "the game", e);
    j->in_thread = in_thread && !rc;
out:
    if (rc)
        game_job_free(j);
    else
        *out = j;
    return rc;
}

void game_job_free(struct game_job *j)
{
    if (!j)
        return;
    pthread_mutex_lock(&j->lock);
    j->stop = true;
    pthread_cond_signal(&j->changed);
    pthread_mutex_unlock(&j->lock);
    if (j->in_thread)
        pthread_join(j->thread, NULL);
    rl_run_free(&j->run);
    pthread_cond_destroy(&j->changed);
    pthread_mutex_destroy(&j->lock);
    free(j);
}

void game_job_look(struct game_job *j, struct game_look *out)
{
    pthread_mutex_lock(&j->lock);
    *out = j->look;
    out->busy = has_work(j) || j->again;
    out->undoable = j->tried_at;
    out->redoable = j->tried_count - j->tried_at - 1;
    pthread_mutex_unlock(&j->lock);
}

/* Takes the lock, tells, and does it where there is no thread. */
#define TELL(j, what)                       \
    do {                                    \
        pthread_mutex_lock(&(j)->lock);     \
        what;                               \
        pthread_cond_signal(&(j)->changed); \
        pthread_mutex_unlock(&(j)->lock);   \
        work_now(j);                        \
    } while (0)

void game_job_run(struct game_job *j, bool go)
{
    TELL(j, (rest(j), j->look.running = go));
}

void game_job_pace(struct game_job *j, double pace)
{
    TELL(j, j->look.pace = pace);
}

void game_job_step(struct game_job *j, uint32_t decisions)
{
    TELL(j, (rest(j), j->steps = decisions));
}

void game_job_episode(struct game_job *j)
{
    TELL(j, (rest(j), j->episodes = 1));
}

void game_job_force(struct game_job *j, uint32_t action)
{
    TELL(j, (rest(j), j->forced = (int)action));
}

/* Under the lock. */
static void go_again(struct game_job *j, const struct rl_settings *s)
{
    uint64_t made = (j->again ? 0 : j->look.decisions) + j->steps;
    bool ran = j->look.running;

    rest(j);
    j->look.running = ran;
    j->steps = ran ? 0 : (uint32_t)(made < AGAIN_MOST ? made : AGAIN_MOST);
    j->settings = *s;
    j->again = true;
}

/* Under the lock. What was undone is gone, and of too many the oldest. */
static void try_settings(struct game_job *j, const struct rl_settings *s)
{
    j->tried_count = j->tried_at + 1;
    if (j->tried_count == GAME_UNDOS)
        memmove(j->tried, j->tried + 1, --j->tried_count * sizeof *j->tried);
    j->tried_at = j->tried_count;
    j->tried[j->tried_count++] = *s;
}

int game_job_again(struct game_job *j, const struct rl_settings *s, struct err *e)
{
    const char *which;

    if (rl_settings_check(s, &which))
        return err_set(e, ERR_INPUT, "%s is out of range", which);
    TELL(j, (try_settings(j, s), go_again(j, s)));
    return 0;
}

/* Only the thread that asks changes `tried`. */
bool game_job_undo(struct game_job *j, int by, struct rl_settings *from, struct rl_settings *to)
{
    uint32_t at = j->tried_at + (uint32_t)by; /* below 0 it is large */

    if (at >= j->tried_count)
        return false;
    *from = j->tried[j->tried_at];
    *to = j->tried[at];
    j->tried_at = at;
    TELL(j, go_again(j, to));
    return true;
}
