/* Relaxed stages: what a stage over all devices gains is what the whole plan gains by the relaxed
 * model's own totals; stages never lose. */
#include "engine/cost/step_tables.h"
#include "engine/hybrid/hybrid.h"
#include "engine/hybrid/relaxed_stages.h"
#include "engine/relaxed/relaxed.h"
#include "tests/unit/shipped.h"

#include <math.h>
#include <stdio.h>

/* The relaxed optimum with every parameter stored and read as the labels have it. */
static double relaxed_step(const struct problem *p, const label *on)
{
    struct relaxed_options o = {0};
    struct relaxed_plan found;
    struct relaxed *r;
    struct relaxed_pin *pins = NULL;
    size_t count = 0, room = 0;
    struct err e;

    assert_int_equal(relaxed_new(p, &o, &r, &e), 0);
    for (uint32_t n = 0; n < p->roles.param_count; n++) {
        hlo_value v = p->roles.params[n].value;
        for (uint32_t d = 0; d < hlo_value_shape(p->m, v)->rank; d++)
            for (uint32_t x = 0; x < p->mesh.axes; x++) {
                class_id c = p->classes.class_of[class_dim(&p->classes, v, d)];
                bool split = c != CLASS_NONE && (on[c] >> x & 1);
                assert_true(mem_grow(&pins, &room, count, 1));
                pins[count++] =
                    (struct relaxed_pin){n, d, x, split ? RELAXED_SPLIT : RELAXED_WHOLE};
            }
    }
    assert_int_equal(relaxed_set_pins(r, pins, (uint32_t)count, &e), 0);
    assert_int_equal(relaxed_solve(r, 0, &found, &e), 0);
    double ms = found.cost.step_ms;
    relaxed_plan_release(&found);
    relaxed_free(r);
    free(pins);
    return ms;
}

static double strict_step(const struct problem *p, const label *on)
{
    double ms = p->step_tables.fixed_ms;

    for (uint32_t k = 0; k < p->step_tables.count; k++) {
        const struct term *t = &p->step_tables.items[k];
        uint32_t entry = term_entry(&p->step_tables, t, on);
        ms += p->step_tables.compute_ms[t->table + entry] +
              p->step_tables.communication_ms[t->table + entry];
    }
    return ms;
}

static void check(const char *model, const char *cluster, uint32_t tp, double within)
{
    struct hybrid_options o = {.stages = 1,
                               .tp = tp,
                               .micro_batches = 1,
                               .no_limit = true,
                               .no_bound = true,
                               .relaxes = true,
                               .zero = 0};
    struct problem *p = mem_alloc(sizeof *p);
    struct hybrid *h = mem_alloc(sizeof *h);
    struct err e;

    load_shipped(model, cluster, p);
    struct batch_and_zero batching = {.micro_batches = 1};
    assert_int_equal(problem_set_batch_and_zero(p, &batching, &e), 0);
    assert_int_equal(hybrid_new(p, &o, h, &e), 0);
    assert_int_equal(h->stages, 1);
    char mesh[32];
    snprintf(mesh, sizeof mesh, h->stage[0].axes > 1 ? "%ux%u" : "%u", h->stage[0].size[0],
             h->stage[0].size[1]);
    assert_int_equal(problem_set_cluster(p, &p->cluster, mesh, &e), 0);
    double gain = hybrid_step_ms(h) - h->relaxed_ms;
    double whole = strict_step(p, h->stage[0].on) - relaxed_step(p, h->stage[0].on);
    print_message("%s on %s: %.4g ms, relaxed %.4g less, the whole plan %.4g less\n", model,
                  cluster, hybrid_step_ms(h), gain, whole);
    assert_true(gain >= 0 && h->stage[0].relaxed.both_ms <= h->stage[0].point.both_ms);
    assert_true(fabs(gain - whole) <= within * hybrid_step_ms(h));
    hybrid_release(h);
    problem_release(p);
    free(h);
    free(p);
}

static void test_one_stage(void **unused)
{
    (void)unused;
    check("t5-base6", "a100-1x8", 8, 1e-4);
    check("bert48", "a100-1x8", 8, 1e-4);
    check("decoder-scan", "a100-1x8", 8, 0.02); /* stages do not stack what a loop keeps */
}

/* Every stage of a plan gains or stays, and so does the step. */
static void test_stages(void **unused)
{
    (void)unused;
    struct hybrid_options o = {
        .stages = 4, .tp = 8, .micro_batches = 8, .no_bound = true, .relaxes = true, .zero = -1};
    struct problem *p = mem_alloc(sizeof *p);
    struct hybrid *h = mem_alloc(sizeof *h);
    struct err e;
    uint32_t shorter = 0;

    load_shipped("t5-base6", "c-4x8-v100", p);
    assert_int_equal(hybrid_new(p, &o, h, &e), 0);
    for (uint32_t n = 0; n < h->stages; n++) {
        assert_true(h->stage[n].relaxed.both_ms <= h->stage[n].point.both_ms);
        shorter += h->stage[n].relaxed.both_ms < h->stage[n].point.both_ms;
    }
    assert_int_equal(shorter, h->stages);
    assert_true(h->relaxed_ms < hybrid_step_ms(h));
    hybrid_release(h);
    problem_release(p);
    free(h);
    free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_one_stage),
                                       cmocka_unit_test(test_stages)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
