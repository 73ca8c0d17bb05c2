/* Plan files: what is written reads back as the same plan, and everything wrong is named. */
#include "engine/plan/plan_file.h"
#include "engine/plan/plan_json.h"
#include "engine/plan/random.h"
#include "engine/problem/setting.h"
#include "example.h"
#include "hlo/load.h"

#include <cjson/cJSON.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static struct problem *open_problem(const char *model, uint32_t devices,
                                    const struct problem_options *o)
{
    struct problem *p = mem_alloc(sizeof *p);

    load_example(model, devices, o, p);
    return p;
}

static void close_problem(struct problem *p)
{
    problem_release(p);
    free(p);
}

static void make_plan(const struct problem *p, const char *setting, uint64_t seed, struct plan *out)
{
    struct strict s;
    struct err e = {0};

    assert_int_equal(strict_new(&p->labels, &s, &e), 0);
    if (setting)
        assert_int_equal(setting_apply(p, &s, setting, &e), 0);
    else
        assert_int_equal(plan_random(p, &s, seed, &e), 0);
    assert_int_equal(plan_from_strict(p, &s, PLAN_BY_DECISION, out, &e), 0);
    snprintf(out->found_by, sizeof out->found_by, "test");
    out->seed = seed;
    strict_release(&s);
}

static void check_round(const struct problem *p, uint64_t seed)
{
    struct plan plan, again;
    struct str once = {0}, twice = {0};
    struct err e = {0};

    make_plan(p, NULL, seed, &plan);
    assert_int_equal(plan_write_json(&plan, &once, &e), 0);
    int rc = plan_file_parse(p, once.text, once.size, &again, &e);
    if (rc)
        fail_msg("%s", e.what);
    assert_memory_equal(plan.on, again.on, p->classes.count * sizeof *plan.on);
    assert_true(plan.cost.step_ms == again.cost.step_ms);
    assert_true(plan.seed == again.seed);
    assert_int_equal(plan_write_json(&again, &twice, &e), 0);
    assert_string_equal(once.text, twice.text);
    plan_release(&plan);
    plan_release(&again);
    str_release(&once);
    str_release(&twice);
}

static void test_round(void **state)
{
    static const struct {
        const char *model, *mesh;
        uint32_t devices;
        bool exact, paper;
    } cases[] = {{"mlp", "", 4, false, false},
                 {"mlp", "data=2,model=4", 8, true, false},
                 {"t5-tiny", "2x2x2", 8, true, false},
                 {"resnet20", "2x4", 8, false, true}};

    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct problem_options o = {.exact_divisibility = cases[k].exact,
                                    .classes.paper_rules = cases[k].paper};
        snprintf(o.mesh, sizeof o.mesh, "%s", cases[k].mesh);
        struct problem *p = open_problem(cases[k].model, cases[k].devices, &o);
        for (uint64_t seed = 0; seed < 10; seed++)
            check_round(p, UINT64_MAX - seed);
        close_problem(p);
    }
}

/* The sentence of the error that comes of `text` for problem `p`. */
static void expect_error(const struct problem *p, const char *text, const char *part)
{
    struct plan plan;
    struct err e = {0};

    assert_true(plan_file_parse(p, text, strlen(text), &plan, &e) < 0);
    if (!strstr(e.what, part))
        fail_msg("\"%s\" lacks \"%s\"", e.what, part);
}

/* The document with `from` replaced once by `to`. */
static void expect_replaced(const struct problem *p, const char *text, const char *from,
                            const char *to, const char *part)
{
    const char *at = strstr(text, from);
    struct str changed = {0};

    if (!at)
        fail_msg("no \"%s\" in the plan", from);
    str_add_bytes(&changed, text, (size_t)(at - text));
    str_add(&changed, to);
    str_add(&changed, at + strlen(from));
    expect_error(p, changed.text, part);
    str_release(&changed);
}

static char *mlp_text(const struct problem *p)
{
    struct plan plan;
    struct str text = {0};
    struct err e = {0};

    make_plan(p, "layer_0/kernel:1=1", 7, &plan);
    assert_int_equal(plan_write_json(&plan, &text, &e), 0);
    plan_release(&plan);
    return text.text;
}

static void test_strict(void **state)
{
    struct problem_options o = {0};
    struct problem *p = open_problem("mlp", 4, &o);
    char *text = mlp_text(p);

    (void)state;
    expect_error(p, "", "not JSON");
    expect_error(p, "{\"schema\": }", "not JSON");
    expect_error(p, "[]", "schema: missing");
    expect_error(p, "{\"schema\": \"automap.plan/2\"}",
                 "\"automap.plan/2\", expected \"automap.plan/1\"");
    expect_replaced(p, text, "\"mode\"", "\"mood\"", "mood: unknown key");
    expect_replaced(p, text, "\"seed\":\t\"7\",", "", "seed: missing, expected a text");
    expect_replaced(p, text, "\"seed\"", "\"mode\": \"strict\", \"seed\"",
                    "mode: stands here twice");
    expect_replaced(p, text, "\"leaf\":\t0", "\"leaf\": \"0\"",
                    "decisions[0].leaf: expected a whole number");
    expect_replaced(p, text, "\"leaf\":\t0", "\"leaf\": 0.5",
                    "decisions[0].leaf: expected a whole number");
    expect_replaced(p, text, "\"parameter\":\t0", "\"parameter\": 99",
                    "decisions[0].parameter: the model has none");
    expect_replaced(p, text, "\"dim\":\t0", "\"dim\": 3",
                    "decisions[0].dim: 3, expected less than the rank, 1");
    expect_replaced(p, text, "\"split\":\t[\"x\"]", "\"split\": [\"q\"]",
                    "decisions[0].split: expected names of axes");
    expect_replaced(p, text, "\"split\":\t[\"x\"]", "\"split\": [\"x\", \"x\"]",
                    "decisions[0].split");
    expect_replaced(p, text, "\"by\":\t\"decision\"", "\"by\": \"magic\"",
                    "decisions[0].by: \"magic\" is nobody known");
    expect_replaced(p, text, "\"split\":\t[[\"x\"]]", "\"split\": [[]]",
                    "variables[0].split[0]: not what the decisions say");
    expect_replaced(p, text, "\"seed\":\t\"7\"", "\"seed\": \"-7\"",
                    "seed: \"-7\", expected a whole number");
    expect_replaced(p, text, "\"mode\":\t\"strict\"", "\"mode\": \"loose\"",
                    "mode: \"loose\", expected \"strict\"");
    expect_replaced(p, text, "\"size\":\t4", "\"size\": 5", "axes[0]: x of 5, expected x of 4");
    free(text);
    close_problem(p);
}

static void test_another(void **state)
{
    struct problem_options o = {0}, exact = {.exact_divisibility = true}, mesh = {.mesh = "2x2"};
    struct problem *p = open_problem("mlp", 4, &o), *other;
    char *text = mlp_text(p);

    (void)state;
    other = open_problem("t5-tiny", 4, &o);
    expect_error(other, text,
                 "jit_train_step_rate with 363 instructions and 22 parameters; jit_train_step has "
                 "2801 and 169");
    close_problem(other);
    other = open_problem("mlp", 8, &o);
    expect_error(other, text, "v100-1x4 with 4 devices, this is v100-1x8 with 8");
    close_problem(other);
    other = open_problem("mlp", 4, &exact);
    expect_error(other, text, "options.divisibility: the plan was made with pad, this is exact");
    close_problem(other);
    other = open_problem("mlp", 4, &mesh);
    expect_error(other, text, "axes: 1, expected the 2 of this mesh");
    close_problem(other);
    other = open_problem("mlp", 4, &o);
    struct err e = {0};
    struct cluster c = other->cluster;
    assert_int_equal(cluster_set(&c, "devices.*.memory", "32 GB", &e), 0);
    assert_int_equal(problem_set_cluster(other, &c, "", &e), 0);
    expect_error(other, text, "have as many devices, but not the same figures");
    close_problem(other);
    free(text);
    close_problem(p);
}

static void test_model_of_one_size(void **state)
{
    static const char *const texts[] = {
        "HloModule a\nENTRY e {\n  x = f32[8,4] parameter(0)\n  w = f32[4,4] parameter(1)\n"
        "  ROOT d = f32[8,4] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n}\n",
        "HloModule a\nENTRY e {\n  x = f32[16,4] parameter(0)\n  w = f32[4,4] parameter(1)\n"
        "  ROOT d = f32[16,4] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n}\n",
        "HloModule a\nENTRY e {\n  x = f32[8,4] parameter(0)\n  w = f32[4,4] parameter(1)\n"
        "  ROOT d = f32[8,4] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={1}\n}\n"};
    struct problem *p[3];
    struct problem_options o = {0};
    struct plan plan;
    struct cluster c;
    struct str text = {0};
    struct err e = {0};

    (void)state;
    cluster_default(&c);
    for (int k = 0; k < 3; k++) {
        struct hlo_module *m = NULL;
        p[k] = mem_alloc(sizeof *p[k]);
        assert_int_equal(hlo_load_memory("a", texts[k], strlen(texts[k]), NULL, &m, &e), 0);
        assert_int_equal(problem_new(m, NULL, &c, &o, p[k], &e), 0);
    }
    make_plan(p[0], "#0:0=1", 0, &plan);
    assert_int_equal(plan_write_json(&plan, &text, &e), 0);
    expect_error(p[1], text.text, "is f32[8/4 4] there and f32[16 4] here");
    expect_error(p[2], text.text, "not the same instructions");
    plan_release(&plan);
    str_release(&text);
    for (int k = 0; k < 3; k++)
        close_problem(p[k]);
}

/* With blanks, which are nothing. */
static void lengthen(const char *path, size_t size)
{
    FILE *f = fopen(path, "a");

    assert_non_null(f);
    for (size_t n = 0; n < size; n += 64)
        assert_true(fprintf(f, "%64s", "") == 64);
    assert_int_equal(fclose(f), 0);
}

static void test_files(void **state)
{
    struct problem_options o = {.mesh = "data=2,model=2", .exact_divisibility = true};
    struct problem *p = open_problem("mlp", 4, &o);
    struct plan plan, again;
    struct plan_setup setup;
    struct err e = {0};
    char dir[] = "/tmp/automap-plan-XXXXXX", path[64], beside[64];
    struct stat st;

    (void)state;
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/p.json", dir);
    snprintf(beside, sizeof beside, "%s/p.json.%ld.part", dir, (long)getpid());
    make_plan(p, NULL, 1, &plan);
    assert_int_equal(plan_file_save(&plan, path, &e), 0);
    assert_int_equal(plan_file_save(&plan, path, &e), 0);
    assert_int_not_equal(stat(beside, &st), 0);
    assert_int_equal(plan_file_load(p, path, &again, &e), 0);
    assert_memory_equal(plan.on, again.on, p->classes.count * sizeof *plan.on);
    assert_int_equal(plan_file_setup(path, &setup, &e), 0);
    assert_string_equal(setup.options.mesh, "data=2,model=2");
    assert_true(setup.options.exact_divisibility);
    assert_int_equal(setup.devices, 4);
    assert_true(setup.cluster_fingerprint == cluster_fingerprint(&p->cluster));
    plan_release(&again);
    /* as long as the plan of 10^5 variables */
    lengthen(path, 80 << 20);
    assert_int_equal(plan_file_load(p, path, &again, &e), 0);
    plan_release(&again);
    unlink(path);
    assert_int_equal(plan_file_load(p, path, &again, &e), ERR_IO);
    assert_string_equal(e.file, path);
    snprintf(path, sizeof path, "%s/no/p.json", dir);
    assert_int_equal(plan_file_save(&plan, path, &e), ERR_IO);
    assert_string_equal(e.file, path);
    plan_release(&plan);
    rmdir(dir);
    close_problem(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round),   cmocka_unit_test(test_strict),
        cmocka_unit_test(test_another), cmocka_unit_test(test_model_of_one_size),
        cmocka_unit_test(test_files),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
