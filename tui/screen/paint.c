#include "tui/screen/paint.h"

#include "hlo/support/mem.h"
#include "tui/screen/grid.h"
#include "tui/screen/utf8.h"

#include <string.h>

void paint_init(struct paint *p, const struct theme *t, enum colour_depth depth, bool ascii)
{
    *p = (struct paint){.depth = depth, .theme = *t, .ascii = ascii};
}

void paint_release(struct paint *p)
{
    grid_release(&p->shown);
    grid_release(&p->work);
}

void paint_forget(struct paint *p)
{
    p->fresh = false;
}

static int square(int v)
{
    return v * v;
}

static int colour_distance(struct colour c, int r, int g, int b)
{
    return square(c.r - r) + square(c.g - g) + square(c.b - b);
}

/* xterm's cube has the levels 0, 95, 135 .. 255; its greys are 8, 18 .. 238. */
static int cube_level(int v)
{
    return v < 48 ? 0 : v < 115 ? 1 : (v - 35) / 40;
}

int colour_to_256(struct colour c)
{
    static const int level[6] = {0, 95, 135, 175, 215, 255};
    int r = cube_level(c.r), g = cube_level(c.g), b = cube_level(c.b);
    int grey = (c.r + c.g + c.b) / 3;
    int step = grey < 8 ? 0 : grey > 238 ? 23 : (grey - 3) / 10;
    int shade = 8 + 10 * step;

    if (colour_distance(c, shade, shade, shade) < colour_distance(c, level[r], level[g], level[b]))
        return 232 + step;
    return 16 + 36 * r + 6 * g + b;
}

/* By hue: the nearest in RGB of a light red would be grey, which says nothing. */
static int colour_to_16(struct colour c)
{
    int high = c.r > c.g ? c.r : c.g, low = c.r < c.g ? c.r : c.g;
    high = c.b > high ? c.b : high;
    low = c.b < low ? c.b : low;
    int middle = (high + low) / 2;

    if (high - low < 50)
        return middle < 64 ? 0 : middle < 170 ? 8 : middle < 240 ? 7 : 15;
    return (c.r > middle) | (c.g > middle) << 1 | (c.b > middle) << 2 | (high > 210) << 3;
}

/* base: 30 foreground, 40 background. */
static void add_colour(struct str *out, const struct paint *p, struct colour c, int base)
{
    if (c.kind == COLOUR_DEFAULT || p->depth == DEPTH_MONO)
        return;
    if (c.kind == COLOUR_RGB && p->depth == DEPTH_TRUE) {
        str_format(out, ";%d;2;%d;%d;%d", base + 8, c.r, c.g, c.b);
    } else if (c.kind == COLOUR_RGB && p->depth == DEPTH_256) {
        str_format(out, ";%d;5;%d", base + 8, colour_to_256(c));
    } else {
        int index = c.kind == COLOUR_NAMED ? c.index : colour_to_16(c);
        str_format(out, ";%d", index < 8 ? base + index : base + 60 + index - 8);
    }
}

static void add_style(struct str *out, const struct paint *p, unsigned style)
{
    struct look look = theme_look(&p->theme, style);
    str_add(out, "\033[0");
    if (look.attr & BOLD)
        str_add(out, ";1");
    if (look.attr & REVERSE)
        str_add(out, ";7");
    add_colour(out, p, look.fg, 30);
    add_colour(out, p, look.bg, 40);
    str_add_char(out, 'm');
}

/* Where the terminal's cursor and pen are while a frame is written. */
struct pencil {
    int x, y; /* y < 0: not known */
    unsigned style;
    bool styled;
};

static void move_to(struct pencil *pen, struct str *out, int x, int y)
{
    if (pen->y == y && pen->x == x)
        return;
    if (pen->y == y && x > pen->x)
        str_format(out, x - pen->x == 1 ? "\033[C" : "\033[%dC", x - pen->x);
    else
        str_format(out, "\033[%d;%dH", y + 1, x + 1);
    pen->x = x;
    pen->y = y;
}

static bool same_cell(const struct cell *a, const struct cell *b)
{
    return a->ch == b->ch && a->style == b->style;
}

static void paint_row(struct paint *p, struct pencil *pen, int y, struct str *out)
{
    const struct grid *g = &p->work;
    const struct cell *now = g->cells + (size_t)y * (size_t)g->width;
    const struct cell *was = p->shown.cells + (size_t)y * (size_t)g->width;
    char bytes[UTF8_ROOM];

    for (int x = 0; x < g->width; x++) {
        if (!now[x].ch || (p->fresh && same_cell(&now[x], &was[x])))
            continue;
        move_to(pen, out, x, y);
        if (!pen->styled || pen->style != now[x].style) {
            add_style(out, p, now[x].style);
            pen->style = now[x].style;
            pen->styled = true;
        }
        str_add_bytes(out, bytes, utf8_put(bytes, now[x].ch));
        pen->x += utf8_columns(now[x].ch);
        if (pen->x >= g->width)
            pen->y = -1; /* terminals differ in where the cursor waits */
    }
}

/* The cursor is hidden while cells are written, so that it does not flicker over the screen. */
static void paint_cursor(struct paint *p, struct str *out, size_t before)
{
    const struct grid *g = &p->work;
    bool moved = g->cursor_x != p->shown.cursor_x || (g->cursor_y < 0) != (p->shown.cursor_y < 0) ||
                 (g->cursor_y >= 0 && g->cursor_y != p->shown.cursor_y);

    if (p->fresh && !moved && out->size == before)
        return;
    if (g->cursor_y >= 0)
        str_format(out, "\033[%d;%dH\033[?25h", g->cursor_y + 1, g->cursor_x + 1);
    else if (!p->fresh || p->shown.cursor_y >= 0)
        str_add(out, "\033[?25l");
}

void paint_frame(struct paint *p, const struct grid *next, struct str *out)
{
    struct pencil pen = {0, -1, 0, false};

    grid_copy(&p->work, next);
    if (p->ascii)
        grid_to_ascii(&p->work);
    if (p->shown.width != next->width || p->shown.height != next->height)
        p->fresh = false;
    if (!p->fresh)
        str_add(out, "\033[?25l\033[0m\033[H\033[2J");
    size_t before = out->size;
    struct str cells = {0};
    if (!p->fresh)
        grid_resize(&p->shown, next->width, next->height);
    for (int y = 0; y < next->height; y++)
        paint_row(p, &pen, y, &cells);
    if (cells.size) {
        if (p->fresh && p->shown.cursor_y >= 0)
            str_add(out, "\033[?25l");
        str_add_bytes(out, cells.text, cells.size);
        str_add(out, "\033[0m");
    }
    str_release(&cells);
    paint_cursor(p, out, before);
    grid_copy(&p->shown, &p->work);
    p->fresh = true;
}
