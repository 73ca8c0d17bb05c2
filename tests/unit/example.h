/* Models for tests: shipped ones, or HLO text, as problems on default devices. Whatever goes wrong
 * fails the test. Includes cmocka. */
#ifndef AUTOMAP_TESTS_EXAMPLE_H
#define AUTOMAP_TESTS_EXAMPLE_H

#include "engine/problem/problem.h"
#include "hlo/load.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

enum { EXAMPLE_DEVICES = 4 };

/* Takes over `m`. `o` NULL: the defaults. */
static inline void make_problem(struct hlo_module *m, const struct hlo_vars *vars, uint32_t devices,
                                const struct problem_options *o, struct problem *out)
{
    struct cluster *cluster = mem_alloc(sizeof *cluster);
    const struct problem_options none = {0};
    struct err e = {0};

    int rc = cluster_of_devices(cluster, devices, &e);
    if (!rc)
        rc = problem_new(m, vars, cluster, o ? o : &none, out, &e);
    free(cluster);
    if (rc)
        fail_msg("%s", e.what);
}

/* `name` as in examples/models: "t5-tiny", "t5-base6.meta". */
static inline void load_example(const char *name, uint32_t devices, const struct problem_options *o,
                                struct problem *out)
{
    struct hlo_module *m = NULL;
    char path[512];
    struct err e = {0};

    snprintf(path, sizeof path, AUTOMAP_SOURCE_DIR "/examples/models/%s.hlo.txt.gz", name);
    if (hlo_load(path, NULL, &m, &e))
        fail_msg("%s", e.what);
    make_problem(m, NULL, devices, o, out);
}

/* HLO text; its variables by name, NULL: found by the roles' own rules. */
static inline void load_text(const char *text, const struct hlo_vars *vars, struct problem *out)
{
    struct hlo_module *m = NULL;
    struct err e = {0};

    if (hlo_load_memory("test", text, strlen(text), NULL, &m, &e))
        fail_msg("%s", e.what);
    make_problem(m, vars, EXAMPLE_DEVICES, NULL, out);
}

#endif
