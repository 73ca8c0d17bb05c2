/* tui/views/view_pin.h - the dialogs that ask before an act: what a pin or a backtrack would cost.
 * Opened with a pointer to the move. */
#ifndef AUTOMAP_TUI_VIEWS_VIEW_PIN_H
#define AUTOMAP_TUI_VIEWS_VIEW_PIN_H

#include "tui/app/panel.h"

extern const struct panel_ops view_pin, view_backtrack;

#endif
