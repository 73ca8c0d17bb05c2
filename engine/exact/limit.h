/* engine/exact/limit.h - the best strict plan that fits in a device's memory.
 *
 * Memory is a sum over live ranges at each position of the schedule (cost/memory.h), so a limit is
 * a constraint per position, in small tables over the classes of the ranges. Lagrange multipliers
 * on the positions that become peaks (found one by one), with elimination as the inner solver, give
 * a lower bound and plans. Plans over the limit are repaired by the single changes that free most
 * bytes per ms. Then branch and bound runs on the same tables, best bound first, each node bounded
 * with the multipliers of the root. If no plan fits, multipliers on memory alone prove it: no plan
 * needs less than `least_bound`. Classes that fold may differ here: with identical layers the best
 * plan within a limit splits only some of them.
 *
 * Where communication overlaps computation (cost/overlap.h), the excess enters with a weight that
 * is found as the multipliers are; plans are compared by their whole step.
 *
 * Work is limited in eliminations, not in time, so the answer is the same on every machine. */
#ifndef AUTOMAP_ENGINE_EXACT_LIMIT_H
#define AUTOMAP_ENGINE_EXACT_LIMIT_H

#include "engine/cost/memory.h"
#include "engine/cost/step_tables.h"
#include "engine/decide/labels.h"
#include "engine/decide/strict.h"
#include "engine/exact/exact.h"
#include "hlo/support/err.h"
#include "hlo/support/stop.h"

enum { LIMIT_WORK_MOST = 1200 }; /* eliminations of the default */

struct limit_options {
    double limit;            /* bytes of one device; INFINITY: none */
    bool variables, inputs;  /* as in exact_options */
    uint32_t work_most;      /* eliminations; 0: the default */
    double beat_ms;          /* > 0: what is slower is not looked for */
    bool least;              /* find the plan of least memory, whatever its step time */
    const atomic_bool *stop; /* as in exact_options */
};

struct limit_result {
    label *on; /* [classes] the best plan found within the limit; if there is none, that of least
                  memory */
    bool fits;
    double value, bound; /* ms of a step; no plan within the limit is faster. fits: bound <= value;
                            else 0 where there is provably none */
    bool proven;         /* fits: bound = value; else: no plan fits */
    double peak;         /* bytes of `on` */
    double least_bound;  /* no plan needs fewer bytes; 0: not computed */
    uint32_t work, positions; /* eliminations; peaks that got a multiplier */
};

/* `fixed`: decisions that must stay; NULL: none. `m` must have the batching of `t`. ERR_INFEASIBLE
 * only when the fixed decisions themselves cannot hold. */
int exact_limited(const struct step_tables *t, const struct memory_model *m,
                  const struct strict *fixed, const struct limit_options *o,
                  struct limit_result *out, struct err *e) MUST_CHECK;
void limit_release(struct limit_result *r);

#endif
