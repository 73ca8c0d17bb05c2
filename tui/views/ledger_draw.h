/* tui/views/ledger_draw.h - the ledger of V w as its drawing sees it. UI thread; private to the
 * view. */
#ifndef AUTOMAP_TUI_VIEWS_LEDGER_DRAW_H
#define AUTOMAP_TUI_VIEWS_LEDGER_DRAW_H

#include "engine/live/ledger.h"
#include "tui/screen/grid.h"
#include "tui/screen/list.h"
#include "tui/views/panel.h"

struct ledger_view {
    struct list list;
    uint32_t marked, now; /* numbers of rows; marked: LEDGER_UNMARKED; now: when last read */
    bool read;
    bool tells; /* what a row is against another stands below the rows */
};
enum { LEDGER_UNMARKED = UINT32_MAX };

const struct ledger *ledger_of(const struct panel *p); /* NULL: no search */
/* The row under the cursor, and the one that it is held against: the marked one, else the one it
 * starts from. NULL: none. */
const struct ledger_row *ledger_here(const struct panel *p);
const struct ledger_row *ledger_against(const struct panel *p);

void ledger_draw(struct panel *p, const struct pane *pane);

#endif
