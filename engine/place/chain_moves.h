/* engine/place/chain_moves.h - betters a contiguous plan by moves that keep it one.
 *
 * A position goes to a later stage with all that follows it and stands before that stage, or to an
 * earlier one with all that precedes it and stands behind. So every plan met is a chain of ideals,
 * and none is out of reach. Annealed (Kirkpatrick et al. 1983): for graphs with more ideals than
 * can be listed. */
#ifndef AUTOMAP_ENGINE_PLACE_CHAIN_MOVES_H
#define AUTOMAP_ENGINE_PLACE_CHAIN_MOVES_H

#include "engine/place/chain_program.h"
#include "engine/place/nets.h"
#include "engine/place/prepare.h"
#include "hlo/support/err.h"

#include <stdatomic.h>

struct place_chain_moving {
    const struct place_rules *rules; /* one copy a stage */
    uint64_t moves, seed;
    const atomic_bool *stop;
};

/* From chain c; accelerators it leaves idle may become its last stages. *out is a better chain,
 * with its value, or NULL. ERR_MEMORY. O(moves x nets of what moves). */
int place_chain_move(const struct place_prepared *p, const struct place_chain_moving *m,
                     const struct place_chain *c, struct place_chain **out,
                     struct err *e) MUST_CHECK;

#endif
