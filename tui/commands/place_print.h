/* tui/commands/place_print.h - a placement as text. Private to cmd_place.c. */
#ifndef AUTOMAP_TUI_COMMANDS_PLACE_PRINT_H
#define AUTOMAP_TUI_COMMANDS_PLACE_PRINT_H

#include "engine/place/nets.h"
#include "engine/place/operator_graph.h"
#include "engine/place/place_file.h"
#include "engine/place/place_pipeline.h"
#include "engine/place/placement.h"
#include "engine/place/solve.h"
#include "hlo/support/err.h"

/* Value, bound, gap; a row per device; what limits it and the heaviest transfers. */
int place_print(const char *name, const struct place_graph *g, const struct place_job *job,
                const struct placement *p, const struct place_load *load, struct err *e) MUST_CHECK;

/* Why a node is where it is: what the plan would take with it on every other device, and the output
 * that holds it. `rules` without copies. */
int place_print_why(const struct place_graph *g, const struct place_rules *rules,
                    const struct placement *p, uint32_t node, struct err *e) MUST_CHECK;

/* What limits the step, part by part, and the heaviest transfers. */
int place_print_limits(const struct place_graph *g, const struct place_job *job,
                       const struct placement *p, const struct place_load *load,
                       struct err *e) MUST_CHECK;

/* As JSON. */
int place_print_json(const struct place_document *d, struct err *e) MUST_CHECK;

/* The same plan as a pipeline: its step beside the time per sample of a stream; with `whole` its
 * stages too. */
void place_print_pipeline(const struct place_pipeline *l, bool whole);

#endif
