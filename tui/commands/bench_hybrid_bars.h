/* tui/commands/bench_hybrid_bars.h - the bars of automap bench hybrid that are of single runs. */
#ifndef AUTOMAP_TUI_COMMANDS_BENCH_HYBRID_BARS_H
#define AUTOMAP_TUI_COMMANDS_BENCH_HYBRID_BARS_H

#include "hlo/support/err.h"

#include <stdbool.h>

/* Prints a line: what is asked, the figure (as printf writes it), the bar, whether it holds. */
void bench_hybrid_bar(const char *what, bool holds, const char *bar, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* T5-11B on C: seconds of a processor to the plan and its bound, and to the first plan, both
 * without reading the module; the most memory the process had, so this comes before other runs.
 * Whatever problem_args_read and hybrid_new fail with. */
int bench_hybrid_speed(struct err *e);

/* GPT-3 175B on 64 A100 beside its published runs (Korthikanti et al., arXiv 2205.05198, table 5):
 * the published layout priced, and what the search takes by itself. The modules are in the folder
 * `modules`, no part of the sources: says so where they are not there. Errors as above. */
int bench_hybrid_published(const char *modules, struct err *e);

#endif
