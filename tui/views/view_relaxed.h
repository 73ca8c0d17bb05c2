/* tui/views/view_relaxed.h - V s: the plan whose splits may change between uses, its reshards and
 * its bound. */
#ifndef AUTOMAP_TUI_VIEWS_VIEW_RELAXED_H
#define AUTOMAP_TUI_VIEWS_VIEW_RELAXED_H

#include "tui/app/panel.h"

extern const struct panel_ops view_relaxed;

#endif
