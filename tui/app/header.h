/* tui/app/header.h - what every screen shows: row 1 (model, cluster, search), row 2 (the best plan
 * and its distance from the proven optimum), the strip of decisions, the tabs. */
#ifndef AUTOMAP_TUI_APP_HEADER_H
#define AUTOMAP_TUI_APP_HEADER_H

#include "tui/screen/grid.h"
#include "tui/screen/layout.h"
#include "tui/views/panel.h"

/* `about`: what a view says of itself there; NULL: the search. */
void header_title(const struct scene *s, const struct panel_about *about, const struct pane *p);
void header_headline(const struct scene *s, const struct pane *p);
void header_line(const struct scene *s,
                 const struct pane *p); /* all in one row, for tiny windows */

/* The strip, in a pane of 1 row (statuses), 2 (labels above) or 4 (the rows best and exact below).
 */
void strip_draw(const struct scene *s, const struct pane *p);

/* Panels by number, when not all fit. */
void header_tabs(const struct scene *s, const struct pane *p, struct panel *const *placed,
                 enum panel_id focus);

#endif
