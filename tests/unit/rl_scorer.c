/* The scorer: its output and the gradient of its listwise loss against a reference in double,
 * written out here, with features as they come and standardised; learning a rule of two features;
 * a loss that is not finite; shapes and damaged bytes. */
#include "rl/scorer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Whole and part tiles, more rows than one block. */
enum { F = 3, W = 13, ROWS = 110, PARAMETERS = 256 };

static double reference_score(const double *w, const float *x)
{
    const double *b1 = w + F * W, *w2 = b1 + W, *b2 = w2 + W * W, *w3 = b2 + W;
    double h1[W], h2[W], score = w3[W];

    for (int j = 0; j < W; j++) {
        h1[j] = b1[j];
        for (int i = 0; i < F; i++)
            h1[j] += (double)x[i] * w[i * W + j];
        h1[j] = h1[j] > 0 ? h1[j] : 0;
    }
    for (int j = 0; j < W; j++) {
        h2[j] = b2[j];
        for (int i = 0; i < W; i++)
            h2[j] += h1[i] * w2[i * W + j];
        score += w3[j] * (h2[j] > 0 ? h2[j] : 0);
    }
    return score;
}

static double reference_loss(const double *w, const struct rl_groups *g, double temperature)
{
    double loss = 0;

    for (uint32_t k = 0; k < g->count; k++) {
        double sum = 0, wanted = 0, score[ROWS];
        for (uint32_t n = g->first[k]; n < g->first[k + 1]; n++) {
            score[n] = reference_score(w, g->rows + n * F);
            sum += exp(score[n]);
            wanted += exp(-(double)g->gap[n] / temperature);
        }
        for (uint32_t n = g->first[k]; n < g->first[k + 1]; n++)
            loss -=
                exp(-(double)g->gap[n] / temperature) / wanted * (score[n] - log(sum)) / g->count;
    }
    return loss;
}

static void test_gradient(void **state)
{
    (void)state;
    struct rl_scorer s;
    struct rl_rng rng;
    float rows[ROWS * F], gap[ROWS], gradient[PARAMETERS];
    double w[PARAMETERS];
    const uint32_t first[] = {0, 61, 110};
    rl_rng_seed(&rng, 1, 0);
    assert_int_equal(rl_scorer_new(&s, F, W, &rng), 0);
    assert_true(s.parameters <= PARAMETERS);
    for (int i = 0; i < ROWS * F; i++)
        rows[i] = (float)(2 * rl_rng_unit(&rng) - 1);
    for (int i = 0; i < ROWS; i++)
        gap[i] = i % 4 == 0 ? 0 : (float)(0.3 * rl_rng_unit(&rng));
    struct rl_groups g = {rows, gap, first, 2};
    for (uint32_t i = 0; i < s.parameters; i++)
        w[i] = (double)s.weight[i];
    float out[ROWS];
    rl_scorer_score(&s, rows, ROWS, out);
    for (int n = 0; n < ROWS; n++)
        assert_true(fabs((double)out[n] - reference_score(w, rows + n * F)) < 1e-6);
    assert_true(fabs(rl_scorer_loss(&s, &g, 0.1, gradient) - reference_loss(w, &g, 0.1)) < 1e-5);
    for (uint32_t i = 0; i < s.parameters; i++) {
        double was = w[i], step = 1e-5;
        w[i] = was + step;
        double up = reference_loss(w, &g, 0.1);
        w[i] = was - step;
        double slope = (up - reference_loss(w, &g, 0.1)) / (2 * step);
        w[i] = was;
        assert_true(fabs(slope - (double)gradient[i]) < 1e-4 * (1 + fabs(slope)));
    }
    rl_scorer_free(&s);
}

/* The best of a group is the row with the largest first minus second feature. */
static void test_learns(void **state)
{
    (void)state;
    struct rl_scorer s;
    struct rl_scorer_adam adam;
    struct rl_rng rng;
    double loss = 0;
    int right = 0;
    rl_rng_seed(&rng, 2, 0);
    assert_int_equal(rl_scorer_new(&s, F, 16, &rng), 0);
    assert_int_equal(rl_scorer_adam_new(&adam, &s), 0);
    for (int n = 0; n < 1200; n++) {
        float rows[8 * F], gap[8], out[8], most = -9;
        const uint32_t first[] = {0, 8};
        for (int i = 0; i < 8 * F; i++)
            rows[i] = (float)(2 * rl_rng_unit(&rng) - 1);
        for (int i = 0; i < 8; i++)
            most = fmaxf(most, rows[i * F] - rows[i * F + 1]);
        for (int i = 0; i < 8; i++)
            gap[i] = most - (rows[i * F] - rows[i * F + 1]);
        rl_scorer_score(&s, rows, 8, out);
        int best = 0;
        for (int i = 1; i < 8; i++)
            best = out[i] > out[best] ? i : best;
        right += n >= 1000 && gap[best] < 0.05f;
        struct rl_groups g = {rows, gap, first, 1};
        assert_int_equal(rl_scorer_learn(&s, &adam, &g, 0.1, 3e-3, &loss), 0);
    }
    assert_true(right > 170);
    rl_scorer_adam_free(&adam);
    rl_scorer_free(&s);
}

/* Features of other sizes are seen with mean 0 and deviation 1. */
static void test_standardised(void **state)
{
    (void)state;
    struct rl_scorer s;
    struct rl_rng rng;
    float rows[ROWS * F], seen[ROWS * F], out[ROWS];
    double w[PARAMETERS];
    rl_rng_seed(&rng, 3, 0);
    assert_int_equal(rl_scorer_new(&s, F, W, &rng), 0);
    for (int i = 0; i < ROWS * F; i++)
        rows[i] = (float)((i % F + 1) * (2 * rl_rng_unit(&rng) + 5));
    for (uint32_t i = 0; i < s.parameters; i++)
        w[i] = (double)s.weight[i];
    for (int i = 0; i < F; i++) {
        double sum = 0, square = 0;
        for (int n = 0; n < ROWS; n++) {
            sum += (double)rows[n * F + i];
            square += pow((double)rows[n * F + i], 2);
        }
        double mean = sum / ROWS, deviation = sqrt(square / ROWS - mean * mean);
        for (int n = 0; n < ROWS; n++)
            seen[n * F + i] = (float)(((double)rows[n * F + i] - mean) / (deviation + 1e-3));
    }
    rl_scorer_standardise(&s, rows, ROWS);
    rl_scorer_score(&s, rows, ROWS, out);
    for (int n = 0; n < ROWS; n++)
        assert_true(fabs((double)out[n] - reference_score(w, seen + n * F)) < 1e-5);
    rl_scorer_free(&s);
}

/* Rows that are not numbers teach nothing: the weights stay. */
static void test_not_finite(void **state)
{
    (void)state;
    struct rl_scorer s;
    struct rl_scorer_adam adam;
    struct rl_rng rng;
    float rows[2 * F] = {1, 2, 3, 4, 5, NAN}, gap[2] = {0, 1}, before[PARAMETERS];
    double loss;
    struct rl_groups g = {rows, gap, (const uint32_t[]){0, 2}, 1};
    rl_rng_seed(&rng, 4, 0);
    assert_int_equal(rl_scorer_new(&s, F, W, &rng), 0);
    assert_int_equal(rl_scorer_adam_new(&adam, &s), 0);
    memcpy(before, s.weight, s.parameters * sizeof *before);
    assert_int_equal(rl_scorer_learn(&s, &adam, &g, 0.1, 3e-3, &loss), RL_E_DIVERGED);
    assert_memory_equal(before, s.weight, s.parameters * sizeof *before);
    rl_scorer_adam_free(&adam);
    rl_scorer_free(&s);
}

static void test_shapes(void **state)
{
    (void)state;
    struct rl_scorer s, back = {0};
    struct rl_rng rng;
    struct rl_bytes bytes;
    struct rl_serializer measure = {.pass = RL_MEASURE}, w;
    rl_rng_seed(&rng, 2, 0);
    assert_int_equal(rl_scorer_new(&s, 0, 8, &rng), RL_E_SHAPE);
    assert_int_equal(rl_scorer_new(&s, 8, 129, &rng), RL_E_SHAPE);
    assert_int_equal(rl_scorer_new(&s, 4, 8, &rng), 0);
    s.weight[7] = NAN;
    rl_scorer_serialize(&measure, &s);
    assert_int_equal(rl_bytes_open(&bytes, measure.at, &w), 0);
    rl_scorer_serialize(&w, &s);
    rl_bytes_seal(&bytes, 99);
    assert_int_equal(rl_bytes_check(bytes.data, bytes.size, 99, &w), 0);
    rl_scorer_serialize(&w, &back);
    assert_true(w.failed);
    rl_scorer_free(&back);
    rl_scorer_free(&s);
    rl_bytes_release(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradient),   cmocka_unit_test(test_standardised),
        cmocka_unit_test(test_not_finite), cmocka_unit_test(test_learns),
        cmocka_unit_test(test_shapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
