/* tui/screen/layout.h - which panel goes where, by the size of the window. Arithmetic only: no
 * terminal, no content. Every size from 1x1 gives a layout; below 40x10 it is one line.
 *
 *   >= 180x44   three columns and a lower band of four panels
 *   >= 110x30   two columns and a lower band of three
 *   >=  72x40   two columns and a lower band of two by two
 *   >=  72x20   two columns and a lower band of two
 *   >=  72x14   two columns, the other panels by number
 *   >=  40x10   one panel, the others by number
 *
 * A panel is at least 20x4, head included. A focused panel without a place of its own takes that of
 * a related one (loss: reward, log: decision ...); zoomed, it fills the middle. */
#ifndef AUTOMAP_TUI_SCREEN_LAYOUT_H
#define AUTOMAP_TUI_SCREEN_LAYOUT_H

#include "tui/screen/grid.h"

enum panel_id { /* the value is the key that focuses it; from PANEL_MEMORY on by name only */
                PANEL_COMPARE,
                PANEL_GRAPH,
                PANEL_GROUPS,
                PANEL_FOCUS,
                PANEL_REWARD,
                PANEL_LOSS,
                PANEL_DECISION,
                PANEL_LOG,
                PANEL_COST,
                PANEL_DEVICES,
                PANEL_MEMORY,
                PANEL_WHY,
                PANEL_LANES,
                PANEL_COUNT
};

enum layout_kind { LAYOUT_LINE, LAYOUT_ONE, LAYOUT_GRID };

enum { LAYOUT_MOST_PANELS = 10, LAYOUT_MOST_RULES = 8 };

struct layout {
    enum layout_kind kind;
    int width, height;
    struct rect title, headline; /* rows 1 and 2; height 0: not there, as for all below */
    struct rect strip;           /* 1 row; 2 with labels; 4 with the rows best and exact */
    struct rect tabs;            /* panels by number, when not all fit */
    struct rect hints, message;
    struct rect middle; /* the area between headline and strip */
    struct rect body;   /* what a view over the whole screen gets: rows 2 to the hint row */
    struct {
        enum panel_id id;
        struct rect area;
    } panels[LAYOUT_MOST_PANELS];
    int panel_count;
    struct {
        int x, y, height;
    } rules[LAYOUT_MOST_RULES]; /* vertical lines */
    int rule_count;
};

struct layout_wish {
    int width, height;
    enum panel_id focus;
    bool zoom;             /* the focused panel alone */
    int split;             /* columns the first divider is moved to the right */
    unsigned with;         /* bit per panel: those that exist now; others give up their place */
    int rows[PANEL_COUNT]; /* rows of content a panel would show, head included; 0: any number */
};

void layout_plan(struct layout *out, const struct layout_wish *wish);

/* The area of a panel; NULL: it has no place. */
const struct rect *layout_panel(const struct layout *l, enum panel_id id);

#endif
