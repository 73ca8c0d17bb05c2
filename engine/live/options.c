#include "engine/live/options.h"

#include "engine/live/command.h"
#include "engine/search/game.h"
#include "engine/text/quantity.h"
#include "hlo/support/err.h"
#include "rl/settings.h"

#include <stdio.h>
#include <string.h>

static bool find_word(const char *value, const char *const *words, int count, int *out)
{
    for (*out = 0; *out < count; ++*out) {
        if (!strcmp(value, words[*out]))
            return true;
    }
    return false;
}

static bool set_limit(struct search_options *o, const char *value)
{
    struct err e;
    double bytes = 0;

    if (!strcmp(value, "device"))
        bytes = MEMORY_LIMIT_DEVICE;
    else if (strcmp(value, "none") != 0 &&
             (quantity_read(value, QUANTITY_BYTES, &bytes, &e) || bytes < 1))
        return false;
    o->game.memory_limit = bytes;
    return true;
}

/* Options of the game: true when `name` is one and `value` fits. */
static bool set_game(struct search_options *o, const char *name, const char *value)
{
    static const char *const kinds[] = {"opp", "adp", "all"}, *const rewards[] = {"cost", "paper"},
                             *const switches[] = {"off", "on"}, *const waves[] = {"full", "weak"},
                             *const states[] = {"one-hot", "continuous", "paper"},
                             *const candidates[] = {"data", "paper"},
                             *const presets[] = {"default", "paper"};
    int n;

    if (!strcmp(name, "preset") && find_word(value, presets, 2, &n)) {
        search_options_preset(o, n == 1);
    } else if (!strcmp(name, "kind") && find_word(value, kinds, 3, &n)) {
        o->game.kind = (enum game_kind)n;
        o->rl_set = false;
    } else if (!strcmp(name, "reward") && find_word(value, rewards, 2, &n)) {
        o->game.reward = (enum game_reward)n;
        o->rl_set = false;
    } else if (!strcmp(name, "folding") && find_word(value, switches, 2, &n)) {
        o->game.no_folding = !n;
    } else if (!strcmp(name, "propagation") && find_word(value, waves, 2, &n)) {
        o->game.weak = n == 1;
    } else if (!strcmp(name, "state") && find_word(value, states, 3, &n)) {
        o->continuous = n == 1;
        o->game.paper_state = n == 2;
    } else if (!strcmp(name, "candidates") && find_word(value, candidates, 2, &n)) {
        o->game.paper_candidates = n == 1;
    } else {
        return !strcmp(name, "memory-limit") && set_limit(o, value);
    }
    return true;
}

/* "one, two or three" of "one two three". */
static void write_values(const char *values, char *out, size_t room)
{
    size_t used = 0;

    while (*values && used < room) {
        size_t size = strcspn(values, " ");
        const char *next = values + size + (values[size] == ' ');
        used += (size_t)snprintf(out + used, room - used, "%s%.*s",
                                 !used   ? ""
                                 : *next ? ", "
                                         : " or ",
                                 (int)size, values);
        values = next;
    }
}

/* As rl_settings_set reads names: - and _ are one. */
static bool is_called(const char *name, const char *typed)
{
    while (*name && (*name == *typed || (strchr("-_", *name) && *typed && strchr("-_", *typed)))) {
        name++;
        typed++;
    }
    return !*name && !*typed;
}

static int refuse_name(const char *name, const char *value, struct err *e)
{
    for (int verb = COMMAND_CLUSTER; verb <= COMMAND_BATCH; verb++) {
        if (!strcmp(name, live_command_names[verb]))
            return err_set(e, ERR_INPUT,
                           "set %s: it is an edit of the problem, without set: %s %.60s", name,
                           name, value);
    }
    return err_set(e, ERR_INPUT, "set %.60s: there is no option of that name", name);
}

static int refuse(const char *name, const char *value, struct err *e)
{
    const struct rl_setting *row = rl_setting_table;
    const char *known = !strcmp(name, "epsilon") ? "epsilon_start" : name;
    struct live_option o = {0};
    char values[160];
    size_t i = 0;

    while (live_option_at(i, &o) && !is_called(o.name, known))
        i++;
    if (!live_option_at(i, &o))
        return refuse_name(name, value, e);
    if (o.values) {
        write_values(o.values, values, sizeof values);
        return err_set(e, ERR_INPUT, "set %.40s %.60s, expected %s", name, value, values);
    }
    while (row->name && !is_called(row->name, known))
        row++;
    if (row->name && row->kind == RL_KIND_WIDTHS)
        return err_set(e, ERR_INPUT, "set %.40s %.60s, expected widths such as 128-128", name,
                       value);
    if (row->name)
        return err_set(e, ERR_INPUT, "set %.40s %.60s, expected a%s number from %.15g to %.15g",
                       name, value, row->kind == RL_KIND_COUNT ? " whole" : "", row->least,
                       row->most);
    return err_set(e, ERR_INPUT, "set %.40s %.60s, expected %s", name, value,
                   !strcmp(name, "memory-limit") ? "none, device or a size such as 12 GB"
                                                 : "a whole number");
}

int live_option_set(struct search_options *o, const char *name, const char *value, struct err *e)
{
    int n;

    if (!strcmp(name, "algorithm") && find_word(value, search_names, SEARCH_ALGORITHM_COUNT, &n)) {
        o->algorithm = (enum search_algorithm)n;
        return 0;
    }
    if (set_game(o, name, value))
        return 0;
    bool seed = !strcmp(name, "seed");
    if (seed || !strcmp(name, "stable-episodes")) {
        uint64_t number;
        if (quantity_whole(value, seed ? UINT64_MAX : UINT32_MAX, &number) && (seed || number)) {
            if (seed)
                o->seed = number;
            else
                o->stable_episodes = (uint32_t)number;
            return 0;
        }
    }
    if (!o->rl_set)
        o->rl = *search_preset(o);
    if (!strcmp(name, "epsilon")) {
        struct rl_settings both = o->rl;
        if (rl_settings_set(&both, "epsilon-start", value) == 0 &&
            rl_settings_set(&both, "epsilon-end", value) == 0) {
            o->rl = both;
            o->rl_set = true;
            return 0;
        }
    }
    if (rl_settings_set(&o->rl, name, value) == 0) {
        o->rl_set = true;
        return 0;
    }
    return refuse(name, value, e);
}

/* ---- for screens ---- */

static const struct live_option own[] = {
    {"algorithm", "who searches", "dqn random greedy enumerate anneal exact"},
    {"kind", "what is decided: opp variables, adp inputs, all both and the rest", "opp adp all"},
    {"reward", "cost: step time; paper: 0.4 per split dim of a variable", "cost paper"},
    {"folding", "repeated layers are decided alike", "on off"},
    {"propagation", "full: what follows is settled at once; weak: a clash ends the episode",
     "full weak"},
    {"state",
     "one-hot: the DQN plays from the first; continuous: a network of all models leads; paper: the "
     "DQN sees -1, 0, 1 and an integer",
     "one-hot continuous paper"},
    {"candidates", "of adp: data, or paper: every parameter that is no variable (weak)",
     "data paper"},
    {"preset", "paper: Auto-MAP as published; default: ours", "default paper"},
    {"memory-limit", "none, device (less 20 %) or a size such as 12 GB", NULL},
    {"seed", "of everything random", NULL},
    {"stable-episodes", "without a better plan, then stage 2 sets back and repairs", NULL},
};
enum { OWN = sizeof own / sizeof *own };

bool live_option_at(size_t i, struct live_option *out)
{
    if (i < OWN) {
        *out = own[i];
        return true;
    }
    for (size_t k = 0; k <= i - OWN; k++) {
        if (!rl_setting_table[k].name)
            return false;
    }
    const struct rl_setting *row = &rl_setting_table[i - OWN];
    *out = (struct live_option){row->name, row->summary,
                                row->kind == RL_KIND_SWITCH ? "on off" : NULL};
    return true;
}

static void print_limit(double bytes, char *out, size_t room)
{
    if (bytes > 0)
        snprintf(out, room, "%.15g GB", bytes / 1e9);
    else
        snprintf(out, room, "%s", bytes == MEMORY_LIMIT_DEVICE ? "device" : "none");
}

void live_option_print(const struct search_options *o, size_t i, char *out, size_t room)
{
    static const char *const kinds[] = {"opp", "adp", "all"};
    const char *words[] = {search_names[o->algorithm],
                           kinds[o->game.kind],
                           o->game.reward == GAME_REWARD_PAPER ? "paper" : "cost",
                           o->game.no_folding ? "off" : "on",
                           o->game.weak ? "weak" : "full",
                           o->continuous         ? "continuous"
                           : o->game.paper_state ? "paper"
                                                 : "one-hot",
                           o->game.paper_candidates ? "paper" : "data",
                           o->paper ? "paper" : "default"};

    if (i < sizeof words / sizeof *words)
        snprintf(out, room, "%s", words[i]);
    else if (i == OWN - 3)
        print_limit(o->game.memory_limit, out, room);
    else if (i < OWN)
        snprintf(out, room, "%llu",
                 i == OWN - 2         ? (unsigned long long)o->seed
                 : o->stable_episodes ? o->stable_episodes
                                      : 60ull);
    else
        rl_settings_print(o->rl_set ? &o->rl : search_preset(o), &rl_setting_table[i - OWN], out,
                          room);
}

bool live_options_go_on(const struct search_options *a, const struct search_options *b)
{
    const struct rl_settings *x = a->rl_set ? &a->rl : search_preset(a),
                             *y = b->rl_set ? &b->rl : search_preset(b);

    return a->algorithm == b->algorithm && game_options_equal(&a->game, &b->game) &&
           a->seed == b->seed && a->stable_episodes == b->stable_episodes &&
           a->anneal_steps == b->anneal_steps && a->continuous == b->continuous &&
           a->paper == b->paper && !memcmp(x->hidden, y->hidden, sizeof x->hidden) &&
           x->replay_capacity == y->replay_capacity;
}
