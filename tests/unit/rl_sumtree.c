/* The sum tree: cases of Dopamine's and Tianshou's own tests, and a chi-square test of a million
 * draws against the priorities. */
#include "rl/rng.h"
#include "rl/sumtree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

static struct rl_sumtree make(uint32_t capacity)
{
    struct rl_sumtree t;

    assert_int_equal(rl_sumtree_init(&t, capacity), 0);
    return t;
}

static void test_capacity(void **state)
{
    (void)state;
    struct rl_sumtree t;
    assert_int_equal(rl_sumtree_init(&t, 0), RL_E_SETTING);

    t = make(1);
    rl_sumtree_set(&t, 0, 1.5);
    assert_true(rl_sumtree_get(&t, 0) == 1.5 && rl_sumtree_total(&t) == 1.5);
    assert_int_equal(rl_sumtree_find(&t, 0), 0);
    assert_int_equal(rl_sumtree_find(&t, 1.4999), 0);
    rl_sumtree_release(&t);

    t = make(100);
    assert_int_equal(t.size, 128);
    rl_sumtree_release(&t);
}

/* Dopamine testSetValue: one value shows on the whole leftmost branch and nowhere else. */
static void test_one_value(void **state)
{
    (void)state;
    struct rl_sumtree t = make(100);
    rl_sumtree_set(&t, 0, 1);
    for (uint32_t i = 1; i < 2 * t.size; i++)
        assert_true(t.node[i] == ((i & (i - 1)) == 0 ? 1 : 0));
    rl_sumtree_release(&t);
}

/* Dopamine testSampleSingleton, testSamplePairWithUnevenProbabilities, testStratifiedSampling. */
static void test_find(void **state)
{
    (void)state;
    struct rl_sumtree t = make(100);
    rl_sumtree_set(&t, 5, 1);
    for (double u = 0; u < 1; u += 0.01)
        assert_int_equal(rl_sumtree_find(&t, u), 5);
    rl_sumtree_set(&t, 5, 0);
    rl_sumtree_set(&t, 2, 1);
    rl_sumtree_set(&t, 3, 3);
    assert_int_equal(rl_sumtree_find(&t, 0.1 * 4), 2);
    assert_int_equal(rl_sumtree_find(&t, 0.9999), 2);
    assert_int_equal(rl_sumtree_find(&t, 1), 3);
    assert_int_equal(rl_sumtree_find(&t, 3.9999), 3);
    for (uint32_t i = 0; i < 32; i++)
        rl_sumtree_set(&t, i, 1);
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(rl_sumtree_find(&t, i + 0.5), i);
    rl_sumtree_release(&t);
}

/* A target at or past an end never gives a leaf of value 0. */
static void test_edges(void **state)
{
    (void)state;
    struct rl_sumtree t = make(8);
    rl_sumtree_set(&t, 1, 0.1);
    rl_sumtree_set(&t, 4, 0.2);
    rl_sumtree_set(&t, 6, 0.3);
    const double total = rl_sumtree_total(&t);
    assert_int_equal(rl_sumtree_find(&t, 0), 1);
    assert_int_equal(rl_sumtree_find(&t, -1), 1);
    assert_int_equal(rl_sumtree_find(&t, total), 6);
    assert_int_equal(rl_sumtree_find(&t, 2 * total), 6);
    rl_sumtree_set(&t, 6, 0);
    assert_int_equal(rl_sumtree_find(&t, total), 4);
    rl_sumtree_release(&t);
}

/* Tianshou test_segtree: against running sums, values overwritten at random, twice in a row too. */
static void test_against_running_sums(void **state)
{
    (void)state;
    enum { CAPACITY = 37 };
    struct rl_sumtree t = make(CAPACITY);
    struct rl_rng rng;
    double value[CAPACITY] = {0};

    rl_rng_seed(&rng, 7, 0);
    for (int round = 0; round < 2000; round++) {
        uint32_t leaf = rl_rng_below(&rng, CAPACITY);
        value[leaf] = rl_rng_below(&rng, 4) ? rl_rng_below(&rng, 16) : 0;
        rl_sumtree_set(&t, leaf, 99);
        rl_sumtree_set(&t, leaf, value[leaf]);
        double total = 0;
        for (uint32_t i = 0; i < CAPACITY; i++)
            total += value[i];
        assert_true(rl_sumtree_total(&t) == total); /* small integers: exact */
        if (total == 0)
            continue;
        double u = rl_rng_unit(&rng) * total, sum = 0;
        uint32_t expected = 0;
        while (sum + value[expected] <= u)
            sum += value[expected++];
        assert_int_equal(rl_sumtree_find(&t, u), expected);
    }
    rl_sumtree_release(&t);
}

static void test_rebuild(void **state)
{
    (void)state;
    struct rl_sumtree a = make(300), b = make(300);
    struct rl_rng rng;
    rl_rng_seed(&rng, 3, 0);
    for (uint32_t i = 0; i < 300; i++) {
        double value = rl_rng_unit(&rng);
        rl_sumtree_set(&a, 299 - i, value);
        rl_sumtree_leaf(&b)[299 - i] = value;
    }
    rl_sumtree_rebuild(&b);
    for (uint32_t i = 1; i < 2 * a.size; i++)
        assert_true(a.node[i] == b.node[i]);
    rl_sumtree_release(&a);
    rl_sumtree_release(&b);
}

/* Wilson and Hilferty: (x/k)^(1/3) is about normal; 3.09 is the 0.999 point. */
static void test_chi_square(void **state)
{
    (void)state;
    enum { LEAVES = 200, DRAWS = 1000000 };
    struct rl_sumtree t = make(LEAVES);
    struct rl_rng rng;
    uint32_t *count = calloc(LEAVES, sizeof *count);

    rl_rng_seed(&rng, 11, 0);
    for (uint32_t i = 0; i < LEAVES; i++)
        rl_sumtree_set(&t, i, pow(0.05 + rl_rng_unit(&rng), 2));
    for (uint32_t i = 0; i < DRAWS; i++)
        count[rl_sumtree_find(&t, rl_rng_unit(&rng) * rl_sumtree_total(&t))]++;
    double x = 0, k = LEAVES - 1;
    for (uint32_t i = 0; i < LEAVES; i++) {
        double expected = DRAWS * rl_sumtree_get(&t, i) / rl_sumtree_total(&t);
        x += (count[i] - expected) * (count[i] - expected) / expected;
    }
    double z = (cbrt(x / k) - (1 - 2 / (9 * k))) / sqrt(2 / (9 * k));
    print_message("chi-square %.1f for %.0f degrees of freedom, z %.2f\n", x, k, z);
    assert_true(fabs(z) < 3.09);
    free(count);
    rl_sumtree_release(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_capacity),
        cmocka_unit_test(test_one_value),
        cmocka_unit_test(test_find),
        cmocka_unit_test(test_edges),
        cmocka_unit_test(test_against_running_sums),
        cmocka_unit_test(test_rebuild),
        cmocka_unit_test(test_chi_square),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
