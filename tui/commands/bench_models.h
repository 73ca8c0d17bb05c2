/* tui/commands/bench_models.h - the models that a benchmark runs on. */
#ifndef AUTOMAP_TUI_COMMANDS_BENCH_MODELS_H
#define AUTOMAP_TUI_COMMANDS_BENCH_MODELS_H

#include "tui/files/examples.h"
#include "tui/options/option.h"

struct bench_models {
    int count;
    char name[EXAMPLES_MOST][48], path[EXAMPLES_MOST][1024];
};

/* Those asked for, a path or the name of a shipped one each; none asked for: all that are shipped.
 * Returns an exit code; what is wrong is said. */
int bench_models_find(struct bench_models *out, const char *bench, const struct text_list *asked);

/* The same for a benchmark that takes nothing else: its command line. */
extern const struct option_set bench_model_options[];
int bench_models_read(struct bench_models *out, const char *bench, int argc, char **argv);

#endif
