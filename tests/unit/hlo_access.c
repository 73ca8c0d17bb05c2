/* Questions about one instruction: attributes, constants, trips of a loop, names. */
#include "hlo/load.h"
#include "hlo/module/hlo.h"
#include "hlo/support/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static struct hlo_module *load(const char *text)
{
    struct hlo_module *m = NULL;
    struct err e;

    if (hlo_load_memory("test", text, strlen(text), NULL, &m, &e)) {
        err_print(&e, stderr);
        fail();
    }
    return m;
}

static void test_attribute_values(void **state)
{
    (void)state;
    int64_t dims[HLO_RANK_MAX];
    struct hlo_module *m = load("ENTRY e {\n  a = f32[2,3,4] parameter(0)\n"
                                "  t = f32[4,2,3] transpose(a), dimensions={2,0,1}\n"
                                "  g = f32[] parameter(1)\n"
                                "  c = f32[4,2,3] custom-call(t), custom_call_target=\"Sharding\"\n"
                                "  i = s32[8] iota(), iota_dimension=0\n"
                                "  k = (f32[4,2,1], s32[4,2,1]) topk(c), k=1, largest=false\n"
                                "  ROOT r = pred[4,2,3] compare(t, c), direction=GE\n}\n");
    hlo_id t = hlo_find(m, "t"), c = hlo_find(m, "%c"), k = hlo_find(m, "k"), r = hlo_find(m, "r");

    assert_int_equal(hlo_attr_ints(m, t, HLO_ATTR_DIMENSIONS, dims), 3);
    assert_true(dims[0] == 2 && dims[1] == 0 && dims[2] == 1);
    assert_int_equal(hlo_attr_ints(m, c, HLO_ATTR_DIMENSIONS, dims), 0);
    assert_null(hlo_attr(m, c, HLO_ATTR_DIMENSIONS));
    assert_true(hlo_attr_is(m, c, HLO_ATTR_CUSTOM_CALL_TARGET, "Sharding")); /* quotes or none */
    assert_false(hlo_attr_is(m, c, HLO_ATTR_CUSTOM_CALL_TARGET, "Shard"));
    assert_true(hlo_attr_is(m, r, HLO_ATTR_DIRECTION, "GE"));
    assert_int_equal(hlo_attr_int(m, k, HLO_ATTR_K, -7), 1);
    assert_int_equal(hlo_attr_int(m, r, HLO_ATTR_K, -7), -7);
    assert_false(hlo_attr_bool(m, k, HLO_ATTR_LARGEST, true));
    assert_true(hlo_attr_bool(m, k, HLO_ATTR_IS_STABLE, true));
    assert_int_equal(hlo_find(m, "nothing"), HLO_NONE);
    hlo_free(m);
}

#define ZEROS                                            \
    "00000000000000000000000000000000000000000000000000" \
    "00000000000000000000000000000000000000000000000000"

static void test_constants(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
    } cases[] = {
        {"f32[] constant(0.1)", 0.1},
        {"f32[] constant(-1e-05)", -1e-5},
        {"s32[] constant(-12)", -12},
        {"pred[] constant(true)", 1},
        {"pred[] constant(false)", 0},
        {"f32[] constant(-inf)", -INFINITY},
        {"f32[] constant(6.02e+23)", 6.02e23},
        {"u64[] constant(18446744073709551615)", 18446744073709551615.0},
        {"f64[] constant(2.2250738585072014e-308)", DBL_MIN},
        {"f64[] constant(0.30000000000000004)", 0.1 + 0.2},
        {"f64[] constant(8.41e+21)", 8.41e21},
        {"f64[] constant(1e-400)", 0},
        {"f32[] constant(0e400)", 0},
        {"f64[] constant(1e400)", INFINITY},
        {"f32[] constant(1." ZEROS ZEROS ZEROS ZEROS ")", 1},
        {"f32[] constant(1" ZEROS ZEROS ZEROS ZEROS "e-400)", 1},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1024];
        double value;
        snprintf(text, sizeof text, "ENTRY e {\n  ROOT c = %s\n}\n", cases[i].text);
        struct hlo_module *m = load(text);
        assert_true(hlo_constant_number(m, hlo_find(m, "c"), &value));
        if (value != cases[i].value)
            fail_msg("%s is %.17g", cases[i].text, value);
        hlo_free(m);
    }
    double value;
    struct hlo_module *m =
        load("ENTRY e {\n a = f32[2] constant({1, 2})\n b = c64[] constant((1, 2))\n"
             " n = f32[] constant(nan)\n ROOT p = f32[] parameter(0)\n}\n");
    assert_false(hlo_constant_number(m, hlo_find(m, "a"), &value));
    assert_false(hlo_constant_number(m, hlo_find(m, "b"), &value));
    assert_false(hlo_constant_number(m, hlo_find(m, "p"), &value));
    assert_true(hlo_constant_number(m, hlo_find(m, "n"), &value) && isnan(value));
    hlo_free(m);
}

/* A loop over (counter, limit, x). */
static int64_t trips(const char *start, const char *step, const char *compare, const char *extra)
{
    char text[1024];

    snprintf(
        text, sizeof text,
        "body {\n  s = (s32[], s32[], f32[4]) parameter(0)\n"
        "  i = s32[] get-tuple-element(s), index=0\n  n = s32[] get-tuple-element(s), index=1\n"
        "  x = f32[4] get-tuple-element(s), index=2\n  one = s32[] constant(1)\n"
        "  two = s32[] constant(2)\n  next = s32[] %s\n"
        "  ROOT t = (s32[], s32[], f32[4]) tuple(next, n, x)\n}\n"
        "condition {\n  s = (s32[], s32[], f32[4]) parameter(0)\n"
        "  i = s32[] get-tuple-element(s), index=0\n  n = s32[] get-tuple-element(s), index=1\n"
        "  ten = s32[] constant(10)\n  ROOT c = pred[] compare(%s\n}\n"
        "ENTRY e {\n  a = s32[] %s\n  b = s32[] constant(7)\n  x = f32[4] parameter(0)\n"
        "  t = (s32[], s32[], f32[4]) tuple(a, b, x)\n"
        "  ROOT w = (s32[], s32[], f32[4]) while(t), condition=condition, body=body%s\n}\n",
        step, compare, start, extra);
    struct hlo_module *m = load(text);
    int64_t n = hlo_trip_count(m, hlo_find(m, "w"));
    hlo_free(m);
    return n;
}

static void test_trip_counts(void **state)
{
    (void)state;
    assert_int_equal(trips("constant(0)", "add(i, one)", "i, ten), direction=LT", ""), 10);
    assert_int_equal(trips("constant(3)", "add(two, i)", "i, ten), direction=LT", ""), 4);
    assert_int_equal(trips("constant(0)", "add(i, one)", "ten, i), direction=GE", ""), 11);
    assert_int_equal(trips("constant(0)", "add(i, one)", "i, n), direction=LT", ""),
                     7); /* carried limit */
    assert_int_equal(trips("constant(20)", "subtract(i, two)", "i, ten), direction=GT", ""), 5);
    assert_int_equal(trips("constant(0)", "add(i, two)", "i, ten), direction=NE", ""), 5);
    assert_int_equal(trips("constant(30)", "add(i, one)", "i, ten), direction=LT", ""), 0);
    /* the compiler's own figure wins */
    assert_int_equal(trips("constant(0)", "add(i, one)", "i, ten), direction=LT",
                           ", backend_config={\"known_trip_count\":{\"n\":\"42\"}}"),
                     42);
    /* not to be seen: endless, skipping its end, another step, unknown start */
    assert_int_equal(trips("constant(0)", "subtract(i, one)", "i, ten), direction=LT", ""), -1);
    assert_int_equal(trips("constant(1)", "add(i, two)", "i, ten), direction=NE", ""), -1);
    assert_int_equal(trips("constant(1)", "multiply(i, two)", "i, ten), direction=LT", ""), -1);
    assert_int_equal(trips("constant(1)", "add(n, one)", "i, ten), direction=LT", ""), -1);
    assert_int_equal(trips("parameter(1)", "add(i, one)", "i, ten), direction=LT", ""), -1);
}

static void test_part_values(void **state)
{
    (void)state;
    uint32_t count;
    struct hlo_module *m =
        load("ENTRY e {\n  a = f32[2] parameter(0)\n  b = (f32[3], f32[4]) parameter(1)\n"
             "  n = () tuple()\n"
             "  ROOT t = (f32[2], (), (f32[3], f32[4]), f32[2]) tuple(a, n, b, a)\n}\n");
    hlo_id t = hlo_find(m, "t");

    assert_int_equal(hlo_part_values(m, t, 0, &count), hlo_value_of(m, t, 0));
    assert_int_equal(count, 1);
    hlo_part_values(m, t, 1, &count);
    assert_int_equal(count, 0);
    assert_int_equal(hlo_part_values(m, t, 2, &count), hlo_value_of(m, t, 1));
    assert_int_equal(count, 2);
    assert_int_equal(hlo_part_values(m, t, 3, &count), hlo_value_of(m, t, 3));
    hlo_free(m);
}

enum { MANY = 40000 };

static void *find_all(void *context)
{
    const struct hlo_module *m = context;
    size_t wrong = 0;

    for (int n = 0; n < MANY; n++) {
        char name[24];
        snprintf(name, sizeof name, "%sv%d", n % 2 ? "%" : "", n);
        hlo_id id = hlo_find(m, name); /* the entry has the odd ones too */
        wrong += id == HLO_NONE || (hlo_at(m, id)->computation == m->entry) != (n % 2) ||
                 strcmp(hlo_name(m, id), name + (n % 2)) != 0;
    }
    return (void *)(uintptr_t)wrong;
}

/* 80,000 questions by two threads at once, of a module of 60,000 instructions: the names that two
 * computations have are the entry's. One after another, from the first on, takes minutes. */
static void test_many_names(void **state)
{
    struct str text = {0};
    pthread_t other;
    void *wrong = NULL;

    (void)state;
    str_add(&text, "HloModule m\nf {\n  v0 = f32[] parameter(0)\n");
    for (int n = 1; n < MANY; n++)
        str_format(&text, "  v%d = f32[] negate(v%d)\n", n, n - 1);
    str_add(&text, "}\nENTRY e {\n  p = f32[] parameter(0)\n  c = f32[] call(p), to_apply=f\n");
    for (int n = 1; n < MANY; n += 2)
        str_format(&text, "  v%d = f32[] negate(c)\n", n);
    str_add(&text, "}\n");
    struct hlo_module *m = load(text.text);
    clock_t start = clock();
    assert_int_equal(pthread_create(&other, NULL, find_all, m), 0);
    assert_null(find_all(m));
    assert_int_equal(pthread_join(other, &wrong), 0);
    assert_null(wrong);
    assert_int_equal(hlo_find(m, "nobody"), HLO_NONE);
    assert_int_equal(hlo_find(m, "%"), HLO_NONE);
    assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 5);
    hlo_free(m);
    str_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_attribute_values), cmocka_unit_test(test_constants),
        cmocka_unit_test(test_trip_counts),      cmocka_unit_test(test_part_values),
        cmocka_unit_test(test_many_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
