/* engine/plan/recompute_rows.h - a choice of what to keep as people who train models see it: values
 * by source line and scope, and the policies that trainers offer. */
#ifndef AUTOMAP_ENGINE_PLAN_RECOMPUTE_ROWS_H
#define AUTOMAP_ENGINE_PLAN_RECOMPUTE_ROWS_H

#include "engine/plan/recompute_at.h"
#include "engine/recompute/recompute.h"
#include "hlo/support/err.h"

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
    char name[64];     /* proposed for checkpoint_name; no two rows have one */
};

/* Rows for everything that takes memory or time, most bytes first; the caller frees *out. O(nodes
 * log nodes). */
int recompute_rows(const struct plan_recompute *r, const struct recompute_choice *c,
                   struct recompute_row **out, uint32_t *count, struct err *e) MUST_CHECK;
/* keep, recompute, offload, some layers, ..: what a row says. */
const char *recompute_row_word(const struct recompute_row *row);
/* What a layer in a loop begins with: the loop's state, which is kept without a name. */
bool recompute_is_layer_input(const struct plan_recompute *r, uint32_t node);

/* Policies that trainers offer, priced under the plan. */
struct recompute_policy {
    const char *name, *jax, *megatron, *titan; /* its name there; NULL: not offered */
    double ms, kept, peak;
};
enum { RECOMPUTE_POLICIES_MOST = 8 };
int recompute_policies(const struct plan_recompute *r,
                       struct recompute_policy out[static RECOMPUTE_POLICIES_MOST], uint32_t *count,
                       struct err *e) MUST_CHECK;

#endif
