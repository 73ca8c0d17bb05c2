/* tui/options/pipeline_args.h - the options of a pipeline search: how the batch is cut, what a
 * stage may be.
 *     --batch G --stages S --schedule eager|1f1b|gpipe --recompute --points all|N|=N --radius R
 *     --pin-cut DEVICE:PLACE
 * options.no_limit and limit_bytes are for the caller to set: --memory-limit is an option of all
 * searches. */
#ifndef AUTOMAP_TUI_OPTIONS_PIPELINE_ARGS_H
#define AUTOMAP_TUI_OPTIONS_PIPELINE_ARGS_H

#include "engine/pipeline/pipe_search.h"
#include "engine/pipeline/pipeline.h"

struct pipeline_args {
    bool wanted; /* --kind pp */
    struct pipeline_options options;
    struct pipe_search_options search;
};

#define PIPELINE_ARGS_HELP                                                                         \
    "  --batch G                  samples of a step over all devices (pp, all); default the "      \
    "file's\n"                                                                                     \
    "                             (without --micro-batches the number with the shortest instant "  \
    "answer)\n"                                                                                    \
    "  --stages S                 of a pipeline; default any number; the paper's candidates: "     \
    "servers\n"                                                                                    \
    "  --schedule NAME            eager (default), 1f1b, gpipe: who does what when, what is in "   \
    "flight\n"                                                                                     \
    "  --recompute                a stage keeps its input and runs its forward pass again\n"       \
    "  --points all|N|=N          where to cut: anywhere; at the cheapest cut of each of N parts " \
    "of\n"                                                                                         \
    "                             equal compute (default 128); between N parts of equal compute\n" \
    "  --radius R                 device cuts of the candidates: R around server boundaries; "     \
    "default 3\n"                                                                                  \
    "  --pin-cut DEVICE:PLACE     a stage begins at DEVICE with the forward instruction PLACE, "   \
    "or at a share of\n"                                                                           \
    "                             the forward computation, 8:25%; holds in every algorithm; "      \
    "repeatable\n"

void pipeline_args_init(struct pipeline_args *a);
/* As problem_args_take: 1 taken, 0 not one of these, -1 wrong. */
int pipeline_args_take(struct pipeline_args *a, int argc, char **argv, int *at);
bool pipeline_args_algorithm(const char *name, enum pipe_algorithm *out);

#endif
