/* tests/unit/shipped.h - a shipped model on a shipped cluster, or on the default devices (NULL). */
#ifndef AUTOMAP_TESTS_UNIT_SHIPPED_H
#define AUTOMAP_TESTS_UNIT_SHIPPED_H

#include "engine/problem/problem.h"
#include "hlo/load.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static inline void load_shipped(const char *model, const char *cluster_file, struct problem *p)
{
    struct cluster *cluster = mem_alloc(sizeof *cluster);
    struct problem_options o = {0};
    struct hlo_module *m;
    char path[256];
    struct err e;
    int rc = 0;

    cluster_default(cluster);
    if (cluster_file) {
        snprintf(path, sizeof path, AUTOMAP_SOURCE_DIR "/examples/clusters/%s.yaml", cluster_file);
        rc = cluster_load(cluster, path, &e);
    }
    snprintf(path, sizeof path, AUTOMAP_SOURCE_DIR "/examples/models/%s.hlo.txt.gz", model);
    if (!rc)
        rc = hlo_load(path, NULL, &m, &e);
    if (!rc)
        rc = problem_new(m, NULL, cluster, &o, p, &e);
    if (rc)
        err_print(&e, stderr);
    free(cluster);
    assert_int_equal(rc, 0);
}

#endif
