/* tui/commands/pipeline_print.h - a pipeline plan as text: what it costs, its stages, what crosses
 * its cuts.
 */
#ifndef AUTOMAP_TUI_COMMANDS_PIPELINE_PRINT_H
#define AUTOMAP_TUI_COMMANDS_PIPELINE_PRINT_H

#include "engine/pipeline/pipe_instance.h"
#include "engine/pipeline/pipeline.h"
#include "hlo/support/err.h"
#include "tui/options/problem_args.h"

void pipeline_print(const struct pipeline *l, const struct pipeline_plan *p);

/* Device cuts and pivots in few words: "8 16 24 | 165 303 456", "one stage", "27 stages". */
void pipeline_cuts_text(const struct pipe_plan *p, char *out, size_t room);

/* Opens the pipeline plan in file `path`: the problem of `a`, on default devices as many as the
 * plan wants when no cluster is named, then calls `use`. Errors are printed. Returns an exit code.
 */
int pipeline_with_file(struct problem_args *a, const char *path,
                       int (*use)(const struct pipeline *l, const struct pipeline_plan *p,
                                  void *context, struct err *e),
                       void *context);

#endif
