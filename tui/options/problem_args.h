/* tui/options/problem_args.h - the options that define a problem, the same in every command: MODEL,
 * CLUSTER and those of problem_options. */
#ifndef AUTOMAP_TUI_OPTIONS_PROBLEM_ARGS_H
#define AUTOMAP_TUI_OPTIONS_PROBLEM_ARGS_H

#include "engine/cluster/cluster.h"
#include "engine/cluster/mesh.h"
#include "engine/problem/problem.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "tui/options/option.h"

#include <limits.h>

enum { PROBLEM_FIGURES_MOST = 32 };

struct problem_args {
    const char *model, *cluster; /* paths, or names of shipped ones; cluster NULL: --devices, else
                                    the default */
    const char *vars, *loss, *profile, *kernels, *partitioner;
    const char *profiled_on; /* the cluster whose device the profile is of; NULL: this one's */
    const char *servers;     /* servers of the cluster to use, "0-3,8:4"; NULL: all */
    uint32_t devices;        /* 0: not given */
    struct problem_options options;
    bool is_mesh_given; /* on the command line: else a file's, where one is */
    const char
        *figures[PROBLEM_FIGURES_MOST]; /* PATH=VALUE: figures of the cluster to change first */
    uint32_t figure_count;
    /* Called when the module is read, before the rest is worked out; false: to go no further. NULL:
     * nobody asks. */
    bool (*module_read)(void *context, uint32_t instructions);
    void *read_context;
};

/* The sort of an option, for commands that do not always use it. */
enum option_sort {
    SORT_NONE,
    SORT_PROBLEM,
    SORT_SPLITS, /* --rules, --divisibility, --mesh: how operators are split */
    SORT_PIPELINE,
    SORT_HYBRID,
    SORT_RADIUS, /* as --radius: a pipeline search, not the pipeline that kinds are compared with */
    SORT_SEARCH, /* --reward, --propagation, --no-folding */
    SORT_LEARNER,
    SORT_COUNT
};

extern const struct option problem_options[]; /* rows of struct problem_args */

/* Words of a command line, owned. */
struct word_list {
    char **items;
    int count;
    size_t room;
    bool failed; /* out of memory */
};
void words_add(struct word_list *w, const char *text);
/* Adds a path made absolute. */
void words_add_path(struct word_list *w, const char *path);
void words_release(struct word_list *w);

/* The words from which the options would be parsed as `a`, for journals. */
void problem_args_words(const struct problem_args *a, struct word_list *out);

/* Fills what the command line leaves open (mesh, rules, batching, devices) from a plan file of any
 * kind. If they differ, reading the plan fails later. */
int problem_args_follow_plan(struct problem_args *a, const char *plan, struct err *e) MUST_CHECK;

/* The path of a model: the file, else the shipped one of that name, else the name itself, for
 * whoever opens it to complain of. */
const char *problem_args_model_path(const char *name, char out[static PATH_MAX]);

/* Loads files and builds the problem. ERR_USAGE: a mesh of the command line that does not fit the
 * cluster. */
int problem_args_read(const struct problem_args *a, struct problem *out, struct err *e) MUST_CHECK;

/* What --mesh says, for a cluster that is read already: ERR_USAGE when it is no mesh of its
 * devices. */
int problem_args_mesh(struct cluster_mesh *m, const struct cluster *c, const char *text,
                      struct err *e) MUST_CHECK;

/* Loads as problem_args_read; errors are printed. Returns an exit code. */
int problem_args_load(const struct problem_args *a, struct problem *out);

/* "automap plan MODEL CLUSTER --mesh 2x8 ..." for a shell: the same problem again. Appended. */
void problem_args_write(const struct problem_args *a, struct str *out);

#endif
