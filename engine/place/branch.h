/* engine/place/branch.h - plans of any sets, proven: branch and bound on positions.
 *
 * Places heavy positions first. A device's load so far is its work and every net that is cut
 * already; the work still open must fit, spread evenly, below the best value. Equal devices are
 * tried once: a position may open only the first unused one. Small instances are proven; on large
 * ones the budget runs out and the plan stays as it was. */
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

/* Improves `start`, a plan that keeps all rules: sets its value and devices when it finds a better
 * one, and `proven` when it searched the whole tree. start->value_ms INFINITY means that no plan is
 * known; then ERR_INFEASIBLE says that no plan keeps the rules (proven) or that it met none. */
int place_branch(const struct place_graph *g, const struct place_branching *b,
                 struct placement *start, struct err *e) MUST_CHECK;

#endif
