/* Probe tasks: each learns its Q values in closed form within 3000 updates, each with the parts of
 * the learner it is about. Discount 0.6. */
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

enum { UPDATES = 3000 };
static const double G = 0.6;

/* Q[action] shown for sight = {sign, time} under a mask; NAN: no claim. */
struct claim {
    const char *probe;
    float sight[2];
    uint64_t legal;
    double q[RL_PROBE_ACTIONS];
};

static const struct claim claims[] = {
    {"constant", {0, 0}, 7, {1, 1, 1}},        {"observed", {1, 0}, 7, {1, 1, 1}},
    {"observed", {-1, 0}, 7, {-1, -1, -1}},    {"two-step", {0, 0}, 7, {0.6, 0.6, 0.6}},
    {"two-step", {0, 1}, 7, {1, 1, 1}},        {"action", {0, 0}, 7, {-1, 1, -1}},
    {"both", {1, 0}, 7, {-1, 1, -1}},          {"both", {-1, 0}, 7, {1, -1, 1}},
    {"masked", {0, 0}, 7, {0.6, 0.6, 10.6}},   {"masked", {0, 1}, 3, {1, 1, NAN}},
    {"pinned", {0, 0}, 7, {0.3, 0.3, 0.3}},    {"pinned", {0, 1}, 1, {0.5, NAN, NAN}},
    {"truncated", {0, 0}, 7, {2.5, 2.5, 2.5}},
};

static struct rl_agent *train(uint32_t probe, const struct rl_settings *s, uint64_t seed)
{
    struct rl_probe memory;
    struct rl_env env;
    struct rl_run run;
    struct rl_step step;
    struct rl_agent *a;

    rl_probe_begin(&memory, probe, &env);
    struct rl_shape shape = {env.observation_size, env.action_count, env.context_count};
    assert_int_equal(rl_agent_new(&a, &shape, s, seed), 0);
    assert_int_equal(rl_run_init(&run, &env, a, seed), 0);
    while (rl_agent_counts(a).updates < UPDATES)
        assert_int_equal(rl_run_step(&run, -1, &step), 0);
    rl_run_release(&run);
    return a;
}

/* The largest distance from the closed form over all claims about a probe. */
static double worst(struct rl_agent *a, const char *probe)
{
    double most = 0;

    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) {
        const struct claim *c = &claims[i];
        float q[RL_PROBE_ACTIONS];
        if (strcmp(c->probe, probe) != 0)
            continue;
        rl_agent_q(a, c->sight, &c->legal, q);
        for (int k = 0; k < RL_PROBE_ACTIONS; k++) {
            if (!isnan(c->q[k]))
                most = fmax(most, fabs((double)q[k] - c->q[k]));
        }
    }
    return most;
}

/* With a head that turns (dueling) and without, prioritized and not, over two seeds. */
static void check(uint32_t probe)
{
    for (int variant = 0; variant < 4; variant++) {
        struct rl_settings s = *rl_preset("probe");
        s.dueling = variant & 1;
        s.prioritized = variant & 2;
        assert_true(s.gamma == G);
        for (uint64_t seed = 1; seed <= 2; seed++) {
            struct rl_agent *a = train(probe, &s, seed);
            double off = worst(a, rl_probe_table[probe].name);
            if (off > 0.05)
                print_message("%s variant %d seed %d: off by %.3f\n", rl_probe_table[probe].name,
                              variant, (int)seed, off);
            assert_true(off <= 0.05);
            rl_agent_free(a);
        }
    }
}

#define PROBE(number, name)               \
    static void test_##name(void **state) \
    {                                     \
        (void)state;                      \
        check(number);                    \
    }
PROBE(0, constant)
PROBE(1, observed)
PROBE(2, two_step)
PROBE(3, action)
PROBE(4, both)
PROBE(5, masked)
PROBE(6, pinned)
PROBE(7, truncated)

/* The two switches that are mistakes do harm, so these probes would catch them. */
static void test_mistakes_show(void **state)
{
    (void)state;
    struct rl_settings s = *rl_preset("probe");
    s.mask_bootstrap = false;
    struct rl_agent *a = train(5, &s, 1);
    double off = worst(a, "masked");
    print_message("mask forgotten in the bootstrap: off by %.2f\n", off);
    assert_true(off > 0.2);
    rl_agent_free(a);

    s = *rl_preset("probe");
    s.bootstrap_truncated = false;
    a = train(7, &s, 1);
    off = worst(a, "truncated");
    print_message("time limit taken for an end: off by %.2f\n", off);
    assert_true(off > 0.2);
    rl_agent_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_constant),      cmocka_unit_test(test_observed),
        cmocka_unit_test(test_two_step),      cmocka_unit_test(test_action),
        cmocka_unit_test(test_both),          cmocka_unit_test(test_masked),
        cmocka_unit_test(test_pinned),        cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_mistakes_show),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
