/* engine/place/reduce.h - what all plans below a value have in common.
 *
 * Given a plan of value U, better plans keep two positions together if parting them costs U or
 * more, their own work included, wherever either goes. (With two cores or more both could be on the
 * host for nothing, so then nothing is joined.) Better plans also avoid kinds of devices on which a
 * position alone takes U or more. Both rules repeat until nothing changes.
 */
#ifndef AUTOMAP_ENGINE_PLACE_REDUCE_H
#define AUTOMAP_ENGINE_PLACE_REDUCE_H

#include "engine/place/nets.h"
#include "engine/place/operator_graph.h"
#include "hlo/support/err.h"

/* Positions of any sets for plans of value at most `value_ms` (and a hair). ERR_INFEASIBLE: there
 * is none. O(rounds x sum of squared net sizes up to 32 pins). */
int place_reduce(const struct place_graph *g, const struct place_rules *r, double value_ms,
                 struct place_nets **out, struct err *e) MUST_CHECK;

#endif
