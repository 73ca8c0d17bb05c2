/* engine/plan/explain.h - answers in words and figures: why a dim is split or not, why it never can
 * be, why two dims cannot both be, where a collective comes from, what a flip would cost. */
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

/* Appends the answer for one dim under the plan: split: the chain to what was decided, what it
 * costs and saves; not split: decided so, excluded by whom and where, or forbidden for ever, with
 * the chain from the dim to the reason. O(class size). */
int explain_dim(const struct plan *p, dim_id d, struct str *out, struct err *e) MUST_CHECK;

/* Can both be split? The place where their classes meet, with a chain to it from each. */
int explain_pair(const struct plan *p, dim_id a, dim_id b, struct str *out,
                 struct err *e) MUST_CHECK;

/* The cost of one instruction and, if it has one, its collective: operands, bytes, time by part,
 * and the decision behind it. */
int explain_instruction(const struct plan *p, hlo_id id, struct str *out, struct err *e) MUST_CHECK;

/* Steps of a plan when class `k` changes to label `to`, the rest staying where it may: step time,
 * or -1 when the label is not possible beside the other splits. */
double explain_flip_ms(const struct plan *p, class_id k, label to);

#endif
