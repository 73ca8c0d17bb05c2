/* engine/place/reduce.h - what every plan below a value has in common.
 *
 * With a plan of value U at hand, better ones keep together what cannot be paid apart: positions
 * that would move U or more, their own work included, wherever either of them goes (with two cores
 * or more both could be on the host for nothing, so then nothing is joined). And they leave out
 * kinds of devices on which a position alone takes U or more. Repeated until nothing more follows.
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
