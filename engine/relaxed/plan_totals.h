/* engine/relaxed/plan_totals.h - what a relaxed plan comes to: memory, reshards by kind. */
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

/* Memory of one device: cost/memory.h's schedule with local sizes by status. A value that its uses
 * share resharded counts at the larger of both sizes, and at both while an all-reduce's result is
 * read first; of a parameter the copy its uses share counts beside what is stored, from the first
 * use in the passes to the last. Copies made for one use alone are not counted. O(values). */
int relaxed_memory(const struct relaxed_plan *plan, struct memory_cost *out,
                   struct err *e) MUST_CHECK;
/* And where the peak is, with the bytes of the ranges in `own`, of memory_scratch; NULL: not
 * wanted. */
int relaxed_memory_peak(const struct relaxed_plan *plan, struct memory_cost *out,
                        struct memory_chain *where, double *own, struct err *e) MUST_CHECK;

/* The same in another order of the instructions. */
int relaxed_memory_in(const struct relaxed_plan *plan, const struct memory_model *memory,
                      struct memory_cost *out, struct memory_chain *where, double *own,
                      struct err *e) MUST_CHECK;

/* Bytes of one device's piece of a value, of one micro-batch. O(rank). */
double relaxed_local_bytes(const struct problem *p, hlo_value v, status s);

/* The parameter that a result of the step, a value of the entry's root, is the next value of;
 * HLO_NONE: nobody's. O(parameters). */
hlo_value relaxed_next_of(const struct relaxed_plan *plan, hlo_value result);

/* "f32[768/x 768]", and behind it " used as f32[768 768]" when its uses find it so. Appended. */
void relaxed_write_shape(const struct relaxed_plan *plan, hlo_value v, struct str *out);

struct relaxed_sum {
    double count, bytes, ms; /* of one step of training; bytes local to a device */
};
void relaxed_sums(const struct relaxed_plan *plan,
                  struct relaxed_sum out[static RESHARD_KIND_COUNT]);

#endif
