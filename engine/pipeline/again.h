/* engine/pipeline/again.h - amounts that a stage has for what it makes again.
 *
 * A value that every stage makes for itself is read at points u1 < u2 < ... The first reader's
 * point carries its amounts in prefix sums; a stage [i, j) that begins behind u1 and reads it adds
 * them once more. That is so for exactly one pair of successive readers (before, at) with before <
 * i <= at < j, so the sum over such pairs is what the stage adds. Pairs lie in a merge sort tree by
 * `at`: O(pairs log pairs x columns) memory, O(log^2 pairs) a sum. */
#ifndef AUTOMAP_ENGINE_PIPELINE_AGAIN_H
#define AUTOMAP_ENGINE_PIPELINE_AGAIN_H

#include "hlo/support/mem.h"

#include <stdbool.h>
#include <stdint.h>

struct again_pair {
    uint32_t before, at; /* points, before < at */
    uint32_t row;        /* of its amounts */
};

struct again {
    uint32_t points, columns, count, levels;
    struct again_pair *pair; /* [count] by at, then before; distinct */
    double *amount;          /* [count][columns] of pair n at row n */
    uint32_t *first;         /* [points + 1] the first pair with `at` there or behind */
    uint32_t *before;        /* [levels][count] ascending in each block of 2^level pairs */
    double *sum;             /* [levels][columns][count] amounts in that order, summed by block */
};

/* `amount` [rows][columns], pairs refer to rows. Sorts `pair` and joins equal ones. Memory from
 * `arena`, which must outlive it. False: no memory. */
bool again_new(struct arena *arena, uint32_t points, uint32_t columns, struct again_pair *pair,
               uint32_t count, const double *amount, struct again *out);
/* The same over fewer points: point i of the result is cut[i] .. cut[i + 1] - 1. */
bool again_coarsen(struct arena *arena, const struct again *from, const uint32_t *cut,
                   uint32_t points, struct again *out);

/* What [i, j) adds in one column. */
double again_tree_sum(const struct again *g, uint32_t column, uint32_t i, uint32_t j);
static inline double again_sum(const struct again *g, uint32_t column, uint32_t i, uint32_t j)
{
    return g->count ? again_tree_sum(g, column, i, j) : 0;
}

#endif
