#include "tui/screen/svg.h"

#include "hlo/support/mem.h"
#include "tui/screen/grid.h"
#include "tui/screen/utf8.h"

#include <stdio.h>

/* One cell in pixels; the font size makes DejaVu Sans Mono's advance (0.602 em) equal CELL_W. */
enum { CELL_W = 9, CELL_H = 19, BASELINE = 14, EDGE = 10 };
#define FONT_SIZE "14.95"

struct drawing {
    const struct grid *grid;
    const struct theme *theme;
    struct str *out;
};

static struct colour ink(const struct drawing *d, const struct look *look)
{
    struct colour fg = look->fg, bg = look->bg;
    if (fg.kind == COLOUR_DEFAULT)
        fg = d->theme->roles[ROLE_TEXT].fg;
    if (fg.kind == COLOUR_DEFAULT)
        fg = (struct colour){COLOUR_RGB, 0, 0xd0, 0xd0, 0xd0};
    if (bg.kind == COLOUR_DEFAULT)
        bg = d->theme->background;
    return look->attr & REVERSE ? bg : fg;
}

static struct colour paper(const struct drawing *d, const struct look *look)
{
    struct look turned = *look;
    turned.attr ^= REVERSE;
    return ink(d, &turned);
}

static void rectangle(const struct drawing *d, double x, double y, double width, double height,
                      struct colour c)
{
    str_format(d->out,
               "<rect x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\" fill=\"#%02x%02x%02x\"/>\n", x,
               y, width, height, c.r, c.g, c.b);
}

static void papers(const struct drawing *d, int y)
{
    const struct cell *row = d->grid->cells + (size_t)y * (size_t)d->grid->width;

    for (int x = 0, end; x < d->grid->width; x = end) {
        struct look look = theme_look(d->theme, row[x].style);
        for (end = x + 1; end < d->grid->width && row[end].style == row[x].style;)
            end++;
        if (look.bg.kind != COLOUR_DEFAULT || look.attr & REVERSE)
            rectangle(d, EDGE + x * CELL_W, EDGE + y * CELL_H, (end - x) * CELL_W, CELL_H,
                      paper(d, &look));
    }
}

/* Arms of a line-drawing sign: left, right, up, down; 2 is heavy. */
static const struct {
    uint32_t ch;
    char arms[4];
} lines[] = {
    {U'─', {1, 1, 0, 0}}, {U'━', {2, 2, 0, 0}}, {U'│', {0, 0, 1, 1}}, {U'┃', {0, 0, 2, 2}},
    {U'┌', {0, 1, 0, 1}}, {U'┐', {1, 0, 0, 1}}, {U'└', {0, 1, 1, 0}}, {U'┘', {1, 0, 1, 0}},
    {U'├', {0, 1, 1, 1}}, {U'┤', {1, 0, 1, 1}}, {U'┬', {1, 1, 0, 1}}, {U'┴', {1, 1, 1, 0}},
    {U'┼', {1, 1, 1, 1}}, {U'┏', {0, 2, 0, 2}}, {U'┓', {2, 0, 0, 2}}, {U'┗', {0, 2, 2, 0}},
    {U'┛', {2, 0, 2, 0}}, {U'┷', {2, 2, 1, 0}}, {U'┯', {2, 2, 0, 1}},
};

static bool draw_line(const struct drawing *d, double x, double y, uint32_t ch, struct colour c)
{
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        if (lines[i].ch != ch)
            continue;
        const char *arm = lines[i].arms;
        double cx = x + CELL_W / 2.0, cy = y + CELL_H / 2.0;
        if (arm[0])
            rectangle(d, x, cy - arm[0] * 0.75, CELL_W / 2.0, arm[0] * 1.5, c);
        if (arm[1])
            rectangle(d, cx, cy - arm[1] * 0.75, CELL_W / 2.0, arm[1] * 1.5, c);
        if (arm[2])
            rectangle(d, cx - arm[2] * 0.75, y, arm[2] * 1.5, CELL_H / 2.0, c);
        if (arm[3])
            rectangle(d, cx - arm[3] * 0.75, cy, arm[3] * 1.5, CELL_H / 2.0, c);
        return true;
    }
    return false;
}

static void draw_braille(const struct drawing *d, double x, double y, uint32_t dots,
                         struct colour c)
{
    /* Dots 1 2 3 7 are the left column from the top, 4 5 6 8 the right one. */
    static const unsigned char place[8][2] = {{0, 0}, {0, 1}, {0, 2}, {1, 0},
                                              {1, 1}, {1, 2}, {0, 3}, {1, 3}};
    for (unsigned i = 0; i < 8; i++) {
        if (dots >> i & 1)
            str_format(d->out, "<circle cx=\"%g\" cy=\"%g\" r=\"1.5\" fill=\"#%02x%02x%02x\"/>\n",
                       x + (place[i][0] + 0.5) * CELL_W / 2.0,
                       y + (place[i][1] + 0.5) * CELL_H / 4.0, c.r, c.g, c.b);
    }
}

static bool draw_shape(const struct drawing *d, int x, int y, const struct cell *cell)
{
    double left = EDGE + x * CELL_W, top = EDGE + y * CELL_H;
    struct look look = theme_look(d->theme, cell->style);
    struct colour c = ink(d, &look);
    uint32_t ch = cell->ch;

    if (ch >= 0x2800 && ch < 0x2900) {
        draw_braille(d, left, top, ch - 0x2800, c);
    } else if (ch >= U'█' && ch <= U'▏') {
        rectangle(d, left, top + 1, (U'▏' + 1 - ch) * CELL_W / 8.0, CELL_H - 2, c);
    } else if (ch >= U'▁' && ch < U'█') {
        double height = (ch - U'▁' + 1) * CELL_H / 8.0;
        rectangle(d, left, top + CELL_H - height, CELL_W, height, c);
    } else {
        return draw_line(d, left, top, ch, c);
    }
    return true;
}

static void add_escaped(struct str *out, uint32_t ch)
{
    char bytes[UTF8_ROOM];
    const char *named = ch == '<' ? "&lt;" : ch == '>' ? "&gt;" : ch == '&' ? "&amp;" : NULL;
    if (named)
        str_add(out, named);
    else
        str_add_bytes(out, bytes, utf8_put(bytes, ch));
}

/* One word of one style; words are placed one by one so that no font can shift a column. */
static int draw_word(const struct drawing *d, int x, int y)
{
    const struct cell *row = d->grid->cells + (size_t)y * (size_t)d->grid->width;
    struct look look = theme_look(d->theme, row[x].style);
    struct colour c = ink(d, &look);
    int end = x;

    str_format(d->out, "<text x=\"%d\" y=\"%d\"%s fill=\"#%02x%02x%02x\">", EDGE + x * CELL_W,
               EDGE + y * CELL_H + BASELINE, look.attr & BOLD ? " font-weight=\"bold\"" : "", c.r,
               c.g, c.b);
    while (end < d->grid->width && row[end].style == row[x].style && row[end].ch != ' ') {
        if (end > x && row[end].ch >= 0x2000)
            break; /* a sign beside text starts anew: fonts take it from elsewhere */
        if (row[end].ch)
            add_escaped(d->out, row[end].ch);
        end++;
    }
    str_add(d->out, "</text>\n");
    return end;
}

void grid_svg(const struct grid *g, const struct theme *t, struct str *out)
{
    struct drawing d = {g, t, out};
    int width = g->width * CELL_W + 2 * EDGE, height = g->height * CELL_H + 2 * EDGE;

    str_format(out,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
               "viewBox=\"0 0 %d %d\" font-family=\"DejaVu Sans Mono, Menlo, Consolas, monospace\" "
               "font-size=\"" FONT_SIZE "\" xml:space=\"preserve\">\n",
               width, height, width, height);
    rectangle(&d, 0, 0, width, height, t->background);
    for (int y = 0; y < g->height; y++) {
        const struct cell *row = g->cells + (size_t)y * (size_t)g->width;
        papers(&d, y);
        for (int x = 0; x < g->width;) {
            if (!row[x].ch || row[x].ch == ' ' || draw_shape(&d, x, y, &row[x]))
                x++;
            else
                x = draw_word(&d, x, y);
        }
    }
    if (g->cursor_y >= 0)
        rectangle(&d, EDGE + g->cursor_x * CELL_W, EDGE + g->cursor_y * CELL_H + 2, 1.5, CELL_H - 4,
                  t->roles[ROLE_TITLE].fg);
    str_add(out, "</svg>\n");
}
