/* tests/fuzz/place_graphs.h - the operator graph of the targets that read what is said about one:
 * five nodes, three more of a backward pass, three accelerators and two cores. */
#ifndef AUTOMAP_TESTS_FUZZ_PLACE_GRAPHS_H
#define AUTOMAP_TESTS_FUZZ_PLACE_GRAPHS_H

#include "engine/place/graph_file.h"
#include "engine/place/operator_graph.h"
#include "tests/fuzz/problem.h"

/* One line a node: id, name, class of colors, backward. */
static inline struct place_graph *fuzz_place_graph(bool training)
{
    static const struct {
        int id, class;
        const char *name;
        bool backward;
    } nodes[] = {{1, 1, "in", false},    {2, 2, "left", false}, {3, 3, "right", false},
                 {4, 4, "out", false},   {5, 5, "in", false},   {6, 3, "d right", true},
                 {7, 2, "d left", true}, {8, 1, "d in", true}};
    static const struct {
        int from, to;
        double cost;
    } edges[] = {{1, 2, 1}, {1, 3, 1}, {2, 4, 2}, {3, 4, 0.5},
                 {1, 5, 1}, {4, 6, 1}, {6, 7, 3}, {7, 8, 1}};
    struct place_graph *g;
    struct str text = {0};
    struct err e = {0};

    str_add(&text, "{\"maxSizePerFPGA\": 20, \"maxFPGAs\": 3, \"maxCPUs\": 2, \"nodes\": [");
    for (size_t i = 0; i < (training ? 8 : 5); i++)
        str_format(&text,
                   "%s{\"id\": %d, \"name\": \"%s\", \"colorClass\": %d, \"isBackwardNode\": %d, "
                   "\"supportedOnFpga\": 1, \"cpuLatency\": 9, \"fpgaLatency\": 2, \"size\": 3}",
                   i ? ", " : "", nodes[i].id, nodes[i].name, nodes[i].class, nodes[i].backward);
    str_add(&text, "], \"edges\": [");
    for (size_t i = 0; i < (training ? 8 : 5); i++)
        str_format(&text, "%s{\"sourceId\": %d, \"destId\": %d, \"cost\": %g}", i ? ", " : "",
                   edges[i].from, edges[i].to, edges[i].cost);
    str_add(&text, "]}");
    require(!place_graph_parse(text.text, text.size, &g, &e));
    str_release(&text);
    return g;
}

#endif
