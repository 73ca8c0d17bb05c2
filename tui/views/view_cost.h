/* tui/views/view_cost.h - panel 8: where the step time goes, part by part. */
#ifndef AUTOMAP_TUI_VIEWS_VIEW_COST_H
#define AUTOMAP_TUI_VIEWS_VIEW_COST_H

#include "tui/app/panel.h"

extern const struct panel_ops view_cost;

#endif
