/* hlo/support/clock.h - clocks that measure intervals, and waits with a deadline. Any thread. */
#ifndef AUTOMAP_HLO_SUPPORT_CLOCK_H
#define AUTOMAP_HLO_SUPPORT_CLOCK_H

#include <pthread.h>
#include <time.h>

/* Seconds since some fixed moment; monotonic. */
double clock_seconds(void);
/* Seconds that the calling thread has spent on a processor. */
double clock_thread_seconds(void);
/* Seconds that all threads of the process have spent on processors. */
double clock_process_seconds(void);

/* Makes a condition whose timed waits follow clock_seconds, so setting the date does not affect
 * them. Always succeeds on Linux. */
void clock_condition_init(pthread_cond_t *c);
/* `seconds` from now, for pthread_cond_timedwait on such a condition. */
struct timespec clock_deadline(double seconds);

/* Seconds the processor has spent on the calling thread. */
double clock_thread_seconds(void);

#endif
