/* engine/place/two_levels.h - contiguous plans on several servers: improves one and proves it.
 *
 * Runs the program of servers.h over the prefixes of orders, coarse ones first, then over all
 * ideals. The latter proves the plan the best of those in which servers, too, take differences of a
 * chain. */
#ifndef AUTOMAP_ENGINE_PLACE_TWO_LEVELS_H
#define AUTOMAP_ENGINE_PLACE_TWO_LEVELS_H

#include "engine/place/contiguous.h"
#include "engine/place/operator_graph.h"
#include "engine/place/placement.h"
#include "hlo/support/err.h"

/* place_servers_apply must hold, and `plan` keep all rules; in_turn: its servers come one after
 * another, so that only a better plan replaces it, else any such plan does. Then if all ideals
 * could be tried, bound, proven and bound_by are set too. ERR_INFEASIBLE: nothing reaches the
 * target.
 */
int place_two_levels(const struct place_graph *g, const struct place_asking *a, bool in_turn,
                     struct placement *plan, struct err *e) MUST_CHECK;

#endif
