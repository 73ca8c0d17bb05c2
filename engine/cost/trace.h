/* engine/cost/trace.h - measured times from a profiler's trace.
 *
 * Chrome's trace format as the JAX profiler writes it (NAME.trace.json, gzipped or not): complete
 * events (ph X) with args.hlo_op, the instruction of the compiled module, and args.run_id; dur in
 * microseconds. Times of one operation on one device (pid and args.device_ordinal) within a run add
 * up (a loop's body runs often); over several runs and devices the median counts, so a warm-up run
 * does no harm.
 *
 * Or a table of times, CSV with titles (trace_table.h): an xplane's operations, nsys' kernels. It
 * covers a number of steps that it does not say. */
#ifndef AUTOMAP_ENGINE_COST_TRACE_H
#define AUTOMAP_ENGINE_COST_TRACE_H

#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

struct trace_op {
    const char *name; /* of the compiled instruction */
    double ms;        /* of one run */
};

struct trace {
    struct trace_op *ops; /* by name */
    uint32_t count, runs, events;
    bool is_table; /* of times, which cover all steps of the profile */
    struct arena arena;
};

/* `steps`: those that a table covers. ERR_INPUT: neither JSON nor a table, no traceEvents, or no
 * event of an HLO operation. O(events log events). */
int trace_read(const char *path, uint32_t steps, struct trace *out, struct err *e) MUST_CHECK;
void trace_release(struct trace *t);

/* A profile of `m`: ms[m->count], ms of one execution of each instruction, < 0 where unknown. Names
 * in the trace are those of `m`, or of `compiled` (may be NULL), also with _ for what is no letter
 * or digit, as kernels of GPUs are called. Instructions of `compiled` are matched to `m` by
 * op_name; a fusion that has none goes by its result's. Where the compiler inlined a call its
 * instructions are named after the call: what follows the call's op_name is looked for in what it
 * calls. Instructions with one op_name share the time in proportion to their rooflines. */
struct trace_match {
    double *ms;
    double total_ms, matched_ms; /* of one run, without loops and calls, whose parts count */
    uint32_t matched;            /* instructions of `m` with a time */
};
int trace_match(const struct trace *t, const struct hlo_module *m,
                const struct hlo_module *compiled, struct trace_match *out,
                struct err *e) MUST_CHECK;
void trace_match_release(struct trace_match *t);

#endif
