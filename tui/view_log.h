/* tui/view_log.h - panel 7: what happened, newest first. */
#ifndef AUTOMAP_TUI_VIEW_LOG_H
#define AUTOMAP_TUI_VIEW_LOG_H

#include "tui/panel.h"

extern const struct panel_ops view_log;

#endif
