#include "tui/watch/pipeline_learn.h"

#include "engine/pipeline/pipe_game.h"
#include "engine/pipeline/pipe_instance.h"
#include "engine/pipeline/pipe_search_ops.h"
#include "engine/pipeline/space.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/thread.h"
#include "rl/agent.h"

#include <math.h>
#include <string.h>
#include <time.h>

enum {
    SEEN_MOST = 1 << 16,
    EPISODE_MS = 12
}; /* an episode takes so long at least: one can watch */

struct pipeline_learn {
    const struct pipeline *pipeline;
    struct pipe_search *search;
    uint8_t *seen; /* [SEEN_MOST] by number of the candidate; of larger spaces the first ones */
    float *observation;
    struct learn_look look; /* all below under the lock */
    double sum;             /* of the rewards of the point that is being filled */
    uint32_t filled;
    uint32_t decisions, whole; /* to be done before it pauses */
    bool stop;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    bool in_thread;
};

/* ---- what it looks like ---- */

/* Twice as many episodes a point, when there is no room for more. */
static void halve_curve(struct learn_look *k)
{
    for (uint32_t n = 0; n < LEARN_POINTS / 2; n++) {
        k->reward[n] = (k->reward[2 * n] + k->reward[2 * n + 1]) / 2;
        k->best_reward[n] = k->best_reward[2 * n + 1];
    }
    k->count = LEARN_POINTS / 2;
    k->every *= 2;
}

static void add_reward(struct pipeline_learn *n, double reward)
{
    struct learn_look *k = &n->look;
    double before = k->count ? k->best_reward[k->count - 1] : -INFINITY;

    n->sum += reward;
    n->filled++;
    if (n->filled < k->every)
        return;
    if (k->count == LEARN_POINTS) {
        halve_curve(k);
        if (n->filled < k->every)
            return;
    }
    k->reward[k->count] = n->sum / n->filled;
    k->best_reward[k->count++] = fmax(before, reward);
    n->sum = 0;
    n->filled = 0;
}

static void mark_seen(struct pipeline_learn *n, const struct pipe_plan *p)
{
    const struct pipe_space *s = pipe_search_space(n->search);
    uint64_t number = 0;

    for (uint32_t cut = 1; cut < s->stages; cut++)
        number = number * s->width + (p->device[cut] + s->options.radius - s->anchor[cut]);
    if (number >= SEEN_MOST || n->seen[number])
        return;
    n->seen[number] = 1;
    n->look.seen++;
}

static void show_game(struct pipeline_learn *n)
{
    const struct pipe_game *g = pipe_search_game(n->search);
    struct learn_look *k = &n->look;

    k->now = g->plan;
    k->cut = g->cut;
    k->legal = pipe_game_is_over(g) ? 0 : pipe_game_legal(g);
    if (!k->legal || !pipe_search_agent(n->search))
        return;
    k->anchor = g->space->anchor[g->cut];
    pipe_game_observe(g, n->observation);
    rl_agent_q(pipe_search_agent(n->search), n->observation, &k->legal, k->q);
}

static void show_event(struct pipeline_learn *n, const struct pipe_event *event)
{
    struct learn_look *k = &n->look;

    k->explored = event->explored;
    if (event->ended) {
        k->episodes++;
        k->tried = event->plan;
        k->tried_ms = event->length_ms;
        k->best = *pipe_search_best(n->search);
        mark_seen(n, &event->plan);
        add_reward(n, event->reward);
    }
    show_game(n);
}

/* ---- the thread ---- */

/* One decision. False: it is over. */
static bool step_learner(struct pipeline_learn *n, struct pipe_event *event)
{
    bool more = n->look.episodes < LEARN_EPISODES && pipe_search_step(n->search, event);

    pthread_mutex_lock(&n->lock);
    if (more)
        show_event(n, event);
    n->look.done = !more;
    n->look.running &= !n->look.done;
    if (more && n->decisions)
        n->decisions--;
    if (more && event->ended && n->whole)
        n->whole--;
    more = !n->look.done;
    pthread_mutex_unlock(&n->lock);
    return more;
}

/* Waits until there is something to do; false: to be left. */
static bool wait(struct pipeline_learn *n)
{
    pthread_mutex_lock(&n->lock);
    while (!n->stop && !n->look.running && !n->decisions && !n->whole)
        pthread_cond_wait(&n->changed, &n->lock);
    bool go = !n->stop;
    pthread_mutex_unlock(&n->lock);
    return go;
}

/* By trying all candidates: tens of ms where there are many. */
static void find_least(struct pipeline_learn *n)
{
    struct pipe_plan best;
    double ms;

    if (!pipeline_best_candidate(n->pipeline, &best, &ms))
        return;
    pthread_mutex_lock(&n->lock);
    n->look.least_ms = ms;
    pthread_mutex_unlock(&n->lock);
}

static void *run_learner(void *context)
{
    static const struct timespec pace = {.tv_nsec = EPISODE_MS * 1000000L};
    struct pipeline_learn *n = context;
    struct pipe_event event;

    find_least(n);
    while (wait(n) && step_learner(n, &event)) {
        if (event.ended)
            nanosleep(&pace, NULL);
    }
    return NULL;
}

static int prepare_learner(struct pipeline_learn *n, uint64_t seed, struct err *e)
{
    struct pipe_search_options o = {
        .algorithm = PIPE_SEARCH_DQN, .space = pipe_space_paper(), .seed = seed};
    int rc;

    o.space.stages = n->pipeline->options.stages;
    o.space.pins = pipeline_pins(n->pipeline, &n->pipeline->few);
    rc = pipe_search_new(&n->pipeline->few, &o, &n->search, e);
    if (rc)
        return rc;
    const struct pipe_space *s = pipe_search_space(n->search);
    n->seen = mem_try(SEEN_MOST, 1);
    n->observation =
        mem_try(pipe_game_observation_size(pipe_search_game(n->search)), sizeof *n->observation);
    if (!n->seen || !n->observation)
        return err_set(e, ERR_MEMORY, "not enough memory to watch the learner");
    n->look = (struct learn_look){.seed = seed,
                                  .every = 1,
                                  .stages = s->stages,
                                  .width = s->width,
                                  .running = true,
                                  .radius = s->options.radius,
                                  .candidates = s->size,
                                  .best.length_ms = INFINITY};
    return 0;
}

int pipeline_learn_new(const struct pipeline *l, uint64_t seed, bool in_thread,
                       struct pipeline_learn **out, struct err *e)
{
    struct pipeline_learn *n = mem_try(1, sizeof *n);
    struct pipe_event event;

    if (!n)
        return err_set(e, ERR_MEMORY, "not enough memory to watch the learner");
    n->pipeline = l;
    pthread_mutex_init(&n->lock, NULL);
    pthread_cond_init(&n->changed, NULL);
    int rc = prepare_learner(n, seed, e);
    if (rc)
        goto out;
    if (!in_thread) {
        find_least(n);
        while (n->look.episodes < LEARN_PICTURE && step_learner(n, &event))
            ;
        n->look.running = false;
    } else {
        rc = thread_start(&n->thread, run_learner, n, "the learner", e);
        n->in_thread = rc == 0;
    }
out:
    if (rc)
        pipeline_learn_free(n);
    else
        *out = n;
    return rc;
}

void pipeline_learn_free(struct pipeline_learn *n)
{
    if (!n)
        return;
    pthread_mutex_lock(&n->lock);
    n->stop = true;
    pthread_cond_signal(&n->changed);
    pthread_mutex_unlock(&n->lock);
    if (n->in_thread)
        pthread_join(n->thread, NULL);
    pipe_search_free(n->search);
    free(n->seen);
    free(n->observation);
    pthread_cond_destroy(&n->changed);
    pthread_mutex_destroy(&n->lock);
    free(n);
}

void pipeline_learn_look(struct pipeline_learn *n, struct learn_look *out)
{
    pthread_mutex_lock(&n->lock);
    *out = n->look;
    out->busy = !n->look.done && (n->look.running || n->decisions || n->whole);
    pthread_mutex_unlock(&n->lock);
}

void pipeline_learn_run(struct pipeline_learn *n, bool go)
{
    pthread_mutex_lock(&n->lock);
    n->look.running = go && !n->look.done;
    n->decisions = n->whole = 0;
    pthread_cond_signal(&n->changed);
    pthread_mutex_unlock(&n->lock);
}

void pipeline_learn_step(struct pipeline_learn *n, bool episode)
{
    pthread_mutex_lock(&n->lock);
    n->look.running = false;
    if (episode)
        n->whole++;
    else
        n->decisions++;
    pthread_cond_signal(&n->changed);
    pthread_mutex_unlock(&n->lock);
}
