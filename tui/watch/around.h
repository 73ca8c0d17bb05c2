/* tui/watch/around.h - the neighbourhood of one instruction: its operands and theirs, its users and
 * theirs, and the other operands of users such as a dot.
 *
 * Runs of plain operations with one operand and one user are one node ("11 folded"); values that
 * every use makes for itself (constants ...) are left out; users in another phase (the backward
 * pass uses a forward value again) are counted, not shown. `all` shows all of these. Instructions
 * with many neighbours are not expanded. Work is bounded by AROUND_NODES and AROUND_HUB, and by the
 * users of the centre, whatever the size of the module. */
#ifndef AUTOMAP_TUI_WATCH_AROUND_H
#define AUTOMAP_TUI_WATCH_AROUND_H

#include "hlo/module/hlo.h"
#include "tui/watch/tree.h"

enum {
    AROUND_NODES = 48,
    AROUND_EDGES = 120,
    AROUND_HUB = 12,
    AROUND_RADIUS = 3,
    AROUND_LEVELS = 9
};

struct around_node {
    hlo_id id;          /* the end nearest to the centre */
    hlo_id far;         /* the other end of a run; else id */
    int level;          /* < 0 above the centre, > 0 below; edges lead downwards */
    uint32_t folded;    /* instructions it stands for; 1: itself */
    uint32_t more;      /* > 0: no instruction, but so many more neighbours of the centre */
    uint32_t elsewhere; /* users in other phases, not shown */
    uint32_t degree;    /* of a hub: its operands and users; else 0 */
};

struct around_edge {
    int from, to; /* operand, user */
};

struct around {
    struct around_node nodes[AROUND_NODES]; /* [0] is the centre */
    struct around_edge edges[AROUND_EDGES];
    int node_count, edge_count;
};

/* `skip`: so many of the centre's operands and users are passed over (for the next page of a hub).
 */
void around_find(const struct tree *t, hlo_id centre, int radius, bool all, uint32_t skip,
                 struct around *out);

/* Neighbours as the tree of calls has them: a parameter of a loop's body is used through the loop.
 * Up to `room` ids into out, beginning with the skip-th; returns how many there are in all. Of
 * users only those of its phase, unless `all`. */
uint32_t around_operands(const struct tree *t, hlo_id id, bool all, uint32_t skip, hlo_id *out,
                         uint32_t room);
uint32_t around_users(const struct tree *t, hlo_id id, bool all, uint32_t skip, hlo_id *out,
                      uint32_t room);

#endif
