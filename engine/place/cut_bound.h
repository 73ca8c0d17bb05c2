/* engine/place/cut_bound.h - a lower bound for the load of the device that holds one position: the
 * least work(S) + weights of the nets S cuts, over all sets S that contain it.
 *
 * That is a minimum cut (Lawler 1973, hypergraph cuts as flow). A net is an arc of its weight
 * between two vertices; its pins lead into the first and out of the second. Work is an arc to the
 * sink. */
#ifndef AUTOMAP_ENGINE_PLACE_CUT_BOUND_H
#define AUTOMAP_ENGINE_PLACE_CUT_BOUND_H

#include "engine/place/nets.h"
#include "hlo/support/err.h"

enum { PLACE_CUT_FLOWS = 12 }; /* positions looked at, heaviest first */

/* *out: no plan of any sets is shorter; 0 unless the rules are "sum, passes together".
 * O(PLACE_CUT_FLOWS flows in a graph of positions and nets); a flow stops after a fixed number of
 * rounds; the bound is valid all the same. */
int place_cut_bound(const struct place_nets *n, const struct place_rules *r, double *out,
                    struct err *e) MUST_CHECK;

#endif
