/* engine/place/cut_tree.h - plans of any sets, proven by a tree of positions with minimum cuts as
 * bounds: for graphs where what crosses weighs more than the work.
 *
 * A node of the tree has some positions placed. What a device takes at least is the minimum cut
 * between what it holds and what others hold (place_cut.h); the cuts without work, added up, and
 * all work must fit the devices together. A position that lies outside of a device's cut is placed
 * elsewhere for nothing, so few cuts change from node to node. The position that narrows most is
 * placed next: of the first dozen by their own cuts, the one whose children have the largest
 * bounds. */
#ifndef AUTOMAP_ENGINE_PLACE_CUT_TREE_H
#define AUTOMAP_ENGINE_PLACE_CUT_TREE_H

#include "engine/place/nets.h"
#include "hlo/support/err.h"

#include <stdatomic.h>

#define PLACE_CUT_STEPS UINT64_C(2800000000)

enum { PLACE_CUT_TREE_MOST = 1024 /* positions */, PLACE_CUT_TREE_DEVICES = 64 };

struct place_cutting {
    const struct place_rules *rules;
    uint64_t steps; /* arcs looked at, all in all; 0: PLACE_CUT_STEPS */
    const atomic_bool *stop;
};

/* Can it be asked about these? Sums, passes together, one copy, not too large. */
bool place_cut_tree_takes(const struct place_nets *n, const struct place_rules *r);

/* Looks for plans below *value_ms. When one is found, device (by position) and *value_ms are the
 * best; *proven: nothing is below *value_ms. ERR_MEMORY. */
int place_cut_tree(const struct place_nets *n, const struct place_cutting *c, double *value_ms,
                   uint32_t *device, bool *found, bool *proven, struct err *e) MUST_CHECK;

/* A bound between low and high, for where the whole question is too much: the largest of a few
 * times in between below which nothing is, each proven by a tree with its part of the steps. `high`
 * is the value of a plan. *out >= low. */
int place_cut_tree_bound(const struct place_nets *n, const struct place_cutting *c, double low,
                         double high, double *out, struct err *e) MUST_CHECK;

#endif
