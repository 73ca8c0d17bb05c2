/* The control games step for step against transitions recorded from Gymnasium (tests/ref/rl), and
 * bsuite's tasks against their rules. */
#include "rl/games.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct play {
    const struct rl_game *game;
    union {
        struct rl_cartpole cartpole;
        struct rl_acrobot acrobot;
        struct rl_mountaincar mountaincar;
        unsigned char bytes[RL_GAME_SIZE_MAX];
    } memory;
    struct rl_env env;
    int steps, ended[3];
};

static int read_numbers(const char *text, double *out, int most)
{
    int n = 0;

    for (char *end; n < most; n++, text = end) {
        out[n] = strtod(text, &end);
        if (end == text)
            break;
    }
    return n;
}

/* Keeps the number of steps. */
static void set_state(struct play *p, const double *v)
{
    if (!strcmp(p->game->name, "cartpole"))
        p->memory.cartpole = (struct rl_cartpole){v[0], v[1], v[2], v[3], p->memory.cartpole.steps};
    else if (!strcmp(p->game->name, "acrobot"))
        p->memory.acrobot =
            (struct rl_acrobot){{v[0], v[1]}, {v[2], v[3]}, p->memory.acrobot.steps};
    else
        p->memory.mountaincar = (struct rl_mountaincar){v[0], v[1], p->memory.mountaincar.steps};
}

/* v: action, reward, terminated, truncated, observation. */
static void compare_step(struct play *p, const double *v, int count)
{
    struct rl_rng unused = {{1, 2, 3, 4}};
    float seen[16];
    struct rl_outcome o = p->env.step(p->env.self, (uint32_t)v[0], &unused);
    enum rl_end end = v[2] > 0 ? RL_TERMINATED : v[3] > 0 ? RL_TRUNCATED : RL_GOES_ON;

    assert_int_equal(count, 4 + (int)p->env.observation_size);
    assert_true((double)o.reward == v[1]);
    assert_int_equal(o.end, end);
    p->env.observe(p->env.self, seen);
    for (uint32_t i = 0; i < p->env.observation_size; i++) {
        double off = fabs((double)seen[i] - v[4 + i]);
        if (off > 1e-6 * fmax(1, fabs(v[4 + i])))
            fail_msg("%s step %d: observation %u is %.9g, not %.9g", p->game->name, p->steps, i,
                     (double)seen[i], v[4 + i]);
    }
    p->steps++;
    p->ended[end]++;
}

static void test_gymnasium(void **state)
{
    (void)state;
    FILE *f = fopen(AUTOMAP_SOURCE_DIR "/tests/ref/rl/gymnasium.txt", "r");
    struct play p = {.game = NULL};
    char line[512];
    double v[16];
    int steps = 0, games = 0;

    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = 0;
        if (line[0] == 'G') {
            assert_true(!games || (p.ended[RL_TERMINATED] && p.ended[RL_TRUNCATED]));
            p = (struct play){.game = rl_game(line + 2)};
            assert_non_null(p.game);
            games++;
        } else if (line[0] == 'R' || line[0] == 'Y') {
            assert_true(read_numbers(line + 1, v, 16) >= 2);
            if (line[0] == 'R')
                p.game->begin(&p.memory, 0, &p.env);
            set_state(&p, v);
        } else if (line[0] == 'S') {
            compare_step(&p, v, read_numbers(line + 1, v, 16));
            steps++;
        }
    }
    fclose(f);
    print_message("%d games, %d steps\n", games, steps);
    assert_int_equal(games, 3);
    assert_true(steps >= 2000);
}

static void test_catch(void **state)
{
    (void)state;
    unsigned char memory[RL_GAME_SIZE_MAX] __attribute__((aligned(16)));
    struct rl_env env;
    struct rl_rng rng;
    float board[50];
    int column[5] = {0};

    rl_rng_seed(&rng, 1, 0);
    rl_catch_begin(memory, 0, &env);
    for (int episode = 0; episode < 500; episode++) {
        env.reset(env.self, &rng);
        env.observe(env.self, board);
        int ball = 0, steps = 0, paddle = 2;
        while (board[ball] == 0)
            ball++;
        assert_true(ball < 5 && board[45 + 2] == 1); /* on the top row; the paddle in the middle */
        column[ball]++;
        struct rl_outcome o = {.end = RL_GOES_ON};
        int goal = episode % 2 ? ball : (ball + 1) % 5;
        while (o.end == RL_GOES_ON) {
            assert_true(steps == 0 || o.reward == 0);
            uint32_t action = paddle < goal ? 2 : paddle > goal ? 0 : 1;
            paddle += (int)action - 1;
            o = env.step(env.self, action, &rng);
            steps++;
        }
        assert_int_equal(steps, 9);
        assert_int_equal(o.end, RL_TERMINATED);
        assert_true(o.reward == (episode % 2 ? 1 : -1));
    }
    for (int i = 0; i < 5; i++)
        assert_true(column[i] > 60); /* 100 expected, 5 standard deviations are 45 */
}

static void test_bandit(void **state)
{
    (void)state;
    unsigned char memory[RL_GAME_SIZE_MAX] __attribute__((aligned(16)));
    struct rl_env env;
    struct rl_rng rng = {{1, 2, 3, 4}};
    for (uint32_t variant = 0; variant < 20; variant++) {
        bool seen[11] = {0};
        rl_bandit_begin(memory, variant, &env);
        for (uint32_t a = 0; a < 11; a++) {
            env.reset(env.self, &rng);
            struct rl_outcome o = env.step(env.self, a, &rng);
            int tenth = (int)lround((double)o.reward * 10);
            assert_int_equal(o.end, RL_TERMINATED);
            assert_true(tenth >= 0 && tenth <= 10 && !seen[tenth]);
            seen[tenth] = true;
        }
    }
}

static void test_chain(void **state)
{
    (void)state;
    static const int pays_at[] = {1, 3, 10, 30, 100};
    unsigned char memory[RL_GAME_SIZE_MAX] __attribute__((aligned(16)));
    struct rl_env env;
    struct rl_rng rng = {{1, 2, 3, 4}};
    float seen[2];
    for (uint32_t first = 0; first < 5; first++) {
        rl_chain_begin(memory, 7, &env); /* 7 mod 5: chain 2 has the bonus */
        env.reset(env.self, &rng);
        env.observe(env.self, seen);
        assert_true(seen[0] == -1 && seen[1] == 0);
        for (int t = 1; t <= 100; t++) {
            struct rl_outcome o = env.step(env.self, t == 1 ? first : (uint32_t)t % 5, &rng);
            float due = t == pays_at[first] ? (first == 2 ? 1.1f : 1) : 0;
            assert_true(o.reward == due);
            assert_int_equal(o.end, t == 100 ? RL_TERMINATED : RL_GOES_ON);
            env.observe(env.self, seen);
            assert_true(seen[0] == (float)first && seen[1] == (float)t / 100);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gymnasium),
        cmocka_unit_test(test_catch),
        cmocka_unit_test(test_bandit),
        cmocka_unit_test(test_chain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
