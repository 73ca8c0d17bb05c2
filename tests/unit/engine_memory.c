/* Memory of a device against XLA's own compiled figures (tests/ref/memory): arguments and outputs to
 * the byte, the peak of the unsplit models within 20 %. */
#include "engine/plan/plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cjson/cJSON.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

static cJSON *reference;

static int read_reference(void **state)
{
    static char text[65536];
    FILE *f = fopen(AUTOMAP_SOURCE_DIR "/tests/ref/memory/memory.json", "r");

    (void)state;
    if (!f)
        return 1;
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    reference = cJSON_Parse(text);
    return reference == NULL;
}

static int drop_reference(void **state)
{
    (void)state;
    cJSON_Delete(reference);
    return 0;
}

static void load(const char *model, struct problem *p)
{
    struct cluster *cluster = mem_alloc(sizeof *cluster);
    struct problem_options o = {0};
    struct hlo_module *m;
    char path[256];
    struct err e;

    cluster_default(cluster);
    snprintf(path, sizeof path, AUTOMAP_SOURCE_DIR "/examples/models/%s.hlo.txt.gz", model);
    int rc = hlo_load(path, NULL, &m, &e);
    if (!rc)
        rc = problem_new(m, NULL, cluster, &o, p, &e);
    if (rc)
        err_print(&e, stderr);
    free(cluster);
    assert_int_equal(rc, 0);
}

static double figure(const char *model, const char *key)
{
    return cJSON_GetObjectItem(cJSON_GetObjectItem(reference, model), key)->valuedouble;
}

/* The instruction order of resnet20 keeps the gradients of all layers until their weight gradients
 * at the end; XLA's scheduler moves those forward. */
static const struct {
    const char *model;
    double least, most; /* our peak over XLA's */
} cases[] = {
    {"mlp", 0.8, 1.2},  {"t5-tiny", 0.8, 1.2},      {"vgg19", 0.8, 1.2},   {"moe", 0.8, 1.2},
    {"t5-base6", 0.8, 1.2}, {"decoder-scan", 0.8, 1.2}, {"resnet20", 1, 1.75},
};

static void test_unsplit(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct problem *p = mem_alloc(sizeof *p);
        const char *model = cases[k].model;
        load(model, p);
        label *on = mem_alloc(p->classes.count * sizeof *on);
        double *scratch = memory_scratch(&p->memory);
        struct memory_cost cost = memory_of(&p->memory, &p->labels, on, scratch);
        double xla = figure(model, "arguments") + figure(model, "outputs") - figure(model, "aliased") +
                     figure(model, "temporaries");
        print_message("%-14s peak %.0f MB, XLA %.0f MB (%+.1f %%)\n", model, cost.peak / 1e6, xla / 1e6,
                      100 * (cost.peak / xla - 1));
        assert_true(cost.arguments == figure(model, "arguments"));
        assert_true(cost.outputs == figure(model, "outputs"));
        assert_true(cost.peak >= cases[k].least * xla && cost.peak <= cases[k].most * xla);
        double kinds = 0;
        for (int n = 0; n < MEMORY_KIND_COUNT; n++)
            kinds += cost.bytes[n];
        assert_true(fabs(kinds - cost.peak) <= 1e-9 * cost.peak);
        free(on);
        free(scratch);
        problem_release(p);
        free(p);
    }
}

/* The timeline's highest row is the peak; the largest values there add up to no more than it. */
static void test_timeline(void **state)
{
    (void)state;
    struct problem *p = mem_alloc(sizeof *p);
    load("t5-tiny", p);
    uint32_t count = p->m->computations[p->m->entry].count;
    label *on = mem_alloc(p->classes.count * sizeof *on);
    double *scratch = memory_scratch(&p->memory);
    double(*rows)[MEMORY_KIND_COUNT] = mem_alloc(count * sizeof *rows);
    struct memory_cost cost = memory_of(&p->memory, &p->labels, on, scratch);
    double highest = 0;
    struct memory_top tops[16];

    memory_timeline(&p->memory, &p->labels, on, scratch, rows);
    for (uint32_t n = 0; n < count; n++) {
        double sum = 0;
        for (int k = 0; k < MEMORY_KIND_COUNT; k++)
            sum += rows[n][k];
        highest = sum > highest ? sum : highest;
    }
    assert_true(fabs(highest - cost.peak) < 1);
    uint32_t held = memory_tops(&p->memory, &p->labels, on, cost.at, tops, 16);
    assert_int_equal(held, 16);
    for (uint32_t n = 1; n < held; n++)
        assert_true(tops[n - 1].bytes >= tops[n].bytes);
    free(rows);
    free(on);
    free(scratch);
    problem_release(p);
    free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unsplit),
        cmocka_unit_test(test_timeline),
    };
    return cmocka_run_group_tests(tests, read_reference, drop_reference);
}
