/* tui/views/view_members.h - a class from inside (Enter in panel 2), and beside other panels why it
 * is one. */
#ifndef AUTOMAP_TUI_VIEWS_VIEW_MEMBERS_H
#define AUTOMAP_TUI_VIEWS_VIEW_MEMBERS_H

#include "tui/app/panel.h"

extern const struct panel_ops
    view_members;                        /* its argument is a class_id; NULL: the forbidden ones */
extern const struct panel_ops view_ties; /* panel: why the class under the cursor is one */

#endif
