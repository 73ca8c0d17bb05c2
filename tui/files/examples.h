/* tui/files/examples.h - the shipped models and clusters. Models come from
 * examples/models/index.yaml below the data directory, clusters from a listing of
 * examples/clusters (the default first, then by number of devices and name). */
#ifndef AUTOMAP_TUI_FILES_EXAMPLES_H
#define AUTOMAP_TUI_FILES_EXAMPLES_H

#include "hlo/support/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EXAMPLES_MOST = 40 };

struct example_model {
    char name[48], about[64];
    int64_t instructions, variables, dims;
};

struct example_cluster {
    char name[48], label[48], link[48]; /* "v100-1x4", "4 x 16 GB", "NVLink" */
    uint32_t devices;
};

/* At most EXAMPLES_MOST. Errors name the index. */
int examples_models(struct example_model *out, int *count, const char *data_dir,
                    struct err *e) MUST_CHECK;
int examples_clusters(struct example_cluster *out, const char *data_dir); /* the count */

/* Resolves a name given by a person: a path if there is such a file, else the name of a shipped
 * one. False: neither. */
bool examples_model_path(char *out, size_t room, const char *data_dir, const char *name);
bool examples_cluster_path(char *out, size_t room, const char *data_dir, const char *name);

#endif
