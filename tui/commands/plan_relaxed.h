/* tui/commands/plan_relaxed.h - automap plan --mode relaxed. */
#ifndef AUTOMAP_TUI_COMMANDS_PLAN_RELAXED_H
#define AUTOMAP_TUI_COMMANDS_PLAN_RELAXED_H

#include "engine/plan/relaxed_pins.h"
#include "engine/relaxed/limited_batches.h"

#define PLAN_RELAXED_HELP                                                                     \
    "  --mode strict|relaxed      relaxed: splits may change between uses, at a price\n"      \
    "  --store 'NAME:DIM=1'       relaxed: stored split, uses may gather it; repeatable\n"    \
    "  --folding auto|on|off      relaxed: treat equal layers alike; auto: on several axes\n" \
    "  --sweeps N                 relaxed: at most N sweeps of message passing\n"

struct plan_relaxed_args {
    bool on;
    struct relaxed_options options;
    const char **stores; /* settings, not owned */
    uint32_t store_count;
    size_t store_room;
    double limit;                  /* bytes of a device; 0: none */
    struct relaxed_limited within; /* of the plan, when there is a limit */
};

/* Takes the option at argv[*at]: 1 taken, 0 not one of these, -1 wrong (said on stderr). */
int plan_relaxed_take(struct plan_relaxed_args *a, int argc, char **argv, int *at);
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
