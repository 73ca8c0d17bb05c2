/* Any bytes as an operator graph: an error with a sentence, or a graph that writes itself to a form
 * that reads as the same graph, with a plan or a reason why there is none. */
#include "engine/place/contiguous.h"
#include "engine/place/graph_file.h"
#include "engine/place/split.h"
#include "tests/fuzz/problem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_plan(const struct place_graph *g)
{
    struct place_asking a = {.limits = {.ideals = 300}, .looks = 100000, .orders = 1};
    struct placement *p;
    struct err e = {0};

    if (g->nodes > 200 || place_devices(g) > 20)
        return;
    if (place_contiguous(g, &a, &p, &e)) {
        require(e.code < 0 && e.what[0]);
        return;
    }
    require(!p->faults && p->value_ms >= p->bound_ms * (1 - 1e-9));
    placement_free(p);
}

static void check_graph(const struct place_graph *g)
{
    struct place_graph *h;
    struct str once = {0}, twice = {0};
    struct err e = {0};

    place_graph_write(g, &once);
    require(!place_graph_parse(once.text, once.size, &h, &e));
    place_graph_write(h, &twice);
    require(once.size == twice.size && !memcmp(once.text, twice.text, once.size));
    place_graph_free(h);
    str_release(&once);
    str_release(&twice);
    check_plan(g);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct place_rules rules = {0};
    struct place_graph *g;
    struct placement *p;
    struct err e = {0};

    if (place_graph_parse((const char *)data, size, &g, &e)) {
        require(e.code < 0 && e.what[0] && e.caret < sizeof e.source);
        return 0;
    }
    check_graph(g);
    if (!place_split_parse((const char *)data, size, g, &rules, &p, &e))
        placement_free(p);
    place_graph_free(g);
    return 0;
}
