/* engine/plan/resharding.h - copies that carry a sharding, where a use wants another split than the
 * value has.
 *
 * In a relaxed plan a value may be made in one status, held for its uses in another, and asked for
 * in a third. HLO has one sharding per instruction, so each change is written as a copy with the
 * new sharding: one copy, "NAME.held", that all uses read, and one, "USER.operandN", where a single
 * use wants something else. XLA's partitioner keeps them and reshards there and nowhere else. If
 * the cheapest path has several steps (relaxed/status.h), each but the last is a copy "..stepK".
 * HLO cannot express partial results: what a plan leaves partial is written as combined. Shardy can
 * express partial sums; there a copy combines them.
 *
 * What the partitioner computes wrong in parts (partitioner_loses_parts) has whole operands and a
 * whole result in strict plans too; each use cuts its part.
 *
 * Free values need copies too, even in strict plans: one for each use that wants another split than
 * they are written with, except for elementwise uses. Otherwise XLA gathers the other operands of a
 * product, and folds the difference away where only reshapes lie between. And where uses differ, a
 * scatter follows its operand and reshards its result, a gather with whole indices runs whole, and
 * a sum or product of free values alone would become partial. */
#ifndef AUTOMAP_ENGINE_PLAN_RESHARDING_H
#define AUTOMAP_ENGINE_PLAN_RESHARDING_H

#include "engine/decide/labels.h"
#include "engine/plan/plan.h"
#include "engine/plan/sharding.h"
#include "engine/relaxed/status.h"
#include "hlo/meaning/factors.h"
#include "hlo/module/hlo.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

struct resharding {
    const struct plan *plan;
    const bool *is_meant;   /* [computations] that hold values */
    const label *over;      /* [classes->dim_count] what values are written with (value_splits.h) */
    const bool *is_shared;  /* [values] free, and its uses want different splits (value_splits.h) */
    const label *unreduced; /* [instructions] axes along which results stay partial sums
                               (partial_sums.h); NULL: none */
    bool *is_constant;      /* [instructions] computed from constants alone */
    hlo_id *first_user;     /* [instructions] relaxed: the held copy goes before this instruction;
                               HLO_NONE */
    hlo_id *same_array;     /* [instructions] relaxed: the first of its computation that is the same
                               array,    itself: what copies are named after and made of */
    hlo_value *goal;        /* [values] relaxed: what the value becomes where control flow joins */
    struct status_spaces spaces; /* without partial ones */
    struct hlo_factors factors;  /* of a free use */
    struct str text, name;
};

/* The arrays must outlive it. O(instructions). */
int resharding_new(const struct plan *p, const bool *is_meant, const label *over,
                   const bool *is_shared, const label *unreduced, struct resharding *out,
                   struct err *e) MUST_CHECK;
void resharding_release(struct resharding *r);

/* What operand `n` of `id`, an array, has to be for it: per dim. False: nothing is asked. */
bool resharding_want(struct resharding *r, hlo_id id, uint32_t n, label want[static HLO_RANK_MAX]);

/* The split that a tuple's leaf becomes, over[dim]. False: nothing special. */
bool resharding_goal(const struct resharding *r, hlo_value v, label over[static HLO_RANK_MAX]);

/* The copies to write before `id`, as whole lines (NULL: none), and the name to write for its
 * operand `n` (NULL: its own). Valid until the next call. */
const char *resharding_lines(struct resharding *r, hlo_id id, enum sharding_form form);
const char *resharding_operand(struct resharding *r, hlo_id id, uint32_t n);

/* True when copies of operand `n` of `id` may begin at the instruction called `name`: it, another
 * name of the same array, the constant that it spreads. */
bool resharding_is_source(const struct resharding *r, hlo_id id, uint32_t n, const char *name);

/* True for an instruction that such lines made. */
bool resharding_is_copy(const struct hlo_module *m, hlo_id id);

#endif
