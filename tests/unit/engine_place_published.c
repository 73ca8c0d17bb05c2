/* The published instances and expert splits, against the values of tests/ref/placement/values.h. */
#include "engine/place/baselines.h"
#include "engine/place/contiguous.h"
#include "engine/place/graph_file.h"
#include "engine/place/split.h"
#include "tests/ref/placement/values.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define FOLDER AUTOMAP_SOURCE_DIR "/tests/ref/placement/"

static struct place_graph *read_instance(const struct published *i)
{
    struct place_graph *g;
    struct err e = {0};
    char path[512];

    snprintf(path, sizeof path, FOLDER "throughput-inputs/%s.json.gz", i->file);
    assert_int_equal(place_graph_read(path, &g, &e), 0);
    return g;
}

/* Equal to the digits that were published. */
static void assert_published(double value, double published_value)
{
    assert_true(fabs(value - published_value) <= 5.1e-6 * published_value);
}

static void graphs_are_read(void **state)
{
    (void)state;
    for (int i = 0; i < PUBLISHED; i++) {
        struct place_graph *g = read_instance(&published[i]);
        assert_int_equal(g->nodes, published[i].nodes);
        assert_int_equal(g->edges, published[i].edges);
        assert_int_equal(g->training, strstr(published[i].file, "training") != NULL);
        place_graph_free(g);
    }
}

static void contiguous_optima(void **state)
{
    (void)state;
    for (int i = 0; i < PUBLISHED; i++) {
        struct place_graph *g = read_instance(&published[i]);
        struct place_asking a = {0};
        struct placement *p;
        struct err e = {0};
        assert_int_equal(place_contiguous(g, &a, &p, &e), 0);
        assert_true(p->proven);
        assert_int_equal(p->faults, 0);
        assert_int_equal(p->positions, published[i].positions);
        assert_int_equal(p->ideals, published[i].ideals);
        assert_published(p->value_ms, published[i].contiguous);
        placement_free(p);
        place_graph_free(g);
    }
}

/* Five orders alone are within 1 % of the optimum. */
static void depth_first_orders(void **state)
{
    (void)state;
    for (int i = 0; i < PUBLISHED; i++) {
        struct place_graph *g = read_instance(&published[i]);
        struct place_asking a = {.dpl_only = true};
        struct placement *p;
        struct err e = {0};
        assert_int_equal(place_contiguous(g, &a, &p, &e), 0);
        assert_int_equal(p->faults, 0);
        assert_true(p->value_ms >= published[i].contiguous * (1 - 1e-5));
        assert_true(p->value_ms <= published[i].contiguous * 1.0105);
        placement_free(p);
        place_graph_free(g);
    }
}

static void expert_splits(void **state)
{
    struct place_rules rules = {0};

    (void)state;
    for (int i = 0; i < PUBLISHED; i++) {
        struct placement *p;
        struct err e = {0};
        char path[512];
        if (!published[i].expert_file)
            continue;
        struct place_graph *g = read_instance(&published[i]);
        snprintf(path, sizeof path, FOLDER "human-experts/%s.json.gz", published[i].expert_file);
        assert_int_equal(place_split_read(path, g, &rules, &p, &e), 0);
        assert_published(p->value_ms, published[i].expert);
        placement_free(p);
        place_graph_free(g);
    }
}

/* PipeDream-like plans, by the published code, which orders groups by the numbers of classes. Two
 * operator graphs have nodes without a class; it numbers those from the top down. */
static void pipedream_column(void **state)
{
    (void)state;
    for (int i = 0; i < PUBLISHED; i++) {
        struct place_graph *g = read_instance(&published[i]);
        struct place_asking a = {0};
        struct placement *p;
        struct err e = {0};
        assert_int_equal(place_pipedream(g, &a, &p, &e), 0);
        assert_published(p->value_ms, published[i].tails);
        placement_free(p);
        place_graph_free(g);
    }
}

/* A written split is read as the same one. */
static void splits_round_trip(void **state)
{
    struct place_rules rules = {0};

    (void)state;
    for (int i = 0; i < PUBLISHED; i += 3) {
        struct place_graph *g = read_instance(&published[i]);
        struct place_load *load = calloc(place_devices(g), sizeof *load);
        struct place_asking a = {.dpl_only = true};
        struct placement *p, *q;
        struct str text = {0};
        struct err e = {0};
        assert_int_equal(place_contiguous(g, &a, &p, &e), 0);
        assert_int_equal(placement_value(p, g, &rules, load, &e), 0);
        place_split_write(p, g, &rules, load, false, &text);
        assert_int_equal(place_split_parse(text.text, text.size, g, &rules, &q, &e), 0);
        assert_memory_equal(p->device, q->device, g->nodes * sizeof *p->device);
        assert_true(p->value_ms == q->value_ms);
        str_release(&text);
        placement_free(p);
        placement_free(q);
        free(load);
        place_graph_free(g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(graphs_are_read),    cmocka_unit_test(contiguous_optima),
        cmocka_unit_test(depth_first_orders), cmocka_unit_test(expert_splits),
        cmocka_unit_test(splits_round_trip),  cmocka_unit_test(pipedream_column),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
