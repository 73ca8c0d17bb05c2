/* tui/commands/bench_changes.h - what the cost model was before its parts knew kernels, shapes and
 * overlap, each part by itself, for `automap bench reality --changes`. */
#ifndef AUTOMAP_TUI_COMMANDS_BENCH_CHANGES_H
#define AUTOMAP_TUI_COMMANDS_BENCH_CHANGES_H

#include "engine/problem/problem.h"
#include "hlo/support/err.h"

#include <stdint.h>

enum {
    CHANGE_TRAFFIC, /* traffic by kernel; before: stored operands and results of each instruction */
    CHANGE_PRODUCT, /* products by shape; before: flops / 3/4 of the data sheet's peak */
    CHANGE_SHARE,   /* the share of mixed kernels; before: 0.9, what a copy reaches */
    CHANGE_JOINED,  /* one all-reduce of sums; before: each where it arises */
    CHANGE_LATENCY, /* NCCL's latencies by size and bus; before: 10 us a phase, 200 GB/s */
    CHANGE_OVERLAP, /* communication beside computation; before: none */
    CHANGE_COUNT,
    CHANGE_ALL = (1 << CHANGE_COUNT) - 1
};
extern const char *const bench_change_names[CHANGE_COUNT];

/* Takes every part back that is not in `made` (bits 1 << CHANGE_..) and prices the problem anew. */
int bench_changes_take_back(struct problem *p, uint32_t made, struct err *e) MUST_CHECK;

#endif
