/* Interleaved schedules: one chunk a group is eager 1F1B; equal chunks take what the formula says;
 * never below what the busiest group computes. */
#include "engine/hybrid/interleave.h"
#include "engine/pipeline/simulation.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static uint64_t state = 1;

static double any(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 40) / (1 << 24);
}

static uint32_t below(uint32_t n)
{
    return (uint32_t)(any() * n);
}

/* With one chunk a group it is the eager schedule of simulation.h. */
static void test_one_chunk(void **unused)
{
    (void)unused;
    for (uint32_t round = 0; round < 500; round++) {
        struct pipe_node chunk[8], transfer[8], all[15];
        uint32_t p = 1 + below(8), m = p * (1 + below(4));
        struct interleave x = {p, 1, m, chunk, transfer, NULL};
        struct pipe_options o = {.micro_batches = m};
        for (uint32_t s = 0; s < p; s++) {
            all[2 * s] = chunk[s] = (struct pipe_node){any(), 2 * any(), 0};
            if (s + 1 < p)
                all[2 * s + 1] = transfer[s] = (struct pipe_node){any() / 3, any() / 3, 0};
        }
        double eager = pipe_nodes_makespan(all, 2 * p - 1, &o, PIPE_EAGER);
        assert_true(fabs(interleave_makespan(&x) - eager) <= 1e-9 * eager);
    }
}

/* M t + (p - 1) t / v + R of equal chunks without transfers (arXiv 2104.04473, 2.2). */
static void test_formula(void **unused)
{
    (void)unused;
    for (uint32_t p = 1; p <= 8; p++)
        for (uint32_t v = 1; v <= 4; v++)
            for (uint32_t m = p; m <= 4 * p; m += p) {
                struct pipe_node chunk[32], transfer[32] = {{0}};
                struct interleave x = {p, v, m, chunk, transfer, NULL};
                double f = 1, b = 2, r = 0.5;
                for (uint32_t c = 0; c < p * v; c++)
                    chunk[c] = (struct pipe_node){f, b, r};
                double wanted = m * v * (f + b) + (p - 1) * (f + b) + v * r;
                if (fabs(interleave_makespan(&x) - wanted) > 1e-9 * wanted)
                    fail_msg("p %u v %u M %u: %g, the formula has %g", p, v, m,
                             interleave_makespan(&x), wanted);
                assert_true(interleave_in_flight(&x, 0) <= m * v);
                assert_int_equal(interleave_in_flight(&x, p - 1),
                                 (v - 1) * p + 1 < m * v ? (v - 1) * p + 1 : m * v);
            }
}

static void test_not_a_multiple(void **unused)
{
    struct pipe_node chunk[6] = {{1, 1, 0}, {1, 1, 0}, {1, 1, 0}, {1, 1, 0}, {1, 1, 0}, {1, 1, 0}};
    struct pipe_node transfer[6] = {{0}};
    struct interleave x = {3, 2, 4, chunk, transfer, NULL};

    (void)unused;
    assert_true(interleave_makespan(&x) == INFINITY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_one_chunk),
                                       cmocka_unit_test(test_formula),
                                       cmocka_unit_test(test_not_a_multiple)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
