/* tui/watch/layered.h - a small graph drawn in layers: nodes in rows, edges downwards between them.
 *
 * The caller gives each node a level (edges lead from lower to higher levels) and a size in cells;
 * placing orders every layer by its neighbours, puts it under or over them and cuts layers off from
 * the outside until the rest fits. Edges of several levels run through bends. Edges that share an
 * end share a line. Plain arithmetic; O(edges x layers) for at most LAYERED_NODES nodes. */
#ifndef AUTOMAP_TUI_WATCH_LAYERED_H
#define AUTOMAP_TUI_WATCH_LAYERED_H

#include "tui/screen/grid.h"

enum { LAYERED_NODES = 160, LAYERED_EDGES = 320, LAYERED_LEVELS = 24, LAYERED_GAP = 2 };

struct layered_node {
    int level;         /* -LAYERED_LEVELS/2 .. ; the centre's is 0 */
    int width, height; /* cells */
    int x, y;          /* placed: its first cell; y < 0: cut off */
    int port;          /* column of its edges */
    bool is_bend;      /* added by layered_place */
    double want;       /* column it would like its middle in */
};

struct layered_edge {
    int from, to;
};

struct layered {
    struct layered_node nodes[LAYERED_NODES];
    struct layered_edge edges[LAYERED_EDGES];
    int node_count, edge_count;
    int first, last;         /* levels that fit */
    int height;              /* rows used */
    int top[LAYERED_LEVELS]; /* row of each level from `first` */
    int gap[LAYERED_LEVELS]; /* rows between level first + i and the next */
};

/* A width for every node of a level must have been chosen so that they fit side by side. `centre`
 * is a node of level 0; it stands in the middle. What does not fit in `height` rows is cut off. */
void layered_place(struct layered *l, int centre, int width, int height);

/* The edges of what was placed, to be drawn before the nodes. */
void layered_draw_edges(const struct layered *l, const struct pane *p, unsigned style);

/* The node in that direction from `from`: the nearest above (0, -1), below, to the left, right; -1.
 */
int layered_neighbour(const struct layered *l, int from, int dx, int dy);

#endif
