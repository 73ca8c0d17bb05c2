/* tui/commands/hybrid_print.h - a hybrid plan on paper. */
#ifndef AUTOMAP_TUI_COMMANDS_HYBRID_PRINT_H
#define AUTOMAP_TUI_COMMANDS_HYBRID_PRINT_H

#include "engine/hybrid/hybrid.h"
#include "hlo/support/err.h"
#include "tui/options/problem_args.h"

/* `seconds` of the search on a processor; 0: it was read from a file. */
void hybrid_print(const struct hybrid *h, double seconds);
void hybrid_print_json(const struct hybrid *h);

/* Reads model, cluster and the plan in `path`, and calls use(); what is wrong is said. Returns an
 * exit code. */
int hybrid_with_file(struct problem_args *a, const char *path,
                     int (*use)(struct hybrid *h, void *context, struct err *e), void *context);

#endif
