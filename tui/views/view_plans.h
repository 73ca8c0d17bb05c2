/* tui/views/view_plans.h - all plans of the search, ranked by step time, and two of them side by
 * side. */
#ifndef AUTOMAP_TUI_VIEWS_VIEW_PLANS_H
#define AUTOMAP_TUI_VIEWS_VIEW_PLANS_H

#include "tui/app/panel.h"

extern const struct panel_ops view_plans;

#endif
