/* tui/views/view_classes.h - panel 2: the decisions, what they are now, in the best plan, and what
 * they save. */
#ifndef AUTOMAP_TUI_VIEWS_VIEW_CLASSES_H
#define AUTOMAP_TUI_VIEWS_VIEW_CLASSES_H

#include "tui/app/panel.h"

extern const struct panel_ops view_classes;

#endif
