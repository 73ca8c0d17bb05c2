/* engine/place/cut_bound.h - what the device of one position takes at least, whatever else is on
 * it: the least over all sets S with it of work(S) + weights of the nets S cuts.
 *
 * That is a minimum cut (Lawler 1973, hypergraph cuts as flow): a net is an arc of its weight
 * between two vertices that its pins lead into and out of, work an arc to the sink. */
#ifndef AUTOMAP_ENGINE_PLACE_CUT_BOUND_H
#define AUTOMAP_ENGINE_PLACE_CUT_BOUND_H

#include "engine/place/nets.h"
#include "hlo/support/err.h"

enum { PLACE_CUT_FLOWS = 12 }; /* positions looked at, heaviest first */

/* *out: no plan of any sets is below; 0 where the rules are not "sum, passes together".
 * O(PLACE_CUT_FLOWS flows in a graph of positions and nets); a flow ends after a fixed number of
 * rounds, which leaves the bound valid. */
int place_cut_bound(const struct place_nets *n, const struct place_rules *r, double *out,
                    struct err *e) MUST_CHECK;

#endif
