/* engine/recompute/cut.h - minimum cut between a source and a sink by Dinic's algorithm (Dinic
 * 1970) with integer capacities: exact, and the same on every machine. Private to
 * engine/recompute. */
#ifndef AUTOMAP_ENGINE_RECOMPUTE_CUT_H
#define AUTOMAP_ENGINE_RECOMPUTE_CUT_H

#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#define CUT_INFINITE ((int64_t)1 << 60) /* the sum of finite capacities must stay below */

struct cut_arc {
    uint32_t to, next; /* next arc of the same node; UINT32_MAX: none */
    int64_t room;
};

struct cut {
    struct cut_arc *arcs; /* arc k and its reverse k ^ 1 */
    uint32_t arc_count;
    size_t arc_room;
    uint32_t *first; /* [nodes] */
    uint32_t *level, *current, *queue;
    uint32_t nodes;
};

/* Nodes 0 (source), 1 (sink) and up. ERR_MEMORY. */
int cut_new(uint32_t nodes, struct cut *out, struct err *e) MUST_CHECK;
void cut_release(struct cut *c);
/* Adds an arc and returns its number, for cut_set. UINT32_MAX: out of memory. */
uint32_t cut_add(struct cut *c, uint32_t from, uint32_t to);
/* Sets an arc's capacity. Call it for every arc before each solve. */
static inline void cut_set(struct cut *c, uint32_t arc, int64_t capacity)
{
    c->arcs[arc].room = capacity;
    c->arcs[arc ^ 1].room = 0;
}
/* Returns the value of the minimum cut. Afterwards cut_is_source gives each node's side in the
 * minimum cut with the smallest source side. */
int64_t cut_solve(struct cut *c);
static inline bool cut_is_source(const struct cut *c, uint32_t node)
{
    return c->level[node] != UINT32_MAX;
}

#endif
