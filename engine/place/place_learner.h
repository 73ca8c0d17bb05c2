/* engine/place/place_learner.h - the DQN at placement: it plays place_game.h, and its best plan is
 * kept.
 *
 * rl/agent.h with the settings "planner", smaller and trained less often, since an episode has as
 * many decisions as the graph has positions. It explores over the first half of its episodes. */
#ifndef AUTOMAP_ENGINE_PLACE_PLACE_LEARNER_H
#define AUTOMAP_ENGINE_PLACE_PLACE_LEARNER_H

#include "engine/place/contiguous.h"
#include "engine/place/operator_graph.h"
#include "engine/place/placement.h"
#include "hlo/support/err.h"

/* `episodes` 0: 300. Contiguous plans unless any_sets; bound and contracts as the baselines'.
 * ERR_LIMIT: more than 64 devices; ERR_INFEASIBLE: no episode kept all rules. */
int place_learn(const struct place_graph *g, const struct place_asking *a, bool any_sets,
                uint64_t episodes, struct placement **out, struct err *e) MUST_CHECK;

#endif
