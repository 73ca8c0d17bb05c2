/* tui/views/view_race.h - V r: all algorithms on the same game, at equal numbers of priced plans.
 */
#ifndef AUTOMAP_TUI_VIEWS_VIEW_RACE_H
#define AUTOMAP_TUI_VIEWS_VIEW_RACE_H

#include "tui/app/panel.h"

extern const struct panel_ops view_race;

#endif
