/* More actions than a word has bits: sets against an array of flags, one update against numpy
 * (tests/ref/rl/actions.json), choice, replay and a saved learner. */
#include "rl/action_set.h"
#include "rl/env.h"
#include "rl/learner.h"
#include "rl/rl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cJSON.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OBSERVATION = 5, HIDDEN = 7, BATCH = 6, WORDS = RL_WORDS_MAX };

/* The formulas of make_actions.py. */
static bool is_legal(uint32_t a, uint32_t row, uint32_t more)
{
    return (a * 7 + row * 3 + more) % 5 < 2;
}

static void wave(float *out, size_t count, double step, double shift)
{
    for (size_t k = 0; k < count; k++)
        out[k] = (float)sin((double)k * step + shift);
}

static void put_legal(uint64_t *set, uint32_t actions, uint32_t row, uint32_t more)
{
    memset(set, 0, rl_words(actions) * sizeof *set);
    for (uint32_t a = 0; a < actions; a++) {
        if (is_legal(a, row, more))
            rl_put(set, a);
    }
}

/* Every function on sets, against flags, at sizes around the ends of words. */
static void test_sets(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {2, 63, 64, 65, 127, 128, 129, 160, 1000, RL_ACTIONS_MAX};
    uint64_t set[WORDS], all[WORDS];

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint32_t n = sizes[i], count = 0;
        memset(set, 0xff, sizeof set);
        assert_int_equal(rl_words(n), (n + 63) / 64);
        assert_int_equal(rl_is_of(set, n), n % 64 == 0);
        rl_keep_actions(set, n);
        rl_put_all(all, n);
        assert_true(rl_is_of(all, n));
        assert_memory_equal(set, all, rl_words(n) * sizeof *set);
        assert_int_equal(rl_count(all, n), n);
        put_legal(set, n, 1, 0);
        for (uint32_t a = 0; a < n; a++) {
            assert_int_equal(rl_has(set, a), is_legal(a, 1, 0));
            if (is_legal(a, 1, 0))
                assert_int_equal(rl_nth(set, count++), a);
        }
        assert_int_equal(rl_count(set, n), count);
    }
}

static void set_network(const struct rl_net *n, float *p, double shift)
{
    wave(p + n->weight[0], (size_t)HIDDEN * OBSERVATION, 0.37, shift);
    wave(p + n->bias[0], HIDDEN, 0.51, shift);
    wave(p + n->weight[1], ((size_t)n->actions + 1) * HIDDEN, 0.73, shift);
    wave(p + n->bias[1], (size_t)n->actions + 1, 0.91, shift);
}

static double number(const cJSON *object, const char *name)
{
    return cJSON_GetObjectItem(object, name)->valuedouble;
}

static bool near(double value, double expected)
{
    return fabs(value - expected) < 2e-5 * fmax(1, fabs(expected));
}

/* What a row's Q and its next action should be. */
static void expect_row(struct rl_learner *l, const struct rl_batch *b, uint32_t i, const cJSON *row)
{
    uint32_t n = l->net.actions;
    float q[RL_ACTIONS_MAX];
    double sum = 0;

    rl_learner_q(l, b->rows + (size_t)i * OBSERVATION, rl_set(b->legal, i, n), q);
    for (uint32_t a = 0; a < n; a++)
        sum += (double)q[a];
    assert_true(near(sum, number(row, "sum")));
    assert_true(near((double)q[b->action[i]], number(row, "q")));
    const uint64_t *next = rl_set(b->next_legal, i, n);
    rl_learner_q(l, b->rows + ((size_t)BATCH + i) * OBSERVATION, next, q);
    assert_int_equal(rl_net_argmax(q, n, next), (uint32_t)number(row, "next"));
}

static void fill_batch(struct rl_batch *b, uint32_t actions)
{
    wave(b->rows, (size_t)BATCH * OBSERVATION, 0.29, 0.2);
    wave(b->rows + (size_t)BATCH * OBSERVATION, (size_t)BATCH * OBSERVATION, 0.43, 0.2);
    for (uint32_t r = 0; r < BATCH; r++) {
        uint64_t *next = b->next_legal + (size_t)r * rl_words(actions);
        b->action[r] = (r * 67 + 5) % actions;
        b->reward[r] = (float)(0.25 * r);
        b->discount[r] = r == 5 ? 0 : 0.6f;
        b->weight[r] = 1;
        put_legal(b->legal + (size_t)r * rl_words(actions), actions, r, 0);
        rl_put(b->legal + (size_t)r * rl_words(actions), b->action[r]);
        put_legal(next, actions, r, 1);
        if (r == 4) {
            memset(next, 0, rl_words(actions) * sizeof *next);
            rl_put(next, actions - 1);
        }
    }
}

static double project(const struct rl_net *n, const float *gradient)
{
    double sum = 0;
    size_t at = 0;

    for (uint32_t l = 0; l < 2; l++) {
        size_t rows = n->width[l + 1], weights = rows * n->width[l];
        for (size_t k = 0; k < weights; k++)
            sum += (double)gradient[n->weight[l] + k] * cos((double)at++);
        for (size_t k = 0; k < rows; k++)
            sum += (double)gradient[n->bias[l] + k] * cos((double)at++);
    }
    return sum;
}

static void check_update(const cJSON *is)
{
    uint32_t actions = (uint32_t)number(is, "actions"), row_number = 0;
    struct rl_settings s = *rl_preset("paper-opp");
    struct rl_learner l;
    struct rl_rng rng;
    struct rl_update u;
    static float rows[2 * BATCH * OBSERVATION];
    uint32_t slot[BATCH] = {0}, action[BATCH];
    uint64_t legal[BATCH * WORDS], next_legal[BATCH * WORDS];
    float reward[BATCH], discount[BATCH], weight[BATCH], bound[BATCH] = {0};
    struct rl_batch b = {BATCH,      rows,   slot,     action, legal,
                         next_legal, reward, discount, weight, bound};
    const cJSON *row;

    s.hidden[0] = HIDDEN;
    s.hidden[1] = 0;
    s.batch = BATCH;
    s.clip = false;
    s.dueling = cJSON_IsTrue(cJSON_GetObjectItem(is, "dueling"));
    rl_rng_seed(&rng, 1, 0);
    assert_int_equal(rl_learner_init(&l, OBSERVATION, actions, &s, &rng), 0);
    set_network(&l.net, l.online, 0.1);
    set_network(&l.net, l.target, 0.7);
    fill_batch(&b, actions);
    cJSON_ArrayForEach(row, cJSON_GetObjectItem(is, "rows")) expect_row(&l, &b, row_number++, row);
    assert_int_equal(rl_learner_update(&l, &s, &b, &u), 0);
    row_number = 0;
    cJSON_ArrayForEach(row, cJSON_GetObjectItem(is, "rows"))
        assert_true(near((double)l.error[row_number++], number(row, "error")));
    assert_true(near(u.loss, number(is, "loss")));
    assert_true(near(u.gradient_norm, number(is, "norm")));
    assert_true(near(project(&l.net, l.gradient), number(is, "projection")));
    rl_learner_release(&l);
}

static void test_update_against_numpy(void **state)
{
    (void)state;
    static char text[1 << 16];
    const cJSON *one;
    FILE *f = fopen("tests/ref/rl/actions.json", "rb");
    assert_non_null(f);
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    cJSON *all = cJSON_Parse(text);
    assert_int_equal(cJSON_GetArraySize(all), 8);
    cJSON_ArrayForEach(one, all) check_update(one);
    cJSON_Delete(all);
}

/* A game of one decision over 160 actions: the legal one of largest number pays. */
enum { ACTIONS = 160 };
struct pick {
    uint32_t round;
};

static void pick_reset(void *self, struct rl_rng *rng)
{
    ((struct pick *)self)->round = rl_rng_below(rng, 5);
}

static void pick_legal(void *self, uint64_t *out)
{
    put_legal(out, ACTIONS, ((struct pick *)self)->round, 0);
}

static uint32_t last_legal(uint32_t round)
{
    uint32_t a = ACTIONS - 1;

    while (!is_legal(a, round, 0))
        a--;
    return a;
}

static struct rl_outcome pick_step(void *self, uint32_t action, struct rl_rng *rng)
{
    uint32_t round = ((struct pick *)self)->round;

    (void)rng;
    assert_true(is_legal(action, round, 0));
    return (struct rl_outcome){action == last_legal(round) ? 1 : 0, RL_TERMINATED};
}

static void pick_observe(void *self, float *out)
{
    for (uint32_t k = 0; k < 5; k++)
        out[k] = ((struct pick *)self)->round == k ? 1 : 0;
}

static struct rl_env pick_env(struct pick *p)
{
    return (struct rl_env){.self = p,
                           .observation_size = 5,
                           .action_count = ACTIONS,
                           .reset = pick_reset,
                           .step = pick_step,
                           .observe = pick_observe,
                           .legal = pick_legal,
                           .state = p,
                           .state_size = sizeof *p};
}

/* Only legal actions are played, by lot all of them, and what pays is learned; replay has every
 * word; a saved run goes on to the same bits. */
static void test_play(void **state)
{
    (void)state;
    struct pick memory = {0}, other = {0};
    struct rl_env env = pick_env(&memory), again = pick_env(&other);
    struct rl_settings s = *rl_preset("probe");
    struct rl_run run, back;
    struct rl_step step, same;
    struct rl_bytes bytes;
    uint32_t seen[ACTIONS] = {0}, right = 0;
    s.learning_rate = 2e-3;
    assert_int_equal(rl_run_new(&run, &env, &s, 1), 0);
    rl_agent_hold_epsilon(run.agent, 1);
    for (int k = 0; k < 12000; k++) {
        assert_int_equal(rl_run_step(&run, -1, &step), 0);
        seen[step.action]++;
    }
    for (uint32_t a = 0; a < ACTIONS; a++)
        assert_true(seen[a] > 0);
    const struct rl_replay *r = rl_agent_replay(run.agent);
    assert_int_equal(r->words, 3);
    for (uint32_t k = 0; k < r->count; k++) {
        const uint64_t *legal = rl_set(r->legal, k, ACTIONS);
        assert_true(rl_has(legal, r->action[k]) && rl_count(legal, ACTIONS) == 64);
        assert_int_equal(rl_count(rl_set(r->next_legal, k, ACTIONS), ACTIONS), 0);
    }
    rl_agent_hold_epsilon(run.agent, 0);
    for (int k = 0; k < 100; k++) {
        assert_int_equal(rl_run_step(&run, -1, &step), 0);
        right += step.reward > 0;
    }
    assert_int_equal(right, 100);
    assert_int_equal(rl_run_save(&run, &bytes), 0);
    back = (struct rl_run){0};
    assert_int_equal(rl_run_new(&back, &again, &s, 2), 0);
    rl_agent_free(back.agent);
    assert_int_equal(rl_run_load(&back, bytes.data, bytes.size), 0);
    rl_bytes_release(&bytes);
    rl_agent_hold_epsilon(run.agent, 0.5);
    rl_agent_hold_epsilon(back.agent, 0.5);
    for (int k = 0; k < 50; k++) {
        assert_int_equal(rl_run_step(&run, -1, &step), 0);
        assert_int_equal(rl_run_step(&back, -1, &same), 0);
        assert_int_equal(step.action, same.action);
        assert_true(step.update.loss == same.update.loss);
    }
    rl_run_free(&run);
    rl_run_free(&back);
}

/* Both sets of a decision come back from a file, all words of them. */
static void test_saved_sets(void **state)
{
    (void)state;
    const struct rl_shape shape = {2, ACTIONS, 0};
    struct rl_agent *a, *back;
    struct rl_bytes bytes;
    const float seen[2] = {0};
    uint64_t legal[3], next[3];
    assert_int_equal(rl_agent_new(&a, &shape, rl_preset("probe"), 1), 0);
    for (uint32_t k = 0; k < 20; k++) {
        put_legal(legal, ACTIONS, k, 0);
        put_legal(next, ACTIONS, k, 1);
        struct rl_decision d = {seen, seen, legal, next, last_legal(k), 1, RL_GOES_ON};
        assert_true(rl_agent_learn(a, &d, 0, NULL) >= 0);
    }
    assert_int_equal(rl_agent_save(a, &bytes), 0);
    assert_int_equal(rl_agent_load(&back, bytes.data, bytes.size), 0);
    rl_bytes_release(&bytes);
    for (uint32_t k = 0; k < 20; k++) {
        put_legal(legal, ACTIONS, k, 0);
        put_legal(next, ACTIONS, k, 1);
        assert_memory_equal(rl_set(rl_agent_replay(back)->legal, k, ACTIONS), legal, sizeof legal);
        assert_memory_equal(rl_set(rl_agent_replay(back)->next_legal, k, ACTIONS), next,
                            sizeof next);
    }
    rl_agent_free(a);
    rl_agent_free(back);
}

/* What is no action is refused, in any word. */
static void test_unsound(void **state)
{
    (void)state;
    const struct rl_shape shape = {2, 130, 0};
    struct rl_agent *a;
    const float seen[2] = {0};
    uint64_t legal[WORDS], wrong[WORDS];
    assert_int_equal(rl_agent_new(&a, &shape, rl_preset("probe"), 1), 0);
    rl_put_all(legal, 130);
    memcpy(wrong, legal, sizeof wrong);
    rl_put(wrong, 130);
    struct rl_decision d = {seen, seen, legal, legal, 129, 1, RL_GOES_ON};
    assert_true(rl_agent_learn(a, &d, 0, NULL) >= 0);
    d.action = 130;
    assert_int_equal(rl_agent_learn(a, &d, 0, NULL), RL_E_SHAPE);
    d.action = 129;
    d.legal = wrong;
    assert_int_equal(rl_agent_learn(a, &d, 0, NULL), RL_E_SHAPE);
    d.legal = legal;
    d.next_legal = wrong;
    assert_int_equal(rl_agent_learn(a, &d, 0, NULL), RL_E_SHAPE);
    d.next_legal = legal;
    memcpy(wrong, legal, sizeof wrong);
    wrong[2] = 1; /* 129 is out */
    d.legal = wrong;
    assert_int_equal(rl_agent_learn(a, &d, 0, NULL), RL_E_SHAPE);
    const struct rl_shape many = {2, RL_ACTIONS_MAX + 1, 0};
    struct rl_agent *none;
    assert_int_equal(rl_agent_new(&none, &many, rl_preset("probe"), 1), RL_E_SHAPE);
    rl_agent_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sets),    cmocka_unit_test(test_update_against_numpy),
        cmocka_unit_test(test_play),    cmocka_unit_test(test_saved_sets),
        cmocka_unit_test(test_unsound),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
