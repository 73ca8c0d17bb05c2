/* engine/plan/export_loops.h - keeps loop state that never changes in place in an exported module.
 *
 * JAX compiles HLO through StableHLO, which hoists state that a loop's body hands on unchanged (up
 * to operations without effect) out of the loop, and then finds more shardings than results;
 * without a sharding, XLA splits the loop as it likes. So such a leaf passes through an opt-barrier
 * with its sharding, "ROOT.carriedN" for operand N of the body's root, and the loop keeps its own.
 * An instruction that folds into its operand (a reshape, a sum with 0) leaves its sharding there,
 * and on all results if that is one of several, so such an operand passes through a barrier too. */
#ifndef AUTOMAP_ENGINE_PLAN_EXPORT_LOOPS_H
#define AUTOMAP_ENGINE_PLAN_EXPORT_LOOPS_H

#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

struct export_loops {
    bool *is_unchanged; /* [values] a leaf of a body's root is the same leaf of its parameter */
    bool *is_left;      /* [instructions] a loop with such a leaf but no tuple to hold it */
    hlo_value *source;  /* [values] the source of each value, looking through tuples */
};

/* Release it even on error. O(values). */
int export_loops_new(const struct hlo_module *m, struct export_loops *out,
                     struct err *e) MUST_CHECK;
void export_loops_release(struct export_loops *l);

/* If operand `n` of `id` passes through a barrier: the first of the values whose shardings the
 * barrier carries, one for each leaf. HLO_NONE: it does not. */
hlo_value export_loops_held(const struct hlo_module *m, const struct export_loops *l, hlo_id id,
                            uint32_t n);
/* The barrier's name, appended. */
void export_loops_name(const struct hlo_module *m, hlo_id id, uint32_t n, struct str *out);
/* True for an instruction of an exported module that is such a barrier. */
bool export_loops_is_barrier(const struct hlo_module *m, hlo_id id);

#endif
