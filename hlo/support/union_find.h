/* hlo/support/union_find.h - which of n things belong together. A thing's parent is a thing of the
 * same set; a root is its own parent.
 *
 * Galler and Fischer, "An improved equivalence algorithm", Communications of the ACM 7 (1964).
 * Whoever joins two sets chooses the root, by the order that his results need. */
#ifndef AUTOMAP_HLO_SUPPORT_UNION_FIND_H
#define AUTOMAP_HLO_SUPPORT_UNION_FIND_H

#include <stdint.h>

/* The root of n's set. Halves the path on the way: O(log n) amortised, whatever the joins. */
static inline uint32_t union_root(uint32_t *parent, uint32_t n)
{
    while (parent[n] != n)
        n = parent[n] = parent[parent[n]];
    return n;
}

#endif
