/* Acrobot-v1 and MountainCar-v0, mean return of the last 100 training episodes. CleanRL publishes
 * (docs/rl-algorithms/dqn.md, 500,000 decisions, three seeds) -91.54 +- 7.20 and -194.95 +- 8.48 in
 * PyTorch, -88.89 +- 1.56 and -188.90 +- 11.78 in JAX. By its recipe MountainCar is hardly learned,
 * there and here; that of RL Baselines3 Zoo learns it in 120,000, here with 64-64 instead of
 * 256-256 for a sixth of the time, and must be better than both means. What its best actions alone
 * earn at the end is told and not held to a bar: at that rate one update may spoil them, and the
 * next mend them. */
#include "rl/games.h"
#include "rl/rng.h"
#include "rl/run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

enum { LAST = 100 };

struct task {
    const char *game, *preset;
    uint32_t decisions, seeds, width; /* of both hidden layers; 0: the preset's */
};

static double play_greedily(struct rl_agent *a, const struct rl_env *env, uint64_t seed)
{
    struct rl_rng rng;
    double sum = 0, reward;

    rl_rng_seed(&rng, seed, 99);
    for (int n = 0; n < LAST; n++) {
        assert_int_equal(rl_run_trial(a, env, 0, &rng, &reward), 0);
        sum += reward;
    }
    return sum / LAST;
}

static double train(const struct task *t, uint64_t seed, double *greedy)
{
    const struct rl_game *game = rl_game(t->game);
    struct rl_settings settings = *rl_preset(t->preset);
    struct rl_env env;
    struct rl_agent *a;
    struct rl_run run;
    struct rl_step step;
    double value[LAST] = {0}, sum = 0;
    uint64_t episodes = 0;
    void *memory = malloc(RL_GAME_SIZE_MAX);

    assert_non_null(memory);
    game->begin(memory, game->variant, &env);
    struct rl_shape shape = {env.observation_size, env.action_count, 0};
    if (t->width)
        settings.hidden[0] = settings.hidden[1] = t->width;
    assert_int_equal(rl_agent_new(&a, &shape, &settings, seed), 0);
    assert_int_equal(rl_run_init(&run, &env, a, seed), 0);
    for (uint64_t i = 0; i < t->decisions; i++) {
        assert_int_equal(rl_run_step(&run, -1, &step), 0);
        if (step.end == RL_GOES_ON)
            continue;
        double *slot = &value[episodes++ % LAST];
        sum += step.reward_sum - *slot;
        *slot = step.reward_sum;
    }
    assert_true(episodes >= LAST);
    rl_run_cut(&run);
    *greedy = play_greedily(a, &env, seed);
    rl_run_release(&run);
    rl_agent_free(a);
    free(memory);
    return sum / LAST;
}

static void check(const struct task *t, double bar)
{
    double sum = 0, squares = 0;

    for (uint64_t seed = 1; seed <= t->seeds; seed++) {
        double greedy, last = train(t, seed, &greedy);
        print_message("%s seed %d: last 100 %.1f, greedy %.1f\n", t->game, (int)seed, last, greedy);
        sum += last;
        squares += last * last;
    }
    double mean = sum / t->seeds, spread = sqrt(fmax(0, squares / t->seeds - mean * mean));
    print_message("%s: mean %.1f, standard deviation %.1f\n", t->game, mean, spread);
    assert_true(mean >= bar);
}

static void test_acrobot(void **state)
{
    (void)state;
    check(&(struct task){"acrobot", "cartpole", 500000, 5, 0}, -91.54 - 2 * 7.20);
}

/* Random play never arrives: -200. */
static void test_mountaincar(void **state)
{
    (void)state;
    check(&(struct task){"mountaincar", "mountaincar", 120000, 3, 64}, -188.90);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_acrobot),
        cmocka_unit_test(test_mountaincar),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
