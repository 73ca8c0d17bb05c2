#include "tui/commands/commands.h"

#include "hlo/support/clock.h"
#include "tui/commands/bench.h"
#include "tui/options/exit_code.h"
#include "tui/options/option.h"

#include <stdio.h>
#include <string.h>

double bench_now(void)
{
    return clock_seconds();
}

double bench_own(void)
{
    return clock_thread_seconds();
}

static const struct command *const benchmarks[] = {
    &bench_hybrid, &bench_read,   &bench_engine, &bench_relaxed,  &bench_reality,
    &bench_rl,     &bench_search, &bench_policy, &bench_pipeline, &bench_place,
    &bench_tui,    &bench_iopddl, NULL,
};

const struct command command_bench = {
    .name = "bench",
    .usage = "WHAT [ARGUMENT ...]",
    .summary = "measure how fast the parts are",
    .about = "Measures parts of automap and prints the figures with their targets.",
    .parts = benchmarks,
};
