/* engine/relaxed/fold_energy.h - equal layers as one: an energy in which nodes of one colour share
 * a label.
 *
 * Colour refinement: nodes start with the colour of their costs, and take, round by round, that of
 * their edges' tables and neighbours. After r rounds nodes of one colour see the same costs up to r
 * edges away. The folded energy of a labelling of colours is the energy of giving it to all
 * members: its optimum is the best plan that treats equal layers alike, its bound a bound on those
 * (tied). */
#ifndef AUTOMAP_ENGINE_RELAXED_FOLD_ENERGY_H
#define AUTOMAP_ENGINE_RELAXED_FOLD_ENERGY_H

#include "engine/relaxed/energy.h"
#include "hlo/support/err.h"

struct folded_energy {
    struct energy energy; /* a node per colour, in order of first members */
    uint32_t *colour;     /* [nodes of the whole] */
    uint32_t *member;     /* [colours] first member */
};

/* `kind` [nodes]: nodes of different kinds get different colours: what kind of node, and the label
 * in a plan that must stay possible. O(rounds x edges). */
int fold_energy_new(const struct energy *g, const uint32_t *kind, uint32_t rounds,
                    struct folded_energy *out, struct err *e) MUST_CHECK;
void fold_energy_release(struct folded_energy *f);

#endif
