/* tui/commands/bench.h - the benchmarks of `automap bench`, one row each in
 * tui/commands/cmd_bench.c.
 *
 * A benchmark prints its figures with their targets; comparisons are ratios within one run. A
 * missed target is reported, not an error. */
#ifndef AUTOMAP_TUI_COMMANDS_BENCH_H
#define AUTOMAP_TUI_COMMANDS_BENCH_H

#include "hlo/support/mem.h"
#include "tui/commands/commands.h"

#include <stdio.h>
#include <sys/types.h>

double bench_now(void); /* seconds on a monotonic clock */
double bench_own(void); /* CPU seconds of the calling thread, since the machine may be busy */

/* Starts `argv` (argv[0] is looked up in PATH; ends with NULL), reading file `input` (NULL: what we
 * read). Returns a stream of its output, which the caller closes, and *child, which the caller
 * waits for. NULL: it cannot be started. */
FILE *bench_start(const char *const *argv, const char *input, pid_t *child);

/* Writes a training step of at least that many instructions as HLO text. False: out of memory. */
bool bench_write_module(struct str *out, uint32_t instructions);

extern const struct command bench_read, bench_engine, bench_relaxed, bench_reality, bench_rl,
    bench_search, bench_policy, bench_pipeline, bench_place, bench_tui;

extern const struct command bench_hybrid, bench_iopddl;

int bench_relaxed_speed(const char *model); /* rows of bench engine */

#endif
