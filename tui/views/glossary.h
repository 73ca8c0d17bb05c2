/* tui/views/glossary.h - words of the field as the explorer uses them, each with its meaning in one
 * sentence: `?` lists those that stand on the screen. */
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

#endif
