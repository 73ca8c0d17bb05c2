/* tui/views/view_decision.h - panel 6: the decision that comes next, or the one under the cursor:
 * both answers with what is known of them. */
#ifndef AUTOMAP_TUI_VIEWS_VIEW_DECISION_H
#define AUTOMAP_TUI_VIEWS_VIEW_DECISION_H

#include "tui/app/panel.h"

extern const struct panel_ops view_decision;

#endif
