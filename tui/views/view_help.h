/* tui/views/view_help.h - every key that works on the view below, from the live key table. Typing
 * filters by words, after Tab by key; Enter does what the chosen line says. */
#ifndef AUTOMAP_TUI_VIEWS_VIEW_HELP_H
#define AUTOMAP_TUI_VIEWS_VIEW_HELP_H

#include "tui/app/panel.h"

extern const struct panel_ops view_help; /* arg: the panel whose keys are shown, or NULL */

#endif
