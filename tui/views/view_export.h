/* tui/views/view_export.h - e: a plan taken away, in one of the forms of export_form.h, seen before
 * it is written. Opened with the plan (struct live_plan *) or NULL: the best one. */
#ifndef AUTOMAP_TUI_VIEWS_VIEW_EXPORT_H
#define AUTOMAP_TUI_VIEWS_VIEW_EXPORT_H

#include "tui/app/panel.h"

extern const struct panel_ops view_export;

#endif
