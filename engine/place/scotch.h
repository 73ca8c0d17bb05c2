/* engine/place/scotch.h - Scotch (Pellegrini, LaBRI): the partitioner of graphs, as an opponent.
 *
 * As in Tarnawski et al.: classes are vertices (weight: time on an accelerator), two classes are
 * joined by the sum of the transfers between them, each producer once, in both directions. Scotch
 * keeps the parts level and cuts little; memory, cores and pins it does not know. The program
 * `scotch_gpart` (Debian) or `gpart` is looked for in PATH and run; with its fixed seed the answer
 * is the same each time. */
#ifndef AUTOMAP_ENGINE_PLACE_SCOTCH_H
#define AUTOMAP_ENGINE_PLACE_SCOTCH_H

#include "engine/place/contiguous.h"
#include "engine/place/operator_graph.h"
#include "engine/place/placement.h"
#include "hlo/support/err.h"

/* ERR_USAGE: it is not installed. ERR_IO: it could not be run or gave no answer. ERR_INFEASIBLE: no
 * accelerator, or a pin or kind is broken. Memory that is exceeded is in placement.faults. Ended
 * with a->stop within 20 ms. */
int place_scotch(const struct place_graph *g, const struct place_asking *a, struct placement **out,
                 struct err *e) MUST_CHECK;

#endif
