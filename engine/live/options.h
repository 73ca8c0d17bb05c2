/* engine/live/options.h - the options of a search by name, for commands, scripts and command lines.
 *
 *     algorithm dqn|random|greedy|enumerate|anneal|exact    kind opp|adp|all    reward cost|paper
 *     folding on|off    propagation full|weak    seed N    stable-episodes N
 * and every setting of the learner (rl/settings.h). Setting kind or reward goes back to the
 * learner's preset for them. */
#ifndef AUTOMAP_ENGINE_LIVE_OPTIONS_H
#define AUTOMAP_ENGINE_LIVE_OPTIONS_H

#include "engine/search/search.h"

/* ERR_INPUT: no such option or value; nothing changed. */
int live_option_set(struct search_options *o, const char *name, const char *value,
                    struct err *e) MUST_CHECK;

#endif
