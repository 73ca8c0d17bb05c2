/* hlo/support/thread.h - starts worker threads. They block all signals, which are left to the
 * thread that draws or waits for them. */
#ifndef AUTOMAP_HLO_SUPPORT_THREAD_H
#define AUTOMAP_HLO_SUPPORT_THREAD_H

#include "hlo/support/err.h"

#include <pthread.h>
#include <stdbool.h>

/* Runs `work(context)` in a thread that the caller joins. ERR_MEMORY if no thread can be created;
 * the message names `purpose` ("the race"). Any thread may call it; the caller's signal mask is
 * unchanged. */
int thread_start(pthread_t *out, void *(*work)(void *context), void *context, const char *purpose,
                 struct err *e) MUST_CHECK;

/* How many processors this process may use; 1 if that is not known. */
int thread_processors(void);

/* Work done beside one's own, in a second thread; at once, where that does not pay, only one
 * processor is there, or no thread can be had. */
struct beside {
    pthread_t thread;
    bool is_running;
};
void beside_begin(struct beside *b, bool pays, void *(*work)(void *context), void *context);
void beside_end(struct beside *b); /* it is done; may be called again */

#endif
