/* tui/options/problem_args.h - the options that name a problem, the same in every command:
 *     MODEL [CLUSTER] --devices N --mesh 2x8 --vars FILE --loss NAME --profile FILE --rules
 * full|paper
 *     --divisibility pad|exact --no-reductions LIST --micro-batches K --zero 0..3
 *     --overlap 0..1 --reduce-at-once */
#ifndef AUTOMAP_TUI_OPTIONS_PROBLEM_ARGS_H
#define AUTOMAP_TUI_OPTIONS_PROBLEM_ARGS_H

#include "engine/problem/problem.h"

enum { PROBLEM_FIGURES_MOST = 32 };

struct problem_args {
    const char *model, *cluster; /* cluster NULL: --devices, else the default */
    const char *vars, *loss, *profile;
    uint32_t devices; /* 0: not given */
    struct problem_options options;
    bool is_mesh_given; /* on the command line: else a file's, where one is */
    const char
        *figures[PROBLEM_FIGURES_MOST]; /* PATH=VALUE: figures of the cluster changed first */
    uint32_t figure_count;
};

#define PROBLEM_ARGS_HELP                                                                          \
    "  CLUSTER                    a cluster file; without one 4 default devices\n"                 \
    "  --devices N                N default devices on one link, in place of a cluster file\n"     \
    "  --mesh AxB                 mesh of the devices, such as 2x8; default one axis\n"            \
    "  --vars FILE                trainable variables: names or parameter numbers\n"               \
    "  --loss NAME                the instruction that makes the loss, or #3: leaf 3 of the "      \
    "result\n"                                                                                     \
    "  --profile FILE             measured times: {\"instruction\": ms} or lines instruction,ms\n" \
    "  --rules full|paper         paper: kernels of convolutions are not split\n"                  \
    "  --divisibility pad|exact   pad: uneven pieces are padded; exact: refused\n"                 \
    "  --no-reductions LIST       kinds not to split along: add,multiply,maximum,minimum,and,or\n" \
    "  --micro-batches K          the batch in K parts, one after the other; gradients are "       \
    "summed\n"                                                                                     \
    "  --zero 0..3                store in pieces: 1 optimizer state, 2 gradients too, 3 "         \
    "variables too\n"                                                                              \
    "  --overlap 0..1             part of the gradient all-reduces hidden behind computation; "    \
    "default 0\n"                                                                                  \
    "  --reduce-at-once           partial results are combined where they arise, as XLA's "        \
    "partitioner does;\n"                                                                          \
    "                             else sums of them take one all-reduce\n"

/* Takes the option at argv[*at] and what belongs to it: 1 taken, 0 not one of these, -1 wrong
 * (said on stderr). */
int problem_args_take(struct problem_args *a, int argc, char **argv, int *at);

/* Words of a command line, owned. */
struct word_list {
    char **items;
    int count;
    size_t room;
    bool failed; /* out of memory */
};
void words_add(struct word_list *w, const char *text);
/* The path as it is seen from everywhere. */
void words_add_path(struct word_list *w, const char *path);
void words_release(struct word_list *w);

/* The words that problem_args_take would take for `a`: what a journal keeps. */
void problem_args_words(const struct problem_args *a, struct word_list *out);

/* Loads files and builds the problem. ERR_USAGE: a mesh of the command line that does not fit the
 * cluster. */
int problem_args_read(const struct problem_args *a, struct problem *out, struct err *e) MUST_CHECK;

/* The same; errors are printed. Returns an exit code. */
int problem_args_load(const struct problem_args *a, struct problem *out);

/* "automap plan MODEL CLUSTER --mesh 2x8 ..." for a shell: the same problem again. Appended. */
void problem_args_write(const struct problem_args *a, struct str *out);

/* Exit code for an error: 4 when infeasible, 1 for ERR_USAGE, else 2. */
int exit_code_of(const struct err *e);

#endif
