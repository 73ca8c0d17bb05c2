/* One overlap rule for all kinds of plan: the part of the gradient all-reduces that is hidden, and
 * of nothing else, is taken off; of a pipeline's stages as of data and operator parallelism. */
#include "engine/pipeline/pipeline.h"
#include "engine/plan/plan.h"
#include "engine/problem/setting.h"
#include "hlo/load.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

static struct problem *load(double overlap)
{
    struct problem *p = mem_alloc(sizeof *p);
    struct problem_options o = {.overlap = overlap};
    struct cluster cluster;
    struct hlo_module *m;
    struct err e;

    assert_int_equal(
        cluster_load(&cluster, AUTOMAP_SOURCE_DIR "/examples/clusters/a-2x8-v100.yaml", &e), 0);
    assert_int_equal(
        hlo_load(AUTOMAP_SOURCE_DIR "/examples/models/t5-base6.hlo.txt.gz", NULL, &m, &e), 0);
    assert_int_equal(problem_new(m, NULL, &cluster, &o, p, &e), 0);
    return p;
}

/* Of the plan with these settings ("" ends them): compute, communication. */
static struct step_cost cost_of(const struct problem *p, const char *setting)
{
    struct strict s;
    struct err e;
    label over = 0;

    assert_int_equal(strict_new(&p->labels, &s, &e), 0);
    if (setting)
        assert_int_equal(setting_apply(p, &s, setting, &e), 0);
    else
        assert_true(strict_decide(&s, plan_batch_class(p, &over), 0, true, NULL));
    struct step_cost cost = step_tables_cost(&p->step_tables, s.on);
    strict_release(&s);
    return cost;
}

static void test_strict_plans(void **state)
{
    struct problem *none = load(0), *half = load(0.5), *all = load(1);

    (void)state;
    /* data parallelism sums gradients, and the loss with its count */
    double whole = cost_of(none, NULL).communication_ms, rest = cost_of(all, NULL).communication_ms;
    assert_true(whole > 100 && rest < 1);
    assert_true(fabs(cost_of(half, NULL).communication_ms - (whole + rest) / 2) < 1e-9 * whole);
    assert_true(cost_of(none, NULL).compute_ms == cost_of(all, NULL).compute_ms);
    /* split feed-forward layers sum activations on the way: those wait whatever the overlap */
    double split = cost_of(none, "encoder/layer_000/ffn/conv1/kernel:1=1").communication_ms;
    double hidden = cost_of(all, "encoder/layer_000/ffn/conv1/kernel:1=1").communication_ms;
    assert_true(split > 10 && fabs(split - hidden) < 1e-9 * split);
    problem_release(none);
    problem_release(half);
    problem_release(all);
    free(none);
    free(half);
    free(all);
}

/* Bytes that data parallelism reduces. */
static double reduced_bytes(const struct problem *p)
{
    label *on = mem_alloc(p->classes.count + 1), over = 0;
    double bytes = 0;

    on[plan_batch_class(p, &over)] = 1;
    for (hlo_id id = 0; id < p->m->count; id++) {
        struct reduction list[TERM_CLASSES_MOST];
        uint32_t count = step_tables_reductions(&p->step_tables, id, on, list);
        for (uint32_t k = 0; k < count; k++)
            bytes += list[k].bytes * list[k].times;
    }
    free(on);
    return bytes;
}

/* One stage over all devices is data parallelism, but that a pipeline reduces every variable once
 * and a strict plan what it cannot join: with the bytes made equal the times are, at every overlap.
 */
static void test_one_stage(void **state)
{
    static const double overlaps[] = {0, 0.5, 1};

    (void)state;
    for (size_t k = 0; k < 3; k++) {
        struct problem *p = load(overlaps[k]);
        struct pipeline_options o = {.micro_batches = 1, .overlap = overlaps[k], .no_limit = true};
        struct pipeline l;
        struct pipeline_plan plan = {0};
        struct err e;
        assert_int_equal(pipeline_new(p, &o, &l, &e), 0);
        struct pipe_plan whole = pipe_plan_whole(&l.all);
        pipeline_price(&l, &whole, &plan);
        struct step_cost cost = cost_of(p, NULL);
        double part = l.all.gradient_bytes[l.all.points] / reduced_bytes(p);
        double expected = cost.compute_ms + part * cost.communication_ms;
        print_message("overlap %.1f: one stage %.1f ms; data parallelism %.1f ms, with %.0f %% of "
                      "its bytes %.1f ms\n",
                      overlaps[k], pipeline_step_ms(&l, &plan), cost.step_ms, 100 * part, expected);
        assert_true(part > 0.95 && part < 1);
        assert_true(fabs(pipeline_step_ms(&l, &plan) / expected - 1) < 0.06);
        pipeline_release(&l);
        problem_release(p);
        free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_strict_plans),
                                       cmocka_unit_test(test_one_stage)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
