/* tui/commands/plan_print.h - a strict or relaxed plan as text on standard output. */
#ifndef AUTOMAP_TUI_COMMANDS_PLAN_PRINT_H
#define AUTOMAP_TUI_COMMANDS_PLAN_PRINT_H

#include "engine/plan/plan.h"
#include "hlo/support/err.h"

#include <stdbool.h>

/* The model, the cluster and the mesh, and an empty line. */
void plan_print_head(const struct plan *plan);

/* The step with its proof, memory, what else might be done, and each variable and input. `given`:
 * the proof is of plans that keep decisions given before. `asked_bytes`: a memory limit in figures;
 * 0: none, or what a device has. Fails where memory ends; what stands above is printed then. */
int plan_print(const struct plan *plan, bool given, double asked_bytes, struct err *e) MUST_CHECK;

#endif
