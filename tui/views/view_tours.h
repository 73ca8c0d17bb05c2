/* tui/views/view_tours.h - T: the tours that are there; Enter begins one. */
#ifndef AUTOMAP_TUI_VIEWS_VIEW_TOURS_H
#define AUTOMAP_TUI_VIEWS_VIEW_TOURS_H

#include "tui/app/panel.h"

extern const struct panel_ops view_tours;

#endif
