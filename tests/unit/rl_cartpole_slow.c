/* CartPole-v1 by CleanRL's recipe (vwxyzjn/cleanrl docs/rl-algorithms/dqn.md: 488.69 +- 16.11 and
 * 498.38 +- 2.29): 500,000 decisions, five seeds, mean return of the last 100 training episodes,
 * whose actions are 5 % random. Then the same with double, n = 3 and prioritized replay. */
#include "rl/games.h"
#include "rl/run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SEEDS = 5, DECISIONS = 500000, LAST = 100 };

struct result {
    double last, greedy;
    uint64_t solved_at; /* decisions until the mean of the last 100 episodes is >= 475; 0: never */
};

/* Mean of the last up to LAST values given to it. */
struct tail {
    double value[LAST], sum;
    uint64_t count;
};

static double tail_add(struct tail *t, double value)
{
    double *slot = &t->value[t->count++ % LAST];

    t->sum += value - *slot;
    *slot = value;
    return t->sum / (double)(t->count < LAST ? t->count : LAST);
}

static double greedy_mean(struct rl_agent *a, uint64_t seed)
{
    struct rl_cartpole memory;
    struct rl_env env;
    struct rl_rng rng;
    double sum = 0, reward;

    rl_cartpole_begin(&memory, 0, &env);
    rl_rng_seed(&rng, seed, 99);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(rl_run_trial(a, &env, 0, &rng, &reward), 0);
        sum += reward;
    }
    return sum / 20;
}

static struct result train(const char *preset, uint64_t seed)
{
    struct rl_cartpole memory;
    struct rl_env env;
    struct rl_agent *a;
    struct rl_run run;
    struct rl_step step;
    struct result result = {0};
    struct tail tail = {.sum = 0};

    rl_cartpole_begin(&memory, 0, &env);
    struct rl_shape shape = {env.observation_size, env.action_count, 0};
    assert_int_equal(rl_agent_new(&a, &shape, rl_preset(preset), seed), 0);
    assert_int_equal(rl_run_init(&run, &env, a, seed), 0);
    for (uint64_t i = 0; i < DECISIONS; i++) {
        assert_int_equal(rl_run_step(&run, -1, &step), 0);
        if (step.end == RL_GOES_ON)
            continue;
        result.last = tail_add(&tail, step.reward_sum);
        if (!result.solved_at && tail.count >= LAST && result.last >= 475)
            result.solved_at = i + 1;
    }
    result.greedy = greedy_mean(a, seed);
    rl_run_release(&run);
    rl_agent_free(a);
    return result;
}

static void check(const char *preset, double mean_bar, double seed_bar)
{
    double sum = 0, squares = 0, least = 1e9;

    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        clock_t start = clock();
        struct result r = train(preset, seed);
        print_message("%s seed %d: last 100 %.1f, greedy %.1f, 475 after %ld, %.0f s\n", preset,
                      (int)seed, r.last, r.greedy, (long)r.solved_at,
                      (double)(clock() - start) / CLOCKS_PER_SEC);
        sum += r.last;
        squares += r.last * r.last;
        least = fmin(least, r.last);
    }
    double mean = sum / SEEDS, spread = sqrt(fmax(0, squares / SEEDS - mean * mean));
    print_message("%s: mean %.1f, standard deviation %.1f, least %.1f\n", preset, mean, spread,
                  least);
    assert_true(mean >= mean_bar);
    assert_true(least >= seed_bar);
}

/* Gymnasium's reward_threshold is 475; CleanRL's band begins at 472. */
static void test_cleanrl_recipe(void **state)
{
    (void)state;
    check("cartpole", 475, 440);
}

/* Not worse than the plain recipe: the same bars. */
static void test_double_nstep_prioritized(void **state)
{
    (void)state;
    check("cartpole-rainbow", 475, 440);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cleanrl_recipe),
        cmocka_unit_test(test_double_nstep_prioritized),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
