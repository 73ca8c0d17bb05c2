/* tui/views/view_memory.h - memory of one device: the course of it beside other panels, and V m,
 * with what is live at the peak and the decisions that would lower it. */
#ifndef AUTOMAP_TUI_VIEWS_VIEW_MEMORY_H
#define AUTOMAP_TUI_VIEWS_VIEW_MEMORY_H

#include "tui/app/panel.h"

extern const struct panel_ops
    view_memory; /* V m; its argument is a struct live_plan or NULL: the best */
extern const struct panel_ops view_memory_panel; /* the course alone */

#endif
