/* Words explained where they stand: every word of the glossary that is on the screen is marked, and
 * what the one under the cursor means stands below it. */
#include "tui/app/app.h"
#include "tui/app/app_internal.h"
#include "tui/screen/grid.h"
#include "tui/screen/keys.h"
#include "tui/screen/layout.h"
#include "tui/screen/theme.h"
#include "tui/screen/utf8.h"
#include "tui/views/glossary.h"

#include <stdlib.h>

enum { ROWS_MOST = 4, WIDTH_MOST = 64 };

/* The word nearest to where the cursor of words is, rows counting more than columns; -1: none. */
static int nearest(const struct app *a, const struct glossary_spot *s, int count)
{
    int best = -1, distance = 0;

    for (int n = 0; n < count; n++) {
        int rows = abs(s[n].y - a->word_y);
        int columns = s[n].x > a->word_x ? s[n].x - a->word_x : a->word_x - s[n].x;
        int d = rows * GRID_MOST + columns;
        if (best < 0 || d < distance) {
            best = n;
            distance = d;
        }
    }
    return best;
}

/* The first word of the next row that has one, or of the last: that nearest in columns. */
static int in_row(const struct glossary_spot *s, int count, int from, int step)
{
    int n = from, best;

    while (n >= 0 && n < count && s[n].y == s[from].y)
        n += step;
    if (n < 0 || n >= count)
        return from;
    best = n;
    for (int y = s[n].y; n >= 0 && n < count && s[n].y == y; n += step) {
        if (abs(s[n].x - s[from].x) < abs(s[best].x - s[from].x))
            best = n;
    }
    return best;
}

void app_words_begin(struct app *a)
{
    const struct rect *r = a->depth > 0 ? &a->top_area : layout_panel(&a->layout, a->focus);

    app_draw(a); /* what closed a moment ago is not there any more */
    a->spots = glossary_spots(&a->grid, a->spot, SPOTS_MOST);
    a->wording = a->spots > 0;
    if (!a->spots) {
        app_say(a, "no word of the glossary is on this screen");
        return;
    }
    a->word_x = r ? r->x : 0;
    a->word_y = a->grid.cursor_y >= 0 ? a->grid.cursor_y : r ? r->y : 0;
}

bool app_words_key(struct app *a, uint32_t key)
{
    const struct glossary_spot *s = a->spot;
    int count = a->spots, at = nearest(a, s, count), to;

    if (key == KEYC_LEFT || key == 'h' || key == KEYC_BACK_TAB) {
        to = at > 0 ? at - 1 : count - 1;
    } else if (key == KEYC_RIGHT || key == 'l' || key == KEYC_TAB) {
        to = at + 1 < count ? at + 1 : 0;
    } else if (key == KEYC_DOWN || key == 'j') {
        to = in_row(s, count, at, 1);
    } else if (key == KEYC_UP || key == 'k') {
        to = in_row(s, count, at, -1);
    } else {
        a->wording = false;
        return key == KEYC_ESC || key == KEYC_ENTER || key == 'q' || key == 'K';
    }
    if (to >= 0 && to < count) {
        a->word_x = s[to].x;
        a->word_y = s[to].y;
    }
    return true;
}

void app_words_click(struct app *a, int x, int y)
{
    a->word_x = x;
    a->word_y = y;
}

/* Where a meaning stands. */
struct strip {
    int x, y, width, rows;
};

/* Part of a word or a figure. Borders are neither. */
static bool is_text(const struct grid *g, int x, int y)
{
    uint32_t ch = g->cells[(size_t)y * (size_t)g->width + (size_t)x].ch;
    return ch != ' ' && (ch < 0x2500 || ch > 0x259f);
}

/* What a strip hides of a row: half a figure is another figure, so it hides those at its ends
 * whole. *from and *end: the first column and that behind the last. */
static void hidden_of_row(const struct grid *g, const struct strip *s, int y, int *from, int *end)
{
    *from = s->x;
    *end = s->x + s->width;
    while (*from > 0 && is_text(g, *from, y) && is_text(g, *from - 1, y))
        --*from;
    while (*end < g->width && is_text(g, *end, y) && is_text(g, *end - 1, y))
        ++*end;
}

static int count_hidden(const struct grid *g, const struct strip *s)
{
    int count = 0, from, end;

    for (int y = s->y; y < s->y + s->rows; y++) {
        hidden_of_row(g, s, y, &from, &end);
        for (int x = from; x < end; x++)
            count += is_text(g, x, y);
    }
    return count;
}

/* Near the word, where it hides least: each row away from it counts as some columns. `s` has its
 * size. */
static void place_strip(const struct grid *g, const struct glossary_spot *word, struct strip *s)
{
    enum { AWAY = 3, COLUMNS_A_ROW = 4 };
    struct strip best = *s;
    int least = -1, right = g->width - s->width, last = word->x + word->width + 1 - s->width;
    int x[] = {word->x - 1 < right ? word->x - 1 : right, last < right ? last : right};

    for (int k = 0; k < 2 * 2 * (AWAY + 1); k++) {
        int away = k / 4, below = word->y + 1 + away, above = word->y - s->rows - away;
        struct strip tried = {x[k % 2] > 0 ? x[k % 2] : 0, k / 2 % 2 ? above : below, s->width,
                              s->rows};
        bool fits =
            tried.y >= 0 && tried.y + tried.rows < g->height && abs(tried.y - word->y) <= AWAY + 1;
        int hidden = fits ? count_hidden(g, &tried) + away * COLUMNS_A_ROW : 0;
        if (!fits || (least >= 0 && hidden >= least))
            continue;
        least = hidden;
        best = tried;
    }
    *s = best;
}

/* Its meaning in a strip of its own, near the word. */
static void draw_meaning(struct app *a, const struct glossary_spot *word)
{
    struct pane whole = pane_whole(&a->grid);
    const char *rest = glossary[word->word].meaning;
    int most = whole.width < WIDTH_MOST ? whole.width : WIDTH_MOST, from, end;
    struct strip s = {0};
    char line[ROWS_MOST][4 * WIDTH_MOST];

    while (*rest && s.rows < ROWS_MOST) {
        rest = pane_take_line(rest, most - 2, line[s.rows], sizeof line[s.rows]);
        int columns = utf8_text_columns(line[s.rows++]) + 2;
        s.width = columns > s.width ? columns : s.width;
    }
    place_strip(&a->grid, word, &s);
    struct pane p = pane_part(&whole, s.x, s.y, s.width, s.rows);
    for (int n = 0; n < p.height; n++) {
        hidden_of_row(&a->grid, &s, s.y + n, &from, &end);
        pane_repeat(&whole, from, s.y + n, end - from, (struct cell){' ', ROLE_TEXT});
        pane_repeat(&p, 0, n, p.width, (struct cell){' ', BACK(ROLE_SELECT) | MARK});
        pane_text(&p, 1, n, ROLE_TEXT | BOLD | BACK(ROLE_SELECT) | MARK, line[n]);
    }
}

void app_words_draw(struct app *a)
{
    const struct glossary_spot *s = a->spot;
    struct pane p = pane_whole(&a->grid);

    a->spots = glossary_spots(&a->grid, a->spot, SPOTS_MOST);
    int count = a->spots, at = nearest(a, s, count);
    if (at < 0)
        return;
    for (int n = 0; n < count; n++) {
        for (int x = s[n].x; x < s[n].x + s[n].width; x++) {
            struct cell *c = &a->grid.cells[(size_t)s[n].y * (size_t)a->grid.width + (size_t)x];
            c->style = n == at ? ROLE_KEY | BOLD | REVERSE : ROLE_MATCH | BOLD;
        }
    }
    draw_meaning(a, &s[at]);
    a->grid.cursor_x = s[at].x;
    a->grid.cursor_y = s[at].y;
    if (s[at].y == p.height - 1)
        return; /* the word stands where the keys would */
    pane_repeat(&p, 0, p.height - 1, p.width, (struct cell){' ', ROLE_TEXT});
    int x = pane_text(&p, 1, p.height - 1, ROLE_TITLE | BOLD, glossary[s[at].word].word);
    x = pane_format(&p, x, p.height - 1, ROLE_DIM, "  word %d of %d  ", at + 1, count);
    x = pane_text(&p, x, p.height - 1, ROLE_KEY, "h j k l");
    x = pane_text(&p, x, p.height - 1, ROLE_DIM, " another  ");
    x = pane_text(&p, x, p.height - 1, ROLE_KEY, "?");
    x = pane_text(&p, x, p.height - 1, ROLE_DIM, " all and keys  ");
    x = pane_text(&p, x, p.height - 1, ROLE_KEY, "Esc");
    pane_text(&p, x, p.height - 1, ROLE_DIM, " back");
}
