/* engine/plan/explain.h - answers in words and figures: why a dim is split or not, why it never can
 * be, why two dims cannot both be split, where a collective comes from, what a flip would cost. */
#ifndef AUTOMAP_ENGINE_PLAN_EXPLAIN_H
#define AUTOMAP_ENGINE_PLAN_EXPLAIN_H

#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/plan/plan.h"
#include "engine/problem/problem.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

/* "NAME:DIM": NAME a variable or input as inspect prints it, or an instruction. ERR_INPUT
 * otherwise. */
int explain_find(const struct problem *p, const char *text, dim_id *out, struct err *e) MUST_CHECK;

/* Appends the answer for one dim under the plan: if split, the chain to what was decided, what it
 * costs and saves; if not, whether it was decided so, what excludes it and where, or why it can
 * never be split, with the chain from the dim to the reason. O(class size). */
int explain_dim(const struct plan *p, dim_id d, struct str *out, struct err *e) MUST_CHECK;

/* Appends whether both can be split: the place where their classes meet, with a chain to it from
 * each. */
int explain_pair(const struct plan *p, dim_id a, dim_id b, struct str *out,
                 struct err *e) MUST_CHECK;

/* Appends the cost of one instruction and of its collective, if any: operands, bytes, time by part,
 * and the decision behind it. */
int explain_instruction(const struct plan *p, hlo_id id, struct str *out, struct err *e) MUST_CHECK;

/* The step time, ms, when class `k` changes to label `to` and the rest stays; -1: the other splits
 * exclude the label. */
double explain_flip_ms(const struct plan *p, class_id k, label to);

#endif
