/* tui/views/place_draw.h - the parts of the placement view. Private to view_place.c,
 * place_draw.c and place_reasons.c. */
#ifndef AUTOMAP_TUI_VIEWS_PLACE_DRAW_H
#define AUTOMAP_TUI_VIEWS_PLACE_DRAW_H

#include "engine/place/look.h"
#include "engine/place/operator_graph.h"
#include "engine/place/placement.h"
#include "engine/place/published.h"
#include "tui/screen/grid.h"
#include "tui/watch/placing.h"

enum { PLACE_CROSSINGS = 64, PLACE_TRIED = 16, PLACE_REASONS = 24, PLACE_REASON_DEVICES = 16 };

/* What an algorithm came to, for the objective it was asked for. */
struct place_tried {
    const char *algorithm;
    enum placing_objective objective;
    double value_ms, bound_ms;
    bool contiguous, proven, fits;
    bool written; /* bound and proof are a file's word */
};

struct place_shown {
    const struct place_graph *graph;
    const struct placement *plan; /* as found: value, bound, who found it */
    struct place_look *look;      /* as it is now, moved nodes included */
    struct place_price *price;    /* [devices] of the node at the cursor */
    struct place_crossing crossing[PLACE_CROSSINGS];
    uint32_t crossings;
    /* Producers of the heaviest transfers, then what takes most, one node of each class, and
     * [i * devices + d]: the plan with the class on d; of a stream on few devices alone. */
    uint32_t reason_node[PLACE_REASONS];
    struct place_price *reason;
    uint32_t reasons;
    uint32_t node;   /* at the cursor */
    uint32_t target; /* device a move would go to */
    uint32_t holder; /* whose output holds it, PLACE_NONE */
    double held_ms;
    uint32_t stage; /* nodes of this stage of the chain are lit, those before it keep their letter;
                     * PLACE_NONE: all are lit */
    bool moved, any_sets, done;
    bool layered;                            /* parts of the model are known */
    bool of_model;                           /* a sample of the stream is a batch */
    bool names;                              /* nodes by name in place of letters */
    const struct place_published *published; /* the instance it is; NULL: none */
    enum placing_objective objective;
    const char *algorithm; /* asked for */
    struct place_tried tried[PLACE_TRIED];
    uint32_t tries;
};

/* The rows that are drawn: all nodes by name, or in letters without weights where levels are wide;
 * the node of them that the cursor is on, the user of a weight left out. */
const struct place_rows *place_draw_rows(const struct place_shown *s);
uint32_t place_draw_cursor(const struct place_shown *s);
/* The stage of the chain that a node is of; PLACE_NONE: of none. */
uint32_t place_draw_stage(const struct place_shown *s, uint32_t node);

void place_draw_sentence(const struct place_shown *s, const struct pane *p);
/* Levels left to right, a letter a node. */
void place_draw_lanes(const struct place_shown *s, const struct pane *p);
/* A bar a device: work, in, out, idle. */
void place_draw_loads(const struct place_shown *s, const struct pane *p);
void place_draw_node(const struct place_shown *s, const struct pane *p);
void place_draw_crossings(const struct place_shown *s, const struct pane *p);
/* What was tried for this objective, shortest first, and the bound. */
void place_draw_tried(const struct place_shown *s, const struct pane *p);
int place_draw_rows_of_loads(const struct place_shown *s); /* head included */
/* The style of a device. */
unsigned place_draw_role(const struct place_shown *s, uint32_t d);

/* The nodes that take most time, heaviest first, on device d or on all (PLACE_NONE); returns how
 * many. O(nodes). */
uint32_t place_draw_heaviest(const struct place_shown *s, uint32_t d, uint32_t out[PLACE_REASONS]);
/* What each heaviest transfer's producer would cost elsewhere, and what takes most where the plan
 * is limited (place_reasons.c). */
void place_draw_reasons(const struct place_shown *s, const struct pane *p);
void place_draw_limit(const struct place_shown *s, const struct pane *p);

/* "dot.3", or "node 17". */
const char *place_node_name(const struct place_graph *g, uint32_t node, char out[static 32]);

#endif
