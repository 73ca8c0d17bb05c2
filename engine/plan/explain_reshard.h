/* engine/plan/explain_reshard.h - why a reshard of a relaxed plan is where it is, and what the plan
 * would cost without it. */
#ifndef AUTOMAP_ENGINE_PLAN_EXPLAIN_RESHARD_H
#define AUTOMAP_ENGINE_PLAN_EXPLAIN_RESHARD_H

#include "engine/plan/plan.h"
#include "engine/relaxed/relaxed.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <stdatomic.h>

/* An instruction that reads the array, and with which operand leaf. */
struct relaxed_use {
    hlo_id id;
    uint32_t leaf;
};
/* Writes its readers, at most `room`; returns how many there are. O(operands). */
uint32_t relaxed_uses(const struct relaxed_plan *x, hlo_value v, struct relaxed_use *out,
                      uint32_t room);
/* "split over x along dim 1 of its result, passing partial results over y on". Appended. */
void relaxed_write_choice(const struct relaxed_plan *x, hlo_id id, struct str *out);
/* Its purpose: "for operand 1 of dot.5", "for all its uses", "to be handed out". Appended. */
void relaxed_write_way(const struct relaxed_plan *x, const struct relaxed_reshard *r,
                       struct str *out);

/* The best plan found without a collective on this path of the value. */
struct reshard_removal {
    bool is_possible;
    double step_ms;
    struct plan plan;  /* when possible */
    char why_not[160]; /* when not */
};

/* Solves again from `p` with every collective forbidden on the path of reshard `number` (into
 * p->relaxed->reshards); if all uses share it, on their own paths too. A few sweeps. Drops the pins
 * of the search that made the plan. ERR_INPUT: no such reshard. */
int reshard_remove(const struct plan *p, uint32_t number, struct reshard_removal *out,
                   struct err *e) MUST_CHECK;
/* The same until *stop is set, a few sweeps at a time; returns the best plan found by then. */
int reshard_remove_until(const struct plan *p, uint32_t number, const atomic_bool *stop,
                         struct reshard_removal *out, struct err *e) MUST_CHECK;
void reshard_removal_release(struct reshard_removal *r);

/* Appends the answer: the reshard, what makes the value and in which status, which uses want what,
 * and the removal. Numbers shown count from 1. */
void reshard_explain(const struct plan *p, uint32_t number, const struct reshard_removal *r,
                     struct str *out);
/* The same as one JSON object; keys in engine/plan/README.md. */
int reshard_explain_json(const struct plan *p, uint32_t number, const struct reshard_removal *r,
                         struct str *out, struct err *e) MUST_CHECK;

/* Appends the plan's reshards with their numbers, the longest first, at most `most` of them. */
int reshard_list(const struct plan *p, uint32_t most, struct str *out, struct err *e) MUST_CHECK;

#endif
