#include "rl/games.h"

#include <math.h>
#include <string.h>

const struct rl_game *rl_game(const char *name)
{
    for (const struct rl_game *g = rl_game_table; g->name; g++) {
        if (!strcmp(g->name, name))
            return g;
    }
    return NULL;
}

#define PROBE(name, row, best)                                             \
    {                                                                      \
        name, "probe task", "probe", 3000, rl_probe_begin, true, row, best \
    }

const struct rl_game rl_game_table[] = {
    {"cartpole", "balance a pole on a cart (Gymnasium's CartPole-v1)", "cartpole", 500000,
     rl_cartpole_begin, false, 0, 500},
    {"acrobot", "swing two links up (Acrobot-v1)", "cartpole", 500000, rl_acrobot_begin, false, 0,
     -80},
    {"mountaincar", "rock a car out of a valley (MountainCar-v0)", "mountaincar", 120000,
     rl_mountaincar_begin, false, 0, -100},
    {"catch", "catch a falling ball (bsuite)", "bsuite", 90000, rl_catch_begin, false, 0, 1},
    {"bandit", "find the best of eleven arms (bsuite)", "bsuite", 10000, rl_bandit_begin, false, 0,
     1},
    {"chain", "a reward in 1 to 100 decisions, one 10 % larger (bsuite discounting_chain)",
     "bsuite", 100000, rl_chain_begin, false, 4, 1.1},
    PROBE("constant", 0, 1),
    PROBE("observed", 1, 0),
    PROBE("two-step", 2, 1),
    PROBE("action", 3, 1),
    PROBE("both", 4, 1),
    PROBE("masked", 5, 11),
    PROBE("pinned", 6, 0.5),
    PROBE("truncated", 7, 2),
    {0},
};
