#include "tui/watch/race_run.h"

#include "engine/decide/classes.h"
#include "engine/search/game.h"
#include "engine/search/search.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/thread.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

struct race_run {
    struct race race;
    struct race_look look; /* under the lock, once the thread runs; as are: */
    struct live_plan *best[SEARCH_ALGORITHM_COUNT]; /* of each line; NULL: none yet */
    pthread_mutex_t lock;
    pthread_t thread;
    bool in_thread;
    atomic_bool stop;
};

double race_shown(const struct race_look *r, double score)
{
    return r->is_reward ? score : r->baseline_ms * exp(-score);
}

static struct live_plan *new_plan(const struct race_line *line, const struct search_best *best,
                                  class_id classes)
{
    struct live_plan *p = mem_alloc(sizeof *p + classes * sizeof *p->on);

    atomic_init(&p->references, 1);
    snprintf(p->found_by, sizeof p->found_by, "%s", search_names[line->algorithm]);
    p->cost = best->cost;
    p->score = best->score;
    p->episode = best->episode;
    p->fits = true;
    p->count = classes;
    memcpy(p->on, best->on, classes * sizeof *p->on);
    return p;
}

/* A better plan within the memory limit is one more step; when all steps are taken the last one
 * moves. */
static void take_line(struct race_line *line, const struct race_runner *r, struct live_plan **plan)
{
    const struct search_best *best = search_best(r->search);
    struct race_step_point *last = line->step_count ? &line->steps[line->step_count - 1] : NULL;

    bool fits = isfinite(best->score) && game_score_fits(search_game(r->search), best->score);

    line->evaluations = search_evaluations(r->search);
    line->seconds = r->seconds;
    line->finished = r->finished;
    line->proven = search_is_proven(r->search);
    if (!fits || (last && last->score == best->score))
        return;
    if (line->step_count < RACE_STEPS_MOST)
        last = &line->steps[line->step_count++];
    *last = (struct race_step_point){(double)best->evaluation, r->seconds_to_best, best->score};
    live_plan_replace(plan, new_plan(line, best, search_game(r->search)->problem->classes.count));
}

static void take_row(struct race_run *r)
{
    struct race_look *l = &r->look;

    pthread_mutex_lock(&r->lock);
    for (uint32_t n = 0; n < r->race.count; n++)
        take_line(&l->lines[n], &r->race.runner[n], &r->best[n]);
    l->level = r->race.level;
    pthread_mutex_unlock(&r->lock);
}

static void *run_race(void *context)
{
    struct race_run *r = context;
    bool more = true;

    while (more && r->race.level < r->look.target &&
           !atomic_load_explicit(&r->stop, memory_order_relaxed)) {
        more = race_step(&r->race);
        take_row(r);
    }
    pthread_mutex_lock(&r->lock);
    r->look.done = true;
    pthread_mutex_unlock(&r->lock);
    return NULL;
}

static int begin_race(struct race_run *r, const struct watch *w, uint64_t seed, struct err *e)
{
    struct search_options o = w->shot->options;
    struct game_pin *pins = mem_try((size_t)w->shot->pin_count + 1, sizeof *pins);

    if (!pins)
        return err_set(e, ERR_MEMORY, "not enough memory for the race");
    for (uint32_t n = 0; n < w->shot->pin_count; n++)
        pins[n] = (struct game_pin){w->shot->pins[n].class, w->shot->pins[n].axis,
                                    w->shot->pins[n].split};
    o.seed = seed;
    int rc = race_new(w->problem, &o, pins, w->shot->pin_count, &r->race, e);
    free(pins);
    return rc;
}

int race_run_new(const struct watch *w, uint64_t seed, uint64_t target, bool in_thread,
                 struct race_run **out, struct err *e)
{
    struct race_run *r = mem_try(1, sizeof *r);

    if (!r)
        return err_set(e, ERR_MEMORY, "not enough memory for the race");
    pthread_mutex_init(&r->lock, NULL);
    int rc = begin_race(r, w, seed, e);
    if (rc)
        goto out;
    race_set_stop(&r->race, &r->stop);
    const struct game *g = search_game(r->race.runner[0].search);
    r->look.count = r->race.count;
    r->look.target = target;
    r->look.seed = seed;
    r->look.baseline_ms = game_pinned_ms(g);
    r->look.is_reward = w->shot->options.game.reward == GAME_REWARD_PAPER;
    r->look.led = search_is_continuous(search_options(r->race.runner[SEARCH_DQN].search));
    for (uint32_t n = 0; n < r->race.count; n++)
        r->look.lines[n].algorithm = r->race.runner[n].algorithm;
    if (in_thread)
        rc = thread_start(&r->thread, run_race, r, "the race", e);
    else
        run_race(r);
    r->in_thread = in_thread && !rc;
out:
    if (rc) {
        race_run_free(r);
        return rc;
    }
    *out = r;
    return 0;
}

void race_run_free(struct race_run *r)
{
    if (!r)
        return;
    atomic_store(&r->stop, true);
    if (r->in_thread)
        pthread_join(r->thread, NULL);
    race_release(&r->race);
    for (size_t n = 0; n < sizeof r->best / sizeof *r->best; n++)
        live_plan_release(r->best[n]);
    pthread_mutex_destroy(&r->lock);
    free(r);
}

void race_run_look(struct race_run *r, struct race_look *out)
{
    pthread_mutex_lock(&r->lock);
    *out = r->look;
    pthread_mutex_unlock(&r->lock);
}

struct live_plan *race_run_plan(struct race_run *r, enum search_algorithm k)
{
    pthread_mutex_lock(&r->lock);
    struct live_plan *plan = live_plan_share(r->best[k]);
    pthread_mutex_unlock(&r->lock);
    return plan;
}
