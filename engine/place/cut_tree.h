/* engine/place/cut_tree.h - proves plans of any sets by branching on positions, with minimum cuts
 * as bounds: for graphs whose transfers outweigh their work.
 *
 * At a node of the tree some positions are placed. A device's load is at least the minimum cut
 * between what it holds and what others hold (place_cut.h); and all work plus all cuts counted
 * without work must fit the devices together. Placing a position outside a device's cut elsewhere
 * does not change that cut, so few cuts change from node to node. The next position placed is the
 * one that narrows most: of a dozen with the largest cuts of their own, the one whose children have
 * the largest bounds. */
#ifndef AUTOMAP_ENGINE_PLACE_CUT_TREE_H
#define AUTOMAP_ENGINE_PLACE_CUT_TREE_H

#include "engine/place/nets.h"
#include "engine/place/prepare.h"
#include "hlo/support/err.h"

#include <stdatomic.h>

#define PLACE_CUT_STEPS UINT64_C(2800000000)
#define PLACE_CUT_TREE_BY "a tree of minimum cuts"

enum { PLACE_CUT_TREE_MOST = 8192 /* positions */, PLACE_CUT_TREE_DEVICES = 64 };

struct place_cutting {
    const struct place_rules *rules;
    const struct place_prepared *chain; /* contiguous plans of its nets alone; NULL: any sets */
    uint64_t steps;                     /* arcs looked at, all in all; 0: PLACE_CUT_STEPS */
    const atomic_bool *stop;
};

/* Whether it applies: sums, passes together, one copy, not too large. */
bool place_cut_tree_takes(const struct place_nets *n, const struct place_rules *r);

/* Looks for plans below *value_ms. On *found, device (by position) and *value_ms hold the best.
 * *proven: no plan is below *value_ms. ERR_MEMORY. */
int place_cut_tree(const struct place_nets *n, const struct place_cutting *c, double *value_ms,
                   uint32_t *device, bool *found, bool *proven, struct err *e) MUST_CHECK;

/* A lower bound between low and high, the value of a plan, where proving `high` itself takes too
 * long: of a few times in between, the largest for which a tree, given its part of the steps,
 * proves that no plan is below. *out >= low. */
int place_cut_tree_bound(const struct place_nets *n, const struct place_cutting *c, double low,
                         double high, double *out, struct err *e) MUST_CHECK;

#endif
