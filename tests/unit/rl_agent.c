/* The agent and the run: what is legal, when it explores, when it trains, what may change on the
 * way, what a person is shown and may force. */
#include "rl/games.h"
#include "rl/rl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct rl_agent *make(const struct rl_settings *s, uint32_t actions, uint32_t contexts)
{
    struct rl_agent *a;
    struct rl_shape shape = {3, actions, contexts};

    assert_int_equal(rl_agent_new(&a, &shape, s, 1), 0);
    return a;
}

static struct rl_settings small(void)
{
    struct rl_settings s = *rl_preset("probe");

    s.hidden[0] = 8;
    s.hidden[1] = 0;
    s.batch = 4;
    return s;
}

static const float seen[3] = {0.3f, -0.2f, 0.9f};

static int decide(struct rl_agent *a, uint32_t action, uint64_t legal, enum rl_end end)
{
    struct rl_decision d = {seen, seen, &legal, &legal, action, 0.5f, end};
    struct rl_update u;

    return rl_agent_learn(a, &d, 0, &u);
}

/* Never an illegal action, greedy or random; the random branch is even over the legal ones:
 * chi-square with 4 degrees of freedom, 18.5 is the 0.999 point. */
static void test_choice_is_legal(void **state)
{
    (void)state;
    const uint64_t legal = 0x8000000000000001u | 0x100000 | 0x40 | 0x8;
    struct rl_settings s = small();
    struct rl_agent *a = make(&s, 64, 0);
    int count[64] = {0};
    bool explored;

    rl_agent_hold_epsilon(a, 1);
    for (int i = 0; i < 50000; i++) {
        count[rl_agent_choose(a, seen, &legal, &explored)]++;
        assert_true(explored);
    }
    double x = 0;
    for (int k = 0; k < 64; k++) {
        if (legal >> k & 1)
            x += pow(count[k] - 10000.0, 2) / 10000;
        else
            assert_int_equal(count[k], 0);
    }
    assert_true(x < 18.5);
    rl_agent_hold_epsilon(a, 0);
    for (int k = 0; k < 64; k++) { /* one legal action: that one, whatever Q says */
        assert_int_equal(rl_agent_choose(a, seen, &(uint64_t){(uint64_t)1 << k}, &explored), k);
        assert_false(explored);
    }
    rl_agent_free(a);
}

static void test_greedy_is_the_argmax(void **state)
{
    (void)state;
    struct rl_settings s = small();
    struct rl_agent *a = make(&s, 6, 0);
    float q[6];
    rl_agent_hold_epsilon(a, 0);
    for (uint64_t legal = 1; legal < 64; legal++) {
        uint32_t best = rl_agent_choose(a, seen, &legal, NULL);
        rl_agent_q(a, seen, &legal, q);
        for (uint32_t k = 0; k < 6; k++)
            assert_true(!(legal >> k & 1) || q[k] <= q[best]);
    }
    rl_agent_free(a);
}

static bool is(double value, double expected)
{
    return fabs(value - expected) < 1e-12;
}

static void test_epsilon(void **state)
{
    (void)state;
    struct rl_settings s = *rl_preset("paper-opp");
    struct rl_agent *a = make(&s, 2, 0);
    s.learn_start = 1000000;
    assert_int_equal(rl_agent_configure(a, &s), 0);
    assert_true(is(rl_agent_epsilon(a), 1));
    for (int i = 0; i < 1000; i++)
        assert_int_equal(decide(a, 0, 3, RL_GOES_ON), 0);
    assert_true(is(rl_agent_epsilon(a), 0.55)); /* half way from 1 to 0.1 over 2000 */
    rl_agent_hold_epsilon(a, 0.3);
    assert_true(is(rl_agent_epsilon(a), 0.3));
    rl_agent_hold_epsilon(a, -1);
    assert_int_equal(rl_agent_explore(a, 0.2, 0.1, 100), 0); /* a backtrack */
    assert_true(is(rl_agent_epsilon(a), 0.2));
    for (int i = 0; i < 50; i++)
        assert_int_equal(decide(a, 0, 3, RL_GOES_ON), 0);
    assert_true(is(rl_agent_epsilon(a), 0.15));
    for (int i = 0; i < 200; i++)
        assert_int_equal(decide(a, 0, 3, RL_GOES_ON), 0);
    assert_true(is(rl_agent_epsilon(a), 0.1));
    assert_int_equal(rl_agent_explore(a, 1.2, 0, 1), RL_E_SETTING);
    rl_agent_free(a);
}

/* learn_start, train_every, updates_per_train; and the target's copies. */
static void test_rhythm(void **state)
{
    (void)state;
    struct rl_settings s = small();
    struct rl_agent *a = make(&s, 3, 0);
    s.learn_start = 10;
    s.train_every = 4;
    s.updates_per_train = 3;
    s.target_every = 5;
    assert_int_equal(rl_agent_configure(a, &s), 0);
    for (int i = 1; i <= 40; i++) {
        bool due = i >= 10 && i % 4 == 0;
        assert_int_equal(decide(a, 1, 7, i % 6 ? RL_GOES_ON : RL_TERMINATED), due ? 3 : 0);
    }
    struct rl_counts c = rl_agent_counts(a);
    assert_int_equal(c.decisions, 40);
    assert_int_equal(c.updates, 24); /* at 12, 16 ... 40 */
    assert_int_equal(c.since_copy, 24 % 5);
    assert_int_equal(c.episodes, 6);
    assert_int_equal(rl_agent_train(a, 7, NULL), 7);
    assert_int_equal(rl_agent_counts(a).updates, 31);
    assert_true(rl_agent_last_update(a)->loss >= 0);
    rl_agent_free(a);
}

static void test_beta(void **state)
{
    (void)state;
    struct rl_settings s = small();
    struct rl_agent *a = make(&s, 3, 0);
    s.beta_start = 0.4;
    s.beta_end = 1;
    s.beta_steps = 20;
    assert_int_equal(rl_agent_configure(a, &s), 0);
    assert_int_equal(rl_agent_train(a, 5, NULL), 0); /* nothing to learn from yet */
    assert_true(is(rl_agent_beta(a), 0.4));
    assert_int_equal(decide(a, 1, 7, RL_GOES_ON), 0);
    assert_int_equal(rl_agent_train(a, 10, NULL), 10);
    assert_true(is(rl_agent_beta(a), 0.7));
    assert_int_equal(rl_agent_train(a, 50, NULL), 50);
    assert_true(is(rl_agent_beta(a), 1));
    rl_agent_free(a);
}

static void test_unsound_decisions(void **state)
{
    (void)state;
    struct rl_settings s = small();
    struct rl_agent *a = make(&s, 3, 2);
    const uint64_t five = 5, fifteen = 15;
    struct rl_decision good = {seen, seen, &five, &five, 2, 1, RL_GOES_ON}, bad;
    assert_int_equal(rl_agent_learn(a, &good, 1, NULL), 0);
    assert_int_equal(rl_agent_learn(a, &good, 2, NULL), RL_E_SHAPE);
    bad = good;
    bad.action = 1; /* not legal */
    assert_int_equal(rl_agent_learn(a, &bad, 0, NULL), RL_E_SHAPE);
    bad = good;
    bad.action = 3;
    assert_int_equal(rl_agent_learn(a, &bad, 0, NULL), RL_E_SHAPE);
    bad = good;
    bad.legal = &fifteen; /* there are three actions */
    assert_int_equal(rl_agent_learn(a, &bad, 0, NULL), RL_E_SHAPE);
    bad = good;
    bad.reward = NAN;
    assert_int_equal(rl_agent_learn(a, &bad, 0, NULL), RL_E_SHAPE);
    assert_int_equal(rl_agent_counts(a).decisions, 1);
    assert_int_equal(rl_agent_visits(a, 1)[2], 1);
    assert_int_equal(rl_agent_visits(a, 0)[2], 0);
    rl_agent_free(a);
}

/* Every switch flips on the way, alone; what is fixed is refused and nothing changes. */
static void test_configure(void **state)
{
    (void)state;
    struct rl_settings s = small(), other;
    struct rl_agent *a = make(&s, 3, 0);
    for (const struct rl_setting *row = rl_setting_table; row->name; row++) {
        if (row->kind != RL_KIND_SWITCH)
            continue;
        for (int on = 0; on < 2; on++) {
            other = *rl_agent_settings(a);
            assert_int_equal(rl_settings_set(&other, row->name, on ? "on" : "off"), 0);
            assert_int_equal(rl_agent_configure(a, &other), 0);
            for (int i = 0; i < 40; i++)
                assert_true(decide(a, (uint32_t)i % 3, 7, i % 5 ? RL_GOES_ON : RL_TRUNCATED) >= 0);
        }
    }
    struct rl_settings now = *rl_agent_settings(a);
    other = now;
    other.hidden[0]++;
    assert_int_equal(rl_agent_configure(a, &other), RL_E_SETTING);
    other = now;
    other.replay_capacity++;
    assert_int_equal(rl_agent_configure(a, &other), RL_E_SETTING);
    other = now;
    other.gamma = 1.5;
    assert_int_equal(rl_agent_configure(a, &other), RL_E_SETTING);
    assert_memory_equal(rl_agent_settings(a), &now, sizeof now);
    other = now;
    other.batch = 200;
    assert_int_equal(rl_agent_configure(a, &other), 0);
    assert_int_equal(rl_agent_train(a, 3, NULL), 3);
    other.batch = 1;
    assert_int_equal(rl_agent_configure(a, &other), 0);
    assert_int_equal(rl_agent_train(a, 3, NULL), 3);
    rl_agent_free(a);
}

static void test_forget(void **state)
{
    (void)state;
    struct rl_settings s = small();
    struct rl_agent *a = make(&s, 3, 0);
    for (int i = 0; i < 20; i++)
        assert_true(decide(a, 1, 7, i < 19 ? RL_GOES_ON : RL_TERMINATED) >= 0);
    const struct rl_replay *r = rl_agent_replay(a);
    assert_true(isfinite(rl_twins_best(&r->twins, 0)));
    rl_agent_forget(a);
    assert_int_equal(r->count, 0);
    assert_int_equal(rl_agent_train(a, 3, NULL), 0);
    assert_true(decide(a, 1, 7, RL_GOES_ON) >= 0);
    assert_true(isinf(rl_twins_best(&r->twins, 0)));
    assert_true(rl_sumtree_total(&r->tree) > 0 && r->count == 1);
    assert_int_equal(rl_agent_train(a, 3, NULL), 3);
    rl_agent_free(a);
}

/* One stream of the seed for each use: 0 the first weights, 1 acting, 2 drawing batches. */
static void test_streams(void **state)
{
    (void)state;
    struct rl_settings s = small();
    struct rl_shape shape = {3, 5, 0};
    struct rl_agent *a;
    struct rl_net net;
    struct rl_rng rng;
    float q[5], out[64], expected[5], weights[256];
    s.prioritized = s.dueling = false;
    s.learn_start = 1000;
    for (uint64_t seed = 7; seed < 9; seed++) {
        assert_int_equal(rl_agent_new(&a, &shape, &s, seed), 0);
        assert_int_equal(rl_net_init(&net, 3, s.hidden, 5), 0);
        assert_true(net.parameters <= 256 && net.outputs <= 64);
        rl_rng_seed(&rng, seed, 0);
        rl_net_start(&net, weights, &rng);
        rl_net_forward(&net, weights, seen, 1, false, out);
        rl_net_q(rl_net_head(&net, out, 1), 5, &(uint64_t){31}, false, expected);
        rl_agent_q(a, seen, &(uint64_t){31}, q);
        assert_memory_equal(q, expected, sizeof q);
        rl_rng_seed(&rng, seed, 1);
        rl_agent_hold_epsilon(a, 1);
        for (int i = 0; i < 20; i++) {
            (void)rl_rng_unit(&rng);
            assert_int_equal(rl_agent_choose(a, seen, &(uint64_t){31}, NULL),
                             rl_rng_below(&rng, 5));
            assert_int_equal(decide(a, 1, 31, RL_GOES_ON), 0);
        }
        uint32_t drawn[20] = {0};
        rl_rng_seed(&rng, seed, 2);
        assert_int_equal(rl_agent_train(a, 1, NULL), 1);
        for (uint32_t i = 0; i < s.batch; i++)
            drawn[rl_rng_below(&rng, 20)]++;
        assert_memory_equal(rl_agent_replay(a)->drawn, drawn, sizeof drawn);
        rl_agent_free(a);
    }
}

/* The first update comes with decision number learn_start; a time limit ends an episode too. */
static void test_learn_start(void **state)
{
    (void)state;
    struct rl_settings s = small();
    s.learn_start = 5;
    struct rl_agent *a = make(&s, 2, 0);
    for (int i = 1; i <= 8; i++)
        assert_int_equal(decide(a, 0, 3, i % 2 ? RL_TRUNCATED : RL_GOES_ON), i >= 5);
    assert_int_equal(rl_agent_counts(a).episodes, 4);
    rl_agent_free(a);
}

/* After forgetting nothing of the errors is left: what comes next enters at 1, and the tree holds
 * it alone. */
static void test_forget_errors(void **state)
{
    (void)state;
    struct rl_settings s = small();
    s.learn_start = 1000;
    s.huber = false;
    struct rl_agent *a = make(&s, 2, 0);
    for (int i = 0; i < 12; i++) {
        struct rl_decision d = {seen, seen, &(uint64_t){3}, &(uint64_t){3}, 0, 50, RL_TERMINATED};
        assert_int_equal(rl_agent_learn(a, &d, 0, NULL), 0);
    }
    assert_int_equal(rl_agent_train(a, 2, NULL), 2);
    const struct rl_replay *r = rl_agent_replay(a);
    assert_true(r->largest > 10);
    rl_agent_forget(a);
    assert_true(rl_sumtree_total(&r->tree) == 0);
    assert_int_equal(decide(a, 0, 3, RL_GOES_ON), 0);
    assert_true(r->priority[0] == 1 && rl_sumtree_total(&r->tree) == 1);
    rl_agent_free(a);
}

/* Exploration by episodes: their length does not matter; a backtrack counts decisions again. */
static void test_epsilon_by_episodes(void **state)
{
    (void)state;
    struct rl_settings s = *rl_preset("paper-opp");
    s.learn_start = 1000000;
    s.epsilon_episodes = 10;
    struct rl_agent *a = make(&s, 2, 0);
    for (int i = 0; i < 50; i++)
        assert_int_equal(decide(a, 0, 3, i % 10 == 9 ? RL_TERMINATED : RL_GOES_ON), 0);
    assert_true(is(rl_agent_epsilon(a), 0.55));
    assert_int_equal(rl_agent_explore(a, 0.2, 0.1, 10), 0);
    assert_int_equal(decide(a, 0, 3, RL_GOES_ON), 0);
    assert_true(is(rl_agent_epsilon(a), 0.19));
    rl_agent_free(a);
}

/* A person steps through an episode: looks, forces, and may not force what is illegal. */
static void test_run_by_hand(void **state)
{
    (void)state;
    struct rl_probe memory;
    struct rl_env env;
    struct rl_run run;
    struct rl_step step;
    struct rl_agent *a;
    struct rl_settings s = small();
    rl_probe_begin(&memory, 5, &env); /* masked: action 2 is illegal in the second decision */
    struct rl_shape shape = {env.observation_size, env.action_count, env.context_count};
    assert_int_equal(rl_agent_new(&a, &shape, &s, 1), 0);
    assert_int_equal(rl_run_init(&run, &env, a, 1), 0);
    rl_run_ready(&run);
    assert_int_equal(run.legal[0], 7);
    assert_int_equal(rl_run_step(&run, 2, &step), 0);
    assert_true(step.forced && !step.explored && step.action == 2 && step.reward == 10);
    assert_int_equal(step.end, RL_GOES_ON);
    assert_int_equal(run.legal[0], 3);
    assert_int_equal(run.context, 1);
    assert_int_equal(rl_run_step(&run, 2, &step), RL_E_SHAPE);
    assert_int_equal(rl_run_step(&run, 99, &step), RL_E_SHAPE);
    assert_int_equal(rl_agent_counts(a).decisions, 1);
    assert_int_equal(rl_run_step(&run, 0, &step), 0);
    assert_int_equal(step.end, RL_TERMINATED);
    assert_true(step.reward_sum == 11 && step.length == 2 && !run.playing);
    assert_int_equal(rl_agent_visits(a, 0)[2], 1);
    assert_int_equal(rl_agent_visits(a, 1)[0], 1);

    assert_int_equal(rl_run_step(&run, 1, &step), 0); /* a new episode, left in the middle */
    rl_run_cut(&run);
    assert_false(run.playing);
    const struct rl_replay *r = rl_agent_replay(a);
    assert_int_equal(r->end[2], RL_TRUNCATED);
    rl_run_cut(&run); /* nothing to leave */
    assert_int_equal(rl_run_episode(&run, 10, &step), 0);
    assert_int_equal(step.length, 2);
    rl_run_release(&run);
    rl_agent_free(a);
}

/* A trial teaches nothing and keeps to what is legal. */
static void test_trial(void **state)
{
    (void)state;
    struct rl_probe memory;
    struct rl_env env;
    struct rl_agent *a;
    struct rl_rng rng;
    struct rl_settings s = small();
    double reward;
    rl_probe_begin(&memory, 6, &env); /* pinned: the second decision pays 0.5 if it is legal */
    struct rl_shape shape = {env.observation_size, env.action_count, env.context_count};
    assert_int_equal(rl_agent_new(&a, &shape, &s, 1), 0);
    rl_rng_seed(&rng, 1, 0);
    for (int i = 0; i < 50; i++) {
        assert_int_equal(rl_run_trial(a, &env, i % 2, &rng, &reward), 0);
        assert_true(reward == 0.5);
    }
    assert_int_equal(rl_agent_counts(a).decisions, 0);
    assert_int_equal(rl_agent_replay(a)->count, 0);
    rl_agent_free(a);
}

static void test_shapes(void **state)
{
    (void)state;
    static const struct rl_shape wrong[] = {{0, 2, 1},
                                            {1, 1, 1},
                                            {1, RL_ACTIONS_MAX + 1, 1},
                                            {RL_OBSERVATION_MAX + 1, 2, 1},
                                            {1, 2, RL_CONTEXTS_MAX + 1}};
    struct rl_settings s = small();
    struct rl_agent *a;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(rl_agent_new(&a, &wrong[i], &s, 1), RL_E_SHAPE);
    s.gamma = NAN;
    struct rl_shape right = {2000, 64, 0};
    assert_int_equal(rl_agent_new(&a, &right, &s, 1), RL_E_SETTING);
    assert_null(a);
    s = *rl_preset("paper-opp");
    assert_int_equal(rl_agent_new(&a, &right, &s, 1), 0);
    rl_agent_free(a);
    rl_agent_free(NULL);
}

/* What the paper (arXiv 2007.04069) and CleanRL's cleanrl/dqn.py say. */
static void test_presets(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double rate;
        uint32_t steps;
    } paper[] = {{"paper-opp", 5e-4, 2000}, {"paper-adp", 5e-4, 500}, {"paper-pp", 1e-3, 10000}};
    static const char *const rainbow[] = {"rainbow-opp", "rainbow-adp", "rainbow-pp"};
    for (int i = 0; i < 3; i++) {
        const struct rl_settings *s = rl_preset(paper[i].name);
        assert_true(s->gamma == 0.6 && s->alpha == 0.2 && s->beta_start == 0.6);
        assert_true(s->replay_capacity == 2000 && s->target_every == 100 && s->batch == 64);
        assert_true(s->epsilon_start == 1 && s->epsilon_end == 0.1);
        assert_true(s->learning_rate == paper[i].rate && s->epsilon_steps == paper[i].steps);
        assert_true(s->double_q && s->prioritized && !s->dueling && s->n_step == 1);
        struct rl_settings ours = *rl_preset(rainbow[i]); /* two things are added, no more */
        assert_true(ours.dueling && ours.n_step == 3);
        ours.dueling = false;
        ours.n_step = 1;
        assert_memory_equal(&ours, s, sizeof ours);
    }
    const struct rl_settings *c = rl_preset("cartpole");
    assert_true(c->learning_rate == 2.5e-4 && c->gamma == 0.99 && c->batch == 128);
    assert_true(c->hidden[0] == 120 && c->hidden[1] == 84 && c->replay_capacity == 10000);
    assert_true(c->learn_start == 10000 && c->train_every == 10 && c->epsilon_steps == 250000);
    assert_true(!c->huber && !c->clip && !c->double_q && !c->prioritized && c->n_step == 1);
    assert_int_equal(c->target_every * c->train_every, 500);
    for (const struct rl_preset *p = rl_preset_table; p->name; p++)
        assert_int_equal(rl_settings_check(&p->settings, NULL), 0);
    assert_null(rl_preset("nothing"));
}

/* Every setting prints as what sets it. */
static void test_settings_as_text(void **state)
{
    (void)state;
    char text[64];
    const char *which = NULL;
    for (const struct rl_preset *p = rl_preset_table; p->name; p++) {
        struct rl_settings copy = *rl_preset("planner");
        for (const struct rl_setting *row = rl_setting_table; row->name; row++) {
            rl_settings_print(&p->settings, row, text, sizeof text);
            assert_int_equal(rl_settings_set(&copy, row->name, text), 0);
        }
        assert_memory_equal(&copy, &p->settings, sizeof copy);
    }
    static const char *const wrong[][2] = {
        {"gamma", "1.1"},  {"gamma", ""},           {"gamma", "0.5x"}, {"gamma", "nan"},
        {"batch", "0"},    {"batch", "2.5"},        {"batch", "-1"},   {"hidden", "0"},
        {"hidden", "8-"},  {"hidden", "1-1-1-1-1"}, {"hidden", "-8"},  {"hidden", "99999"},
        {"double-q", "2"}, {"nothing", "1"},        {"", "1"},
    };
    struct rl_settings s = small(), before = s;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(rl_settings_set(&s, wrong[i][0], wrong[i][1]), RL_E_SETTING);
    assert_memory_equal(&s, &before, sizeof s);
    assert_int_equal(rl_settings_set(&s, "learning-rate", "0.01"), 0);
    assert_true(s.learning_rate == 0.01);
    s.clip_norm = -1;
    assert_int_equal(rl_settings_check(&s, &which), RL_E_SETTING);
    assert_string_equal(which, "clip_norm");
    assert_string_equal(rl_error_text(1), "unknown error");
    assert_string_equal(rl_error_text(RL_E_MEMORY), "out of memory");
}

/* xoshiro256** after its authors' reference (prng.di.unimi.it) from state 1 2 3 4. */
static void test_random_numbers(void **state)
{
    (void)state;
    static const uint64_t expected[] = {11520, 0, 1509978240, 1215971899390074240u};
    struct rl_rng r = {{1, 2, 3, 4}}, a, b;
    for (int i = 0; i < 4; i++)
        assert_true(rl_rng_next(&r) == expected[i]);
    rl_rng_seed(&a, 1, 0);
    rl_rng_seed(&b, 1, 1);
    int same = 0;
    for (int i = 0; i < 1000; i++) {
        same += rl_rng_below(&a, 2) == rl_rng_below(&b, 2);
        double u = rl_rng_unit(&a);
        assert_true(u >= 0 && u < 1);
    }
    assert_true(abs(same - 500) < 60);
    for (uint64_t stream = 0; stream < 4;
         stream++) { /* and every stream of every seed is its own */
        rl_rng_seed(&a, 1, stream);
        rl_rng_seed(&b, 1, stream + 1);
        assert_memory_not_equal(&a, &b, sizeof a);
        rl_rng_seed(&b, 2, stream);
        assert_memory_not_equal(&a, &b, sizeof a);
    }
}

/* Q of a row of the twin, which has not made this step yet: the network the lesson's figures are
 * of. */
static void expect_row(struct rl_agent *twin, const struct rl_replay *r,
                       const struct rl_settings *s, const struct rl_lesson_row *row)
{
    const double close = 2e-5;
    float q[2], next[2];

    rl_agent_q(twin, r->observation + (size_t)row->slot * 4, &(uint64_t){3}, q);
    assert_true(fabs((double)q[row->action] - row->q) < close * (1 + fabs(row->q)));
    assert_int_equal(row->action, r->action[row->slot]);
    if (row->discount != 0) { /* one reward: what follows is in the same row */
        rl_agent_q(twin, r->next + (size_t)row->slot * 4, &(uint64_t){3}, next);
        assert_true(fabs(row->discount - s->gamma) < 1e-6);
        assert_int_equal(row->next_action,
                         next[1] > next[0]); /* double: chosen by the online one */
        assert_true(fabs((double)next[row->next_action] - row->next_choice) <
                    close * (1 + fabs(row->next_choice)));
        assert_true(row->next_largest >= row->next_value);
        assert_true(is(row->target, row->reward + row->discount * row->next_value));
    } else {
        assert_int_equal(r->end[row->slot], RL_TERMINATED);
        assert_true(is(row->target, row->reward));
    }
    assert_true(is(row->error, row->target - row->q));
    assert_true(row->age < r->count && row->weight > 0 && row->weight <= 1);
}

/* An agent that is watched does what one that is not does, and its lessons are true. */
static void test_lessons(void **state)
{
    (void)state;
    enum { ROUNDS = 700 };
    uint64_t memory[2][RL_GAME_SIZE_MAX / 8];
    struct rl_settings s = *rl_preset("cartpole-rainbow");
    static struct rl_lesson lesson;
    struct rl_agent *a[2];
    struct rl_run run[2];
    uint64_t updates = 0, explored = 0;

    s.learn_start = 100;
    s.n_step = 1;
    s.train_every = 3;
    s.replay_capacity = 400;
    s.epsilon_start = 0.5;
    for (int n = 0; n < 2; n++) {
        struct rl_env env;
        rl_cartpole_begin(memory[n], 0, &env);
        struct rl_shape shape = {env.observation_size, env.action_count, 1};
        assert_int_equal(rl_agent_new(&a[n], &shape, &s, 5), 0);
        assert_int_equal(rl_run_init(&run[n], &env, a[n], 5), 0);
    }
    for (uint64_t i = 1; i <= ROUNDS; i++) {
        struct rl_step step[2];
        int forced = i % 50 == 0 ? 1 : -1;
        double before[RL_LESSON_ROWS];
        const struct rl_replay *r = rl_agent_replay(a[0]);
        rl_agent_teach(a[0], &lesson);
        assert_int_equal(rl_run_step(&run[0], forced, &step[0]), 0);
        assert_int_equal(lesson.decision, i);
        assert_int_equal(lesson.chosen, forced < 0);
        assert_int_equal(lesson.explored, lesson.chosen && lesson.draw < lesson.epsilon);
        assert_int_equal(lesson.explored, step[0].explored);
        assert_true(lesson.action == step[0].action && is(lesson.reward, (double)step[0].reward));
        assert_int_equal(lesson.updates, step[0].updates);
        assert_int_equal(lesson.kept, r->count);
        assert_true(r->action[lesson.slot] == lesson.action && r->priority[lesson.slot] > 0);
        explored += lesson.explored;
        for (uint32_t k = 0; lesson.updates && k < lesson.rows; k++) {
            expect_row(a[1], r, &s, &lesson.row[k]);
            before[k] = lesson.row[k].priority;
        }
        for (uint32_t k = lesson.updates ? lesson.rows : 0; k-- > 0;) {
            bool last = true; /* of a slot drawn twice the last row counts */
            for (uint32_t j = k + 1; j < lesson.batch; j++)
                last &= j >= lesson.rows || lesson.row[j].slot != lesson.row[k].slot;
            if (last && lesson.batch == lesson.rows)
                assert_true(is(before[k], r->priority[lesson.row[k].slot]));
        }
        assert_int_equal(rl_run_step(&run[1], forced, &step[1]), 0);
        assert_memory_equal(&step[0].reward_sum, &step[1].reward_sum, sizeof(double));
        if (step[0].updates) {
            updates++;
            assert_memory_equal(&step[0].update, &step[1].update, sizeof step[0].update);
            assert_memory_equal(&lesson.figures, &step[1].update, sizeof step[1].update);
            assert_int_equal(lesson.update, updates);
        }
    }
    assert_int_equal(updates, (ROUNDS - 100) / 3);
    assert_true(explored > 100 && explored < 500);
    for (int n = 0; n < 2; n++) {
        rl_run_release(&run[n]);
        rl_agent_free(a[n]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_choice_is_legal),
        cmocka_unit_test(test_greedy_is_the_argmax),
        cmocka_unit_test(test_epsilon),
        cmocka_unit_test(test_rhythm),
        cmocka_unit_test(test_beta),
        cmocka_unit_test(test_unsound_decisions),
        cmocka_unit_test(test_configure),
        cmocka_unit_test(test_forget),
        cmocka_unit_test(test_streams),
        cmocka_unit_test(test_learn_start),
        cmocka_unit_test(test_forget_errors),
        cmocka_unit_test(test_epsilon_by_episodes),
        cmocka_unit_test(test_run_by_hand),
        cmocka_unit_test(test_trial),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_presets),
        cmocka_unit_test(test_settings_as_text),
        cmocka_unit_test(test_random_numbers),
        cmocka_unit_test(test_lessons),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
