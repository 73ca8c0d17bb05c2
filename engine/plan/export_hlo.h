/* engine/plan/export_hlo.h - a plan as HLO text that XLA compiles into the planned collectives.
 *
 * The module is written inlined (every call replaced by its callee, one copy of a loop body per
 * loop) with a sharding on every instruction that has one meaning: parameters, everything inside,
 * whiles with what they carry, and the entry's root tuple, without which XLA replicates all
 * results. Reducers and comparators have none. XLA's propagation (GSPMD) never changed an
 * annotation in our measurements, so nothing is left to it. Free values (constants and what is
 * computed from them) get the split that all their uses want, or else are replicated: slicing them
 * locally costs nothing. A relaxed plan also has copies, each with the sharding that a use wants
 * (resharding.h). */
#ifndef AUTOMAP_ENGINE_PLAN_EXPORT_HLO_H
#define AUTOMAP_ENGINE_PLAN_EXPORT_HLO_H

#include "engine/plan/plan.h"
#include "engine/plan/sharding.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

/* Appends the module, and to `warnings` one line per thing a person should know: splits that are
 * padded, constants without values, aliases dropped because both sides are split differently.
 * ERR_MEMORY. O(instructions). */
int export_hlo(const struct plan *p, enum sharding_form form, struct str *out, struct str *warnings,
               struct err *e) MUST_CHECK;

/* Reads such text and derives the plan from its annotations alone. Strict: the module, one label
 * per class and the costs must be the same, and no two classes that meet may be split along one
 * axis. Relaxed: every value must be split as made, and every use must read, through copies, what
 * it read before, in the split it wants. Else ERR_INPUT. */
int export_hlo_check(const struct plan *p, const char *text, size_t size, struct err *e) MUST_CHECK;

#endif
