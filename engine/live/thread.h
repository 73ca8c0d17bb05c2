/* engine/live/thread.h - starts worker threads. They block all signals, which are left to the
 * thread that draws or waits for them. */
#ifndef AUTOMAP_ENGINE_LIVE_THREAD_H
#define AUTOMAP_ENGINE_LIVE_THREAD_H

#include "hlo/support/err.h"

#include <pthread.h>

/* Runs `work(context)` in a thread that the caller joins. ERR_MEMORY if no thread can be created;
 * the message names `purpose` ("the race"). Any thread may call it; the caller's signal mask is
 * unchanged. */
int thread_start(pthread_t *out, void *(*work)(void *context), void *context, const char *purpose,
                 struct err *e) MUST_CHECK;

#endif
