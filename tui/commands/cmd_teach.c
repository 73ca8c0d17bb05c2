#include "hlo/support/err.h"
#include "rl/agent.h"
#include "rl/agent_state.h"
#include "rl/env.h"
#include "rl/error.h"
#include "rl/rng.h"
#include "rl/settings.h"
#include "tui/commands/commands.h"

#include "engine/text/quantity.h"
#include "rl/games.h"
#include "rl/run.h"
#include "tui/options/exit_code.h"
#include "tui/options/option.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LAST = 100, TRIALS = 20, SEEDS_MAX = 100, LINES = 25, BAR = 20 };

struct lesson {
    const struct rl_game *game;
    struct rl_settings settings;
    uint32_t decisions, seeds, variant;
    uint64_t seed; /* the first */
};

/* What a seed came to. */
struct mark {
    double last;   /* mean reward of the last LAST episodes of training, random actions included */
    double greedy; /* mean of TRIALS episodes without */
};

/* Running means since the last printed line, and over the last LAST episodes. */
struct record {
    double value[LAST], sum;
    uint64_t episodes;
    double loss;
    uint64_t updates;
    double loss_high; /* largest line so far: the scale of the loss curve */
};

static void print_settings(FILE *out)
{
    char value[64];

    for (const struct rl_setting *row = rl_setting_table; row->name; row++) {
        rl_settings_print(rl_preset("cartpole"), row, value, sizeof value);
        fprintf(out, "  --%-20s %-8s %s\n", row->name, value, row->summary);
    }
}

static void print_tables(FILE *out)
{
    fputs("\ngames\n", out);
    for (const struct rl_game *g = rl_game_table; g->name; g++)
        fprintf(out, "  %-12s %s%s%s\n", g->name, g->summary, g->is_probe ? ": " : "",
                g->is_probe ? rl_probe_table[g->variant].summary : "");
    fputs("\npresets\n", out);
    for (const struct rl_preset *p = rl_preset_table; p->name; p++)
        fprintf(out, "  %-16s  %s\n", p->name, p->summary);
    fputs("\nsettings, with their value for CartPole; --no-NAME turns a switch off\n", out);
    print_settings(out);
}

static const char *game_at(size_t i)
{
    return rl_game_table[i].name; /* the last is NULL */
}

static const char *preset_at(size_t i)
{
    return rl_preset_table[i].name;
}

/* A game brings its settings: what changes them stands behind it. */
static int take_game(void *args, const struct option *o, const char *value, struct err *e)
{
    struct lesson *l = args;

    (void)o;
    if (l->game)
        return OPTION_PASS;
    l->game = rl_game(value);
    if (!l->game)
        return err_set(e, ERR_USAGE, "no game %.60s", value);
    l->settings = *rl_preset(l->game->preset);
    l->decisions = l->game->decisions;
    l->variant = l->game->variant;
    return 0;
}

static int need_game(const struct lesson *l, struct err *e)
{
    return l->game ? 0 : err_set(e, ERR_USAGE, "GAME comes first");
}

static int take_preset(void *args, const struct option *o, const char *value, struct err *e)
{
    struct lesson *l = args;
    const struct rl_settings *s = rl_preset(value);

    if (need_game(l, e))
        return e->code;
    if (!s)
        return option_expected(o, value, e);
    l->settings = *s;
    return 0;
}

static int take_variant(void *args, const struct option *o, const char *value, struct err *e)
{
    struct lesson *l = args;
    uint64_t n;

    if (need_game(l, e))
        return e->code;
    if (l->game->is_probe || !quantity_whole(value, 1000, &n))
        return option_expected(o, value, e);
    l->variant = (uint32_t)n;
    return 0;
}

static int take_decisions(void *args, const struct option *o, const char *value, struct err *e)
{
    struct lesson *l = args;
    double n; /* as 2e5, too */

    if (need_game(l, e))
        return e->code;
    if (!quantity_real(value, 1, 1u << 30, &n) || n != floor(n))
        return option_expected(o, value, e);
    l->decisions = (uint32_t)n;
    return 0;
}

static int take_setting(void *args, const struct option *o, const char *value, struct err *e)
{
    struct lesson *l = args;

    if (need_game(l, e))
        return e->code;
    return rl_settings_set(&l->settings, o->name, value) ? option_expected(o, value, e) : 0;
}

static bool setting_row(size_t i, struct option *out)
{
    static const char *const states[] = {"on", "off"};
    const struct rl_setting *row = &rl_setting_table[i];
    bool is_switch = row->name && row->kind == RL_KIND_SWITCH;

    if (!row->name)
        return false;
    *out = (struct option){.name = row->name,
                           .value = is_switch ? "on|off" : "VALUE",
                           .take = take_setting,
                           .has_no = is_switch,
                           .names = is_switch ? states : NULL,
                           .name_count = is_switch ? 2 : 0,
                           .expected = is_switch ? "on or off" : "a value in its range"};
    return true;
}

#define ARG(field) INTO(struct lesson, field)
static const struct option rows[] = {
    {"GAME", .take = take_game, .value_at = game_at},
    {"seeds", "N", "train N times, from --seed on (default: 1)", .kind = OPTION_WHOLE, ARG(seeds),
     .least = 1, .most = SEEDS_MAX},
    {"seed", "FIRST", "the first seed (default: 1)", .kind = OPTION_WHOLE, ARG(seed),
     .most = 1u << 30},
    {"decisions", "N", "decisions of one training (default: the game's)", .take = take_decisions,
     .expected = "a number of decisions"},
    {"variant", "N", "of a game that has several", .take = take_variant,
     .expected = "0 to 1000, for games that are not probes"},
    {"preset", "NAME", "begin with these settings instead of the game's", .take = take_preset,
     .value_at = preset_at, .expected = "one of the presets below"},
    {0},
};
#undef ARG
static const struct option_set options[] = {{.rows = rows}, {.row = setting_row}, {0}};

static void add_episode(struct record *r, double reward)
{
    double *slot = &r->value[r->episodes++ % LAST];

    r->sum += reward - *slot;
    *slot = reward;
}

static double mean_reward(const struct record *r)
{
    return r->episodes ? r->sum / (double)(r->episodes < LAST ? r->episodes : LAST) : NAN;
}

/* A bar of at most BAR characters for a share of 0 .. 1. */
static void print_bar(double share, char mark)
{
    int length = isfinite(share) ? (int)lround(fmin(fmax(share, 0), 1) * BAR) : 0;

    putchar('|');
    for (int i = 0; i < BAR; i++)
        putchar(i < length ? mark : ' ');
}

/* Both curves run downwards, one line at a time. `low` is what random play earned. */
static void print_line(const struct lesson *l, struct record *r, const struct rl_run *run,
                       double low)
{
    struct rl_counts c = rl_agent_counts(run->agent);
    double reward = mean_reward(r), loss = r->updates ? r->loss / (double)r->updates : NAN;

    r->loss_high = isfinite(loss) ? fmax(r->loss_high, loss) : r->loss_high;
    printf("%10llu %9llu %7.2f ", (unsigned long long)c.decisions, (unsigned long long)c.episodes,
           rl_agent_epsilon(run->agent));
    if (isfinite(reward))
        printf("%9.2f ", reward);
    else
        printf("%9s ", "-");
    print_bar((reward - low) / (l->game->best_reward - low), '#');
    if (isfinite(loss))
        printf("| %9.2g ", loss);
    else
        printf("| %9s ", "-");
    print_bar(r->loss_high > 0 ? loss / r->loss_high : 0, 'o');
    puts("|");
    fflush(stdout);
    r->loss = 0;
    r->updates = 0;
}

/* Mean reward of `trials` episodes with a share of random actions. */
static int try_out(struct rl_agent *a, const struct lesson *l, double epsilon, double *mean)
{
    unsigned char memory[RL_GAME_SIZE_MAX] __attribute__((aligned(16)));
    struct rl_env env;
    struct rl_rng rng;
    int code = RL_OK;

    *mean = 0;
    l->game->begin(memory, l->variant, &env);
    rl_rng_seed(&rng, l->seed, 77);
    for (int i = 0; i < TRIALS && !code; i++) {
        double reward;
        code = rl_run_trial(a, &env, epsilon, &rng, &reward);
        *mean += reward / TRIALS;
    }
    return code;
}

/* The decisions of one seed, a line for every 1/LINES of them. */
static int train_lesson(const struct lesson *l, struct rl_run *run, double low, struct mark *mark)
{
    struct record r = {.sum = 0};
    uint32_t every = l->decisions / LINES ? l->decisions / LINES : 1;
    struct rl_step step;

    printf("%10s %9s %7s %9s %-*s  %9s %s\n", "decisions", "episodes", "epsilon", "reward", BAR + 1,
           "", "loss", "");
    for (uint32_t i = 1; i <= l->decisions; i++) {
        int code = rl_run_step(run, -1, &step);
        if (code)
            return code;
        if (step.updates > 0) {
            r.loss += step.update.loss;
            r.updates++;
        }
        if (step.end != RL_GOES_ON)
            add_episode(&r, step.reward_sum);
        if (i % every == 0 || i == l->decisions)
            print_line(l, &r, run, low);
    }
    mark->last = mean_reward(&r);
    return try_out(run->agent, l, 0, &mark->greedy);
}

/* A probe's answer is its Q values: shown with what they should be read against. */
static void print_probe(struct rl_agent *a, const struct lesson *l)
{
    const struct rl_probe_rule *rule = &rl_probe_table[l->variant];

    puts("  Q values (- illegal):");
    for (uint32_t at = 0; at < rule->length; at++) {
        for (int sign = rule->observed ? -1 : 0; sign <= 1; sign += 2) {
            float seen[2] = {(float)(rule->observed ? sign : 0), (float)(rule->timed ? at : 0)};
            float q[RL_PROBE_ACTIONS];
            rl_agent_q(a, seen, &rule->legal[at], q);
            printf("  decision %u, sees %+.0f:", at + 1, (double)seen[0]);
            for (uint32_t k = 0; k < RL_PROBE_ACTIONS; k++) {
                if (rule->legal[at] >> k & 1)
                    printf(" %7.3f", (double)q[k]);
                else
                    printf(" %7s", "-");
            }
            putchar('\n');
        }
    }
}

static int teach_one(const struct lesson *l, uint64_t seed, struct mark *mark)
{
    unsigned char memory[RL_GAME_SIZE_MAX] __attribute__((aligned(16)));
    struct rl_env env;
    struct rl_run run = {.agent = NULL};
    struct rl_agent *a;
    double low = 0;

    l->game->begin(memory, l->variant, &env);
    struct rl_shape shape = {env.observation_size, env.action_count, env.context_count};
    int code = rl_agent_new(&a, &shape, &l->settings, seed);
    if (code)
        return code;
    code = try_out(a, l, 1, &low);
    if (!code)
        code = rl_run_init(&run, &env, a, seed);
    if (!code) {
        printf("%s, seed %llu; random play earns %.2f, the best about %g\n", l->game->name,
               (unsigned long long)seed, low, l->game->best_reward);
        code = train_lesson(l, &run, low, mark);
    }
    if (!code)
        printf("seed %llu: last %d training episodes %.2f, %d greedy episodes %.2f\n",
               (unsigned long long)seed, LAST, mark->last, TRIALS, mark->greedy);
    if (!code && l->game->is_probe)
        print_probe(a, l);
    rl_run_release(&run);
    rl_agent_free(a);
    return code;
}

static void print_marks(const struct mark *marks, uint32_t count)
{
    double sum = 0, squares = 0, least = INFINITY, most = -INFINITY;

    printf("\n%u seeds, last %d training episodes:", count, LAST);
    for (uint32_t i = 0; i < count; i++) {
        double v = marks[i].last;
        printf(" %.1f", v);
        sum += v;
        squares += v * v;
        least = fmin(least, v);
        most = fmax(most, v);
    }
    double mean = sum / count;
    printf("\nmean %.2f, standard deviation %.2f, from %.2f to %.2f\n", mean,
           sqrt(fmax(0, squares / count - mean * mean)), least, most);
}

static int run_teach(int argc, char **argv)
{
    const struct option_parser parser = {"teach", options, NULL};
    struct lesson l = {.seeds = 1, .seed = 1};
    struct mark marks[SEEDS_MAX];
    const char *which = NULL;
    int parsed = options_parse(&parser, &l, argc, argv);

    if (parsed)
        return parsed;
    if (!l.game)
        return options_complain("teach", "GAME is missing");
    if (rl_settings_check(&l.settings, &which))
        return options_complain("teach", "%s is out of range", which);
    for (uint32_t i = 0; i < l.seeds; i++) {
        int code = teach_one(&l, l.seed + i, &marks[i]);
        if (code) {
            fprintf(stderr, "automap teach: %s\n", rl_error_text(code));
            return EXIT_INPUT;
        }
    }
    if (l.seeds > 1)
        print_marks(marks, l.seeds);
    return EXIT_OK;
}

const struct command command_teach = {
    .name = "teach",
    .usage = "GAME [--SETTING VALUE ...] [--no-SWITCH ...]",
    .summary = "watch the learner learn a game with a known answer",
    .about = "Trains on a game with a known answer, and shows every seed.",
    .options = options,
    .print_more = print_tables,
    .run = run_teach,
};
