/* CartPole-v1 in a second a seed: 50,000 decisions with double, n = 3 and prioritized replay.
 * Random play earns about 22; what is asked here is far from that and short of the 475 of
 * rl_cartpole_slow, which takes ten times as many decisions. */
#include "rl/games.h"
#include "rl/run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { SEEDS = 3, DECISIONS = 50000, TRIALS = 20 };

static struct rl_settings quick(void)
{
    struct rl_settings s = *rl_preset("cartpole-rainbow");

    s.hidden[0] = s.hidden[1] = 64;
    s.batch = 64;
    s.learn_start = 1000;
    s.train_every = 4;
    s.learning_rate = 5e-4;
    s.epsilon_steps = 20000;
    return s;
}

/* Mean reward of greedy episodes after training; before it for 0 decisions. */
static double greedy_after(uint32_t decisions, uint64_t seed)
{
    struct rl_cartpole memory, trial_memory;
    struct rl_env env, trial;
    struct rl_agent *a;
    struct rl_run run;
    struct rl_step step;
    struct rl_rng rng;
    struct rl_settings s = quick();
    struct rl_shape shape = {4, 2, 0};
    double sum = 0, reward;

    rl_cartpole_begin(&memory, 0, &env);
    rl_cartpole_begin(&trial_memory, 0, &trial);
    assert_int_equal(rl_agent_new(&a, &shape, &s, seed), 0);
    assert_int_equal(rl_run_init(&run, &env, a, seed), 0);
    for (uint32_t i = 0; i < decisions; i++)
        assert_int_equal(rl_run_step(&run, -1, &step), 0);
    rl_rng_seed(&rng, seed, 99);
    for (int i = 0; i < TRIALS; i++) {
        assert_int_equal(rl_run_trial(a, &trial, 0, &rng, &reward), 0);
        sum += reward;
    }
    rl_run_release(&run);
    rl_agent_free(a);
    return sum / TRIALS;
}

static void test_learns(void **state)
{
    (void)state;
    double sum = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        double before = greedy_after(0, seed), after = greedy_after(DECISIONS, seed);
        print_message("seed %d: greedy %.1f before, %.1f after\n", (int)seed, before, after);
        assert_true(before < 100 && after > 150);
        sum += after;
    }
    assert_true(sum / SEEDS >= 350);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_learns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
