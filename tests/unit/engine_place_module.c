/* Operator graphs of models: what is joined costs what its operations cost one by one. */
#include "engine/place/from_module.h"
#include "engine/place/solve.h"
#include "tests/unit/place_random.h"
#include "tests/unit/shipped.h"

static void check_model(const char *model, const char *cluster)
{
    struct problem *p = mem_alloc(sizeof *p);
    struct place_graph *g;
    struct place_job job = {.limits = {.ideals = 20000}, .looks = 20000000};
    struct placement *plan;
    struct slow_load load[PLACE_DEVICES_MAX];
    struct err e = {0};

    load_shipped(model, cluster, p);
    assert_int_equal(place_graph_of_problem(p, 0, &g, &e), 0);
    assert_int_equal(place_devices(g), p->cluster.devices);
    assert_int_equal(place_solve(g, &job, "exact", &plan, &e), 0);
    assert_int_equal(plan->faults, 0);
    assert_true(plan->bound_ms <= plan->value_ms * (1 + 1e-9));
    slow_loads(g, plan->device, load);
    assert_true(fabs(slow_value(g, &job.rules, load, NULL) - plan->value_ms) <=
                1e-9 * plan->value_ms);
    placement_free(plan);
    place_graph_free(g);
    problem_release(p);
    free(p);
}

static void joined_as_one_by_one(void **state)
{
    (void)state;
    check_model("mlp", NULL);
    check_model("t5-tiny", "a-2x8-v100");
    check_model("vgg19", "v100-1x4");
    check_model("decoder-scan", "v100-1x4");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(joined_as_one_by_one)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
