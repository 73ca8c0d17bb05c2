/* tui/screen/paint.h - turns a grid into the bytes that make a terminal show it: only cells that
 * changed since the last frame, nothing if none did. Escape sequences are those of ECMA-48, which
 * every terminal that tui/screen/term.c accepts knows. No terminal is touched here. */
#ifndef AUTOMAP_TUI_SCREEN_PAINT_H
#define AUTOMAP_TUI_SCREEN_PAINT_H

#include "hlo/support/mem.h"
#include "tui/screen/grid.h"
#include "tui/screen/theme.h"

enum colour_depth { DEPTH_MONO, DEPTH_16, DEPTH_256, DEPTH_TRUE };

struct paint {
    struct grid shown; /* what the terminal shows */
    bool fresh;        /* false: the terminal's state is unknown, write everything */
    enum colour_depth depth;
    struct theme theme;
    struct grid work;
    bool ascii;
};

void paint_init(struct paint *p, const struct theme *t, enum colour_depth depth, bool ascii);
void paint_release(struct paint *p);
void paint_forget(struct paint *p); /* after a resize, a stop or foreign output: write everything */

/* Appends to `out` what turns the last frame into `next`. */
void paint_frame(struct paint *p, const struct grid *next, struct str *out);

/* The index of the nearest of 256 colours (16..255). */
int colour_to_256(struct colour c);

#endif
