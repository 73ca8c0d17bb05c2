/* tui/watch/race_run.h - a race of all algorithms (engine/search/race.h) in a thread of its own,
 * and what it looks like by now. The race is over the running search's game and pins, from a seed
 * of its own; it touches nothing of that search. */
#ifndef AUTOMAP_TUI_WATCH_RACE_RUN_H
#define AUTOMAP_TUI_WATCH_RACE_RUN_H

#include "engine/live/snapshot.h"
#include "engine/search/race.h"
#include "engine/search/search.h"
#include "hlo/support/err.h"
#include "tui/watch/watch.h"

enum { RACE_STEPS_MOST = 256 };

struct race_step_point {
    double evaluation, seconds, score; /* a better plan: when, and how good */
};

struct race_line { /* one algorithm */
    enum search_algorithm algorithm;
    struct race_step_point steps[RACE_STEPS_MOST];
    uint32_t step_count; /* the last is its best */
    uint64_t evaluations;
    double seconds; /* it has used */
    bool finished, proven;
};

struct race_look {
    struct race_line lines[SEARCH_ALGORITHM_COUNT];
    uint32_t count;
    uint64_t level, target; /* plans priced by each; where the race ends */
    double baseline_ms;
    bool is_reward; /* scores are the paper's reward, not ln(baseline / step) */
    bool led;       /* the network of all models leads the DQN */
    uint64_t seed;
    bool done;
};

struct race_run;

/* `in_thread` false: the whole race is run before this returns, for pictures. */
int race_run_new(const struct watch *w, uint64_t seed, uint64_t target, bool in_thread,
                 struct race_run **out, struct err *e) MUST_CHECK;
void race_run_free(struct race_run *r); /* stops and joins; NULL ok */
void race_run_look(struct race_run *r,
                   struct race_look *out); /* copies; waits for no step of the race */
/* A share of the best plan of that algorithm by now; NULL: none yet. */
struct live_plan *race_run_plan(struct race_run *r, enum search_algorithm k);

/* A score as people read it: ms, or the reward. */
double race_shown(const struct race_look *r, double score);

#endif
