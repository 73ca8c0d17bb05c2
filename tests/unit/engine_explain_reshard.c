/* Why a reshard stands: the plan without it has none on that way, is never better than the bound of
 * the plan with it, and the answer names what it speaks of. */
#include "random_module.h"

#include "engine/plan/explain_reshard.h"
#include "engine/relaxed/relaxed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

enum { SEEDS = 60 };

static struct problem *open_random(uint64_t seed)
{
    struct problem *p = mem_alloc(sizeof *p);
    struct cluster c;
    struct problem_options o = {.exact_divisibility = true};
    struct err e;

    assert_int_equal(cluster_of_devices(&c, 4, &e), 0);
    assert_int_equal(cluster_set(&c, "devices.*.peak.f32", "1 MFLOP/s", &e), 0);
    assert_int_equal(cluster_set(&c, "devices.*.bandwidth", "1 MB/s", &e), 0);
    assert_int_equal(cluster_set(&c, "servers.*.link.latency", "10 us", &e), 0);
    snprintf(o.mesh, sizeof o.mesh, "%s", seed % 2 ? "2x2" : "");
    assert_int_equal(random_problem(seed, 6 + (uint32_t)(seed % 20), &c, &o, p, &e), 0);
    return p;
}

static void solve(const struct problem *p, struct plan *out)
{
    struct relaxed_options o = {.folding = RELAXED_FOLD_OFF};
    struct relaxed_plan found;
    struct relaxed *r;
    struct err e;

    assert_int_equal(relaxed_new(p, &o, &r, &e), 0);
    assert_int_equal(relaxed_solve(r, 0, &found, &e), 0);
    assert_int_equal(plan_from_relaxed(&found, out, &e), 0);
    relaxed_free(r);
}

static bool is_same_way(const struct relaxed_reshard *a, const struct relaxed_reshard *b)
{
    return a->value == b->value && a->user == b->user && a->leaf == b->leaf &&
           a->becomes == b->becomes && !b->is_inside;
}

static void check_reshard(const struct plan *plan, uint32_t number, uint32_t *removed)
{
    const struct relaxed_reshard *x = &plan->relaxed->reshards[number];
    struct reshard_removal r;
    struct str text = {0}, json = {0};
    struct err e;

    assert_int_equal(reshard_remove(plan, number, &r, &e), 0);
    assert_true(r.is_possible || r.why_not[0]);
    if (r.is_possible) {
        ++*removed;
        assert_true(r.step_ms >= plan->bound_ms * (1 - 1e-9));
        for (uint32_t k = 0; k < r.plan.relaxed->reshard_count; k++)
            assert_false(is_same_way(x, &r.plan.relaxed->reshards[k]));
    }
    reshard_explain(plan, number, &r, &text);
    assert_non_null(strstr(text.text, reshard_kind_names[x->kind]));
    assert_non_null(strstr(text.text, "without it: "));
    assert_int_equal(reshard_explain_json(plan, number, &r, &json, &e), 0);
    assert_non_null(strstr(json.text, "\"without\""));
    str_release(&text);
    str_release(&json);
    reshard_removal_release(&r);
}

static void removals(void **state)
{
    uint32_t asked = 0, removed = 0;
    (void)state;

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct problem *p = open_random(seed);
        struct reshard_removal none;
        struct plan plan;
        struct str list = {0};
        struct err e;
        solve(p, &plan);
        for (uint32_t k = 0; k < plan.relaxed->reshard_count && k < 4; k++, asked++)
            check_reshard(&plan, k, &removed);
        assert_int_equal(reshard_remove(&plan, plan.relaxed->reshard_count, &none, &e), ERR_INPUT);
        assert_int_equal(reshard_list(&plan, 10, &list, &e), 0);
        str_release(&list);
        plan_release(&plan);
        problem_release(p);
        free(p);
    }
    print_message("%u reshards, %u of them removed\n", asked, removed);
    assert_true(removed > SEEDS / 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(removals)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
