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
    char journal[512]; /* "": none was kept, or its path is longer */
    struct search_progress progress;
};

struct search_pool {
    const struct search_args *args;
    const struct problem *problem;
    struct search_run *runs; /* [args->seeds]: seed args->search.seed + n */
    atomic_uint next, finished;
    atomic_bool stop;
    pthread_t watcher; /* told with SIGUSR1 when a run is finished */
};

/* Carries out one command; a refusal says which line of its file asked for it. */
int search_obey(struct search_state *c, const struct timed_command *t, struct err *e) MUST_CHECK;

/* Carries out all runs on as many threads as the machine has, at most one per run. `tick` is called
 * about ten times a second. SIGINT and SIGTERM, which must not be caught elsewhere, end all runs;
 * true when one came. */
bool search_pool_run(struct search_pool *pool, void (*tick)(struct search_pool *pool, void *self),
                     void *self);

#endif
