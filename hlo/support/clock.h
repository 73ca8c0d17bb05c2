/* hlo/support/clock.h - the clocks that intervals are measured with, and waits that end. Any
 * thread. */
#ifndef AUTOMAP_HLO_SUPPORT_CLOCK_H
#define AUTOMAP_HLO_SUPPORT_CLOCK_H

#include <pthread.h>
#include <time.h>

/* Seconds since some fixed moment, never going back. */
double clock_seconds(void);
/* Seconds that the calling thread has spent on a processor. */
double clock_thread_seconds(void);
/* Seconds that all threads of the process have spent on processors. */
double clock_process_seconds(void);

/* A condition whose timed waits count by clock_seconds, so that nobody who sets the date moves
 * them. Always succeeds on Linux. */
void clock_condition_init(pthread_cond_t *c);
/* `seconds` from now, for pthread_cond_timedwait on such a condition. */
struct timespec clock_deadline(double seconds);

/* Seconds the processor has spent on the calling thread. */
double clock_thread_seconds(void);

#endif
