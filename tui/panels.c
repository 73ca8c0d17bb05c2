/* All views: a new one is a row here. */
#include "tui/panel.h"
#include "tui/view_graph.h"
#include "tui/view_help.h"
#include "tui/view_palette.h"
#include "tui/view_start.h"

const struct panel_ops *const panel_list[] = {
    &view_start, &view_graph, &view_help, &view_palette, NULL,
};
