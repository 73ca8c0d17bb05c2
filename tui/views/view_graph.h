/* tui/views/view_graph.h - panel 1: the module as a tree. */
#ifndef AUTOMAP_TUI_VIEWS_VIEW_GRAPH_H
#define AUTOMAP_TUI_VIEWS_VIEW_GRAPH_H

#include "tui/app/panel.h"

extern const struct panel_ops view_graph;

#endif
