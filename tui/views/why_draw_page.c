/* Answers that are no chain: sentences and tables, one below the other, scrolled where they are
 * longer than the view. */
#include "engine/decide/names.h"
#include "tui/screen/grid.h"
#include "tui/screen/theme.h"
#include "tui/screen/utf8.h"
#include "tui/views/panel.h"
#include "tui/views/why_draw.h"
#include "tui/watch/answer.h"
#include "tui/watch/watch.h"

#include <stdio.h>
#include <string.h>

enum { GAP = 2, LEAST = 8 }; /* columns between cells; a cell is cut to no fewer */

/* Ends of the columns of one table, for as many cells as its rows have. */
struct table {
    int start[ANSWER_CELLS], width[ANSWER_CELLS];
    bool figures[ANSWER_CELLS], groups[ANSWER_CELLS], choices[ANSWER_CELLS];
    uint32_t cells;
};

static bool is_table(const struct answer_row *r)
{
    return r->kind == ANSWER_TITLES || r->kind == ANSWER_ROW;
}

const struct answer_row *why_page_row(const struct why *v)
{
    int64_t at = -1;

    for (size_t n = 0; v->is_page && n < v->page.count; n++) {
        at += v->page.rows[n].kind == ANSWER_ROW;
        if (v->page.rows[n].kind == ANSWER_ROW && at == v->rows.cursor)
            return &v->page.rows[n];
    }
    return NULL;
}

int why_page_rows(const struct why *v)
{
    int rows = 0;

    for (size_t n = 0; n < v->page.count; n++)
        rows += v->page.rows[n].kind == ANSWER_ROW;
    return rows;
}

/* Nothing of "optimum of variables", which says of what or is left out, and of "over 16 GB", which
 * the memory beside it says too; a plan that is "proven optimum of variables" keeps a word. */
static const char *brief_cell(const char *cell)
{
    if (!strncmp(cell, "proven optimum of ", 18))
        return "optimum";
    return strncmp(cell, "optimum of ", 11) != 0 && strncmp(cell, "over ", 5) != 0 ? cell : "";
}

/* Columns that cell `k` takes in the table whose titles are row `first`. */
static int widest_cell(const struct answer *a, size_t first, uint32_t k, bool is_brief)
{
    int widest = 0;

    for (size_t n = first; n < a->count && is_table(&a->rows[n]); n++) {
        if (n > first && a->rows[n].kind == ANSWER_TITLES)
            break;
        const char *cell = answer_cell(a, &a->rows[n], k);
        int columns =
            utf8_text_columns(is_brief ? brief_cell(cell) : cell) - (n == first && cell[0] == '>');
        widest = columns > widest ? columns : widest;
    }
    return widest;
}

/* Widths of the table whose titles are row `first`. Where it is too wide, proofs are left
 * out, then the widest words give way. */
static struct table table_at(const struct answer *a, size_t first, int width)
{
    struct table t = {.cells = a->rows[first].cells};
    int all = 0;

    for (uint32_t k = 0; k < t.cells; k++) {
        const char *title = answer_cell(a, &a->rows[first], k);
        t.figures[k] = title[0] == '>';
        t.groups[k] = !strcmp(title, "group");
        t.choices[k] = !strcmp(title, "choice");
        t.width[k] = widest_cell(a, first, k, false);
        all += t.width[k] + (k ? GAP : 0);
    }
    for (uint32_t k = 0; k < t.cells && all + GAP > width; k++) {
        int brief = widest_cell(a, first, k, true);
        all -= t.width[k] - brief;
        t.width[k] = brief;
    }
    for (int over = all + GAP - width; over > 0;) {
        uint32_t widest = 0;
        for (uint32_t k = 0; k < t.cells; k++)
            widest = !t.figures[k] && t.width[k] > t.width[widest] ? k : widest;
        if (t.width[widest] <= LEAST)
            break;
        t.width[widest]--;
        over--;
    }
    for (uint32_t k = 0, x = GAP; k < t.cells; k++) {
        t.start[k] = (int)x;
        x += (uint32_t)t.width[k] + GAP;
    }
    return t;
}

/* "dec cross 1–4 split, rest as it is": of a choice the name gives way, not what is chosen. */
static void cut_choice(char out[static NAME_ROOM], const char *cell, int columns)
{
    char name[NAME_ROOM], brief[NAME_ROOM - 32];
    const char *chosen = strstr(cell, " split, rest ");

    chosen = chosen ? chosen : strstr(cell, " whole, rest ");
    int left = columns - utf8_text_columns(chosen ? chosen : "");
    if (!chosen || utf8_text_columns(cell) <= columns || left < LEAST) {
        text_cut_middle(out, NAME_ROOM, cell, columns);
        return;
    }
    snprintf(name, sizeof name, "%.*s", (int)(chosen - cell), cell);
    snprintf(out, NAME_ROOM, "%s%.30s", watch_short_name(brief, sizeof brief, name, left), chosen);
}

static void draw_cells(const struct answer *a, const struct answer_row *r, const struct table *t,
                       const struct pane *p, int y)
{
    unsigned style = r->kind == ANSWER_TITLES ? ROLE_DIM
                     : r->marked              ? ROLE_TITLE | BOLD
                                              : ROLE_TEXT;
    char name[NAME_ROOM];

    if (r->marked)
        pane_text(p, 0, y, ROLE_WARN | BOLD, "!");
    for (uint32_t k = 0; k < t->cells && k < r->cells; k++) {
        const char *cell = answer_cell(a, r, k);
        cell += r->kind == ANSWER_TITLES && t->figures[k];
        if (t->figures[k]) {
            pane_right(p, t->start[k] + t->width[k], y, style, cell);
            continue;
        }
        if (utf8_text_columns(cell) > t->width[k])
            cell = brief_cell(cell);
        if (t->groups[k]) /* as it is called in the other panels */
            cell = watch_short_name(name, sizeof name, cell, t->width[k]);
        if (t->choices[k]) {
            cut_choice(name, cell, t->width[k]);
            cell = name;
        }
        pane_cut(p, t->start[k], y, t->width[k], style, cell);
    }
}

/* Draws from line `y` on (above 0: passed over); returns the line behind. *seen: the line of the
 * row under the cursor, `here`. */
static int draw_all(const struct answer *a, const struct answer_row *here, const struct pane *p,
                    int y, int gap, int *seen)
{
    struct table t = {0};

    for (size_t n = 0; n < a->count; n++) {
        const struct answer_row *r = &a->rows[n];
        if (r->kind == ANSWER_SENTENCE) {
            y = why_draw_words(p, y, ROLE_TEXT, ROLE_TITLE | BOLD, answer_cell(a, r, 0));
        } else if (r->kind == ANSWER_HEAD) {
            y += gap;
            if (y >= 0 && y < p->height)
                pane_head(p, y,
                          &(struct head){0, answer_cell(a, r, 0), answer_cell(a, r, 1), false});
            y++;
        } else {
            if (r->kind == ANSWER_TITLES)
                t = table_at(a, n, p->width);
            draw_cells(a, r, &t, p, y);
            if (r == here && *seen == -1)
                *seen = y;
            if (r == here && y >= 0 && y < p->height) {
                pane_select(p, y, ROLE_SELECT);
                p->grid->cursor_x = p->x;
                p->grid->cursor_y = p->y + y;
            }
            y++;
        }
    }
    return y;
}

/* What stands over the last row ends with a whole word. */
static void draw_rest(const struct pane *p, int y, int lines)
{
    char text[32];
    struct cell *row = p->grid->cells + (size_t)(p->y + y) * (size_t)p->grid->width + p->x;

    snprintf(text, sizeof text, "  %d more", lines);
    int x = p->width - (int)strlen(text);
    while (x > 0 && row[x - 1].ch != ' ')
        pane_put(p, --x, y, ROLE_TEXT, ' ');
    pane_right(p, p->width, y, ROLE_DIM, text);
}

static void draw_scrolled(struct why *v, const struct pane *pane, int gap)
{
    const struct answer_row *here = why_page_row(v);
    struct pane none = pane_part(pane, 0, 0, pane->width, 0);
    int seen = -1;

    none.height = 0;
    none.grid = pane->grid;
    int lines = draw_all(&v->page, here, &none, 0, gap, &seen), most = lines - pane->height;
    if (seen >= 0 && seen - v->scroll >= pane->height)
        v->scroll = seen - pane->height + 1;
    if (seen >= 0 && seen < v->scroll)
        v->scroll = v->rows.cursor == 0 ? 0 : seen;
    v->scroll = v->scroll > most ? most : v->scroll;
    v->scroll = v->scroll < 0 ? 0 : v->scroll;
    seen = -2;
    draw_all(&v->page, here, pane, -v->scroll, gap, &seen);
    if (lines - v->scroll > pane->height)
        draw_rest(pane, pane->height - 1, lines - v->scroll - pane->height);
}

void why_draw_page(struct panel *p, const struct pane *pane)
{
    draw_scrolled(p->state, pane, pane->height >= 14);
}

void why_draw_below(struct panel *p, const struct pane *pane)
{
    draw_scrolled(p->state, pane, pane->height >= 12);
}
