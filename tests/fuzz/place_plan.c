/* Any bytes as the plan file of a placement, of a graph and of a model: an error with a sentence,
 * or a plan that is priced by us, claims no more than the file did, and writes itself to a form
 * that reads as the same plan. */
#include "engine/place/from_module.h"
#include "engine/place/look.h"
#include "engine/place/place_file.h"
#include "tests/fuzz/place_graphs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct place_graph *graph_of(const struct problem *p, bool training)
{
    struct place_graph *g;
    struct err e = {0};

    if (!p)
        return fuzz_place_graph(training);
    require(!place_graph_of_problem(p, 0, &g, &e));
    return g;
}

static char *written(const struct problem *p, const struct place_graph *g, uint64_t fingerprint,
                     const struct place_saved *s)
{
    struct place_document d = {p,       g,       fingerprint, &s->job, (const char *const *)s->pin,
                               s->pins, s->plan, s->load};
    cJSON *o = place_json(&d, false);
    char *text = cJSON_Print(o);

    require(o && text);
    cJSON_Delete(o);
    return text;
}

static void check_look(const struct place_graph *g, const struct place_saved *s)
{
    struct place_price price[PLACE_DEVICES_MAX];
    struct place_look *l;
    struct err e = {0};
    double ms;

    if (s->plan->devices > 64)
        return;
    require(!place_look_new(g, &s->job.rules, s->plan, &l, &e));
    for (uint32_t v = 0; v < g->nodes; v++) {
        place_look_prices(l, v, price);
        place_look_holder(l, v, &ms);
    }
    place_look_free(l);
}

static void read_as(const struct problem *p, bool training, const char *text, size_t size)
{
    struct place_graph *g = graph_of(p, training), *h = graph_of(p, training);
    uint64_t fingerprint = place_fingerprint(g);
    struct place_saved *s, *again;
    struct err e = {0};

    if (place_file_parse(text, size, "plan.json", p, g, &s, &e)) {
        require(e.code < 0 && e.what[0] && e.caret < sizeof e.source);
        goto out;
    }
    char *once = written(p, g, fingerprint, s);
    require(!place_file_parse(once, strlen(once), "plan.json", p, h, &again, &e));
    require(again->plan->faults == s->plan->faults &&
            !memcmp(again->plan->device, s->plan->device, g->nodes * sizeof *s->plan->device));
    char *twice = written(p, h, fingerprint, again);
    require(strlen(once) < 1 << 20 && strlen(twice) < 1 << 20);
    check_look(g, s);
    cJSON_free(once);
    cJSON_free(twice);
    place_saved_free(again);
    place_saved_free(s);
out:
    place_graph_free(g);
    place_graph_free(h);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = mem_alloc(size + 1);

    memcpy(text, data, size);
    text[size] = 0;
    read_as(strstr(text, "\"cluster\"") ? the_problem(STEP_MODEL) : NULL,
            !strstr(text, "\"latency\""), text, size);
    free(text);
    return 0;
}
