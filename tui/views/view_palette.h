/* tui/views/view_palette.h - all commands and actions, found by typing some of their letters. */
#ifndef AUTOMAP_TUI_VIEWS_VIEW_PALETTE_H
#define AUTOMAP_TUI_VIEWS_VIEW_PALETTE_H

#include "tui/app/panel.h"

extern const struct panel_ops view_palette;

#endif
