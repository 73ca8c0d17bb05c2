/* Any lines as pins of an operator graph: each is taken or refused with a sentence, and leaves a
 * graph whose classes have a kind of device, one device at most, and no pair apart within; a search
 * keeps them all. */
#include "engine/place/place_pins.h"
#include "engine/place/contiguous.h"
#include "tests/fuzz/place_graphs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_classes(const struct place_graph *g)
{
    uint8_t allowed[8] = {255, 255, 255, 255, 255, 255, 255, 255};
    uint32_t fixed[8];

    memset(fixed, 0xff, sizeof fixed);
    require(g->colors <= 8);
    for (uint32_t v = 0; v < g->nodes; v++) {
        uint32_t c = g->color[v];
        require(c < g->colors);
        allowed[c] &= g->allowed[v];
        if (g->fixed[v] != PLACE_NONE) {
            require(g->fixed[v] < place_devices(g));
            require(fixed[c] == PLACE_NONE || fixed[c] == g->fixed[v]);
            fixed[c] = g->fixed[v];
        }
    }
    for (uint32_t c = 0; c < g->colors; c++) {
        require(allowed[c]);
        require(fixed[c] == PLACE_NONE || allowed[c] >> place_type_of(g, fixed[c]) & 1);
    }
    for (uint32_t i = 0; i < g->aparts; i++)
        require(g->color[g->apart[2 * i]] != g->color[g->apart[2 * i + 1]]);
}

static void check_plan(const struct place_graph *g)
{
    struct place_asking a = {.limits = {.ideals = 300}, .looks = 100000, .orders = 1};
    struct placement *p;
    struct err e = {0};

    if (place_contiguous(g, &a, &p, &e)) {
        require(e.code < 0 && e.what[0]);
        return;
    }
    require(!p->faults && p->value_ms >= p->bound_ms * (1 - 1e-9));
    placement_free(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct place_graph *g = fuzz_place_graph(true);
    struct str text = {0};
    struct err e = {0};

    str_add_bytes(&text, (const char *)data, size);
    for (char *line = text.text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        char word[256];
        size_t length = strcspn(line, "\n");
        if (length >= sizeof word)
            continue;
        memcpy(word, line, length);
        word[length] = 0;
        if (place_pin(g, word, &e))
            require(e.code < 0 && e.what[0]);
        check_classes(g);
    }
    check_plan(g);
    str_release(&text);
    place_graph_free(g);
    return 0;
}
