/* engine/place/branch.h - plans of any sets, proven: branch and bound on positions.
 *
 * Positions are placed heavy ones first. A device's load so far counts its work and every net that
 * is cut whatever comes; what is left must fit the room below the best value, shared out without
 * loss. Equal devices are tried once (a position may open the first unused one only). Small
 * instances are proven; on large ones the budget ends it and the plan stands as it was. */
#ifndef AUTOMAP_ENGINE_PLACE_BRANCH_H
#define AUTOMAP_ENGINE_PLACE_BRANCH_H

#include "engine/place/nets.h"
#include "engine/place/operator_graph.h"
#include "engine/place/placement.h"
#include "hlo/support/err.h"

enum { PLACE_BRANCH_MOST = 2000 }; /* positions; with more nothing is tried */

struct place_branching {
    struct place_rules rules;
    uint64_t nodes;          /* of the tree; 0: 2 million */
    const atomic_bool *stop; /* NULL: cannot be stopped */
};

/* `start`, which keeps all rules, becomes the best plan: its value and devices where a better one
 * is found, and proven when the tree was searched whole. With start->value_ms INFINITY nothing is
 * known yet; ERR_INFEASIBLE then says that no plan keeps the rules (proven) or none was met. */
int place_branch(const struct place_graph *g, const struct place_branching *b,
                 struct placement *start, struct err *e) MUST_CHECK;

#endif
