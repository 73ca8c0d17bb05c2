/* Graphs as JSON: what is wrong is said with its place; what is written reads as the same graph. */
#include "engine/place/graph_file.h"
#include "tests/unit/place_random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define HEAD "{\"maxSizePerFPGA\": 10, \"maxFPGAs\": 2, \"maxCPUs\": 1,\n\"nodes\": ["
#define NODE(id, back)                                                                  \
    "{\"id\": " #id ", \"supportedOnFpga\": 1, \"cpuLatency\": 2, \"fpgaLatency\": 1, " \
    "\"isBackwardNode\": " #back ", \"size\": 3}"
#define EDGE(a, b, c) "{\"sourceId\": " #a ", \"destId\": " #b ", \"cost\": " #c "}"

static const struct {
    const char *text, *says;
    uint32_t line;
} wrong[] = {
    {"", "the file ends here", 1},
    {"[1]", "expected an object", 1},
    {"{\"nodes\": []}", "without key \"edges\"", 1},
    {HEAD "],\n\"edges\": [],\n\"edges\": []}", "a second time", 4},
    {HEAD NODE(1, 0) ",\n" NODE(1, 0) "], \"edges\": []}", "node id 1 a second time", 3},
    {HEAD NODE(1, 0) "],\n\"edges\": [\n" EDGE(1, 7, 0) "]}", "names node 7", 4},
    {HEAD NODE(1, 0) "],\n\"edges\": [" EDGE(1, 1, 0) "]}", "to itself", 3},
    {HEAD NODE(1, 0) "," NODE(2, 0) "," NODE(3, 0) "],\n\"edges\": [\n" EDGE(1, 2, 1) ",\n" EDGE(
         1, 3, 2) "]}",
     "one cost of one output", 5},
    {HEAD NODE(1, 1) "," NODE(2, 0) "],\n\"edges\": [" EDGE(1, 2, 1) "]}", "backward node 1", 3},
    {HEAD NODE(1, 0) "," NODE(2, 0) "],\n\"edges\": [" EDGE(1, 2, 1) "," EDGE(2, 1, 1) "]}",
     "the edge from node 2 to node 1 closes a cycle of 2 nodes", 3},
    {HEAD NODE(9, 0) "," NODE(1, 0) "," NODE(2, 0) "," NODE(3, 0) "],\n\"edges\": [\n" EDGE(
         3, 9, 1) ",\n" EDGE(1, 2, 1) ",\n" EDGE(3, 1, 1) ",\n" EDGE(2, 3, 1) "]}",
     "the edge from node 2 to node 3 closes a cycle of 3 nodes", 7},
    {HEAD NODE(NaN, 0) "], \"edges\": []}", "finite", 2},
    {HEAD "{\"id\": 1, \"supportedOnFpga\": 1,\n\"cpuLatency\": -2, \"fpgaLatency\": 1}], "
          "\"edges\": []}",
     "out of bounds", 3},
    {HEAD "{\"id\": 1, \"supportedOnFpga\": 1, \"cpuLatency\": 1e999, \"fpgaLatency\": 1}], "
          "\"edges\": []}",
     "not finite", 2},
    {HEAD "{\"id\": 1, \"supportedOnFpga\": 1, \"cpuLatency\": 1}], \"edges\": []}",
     "without key \"fpgaLatency\"", 2},
    {HEAD "{\"id\": 1, \"id\": 1}], \"edges\": []}", "key \"id\" a second time", 2},
    {HEAD "{\"id\": 1.5}], \"edges\": []}", "not a whole number", 2},
    {HEAD "{\"id\": 1, \"containedSubnodes\": []}], \"edges\": []}", "field of results", 2},
    {HEAD NODE(1, 2) "], \"edges\": []}", "true or false", 2},
    {HEAD NODE(1, "x") "], \"edges\": []}", "true or false", 2},
    {HEAD NODE(1, 0) "], \"edges\": []} x", "the end of the file", 2},
    {HEAD NODE(1, 0) "], \"edges\": [", "the file ends here", 2},
    {HEAD "{\"id\": 1, \"name\": \"x\n\"}], \"edges\": []}", "no end", 2},
    {"{\"a\": [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1",
     "deeper", 1},
};

static void errors_are_located(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct place_graph *g;
        struct err e = {0};
        int rc = place_graph_parse(wrong[i].text, strlen(wrong[i].text), &g, &e);
        if (rc != ERR_INPUT || !strstr(e.what, wrong[i].says) || e.line != wrong[i].line)
            fail_msg("case %d: line %u: %s", (int)i, e.line, rc ? e.what : "no error");
    }
}

static void assert_same(const struct place_graph *a, const struct place_graph *b)
{
    size_t n = a->nodes;

    assert_int_equal(a->nodes, b->nodes);
    assert_int_equal(a->edges, b->edges);
    assert_int_equal(a->per_server, b->per_server);
    assert_true(a->sync_ms_per_byte == b->sync_ms_per_byte);
    assert_true(a->sync_far_ms_per_byte == b->sync_far_ms_per_byte);
    assert_true(place_fingerprint(a) == place_fingerprint(b));
    if (a->far_ms && b->far_ms)
        assert_memory_equal(a->far_ms, b->far_ms, n * sizeof(double));
}

static void graphs_round_trip(void **state)
{
    struct rl_rng r;

    (void)state;
    rl_rng_seed(&r, 7, 0);
    for (int i = 0; i < 500; i++) {
        struct small_shape s = {.nodes = 1 + rl_rng_below(&r, SMALL_NODES),
                                .kinds = 1 + rl_rng_below(&r, 3),
                                .servers = i % 5 == 0,
                                .training = rl_rng_below(&r, 2)};
        struct place_graph *g = small_graph(&r, &s), *h;
        struct str text = {0};
        struct err e = {0};
        for (uint32_t v = 0; v < g->nodes; v++) /* the file has the cost on edges */
            g->send_ms[v] = g->user_at[v] < g->user_at[v + 1] ? g->send_ms[v] : 0;
        for (uint32_t v = 0; g->far_ms && v < g->nodes; v++)
            g->far_ms[v] = g->user_at[v] < g->user_at[v + 1] ? g->far_ms[v] : 0;
        g->sync_far_ms_per_byte = i % 3 ? 0 : rl_rng_unit(&r);
        place_graph_write(g, &text);
        assert_int_equal(place_graph_parse(text.text, text.size, &h, &e), 0);
        assert_same(g, h);
        str_release(&text);
        place_graph_free(g);
        place_graph_free(h);
    }
}

/* Keys in any order, numbers in any form, unknown keys passed over. */
static void files_vary(void **state)
{
    const char *text =
        "{\"edges\": [{\"cost\": 1.50e0, \"size\": {\"a\": [1, \"]\"]}, \"destId\": 4294967296,"
        "\"sourceId\": -3}], \"nodes\": [{\"id\": 4294967296, \"name\": \"a\\u00e9\\\"b\\n\","
        "\"supportedOnFpga\": false, \"cpuLatency\": 1E0, \"fpgaLatency\": 0.5, \"layerId\": 3},"
        "{\"supportedOnFpga\": true, \"fpgaLatency\": 2, \"cpuLatency\": 3, \"id\": -3}],"
        "\"maxFPGAs\": 0, \"maxCPUs\": 2, \"maxSizePerFPGA\": 1e9}";
    struct place_graph *g;
    struct err e = {0};

    (void)state;
    assert_int_equal(place_graph_parse(text, strlen(text), &g, &e), 0);
    assert_int_equal(g->nodes, 2);
    assert_string_equal(g->name[0], "a\u00e9\"b ");
    assert_int_equal(g->order[0], 1);
    assert_true(g->send_ms[1] == 1.5 && place_time(g, 1, 0) == 1);
    assert_int_equal(g->allowed[0], 2);
    assert_int_equal(g->colors, 2);
    place_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_are_located),
        cmocka_unit_test(graphs_round_trip),
        cmocka_unit_test(files_vary),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
