/* engine/search/race.h - all algorithms on one game, kept level in the number of complete plans
 * priced.
 *
 * Each runner has its own search from the same seed. They take turns so that their numbers of
 * priced plans differ by at most one; time is measured for each separately, so slow thinking shows.
 * Results, except for seconds, are functions of options and seed. */
#ifndef AUTOMAP_ENGINE_SEARCH_RACE_H
#define AUTOMAP_ENGINE_SEARCH_RACE_H

#include "engine/problem/problem.h"
#include "engine/search/game.h"
#include "engine/search/search.h"
#include "engine/search/search_ops.h"
#include "hlo/support/err.h"

enum { RACE_POINTS_MOST = 32 };

struct race_runner {
    enum search_algorithm algorithm;
    struct search *search;
    double seconds, seconds_to_best;
    uint64_t led;                   /* episodes that the network of all models played */
    bool finished;                  /* it has nothing more to try */
    double curve[RACE_POINTS_MOST]; /* best score at race.points[n] plans; NaN before its first */
};

/* From plan number `evaluation` on this runner led: strictly better than all others. */
struct race_lead {
    uint64_t evaluation;
    uint32_t runner;
    double score;
};

struct race {
    struct race_runner runner[SEARCH_ALGORITHM_COUNT]; /* in order of the algorithms */
    uint32_t count; /* without trws, the last one, where it does not apply: ZeRO, too many axes */
    uint64_t level; /* plans priced by each that is not finished */
    uint64_t points[RACE_POINTS_MOST]; /* 1 2 5 10 20 50 ... */
    uint32_t point_count;
    struct race_lead *leads;
    size_t lead_count, lead_room;
};

/* `o->algorithm` is ignored. Pins may be NULL. */
int race_new(const struct problem *p, const struct search_options *o, const struct game_pin *pins,
             size_t pin_count, struct race *out, struct err *e) MUST_CHECK;
/* As search_set_stop, for all runners. */
void race_set_stop(struct race *r, const atomic_bool *stop);
void race_release(struct race *r);
/* Prices one more plan for each. False when all are finished. */
bool race_step(struct race *r);
/* The runner with the best score; ties go to fewer plans priced, then to the first in order. */
uint32_t race_winner(const struct race *r);

#endif
