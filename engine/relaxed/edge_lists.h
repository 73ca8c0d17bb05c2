/* engine/relaxed/edge_lists.h - the edges of an energy by node, for graphs that shrink.
 *
 * Edge k stands in two lists, as half 2k at its end a and half 2k + 1 at its end b. Every operation
 * but edge_lists_add is O(1). */
#ifndef AUTOMAP_ENGINE_RELAXED_EDGE_LISTS_H
#define AUTOMAP_ENGINE_RELAXED_EDGE_LISTS_H

#include "engine/relaxed/energy.h"
#include "engine/relaxed/tables.h"

#define EDGE_END UINT32_MAX

struct edge_lists {
    struct energy_edge *edges; /* [edge_count] slots; those in no list are gone */
    uint32_t edge_count;
    uint32_t *first, *degree; /* [nodes] */
    uint32_t *next, *prev;    /* [2 edges] halves; EDGE_END ends */
};

/* Empty lists with room for the edges of `g`; *out is to be released either way. False: no memory.
 */
bool edge_lists_new(const struct energy *g, struct edge_lists *out);
void edge_lists_release(struct edge_lists *s);

static inline uint32_t edge_owner(const struct edge_lists *s, uint32_t half)
{
    return half & 1 ? s->edges[half >> 1].b : s->edges[half >> 1].a;
}
static inline uint32_t edge_other(const struct edge_lists *s, uint32_t half)
{
    return edge_owner(s, half ^ 1);
}
/* The edge's table with the rows of the half's own end. */
static inline struct sight edge_sight(const struct edge_lists *s, uint32_t half)
{
    struct sight i = s->edges[half >> 1].table;

    i.turned ^= half & 1;
    return i;
}

/* Puts an edge into slot `slot`, or adds its table to the one that joins the two nodes already.
 * Returns the slot that has it. O(the smaller degree). */
uint32_t edge_lists_add(struct edge_lists *s, struct tables *t, uint32_t slot, uint32_t a,
                        uint32_t b, struct sight table);
/* Takes an edge out of both lists; its ends are EDGE_END then. */
void edge_lists_drop(struct edge_lists *s, uint32_t slot);

#endif
