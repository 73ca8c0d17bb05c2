/* rl/settings.h - everything that shapes a learner, in one struct with names, ranges and presets.
 *
 * `hidden` and `replay_capacity` are fixed once an agent is made; everything else, switches
 * included, may change between two decisions and takes effect at the next (rl_agent_configure). */
#ifndef AUTOMAP_RL_SETTINGS_H
#define AUTOMAP_RL_SETTINGS_H

#include "rl/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RL_HIDDEN_MAX = 4 };

struct rl_settings {
    uint32_t hidden[RL_HIDDEN_MAX]; /* widths of the hidden layers (ReLU), the unused ones 0 */
    uint32_t replay_capacity;       /* decisions kept */

    uint32_t batch;       /* samples of one update */
    uint32_t learn_start; /* no update before this many decisions */
    uint32_t train_every; /* decisions between trainings */
    uint32_t updates_per_train;
    double learning_rate;
    double adam_beta1, adam_beta2, adam_eps;

    double gamma;          /* discount of one decision */
    uint32_t n_step;       /* most rewards summed before the bootstrap */
    uint32_t target_every; /* updates between hard copies of the target network */
    double target_tau;     /* > 0: moves it by this share after every update instead */

    double epsilon_start, epsilon_end; /* share of random actions, linear in decisions */
    uint32_t epsilon_steps;
    uint32_t epsilon_episodes; /* > 0: linear over this many episodes instead */

    double alpha;                /* priority = (|TD error| + priority_floor)^alpha */
    double beta_start, beta_end; /* weight = (N P)^-beta / the batch's largest; linear */
    uint32_t beta_steps;         /*   in updates; 0: beta_start for ever */
    double priority_floor;

    double huber_delta; /* the loss is linear beyond this error */
    double clip_norm;   /* largest norm of the whole gradient */

    /* Switches; independent of each other. */
    bool double_q;       /* next action by the online network, its value by the target */
    bool dueling;        /* Q = V + A - mean of A over the legal actions */
    bool prioritized;    /* sampling in proportion to priority; else uniform */
    bool importance;     /* weights that undo the bias of prioritized sampling */
    bool target_network; /* off: bootstrap from the online network itself */
    bool huber;          /* off: squared error, mean over the batch, no factor 1/2 */
    bool clip;
    bool mask_bootstrap;      /* off (a mistake, for teaching): illegal next actions count */
    bool return_bound;        /* a decision is worth at least the best that followed an equal one */
    bool bootstrap_truncated; /* off (a mistake, for teaching): nothing has value past a time
                                 limit */
};

/* One row for each member above, in the same order; the last row has name NULL. */
enum rl_setting_kind { RL_KIND_WIDTHS, RL_KIND_COUNT, RL_KIND_REAL, RL_KIND_SWITCH };
struct rl_setting {
    const char *name; /* as the member, with - for _ */
    enum rl_setting_kind kind;
    size_t offset; /* in struct rl_settings */
    double least, most;
    const char *summary;
};
extern const struct rl_setting rl_setting_table[];

/* "128-128", "64", "0.6", "on", "off". RL_E_SETTING: no such name or value; nothing changed. */
int rl_settings_set(struct rl_settings *s, const char *name, const char *value) RL_MUST_CHECK;

/* Writes the value of one row in the form rl_settings_set accepts. */
void rl_settings_print(const struct rl_settings *s, const struct rl_setting *row, char *out,
                       size_t size);

/* RL_E_SETTING: a value is out of range; *which (may be NULL) names it. */
int rl_settings_check(const struct rl_settings *s, const char **which) RL_MUST_CHECK;

/* Presets; the last row has name NULL.
 *   planner                          what works best on this project's own tasks
 *   paper-opp, paper-adp, paper-pp   Wang et al. 2020 (arXiv 2007.04069), section 5.1
 *   rainbow-opp, -adp, -pp           the same with dueling and n = 3
 *   cartpole                         CleanRL's dqn.py, for CartPole-v1
 *   cartpole-rainbow                 the same with double, n = 3 and prioritized replay
 *   mountaincar                      RL Baselines3 Zoo's DQN for MountainCar-v0
 *   bsuite                           the default DQN of bsuite
 *   probe                            for the probe tasks of rl/games.h */
struct rl_preset {
    const char *name, *summary;
    struct rl_settings settings;
};
extern const struct rl_preset rl_preset_table[];
const struct rl_settings *rl_preset(const char *name); /* NULL: no such preset */

#endif
