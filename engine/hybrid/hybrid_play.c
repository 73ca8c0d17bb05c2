/* The search that plays: every number of micro-batches has its tables, and an algorithm decides on
 * them. */
#include "engine/hybrid/hybrid.h"
#include "engine/hybrid/hybrid_descent.h"
#include "engine/hybrid/hybrid_game.h"
#include "engine/hybrid/hybrid_instance.h"
#include "engine/hybrid/hybrid_run.h"
#include "engine/hybrid/hybrid_search.h"
#include "engine/hybrid/hybrid_search_ops.h"
#include "engine/pipeline/pipe_instance.h"
#include "hlo/support/clock.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/stop.h"

#include <math.h>

const uint64_t hybrid_marks[HYBRID_MARKS] = {1, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000};

/* The tables of all numbers of micro-batches, and their bounds. */
static int open_space(struct hybrid_run *s, const uint32_t *list, uint32_t count, uint8_t zero,
                      struct hybrid_tables *t, struct hybrid_space *space)
{
    struct hybrid *h = s->h;

    h->tries = 0;
    for (uint32_t n = 0; n < count; n++) {
        struct hybrid_tables *own = &t[space->levels];
        struct hybrid_try *out = &h->tried[h->tries];
        int rc = hybrid_tables_new(s, list[n], zero, 0, own);
        if (rc || !own->possible) {
            if (rc)
                return rc;
            hybrid_tables_release(own);
            continue;
        }
        *out = (struct hybrid_try){
            .micro_batches = list[n], .zero = zero, .step_ms = INFINITY, .length_ms = INFINITY};
        h->tries++;
        space->level[space->levels++] = (struct hybrid_level){&own->in, &own->rows, 0, NULL};
        h->points += (uint32_t)own->in.point_count;
        if (!h->options.no_bound)
            rc = hybrid_run_bound(s, own, out);
        if (rc)
            return rc;
        space->level[space->levels - 1].bound_ms = out->bound_ms;
    }
    return 0;
}

/* Until it is finished, has priced enough plans or taken its time. */
static void run_game(struct hybrid_run *s, struct hybrid_search *game, double start)
{
    struct hybrid_played *p = &s->h->played;
    const struct hybrid_search_options *o = &s->h->options.play;
    uint64_t most = o->plans_most ? o->plans_most : HYBRID_PLANS;
    int mark = 0;

    while (hybrid_search_evaluations(game) < most && !stop_asked(s->h->options.stop) &&
           hybrid_search_step(game)) {
        const struct hybrid_search_best *b = hybrid_search_best(game);
        double now = clock_thread_seconds() - start;
        for (; mark < HYBRID_MARKS && hybrid_search_evaluations(game) >= hybrid_marks[mark]; mark++)
            p->curve[mark] = b->step_ms;
        if (b->evaluation != p->best_evaluation)
            p->best_seconds = now;
        p->best_evaluation = b->evaluation;
        if (o->seconds_most > 0 && now > o->seconds_most)
            break;
    }
    p->evaluations = hybrid_search_evaluations(game);
    p->diverged = hybrid_search_diverged(game);
    for (; mark < HYBRID_MARKS; mark++)
        p->curve[mark] = p->evaluations ? hybrid_search_best(game)->step_ms : NAN;
}

static int play_space(struct hybrid_run *s, const struct hybrid_tables *t,
                      const struct hybrid_space *space, uint8_t zero, double start)
{
    struct hybrid *h = s->h;
    struct hybrid_search *game = NULL;
    int rc = hybrid_search_new(space, h->options.algorithm, &h->options.play, h->options.stop,
                               &game, s->e);

    if (rc)
        return rc;
    h->played.table_seconds = clock_thread_seconds() - start;
    run_game(s, game, start);
    const struct hybrid_search_best *b = hybrid_search_best(game);
    if (b->step_ms < INFINITY) {
        struct hybrid_found found = {b->plan, b->step_ms, b->schedule};
        uint32_t m = space->level[b->level].in->options.micro_batches;
        h->tried[b->level].step_ms = b->step_ms;
        h->tried[b->level].length_ms = hybrid_plan_length(&t[b->level].in, &b->plan);
        rc = hybrid_run_take(s, &t[b->level], &found, m, zero);
    }
    hybrid_search_free(game);
    return rc;
}

int hybrid_run_play(struct hybrid_run *s, const uint32_t *list, uint32_t count, uint8_t zero)
{
    double start = clock_thread_seconds();
    struct hybrid_tables *t = mem_try(HYBRID_MICRO_MOST, sizeof *t);
    struct hybrid_space space = {.sections = &s->h->sections,
                                 .stages = s->h->options.stages,
                                 .schedule = hybrid_run_schedule(&s->h->options)};

    if (!t)
        return err_no_memory(s->e, "for a hybrid plan");
    int rc = open_space(s, list, count, zero, t, &space);
    if (rc || !space.levels || stop_asked(s->h->options.stop))
        goto out;
    rc = hybrid_space_new(&space, s->e);
    rc = rc ? rc : play_space(s, t, &space, zero, start);
    rc = rc == ERR_INFEASIBLE ? 0 : rc; /* perhaps at the next level of ZeRO */
out:
    for (uint32_t n = 0; n < space.levels; n++)
        hybrid_tables_release(&t[n]);
    hybrid_space_release(&space);
    free(t);
    return rc;
}
