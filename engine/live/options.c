#include "engine/live/options.h"

#include <string.h>

static bool find_word(const char *value, const char *const *words, int count, int *out)
{
    for (*out = 0; *out < count; ++*out) {
        if (!strcmp(value, words[*out]))
            return true;
    }
    return false;
}

/* Options of the game: true when `name` is one and `value` fits. */
static bool set_game(struct search_options *o, const char *name, const char *value)
{
    static const char *const kinds[] = {"opp", "adp", "all"}, *const rewards[] = {"cost", "paper"},
                             *const switches[] = {"off", "on"}, *const waves[] = {"full", "weak"};
    int n;

    if (!strcmp(name, "kind") && find_word(value, kinds, 3, &n)) {
        o->game.kind = (enum game_kind)n;
        o->rl_set = false;
    } else if (!strcmp(name, "reward") && find_word(value, rewards, 2, &n)) {
        o->game.reward = (enum game_reward)n;
        o->rl_set = false;
    } else if (!strcmp(name, "folding") && find_word(value, switches, 2, &n)) {
        o->game.no_folding = !n;
    } else if (!strcmp(name, "propagation") && find_word(value, waves, 2, &n)) {
        o->game.weak = n == 1;
    } else {
        return false;
    }
    return true;
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
        char *end;
        unsigned long long number = strtoull(value, &end, 10);
        if (value[0] >= '0' && value[0] <= '9' && !*end &&
            (seed || (number >= 1 && number <= UINT32_MAX))) {
            if (seed)
                o->seed = number;
            else
                o->stable_episodes = (uint32_t)number;
            return 0;
        }
    }
    if (!o->rl_set)
        o->rl = *search_preset(&o->game);
    if (rl_settings_set(&o->rl, name, value) == 0) {
        o->rl_set = true;
        return 0;
    }
    return err_set(e, ERR_INPUT, "set %.40s %.60s: no such option or value", name, value);
}
