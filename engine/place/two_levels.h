/* engine/place/two_levels.h - contiguous plans on several servers: a better one, and the proof.
 *
 * The program of servers.h over the prefixes of orders, coarse ones first, then over all ideals:
 * then the plan is the best of those in which servers, too, take differences of a chain. */
#ifndef AUTOMAP_ENGINE_PLACE_TWO_LEVELS_H
#define AUTOMAP_ENGINE_PLACE_TWO_LEVELS_H

#include "engine/place/contiguous.h"
#include "engine/place/operator_graph.h"
#include "engine/place/placement.h"
#include "hlo/support/err.h"

/* place_servers_apply must hold. `plan`, which keeps all rules, becomes a better one where one is
 * found: value, devices, stages, algo; bound, proven and bound_by where all ideals could be gone
 * through. */
int place_two_levels(const struct place_graph *g, const struct place_asking *a,
                     struct placement *plan, struct err *e) MUST_CHECK;

#endif
