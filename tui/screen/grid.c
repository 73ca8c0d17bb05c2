#include "tui/screen/grid.h"

#include "tui/screen/utf8.h"

#include <string.h>

static int clamp(int value, int low, int high)
{
    return value < low ? low : value > high ? high : value;
}

void grid_blank(struct grid *g)
{
    size_t count = (size_t)g->width * (size_t)g->height;
    for (size_t i = 0; i < count; i++)
        g->cells[i] = (struct cell){' ', 0};
    g->cursor_x = 0;
    g->cursor_y = -1;
}

void grid_resize(struct grid *g, int width, int height)
{
    g->width = clamp(width, 1, GRID_MOST);
    g->height = clamp(height, 1, GRID_MOST);
    size_t count = (size_t)g->width * (size_t)g->height;
    if (count > g->room) {
        free(g->cells);
        g->cells = mem_alloc(count * sizeof *g->cells);
        g->room = count;
    }
    grid_blank(g);
}

void grid_copy(struct grid *to, const struct grid *from)
{
    if (to->width != from->width || to->height != from->height)
        grid_resize(to, from->width, from->height);
    memcpy(to->cells, from->cells,
           (size_t)from->width * (size_t)from->height * sizeof *from->cells);
    to->cursor_x = from->cursor_x;
    to->cursor_y = from->cursor_y;
}

void grid_release(struct grid *g)
{
    free(g->cells);
    *g = (struct grid){0};
}

void grid_text(const struct grid *g, struct str *out)
{
    char bytes[UTF8_ROOM];

    for (int y = 0; y < g->height; y++) {
        const struct cell *row = g->cells + (size_t)y * (size_t)g->width;
        for (int x = 0; x < g->width; x++) {
            if (row[x].ch)
                str_add_bytes(out, bytes, utf8_put(bytes, row[x].ch));
        }
        str_add_char(out, '\n');
    }
}

/* One sign for one sign, so that a layout never changes. */
static const struct {
    uint32_t from;
    char to;
} ascii[] = {
    {U'─', '-'}, {U'━', '='}, {U'│', '|'}, {U'┃', '|'}, {U'┊', ':'}, {U'╌', '-'}, {U'┌', '+'},
    {U'┐', '+'}, {U'└', '+'}, {U'┘', '+'}, {U'├', '+'}, {U'┤', '+'}, {U'┬', '+'}, {U'┴', '+'},
    {U'┼', '+'}, {U'┏', '+'}, {U'┓', '+'}, {U'┗', '+'}, {U'┛', '+'}, {U'┷', '+'}, {U'┯', '+'},
    {U'▾', 'v'}, {U'▸', '>'}, {U'·', '.'}, {U'×', 'x'}, {U'–', '-'}, {U'▶', '>'}, {U'‖', '='},
    {U'●', '*'}, {U'▲', '^'}, {U'■', '#'}, {U'█', '#'}, {U'▉', '#'}, {U'▊', '#'}, {U'▋', '#'},
    {U'▌', '#'}, {U'▍', ' '}, {U'▎', ' '}, {U'▏', ' '}, {U'░', '.'}, {U'▒', '%'}, {U'▓', '#'},
    {U'…', '.'}, {U'‹', '<'}, {U'›', '>'}, {U'ε', 'e'}, {U'γ', 'g'}, {U'µ', 'u'}, {U'≤', '<'},
    {U'≥', '>'}, {U'°', 'o'}, {U'β', 'b'}, {U'←', '<'}, {U'→', '>'}, {U'▁', '_'},
};

uint32_t grid_ascii(uint32_t ch)
{
    if (ch < 0x80)
        return ch;
    for (size_t i = 0; i < sizeof ascii / sizeof *ascii; i++) {
        if (ascii[i].from == ch)
            return (uint32_t)ascii[i].to;
    }
    return ch >= 0x2800 && ch < 0x2900 ? '.' : '?';
}

/* Signs that are a word where there is room for it. */
static const struct {
    uint32_t from;
    const char *word;
} words[] = {{U'ε', "eps"}, {U'β', "beta"}, {U'°', "deg"}};

/* The text behind cell x moves by `more` into the blanks that end it, of which one stays. False:
 * they are too few, or a line or a bar comes before. */
static bool make_room(struct cell *row, int width, int x, int more)
{
    int blanks = 0;

    for (int at = x + 1; at < width; at++) {
        uint32_t c = row[at].ch;
        if (c != ' ' && (blanks > 1 || (c >= 0x2500 && c < 0x2900)))
            return false;
        blanks = c == ' ' ? blanks + 1 : 0;
        if (blanks <= more)
            continue;
        memmove(row + x + 1 + more, row + x + 1, (size_t)(at - blanks - x) * sizeof *row);
        return true;
    }
    return false;
}

static void write_words(struct cell *row, int width)
{
    for (int x = 0; x < width; x++) {
        for (size_t n = 0; n < sizeof words / sizeof *words; n++) {
            int size = (int)strlen(words[n].word);
            if (row[x].ch != words[n].from || !make_room(row, width, x, size - 1))
                continue;
            for (int k = 0; k < size; k++)
                row[x + k] = (struct cell){(uint32_t)words[n].word[k], row[x].style};
        }
    }
}

void grid_to_ascii(struct grid *g)
{
    size_t count = (size_t)g->width * (size_t)g->height;

    for (int y = 0; y < g->height; y++)
        write_words(g->cells + (size_t)y * (size_t)g->width, g->width);
    for (size_t i = 0; i < count; i++)
        g->cells[i].ch = g->cells[i].ch ? grid_ascii(g->cells[i].ch) : ' ';
}
