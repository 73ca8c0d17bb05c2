/* Figures of devices and links found again from times that a known device would take. */
#include "example.h"

#include "engine/cluster/collectives.h"
#include "engine/cost/calibrate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

static void load_on(const char *model, const struct cluster *c, struct problem *p)
{
    struct problem_options o = {0};
    struct hlo_module *m;
    char path[512];
    struct err e;

    snprintf(path, sizeof path, AUTOMAP_SOURCE_DIR "/examples/models/%s.hlo.txt.gz", model);
    assert_int_equal(hlo_load(path, NULL, &m, &e), 0);
    assert_int_equal(problem_new(m, NULL, c, &o, p, &e), 0);
}

/* What device `d` would have taken, as a profile has it. */
static double *times_on(const struct problem *p, const struct cluster_device *d)
{
    double *ms = mem_alloc((p->m->count + 1u) * sizeof *ms);

    for (hlo_id id = 0; id < p->m->count; id++) {
        struct instruction_scaling s = step_tables_scaling(&p->step_tables, id, CLASS_NONE);
        s.measured_ms = -1;
        ms[id] = instruction_scaling_ms(&s, d, 1);
    }
    return ms;
}

static bool is_near(double a, double b, double part)
{
    return fabs(a / b - 1) <= part;
}

/* The file says one thing, two modules ran on a device of another: the fit says what that is. */
static void check_device(bool has_matmul)
{
    static const char *const models[] = {"mlp", "t5-tiny"};
    struct cluster *c = mem_alloc(sizeof *c);
    struct calibration fit = {0};
    struct err e;

    assert_int_equal(cluster_of_devices(c, 1, &e), 0);
    struct cluster_device *file = &c->type[0];
    file->share = 0.9;
    if (has_matmul)
        file->matmul = (struct cluster_matmul){.units = 80, .reach = 0.9};
    struct cluster_device truth = *file;
    truth.share = 0.37;
    truth.launch_ms = 0.0123;
    if (has_matmul)
        truth.matmul.reach = 0.41;
    else
        truth.peak[PEAK_F32] *= 0.41;
    for (size_t n = 0; n < 2; n++) {
        struct problem *p = mem_alloc(sizeof *p);
        load_on(models[n], c, p);
        double *ms = times_on(p, &truth);
        assert_int_equal(calibration_add(&fit, &p->step_tables, ms, &e), 0);
        free(ms);
        problem_release(p);
        free(p);
    }
    assert_int_equal(fit.runs, 2);
    struct cluster_device found = *file;
    calibration_fit(&fit, &found);
    assert_true(is_near(found.share, truth.share, 0.01));
    assert_true(is_near(found.launch_ms, truth.launch_ms, 0.02));
    if (has_matmul)
        assert_true(is_near(found.matmul.reach, truth.matmul.reach, 0.05));
    else
        assert_true(is_near(found.peak[PEAK_F32], truth.peak[PEAK_F32], 0.05));
    for (uint32_t run = 0; run < 2; run++) {
        for (int single = 0; single < 2; single++) {
            struct calibration_part p = calibration_compare(&fit, run, single, &found);
            struct calibration_part before = calibration_compare(&fit, run, single, file);
            assert_true(p.groups > 0 && is_near(p.modelled_ms, p.measured_ms, 0.01));
            assert_true(!is_near(before.modelled_ms, before.measured_ms, 0.2));
        }
    }
    calibration_release(&fit);
    free(c);
}

static void test_device(void **state)
{
    (void)state;
    check_device(true);
    check_device(false);
}

/* Nothing measured is an error, and adds nothing. */
static void test_nothing_measured(void **state)
{
    struct cluster *c = mem_alloc(sizeof *c);
    struct problem *p = mem_alloc(sizeof *p);
    struct calibration fit = {0};
    struct err e;

    (void)state;
    assert_int_equal(cluster_of_devices(c, 1, &e), 0);
    load_on("mlp", c, p);
    double *ms = mem_alloc((p->m->count + 1u) * sizeof *ms);
    for (hlo_id id = 0; id < p->m->count; id++)
        ms[id] = -1;
    assert_int_equal(calibration_add(&fit, &p->step_tables, ms, &e), ERR_INPUT);
    assert_int_equal(fit.runs, 0);
    calibration_release(&fit);
    free(ms);
    problem_release(p);
    free(p);
    free(c);
}

/* A profile of one device, scaled, is that of the other; a bound of bandwidth scales by bandwidth,
 * one of products by their rate. */
static void test_scale(void **state)
{
    struct cluster *c = mem_alloc(sizeof *c);
    struct problem *p = mem_alloc(sizeof *p);
    struct err e;

    (void)state;
    assert_int_equal(cluster_of_devices(c, 1, &e), 0);
    struct cluster_device from = c->type[0];
    from.bandwidth /= 3;
    from.peak[PEAK_F32] /= 5;
    load_on("t5-tiny", c, p);
    double *ms = times_on(p, &from), *there = times_on(p, &p->step_tables.device);
    uint32_t checked = 0;
    ms[0] = -1;
    calibration_scale(&p->step_tables, &from, ms);
    assert_true(ms[0] == -1);
    for (hlo_id id = 1; id < p->m->count; id++) {
        assert_true(ms[id] == there[id] || is_near(ms[id], there[id], 1e-12));
        checked += ms[id] > 0;
    }
    assert_true(checked > 100);
    free(ms);
    free(there);
    problem_release(p);
    free(p);
    free(c);
}

/* `card`: what the servers' own network card is said to reach; 0: none is named. */
static void check_link(uint32_t servers, double card)
{
    static const double sizes[] = {1e3, 1e5, 1e6, 3e7, 1e9};
    struct cluster *c = mem_alloc(sizeof *c);
    struct measured_collective m[10];
    struct cluster_mesh mesh;
    struct err e;

    assert_int_equal(cluster_of_devices(c, 4, &e), 0);
    c->group[0].count = servers;
    c->servers = servers;
    c->devices = 4 * servers;
    c->network = 3e9;
    c->network_latency_ms = 0.025;
    mesh_one_axis(&mesh, c);
    for (uint32_t k = 0; k < 10; k++) {
        m[k].kind = k % 2 ? COLLECTIVE_ALL_REDUCE : COLLECTIVE_ALL_GATHER;
        m[k].bytes = sizes[k / 2];
        m[k].ms = collective_ms(&mesh, m[k].kind, 1, m[k].bytes);
    }
    struct cluster found = *c;
    found.group[0].network = card;
    double *rate = servers > 1 ? &found.network : &found.group[0].link.bandwidth;
    double *latency = servers > 1 ? &found.network_latency_ms : &found.group[0].link.latency_ms;
    double true_rate = *rate, true_latency = *latency;
    *rate *= 7;
    *latency /= 9;
    calibration_fit_link(&found, m, 10);
    assert_true(is_near(*rate, true_rate, 0.01) && is_near(*latency, true_latency, 0.01));
    assert_true(servers == 1 || cluster_network_of(&found, 0) == *rate);
    free(c);
}

static void test_link(void **state)
{
    (void)state;
    check_link(1, 0);
    check_link(3, 0);
    check_link(3, 5e9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_device),
                                       cmocka_unit_test(test_nothing_measured),
                                       cmocka_unit_test(test_scale), cmocka_unit_test(test_link)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
