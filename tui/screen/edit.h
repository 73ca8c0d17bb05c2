/* tui/screen/edit.h - one line of text being typed, its history, and fuzzy matching. Keys are those
 * of tui/screen/keys.h and fixed, as in every shell: C-a C-e C-b C-f C-h C-d C-k C-u C-w, arrows,
 * Home, End.
 */
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

/* Draws the text from column x of row y; when it is wider than the pane, the part around the
 * cursor. Returns the cursor's column in the pane. */
int edit_draw(const struct edit *e, const struct pane *p, int x, int y, unsigned style);

/* Lines typed before, newest last; a line twice in a row is kept once. Zero to begin with. */
struct history {
    char *lines[EDIT_HISTORY];
    int count;
    int at; /* the line shown; count: the one being typed */
};
void history_add(struct history *h, const char *line);
const char *history_step(struct history *h, int step); /* "": past the newest; NULL: none older */
void history_release(struct history *h);

/* How well `pattern` fits `text`, both any UTF-8, case ignored unless the pattern has capitals:
 * all its characters in order, more for beginnings of words and for runs. 0: no. `hits` (may be
 * NULL): bit i set where code point i of text was used, of the first 64. */
int fuzzy_score(const char *pattern, const char *text, uint64_t *hits);

#endif
