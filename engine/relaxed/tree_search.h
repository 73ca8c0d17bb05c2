/* engine/relaxed/tree_search.h - local search by trees, under memory over time.
 *
 * One move: a random tree among the nodes, such that no edge but its own joins two of them, gets
 * the labels that are best given all others, exactly; single flips, pairs and chains are small
 * trees. Memory stands in it twice: as prices (priced[], the caller's), and as a limit: where the
 * tree's labels exceed it, a price of the worst point is put on the tree alone and it is labelled
 * again. With a temperature each label's cost gets noise of that mean, so that worse labels win at
 * times (perturb and minimise).
 *
 * In a relaxed plan (live_bytes.h) memory depends on pairs of labels, too: a copy that arrives
 * resharded is alive besides what was sent. Prices then stand in costs of nodes and of pairs alike,
 * `level` says how much of them counts, and where the limit is exceeded all of them are raised for
 * this tree.
 *
 * Deterministic: no logarithm of a library, no time. */
#ifndef AUTOMAP_ENGINE_RELAXED_TREE_SEARCH_H
#define AUTOMAP_ENGINE_RELAXED_TREE_SEARCH_H

#include "engine/relaxed/energy.h"
#include "engine/relaxed/live_bytes.h"
#include "engine/relaxed/over_time.h"
#include "engine/relaxed/peaks.h"
#include "engine/relaxed/trws.h"
#include "hlo/support/err.h"
#include "rl/rng.h"

#include <stdbool.h>

struct tree_search {
    const struct energy *g;
    const struct trws *graph;       /* its ends are used, nothing else */
    const struct over_time *memory; /* NULL: `lives` */
    struct live_bytes *lives;
    const struct trws *priced_graph; /* with lives: the same ends, tables with prices */
    double level;                    /* with lives: 0: as priced without memory, 1: as priced */
    const double *cost;              /* [labels], of nodes one after the other */
    const size_t *label_first;       /* [nodes + 1] */
    double *priced;                  /* [labels] cost with the prices of memory */
    const double *data;              /* of the tables, or lowered */
    double *lowered;                 /* NULL: not yet */
    double limit;                    /* of this search: at least the peak of x */
    double temperature;
    struct rl_rng rng;
    uint16_t *x;     /* [nodes] */
    double energy;   /* of x, without prices, by `data`; exact for whole costs while below 2^53 */
    bool is_rounded; /* a sum passed 2^53 since it was last summed up whole */
    struct peaks peaks; /* of over_time */
    uint64_t work;      /* cells of tables looked at */
    struct tree_scratch *own;
};

/* `cost` and `label_first` stay the caller's; priced begins as cost, x as zeroes. */
int tree_search_new(const struct trws *graph, const struct over_time *m, const double *cost,
                    const size_t *label_first, uint64_t seed, struct tree_search *out,
                    struct err *e) MUST_CHECK;
/* The same with the memory of a relaxed plan. `priced`: the same energy with prices, whose unary
 * costs are copied. All four stay the caller's; nothing may be added to the tables meanwhile. */
int tree_search_relaxed(const struct trws *graph, const struct trws *priced,
                        struct live_bytes *lives, double limit, const double *cost,
                        const size_t *label_first, uint64_t seed, struct tree_search *out,
                        struct err *e) MUST_CHECK;
/* Other prices: `priced` as above. */
void tree_search_reprice(struct tree_search *s, const struct trws *priced);
void tree_search_release(struct tree_search *s);

double tree_search_peak(const struct tree_search *s); /* bytes of x */

/* Labels to go on from. O(nodes + edges + spans + points). */
void tree_search_set(struct tree_search *s, const uint16_t *x);

/* No cell of a table counts for more than `most`: forbidden pairs are barriers that no tree crosses
 * while other nodes stay, unless they cost no more than that for a time. INFINITY: as they are.
 * O(cells + edges); ERR_MEMORY. */
int tree_search_lower(struct tree_search *s, double most, struct err *e) MUST_CHECK;

/* One move with a tree of at most `size` nodes. Takes what does not raise the priced energy and
 * keeps the peak within the limit. */
void tree_search_move(struct tree_search *s, uint32_t size);
/* A size at random: as many trees of 1 to 2 nodes as of 2 to 4 and so on, up to `most`, small ones
 * somewhat more. */
uint32_t tree_search_size(struct tree_search *s, uint32_t most);

#endif
