/* Tables of partitioners: the built-in ones as measured, one of a person's own, what is wrong in
 * one; what plans, explanations and exports say by them. */
#include "engine/cost/memory.h"
#include "engine/decide/partitioner.h"
#include "engine/plan/explain.h"
#include "engine/plan/export_hlo.h"
#include "engine/plan/plan.h"
#include "engine/problem/setting.h"
#include "example.h"

#include <stdlib.h>
#include <unistd.h>

static const char module[] =
    "add {\n  p = f32[] parameter(0)\n  q = f32[] parameter(1)\n  ROOT s = f32[] add(p, q)\n}\n"
    "ENTRY e {\n  a = f32[8,64] parameter(0)\n  x = f32[8,6,6,8] parameter(1)\n"
    "  w = f32[3,3,4,8] parameter(2)\n  v = f32[3,3,1,8] parameter(3)\n  m = f32[8,4,4] "
    "parameter(4)\n"
    "  u = f32[3,3,8,16] parameter(5)\n  y = f32[16,6,6,8] parameter(6)\n"
    "  k = f32[1,3,3,8] parameter(7)\n"
    "  f = c64[8,33] fft(a), fft_type=RFFT, fft_length={64}\n"
    "  t = (f32[8,4], s32[8,4]) topk(a), k=4, largest=true\n  n = f32[8,64] negate(a)\n"
    "  wide = f32[8,6,6,8] convolution(x, w), window={size=3x3 pad=1_1x1_1}, "
    "dim_labels=b01f_01io->b01f, feature_group_count=2\n"
    "  deep = f32[8,6,6,8] convolution(x, v), window={size=3x3 pad=1_1x1_1}, "
    "dim_labels=b01f_01io->b01f, feature_group_count=8\n"
    "  eigh = (f32[8,4,4], f32[8,4]) custom-call(m), custom_call_target=\"Eigh\"\n"
    "  batch = f32[8,6,6,16] convolution(y, u), window={size=3x3 pad=1_1x1_1}, "
    "dim_labels=b01f_01io->b01f, batch_group_count=2\n"
    "  turned = f32[4,4,8,8] convolution(x, k), window={size=3x3}, "
    "dim_labels=f01b_i01o->01bf, feature_group_count=8\n"
    "  swapped = f32[8,4,4,8] convolution(x, k), window={size=3x3}, "
    "dim_labels=f01b_i01o->b01f, feature_group_count=8\n"
    "  ROOT r = (c64[8,33], (f32[8,4], s32[8,4]), f32[8,64], f32[8,6,6,8], f32[8,6,6,8], "
    "(f32[8,4,4], f32[8,4]), f32[8,6,6,16], f32[4,4,8,8], f32[8,4,4,8]) tuple(f, t, n, wide, deep, "
    "eigh, batch, turned, swapped)\n}\n";

static struct hlo_module *load(void)
{
    struct hlo_module *m = NULL;
    struct err e = {0};

    if (hlo_load_memory("test", module, strlen(module), NULL, &m, &e))
        fail_msg("%s", e.what);
    return m;
}

static void expect(const char *which, const char *name, bool whole, bool everywhere)
{
    struct hlo_module *m = load();
    struct partitioner p;
    struct err e = {0};

    assert_int_equal(partitioner_read(which, &p, &e), 0);
    hlo_id id = hlo_find(m, name);
    if ((partitioner_runs_whole(&p, m, id) != NULL) != whole ||
        partitioner_sums_everywhere(&p, m, id) != everywhere)
        fail_msg("%s of %s", name, which);
    assert_null(partitioner_runs_whole(NULL, m, id));
    partitioner_release(&p);
    hlo_free(m);
}

/* As tests/ref/partitioner/measure.py has it: what either gathers, and what it does not. */
static void built_in_tables_are_as_measured(void **state)
{
    static const char *const both[] = {"gspmd", "shardy"};

    (void)state;
    for (size_t k = 0; k < 2; k++) {
        expect(both[k], "f", true, false);
        expect(both[k], "t", true, false);
        expect(both[k], "wide", true, false);
        expect(both[k], "deep", false, false);
        expect(both[k], "n", false, false);
        expect(both[k], "batch", false, true);
        expect(both[k], "eigh", k == 0, false);
        expect(both[k], "turned", true, false);
        expect(both[k], "swapped", false, false);
    }
}

/* Windows of two, `type` compared by `choice`; whether it runs whole. */
static void expect_windows(const char *type, const char *choice, bool whole)
{
    static const char form[] =
        "choice {\n  p = %1$s[] parameter(0)\n  q = %1$s[] parameter(1)\n  r = %1$s[] abs(p)\n"
        "  s = %1$s[] abs(q)\n  ROOT c = pred[] compare(%2$s\n}\n"
        "add {\n  p = %1$s[] parameter(0)\n  q = %1$s[] parameter(1)\n"
        "  ROOT s = %1$s[] add(p, q)\n}\n"
        "ENTRY e {\n  a = %1$s[8,64] parameter(0)\n  b = %1$s[8,32] parameter(1)\n"
        "  z = %1$s[] constant(0)\n  ROOT w = %1$s[8,64] select-and-scatter(a, b, z), "
        "window={size=1x2 stride=1x2}, select=choice, scatter=add\n}\n";
    static const char *const both[] = {"gspmd", "shardy"};
    struct hlo_module *m = NULL;
    struct err e = {0};
    char text[1024];

    snprintf(text, sizeof text, form, type, choice);
    if (hlo_load_memory("test", text, strlen(text), NULL, &m, &e))
        fail_msg("%s", e.what);
    for (size_t k = 0; k < 2; k++) {
        struct partitioner p;
        assert_int_equal(partitioner_read(both[k], &p, &e), 0);
        if ((partitioner_runs_whole(&p, m, hlo_find(m, "w")) != NULL) != whole)
            fail_msg("%s of %s by %s", type, choice, both[k]);
        partitioner_release(&p);
    }
    hlo_free(m);
}

/* As measured: split where two f32 or bf16 are ordered, and nothing else. */
static void windows_are_split_where_their_choice_is_an_order(void **state)
{
    (void)state;
    expect_windows("f32", "p, q), direction=GE", false);
    expect_windows("f32", "q, p), direction=LT", false);
    expect_windows("bf16", "p, q), direction=GT", false);
    expect_windows("f16", "p, q), direction=GE", true);
    expect_windows("f64", "p, q), direction=GE", true);
    expect_windows("s32", "p, q), direction=GE", true);
    expect_windows("f32", "r, s), direction=GE", true);
    expect_windows("f32", "p, p), direction=GE", true);
    expect_windows("f32", "p, q), direction=EQ", true);
}

struct planned {
    struct problem p;
    struct plan plan;
};

/* Dim 0 of `a` over four devices. */
static void make(const char *table, struct planned *out)
{
    struct problem_options o = {.partitioner = table};
    struct strict s;
    struct err e = {0};

    make_problem(load(), NULL, 4, &o, &out->p);
    assert_int_equal(strict_new(&out->p.labels, &s, &e), 0);
    if (setting_apply(&out->p, &s, "a:0=x", &e) ||
        plan_from_strict(&out->p, &s, PLAN_BY_DECISION, &out->plan, &e))
        fail_msg("%s", e.what);
    strict_release(&s);
}

static size_t collectives(const struct planned *x)
{
    struct plan_collective *c = NULL;
    struct err e = {0};
    size_t count = 0;

    assert_int_equal(plan_collectives(&x->plan, &c, &count, &e), 0);
    free(c);
    return count;
}

static void release(struct planned *x)
{
    plan_release(&x->plan);
    problem_release(&x->p);
}

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    assert_true(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

/* A table without rows gathers nothing; one that cannot negate gathers for that too. */
static void plans_go_by_the_table(void **state)
{
    struct str text = {0}, warnings = {0};
    struct planned x;
    struct err e = {0};
    char path[64];

    (void)state;
    snprintf(path, sizeof path, "/tmp/automap-partitioner-%ld.yaml", (long)getpid());
    make(NULL, &x);
    assert_int_equal(collectives(&x), 1); /* a, once for fft and topk */
    assert_int_equal(explain_instruction(&x.plan, hlo_find(x.p.m, "f"), &text, &e), 0);
    assert_non_null(strstr(text.text, "XLA GSPMD (jaxlib 0.10.2) has no rule for fft"));
    str_clear(&text);
    assert_int_equal(export_hlo(&x.plan, SHARDING_V2, &text, &warnings, &e), 0);
    assert_non_null(strstr(warnings.text, "f (and 1 more like it) is split, and the partitioner "
                                          "runs it whole"));
    release(&x);

    write_file(path, "partitioner: mine\nversion: '1'\nrows: []\n");
    make(path, &x);
    assert_int_equal(collectives(&x), 0);
    str_clear(&text);
    str_clear(&warnings);
    assert_int_equal(export_hlo(&x.plan, SHARDING_V2, &text, &warnings, &e), 0);
    assert_null(strstr(warnings.size ? warnings.text : "", "runs it whole"));
    release(&x);

    write_file(path, "partitioner: mine\nversion: '2'\nrows:\n  - opcode: 'neg*'\n"
                     "    does: runs whole\n    why: cannot count\n");
    make(path, &x);
    assert_int_equal(collectives(&x), 1);
    str_clear(&text);
    assert_int_equal(explain_instruction(&x.plan, hlo_find(x.p.m, "n"), &text, &e), 0);
    assert_non_null(strstr(text.text, "mine (2) cannot count"));
    release(&x);
    str_release(&text);
    str_release(&warnings);
    unlink(path);
}

/* Beside its pieces what runs whole needs all of its operand and of its result while it runs: by
 * hand, f32[8,64] and c64[8,33]. Unsplit there is nothing beside. */
static double peak(const char *table, const char *setting)
{
    static const char text[] = "ENTRY e {\n  a = f32[8,64] parameter(0)\n"
                               "  ROOT f = c64[8,33] fft(a), fft_type=RFFT, fft_length={64}\n}\n";
    struct problem_options o = {.partitioner = table};
    struct hlo_module *m = NULL;
    struct problem p;
    struct strict s;
    struct err e = {0};

    assert_int_equal(hlo_load_memory("test", text, strlen(text), NULL, &m, &e), 0);
    make_problem(m, NULL, 4, &o, &p);
    assert_int_equal(strict_new(&p.labels, &s, &e), 0);
    assert_int_equal(setting_apply(&p, &s, setting, &e), 0);
    double *scratch = memory_scratch(&p.memory);
    assert_non_null(scratch);
    double most = memory_of(&p.memory, &p.labels, s.on, scratch).peak;
    free(scratch);
    strict_release(&s);
    problem_release(&p);
    return most;
}

static void what_runs_whole_needs_all_of_it(void **state)
{
    char path[64];

    (void)state;
    snprintf(path, sizeof path, "/tmp/automap-partitioner-%ld.yaml", (long)getpid());
    write_file(path, "partitioner: mine\nversion: '1'\nrows: []\n");
    assert_true(peak(NULL, "a:0=x") - peak(path, "a:0=x") == 8 * 64 * 4 + 8 * 33 * 8);
    assert_true(peak(NULL, "a:0=0") == peak(path, "a:0=0"));
    unlink(path);
}

/* XLA's parts of it are wrong (of four devices three get zeros): it is whole in the export, its
 * operands are gathered before it; what the step hands out is split as planned. */
static void what_loses_parts_is_written_whole(void **state)
{
    struct problem_options o = {0};
    struct str text = {0}, warnings = {0};
    struct planned x;
    struct strict s;
    struct err e = {0};

    (void)state;
    make_problem(load(), NULL, 4, &o, &x.p);
    assert_int_equal(strict_new(&x.p.labels, &s, &e), 0);
    if (setting_apply(&x.p, &s, "k:3=x", &e) ||
        plan_from_strict(&x.p, &s, PLAN_BY_DECISION, &x.plan, &e))
        fail_msg("%s", e.what);
    strict_release(&s);
    assert_int_equal(export_hlo(&x.plan, SHARDING_V2, &text, &warnings, &e), 0);
    assert_non_null(
        strstr(text.text, "turned.operand0 = f32[8,6,6,8] copy(x), sharding={replicated}"));
    assert_non_null(
        strstr(text.text, "turned.operand1 = f32[1,3,3,8] copy(k), sharding={replicated}"));
    const char *line = strstr(text.text, " turned = ");
    assert_non_null(line);
    line = strstr(line, "sharding=");
    assert_non_null(line);
    assert_memory_equal(line, "sharding={replicated}", 21);
    line = strstr(text.text, "ROOT r = ");
    assert_non_null(line);
    line = strstr(line, "sharding={");
    assert_non_null(line);
    assert_non_null(strstr(line, "{devices=[1,1,1,4]<=[4]}, {devices=[1,1,1,4]<=[4]}}"));
    str_release(&text);
    str_release(&warnings);
    release(&x);
}

#define HEAD "partitioner: mine\nversion: '1'\nrows:\n"

static void wrong_tables_are_told(void **state)
{
    static const struct {
        const char *text;
        uint32_t line;
        const char *what;
    } wrong[] = {
        {"rows: []\n", 1, "no table"},
        {"partitioner: mine\nversion: '1'\nrows: many\n", 1, "no table"},
        {HEAD "  - fft\n", 4, "expected a row"},
        {HEAD "  - does: runs whole\n    why: so\n", 4, "a row of neither"},
        {HEAD "  - opcode: fft\n    target: x\n    does: runs whole\n    why: so\n", 4, "both"},
        {HEAD "  - opcode: fft\n    does: runs whole\n", 4, "a row without why"},
        {HEAD "  - opcode: fft\n    does: sings\n    why: so\n", 5, "does sings"},
        {HEAD "  - opcode: fft\n    when: wet\n    does: runs whole\n    why: so\n", 5, "when wet"},
        {HEAD "  - opcode: fftt\n    does: runs whole\n    why: so\n", 4,
         "no opcode is called fftt"},
        {HEAD "  - opcode: fft\n    do: runs whole\n    why: so\n", 5, "unknown key do"},
        {HEAD "  - opcode: [fft]\n    does: runs whole\n    why: so\n", 4, "expected words"},
    };
    struct partitioner p;
    char path[64];

    (void)state;
    snprintf(path, sizeof path, "/tmp/automap-partitioner-%ld.yaml", (long)getpid());
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        struct err e = {0};
        write_file(path, wrong[k].text);
        assert_int_not_equal(partitioner_read(path, &p, &e), 0);
        if (!strstr(e.what, wrong[k].what) || e.line != wrong[k].line)
            fail_msg("%s at %u, expected %s at %u", e.what, e.line, wrong[k].what, wrong[k].line);
        partitioner_release(&p);
    }
    struct err e = {0};
    assert_int_not_equal(partitioner_read("/nowhere/table.yaml", &p, &e), 0);
    partitioner_release(&p);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(built_in_tables_are_as_measured),
        cmocka_unit_test(windows_are_split_where_their_choice_is_an_order),
        cmocka_unit_test(plans_go_by_the_table),
        cmocka_unit_test(what_runs_whole_needs_all_of_it),
        cmocka_unit_test(what_loses_parts_is_written_whole),
        cmocka_unit_test(wrong_tables_are_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
