/* Memory of a device against XLA's own compiled figures (tests/ref/memory): arguments and outputs
 * to the byte, the peak within what the documentation says. */
#include "hlo/load.h"
#include "memory_rows.h"

#include "engine/plan/plan.h"
#include "engine/plan/plan_file.h"
#include "engine/problem/setting.h"
#include "engine/relaxed/plan_totals.h"
#include "engine/relaxed/relaxed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cjson/cJSON.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

/* One line of tests/ref/memory/memory.jsonl: a plan by its settings, and what XLA says. */
struct problem_of {
    struct problem p;
    struct cluster cluster;
};

static void load(const char *model, const char *mesh, struct problem_of *o)
{
    struct problem_options options = {0};
    uint32_t sizes[2] = {1, 1};
    struct hlo_module *m;
    char path[256];
    struct err e;

    sscanf(mesh, "%ux%u", &sizes[0], &sizes[1]);
    assert_int_equal(cluster_of_devices(&o->cluster, sizes[0] * sizes[1], &e), 0);
    snprintf(options.mesh, sizeof options.mesh, "%s", mesh);
    snprintf(path, sizeof path, AUTOMAP_SOURCE_DIR "/examples/models/%s.hlo.txt.gz", model);
    int rc = hlo_load(path, NULL, &m, &e);
    if (!rc)
        rc = problem_new(m, NULL, &o->cluster, &options, &o->p, &e);
    if (rc)
        err_print(&e, stderr);
    assert_int_equal(rc, 0);
}

static double figure(const cJSON *row, const char *key)
{
    return cJSON_GetObjectItem(row, key)->valuedouble;
}

static const char *word(const cJSON *row, const char *key)
{
    return cJSON_GetObjectItem(row, key)->valuestring;
}

/* How far our peak may be from XLA's, percent: T5 and BERT unsplit and split, convolutions, whose
 * weight gradients make activations again, and the small ones. */
static double tolerance(const char *model, bool is_split)
{
    if (!strncmp(model, "t5", 2) || !strncmp(model, "bert", 4))
        return is_split ? 16 : 8;
    if (!strncmp(model, "resnet", 6))
        return 6;
    return !strncmp(model, "vgg", 3) ? is_split ? 22 : 5 : 15;
}

static void check_row(const cJSON *row)
{
    struct problem_of *o = mem_alloc(sizeof *o);
    struct problem *p = &o->p;
    const cJSON *setting;
    struct strict s;
    struct err e;

    load(word(row, "model"), word(row, "mesh"), o);
    assert_int_equal(strict_new(&p->labels, &s, &e), 0);
    cJSON_ArrayForEach(setting, cJSON_GetObjectItem(row, "settings"))
        assert_int_equal(setting_apply(p, &s, setting->valuestring, &e), 0);
    double *scratch = memory_scratch(&p->memory);
    struct memory_cost cost = memory_of(&p->memory, &p->labels, s.on, scratch);
    double xla = figure(row, "arguments") + figure(row, "outputs") - figure(row, "aliased") +
                 figure(row, "temporaries");
    double off = 100 * (cost.peak / xla - 1), kinds = 0;
    print_message("%-13s %-20s %9.1f MB, XLA %9.1f MB, %+5.1f %%\n", word(row, "model"),
                  word(row, "plan"), cost.peak / 1e6, xla / 1e6, off);
    assert_true(cost.arguments == figure(row, "arguments"));
    assert_true(cost.outputs == figure(row, "outputs"));
    assert_true(fabs(off) <= tolerance(word(row, "model"), cJSON_GetArraySize(cJSON_GetObjectItem(
                                                               row, "settings")) > 0));
    for (int n = 0; n < MEMORY_KIND_COUNT; n++)
        kinds += cost.bytes[n];
    assert_true(fabs(kinds - cost.peak) <= 1e-9 * cost.peak);
    free(scratch);
    strict_release(&s);
    problem_release(p);
    free(o);
}

static void test_against_xla(void **state)
{
    (void)state;
    each_memory_row(false, 30, check_row);
}

/* An order is a permutation of each computation in which operands come first and the root last. */
static void check_order(const struct hlo_module *m, struct instruction_order *s)
{
    for (uint32_t k = 0; k < m->count; k++) {
        assert_int_equal(s->position[s->order[k]], k);
        assert_int_equal(hlo_at(m, s->order[k])->computation, hlo_at(m, k)->computation);
        for (uint32_t a = 0; a < hlo_at(m, k)->operand_count; a++)
            assert_true(s->position[hlo_operand(m, k, a)] < s->position[k]);
    }
    for (hlo_comp c = 0; c < m->computation_count; c++)
        assert_int_equal(s->position[m->computations[c].root],
                         m->computations[c].first + m->computations[c].count - 1);
    instruction_order_release(s);
}

/* Steps whose memory hangs on one rule each, unsplit: XLA's figures by tests/ref/memory/small.py.
 */
static void test_small(void **state)
{
    static const struct {
        const char *name;
        double xla; /* bytes: arguments, outputs that take no argument's place, temporaries */
    } steps[] = {{"conv_channels_last", 9695276},
                 {"conv_channels_first", 9695276},
                 {"dropout", 25625412},
                 {"pooling", 62138684}};
    struct problem_of *o = mem_alloc(sizeof *o);
    struct err e;

    (void)state;
    for (size_t n = 0; n < sizeof steps / sizeof *steps; n++) {
        struct problem_options options = {.mesh = "1"};
        struct hlo_module *m;
        char path[256];
        snprintf(path, sizeof path, AUTOMAP_SOURCE_DIR "/tests/data/memory/%s.hlo.txt",
                 steps[n].name);
        assert_int_equal(cluster_of_devices(&o->cluster, 1, &e), 0);
        assert_int_equal(hlo_load(path, NULL, &m, &e), 0);
        assert_int_equal(problem_new(m, NULL, &o->cluster, &options, &o->p, &e), 0);
        double *scratch = memory_scratch(&o->p.memory);
        label *on = mem_alloc((o->p.classes.count + 1) * sizeof *on);
        double peak = memory_of(&o->p.memory, &o->p.labels, on, scratch).peak;
        print_message("%-20s %.2f MB, XLA %.2f MB\n", steps[n].name, peak / 1e6,
                      steps[n].xla / 1e6);
        assert_true(fabs(peak / steps[n].xla - 1) < 0.15);
        free(on);
        free(scratch);
        problem_release(&o->p);
    }
    free(o);
}

/* Layers in a loop over 8 devices: the loop reduces each layer's gradients as it makes them, so
 * that no second stack waits for them, and none is whole where gradients are in pieces. XLA's
 * figures by tests/ref/memory/stack.py. In pieces we gather the next layer while one is used, 33.6
 * MB more. */
static void test_stacks(void **state)
{
    static const struct {
        uint8_t zero;
        double xla, more;
    } levels[] = {{0, 922747172, 0}, {3, 218104244, 33.6e6}};
    struct problem_of *o = mem_alloc(sizeof *o);
    struct err e;

    (void)state;
    for (size_t n = 0; n < sizeof levels / sizeof *levels; n++) {
        struct problem_options options = {.mesh = "8", .zero = levels[n].zero};
        struct hlo_module *m;
        struct strict s;
        assert_int_equal(cluster_of_devices(&o->cluster, 8, &e), 0);
        assert_int_equal(
            hlo_load(AUTOMAP_SOURCE_DIR "/tests/data/memory/stack.hlo.txt", NULL, &m, &e), 0);
        assert_int_equal(problem_new(m, NULL, &o->cluster, &options, &o->p, &e), 0);
        assert_int_equal(strict_new(&o->p.labels, &s, &e), 0);
        assert_int_equal(setting_apply(&o->p, &s, "x:0=1", &e), 0);
        double *scratch = memory_scratch(&o->p.memory);
        double peak = memory_of(&o->p.memory, &o->p.labels, s.on, scratch).peak;
        print_message("ZeRO %d %.1f MB, XLA %.1f MB\n", levels[n].zero, peak / 1e6,
                      levels[n].xla / 1e6);
        assert_true(fabs((peak - levels[n].more) / levels[n].xla - 1) < 0.06);
        free(scratch);
        strict_release(&s);
        problem_release(&o->p);
    }
    free(o);
}

/* The same in a relaxed plan that stores variables in pieces and gathers whole stacks where the
 * loop begins: two stacks of 134 MB live while it runs. XLA's figure by tests/ref/memory/memory.py
 * --one of the export; 134 MB of it are a gathered stack that it brings into another order first.
 */
static void test_gathered_stacks(void **state)
{
    const double xla = 507511012, in_order = 134217728;
    struct problem_options options = {.mesh = "8", .reduce_at_once = true};
    struct problem_of *o = mem_alloc(sizeof *o);
    struct memory_cost cost;
    struct hlo_module *m;
    struct plan plan;
    struct err e;

    (void)state;
    assert_int_equal(
        cluster_load(&o->cluster, AUTOMAP_SOURCE_DIR "/examples/clusters/a100-1x8.yaml", &e), 0);
    assert_int_equal(hlo_load(AUTOMAP_SOURCE_DIR "/tests/data/memory/stack.hlo.txt", NULL, &m, &e),
                     0);
    assert_int_equal(problem_new(m, NULL, &o->cluster, &options, &o->p, &e), 0);
    int rc = plan_file_load(&o->p, AUTOMAP_SOURCE_DIR "/tests/data/memory/stack_gathered.json",
                            &plan, &e);
    if (rc)
        err_print(&e, stderr);
    assert_int_equal(rc, 0);
    assert_int_equal(relaxed_memory(plan.relaxed, &cost, &e), 0);
    print_message("stacks gathered whole %.1f MB, XLA %.1f MB\n", cost.peak / 1e6, xla / 1e6);
    assert_true(fabs(cost.peak / (xla - in_order) - 1) < 0.06);
    plan_release(&plan);
    problem_release(&o->p);
    free(o);
}

/* Layers that learn on their own, the best relaxed plan on four slow devices, its partial results
 * combined at once: activations are gathered for several uses that would make them again otherwise,
 * and what is gathered stays. XLA's figure by tests/ref/memory/zoo.py. */
static void test_relaxed(void **state)
{
    const double xla = 1012040;
    struct problem_of *o = mem_alloc(sizeof *o);
    struct problem_options options = {.mesh = "4", .exact_divisibility = true};
    struct relaxed_options how = {.reduce_at_once = true};
    struct relaxed_plan plan;
    struct memory_cost cost;
    struct relaxed *r;
    struct hlo_module *m;
    struct err e;

    (void)state;
    assert_int_equal(
        cluster_load(&o->cluster, AUTOMAP_SOURCE_DIR "/tests/data/memory/slow-4.yaml", &e), 0);
    assert_int_equal(
        hlo_load(AUTOMAP_SOURCE_DIR "/tests/data/memory/local_losses.hlo.gz", NULL, &m, &e), 0);
    assert_int_equal(problem_new(m, NULL, &o->cluster, &options, &o->p, &e), 0);
    assert_int_equal(relaxed_new(&o->p, &how, &r, &e), 0);
    assert_int_equal(relaxed_solve(r, 0, &plan, &e), 0);
    double *scratch = memory_scratch(&o->p.memory);
    assert_int_equal(relaxed_memory_peak(&plan, &cost, NULL, scratch, &e), 0);
    print_message("gathered for use: %.2f MB, XLA %.2f MB\n", cost.peak / 1e6, xla / 1e6);
    assert_true(fabs(cost.peak / xla - 1) < 0.15);
    uint32_t count = o->p.m->computations[o->p.m->entry].count;
    double(*rows)[MEMORY_KIND_COUNT] = mem_alloc(count * sizeof *rows), highest = 0;
    memory_timeline_of(&o->p.memory, scratch, rows); /* knows the copies, too */
    for (uint32_t n = 0; n < count; n++) {
        double sum = 0;
        for (int k = 0; k < MEMORY_KIND_COUNT; k++)
            sum += rows[n][k];
        highest = fmax(highest, sum);
    }
    assert_true(fabs(highest - cost.peak) < 1);
    free(rows);
    free(scratch);
    relaxed_plan_release(&plan);
    relaxed_free(r);
    problem_release(&o->p);
    free(o);
}

static void test_schedule(void **state)
{
    struct problem_of *o = mem_alloc(sizeof *o);
    const char *const models[] = {"resnet20", "decoder-scan", "t5-tiny"};
    struct err e;

    (void)state;
    for (size_t n = 0; n < sizeof models / sizeof *models; n++) {
        load(models[n], "1", o);
        const struct hlo_module *m = o->p.m;
        struct instruction_order s;
        uint8_t *placed = mem_alloc(m->value_count);
        assert_int_equal(instruction_order_list(m, &o->p.fusion, placed, &s, &e), 0);
        check_order(m, &s);
        assert_int_equal(instruction_order_depth_first(m, &o->p.fusion, &s, &e), 0);
        check_order(m, &s);
        free(placed);
        problem_release(&o->p);
    }
    free(o);
}

/* The timeline's highest row is the peak; the largest values there add up to no more than it. */
static void test_timeline(void **state)
{
    (void)state;
    struct problem_of *o = mem_alloc(sizeof *o);
    struct problem *p = &o->p;
    load("t5-tiny", "1", o);
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
    for (uint32_t n = 0; n < held; n++) { /* a value's second buffer says so */
        for (uint32_t k = 0; k < n; k++)
            assert_false(tops[k].value == tops[n].value &&
                         !strcmp(memory_storing_words[tops[k].storing],
                                 memory_storing_words[tops[n].storing]));
    }
    free(rows);
    free(on);
    free(scratch);
    problem_release(p);
    free(o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_xla),     cmocka_unit_test(test_small),
        cmocka_unit_test(test_relaxed),         cmocka_unit_test(test_schedule),
        cmocka_unit_test(test_timeline),        cmocka_unit_test(test_stacks),
        cmocka_unit_test(test_gathered_stacks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
