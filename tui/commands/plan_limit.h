/* tui/commands/plan_limit.h - automap plan within a memory limit: options, the answer, and what it
 * would take. */
#ifndef AUTOMAP_TUI_COMMANDS_PLAN_LIMIT_H
#define AUTOMAP_TUI_COMMANDS_PLAN_LIMIT_H

#include "engine/decide/strict.h"
#include "engine/exact/batch_and_zero.h"
#include "engine/plan/plan.h"
#include "engine/problem/problem.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "tui/options/option.h"

struct plan_limit_args {
    bool on;              /* asked for: a limit, or something to choose */
    bool is_device, none; /* the device's memory less the margin; no limit at all */
    double bytes;
    bool choose_micro_batches, choose_zero;
    bool recompute; /* and what its backward pass keeps */
    bool relaxed;   /* of relaxed plans, which choose themselves what is stored in pieces */
};

extern const struct option plan_limit_options[]; /* rows of struct plan_limit_args */

/* Bytes that a plan for `p` has to stay within. */
double plan_limit_bytes(const struct plan_limit_args *a, const struct problem *p);

/* The best plan, under the batching it leaves `p` in; `fix` as in batch_and_zero_options. */
int plan_limit_solve(const struct plan_limit_args *a, struct problem *p,
                     int (*fix)(void *context, const struct problem *p, struct strict *s,
                                struct err *e),
                     void *context, struct batch_and_zero_result *out, struct err *e) MUST_CHECK;

/* What was looked at, one line per pair, when something was to be chosen. */
void plan_limit_print_tries(const struct plan_limit_args *a, const struct batch_and_zero_result *r);
/* A line on how much memory to keep free, as measured for plans of this kind. */
void plan_limit_print_margin(enum plan_kind kind);
/* The answer when nothing fits. */
void plan_limit_print(const struct plan_limit_args *a, const struct problem *p,
                      const struct batch_and_zero_result *r);
int plan_limit_json(const struct plan_limit_args *a, const struct problem *p,
                    const struct batch_and_zero_result *r, struct str *out,
                    struct err *e) MUST_CHECK;

#endif
