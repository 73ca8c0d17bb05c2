/* engine/place/coarsen.h - makes large graphs small by joining neighbours along an order.
 *
 * Along a topological order, stretches of about equal work become one position each; within its
 * slot a stretch ends where the fewest bytes cross. Costs of the plans that remain possible stay
 * exact (nets.h). Around the cuts of a given plan the stretches stay short, so that a second round
 * can place the cuts more precisely. */
#ifndef AUTOMAP_ENGINE_PLACE_COARSEN_H
#define AUTOMAP_ENGINE_PLACE_COARSEN_H

#include "engine/place/chain_program.h"
#include "engine/place/prepare.h"
#include "hlo/support/err.h"

/* About `target` positions, twice that where cuts are refined. `stage_of` by position of p, or
 * NULL: of the plan whose cuts are refined; stretches around them are 16 times shorter in each of
 * the `rounds` of refining. *group_of, by position of p, is freed by the caller. O(pins + positions
 * log). */
int place_coarsen(const struct place_prepared *p, const uint32_t *order, uint32_t target,
                  const uint32_t *stage_of, uint32_t rounds, struct place_prepared **out,
                  uint32_t **group_of, struct err *e) MUST_CHECK;

/* Makes the chain of a coarse graph that of the positions it was made from. ERR_MEMORY. */
int place_coarsen_undo(struct place_chain *c, const uint32_t *group_of, uint32_t positions,
                       struct err *e) MUST_CHECK;

#endif
