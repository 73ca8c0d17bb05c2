#include "tui/commands/commands.h"

#include "tui/commands/bench.h"
#include "tui/options/exit_code.h"
#include "tui/options/option.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static double seconds_on(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double bench_now(void)
{
    return seconds_on(CLOCK_MONOTONIC);
}

double bench_own(void)
{
    return seconds_on(CLOCK_THREAD_CPUTIME_ID);
}

static const struct command *const benchmarks[] = {
    &bench_hybrid, &bench_read,   &bench_engine,   &bench_relaxed, &bench_reality, &bench_rl,
    &bench_search, &bench_policy, &bench_pipeline, &bench_place,   &bench_tui,     NULL,
};

const struct command command_bench = {
    .name = "bench",
    .usage = "WHAT [ARGUMENT ...]",
    .summary = "measure how fast the parts are",
    .about = "Measures parts of automap and prints the figures with their targets.",
    .parts = benchmarks,
};
