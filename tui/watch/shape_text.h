/* tui/watch/shape_text.h - the shape of a value with what is decided about it: f32[32 12/4 512?].
 */
#ifndef AUTOMAP_TUI_WATCH_SHAPE_TEXT_H
#define AUTOMAP_TUI_WATCH_SHAPE_TEXT_H

#include "hlo/module/hlo.h"
#include "tui/screen/grid.h"
#include "tui/watch/watch.h"

/* Draws at most `width` columns; a shape that does not fit ends in "..]". Returns the column
 * behind. */
int shape_draw(const struct watch *w, hlo_value v, const struct pane *p, int x, int y, int width);
int shape_width(const struct watch *w, hlo_value v);
/* With one dim split or open, whatever is decided now: for columns that stand still. */
int shape_plain_width(const struct watch *w, hlo_value v);

/* The same without the type: [32 12/4 512?]. */
int shape_draw_dims(const struct watch *w, hlo_value v, const struct pane *p, int x, int y,
                    int width);
int shape_dims_width(const struct watch *w, hlo_value v);

#endif
