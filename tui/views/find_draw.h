/* tui/views/find_draw.h - rows of what the finder found, in columns as wide as they need to be. UI
 * thread; private to the view. */
#ifndef AUTOMAP_TUI_VIEWS_FIND_DRAW_H
#define AUTOMAP_TUI_VIEWS_FIND_DRAW_H

#include "tui/screen/grid.h"
#include "tui/watch/find.h"

enum { FIND_TEXT_ROOM = 256 };

struct find_row {
    const struct find_entry *entry;
    char what[FIND_TEXT_ROOM], now[FIND_TEXT_ROOM]; /* what it is, and how it stands now */
};

const char *find_enter_does(enum find_kind kind); /* "go there" */

/* One row each from the top of the pane. Rows that read alike once they are cut show the parts of
 * their paths in which they differ. O(rows squared). */
void find_draw_rows(const struct find_row *rows, int count, const struct pane *pane);

#endif
