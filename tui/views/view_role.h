/* tui/views/view_role.h - r on a parameter: what it is, corrected by a person, and which of its
 * dims is the batch. Opened with its instruction (hlo_id *). */
#ifndef AUTOMAP_TUI_VIEWS_VIEW_ROLE_H
#define AUTOMAP_TUI_VIEWS_VIEW_ROLE_H

#include "tui/app/panel.h"

extern const struct panel_ops view_role;

#endif
