/* tui/screen/edit.h - a line editor, its history, and fuzzy matching. Keys are fixed, as in every
 * shell: C-a C-e C-b C-f C-h C-d C-k C-u C-w, arrows, Home, End. */

#ifndef AUTOMAP_TUI_SCREEN_EDIT_H

#define AUTOMAP_TUI_SCREEN_EDIT_H

#include "tui/screen/grid.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EDIT_ROOM = 512, EDIT_HISTORY = 64 };

struct edit {
    char text[EDIT_ROOM];
    size_t size, at; /* bytes; at: where the next character goes */
};

void edit_set(struct edit *e, const char *text); /* cut at EDIT_ROOM; the cursor goes to the end */
bool edit_key(struct edit *e, uint32_t key);     /* false: not a key of the editor */

/* Draws the text from column x of row y, or the part around the cursor if it does not fit. Returns
 * the cursor's column in the pane. */
int edit_draw(const struct edit *e, const struct pane *p, int x, int y, unsigned style);

/* Earlier lines, newest last, without repeats in a row. Start zeroed. */
struct history {
    char *lines[EDIT_HISTORY];
    int count;
    int at; /* the line shown; count: the one being typed */
};
void history_add(struct history *h, const char *line);
const char *history_step(struct history *h, int step); /* "": past the newest; NULL: none older */
void history_release(struct history *h);

/* How well `pattern` matches `text`, both UTF-8, ignoring case unless the pattern has capitals: all
 * its characters must occur in order; starts of words and runs score more. 0: no match. `hits` (may
 * be NULL): bit i set where code point i of text was used, of the first 64. */
int fuzzy_score(const char *pattern, const char *text, uint64_t *hits);

#endif
