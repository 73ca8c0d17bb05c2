#include "tui/screen/plot.h"

#include "engine/text/units.h"
#include "hlo/support/mem.h"
#include "tui/screen/theme.h"
#include "tui/screen/utf8.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LABELS = 6, LABELS_MOST = 16, SIDE_X = 2, SIDE_Y = 4, TWO_ROWS = 5, LABEL_WIDTH = 5 };

/* What is being drawn: a canvas of dots, and for each cell the series that lies on top. */
struct canvas {
    const struct plot *plot;
    struct pane cells; /* where curves go */
    int dots_x, dots_y, side_x, side_y;
    bool signs;           /* one sign a cell */
    unsigned char *dots;  /* by cell */
    unsigned char *owner; /* by cell: series + 1; 0: nobody, 255: the limit */
    double low, high;     /* transformed */
    struct plot_drawn drawn;
    bool *clipped; /* [cells.width] columns with values above a fixed top */
};
enum { OWNER_LIMIT = 255 };

double plot_step(double span, int most)
{
    if (!(span > 0) || most < 1)
        return 1;
    double power = pow(10, floor(log10(span / most)));
    static const double steps[] = {1, 2, 5, 10};
    for (int i = 0; i < 4; i++) {
        if (steps[i] * power * most >= span * (1 - 1e-9))
            return steps[i] * power;
    }
    return 10 * power;
}

void plot_smooth(double *out, const double *in, size_t count, double weight)
{
    double sum = 0, mass = 0;
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(in[i])) {
            out[i] = NAN;
            continue;
        }
        sum = weight * sum + (1 - weight) * in[i];
        mass = weight * mass + (1 - weight);
        out[i] = mass > 0 ? sum / mass : in[i];
    }
}

static double on_axis(double value, bool is_log)
{
    return is_log ? (value > 0 ? log10(value) : NAN) : value;
}

static double x_of(const struct plot *plot, const struct plot_series *s, size_t i)
{
    if (s->x)
        return s->x[i];
    double share = s->count > 1 ? (double)i / (double)(s->count - 1) : 1;
    return plot->first_x + share * (plot->last_x - plot->first_x);
}

static void find_range(struct canvas *c)
{
    const struct plot *plot = c->plot;
    double low = INFINITY, high = -INFINITY;

    for (size_t s = 0; s < plot->series_count; s++) {
        for (size_t i = 0; i < plot->series[s].count; i++) {
            double y = on_axis(plot->series[s].y[i], plot->log_y);
            if (!isfinite(y)) {
                c->drawn.not_finite++;
                continue;
            }
            low = fmin(low, y);
            high = fmax(high, y);
        }
    }
    double limit = on_axis(plot->limit, plot->log_y);
    if (isfinite(limit)) {
        low = fmin(low, limit);
        high = fmax(high, limit);
    }
    c->drawn.below = plot->log_y && isnan(plot->low) && low < high - PLOT_DECADES;
    low = c->drawn.below ? high - PLOT_DECADES : low;
    c->low = isnan(plot->low) ? low : on_axis(plot->low, plot->log_y);
    c->high = isnan(plot->high) ? high : on_axis(plot->high, plot->log_y);
    if (!isfinite(c->low) || !isfinite(c->high)) {
        c->low = 0;
        c->high = 1;
    }
    if (c->high <= c->low) /* one value: in the middle */
        c->high = (c->low -= 0.5) + 1;
}

static int column_of(const struct canvas *c, double x)
{
    const struct plot *plot = c->plot;
    double first = on_axis(plot->first_x, plot->log_x), last = on_axis(plot->last_x, plot->log_x);
    double share = last > first ? (on_axis(x, plot->log_x) - first) / (last - first) : 0;
    return isfinite(share) && share >= 0 && share <= 1 ? (int)(share * (c->dots_x - 1) + 0.5) : -1;
}

/* Dot row from the top; clipped to one beyond either edge. */
static int row_of(const struct canvas *c, double y)
{
    if (c->drawn.below && y < c->low)
        return c->dots_y - 1;
    double row = c->high > c->low ? (c->high - y) / (c->high - c->low) * (c->dots_y - 1) : 0;
    return isnan(row) || row < -0.5 ? -1 : row > c->dots_y - 0.5 ? c->dots_y : (int)(row + 0.5);
}

static void draw_dot(struct canvas *c, int x, int y, unsigned char owner)
{
    static const unsigned char bits[SIDE_Y][SIDE_X] = {{1, 8}, {2, 16}, {4, 32}, {64, 128}};
    if (x < 0 || y < 0 || x >= c->dots_x || y >= c->dots_y)
        return;
    size_t cell = (size_t)(y / c->side_y) * (size_t)c->cells.width + (size_t)(x / c->side_x);
    c->dots[cell] |= bits[y % c->side_y][x % c->side_x];
    c->owner[cell] = owner;
}

static void vertical(struct canvas *c, int x, int from, int to, unsigned char owner)
{
    for (int y = from < to ? from : to; y <= (from > to ? from : to); y++)
        draw_dot(c, x, y, owner);
}

/* From the last point to this one, column by column. */
static void join_dots(struct canvas *c, int x0, int y0, int x1, int y1, unsigned char owner)
{
    bool steps = c->plot->series[owner - 1].kind == PLOT_STEPS;
    int before = y0;

    for (int x = x0 + 1; x <= x1; x++) {
        int y =
            steps ? (x < x1 ? y0 : y1) : y0 + (int)lround((double)(y1 - y0) * (x - x0) / (x1 - x0));
        int near = y > before ? before + 1 : y < before ? before - 1 : y;
        vertical(c, x, steps ? before : near, y, owner);
        before = y;
    }
}

/* What a line covers of the column it is in: drawn once, however many points lie there. */
struct span {
    int x, low, high;
};

static void draw_span(struct canvas *c, const struct span *s, unsigned char owner)
{
    if (s->x >= 0 && s->low < s->high)
        vertical(c, s->x, s->low, s->high, owner);
}

static void draw_series(struct canvas *c, size_t index)
{
    const struct plot_series *s = &c->plot->series[index];
    unsigned char owner = (unsigned char)(index + 1);
    struct span here = {.x = -1};
    int last_y = 0;

    for (size_t i = 0; i < s->count; i++) {
        double value = on_axis(s->y[i], c->plot->log_y);
        int x = column_of(c, x_of(c->plot, s, i));
        if (!isfinite(value) || x < 0) {
            draw_span(c, &here, owner);
            here.x = -1;
            continue;
        }
        int y = row_of(c, value);
        if (y < 0) {
            c->drawn.above++;
            c->clipped[x / c->side_x] = true;
        }
        if (s->kind == PLOT_DOTS || here.x < 0) {
            draw_dot(c, x, y, owner);
            here = (struct span){x, y, y};
        } else if (x == here.x) {
            here.low = y < here.low ? y : here.low;
            here.high = y > here.high ? y : here.high;
        } else {
            draw_span(c, &here, owner);
            join_dots(c, here.x, last_y, x, y, owner);
            here = (struct span){x, y, y};
        }
        last_y = y;
    }
    draw_span(c, &here, owner);
    if (s->kind == PLOT_STEPS && here.x >= 0) /* the last value holds to the edge */
        join_dots(c, here.x, last_y, c->dots_x - 1, last_y, owner);
}

/* Dashed: in braille a dash of two dots in every other cell. */
static void draw_limit(struct canvas *c)
{
    double limit = on_axis(c->plot->limit, c->plot->log_y);
    if (!isfinite(limit))
        return;
    int y = row_of(c, limit), period = 2 * c->side_x, from = column_of(c, c->plot->limit_x);
    from = c->plot->limit_x <= c->plot->first_x           ? 0
           : from < 0 || from > c->dots_x - c->dots_x / 8 ? c->dots_x - c->dots_x / 8
                                                          : from;
    for (int x = from; x < c->dots_x; x++) {
        if (x % period < c->side_x)
            draw_dot(c, x, y, OWNER_LIMIT);
    }
}

static void show_cells(const struct canvas *c)
{
    const struct plot *plot = c->plot;
    for (int y = 0; y < c->cells.height; y++) {
        for (int x = 0; x < c->cells.width; x++) {
            size_t cell = (size_t)y * (size_t)c->cells.width + (size_t)x;
            unsigned owner = c->owner[cell];
            if (!owner)
                continue;
            bool limit = owner == OWNER_LIMIT;
            unsigned role = limit ? plot->limit_role : plot->series[owner - 1].role;
            uint32_t sign = limit ? '-' : (uint32_t)(unsigned char)plot->series[owner - 1].sign;
            pane_put(&c->cells, x, y, role, c->signs ? sign : 0x2800u + c->dots[cell]);
        }
    }
}

struct label {
    double value; /* as a person reads it */
    int row;      /* cell row */
};

static int cell_row(const struct canvas *c, double value)
{
    int row = row_of(c, on_axis(value, c->plot->log_y));
    return row < 0 ? -1 : row / c->side_y;
}

static void add_label(const struct canvas *c, struct label *labels, int *count, double value)
{
    int row = cell_row(c, value);
    if (!isfinite(value) || row < 0 || row >= c->cells.height || *count == LABELS_MOST)
        return;
    for (int i = 0; i < *count; i++) {
        if (labels[i].row == row)
            return;
    }
    labels[(*count)++] = (struct label){value, row};
}

static double value_of(const struct canvas *c, double axis)
{
    return c->plot->log_y ? pow(10, axis) : axis;
}

/* The limit, top and bottom first; then round values in rows that are free, away from others. */
static int choose_labels(const struct canvas *c, struct label *labels)
{
    int count = 0, most = c->cells.height > 2 ? (c->cells.height + 1) / 2 : 1;

    add_label(c, labels, &count, c->plot->limit);
    add_label(c, labels, &count, value_of(c, c->high));
    add_label(c, labels, &count, value_of(c, c->low));
    double step = c->plot->log_y ? 1 : plot_step(c->high - c->low, most < LABELS ? most : LABELS);
    for (double v = ceil(c->low / step) * step; v <= c->high; v += step) {
        double value = value_of(c, fabs(v) < step * 1e-9 ? 0 : v);
        int row = cell_row(c, value);
        bool free = true;
        for (int i = 0; i < count; i++)
            free = free && labels[i].row != row &&
                   (c->cells.height < 6 || abs(labels[i].row - row) > 1);
        if (free)
            add_label(c, labels, &count, value);
    }
    return count;
}

/* As many decimals as tell the labels apart, the same for all; on a log axis as few as each has. */
static void print_labels(const struct canvas *c, const struct label *labels, int count,
                         char text[][UNITS_ROOM])
{
    double range = value_of(c, c->high) - value_of(c, c->low);
    int decimals = (int)fmin(6, fmax(0, 1 - floor(log10(range))));
    bool whole = true;

    for (int i = 0; i < count; i++)
        whole = whole && fabs(labels[i].value - round(labels[i].value)) < 1e-9;
    for (int i = 0; i < count; i++) {
        double v = labels[i].value;
        bool lowest = c->drawn.below && labels[i].row == c->cells.height - 1;
        if (c->plot->log_y && fabs(v) >= 100)
            units_count(text[i], llround(v));
        else if (c->plot->log_y)
            snprintf(text[i], UNITS_ROOM, "%s%.2g", lowest ? "<" : "", v);
        else if (fabs(v) >= 1000)
            units_count(text[i], llround(v));
        else
            snprintf(text[i], UNITS_ROOM, "%.*f", whole ? 0 : decimals, v);
    }
}

static char *print_x(char out[static UNITS_ROOM], double x)
{
    if (fabs(x - round(x)) < 1e-9 && fabs(x) < 1e15)
        return units_count(out, llround(x));
    snprintf(out, UNITS_ROOM, "%.3g", x);
    return out;
}

/* Puts text on the axis row if that room is free, a blank on either side; true: it was. */
static bool place_label(const struct pane *row, bool *taken, int x, unsigned style,
                        const char *text)
{
    int width = utf8_text_columns(text);
    if (x < 0 || x + width > row->width)
        return false;
    for (int i = x > 0 ? x - 1 : 0; i < x + width + 1 && i < row->width; i++) {
        if (taken[i])
            return false;
    }
    pane_text(row, x, 0, style, text);
    for (int i = x; i < x + width; i++)
        taken[i] = true;
    return true;
}

/* The rows below the curves: the axis with the legend, and above it that of the marks, which is the
 * same where there is room for one. */
struct below {
    struct pane axis, marks;
    bool taken[2][GRID_MOST];
    bool *axis_taken, *marks_taken;
    int axis_x, marks_x; /* where the next item of the legend may begin */
};

static void begin_below(struct below *b, const struct pane *rows)
{
    memset(b, 0, sizeof *b);
    b->axis_x = 4;
    b->axis = pane_part(rows, 0, rows->height - 1, rows->width, 1);
    b->marks = pane_part(rows, 0, 0, rows->width, 1);
    b->axis_taken = b->taken[0];
    b->marks_taken = b->taken[rows->height > 1];
}

/* Where it fits in the row from *x on, which moves behind it; false: nowhere. */
static bool place_item(const struct pane *row, bool *taken, int *x, unsigned role, const char *text)
{
    int at = *x;

    while (at < row->width && !place_label(row, taken, at, role, text))
        at++;
    if (at < row->width)
        *x = at + utf8_text_columns(text) + 2;
    return at < row->width;
}

static void legend_item(struct below *b, unsigned role, const char *text)
{
    if (!place_item(&b->axis, b->axis_taken, &b->axis_x, role, text) &&
        b->marks_taken != b->axis_taken)
        (void)place_item(&b->marks, b->marks_taken, &b->marks_x, role, text);
}

static void print_sign(const struct canvas *c, int series, char *out, size_t room)
{
    const struct plot *plot = c->plot;

    if (series < 0)
        snprintf(out, room, "%s %.24s", c->signs ? "-" : "╌", plot->limit_name);
    else
        snprintf(out, room, "%.*s %.24s", c->signs ? 1 : (int)strlen("─"),
                 c->signs ? &plot->series[series].sign : "─", plot->series[series].name);
}

/* The limit first, then what lies on top. */
static void draw_legend(const struct canvas *c, struct below *b)
{
    const struct plot *plot = c->plot;
    char text[UNITS_ROOM + 32];

    if (isfinite(plot->limit) && plot->limit_name) {
        print_sign(c, -1, text, sizeof text);
        legend_item(b, plot->limit_role, text);
    }
    for (int s = (int)plot->series_count; s-- > 0;) {
        if (!plot->series[s].name)
            continue;
        print_sign(c, s, text, sizeof text);
        legend_item(b, plot->series[s].role, text);
    }
}

/* Neighbouring marks under one sign. */
struct marked {
    int x, first, last;
};

static void print_marked(const struct marked *m, char out[static 2 * UNITS_ROOM])
{
    if (m->last > m->first)
        snprintf(out, 2 * UNITS_ROOM, "▲%d–%d", m->first, m->last);
    else
        snprintf(out, 2 * UNITS_ROOM, "▲%.*d", m->first > 0, m->first);
}

/* At its column, or as far to the left as it takes. */
static void place_marked(struct below *b, const struct marked *m)
{
    char text[2 * UNITS_ROOM];
    int x = m->x;

    print_marked(m, text);
    while (x >= 0 && !place_label(&b->marks, b->marks_taken, x, ROLE_PIN, text))
        x--;
}

static void draw_marks(const struct canvas *c, struct below *b)
{
    const struct plot *plot = c->plot;
    struct marked now = {.x = -1};
    char text[2 * UNITS_ROOM];

    for (size_t i = 0; i < plot->mark_count; i++) {
        int x = column_of(c, plot->marks[i].x), number = plot->marks[i].number;
        if (x < 0)
            continue;
        print_marked(&now, text);
        if (now.x >= 0 && x / c->side_x <= now.x + utf8_text_columns(text)) {
            now.last = number;
            continue;
        }
        if (now.x >= 0)
            place_marked(b, &now);
        now = (struct marked){x / c->side_x, number, number};
    }
    if (now.x >= 0)
        place_marked(b, &now);
}

static void draw_below(const struct canvas *c, const struct pane *rows)
{
    const struct plot *plot = c->plot;
    struct below b;
    char text[UNITS_ROOM + 32], number[UNITS_ROOM];

    begin_below(&b, rows);
    place_label(&b.axis, b.axis_taken, 0, ROLE_DIM, print_x(number, plot->first_x));
    snprintf(text, sizeof text, "%s%s%.24s", print_x(number, plot->last_x), plot->unit_x ? " " : "",
             plot->unit_x ? plot->unit_x : "");
    place_label(&b.axis, b.axis_taken, b.axis.width - utf8_text_columns(text), ROLE_DIM, text);
    draw_marks(c, &b);
    draw_legend(c, &b);
}

/* Columns of the axis with all of the legend: two between its items, one before the last x. */
static int axis_width(const struct canvas *c)
{
    const struct plot *plot = c->plot;
    char text[UNITS_ROOM + 32], number[UNITS_ROOM];
    int width = 4 - 2 + 1 + utf8_text_columns(print_x(number, plot->last_x)) +
                (plot->unit_x ? 1 + utf8_text_columns(plot->unit_x) : 0);

    for (int s = -1; s < (int)plot->series_count; s++) {
        if (s < 0 ? !isfinite(plot->limit) || !plot->limit_name : !plot->series[s].name)
            continue;
        print_sign(c, s, text, sizeof text);
        width += utf8_text_columns(text) + 2;
    }
    return width;
}

struct plot_drawn plot_draw(const struct pane *p, const struct plot *plot)
{
    struct canvas c = {.plot = plot};
    struct label labels[LABELS_MOST];
    char text[LABELS_MOST][UNITS_ROOM];
    int width = 0;

    if (p->height < 2 || p->width < 12 || plot->series_count >= OWNER_LIMIT)
        return c.drawn;
    c.signs = plot->ascii || (p->grid->no_colours && plot->series_count > 1);
    c.side_x = c.signs ? 1 : SIDE_X;
    c.side_y = c.signs ? 1 : SIDE_Y;
    bool two =
        p->height >= TWO_ROWS && (plot->mark_count || axis_width(&c) > p->width - LABEL_WIDTH - 1);
    int rows = two ? 2 : 1;
    c.cells = (struct pane){p->grid, p->x, p->y, p->width, p->height - rows};
    c.dots_y = c.cells.height * c.side_y;
    find_range(&c);
    int count = choose_labels(&c, labels);
    print_labels(&c, labels, count, text);
    for (int i = 0; i < count; i++)
        width = utf8_text_columns(text[i]) > width ? utf8_text_columns(text[i]) : width;
    width = width < LABEL_WIDTH ? LABEL_WIDTH : width;
    for (int i = 0; i < count; i++)
        pane_right(p, width, labels[i].row, ROLE_DIM, text[i]);

    c.cells = pane_part(p, width + 1, 0, p->width - width - 1, p->height - rows);
    c.dots_x = c.cells.width * c.side_x;
    size_t cells = (size_t)c.cells.width * (size_t)c.cells.height;
    c.dots = mem_alloc(2 * cells + 1);
    c.owner = c.dots + cells;
    c.clipped = mem_alloc((size_t)c.cells.width + 1);
    draw_limit(&c);
    for (size_t s = 0; s < plot->series_count; s++)
        draw_series(&c, s);
    show_cells(&c);
    for (int x = 0; x < c.cells.width; x++) { /* over the curves: what is cut off must show */
        if (c.clipped[x])
            pane_put(&c.cells, x, 0, ROLE_WARN, '^');
    }
    free(c.clipped);
    struct pane below = pane_part(p, width + 1, p->height - rows, p->width - width - 1, rows);
    draw_below(&c, &below);
    c.drawn.first_column = width + 1;
    c.drawn.columns = c.cells.width;
    free(c.dots);
    return c.drawn;
}
