/* tui/commands/plan_limit.h - automap plan within a memory limit: options, the answer, and what it
 * would take. */
#ifndef AUTOMAP_TUI_COMMANDS_PLAN_LIMIT_H
#define AUTOMAP_TUI_COMMANDS_PLAN_LIMIT_H

#include "engine/exact/batch_and_zero.h"
#include "engine/plan/plan.h"

struct plan_limit_args {
    bool on;              /* asked for: a limit, or something to choose */
    bool is_device, none; /* the device's memory less the margin; no limit at all */
    double bytes;
    bool choose_micro_batches, choose_zero;
    bool relaxed; /* of relaxed plans, which choose themselves what is stored in pieces */
};

#define PLAN_LIMIT_HELP                                                                           \
    "  --memory-limit SIZE        the best plan that stays within SIZE (12.8 GB), with its "      \
    "bound;\n"                                                                                    \
    "                             device: what a device has less 20 %; none; strict or relaxed\n" \
    "  --micro-batches auto       chosen with the plan, from the divisors of the batch\n"         \
    "  --zero auto                chosen with the plan (a relaxed one always does so, variable "  \
    "by variable);\n"                                                                             \
    "                             auto stays within device unless a limit is given\n"

/* Takes the option at argv[*at] and what belongs to it: 1 taken, 0 not one of these, -1 wrong. */
int plan_limit_take(struct plan_limit_args *a, int argc, char **argv, int *at);

/* Bytes that a plan for `p` has to stay within. */
double plan_limit_bytes(const struct plan_limit_args *a, const struct problem *p);

/* The best plan, under the batching it leaves `p` in; `fix` as in batch_and_zero_options. */
int plan_limit_solve(const struct plan_limit_args *a, struct problem *p,
                     int (*fix)(void *context, const struct problem *p, struct strict *s,
                                struct err *e),
                     void *context, struct batch_and_zero_result *out, struct err *e) MUST_CHECK;

/* What was looked at, one line per pair, when something was to be chosen. */
void plan_limit_print_tries(const struct plan_limit_args *a, const struct batch_and_zero_result *r);
/* The answer when nothing fits. */
void plan_limit_print(const struct plan_limit_args *a, const struct problem *p,
                      const struct batch_and_zero_result *r);
int plan_limit_json(const struct plan_limit_args *a, const struct problem *p,
                    const struct batch_and_zero_result *r, struct str *out,
                    struct err *e) MUST_CHECK;

#endif
