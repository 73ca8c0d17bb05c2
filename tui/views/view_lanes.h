/* tui/views/view_lanes.h - the module in its own order, with a lane from each value to its uses. */
#ifndef AUTOMAP_TUI_VIEWS_VIEW_LANES_H
#define AUTOMAP_TUI_VIEWS_VIEW_LANES_H

#include "tui/app/panel.h"

extern const struct panel_ops view_lanes;

#endif
