/* tui/commands/plan_relaxed.h - automap plan --mode relaxed. */
#ifndef AUTOMAP_TUI_COMMANDS_PLAN_RELAXED_H
#define AUTOMAP_TUI_COMMANDS_PLAN_RELAXED_H

#include "engine/exact/batch_and_zero.h"
#include "engine/plan/plan.h"
#include "engine/plan/relaxed_pins.h"
#include "engine/problem/problem.h"
#include "engine/relaxed/limited.h"
#include "engine/relaxed/limited_batches.h"
#include "engine/relaxed/relaxed.h"
#include "hlo/support/err.h"
#include "tui/options/option.h"

struct plan_relaxed_args {
    bool on;
    struct relaxed_options options;
    struct text_list stores;       /* settings */
    double limit;                  /* bytes of a device; 0: none */
    struct relaxed_limited within; /* of the plan, when there is a limit */
};

extern const struct option plan_relaxed_options[]; /* rows of struct plan_relaxed_args */

/* Something other than --mode was given. */
bool plan_relaxed_is_set(const struct plan_relaxed_args *a);

/* The best plan under the settings, the stores and the decisions of a strict plan `from` (may be
 * NULL). */
int plan_relaxed_solve(struct plan_relaxed_args *a, const struct problem *p,
                       const char *const *settings, uint32_t setting_count, const struct plan *from,
                       struct plan *out, struct err *e) MUST_CHECK;

/* The same within a->limit (INFINITY: none), with `micro_batches`, or the best number of them (0).
 * Where nothing fits the plan is that of least memory. `p` is left under the plan's batching. */
int plan_relaxed_choose(struct plan_relaxed_args *a, struct problem *p, const char *const *settings,
                        uint32_t setting_count, const struct plan *from, uint32_t micro_batches,
                        struct batch_and_zero_result *out, struct plan *plan,
                        struct err *e) MUST_CHECK;

/* What is told of a relaxed plan alone: bound, strict optimum, reshards. `given`: the bound is of
 * plans that keep decisions given before. */
void plan_relaxed_print_costs(const struct relaxed_plan *plan, bool is_limited, bool given);
void plan_relaxed_print_reshards(const struct relaxed_plan *plan);

#endif
