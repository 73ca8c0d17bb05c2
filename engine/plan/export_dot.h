/* engine/plan/export_dot.h - a plan as a graph for Graphviz and whatever else reads DOT.
 *
 * A node per instruction with its shape under the plan; free values (constants and what is computed
 * from them) and computations that are only applied are left out. Boxes are layers or computations.
 * Instructions whose partial results are reduced are ellipses with their bytes; edges of split
 * values are bold. Tooltips hold the shapes of all results, from which the check reads the plan
 * back.
 *
 * For a relaxed plan, shapes are statuses: how a value is made and how its uses receive it.
 * Reshards are red: on the edge to a note that all uses read, on the edge to a single use that
 * wants something else, and on dashed edges to storage, loop state or outputs. */
#ifndef AUTOMAP_ENGINE_PLAN_EXPORT_DOT_H
#define AUTOMAP_ENGINE_PLAN_EXPORT_DOT_H

#include "engine/plan/plan.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

/* ERR_MEMORY. O(instructions). */
int export_dot(const struct plan *p, struct str *out, struct err *e) MUST_CHECK;

/* Checks the shapes in such a text: each result of each node must be as the plan has it, else
 * ERR_INPUT. */
int export_dot_check(const struct plan *p, const char *text, size_t size, struct err *e) MUST_CHECK;

#endif
