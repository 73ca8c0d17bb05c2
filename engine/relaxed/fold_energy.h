/* engine/relaxed/fold_energy.h - folds equal layers: an energy in which nodes of one colour share a
 * label.
 *
 * Colour refinement: nodes start with a colour for their costs; each round refines it by the tables
 * of their edges and the colours of their neighbours. After r rounds nodes of one colour see the
 * same costs up to r edges away. The folded energy of a labelling of colours is the energy when all
 * members take their colour's label. Its optimum is the best plan that treats equal layers alike,
 * and its bound holds for such plans (tied). */
#ifndef AUTOMAP_ENGINE_RELAXED_FOLD_ENERGY_H
#define AUTOMAP_ENGINE_RELAXED_FOLD_ENERGY_H

#include "engine/relaxed/energy.h"
#include "hlo/support/err.h"

struct folded_energy {
    struct energy energy; /* a node per colour, in order of first members */
    uint32_t *colour;     /* [nodes of the whole] */
    uint32_t *member;     /* [colours] first member */
};

/* `kind` [nodes]: nodes of different kinds get different colours. A kind combines the node's type
 * with its label in a plan that must stay expressible. O(rounds x edges). */
int fold_energy_new(const struct energy *g, const uint32_t *kind, uint32_t rounds,
                    struct folded_energy *out, struct err *e) MUST_CHECK;
void fold_energy_release(struct folded_energy *f);

#endif
