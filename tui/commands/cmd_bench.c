#include "tui/commands/commands.h"

#include "tui/commands/bench.h"
#include "tui/options/args.h"
#include "tui/options/exit_code.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

const struct benchmark benchmarks[] = {
    {"read", "[FILE] [--seconds S] [--python PATH | --no-xla]",
     "reading HLO text against XLA's own parser, and the memory of a module", bench_read},
    {"engine", "[MODEL ...]",
     "classes, costs and the proven optimum of the shipped models, and one decision", bench_engine},
    {"relaxed", "[MODEL ...]",
     "relaxed plans with their bounds, beside the strict optimum and data parallelism",
     bench_relaxed},
    {"reality", "[--runs FILE] [--modules DIR] [--top N] [RUN ...]",
     "modelled steps and memory beside those of published training runs, opened into parts",
     bench_reality},
    {"rl", "[--seconds S] [--python PATH | --no-torch]",
     "updates of the learner against PyTorch and the speed of the matrix products", bench_rl},
    {"search", "[MODEL ...]",
     "decisions, propagations, priced plans and learning episodes a second on 8 devices",
     bench_search},
    {"pipeline", "[CLUSTER [MODEL ...]]",
     "profile, L, schedule, candidates and the proven optimum of pipelines; the algorithms at "
     "equal plans priced",
     bench_pipeline},
    {"tui", "[MODEL | --instructions N] [--seconds S]",
     "key press to frame, what watching costs a search, bytes written", bench_tui},
    {0},
};

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

static void print_help(FILE *out)
{
    fputs("usage: automap bench WHAT [ARGUMENT ...]\n\n", out);
    for (const struct benchmark *b = benchmarks; b->name; b++)
        fprintf(out, "  %-8s %s\n           %s\n", b->name, b->usage, b->summary);
}

int cmd_bench(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return EXIT_USAGE;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
        print_help(stdout);
        return EXIT_OK;
    }
    for (const struct benchmark *b = benchmarks; b->name; b++) {
        if (!strcmp(b->name, argv[1]))
            return b->run(argc - 1, argv + 1);
    }
    args_complain("bench", "no benchmark named \"%s\"", argv[1]);
    return EXIT_USAGE;
}
