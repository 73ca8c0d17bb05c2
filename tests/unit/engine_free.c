/* Calls that hand on what they are given, and random bits that every device draws for itself, take
 * no split away; what they cost whole is in every plan. */
#include "engine/decide/strict.h"
#include "engine/exact/exact.h"
#include "engine/plan/explain.h"
#include "engine/plan/plan.h"
#include "engine/problem/problem.h"
#include "hlo/load.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

static void open_text(const char *text, struct problem *p)
{
    static const char *names[] = {"w"};
    struct hlo_vars vars = {.names = names, .count = 1};
    struct problem_options o = {0};
    struct cluster *cluster = mem_alloc(sizeof *cluster);
    struct hlo_module *m;
    struct err e = {0};

    if (cluster_of_devices(cluster, 4, &e) ||
        hlo_load_memory("text", text, strlen(text), NULL, &m, &e) ||
        problem_new(m, &vars, cluster, &o, p, &e))
        fail_msg("%s", e.what);
    free(cluster);
}

static class_id class_of(const struct problem *p, const char *name, uint32_t dim)
{
    hlo_id id = hlo_find(p->m, name);

    assert_int_not_equal(id, HLO_NONE);
    return p->classes.class_of[class_dim(&p->classes, p->m->leaf_base[id], dim)];
}

static void sharding_calls_forbid_nothing(void **state)
{
    (void)state;
    static const char *const targets[] = {"Sharding", "annotate_device_placement", "MoveToHost"};

    for (size_t k = 0; k < sizeof targets / sizeof *targets; k++) {
        char text[1024];
        struct problem p;
        snprintf(text, sizeof text,
                 "ENTRY e {\n  x = f32[64,32] parameter(0)\n  w = f32[32,16] parameter(1)\n"
                 "  y = f32[64,32] custom-call(x), custom_call_target=\"%s\"\n"
                 "  ROOT r = f32[64,16] dot(y, w), lhs_contracting_dims={1}, "
                 "rhs_contracting_dims={0}\n}\n",
                 targets[k]);
        open_text(text, &p);
        for (uint32_t d = 0; d < 2; d++) {
            assert_int_equal(class_of(&p, "x", d), class_of(&p, "y", d));
            assert_int_equal(p.classes.info[class_of(&p, "x", d)].reason, CLASS_ALLOWED);
        }
        problem_release(&p);
    }
}

static const char DROPOUT[] =
    "body {\n  b = (s32[], u32[512]) parameter(0)\n"
    "  i = s32[] get-tuple-element(b), index=0\n  x = u32[512] get-tuple-element(b), index=1\n"
    "  one = s32[] constant(1)\n  j = s32[] add(i, one)\n  y = u32[512] xor(x, x)\n"
    "  ROOT bt = (s32[], u32[512]) tuple(j, y)\n}\n"
    "cond {\n  c = (s32[], u32[512]) parameter(0)\n"
    "  k = s32[] get-tuple-element(c), index=0\n  n = s32[] constant(5)\n"
    "  ROOT lt = pred[] compare(k, n), direction=LT\n}\n"
    "ENTRY e {\n  key = u32[2] parameter(0)\n  batch = f32[32,32] parameter(1)\n"
    "  w = f32[32,16] parameter(2)\n  zero = s32[] constant(0)\n"
    "  word = u32[1] slice(key), slice={[0:1]}\n  bit = u32[] reshape(word)\n"
    "  spread = u32[512] broadcast(bit), dimensions={}\n"
    "  init = (s32[], u32[512]) tuple(zero, spread)\n"
    "  loop = (s32[], u32[512]) while(init), condition=cond, body=body\n"
    "  half = u32[512] get-tuple-element(loop), index=1\n"
    "  bits = u32[1024] concatenate(half, half), dimensions={0}\n"
    "  mask = u32[32,32] reshape(bits)\n  noise = f32[32,32] convert(mask)\n"
    "  dropped = f32[32,32] multiply(batch, noise)\n"
    "  ROOT r = f32[32,16] dot(dropped, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
    "}\n";

static void dropout_forbids_nothing_and_costs(void **state)
{
    (void)state;
    struct problem p;
    double sum = 0;

    open_text(DROPOUT, &p);
    assert_int_equal(p.classes.info[class_of(&p, "batch", 0)].reason, CLASS_ALLOWED);
    assert_true(p.step_tables.free_ms > 0 && p.step_tables.fixed_ms >= p.step_tables.free_ms);
    label *on = mem_alloc((p.classes.count + 1) * sizeof *on);
    for (hlo_id id = 0; id < p.m->count; id++)
        sum += step_tables_instruction(&p.step_tables, id, on).compute_ms;
    assert_true(fabs(sum - step_tables_cost(&p.step_tables, on).compute_ms) <= 1e-12 * sum);
    /* five trips of reading and writing what the loop carries, and the glued bits once */
    double bytes = 5 * 2 * 512 * 4 + 2 * 1024 * 4;
    assert_true(p.step_tables.free_ms >= bytes / p.step_tables.device.bandwidth * 1e3 * (1 - 1e-9));
    free(on);
    problem_release(&p);
}

/* What is asked about a value that every device makes whole says so, and why. */
static void it_is_said_why(void **state)
{
    static const struct {
        const char *name;
        bool is_whole;
    } asked[] = {{"bits", true}, {"dropped", false}, {"r", false}};
    struct problem p;
    struct plan plan;
    struct strict s;
    struct err e = {0};

    (void)state;
    open_text(DROPOUT, &p);
    assert_int_equal(strict_new(&p.labels, &s, &e), 0);
    assert_int_equal(plan_from_strict(&p, &s, PLAN_BY_DECISION, &plan, &e), 0);
    for (size_t k = 0; k < sizeof asked / sizeof *asked; k++) {
        struct str text = {0};
        assert_int_equal(explain_instruction(&plan, hlo_find(p.m, asked[k].name), &text, &e), 0);
        if ((strstr(text.text, "made whole on every device") != NULL) != asked[k].is_whole)
            fail_msg("%s", text.text);
        str_release(&text);
    }
    plan_release(&plan);
    strict_release(&s);
    problem_release(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sharding_calls_forbid_nothing),
                                       cmocka_unit_test(dropout_forbids_nothing_and_costs),
                                       cmocka_unit_test(it_is_said_why)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
