/* tui/commands/bench.h - the benchmarks of `automap bench`, one row each in
 * tui/commands/cmd_bench.c.
 *
 * A benchmark prints its figures with the targets they are held against, as ratios taken in one
 * run where they compare with something. It gets its own argv (argv[0] is its name) and returns an
 * exit code; a missed target is printed, not an error. */
#ifndef AUTOMAP_TUI_COMMANDS_BENCH_H
#define AUTOMAP_TUI_COMMANDS_BENCH_H

#include "hlo/support/mem.h"

#include <stdio.h>
#include <sys/types.h>

struct benchmark {
    const char *name;
    const char *usage;   /* arguments */
    const char *summary; /* one line, lower case, no full stop */
    int (*run)(int argc, char **argv);
};

extern const struct benchmark benchmarks[]; /* ends with name NULL */

double bench_now(void); /* seconds on a monotonic clock */
double bench_own(void); /* seconds of the calling thread on a processor: others may be at work */

/* Starts `argv` (argv[0] is looked up in PATH; ends with NULL), reading file `input` (NULL: what we
 * read). Returns the end of its output, to be closed, and *child, to be waited for; NULL: it cannot
 * be started. */
FILE *bench_start(const char *const *argv, const char *input, pid_t *child);

/* A training step of at least so many instructions as HLO text. False: out of memory. */
bool bench_write_module(struct str *out, uint32_t instructions);

int bench_pipeline(int argc, char **argv);
int bench_read(int argc, char **argv);
int bench_engine(int argc, char **argv);
int bench_relaxed(int argc, char **argv);
int bench_relaxed_speed(const char *model); /* rows of bench engine */
int bench_reality(int argc, char **argv);
int bench_rl(int argc, char **argv);
int bench_search(int argc, char **argv);
int bench_tui(int argc, char **argv);

#endif
