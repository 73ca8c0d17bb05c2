/* tui/commands/place_input.h - what is placed: the operators of a model on a cluster, or an
 * operator graph of a file. */
#ifndef AUTOMAP_TUI_COMMANDS_PLACE_INPUT_H
#define AUTOMAP_TUI_COMMANDS_PLACE_INPUT_H

#include "engine/place/operator_graph.h"
#include "engine/place/place_file.h"
#include "engine/problem/problem.h"
#include "hlo/support/err.h"
#include "tui/options/problem_args.h"

struct place_input {
    struct problem *problem; /* NULL: the graph is of a file */
    struct place_graph *graph;
    uint64_t fingerprint; /* of the graph as it was read */
};

/* a->model is a model, or, without a cluster, a graph as JSON (told by content); "-" is a graph on
 * standard input. Errors name the file. */
int place_input_read(const struct problem_args *a, struct place_input *out,
                     struct err *e) MUST_CHECK;
void place_input_release(struct place_input *in);

/* Opens the placement in file `path` of the input of `a`, on default devices as many as the plan
 * wants when a model has no cluster, then calls `use`. Errors are printed. Returns an exit code. */
int place_with_file(struct problem_args *a, const char *path,
                    int (*use)(const struct place_input *in, const struct place_saved *s,
                               void *context, struct err *e),
                    void *context);

/* What was read, to be written or printed. It borrows from both. */
struct place_document place_document_of(const struct place_input *in, const struct place_saved *s);

#endif
