/* tui/options/pipeline_args.h - the options of a pipeline search: how the batch is cut, what a
 * stage may be.
 *     --batch G --stages S --schedule eager|1f1b|gpipe --recompute --points all|N|=N --radius R
 *     --pin-cut DEVICE:PLACE
 *     --net FILE
 * options.no_limit and limit_bytes are for the caller to set: --memory-limit is an option of all
 * searches. */
#ifndef AUTOMAP_TUI_OPTIONS_PIPELINE_ARGS_H
#define AUTOMAP_TUI_OPTIONS_PIPELINE_ARGS_H

#include "engine/pipeline/pipe_infer.h"
#include "engine/pipeline/pipe_net.h"
#include "engine/pipeline/pipe_search.h"
#include "engine/pipeline/pipeline.h"
#include "hlo/support/err.h"
#include "tui/options/option.h"

struct pipeline_args {
    bool wanted; /* --kind pp */
    struct pipeline_options options;
    struct pipe_search_options search;
    const char *net_file; /* of --algo infer; NULL: the shipped one */
    struct pipe_net net;  /* pipeline_args_load_net */
};

extern const struct option pipeline_options[]; /* rows of struct pipeline_args */

void pipeline_args_init(struct pipeline_args *a);
/* Loads the network and puts it into `search`. Without a file asked for and without a shipped one
 * there is none, and that is no error. */
int pipeline_args_load_net(struct pipeline_args *a, struct err *e) MUST_CHECK;
void pipeline_args_release(struct pipeline_args *a);
bool pipeline_args_algorithm(const char *name, enum pipe_algorithm *out);

#endif
