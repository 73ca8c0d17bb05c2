#include "engine/search/race.h"
#include "engine/decide/strict.h"
#include "engine/problem/problem.h"
#include "engine/search/game.h"
#include "hlo/support/clock.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <string.h>

int race_new(const struct problem *p, const struct search_options *o, const struct game_pin *pins,
             size_t pin_count, struct race *out, struct err *e)
{
    static const uint32_t mantissas[] = {1, 2, 5};
    struct strict_clash clash;
    uint64_t decade = 1;

    memset(out, 0, sizeof *out);
    for (uint32_t n = 0; n < SEARCH_ALGORITHM_COUNT; n++) {
        struct race_runner *r = &out->runner[n];
        struct search_options own = *o;
        own.algorithm = r->algorithm = (enum search_algorithm)n;
        int rc = search_new(p, &own, &r->search, e);
        if (n == SEARCH_TRWS && (rc == ERR_LIMIT || rc == ERR_INPUT))
            break; /* the last: relaxed mode does not take this problem */
        if (!rc)
            out->count++;
        if (!rc && pin_count)
            rc = search_set_pins(r->search, pins, pin_count, &clash, e);
        if (rc) {
            race_release(out);
            return rc;
        }
        for (uint32_t k = 0; k < RACE_POINTS_MOST; k++)
            r->curve[k] = NAN;
    }
    for (uint32_t n = 0; n < RACE_POINTS_MOST; n++) {
        out->points[n] = decade * mantissas[n % 3];
        if (n % 3 == 2)
            decade *= 10;
    }
    return 0;
}

void race_set_stop(struct race *r, const atomic_bool *stop)
{
    for (uint32_t n = 0; n < r->count; n++)
        search_set_stop(r->runner[n].search, stop);
}

void race_release(struct race *r)
{
    for (uint32_t n = 0; n < r->count; n++)
        search_free(r->runner[n].search);
    free(r->leads);
    memset(r, 0, sizeof *r);
}

static double score_of(const struct race *r, uint32_t n)
{
    return search_best(r->runner[n].search)->score;
}

static bool beats_step(double a, double b)
{
    return a > b + 1e-9 * (1 + fabs(b)) || (isfinite(a) && !isfinite(b));
}

/* Steps a runner until it has priced `level` plans. */
static void drive(struct race_runner *r, uint64_t level)
{
    struct search_event event;
    double start = clock_seconds(), before = search_best(r->search)->score;

    while (!r->finished && search_evaluations(r->search) < level) {
        r->finished = !search_step(r->search, &event) || event.updates < 0;
        r->led += event.ended && event.led;
    }
    r->finished |= search_is_done(r->search);
    r->seconds += clock_seconds() - start;
    if (search_best(r->search)->score > before)
        r->seconds_to_best = r->seconds;
}

static void note_lead(struct race *r)
{
    uint32_t leader = race_winner(r);
    double score = score_of(r, leader);
    const struct race_lead *last = r->lead_count ? &r->leads[r->lead_count - 1] : NULL;

    if (last && (last->runner == leader || !beats_step(score, score_of(r, last->runner))))
        return;
    if (isfinite(score) && mem_grow(&r->leads, &r->lead_room, r->lead_count, 1))
        r->leads[r->lead_count++] = (struct race_lead){r->level, leader, score};
}

bool race_step(struct race *r)
{
    bool any = false;

    for (uint32_t n = 0; n < r->count; n++)
        any |= !r->runner[n].finished;
    if (!any)
        return false;
    r->level++;
    for (uint32_t n = 0; n < r->count; n++)
        drive(&r->runner[n], r->level);
    note_lead(r);
    if (r->point_count < RACE_POINTS_MOST && r->level == r->points[r->point_count]) {
        for (uint32_t n = 0; n < r->count; n++)
            r->runner[n].curve[r->point_count] = isfinite(score_of(r, n)) ? score_of(r, n) : NAN;
        r->point_count++;
    }
    return true;
}

uint32_t race_winner(const struct race *r)
{
    uint32_t best = 0;

    for (uint32_t n = 1; n < r->count; n++) {
        double a = score_of(r, n), b = score_of(r, best);
        if (beats_step(a, b) || (!beats_step(b, a) && isfinite(a) &&
                                 search_best(r->runner[n].search)->evaluation <
                                     search_best(r->runner[best].search)->evaluation))
            best = n;
    }
    return best;
}
