#include "engine/live/thread.h"

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
