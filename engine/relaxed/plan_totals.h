/* engine/relaxed/plan_totals.h - totals of a relaxed plan: memory, reshards by kind. */
#ifndef AUTOMAP_ENGINE_RELAXED_PLAN_TOTALS_H
#define AUTOMAP_ENGINE_RELAXED_PLAN_TOTALS_H

#include "engine/cost/memory.h"
#include "engine/cost/memory_chain.h"
#include "engine/problem/problem.h"
#include "engine/relaxed/relaxed.h"
#include "engine/relaxed/status.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

/* Memory of one device: cost/memory.h's schedule with local sizes by status. A value whose uses
 * share a reshard counts with the larger of both sizes, and with both until the first read of an
 * all-reduce's result. The copy of a parameter that its uses share counts besides what is stored,
 * from the first use in the passes to the last; copies.h has the others. O(operands). */
int relaxed_memory(const struct relaxed_plan *plan, struct memory_cost *out,
                   struct err *e) MUST_CHECK;
/* The same with the place of the peak, and the bytes of the ranges in `own` (from memory_scratch;
 * may be NULL). */
int relaxed_memory_peak(const struct relaxed_plan *plan, struct memory_cost *out,
                        struct memory_chain *where, double *own, struct err *e) MUST_CHECK;

/* The same in another order of the instructions. */
int relaxed_memory_in(const struct relaxed_plan *plan, const struct memory_model *memory,
                      struct memory_cost *out, struct memory_chain *where, double *own,
                      struct err *e) MUST_CHECK;

/* Bytes of one device's piece of a value, for one micro-batch. O(rank). */
double relaxed_local_bytes(const struct problem *p, hlo_value v, status s);

/* The parameter whose next value is `result`, a value of the entry's root; HLO_NONE: none.
 * O(log parameters), and parameters of another shape with that next value. */
hlo_value relaxed_next_of(const struct relaxed_plan *plan, hlo_value result);

/* "f32[768/x 768]", followed by " used as f32[768 768]" if its uses share another status.
 * Appended. */
void relaxed_write_shape(const struct relaxed_plan *plan, hlo_value v, struct str *out);

struct relaxed_sum {
    double count, bytes, ms; /* of one training step; bytes local to a device */
};
void relaxed_sums(const struct relaxed_plan *plan,
                  struct relaxed_sum out[static RESHARD_KIND_COUNT]);

#endif
