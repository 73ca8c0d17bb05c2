/* Overlap on any plan: the step is never longer than without it, and never shorter than what it
 * runs on takes alone, computation or communication. Strict and relaxed plans and stages of
 * pipelines, over shipped models and the zoo, on fast and slow networks. */
#include "engine/cost/training.h"
#include "engine/pipeline/pipeline.h"
#include "engine/plan/plan.h"
#include "engine/plan/random.h"
#include "engine/problem/problem.h"
#include "engine/relaxed/relaxed.h"
#include "tests/unit/shipped.h"
#include "tests/unit/zoo.h"

#include <math.h>
#include <string.h>

static const double NEAR = 1e-9;

/* One fast, one whose network is what everybody waits for. */
static const char *const networks[] = {"200 GB/s", "25 GB/s", "100 MB/s"};
static const char yaml[] =
    "name: n\n"
    "devices: {d: {memory: 80 GB, peak: {f32: 156 TFLOP/s, bf16: 312 "
    "TFLOP/s}, bandwidth: 2039 GB/s, share: 0.55,\n"
    "  matmul: {units: 108, reach: 0.92}, launch: 5 us}}\n"
    "servers: [{count: 4, devices: 1, link: {kind: switch, bandwidth: 235 GB/s, latency: 10 us}}]\n"
    "network: {bandwidth: %s, latency: 20 us}\n";

static bool load(const char *path, const char *network, struct problem *p)
{
    struct cluster *c = mem_alloc(sizeof *c);
    struct problem_options o = {.is_overlap_given = true, .overlap = OVERLAP_AUTO};
    struct hlo_module *m;
    char text[sizeof yaml + 32];
    struct err e;

    snprintf(text, sizeof text, yaml, network);
    if (cluster_read(c, text, strlen(text), &e))
        fail_msg("%s", e.what);
    bool ok = !hlo_load(path, NULL, &m, &e) && !problem_new(m, NULL, c, &o, p, &e);
    free(c);
    return ok;
}

static void set_overlap(struct problem *p, double overlap, uint8_t zero)
{
    struct batch_and_zero b = {.micro_batches = 1, .zero = zero, .overlap = overlap};
    struct err e;

    assert_int_equal(problem_set_batch_and_zero(p, &b, &e), 0);
}

/* Of one plan: P + rest + c without overlap. */
static void check_step(const char *name, struct step_cost with, struct step_cost without)
{
    double alone = fmax(without.compute_ms, without.communication_ms);

    if (with.step_ms > without.step_ms * (1 + NEAR) || with.step_ms < alone * (1 - NEAR))
        fail_msg("%s: %.17g ms with overlap, %.17g without, computation %.17g, communication %.17g",
                 name, with.step_ms, without.step_ms, without.compute_ms, without.communication_ms);
}

/* ---- strict ---- */

enum { PLANS = 6 };

/* Data parallelism, and random plans. */
static void make_plan(const struct problem *p, uint32_t n, label *on)
{
    struct strict s;
    struct err e;
    label over = 0;

    assert_int_equal(strict_new(&p->labels, &s, &e), 0);
    if (n)
        assert_int_equal(plan_random(p, &s, n, &e), 0);
    else if (plan_batch_class(p, &over) != CLASS_NONE)
        (void)strict_decide(&s, plan_batch_class(p, &over), 0, true, NULL);
    memcpy(on, s.on, p->classes.count * sizeof *on);
    strict_release(&s);
}

static uint32_t check_strict(const char *name, struct problem *p)
{
    label *on[PLANS];
    struct step_cost without[PLANS];
    uint32_t excess = 0;

    for (uint32_t n = 0; n < PLANS; n++) {
        on[n] = mem_alloc((p->classes.count + 1) * sizeof *on[n]);
        make_plan(p, n, on[n]);
    }
    for (uint8_t zero = 0; zero <= 3; zero += 3) {
        set_overlap(p, 0, zero);
        for (uint32_t n = 0; n < PLANS; n++)
            without[n] = step_tables_cost(&p->step_tables, on[n]);
        set_overlap(p, OVERLAP_AUTO, zero);
        for (uint32_t n = 0; n < PLANS; n++) {
            struct step_cost with = step_tables_cost(&p->step_tables, on[n]);
            check_step(name, with, without[n]);
            excess += overlap_excess(&p->step_tables.overlap, with.compute_ms, with.beside_ms) > 0;
        }
    }
    for (uint32_t n = 0; n < PLANS; n++)
        free(on[n]);
    return excess;
}

/* ---- relaxed ---- */

static void check_relaxed(const char *name, struct problem *p)
{
    struct relaxed_options o = {.folding = RELAXED_FOLD_AUTO};
    struct relaxed_plan with, without;
    struct err e;

    set_overlap(p, OVERLAP_AUTO, 0);
    int rc = relaxed_solve_overlapped(p, &o, NULL, 0, &with, &e);
    if (rc)
        return;
    const struct overlap *x = &p->step_tables.overlap;
    struct step_cost c = with.cost;
    c.communication_ms += x->hidden * c.beside_ms - overlap_excess(x, c.compute_ms, c.beside_ms);
    c.step_ms = c.compute_ms + c.communication_ms;
    check_step(name, with.cost, c);
    set_overlap(p, 0, 0);
    assert_int_equal(relaxed_solve_overlapped(p, &o, NULL, 0, &without, &e), 0);
    if (with.bound_ms > without.cost.step_ms * (1 + NEAR))
        fail_msg("%s: no plan with overlap is below %.17g ms, one without takes %.17g", name,
                 with.bound_ms, without.cost.step_ms);
    relaxed_plan_release(&without);
    relaxed_plan_release(&with);
}

/* ---- both ---- */

static uint32_t check_model(const char *path, bool relaxed)
{
    struct problem *p = mem_alloc(sizeof *p);
    const char *name = strrchr(path, '/') + 1;
    uint32_t excess = 0;

    for (size_t n = 0; n < sizeof networks / sizeof *networks; n++) {
        if (!load(path, networks[n], p))
            continue;
        excess += check_strict(name, p);
        if (relaxed)
            check_relaxed(name, p);
        problem_release(p);
    }
    free(p);
    return excess;
}

static void test_shipped(void **state)
{
    static const char *const models[] = {"mlp",      "t5-tiny", "t5-base6",     "bert48",
                                         "resnet20", "moe",     "decoder-scan", "vgg19"};
    uint32_t excess = 0;

    (void)state;
    for (size_t n = 0; n < sizeof models / sizeof *models; n++) {
        char path[256];
        snprintf(path, sizeof path, AUTOMAP_SOURCE_DIR "/examples/models/%s.hlo.txt.gz", models[n]);
        excess += check_model(path, n < 3);
    }
    print_message("%u plans with more to hide than computation hides\n", excess);
    assert_true(excess > 20);
}

static void test_zoo(void **state)
{
    enum { MOST = 64 };
    const char *path[MOST];
    glob_t found = {0};
    size_t count = zoo_models(&found, path, MOST, 60000);

    (void)state;
    for (size_t n = 0; n < count; n++)
        (void)check_model(path[n], false);
    print_message("%zu models of the zoo\n", count);
    globfree(&found);
}

/* ---- stages ---- */

/* Of every stage of whatever size: what shows of reductions, beside any computation. */
static void test_stages(void **state)
{
    const double share[] = {0, 0.15, 0.3};

    (void)state;
    for (int s = 0; s < 3; s++) {
        struct overlap o = {.hidden = 0.9 - share[s], .is_bounded = 1};
        for (int k = -20; k <= 20; k++) {
            double compute = 10, c = 10 * pow(1.5, k), shown = overlap_shown(&o, compute, c);
            assert_true(shown <= c && compute + shown >= fmax(compute, c) * (1 - NEAR));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_shipped), cmocka_unit_test(test_zoo),
                                       cmocka_unit_test(test_stages)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
