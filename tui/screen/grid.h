/* tui/screen/grid.h - the picture before it reaches a terminal: a grid of cells, and panes for
 * drawing.
 *
 * A cell is a code point, the role of its foreground and of its background (tui/screen/theme.h
 * gives roles their colours) and attributes. All drawing goes through a pane, a rectangle of a grid
 * with its own coordinates; what does not fit is clipped, so that no view can draw over another. A
 * style is one number: ROLE_WARN | BOLD | BACK(ROLE_SELECT).
 *
 * Views always draw UTF-8. For a terminal without it, grid_to_ascii replaces signs one for one, and
 * a few by words where blanks follow. */
#ifndef AUTOMAP_TUI_SCREEN_GRID_H
#define AUTOMAP_TUI_SCREEN_GRID_H

#include "hlo/support/mem.h"

#include <stdbool.h>
#include <stdint.h>

#define BACK(role) ((unsigned)(role) << 8)
enum style_bit {
    BOLD = 1 << 16,
    REVERSE = 1 << 17,
    MARK = 1 << 18, /* reverse where the theme gives the cell's background no colour */
};

struct cell {
    uint32_t ch; /* 0: right half of a wide character */
    unsigned style;
};

struct rect {
    int x, y, width, height;
};

struct grid {
    int width, height;
    struct cell *cells;     /* row by row */
    int cursor_x, cursor_y; /* the hardware cursor; cursor_y < 0: hidden */
    size_t room;
    double
        ms_scale; /* a step of what is shown: all columns of times have its decimals; 0: unknown */
    bool no_colours; /* are seen: several curves of one plot are signs, to be told apart */
};

enum { GRID_MOST = 1000 }; /* columns and rows; larger windows are used up to here */

/* Gives `g` a size and blanks it. A grid starts zeroed; sizes are clamped to 1..GRID_MOST. */
void grid_resize(struct grid *g, int width, int height);
void grid_blank(struct grid *g);
void grid_copy(struct grid *to, const struct grid *from);
void grid_release(struct grid *g);
void grid_to_ascii(struct grid *g);
uint32_t grid_ascii(uint32_t ch); /* the sign that stands for it in ASCII: always one column */

/* Every row with its trailing blanks and a newline. */
void grid_text(const struct grid *g, struct str *out);

struct pane {
    struct grid *grid;
    int x, y, width, height; /* inside the grid */
};

struct pane pane_whole(struct grid *g);
struct pane pane_part(const struct pane *p, int x, int y, int width, int height); /* clipped to p */

/* All return the column after what was, or would have been, drawn. Control characters show as '?';
 * combining marks are dropped. */
int pane_put(const struct pane *p, int x, int y, unsigned style, uint32_t ch);
int pane_text(const struct pane *p, int x, int y, unsigned style, const char *text);
int pane_format(const struct pane *p, int x, int y, unsigned style, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Text whose last column is `end` - 1; returns the column of its first. */
int pane_right(const struct pane *p, int end, int y, unsigned style, const char *text);
int pane_right_format(const struct pane *p, int end, int y, unsigned style, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* A figure with commas from 1,000; ms of a column: none from 10,000 on, else as many decimals as
 * the grid's scale asks for, which are pane_ms_decimals. */
int pane_right_number(const struct pane *p, int end, int y, unsigned style, double value,
                      int decimals);
int pane_ms_decimals(const struct pane *p);
double pane_ms_least(const struct pane *p); /* a shorter time shows as 0 in a column */
int pane_right_ms(const struct pane *p, int end, int y, unsigned style, double ms);

/* Text cut to `width` columns as text_cut_middle does. */
int pane_cut(const struct pane *p, int x, int y, int width, unsigned style, const char *text);

void pane_repeat(const struct pane *p, int x, int y, int count, struct cell cell);
void pane_clear(const struct pane *p);

/* Copies as many words as fit in `width`, at least one, to `out`; returns the rest of the text. */
const char *pane_take_line(const char *text, int width, char *out, size_t room);
/* Draws the text folded, from the top, as far as it fits; returns the lines. */
int pane_sentence(const struct pane *p, unsigned style, const char *text);

/* Sets the background role of a row's cells, and marks the first cell. */
void pane_select(const struct pane *p, int y, unsigned role);

/* What was drawn in the pane becomes dim: it is of before. */
void pane_dim(const struct pane *p);

/* A panel's head on row y: number, title, rule to the right edge, note. Heavy rule: focus. A note
 * that does not fit is left out. number 0: none. */
struct head {
    int number;
    const char *title, *note;
    bool focus;
};
void pane_head(const struct pane *p, int y, const struct head *h);

/* A horizontal bar of `share` (0..1) of `width` columns in eighths of a column. */
void pane_bar(const struct pane *p, int x, int y, int width, double share, unsigned style);

/* Cut to `columns`, a name in its middle (`fusion..901`), a path from its left (`../q/kernel`, at a
 * slash where one is near), a sentence by its last clauses (fields two blanks apart are no
 * sentence), or words; at the end, after the last word there is room for (`a step of ..`), so that
 * no figure loses digits. Below three columns a plain cut. out and text may not overlap. */
char *text_cut_middle(char *out, size_t room, const char *text, int columns);
char *text_times(char *out, size_t room, const char *text); /* "4 x 16 GB" with a real × */
char *text_cut_clauses(char *out, size_t room, const char *text, int columns);
char *text_cut_words(char *out, size_t room, const char *text,
                     int columns); /* clauses, then words */
char *text_cut_left(char *out, size_t room, const char *text, int columns);

#endif
