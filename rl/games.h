/* rl/games.h - small environments with known answers, to test the learner and to teach how it
 * learns.
 *
 * Each is plain data in RL_GAME_SIZE_MAX bytes of the caller's memory, aligned as malloc does;
 * `begin` clears it and fills the callbacks (rl/env.h); it is also their `state`. `variant` picks
 * among instances where the game has some (the mapping seed of bsuite); other games ignore it. */
#ifndef AUTOMAP_RL_GAMES_H
#define AUTOMAP_RL_GAMES_H

#include "rl/env.h"

#include <stdbool.h>

struct rl_game {
    const char *name, *summary;
    const char *preset; /* settings to begin with (rl/settings.h) */
    uint32_t decisions; /* how many make a run worth showing */
    void (*begin)(void *memory, uint32_t variant, struct rl_env *env);
    bool is_probe;
    uint32_t variant;   /* for begin, unless the user names one (probes: always) */
    double best_reward; /* roughly what the best play earns in an episode */
};
extern const struct rl_game rl_game_table[]; /* the last row has name NULL */
const struct rl_game *rl_game(const char *name);

enum { RL_GAME_SIZE_MAX = 64 };

/* Gymnasium's classic control, with its equations and constants. The structs are public so that
 * tests can start them where a recording begins. */
struct rl_cartpole {
    double x, speed, angle, spin;
    uint32_t steps;
};
struct rl_acrobot {
    double angle[2], spin[2];
    uint32_t steps;
};
struct rl_mountaincar {
    double position, speed;
    uint32_t steps;
};
void rl_cartpole_begin(void *memory, uint32_t variant, struct rl_env *env);
void rl_acrobot_begin(void *memory, uint32_t variant, struct rl_env *env);
void rl_mountaincar_begin(void *memory, uint32_t variant, struct rl_env *env);

/* bsuite (Osband et al. 2020). */
void rl_catch_begin(void *memory, uint32_t variant, struct rl_env *env);
void rl_bandit_begin(void *memory, uint32_t variant, struct rl_env *env);
void rl_chain_begin(void *memory, uint32_t variant, struct rl_env *env);

/* Probes: each tests one ability and has a closed form (rl/game_probe.c). */
enum { RL_PROBE_ACTIONS = 3 };
struct rl_probe_rule {
    const char *name, *summary;
    uint32_t length;   /* decisions of an episode: 1 or 2 */
    bool observed;     /* the observation shows the sign, else 0 */
    bool timed;        /* it shows the number of the decision, else 0 */
    enum rl_end end;   /* how an episode ends */
    uint64_t legal[2]; /* at each decision */
    /* reward of `action` at decision `at` under the episode's sign, -1 or 1 */
    float (*reward)(uint32_t at, uint32_t action, float sign);
};
struct rl_probe {
    uint32_t variant, at; /* row of rl_probe_table; decisions made */
    float sign;
};
extern const struct rl_probe_rule rl_probe_table[];
extern const uint32_t rl_probe_count;
void rl_probe_begin(void *memory, uint32_t variant, struct rl_env *env); /* variant: row */

#endif
