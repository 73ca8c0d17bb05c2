/* tui/commands/search_run.h - searches without a screen: one thread each, watched by the calling
 * one. */
#ifndef AUTOMAP_TUI_COMMANDS_SEARCH_RUN_H
#define AUTOMAP_TUI_COMMANDS_SEARCH_RUN_H

#include "engine/live/search_state.h"
#include "engine/problem/problem.h"
#include "hlo/support/err.h"
#include "tui/options/search_args.h"

#include <pthread.h>

/* What the watching thread may read of a search that runs. */
struct search_progress {
    atomic_ullong episodes;
    _Atomic double best_ms, best_score, epsilon, seconds;
};

struct search_run {
    struct search_state state;
    int rc; /* ERR_*: it could not begin, or a command of the script failed */
    struct err error;
    bool began;
    bool journal_lost; /* the one that was asked for, or its checkpoint, is not whole; said */
    char journal[512]; /* "": none was kept, or its path is longer */
    struct search_progress progress;
};

struct search_pool {
    const struct search_args *args;
    const struct problem *problem; /* its `stop` ends all runs */
    struct search_run *runs;       /* [args->seeds]: seed args->search.seed + n */
    atomic_uint next, finished;
    pthread_mutex_t lock; /* of `finished`, while it is waited for */
    pthread_cond_t has_ended;
};

/* Carries out one command; a refusal says which line of its file asked for it. */
int search_obey(struct search_state *c, const struct timed_command *t, struct err *e) MUST_CHECK;

/* Carries out run n, here. */
void search_pool_run_one(struct search_pool *pool, uint32_t n);
/* Carries out all runs on as many threads as the machine has, at most one per run. `tick` is called
 * about ten times a second. */
void search_pool_run(struct search_pool *pool, void (*tick)(struct search_pool *pool, void *self),
                     void *self);

#endif
