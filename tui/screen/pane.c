/* Panes: clipped drawing into a grid. */
#include "tui/screen/grid.h"

#include "engine/text/units.h"
#include "tui/screen/theme.h"
#include "tui/screen/utf8.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LINE_ROOM = 1024 }; /* bytes of one formatted text; more is wider than any window */

struct pane pane_whole(struct grid *g)
{
    return (struct pane){g, 0, 0, g->width, g->height};
}

struct pane pane_part(const struct pane *p, int x, int y, int width, int height)
{
    int right = x + width < p->width ? x + width : p->width;
    int bottom = y + height < p->height ? y + height : p->height;
    int left = x > 0 ? x : 0, top = y > 0 ? y : 0;

    struct pane part = {p->grid, p->x + left, p->y + top, right - left, bottom - top};
    if (part.width < 0 || part.height < 0)
        part.width = part.height = 0;
    return part;
}

static struct cell *cell_at(const struct pane *p, int x, int y)
{
    if (x < 0 || y < 0 || x >= p->width || y >= p->height)
        return NULL;
    return p->grid->cells + (size_t)(p->y + y) * (size_t)p->grid->width + (size_t)(p->x + x);
}

/* What is about to be overwritten may be half of a wide character: its other half goes too. */
static void part_wide(const struct pane *p, struct cell *cell)
{
    const struct grid *g = p->grid;
    int x = (int)((cell - g->cells) % g->width);
    if (!cell->ch && x > 0)
        cell[-1].ch = ' ';
    if (utf8_columns(cell->ch) == 2 && cell->ch && x + 1 < g->width)
        cell[1].ch = ' ';
}

int pane_put(const struct pane *p, int x, int y, unsigned style, uint32_t ch)
{
    if (ch < 0x20 || (ch >= 0x7f && ch < 0xa0))
        ch = '?';
    int columns = utf8_columns(ch);
    struct cell *cell = cell_at(p, x, y);
    struct cell *last = columns == 2 ? cell_at(p, x + 1, y) : cell;

    if (columns == 0)
        return x;
    if (cell && last) {
        part_wide(p, cell);
        if (last != cell) {
            part_wide(p, last);
            *last = (struct cell){0, style};
        }
        *cell = (struct cell){ch, style};
    } else if (cell) { /* the right half would lie outside */
        part_wide(p, cell);
        *cell = (struct cell){' ', style};
    }
    return x + columns;
}

int pane_text(const struct pane *p, int x, int y, unsigned style, const char *text)
{
    uint32_t c;
    while ((c = utf8_next(&text)))
        x = pane_put(p, x, y, style, c);
    return x;
}

int pane_format(const struct pane *p, int x, int y, unsigned style, const char *format, ...)
{
    char line[LINE_ROOM];
    va_list args;

    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    return pane_text(p, x, y, style, line);
}

int pane_right(const struct pane *p, int end, int y, unsigned style, const char *text)
{
    int x = end - utf8_text_columns(text);
    pane_text(p, x, y, style, text);
    return x;
}

int pane_right_format(const struct pane *p, int end, int y, unsigned style, const char *format, ...)
{
    char line[LINE_ROOM];
    va_list args;

    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    return pane_right(p, end, y, style, line);
}

int pane_right_number(const struct pane *p, int end, int y, unsigned style, double value,
                      int decimals)
{
    char number[UNITS_ROOM];
    return pane_right(p, end, y, style, units_number(number, value, decimals));
}

int pane_ms_decimals(const struct pane *p)
{
    return units_ms_decimals(p->grid->ms_scale);
}

double pane_ms_least(const struct pane *p)
{
    return 0.5 * pow(10, -pane_ms_decimals(p));
}

int pane_right_ms(const struct pane *p, int end, int y, unsigned style, double ms)
{
    return pane_right_number(p, end, y, style, ms, fabs(ms) < 9999.95 ? pane_ms_decimals(p) : 0);
}

int pane_cut(const struct pane *p, int x, int y, int width, unsigned style, const char *text)
{
    char line[LINE_ROOM];
    return pane_text(p, x, y, style, text_cut_middle(line, sizeof line, text, width));
}

void pane_repeat(const struct pane *p, int x, int y, int count, struct cell cell)
{
    for (int i = 0; i < count; i++)
        pane_put(p, x + i, y, cell.style, cell.ch);
}

void pane_clear(const struct pane *p)
{
    for (int y = 0; y < p->height; y++)
        pane_repeat(p, 0, y, p->width, (struct cell){' ', 0});
}

void pane_select(const struct pane *p, int y, unsigned role)
{
    for (int x = 0; x < p->width; x++) {
        struct cell *cell = cell_at(p, x, y);
        if (cell)
            cell->style = (cell->style & ~BACK(0xff)) | BACK(role) | (x == 0 ? MARK : 0);
    }
}

void pane_dim(const struct pane *p)
{
    for (int y = 0; y < p->height; y++) {
        for (int x = 0; x < p->width; x++) {
            struct cell *cell = cell_at(p, x, y);
            if (cell)
                cell->style = ROLE_DIM;
        }
    }
}

void pane_head(const struct pane *p, int y, const struct head *h)
{
    int x = 0, end = p->width;
    int note = h->note && *h->note ? utf8_text_columns(h->note) + 1 : 0;

    if (h->number > 0)
        x = pane_format(p, x, y, ROLE_KEY, "%d ", h->number % 10);
    x = pane_text(p, x, y, ROLE_TITLE | BOLD, h->title) + 1;
    if (note && x + note + 1 <= end) {
        end -= note;
        pane_text(p, end + 1, y, ROLE_DIM, h->note);
    }
    pane_repeat(p, x, y, end - x,
                h->focus ? (struct cell){U'━', ROLE_BORDER_FOCUS}
                         : (struct cell){U'─', ROLE_BORDER});
}

void pane_bar(const struct pane *p, int x, int y, int width, double share, unsigned style)
{
    static const uint32_t eighth[] = {U' ', U'▏', U'▎', U'▍', U'▌', U'▋', U'▊', U'▉'};

    if (!(share > 0) || width <= 0)
        return;
    int eighths = (int)((share < 1 ? share : 1) * width * 8 + 0.5);
    pane_repeat(p, x, y, eighths / 8, (struct cell){U'█', style});
    if (eighths % 8)
        pane_put(p, x + eighths / 8, y, style, eighth[eighths % 8]);
}

/* Appends code points of `text` from byte `from` while they fit into `columns`. */
static size_t copy_columns(char *out, size_t room, const char *text, int columns)
{
    const char *s = text;
    size_t size = 0;

    for (;;) {
        const char *before = s;
        uint32_t c = utf8_next(&s);
        if (!c || utf8_columns(c) > columns || size + (size_t)(s - before) >= room)
            break;
        columns -= utf8_columns(c);
        memcpy(out + size, before, (size_t)(s - before));
        size += (size_t)(s - before);
    }
    out[size] = 0;
    return size;
}

/* The longest end of `text` that fits into `columns`. */
static const char *tail(const char *text, int columns)
{
    size_t at = strlen(text);
    while (at > 0) {
        size_t before = utf8_before(text, at);
        const char *s = text + before;
        columns -= utf8_columns(utf8_next(&s));
        if (columns < 0)
            break;
        at = before;
    }
    return text + at;
}

char *text_cut_middle(char *out, size_t room, const char *text, int columns)
{
    if (columns < 3 || utf8_text_columns(text) <= columns) {
        copy_columns(out, room, text, columns);
        return out;
    }
    size_t size = copy_columns(out, room, text, (columns - 2 + 1) / 2);
    size += copy_columns(out + size, room - size, "..", 2);
    copy_columns(out + size, room - size, tail(text, (columns - 2) / 2), columns);
    return out;
}

static bool drop_clause(char *text)
{
    char *end = NULL; /* of the clauses that stay */

    for (char *s = text; (s = strpbrk(s, ",;.")); s++) {
        if (s[1] == ' ')
            end = s;
    }
    if (end)
        *end = 0;
    return end;
}

static bool drop_word(char *text)
{
    char *end = strrchr(text, ' ');

    while (end && end > text && strchr(" ,;:", end[-1]))
        end--;
    if (end)
        *end = 0;
    return end;
}

/* After the last word there is room for: "a step of ..". */
static char *cut_end(char *out, size_t room, const char *text, int columns)
{
    if (columns < 4 || utf8_text_columns(text) <= columns)
        return text_cut_middle(out, room, text, columns);
    size_t size = copy_columns(out, room - 3, text, columns - 3);
    if (text[size] != ' ' && !drop_word(out))
        return text_cut_middle(out, room, text, columns);
    size = strlen(out);
    if (utf8_text_columns(out) < columns / 2)
        return text_cut_middle(out, room, text, columns);
    memcpy(out + size, " ..", 4);
    return out;
}

char *text_cut_clauses(char *out, size_t room, const char *text, int columns)
{
    snprintf(out, room, "%s", text);
    while (utf8_text_columns(out) > columns) {
        if (strstr(text, "  "))
            return text_cut_middle(out, room, text, columns);
        if (!drop_clause(out))
            return cut_end(out, room, text, columns);
    }
    return out;
}

char *text_cut_words(char *out, size_t room, const char *text, int columns)
{
    snprintf(out, room, "%s", text);
    while (utf8_text_columns(out) > columns) {
        if (!drop_clause(out) && !drop_word(out))
            return text_cut_middle(out, room, text, columns);
    }
    return out;
}

/* What stands before the slash ends in a number that is all there: the layer it is of. */
static bool ends_in_number(const char *text, const char *rest, const char *slash)
{
    const char *digits = slash;

    while (digits > rest && isdigit((unsigned char)digits[-1]))
        digits--;
    return digits < slash && (digits > rest || rest == text || !isdigit((unsigned char)rest[-1]));
}

char *text_cut_left(char *out, size_t room, const char *text, int columns)
{
    if (columns < 3 || utf8_text_columns(text) <= columns) {
        copy_columns(out, room, text, columns);
        return out;
    }
    const char *rest = tail(text, columns - 2);
    const char *slash = strchr(rest, '/');
    if (slash && slash[1] && slash - rest < columns / 2 && !ends_in_number(text, rest, slash))
        rest = slash;
    size_t size = copy_columns(out, room, "..", 2);
    copy_columns(out + size, room - size, rest, columns);
    return out;
}

char *text_times(char *out, size_t room, const char *text)
{
    const char *x = strstr(text, " x ");
    if (x)
        snprintf(out, room, "%.*s × %s", (int)(x - text), text, x + 3);
    else
        snprintf(out, room, "%s", text);
    return out;
}

const char *pane_take_line(const char *text, int width, char *out, size_t room)
{
    size_t best = 0, at = 0;

    while (text[at]) {
        size_t word = at + strcspn(text + at, " ");
        char line[512];
        snprintf(line, sizeof line, "%.*s", (int)word, text);
        if (best && utf8_text_columns(line) > width)
            break;
        best = word;
        at = word + (text[word] == ' ');
    }
    snprintf(out, room, "%.*s", (int)best, text);
    return text + best + (text[best] == ' ');
}

int pane_sentence(const struct pane *p, unsigned style, const char *text)
{
    char line[512];
    int y = 0;

    for (; y < p->height && *text; y++) {
        text = pane_take_line(text, p->width, line, sizeof line);
        pane_cut(p, 0, y, p->width, style, line);
    }
    return y;
}
