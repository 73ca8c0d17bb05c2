/* tui/screen/svg.h - a grid as an SVG picture, for the README and for looking at a view. Blocks,
 * lines and braille are drawn as shapes, so that the picture does not depend on a font having them.
 */
#ifndef AUTOMAP_TUI_SCREEN_SVG_H
#define AUTOMAP_TUI_SCREEN_SVG_H

#include "hlo/support/mem.h"
#include "tui/screen/grid.h"
#include "tui/screen/theme.h"

void grid_svg(const struct grid *g, const struct theme *t, struct str *out);

#endif
