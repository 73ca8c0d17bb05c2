/* tui/views/view_why.h - why a dim is split, whole, or can never be split: the chain of ties behind
 * it.
 *
 * Opened with a pointer to the panel it was asked from (NULL: none): its instruction or its
 * decision is the subject. A why is of the statuses at the moment it was opened; when they change,
 * it says so. */
#ifndef AUTOMAP_TUI_VIEWS_VIEW_WHY_H
#define AUTOMAP_TUI_VIEWS_VIEW_WHY_H

#include "tui/app/panel.h"

extern const struct panel_ops view_why;

#endif
