/* tui/views/groups_columns.h - where the columns of the linkage groups stand, by the width of the
 * panel and what is widest in each. Pure functions; private to the view. */
#ifndef AUTOMAP_TUI_VIEWS_GROUPS_COLUMNS_H
#define AUTOMAP_TUI_VIEWS_GROUPS_COLUMNS_H

#include <stdbool.h>

/* Where columns end, but for the first four where they begin, by the width; 0: left out. */
struct groups_columns {
    int best, exact, name, name_end, dims, alone, in_best, turned, settles, reduces;
};

/* Columns of the panel from which on there are titles, the optimum, all-reduces, and all. */
enum { GROUPS_TITLED = 48, GROUPS_WITH_EXACT = 56, GROUPS_WITH_REDUCES = 70, GROUPS_WITH_ALL = 90 };

/* Columns that the widest takes of the names, and of the answers and figures in sight. */
struct groups_widest {
    int now, choice, name, dims, alone, in_best, turned;
};

/* What the optimum does is behind what the best plan does; where both that and the dims have no
 * room beside the names, the dims are left out unless `has_dims`. */
struct groups_columns groups_columns_for(int width, const struct groups_widest *widest,
                                         bool has_dims);

#endif
