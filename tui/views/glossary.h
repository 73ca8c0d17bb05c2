/* tui/views/glossary.h - words of the field as the explorer uses them, each with its meaning in one
 * sentence: `?` lists those that stand on the screen, `K` explains one where it stands. */
#ifndef AUTOMAP_TUI_VIEWS_GLOSSARY_H
#define AUTOMAP_TUI_VIEWS_GLOSSARY_H

#include "tui/screen/grid.h"

struct glossary_word {
    const char *word, *meaning;
};
extern const struct glossary_word glossary[]; /* ends with word NULL */

/* Those that stand on a screen, as indices: first of the row `first` (the cursor's; -1: none), then
 * from the top. Returns how many, at most `room`. */
int glossary_on(const struct grid *g, int first, int *out, int room);

/* Where a word stands: `width` columns from x on row y. */
struct glossary_spot {
    int x, y, width, word; /* word: index */
};

/* All that stand on a screen, row by row from the left; where two begin at one place the longer.
 * Returns how many, at most `room`. Linear in the cells for a glossary of fixed size. */
int glossary_spots(const struct grid *g, struct glossary_spot *out, int room);

#endif
