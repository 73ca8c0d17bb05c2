/* tui/screen/list.h - the cursor and the window of a list of any length: which rows are visible and
 * how keys move them. It knows nothing of the content; only visible rows are ever needed. */
#ifndef AUTOMAP_TUI_SCREEN_LIST_H
#define AUTOMAP_TUI_SCREEN_LIST_H

#include <stdbool.h>
#include <stdint.h>

struct list {
    int64_t count, cursor, top;
    int rows; /* visible; set by list_fit */
};

enum list_move {
    LIST_UP,
    LIST_DOWN,
    LIST_PAGE_UP,
    LIST_PAGE_DOWN,
    LIST_HALF_UP,
    LIST_HALF_DOWN,
    LIST_FIRST,
    LIST_LAST,
};

/* Takes a new count and height; keeps the cursor in range and in sight. */
void list_fit(struct list *l, int64_t count, int rows);
bool list_move(struct list *l, enum list_move move); /* true: the cursor moved */
void list_go(struct list *l, int64_t cursor);        /* and scrolls it to the middle if it is not
                                                        visible */
#endif
