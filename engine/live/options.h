/* engine/live/options.h - the options of a search by name, for commands, scripts and command lines.
 *
 *     algorithm dqn|random|greedy|enumerate|anneal|exact    kind opp|adp|all    reward cost|paper
 *     folding on|off    propagation full|weak    memory-limit none|device|SIZE
 *     seed N    stable-episodes N
 * and every setting of the learner (rl/settings.h); `epsilon N` sets both ends of its schedule.
 * Setting kind or reward restores the learner's preset for them. SIZE as in quantity.h: 12.8 GB. */
#ifndef AUTOMAP_ENGINE_LIVE_OPTIONS_H
#define AUTOMAP_ENGINE_LIVE_OPTIONS_H

#include "engine/search/search.h"
#include "hlo/support/err.h"

/* ERR_INPUT: no such option or value; nothing changes. */
int live_option_set(struct search_options *o, const char *name, const char *value,
                    struct err *e) MUST_CHECK;

/* The list of all options, for screens: those above first. */
struct live_option {
    const char *name, *summary;
    const char *values; /* "cost paper"; NULL: a number, or widths such as 64-64 */
};
bool live_option_at(size_t i, struct live_option *out); /* false: no i-th */
/* Writes its value in the form live_option_set accepts. */
void live_option_print(const struct search_options *o, size_t i, char *out, size_t room);

/* Whether a search under `a` can continue under `b`; if not, a new one must begin. */
bool live_options_go_on(const struct search_options *a, const struct search_options *b);

#endif
