#include "hlo/support/clock.h"

static double seconds_on(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

double clock_seconds(void)
{
    return seconds_on(CLOCK_MONOTONIC);
}

double clock_thread_seconds(void)
{
    return seconds_on(CLOCK_THREAD_CPUTIME_ID);
}

double clock_process_seconds(void)
{
    return seconds_on(CLOCK_PROCESS_CPUTIME_ID);
}

void clock_condition_init(pthread_cond_t *c)
{
    pthread_condattr_t monotonic;

    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(c, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

struct timespec clock_deadline(double seconds)
{
    struct timespec t;
    time_t whole = (time_t)seconds;

    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_sec += whole;
    t.tv_nsec += (long)((seconds - (double)whole) * 1e9);
    if (t.tv_nsec >= 1000000000) {
        t.tv_sec++;
        t.tv_nsec -= 1000000000;
    }
    return t;
}
