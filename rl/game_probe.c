/* Probe tasks: the first five after Andy Jones, "Debugging RL, without the agonizing pain" (2021),
 * the rest for what this project leans on. With discount g, Q in closed form:
 *   constant   1                                  two-step   first g, second 1
 *   observed   the sign                           action     1 for action 1, else -1
 *   both       1 if action 1 matches the sign, else -1
 *   masked     first: 10 + g for action 2, else g; second: 1 (action 2, legal before, is not now:
 *              a bootstrap that forgets it takes the 10 it has learned to expect there)
 *   pinned     first: g x 0.5 for all; second: 0.5 (one legal action, the others would pay 1)
 *   truncated  1 / (1 - g): cut short after two rewards of 1, in a position like all others */
#include "rl/env.h"
#include "rl/games.h"
#include "rl/rng.h"

#include <string.h>

static float always_one(uint32_t at, uint32_t action, float sign)
{
    (void)at, (void)action, (void)sign;
    return 1;
}

static float the_sign(uint32_t at, uint32_t action, float sign)
{
    (void)at, (void)action;
    return sign;
}

static float one_at_last(uint32_t at, uint32_t action, float sign)
{
    (void)action, (void)sign;
    return (float)at;
}

static float by_action(uint32_t at, uint32_t action, float sign)
{
    (void)at, (void)sign;
    return action == 1 ? 1 : -1;
}

static float by_both(uint32_t at, uint32_t action, float sign)
{
    (void)at;
    return (action == 1) == (sign > 0) ? 1 : -1;
}

static float ten_then_one(uint32_t at, uint32_t action, float sign)
{
    (void)sign;
    if (at)
        return 1;
    return action == 2 ? 10 : 0;
}

static float pin_costs(uint32_t at, uint32_t action, float sign)
{
    (void)sign;
    if (!at)
        return 0;
    return action == 0 ? 0.5f : 1;
}

const struct rl_probe_rule rl_probe_table[] = {
    {"constant", "always the same reward", 1, false, false, RL_TERMINATED, {7, 7}, always_one},
    {"observed", "the reward is what is seen", 1, true, false, RL_TERMINATED, {7, 7}, the_sign},
    {"two-step",
     "the reward comes one decision later",
     2,
     false,
     true,
     RL_TERMINATED,
     {7, 7},
     one_at_last},
    {"action", "one action pays", 1, false, false, RL_TERMINATED, {7, 7}, by_action},
    {"both", "which action pays is seen", 1, true, false, RL_TERMINATED, {7, 7}, by_both},
    {"masked",
     "a rich action that is illegal in the second decision",
     2,
     false,
     true,
     RL_TERMINATED,
     {7, 3},
     ten_then_one},
    {"pinned", "the second decision is forced", 2, false, true, RL_TERMINATED, {7, 1}, pin_costs},
    {"truncated", "cut short by a time limit", 2, false, false, RL_TRUNCATED, {7, 7}, always_one},
};
const uint32_t rl_probe_count = sizeof rl_probe_table / sizeof *rl_probe_table;

static void probe_reset(void *self, struct rl_rng *rng)
{
    struct rl_probe *s = self;

    s->at = 0;
    s->sign = rl_rng_below(rng, 2) ? 1 : -1;
}

static struct rl_outcome probe_step(void *self, uint32_t action, struct rl_rng *rng)
{
    struct rl_probe *s = self;
    const struct rl_probe_rule *rule = &rl_probe_table[s->variant];
    float reward = rule->reward(s->at, action, s->sign);

    (void)rng;
    s->at++;
    return (struct rl_outcome){.reward = reward,
                               .end = s->at < rule->length ? RL_GOES_ON : rule->end};
}

static void probe_observe(void *self, float *out)
{
    const struct rl_probe *s = self;
    const struct rl_probe_rule *rule = &rl_probe_table[s->variant];

    out[0] = rule->observed ? s->sign : 0;
    out[1] = rule->timed ? (float)s->at : 0;
}

static void probe_legal(void *self, uint64_t *out)
{
    const struct rl_probe *s = self;

    *out = rl_probe_table[s->variant].legal[s->at & 1];
}

static uint32_t probe_context(void *self)
{
    return ((const struct rl_probe *)self)->at & 1;
}

void rl_probe_begin(void *memory, uint32_t variant, struct rl_env *env)
{
    *(struct rl_probe *)memory = (struct rl_probe){.variant = variant % rl_probe_count};
    *env = (struct rl_env){.self = memory,
                           .observation_size = 2,
                           .action_count = RL_PROBE_ACTIONS,
                           .context_count = 2,
                           .reset = probe_reset,
                           .step = probe_step,
                           .observe = probe_observe,
                           .legal = probe_legal,
                           .context = probe_context,
                           .state = memory,
                           .state_size = sizeof(struct rl_probe)};
}
