/* tui/views/actions.h - the actions that mean the same everywhere. */
#ifndef AUTOMAP_TUI_VIEWS_ACTIONS_H
#define AUTOMAP_TUI_VIEWS_ACTIONS_H

#include "tui/screen/keys.h"

enum common_action {
    ACT_RUN,
    ACT_DECIDE,
    ACT_EPISODE,
    ACT_SLOWER,
    ACT_FASTER,
    ACT_FREEZE,
    ACT_PIN,
    ACT_PINS,
    ACT_BACKTRACK,
    ACT_OPTIONS,
    ACT_ROLE,
    ACT_UNDO,
    ACT_REDO,
    ACT_WHY,
    ACT_SEARCH,
    ACT_SEARCH_NEXT,
    ACT_SEARCH_LAST,
    ACT_FILTER,
    ACT_JUMP,
    ACT_EXPORT,
    ACT_COPY,
    ACT_COPY_LINE,
    ACT_COPY_COMMAND,
    ACT_SAVE_SCREEN,
    ACT_PANEL_0, /* to 9 */
    ACT_PANEL_9 = ACT_PANEL_0 + 9,
    ACT_PANEL_NEXT,
    ACT_PANEL_LAST,
    ACT_GRAPH_VIEW,
    ACT_PLANS,
    ACT_MEMORY,
    ACT_COST,
    ACT_DEVICES,
    ACT_FORBIDDEN,
    ACT_RACE,
    ACT_PIPELINE,
    ACT_HYBRID,
    ACT_PLACE,
    ACT_RELAXED,
    ACT_DOCTOR,
    ACT_ZOOM,
    ACT_NARROWER,
    ACT_WIDER,
    ACT_MOUSE,
    ACT_REDRAW,
    ACT_DOWN,
    ACT_UP,
    ACT_PAGE_DOWN,
    ACT_PAGE_UP,
    ACT_HALF_DOWN,
    ACT_HALF_UP,
    ACT_FIRST,
    ACT_LAST,
    ACT_COMMAND,
    ACT_FIND,
    ACT_TOURS,
    ACT_HELP,
    ACT_CLOSE,
    ACT_QUIT,
    ACT_ESCAPE,
    ACT_STOP,
    ACT_COUNT
};

extern const struct key_table common_keys;

#endif
