/* engine/plan/export_loops.h - what loops hand on unchanged, held fast in an exported module.
 *
 * JAX compiles HLO by way of StableHLO, which takes what a loop's body hands on as it came (but for
 * operations that change nothing) out of the loop, and then finds more shardings than results; left
 * without one, a loop is split as XLA thinks best. So such a leaf goes through an opt-barrier that
 * carries its sharding, "ROOT.carriedN" for operand N of the body's root, and the loop keeps its
 * own. An instruction that folds into its operand (a reshape, a sum with 0) leaves its sharding
 * there, on all results where that is one of several: such an operand goes through one too. */
#ifndef AUTOMAP_ENGINE_PLAN_EXPORT_LOOPS_H
#define AUTOMAP_ENGINE_PLAN_EXPORT_LOOPS_H

#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

struct export_loops {
    bool *is_unchanged; /* [values] a leaf of a body's root is the same leaf of its parameter */
    bool *is_left;      /* [instructions] a loop with such a leaf and no tuple to hold it in */
    hlo_value *source;  /* [values] what each is when tuples are looked through */
};

/* To be released also on error. O(values). */
int export_loops_new(const struct hlo_module *m, struct export_loops *out,
                     struct err *e) MUST_CHECK;
void export_loops_release(struct export_loops *l);

/* Operand `n` of `id` goes through a barrier: the first of the values whose shardings it carries,
 * one for each leaf. HLO_NONE: it does not. */
hlo_value export_loops_held(const struct hlo_module *m, const struct export_loops *l, hlo_id id,
                            uint32_t n);
/* The barrier's name, appended. */
void export_loops_name(const struct hlo_module *m, hlo_id id, uint32_t n, struct str *out);
/* True for an instruction of an exported module that is such a barrier. */
bool export_loops_is_barrier(const struct hlo_module *m, hlo_id id);

#endif
