#include "engine/plan/resharding_free.h"

#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/plan/resharding.h"
#include "engine/plan/value_splits.h"
#include "engine/problem/problem.h"
#include "hlo/meaning/factors.h"
#include "hlo/module/flows.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <string.h>

uint32_t resharding_leaf(const struct hlo_module *m, hlo_id id, uint32_t n)
{
    uint32_t leaf = 0;

    for (uint32_t k = 0; k < n; k++)
        leaf += hlo_shape(m, hlo_operand(m, id, k))->leaf_count;
    return leaf;
}

/* Scatters follow their operand, and updates that are folded, to what other uses of these are; of a
 * gather with whole indices XLA makes the whole result, and where what it looks up is split it
 * masks and sums. */
static bool follows(const struct resharding *r, hlo_id id, uint32_t n)
{
    const struct hlo_module *m = r->plan->problem->m;
    const struct hlo_instruction *i = hlo_at(m, id);

    if (i->opcode == HLO_OP_GATHER)
        return true;
    if (i->opcode == HLO_OP_SCATTER && r->is_constant[hlo_operand(m, id, n)])
        return true;
    return !n && (i->opcode == HLO_OP_SCATTER || i->opcode == HLO_OP_DYNAMIC_UPDATE_SLICE);
}

/* Made from free values alone, by what communicates when they are split: it wants them whole. */
static bool sums_free(const struct resharding *r, hlo_id id, uint32_t n)
{
    const struct problem *p = r->plan->problem;

    if (!p->classes.is_free[p->m->leaf_base[id]])
        return false;
    switch (hlo_at(p->m, id)->opcode) {
    case HLO_OP_REDUCE:
    case HLO_OP_REDUCE_WINDOW:
        return n == 0;
    case HLO_OP_DOT:
    case HLO_OP_CONVOLUTION:
    case HLO_OP_SORT:
    case HLO_OP_SCATTER:
        return true;
    default:
        return false;
    }
}

/* A use that wants another split than its free operand `v` is written with; element by element that
 * costs nothing. Left to itself XLA may
 * gather the use's other operands instead of cutting this one; and where it folds what lies
 * between, take the use's split for the value's. */
static bool wants_another(struct resharding *r, hlo_id id, uint32_t leaf, hlo_value v,
                          label want[static HLO_RANK_MAX])
{
    const struct problem *p = r->plan->problem;
    label as[HLO_RANK_MAX] = {0};
    struct err lost;

    if (hlo_is_flow(p->m, id) ||
        hlo_op_info[hlo_at(p->m, id)->opcode].factors == HLO_FACTORS_ELEMENTWISE)
        return false;
    if (class_leaf_count(&p->classes, id))
        free_values_wanted(r->plan, id, leaf, want);
    else if (!r->is_shared[v] || hlo_factors_of(p->m, id, &r->factors, &lost))
        return false;
    else
        free_values_wanted_by_free(&p->classes, r->over, id, &r->factors, leaf, want);
    memcpy(as, r->over + p->classes.dim_base[v], hlo_value_shape(p->m, v)->rank * sizeof *as);
    return memcmp(as, want, sizeof as) != 0;
}

bool resharding_free_want(struct resharding *r, hlo_id id, uint32_t n, hlo_value v,
                          label want[static HLO_RANK_MAX])
{
    const struct problem *p = r->plan->problem;
    const struct hlo_instruction *i = hlo_at(p->m, id);
    uint32_t leaf = resharding_leaf(p->m, id, n);

    if (r->is_shared[v] && sums_free(r, id, n)) {
        memset(want, 0, HLO_RANK_MAX * sizeof *want);
        return true;
    }
    if (wants_another(r, id, leaf, v, want))
        return true;
    if (!follows(r, id, n) || i->operand_count < 2 || !class_leaf_count(&p->classes, id) ||
        !r->is_shared[v])
        return false;
    free_values_wanted(r->plan, id, leaf, want);
    return true;
}

/* ---- constants ---- */

bool resharding_find_constants(struct resharding *r)
{
    const struct hlo_module *m = r->plan->problem->m;

    r->is_constant = mem_try((size_t)m->count + 1, sizeof *r->is_constant);
    for (hlo_id id = 0; r->is_constant && id < m->count; id++) {
        const struct hlo_instruction *i = hlo_at(m, id);
        bool is_source = i->opcode == HLO_OP_CONSTANT || i->opcode == HLO_OP_IOTA;
        bool all = i->operand_count && !i->called_count;
        for (uint32_t n = 0; n < i->operand_count; n++)
            all &= r->is_constant[hlo_operand(m, id, n)];
        r->is_constant[id] = is_source || all;
    }
    return r->is_constant != NULL;
}

bool resharding_is_spread(const struct resharding *r, hlo_id id)
{
    const struct hlo_module *m = r->plan->problem->m;

    return r->is_constant[id] && hlo_at(m, id)->opcode == HLO_OP_BROADCAST &&
           hlo_shape(m, hlo_operand(m, id, 0))->rank == 0;
}
