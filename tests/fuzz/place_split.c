/* Any bytes as a split of an operator graph: an error with a sentence, or a plan of whole classes
 * that writes itself to a form that reads as the same plan. */
#include "engine/place/latency.h"
#include "engine/place/split.h"
#include "tests/fuzz/place_graphs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_split(const struct place_graph *g, const struct place_rules *rules,
                        struct placement *p)
{
    struct place_load load[8];
    struct placement *again;
    struct str text = {0};
    struct err e = {0};

    require(place_devices(g) <= 8 && !placement_value(p, g, rules, load, &e));
    for (uint32_t v = 0; v < g->nodes; v++) {
        for (uint32_t w = 0; w < v; w++)
            require(g->color[v] != g->color[w] || p->device[v] == p->device[w]);
    }
    place_split_write(p, g, rules, load, false, &text);
    require(!place_split_parse(text.text, text.size, g, rules, &again, &e));
    require(!memcmp(again->device, p->device, g->nodes * sizeof *p->device));
    for (uint32_t d = 0; d < p->devices; d++) /* none and one are the same */
        require(p->copies[d] <= 3 && (again->copies[d] == p->copies[d] || p->copies[d] == 1));
    require(again->faults == p->faults && again->value_ms == p->value_ms);
    placement_free(again);
    str_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct place_rules rules = {.communication = (enum place_communication)(size % 3),
                                .apart = size % 5 == 0};
    struct place_graph *g = fuzz_place_graph(size % 2);
    struct placement *p;
    struct err e = {0};
    double value;

    if (place_split_parse((const char *)data, size, g, &rules, &p, &e)) {
        require(e.code < 0 && e.what[0] && e.caret < sizeof e.source);
        goto out;
    }
    check_split(g, &rules, p);
    require(!place_latency_value(g, p, false, &value, &e) && value >= 0);
    placement_free(p);
out:
    place_graph_free(g);
    return 0;
}
