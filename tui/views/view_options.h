/* tui/views/view_options.h - o: every option of the search and of the learner, the figures of the
 * cluster, the mesh: seen and changed while it runs. */
#ifndef AUTOMAP_TUI_VIEWS_VIEW_OPTIONS_H
#define AUTOMAP_TUI_VIEWS_VIEW_OPTIONS_H

#include "tui/app/panel.h"

extern const struct panel_ops view_options;

#endif
