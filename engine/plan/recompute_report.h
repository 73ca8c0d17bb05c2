/* engine/plan/recompute_report.h - reports what to keep and what to compute again in terms people
 * who train models know: values by source line and scope, the front, stock policies, and code to
 * paste. */
#ifndef AUTOMAP_ENGINE_PLAN_RECOMPUTE_REPORT_H
#define AUTOMAP_ENGINE_PLAN_RECOMPUTE_REPORT_H

#include "engine/plan/recompute_at.h"
#include "engine/recompute/recompute.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

/* Values that repeated layers have in common: one scope, operation and shape. */
struct recompute_row {
    uint32_t node;           /* one of the values */
    uint32_t count;          /* how many; one for a loop */
    double kept_bytes, most; /* bytes kept; bytes if all were kept whole */
    double ms;               /* added */
    double again;            /* share of the layers that compute it again */
    bool in_pieces;
    double host_bytes; /* kept in host memory */
    char scope[128];   /* layer numbers as '*'; "" without metadata */
    char name[64];     /* proposed for checkpoint_name */
};

/* Policies that trainers offer, priced under the plan. */
struct recompute_policy {
    const char *name, *jax, *megatron, *titan; /* its name there; NULL: not offered */
    double ms, kept, peak;
};
enum { RECOMPUTE_POLICIES_MOST = 8 };
int recompute_policies(const struct plan_recompute *r,
                       struct recompute_policy out[static RECOMPUTE_POLICIES_MOST], uint32_t *count,
                       struct err *e) MUST_CHECK;

/* Appends the full report for a limit of `limit` bytes (INFINITY: none): the choice, its rows, the
 * front, policies. */
int recompute_write(const struct plan_recompute *r, const struct recompute_choice *c, double limit,
                    struct str *out, struct err *e) MUST_CHECK;
/* As JSON, schema automap.recompute/1. Appended. */
int recompute_write_json(const struct plan_recompute *r, const struct recompute_choice *c,
                         double limit, struct str *out, struct err *e) MUST_CHECK;

#endif
