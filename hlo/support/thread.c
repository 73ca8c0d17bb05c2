#define _GNU_SOURCE /* CPU_COUNT */
#include "hlo/support/thread.h"

#include <sched.h>
#include <signal.h>
#include <string.h>

/* A thread inherits the signals its maker blocks; blocked from the start, none comes in between. */
int thread_start(pthread_t *out, void *(*work)(void *context), void *context, const char *purpose,
                 struct err *e)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(out, NULL, work, context);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed ? err_set(e, ERR_MEMORY, "no thread for %s: %s", purpose, strerror(failed)) : 0;
}

int thread_processors(void)
{
    cpu_set_t cpus;

    return sched_getaffinity(0, sizeof cpus, &cpus) ? 1 : CPU_COUNT(&cpus);
}

void beside_begin(struct beside *b, bool pays, void *(*work)(void *context), void *context)
{
    struct err e;

    b->is_running = pays && thread_processors() > 1 &&
                    !thread_start(&b->thread, work, context, "work beside", &e);
    if (!b->is_running)
        work(context);
}

void beside_end(struct beside *b)
{
    if (b->is_running)
        pthread_join(b->thread, NULL);
    b->is_running = false;
}
