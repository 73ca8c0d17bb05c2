/* engine/place/scotch.h - Scotch (Pellegrini, LaBRI): the partitioner of graphs, as an opponent.
 *
 * As in Tarnawski et al.: classes are vertices (weight: time on an accelerator), two classes are
 * joined by the sum of the transfers between them, each producer once, in both directions. Scotch
 * balances the parts and cuts little; it knows nothing of memory, cores and pins. Runs
 * `scotch_gpart` (Debian) or `gpart` from PATH; with its fixed seed the answer is always the same.
 */
#ifndef AUTOMAP_ENGINE_PLACE_SCOTCH_H
#define AUTOMAP_ENGINE_PLACE_SCOTCH_H

#include "engine/place/contiguous.h"
#include "engine/place/operator_graph.h"
#include "engine/place/placement.h"
#include "hlo/support/err.h"

/* ERR_USAGE: it is not installed. ERR_IO: it could not be run or gave no answer. ERR_INFEASIBLE: no
 * accelerator, or a pin or kind is broken. placement.faults says where memory is exceeded. a->stop
 * ends it within 20 ms. */
int place_scotch(const struct place_graph *g, const struct place_asking *a, struct placement **out,
                 struct err *e) MUST_CHECK;

#endif
