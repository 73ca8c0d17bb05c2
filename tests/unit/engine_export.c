/* Shardings in both forms, and exports that read back as the plan. */
#include "engine/plan/export_dot.h"
#include "engine/plan/export_hlo.h"
#include "engine/plan/export_jax.h"
#include "engine/plan/export_report.h"
#include "engine/plan/plan_settings.h"
#include "engine/plan/random.h"
#include "engine/problem/setting.h"
#include "example.h"
#include "hlo/load.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static struct problem *open_problem(const char *model, const char *mesh, uint32_t devices)
{
    struct problem *p = mem_alloc(sizeof *p);
    struct problem_options o = {.exact_divisibility = true};

    snprintf(o.mesh, sizeof o.mesh, "%s", mesh);
    load_example(model, devices, &o, p);
    return p;
}

static void close_problem(struct problem *p)
{
    problem_release(p);
    free(p);
}

static void make_plan(const struct problem *p, const char *const *settings, uint64_t seed,
                      struct plan *out)
{
    struct strict s;
    struct err e = {0};

    assert_int_equal(strict_new(&p->labels, &s, &e), 0);
    for (; settings && *settings; settings++)
        assert_int_equal(setting_apply(p, &s, *settings, &e), 0);
    if (!settings)
        assert_int_equal(plan_random(p, &s, seed, &e), 0);
    assert_int_equal(plan_from_strict(p, &s, PLAN_BY_DECISION, out, &e), 0);
    strict_release(&s);
}

/* Expected texts by hand: ids are places in the mesh, row-major. */
static void test_spelling(void **state)
{
    static const struct {
        const char *mesh;
        uint32_t devices, rank;
        label over[3];
        const char *v2, *v1;
    } cases[] = {
        {"4", 4, 2, {0, 0}, "{replicated}", "{replicated}"},
        {"4", 4, 0, {0}, "{replicated}", "{replicated}"},
        {"4", 4, 2, {0, 1}, "{devices=[1,4]<=[4]}", "{devices=[1,4]0,1,2,3}"},
        {"2x2", 4, 1, {3}, "{devices=[4]<=[4]}", "{devices=[4]0,1,2,3}"},
        {"2x2",
         4,
         2,
         {1, 0},
         "{devices=[2,1,2]<=[4] last_tile_dim_replicate}",
         "{devices=[2,1,2]0,1,2,3 last_tile_dim_replicate}"},
        {"2x2",
         4,
         2,
         {2, 0},
         "{devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate}",
         "{devices=[2,1,2]0,2,1,3 last_tile_dim_replicate}"},
        {"2x4", 8, 2, {2, 1}, "{devices=[4,2]<=[2,4]T(1,0)}", "{devices=[4,2]0,4,1,5,2,6,3,7}"},
        {"2x1x2",
         4,
         1,
         {4},
         "{devices=[2,2]<=[2,2]T(1,0) last_tile_dim_replicate}",
         "{devices=[2,2]0,2,1,3 last_tile_dim_replicate}"},
        {"2x2x2",
         8,
         3,
         {4, 0, 1},
         "{devices=[2,1,2,2]<=[2,2,2]T(2,0,1) last_tile_dim_replicate}",
         "{devices=[2,1,2,2]0,2,4,6,1,3,5,7 last_tile_dim_replicate}"},
    };

    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct cluster_mesh mesh;
        struct cluster c;
        struct err e = {0};
        assert_int_equal(cluster_of_devices(&c, cases[k].devices, &e), 0);
        assert_int_equal(mesh_parse(&mesh, &c, cases[k].mesh, &e), 0);
        for (int form = 0; form < 2; form++) {
            struct str text = {0};
            label over[3];
            sharding_write(&mesh, cases[k].over, cases[k].rank, form ? SHARDING_V1 : SHARDING_V2,
                           &text);
            assert_string_equal(text.text, form ? cases[k].v1 : cases[k].v2);
            assert_int_equal(sharding_read(&mesh, text.text, text.size, cases[k].rank, over),
                             text.size);
            assert_memory_equal(over, cases[k].over, cases[k].rank);
            str_release(&text);
        }
    }
}

static void test_misspelling(void **state)
{
    static const char *const texts[] = {
        "",
        "{",
        "{replicated",
        "{devices=[4]<=[4]",
        "{devices=[4,1]<=[4]}",
        "{devices=[2]<=[4]}",
        "{devices=[2]<=[2]}",
        "{devices=[4]0,1,2}",
        "{devices=[4]0,1,2,9}",
        "{devices=[4]0,2,1,3}",
        "{devices=[0]<=[4]}",
        "{devices=[4]<=[2,2]T(0,0)}",
        "{devices=[4]<=[2,2]T(1)}",
        "{devices=[4]<=[99999999,99999999]T(1,0)}",
        "{devices=[2,2]<=[4]}",
        "{maximal device=0}",
        "{manual}",
    };
    struct cluster_mesh mesh;
    struct cluster c;
    struct err e = {0};
    label over[1];

    (void)state;
    cluster_default(&c);
    assert_int_equal(mesh_parse(&mesh, &c, "2x2", &e), 0);
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        if (sharding_read(&mesh, texts[k], strlen(texts[k]), 1, over))
            fail_msg("read %s", texts[k]);
    }
}

static void check_exports(const struct plan *plan)
{
    struct err e = {0};

    for (int form = 0; form < 2; form++) {
        struct str text = {0}, warnings = {0};
        assert_int_equal(export_hlo(plan, form ? SHARDING_V1 : SHARDING_V2, &text, &warnings, &e),
                         0);
        if (export_hlo_check(plan, text.text, text.size, &e))
            fail_msg("%s", e.what);
        assert_int_equal(warnings.size, 0);
        str_release(&text);
    }
    struct str text = {0}, warnings = {0};
    assert_int_equal(export_jax(plan, &text, &warnings, &e), 0);
    assert_int_equal(export_jax_check(plan, text.text, text.size, &e), 0);
    str_clear(&text);
    assert_int_equal(export_dot(plan, &text, &e), 0);
    if (export_dot_check(plan, text.text, text.size, &e))
        fail_msg("%s", e.what);
    struct report_about about = {.model = "a*model", .command = "automap plan it"};
    str_clear(&text);
    if (export_report(plan, &about, &text, &e) ||
        export_report_check(plan, text.text, text.size, &e))
        fail_msg("%s", e.what);
    str_release(&text);
    str_release(&warnings);
}

static void test_exports(void **state)
{
    static const struct {
        const char *model, *mesh;
        uint32_t devices;
    } cases[] = {{"mlp", "4", 4},
                 {"mlp", "2x2x2", 8},
                 {"t5-tiny", "2x2", 4},
                 {"decoder-scan", "2x4", 8},
                 {"moe", "8", 8}};

    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct problem *p = open_problem(cases[k].model, cases[k].mesh, cases[k].devices);
        for (uint64_t seed = 0; seed < 5; seed++) {
            struct plan plan;
            make_plan(p, NULL, seed, &plan);
            check_exports(&plan);
            plan_release(&plan);
        }
        close_problem(p);
    }
}

/* An export in which one sharding differs is not the plan any more. */
static void test_check_sees(void **state)
{
    static const char *const settings[] = {"layer_0/kernel:1=x", "batch/images:0=y", NULL};
    static const struct {
        const char *from, *to;
    } changes[] = {
        {"devices=[2,1,2]<=[2,2]T(1,0)", "devices=[2,1,2]<=[4]"},
        {"{devices=[2,2]<=[4] last_tile_dim_replicate}", "{replicated}"},
        {" tanh(", " cosine("},
        {"{devices=[2,2]<=[2,2]T(1,0)}", "{devices=[4,1]<=[4]}"},
    };
    struct problem *p = open_problem("mlp", "2x2", 4);
    struct plan plan;
    struct str text = {0}, warnings = {0};
    struct err e = {0};

    (void)state;
    make_plan(p, settings, 0, &plan);
    assert_int_equal(export_hlo(&plan, SHARDING_V2, &text, &warnings, &e), 0);
    assert_non_null(strstr(text.text, "num_partitions=4"));
    for (size_t k = 0; k < sizeof changes / sizeof *changes; k++) {
        const char *at = strstr(text.text, changes[k].from);
        struct str changed = {0};
        assert_non_null(at);
        str_add_bytes(&changed, text.text, (size_t)(at - text.text));
        str_add(&changed, changes[k].to);
        str_add(&changed, at + strlen(changes[k].from));
        assert_int_equal(export_hlo_check(&plan, changed.text, changed.size, &e), ERR_INPUT);
        str_release(&changed);
    }
    plan_release(&plan);
    str_release(&text);
    close_problem(p);
}

/* The graph and the report: one shape or one setting changed, and they are no longer the plan. */
static void test_check_sees_dot_and_report(void **state)
{
    static const char *const settings[] = {"layer_0/kernel:1=x", "batch/images:0=y", NULL};
    struct report_about about = {.model = "mlp", .command = "automap plan mlp --mesh 2x2"};
    struct problem *p = open_problem("mlp", "2x2", 4);
    struct plan plan;
    struct str dot = {0}, report = {0};
    struct err e = {0};

    (void)state;
    make_plan(p, settings, 0, &plan);
    assert_int_equal(export_dot(&plan, &dot, &e), 0);
    char *shape = strstr(strstr(dot.text, "tooltip=\""), "/x");
    assert_non_null(shape);
    shape[1] = 'y';
    assert_int_equal(export_dot_check(&plan, dot.text, dot.size, &e), ERR_INPUT);
    shape[1] = 'x';
    assert_int_equal(export_dot_check(&plan, dot.text, dot.size, &e), 0);
    assert_int_equal(
        export_dot_check(&plan, dot.text, (size_t)(strchr(dot.text, '\n') - dot.text), &e),
        ERR_INPUT);
    assert_int_equal(export_report(&plan, &about, &report, &e), 0);
    assert_non_null(strstr(report.text, "--set 'layer_0/bias:0=x'"));
    char *setting = strstr(report.text, "bias:0=x");
    setting[strlen("bias:0=")] = 'y';
    assert_int_not_equal(export_report_check(&plan, report.text, report.size, &e), 0);
    plan_release(&plan);
    str_release(&dot);
    str_release(&report);
    close_problem(p);
}

/* Two scatters of t5-tiny add into one array of zeros and want it split differently: without a copy
 * XLA reshards one result (128 bytes gathered). */
static void test_copies(void **state)
{
    struct problem *p = open_problem("t5-tiny", "2", 2);
    struct str text = {0}, warnings = {0};
    struct plan plan;
    struct err e = {0};

    (void)state;
    make_plan(p, NULL, 2, &plan);
    assert_int_equal(export_hlo(&plan, SHARDING_V2, &text, &warnings, &e), 0);
    const char *copy = strstr(text.text, ".operand0 = f32[8,4]");
    assert_non_null(copy);
    assert_non_null(strstr(copy + 20, "scatter("));
    assert_int_equal(export_hlo_check(&plan, text.text, text.size, &e), 0);
    plan_release(&plan);
    str_release(&text);
    str_release(&warnings);
    close_problem(p);
}

/* Rules each from a failure seen: results annotated, reducers not, loops that carry something
 * unchanged not, aliases of differently split sides dropped. */
static void test_rules(void **state)
{
    static const char *const settings[] = {"#0:0=1", NULL};
    static const char model[] =
        "HloModule step, input_output_alias={ {0}: (0, {}, may-alias), {1}: (1, {}, may-alias) }\n"
        "add.1 {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] add(a, "
        "b)\n}\n"
        "callee {\n  c = f32[8,4] parameter(0)\n  n = f32[8,4] negate(c)\n"
        "  ROOT ct = (f32[8,4], f32[8,4]) tuple(n, c)\n}\n"
        "ENTRY main {\n  x = f32[8,4] parameter(0)\n  y = f32[8,8] parameter(1)\n"
        "  k = (f32[8,4], f32[8,4]) call(x), to_apply=callee\n"
        "  k0 = f32[8,4] get-tuple-element(k), index=0\n  z = f32[] constant(0)\n"
        "  r = f32[4] reduce(k0, z), dimensions={0}, to_apply=add.1\n  e = f32[8,8] "
        "constant({...})\n"
        "  q = f32[8,8] add(y, e)\n  ROOT t = (f32[8,4], f32[8,8], f32[4]) tuple(k0, q, r)\n}\n";
    struct problem *p = mem_alloc(sizeof *p);
    struct problem_options o = {0};
    struct hlo_module *m = NULL;
    struct cluster c;
    struct plan plan;
    struct str text = {0}, warnings = {0};
    struct err e = {0};

    (void)state;
    cluster_default(&c);
    assert_int_equal(hlo_load_memory("step", model, sizeof model - 1, NULL, &m, &e), 0);
    assert_int_equal(problem_new(m, NULL, &c, &o, p, &e), 0);
    make_plan(p, settings, 0, &plan);
    assert_int_equal(export_hlo(&plan, SHARDING_V2, &text, &warnings, &e), 0);
    assert_int_equal(export_hlo_check(&plan, text.text, text.size, &e), 0);
    assert_null(strstr(text.text, "call("));
    const char *sum = strstr(text.text, " add(");
    assert_non_null(sum);
    assert_null(memchr(sum, '{', strcspn(sum, "\n")));
    assert_non_null(
        strstr(text.text, "sharding={{devices=[4,1]<=[4]}, {replicated}, {replicated}}"));
    assert_non_null(strstr(warnings.text, "constants without their values"));
    plan_release(&plan);
    str_release(&text);
    str_release(&warnings);
    close_problem(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spelling),
        cmocka_unit_test(test_misspelling),
        cmocka_unit_test(test_exports),
        cmocka_unit_test(test_check_sees),
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_check_sees_dot_and_report),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
