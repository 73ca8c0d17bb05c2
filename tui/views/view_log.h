/* tui/views/view_log.h - panel 7: what happened, newest first. */
#ifndef AUTOMAP_TUI_VIEWS_VIEW_LOG_H
#define AUTOMAP_TUI_VIEWS_VIEW_LOG_H

#include "tui/app/panel.h"

extern const struct panel_ops view_log;

#endif
