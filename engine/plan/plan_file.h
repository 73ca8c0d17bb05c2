/* engine/plan/plan_file.h - plans in files: written whole or not at all, read back strictly.
 *
 * The form is that of plan_json.h. Reading checks every key and type (errors name the path:
 * "decisions[3].dim"), refuses a plan made for another model, cluster, mesh or other options and
 * names the difference, applies the decisions (a clash is an error), and checks the statuses listed
 * in the file against what follows from them. Costs are computed, not taken from the file. */
#ifndef AUTOMAP_ENGINE_PLAN_PLAN_FILE_H
#define AUTOMAP_ENGINE_PLAN_PLAN_FILE_H

#include "engine/cluster/cluster.h"
#include "engine/plan/plan.h"
#include "engine/problem/problem.h"
#include "hlo/support/err.h"

enum { PLAN_FILE_MOST = 512 << 20 }; /* bytes */

int plan_file_save(const struct plan *p, const char *path, struct err *e) MUST_CHECK;

/* ERR_INPUT and friends name the file. "-": standard input. */
int plan_file_load(const struct problem *p, const char *path, struct plan *out,
                   struct err *e) MUST_CHECK;

/* The same from memory. O(size). */
int plan_file_parse(const struct problem *p, const char *text, size_t size, struct plan *out,
                    struct err *e) MUST_CHECK;

/* What it takes to build the problem of a plan, for commands that receive a plan but no mesh or
 * options. */
struct plan_setup {
    struct problem_options options; /* mesh with the names of its axes */
    uint32_t devices;
    char cluster[CLUSTER_NAME_ROOM], model[160];
    uint64_t cluster_fingerprint;
};
int plan_file_setup(const char *path, struct plan_setup *out, struct err *e) MUST_CHECK;
int plan_file_setup_parse(const char *text, size_t size, struct plan_setup *out,
                          struct err *e) MUST_CHECK;

#endif
