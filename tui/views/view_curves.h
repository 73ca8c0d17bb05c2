/* tui/views/view_curves.h - panels 4 and 5: reward and loss of the search so far, with marks of a
 * person's acts. */
#ifndef AUTOMAP_TUI_VIEWS_VIEW_CURVES_H
#define AUTOMAP_TUI_VIEWS_VIEW_CURVES_H

#include "tui/app/panel.h"

extern const struct panel_ops view_reward, view_loss;

#endif
