/* engine/live/thread.h - a thread that works beside the one with the terminal. It takes no signals:
 * those are for the thread that draws, or waits for them. */
#ifndef AUTOMAP_ENGINE_LIVE_THREAD_H
#define AUTOMAP_ENGINE_LIVE_THREAD_H

#include "hlo/support/err.h"

#include <pthread.h>

/* Runs `work(context)` in a thread that the caller joins. `purpose` ("the race") is for the
 * sentence when there is none to be had: ERR_MEMORY. Any thread may call it; its own signals are as
 * before. */
int thread_start(pthread_t *out, void *(*work)(void *context), void *context, const char *purpose,
                 struct err *e) MUST_CHECK;

#endif
