/* tui/views/view_start.h - what `automap` alone shows: examples, recent files, clusters; one key
 * from an open model. */
#ifndef AUTOMAP_TUI_VIEWS_VIEW_START_H
#define AUTOMAP_TUI_VIEWS_VIEW_START_H

#include "tui/app/panel.h"

extern const struct panel_ops view_start;

#endif
