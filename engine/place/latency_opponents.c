/* Searches for latency that know nothing but prices. */
#include "engine/place/family.h"
#include "engine/place/latency.h"
#include "engine/place/latency_state.h"
#include "engine/place/nets.h"
#include "engine/place/operator_graph.h"
#include "engine/place/placement.h"
#include "engine/place/tally.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/stop.h"

#include "rl/rng.h"

#include <math.h>
#include <string.h>

enum { RANDOM_PLANS = 10000, LOCAL_STARTS = 10, LOCAL_TRIES = 8, OPPONENT_MOVES = 20000 };

/* Of a search that prices so many plans by itself; starts that are no plan end it as well. */
static bool is_over(const struct place_latency_state *s, uint64_t plans)
{
    uint64_t most = s->l->moves ? s->l->moves : plans;

    return stop_asked(s->l->stop) || place_tally_is_spent(s->l->tally) || s->runs >= most ||
           s->failed > 4 * most;
}

/* The next stretch of `order` from `at` on, of random length, on a random device: its next piece,
 * and the host where it has none left or no memory. Returns its end. */
static uint32_t put_stretch(struct place_latency_state *s, uint32_t at)
{
    uint32_t m = s->p->nets->positions, end = at + 1 + rl_rng_below(&s->rng, m - at);
    uint32_t d = rl_rng_below(&s->rng, s->accelerators + 1);
    uint32_t piece = d < s->accelerators ? s->begun[d]++ : s->pieces;

    for (uint32_t i = at; i < end && piece < s->pieces; i++) {
        uint32_t count = 0;
        if (place_latency_allows(s, s->order[i], d * s->pieces + piece))
            place_latency_move(s, s->order[i], d * s->pieces + piece, &count);
    }
    return end;
}

/* A random plan: a random depth-first order in stretches, which no path leaves and comes back to
 * but where memory ends. False: it is none. */
static bool begin_anywhere(struct place_latency_state *s)
{
    struct err e = {0};
    bool all = !place_depth_first(s->p, 1 + rl_rng_below(&s->rng, UINT32_MAX), s->order, &e);

    place_latency_all_on_host(s);
    memset(s->begun, 0, s->accelerators * sizeof *s->begun);
    for (uint32_t at = 0; all && at < s->p->nets->positions;)
        at = put_stretch(s, at);
    for (uint32_t p = 0; p < s->p->nets->positions; p++)
        all &= place_latency_allows(s, p, s->place[p]);
    return all;
}

static double any_value(struct place_latency_state *s)
{
    bool is_plan = begin_anywhere(s);

    s->failed += !is_plan;
    return is_plan ? place_latency_price(s) : INFINITY;
}

static void try_random(struct place_latency_state *s)
{
    while (!is_over(s, RANDOM_PLANS))
        place_latency_note(s, any_value(s), "random");
}

/* Single moves until so many in a row do not help. */
static void descend_latency(struct place_latency_state *s, double now)
{
    uint32_t m = s->p->nets->positions, failed = 0;

    place_latency_note(s, now, "local");
    while (failed < LOCAL_TRIES * m && !is_over(s, OPPONENT_MOVES)) {
        uint32_t p = rl_rng_below(&s->rng, m), count = 0;
        uint32_t to = rl_rng_below(&s->rng, place_host_place(s) + 1);
        failed++;
        if (to == s->place[p] || !place_latency_allows(s, p, to))
            continue;
        place_latency_move(s, p, to, &count);
        double then = place_latency_price(s);
        if (then < now) {
            now = then;
            failed = 0;
            place_latency_note(s, now, "local");
        } else {
            place_latency_take_back(s, count);
        }
    }
}

static void try_local(struct place_latency_state *s)
{
    for (int starts = 0; starts < LOCAL_STARTS && !is_over(s, OPPONENT_MOVES);) {
        double now = any_value(s);
        if (isinf(now))
            continue;
        descend_latency(s, now);
        starts++;
    }
}

static void try_annealing(struct place_latency_state *s)
{
    uint64_t plans = s->l->moves ? s->l->moves : OPPONENT_MOVES;

    while (isinf(s->best->value_ms) && !is_over(s, OPPONENT_MOVES))
        place_latency_note(s, any_value(s), "anneal");
    if (isfinite(s->best->value_ms) && s->runs < plans)
        place_latency_cool(s, 0.3, 1e-4, plans - s->runs);
}

int place_latency_opponent(const struct place_graph *g, const struct place_latency *l,
                           const char *algorithm, struct placement **out, struct err *e)
{
    static const struct {
        const char *name;
        void (*search)(struct place_latency_state *s);
    } ways[] = {{"random", try_random}, {"local", try_local}, {"anneal", try_annealing}};
    struct place_latency_state s = {.g = g, .l = l};
    int rc = place_latency_begin(&s, e);

    if (rc)
        goto out;
    for (size_t k = 0; k < sizeof ways / sizeof *ways && s.p->nets->positions; k++) {
        if (!strcmp(ways[k].name, algorithm))
            ways[k].search(&s);
    }
    rc = place_latency_answer(&s, out, e);
out:
    place_latency_end(&s);
    return rc;
}
