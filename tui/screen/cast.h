/* tui/screen/cast.h - frames as an asciicast, version 2 (docs.asciinema.org/manual/asciicast/v2): a
 * header, then a line for every frame, with its seconds and what a terminal must be sent to turn
 * the frame before into it. Plays in asciinema. */
#ifndef AUTOMAP_TUI_SCREEN_CAST_H
#define AUTOMAP_TUI_SCREEN_CAST_H

#include "hlo/support/mem.h"
#include "tui/screen/grid.h"
#include "tui/screen/paint.h"
#include "tui/screen/theme.h"

#include <stdint.h>

struct cast {
    struct paint paint;
    double last_s; /* of the last frame: times never go back */
    int width, height;
};

/* Appends the header. `since_1970` 0: left out. Colours are written in 24 bits. */
void cast_begin(struct cast *c, int width, int height, const struct theme *t, int64_t since_1970,
                const char *title, struct str *out);
/* Appends the frame `g` at `at_s` seconds from the beginning, and a resize before it where its size
 * is another; nothing where it is equal to the last. O(cells). */
void cast_frame(struct cast *c, const struct grid *g, double at_s, struct str *out);
void cast_release(struct cast *c);

#endif
