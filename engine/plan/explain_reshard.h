/* engine/plan/explain_reshard.h - why a reshard of a relaxed plan stands where it stands, and what
 * the plan would cost without it. */
#ifndef AUTOMAP_ENGINE_PLAN_EXPLAIN_RESHARD_H
#define AUTOMAP_ENGINE_PLAN_EXPLAIN_RESHARD_H

#include "engine/plan/plan.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

/* The best plan found with no collective on this way of the value. */
struct reshard_removal {
    bool is_possible;
    double step_ms;
    struct plan plan;  /* when possible */
    char why_not[160]; /* when not */
};

/* Solves again from `p` with every collective forbidden on the way of reshard `number` (into
 * p->relaxed->reshards); of one that all uses share, on their own ways, too. A few sweeps. Pins of
 * the search that made the plan are not kept. ERR_INPUT when there is no such reshard. */
int reshard_remove(const struct plan *p, uint32_t number, struct reshard_removal *out,
                   struct err *e) MUST_CHECK;
void reshard_removal_release(struct reshard_removal *r);

/* Appends the answer: the reshard, what makes the value and in which status, who asks for what, and
 * the removal. Numbers shown count from 1. */
void reshard_explain(const struct plan *p, uint32_t number, const struct reshard_removal *r,
                     struct str *out);
/* The same as one JSON object; keys in engine/plan/README.md. */
int reshard_explain_json(const struct plan *p, uint32_t number, const struct reshard_removal *r,
                         struct str *out, struct err *e) MUST_CHECK;

/* Appends the plan's reshards with their numbers, the longest first, at most `most` of them. */
int reshard_list(const struct plan *p, uint32_t most, struct str *out, struct err *e) MUST_CHECK;

#endif
