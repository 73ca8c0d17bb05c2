/* tui/views/view_focus.h - panel 3: one instruction in a box, what it is made of above, who uses it
 * below. */
#ifndef AUTOMAP_TUI_VIEWS_VIEW_FOCUS_H
#define AUTOMAP_TUI_VIEWS_VIEW_FOCUS_H

#include "tui/app/panel.h"

extern const struct panel_ops view_focus;

#endif
