/* Leaving servers out: lists of servers, and what a step takes without the slow ones. */
#include "engine/cluster/cluster.h"
#include "engine/cluster/keep.h"
#include "engine/compare/fewer.h"
#include "engine/exact/exact.h"
#include "engine/problem/problem.h"
#include "example.h"
#include "hlo/load.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

static void load_cluster(const char *name, struct cluster *out)
{
    char path[512];
    struct err e = {0};

    snprintf(path, sizeof path, AUTOMAP_SOURCE_DIR "/examples/clusters/%s.yaml", name);
    if (cluster_load(out, path, &e))
        fail_msg("%s", e.what);
}

static void lists_name_servers(void **state)
{
    (void)state;
    static const struct {
        const char *list, *again; /* NULL: refused */
        uint32_t servers, devices;
    } cases[] = {
        {"0", "0", 1, 8},      {"1", "1", 1, 4},      {"2", "1", 1, 4}, /* equal to server 1 */
        {"0-1", "0-1", 2, 12}, {"0,2", "0-1", 2, 12}, {"0-2", "0-2", 3, 16},
        {"1,2", "1-2", 2, 8},  {"2,2", "1", 1, 4},    {"", NULL, 0, 0},
        {"3", NULL, 0, 0},     {"0-", NULL, 0, 0},    {"1-0", NULL, 0, 0},
        {"0,", NULL, 0, 0},    {"a", NULL, 0, 0},     {"0-99999999999", NULL, 0, 0},
    };
    struct cluster *c = mem_alloc(sizeof *c), *all = mem_alloc(sizeof *all);

    load_cluster("unequal", all);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct err e = {0};
        struct str text = {0};
        *c = *all;
        int rc = cluster_keep(c, cases[k].list, &e);
        assert_int_equal(rc, cases[k].again ? 0 : ERR_USAGE);
        assert_int_equal(c->servers, cases[k].again ? cases[k].servers : all->servers);
        assert_int_equal(c->devices, cases[k].again ? cases[k].devices : all->devices);
        if (!cases[k].again)
            continue;
        uint32_t count[CLUSTER_GROUPS_MOST] = {0}, g = 0;
        for (uint32_t n = 0; n < all->groups; n++) {
            if (g < c->groups && c->group[g].type == all->group[n].type)
                count[n] = c->group[g++].count;
        }
        cluster_keep_write(all, count, &text);
        assert_string_equal(text.text, cases[k].again);
        str_release(&text);
    }
    free(c);
    free(all);
}

static void open_on(const char *cluster, const char *servers, const char *mesh, struct problem *out)
{
    struct cluster *c = mem_alloc(sizeof *c);
    struct problem_options o = {0};
    struct hlo_module *m = NULL;
    struct err e = {0};

    load_cluster(cluster, c);
    snprintf(o.mesh, sizeof o.mesh, "%s", mesh);
    if ((servers && cluster_keep(c, servers, &e)) ||
        hlo_load(AUTOMAP_SOURCE_DIR "/examples/models/mlp.hlo.txt.gz", NULL, &m, &e) ||
        problem_new(m, NULL, c, &o, out, &e))
        fail_msg("%s", e.what);
    free(c);
}

static double optimum(const struct problem *p)
{
    struct exact_options o = {.variables = true, .inputs = true};
    struct exact_result r;
    struct err e = {0};

    assert_int_equal(exact_strict(&p->step_tables, NULL, &o, &r, &e), 0);
    double ms = r.value;
    exact_release(&r);
    return ms;
}

/* A small step on two kinds of servers: the fast one alone is best, and that is its own optimum. */
static void the_fast_server_alone(void **state)
{
    struct problem all, fast;
    struct fewer f;
    struct err e = {0};

    (void)state;
    open_on("unequal", NULL, "16", &all);
    assert_int_equal(fewer_devices(&all, optimum(&all), &f, &e), 0);
    assert_true(f.found && f.proven);
    open_on("unequal", f.servers, f.mesh, &fast);
    assert_int_equal(f.devices, fast.cluster.devices);
    assert_true(f.devices < all.cluster.devices && f.step_ms < optimum(&all));
    assert_true(fabs(f.step_ms - optimum(&fast)) <= 1e-9 * f.step_ms);
    problem_release(&fast);

    open_on("unequal", "0", "8", &fast); /* one server: nothing to leave out */
    assert_int_equal(fewer_devices(&fast, optimum(&fast), &f, &e), 0);
    assert_false(f.found);
    problem_release(&fast);
    assert_int_equal(fewer_devices(&all, 1e-9, &f, &e), 0); /* nothing beats that */
    assert_false(f.found);
    problem_release(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lists_name_servers),
                                       cmocka_unit_test(the_fast_server_alone)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
