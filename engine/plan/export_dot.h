/* engine/plan/export_dot.h - a plan as a graph for Graphviz and whatever else reads DOT.
 *
 * A node per instruction with its shape under the plan; free values (constants and what is computed
 * from them) are left out, computations that are only applied too. Boxes are layers, or
 * computations. Instructions whose partial results are reduced are ellipses with their bytes; edges
 * of split values are bold. The tooltip holds the shapes of all results, from which the plan is
 * read back.
 *
 * Of a relaxed plan shapes are statuses, how a value is made and how its uses find it, and reshards
 * are red: on the edge to a note that all uses read, on the edge to a use that alone asks for
 * something else, on dashed edges to what a value is stored, carried or handed out as. */
#ifndef AUTOMAP_ENGINE_PLAN_EXPORT_DOT_H
#define AUTOMAP_ENGINE_PLAN_EXPORT_DOT_H

#include "engine/plan/plan.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

/* ERR_MEMORY. O(instructions). */
int export_dot(const struct plan *p, struct str *out, struct err *e) MUST_CHECK;

/* Reads the shapes again: each result of each node as the plan has it. ERR_INPUT otherwise. */
int export_dot_check(const struct plan *p, const char *text, size_t size, struct err *e) MUST_CHECK;

#endif
