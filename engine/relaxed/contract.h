/* engine/relaxed/contract.h - nodes that decide each other become one, exactly.
 *
 * Costs of `forbidden` and more are paid by no labelling that counts. Three rules, until none
 * applies:
 *   - a label whose every partner across some edge is forbidden goes (arc consistency);
 *   - where each label of a leaves one label of b, b's costs and edges become a's (a permutation is
 *     the common case: values that must be split alike);
 *   - an edge whose table is a sum f(a) + g(b) becomes costs of its ends; so does all of a node
 *     with one label left.
 * The energy of a labelling is the same before and after. A walk over single labels, or over
 * trees of them, cannot leave a ring of such ties, which is what makes this worth its time: of the
 * graphs of the IOPDDL contest 0.3 % to 42 % of the nodes stay, and no forbidden pair. */
#ifndef AUTOMAP_ENGINE_RELAXED_CONTRACT_H
#define AUTOMAP_ENGINE_RELAXED_CONTRACT_H

#include "engine/relaxed/energy.h"
#include "engine/relaxed/tables.h"
#include "hlo/support/err.h"
#include "hlo/support/stop.h"

#define CONTRACTION_FIXED UINT32_MAX

struct contraction {
    struct tables tables; /* of `left` */
    struct energy left;
    uint32_t whole_nodes;
    uint32_t *owner; /* [whole nodes] the node of `left` that decides it; or CONTRACTION_FIXED */
    size_t *map;     /* [whole nodes] into label: by its owner's label, or one label */
    uint16_t *label;
};

/* ERR_INFEASIBLE: every labelling has a forbidden cost. Every cost is 0 or more. Once `stop` (NULL:
 * never) is set no rule is applied any more: what is left is larger, and as exact. O(nodes + edges)
 * operations on tables times the labels that go. */
int energy_contract(const struct energy *g, double forbidden, const atomic_bool *stop,
                    struct contraction *out, struct err *e) MUST_CHECK;
void contraction_release(struct contraction *c);
/* Labels of the whole. */
void contraction_expand(const struct contraction *c, const uint16_t *left, uint16_t *x);

#endif
