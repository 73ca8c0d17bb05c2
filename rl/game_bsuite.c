/* Three tasks of bsuite (Osband et al. 2020), after google-deepmind/bsuite bsuite/environments. */
#include "rl/env.h"
#include "rl/games.h"
#include "rl/rng.h"

#include <string.h>

enum { ROWS = 10, COLUMNS = 5, ARMS = 11, CHAINS = 5, CHAIN_LENGTH = 100 };

struct catch_board {
    int32_t ball_x, ball_y, paddle;
};

static void catch_reset(void *self, struct rl_rng *rng)
{
    *(struct catch_board *)self =
        (struct catch_board){.ball_x = (int32_t)rl_rng_below(rng, COLUMNS), .paddle = COLUMNS / 2};
}

static struct rl_outcome catch_step(void *self, uint32_t action, struct rl_rng *rng)
{
    (void)rng;
    struct catch_board *s = self;
    int32_t moved = s->paddle + (int32_t)action - 1;

    s->paddle = moved < 0 ? 0 : moved >= COLUMNS ? COLUMNS - 1 : moved;
    if (++s->ball_y < ROWS - 1)
        return (struct rl_outcome){.reward = 0, .end = RL_GOES_ON};
    return (struct rl_outcome){.reward = s->paddle == s->ball_x ? 1 : -1, .end = RL_TERMINATED};
}

static void catch_observe(void *self, float *out)
{
    const struct catch_board *s = self;

    memset(out, 0, sizeof(float) * ROWS * COLUMNS);
    out[s->ball_y * COLUMNS + s->ball_x] = 1;
    out[(ROWS - 1) * COLUMNS + s->paddle] = 1;
}

_Static_assert(sizeof(struct catch_board) <= RL_GAME_SIZE_MAX, "a game fits its memory");

void rl_catch_begin(void *memory, uint32_t variant, struct rl_env *env)
{
    (void)variant;
    memset(memory, 0, sizeof(struct catch_board));
    *env = (struct rl_env){.self = memory,
                           .observation_size = ROWS * COLUMNS,
                           .action_count = 3,
                           .reset = catch_reset,
                           .step = catch_step,
                           .observe = catch_observe,
                           .state = memory,
                           .state_size = sizeof(struct catch_board)};
}

struct bandit {
    float reward[ARMS]; /* 0, 0.1 ... 1 in an order of the variant's own */
};

static void bandit_reset(void *self, struct rl_rng *rng)
{
    (void)self;
    (void)rng;
}

static struct rl_outcome bandit_step(void *self, uint32_t action, struct rl_rng *rng)
{
    (void)rng;
    const struct bandit *s = self;

    return (struct rl_outcome){.reward = s->reward[action], .end = RL_TERMINATED};
}

static void bandit_observe(void *self, float *out)
{
    (void)self;
    out[0] = 1;
}

_Static_assert(sizeof(struct bandit) <= RL_GAME_SIZE_MAX, "a game fits its memory");

void rl_bandit_begin(void *memory, uint32_t variant, struct rl_env *env)
{
    struct bandit *s = memory;
    struct rl_rng rng;

    rl_rng_seed(&rng, variant, 0);
    for (uint32_t i = 0; i < ARMS; i++) { /* Fisher and Yates, inside out */
        uint32_t j = rl_rng_below(&rng, i + 1);
        s->reward[i] = s->reward[j];
        s->reward[j] = (float)i / (ARMS - 1);
    }
    *env = (struct rl_env){.self = memory,
                           .observation_size = 1,
                           .action_count = ARMS,
                           .reset = bandit_reset,
                           .step = bandit_step,
                           .observe = bandit_observe,
                           .state = memory,
                           .state_size = sizeof *s};
}

struct chain {
    uint32_t bonus, at;
    int32_t chosen; /* -1: not yet */
};

static void chain_reset(void *self, struct rl_rng *rng)
{
    struct chain *s = self;

    (void)rng;
    s->at = 0;
    s->chosen = -1;
}

static struct rl_outcome chain_step(void *self, uint32_t action, struct rl_rng *rng)
{
    static const uint32_t pays_at[CHAINS] = {1, 3, 10, 30, 100};
    struct chain *s = self;

    (void)rng;
    if (s->at++ == 0)
        s->chosen = (int32_t)action;
    float reward = s->at != pays_at[s->chosen] ? 0 : (uint32_t)s->chosen == s->bonus ? 1.1f : 1;
    return (struct rl_outcome){.reward = reward,
                               .end = s->at == CHAIN_LENGTH ? RL_TERMINATED : RL_GOES_ON};
}

static void chain_observe(void *self, float *out)
{
    const struct chain *s = self;

    out[0] = (float)s->chosen;
    out[1] = (float)s->at / CHAIN_LENGTH;
}

_Static_assert(sizeof(struct chain) <= RL_GAME_SIZE_MAX, "a game fits its memory");

void rl_chain_begin(void *memory, uint32_t variant, struct rl_env *env)
{
    *(struct chain *)memory = (struct chain){.bonus = variant % CHAINS, .chosen = -1};
    *env = (struct rl_env){.self = memory,
                           .observation_size = 2,
                           .action_count = CHAINS,
                           .reset = chain_reset,
                           .step = chain_step,
                           .observe = chain_observe,
                           .state = memory,
                           .state_size = sizeof(struct chain)};
}
