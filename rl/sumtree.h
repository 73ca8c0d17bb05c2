/* rl/sumtree.h - priorities for proportional replay (Schaul et al. 2016, appendix B.2.1).
 *
 * Leaves hold values >= 0 in double. Every set rebuilds its parents from their children, so sums do
 * not drift and a tree is a function of its leaves alone. Not thread-safe. Memory: 16 bytes a leaf,
 * with the capacity rounded up to a power of two. */
#ifndef AUTOMAP_RL_SUMTREE_H
#define AUTOMAP_RL_SUMTREE_H

#include "rl/error.h"

#include <stdint.h>

struct rl_sumtree {
    double *node;      /* [2 x size]; node[1] is the root, node[size + i] leaf i */
    uint32_t size;     /* leaves, a power of two */
    uint32_t capacity; /* leaves in use */
};

int rl_sumtree_init(struct rl_sumtree *t, uint32_t capacity) RL_MUST_CHECK; /* all leaves 0 */
void rl_sumtree_release(struct rl_sumtree *t);
void rl_sumtree_set(struct rl_sumtree *t, uint32_t leaf, double value); /* O(log capacity) */
double rl_sumtree_get(const struct rl_sumtree *t, uint32_t leaf);
double rl_sumtree_total(const struct rl_sumtree *t);

/* The leaf whose interval of the running sum holds u, 0 <= u < total; u is clamped to that range.
 * Never a leaf of value 0, unless all are 0. O(log capacity). */
uint32_t rl_sumtree_find(const struct rl_sumtree *t, double u);

/* To set many leaves at once, write them through rl_sumtree_leaf, then rebuild. O(capacity). */
double *rl_sumtree_leaf(struct rl_sumtree *t);
void rl_sumtree_rebuild(struct rl_sumtree *t);

#endif
