/* The strip of decisions: one cell of two columns each, choice and mark, in order of decision. */
#include "tui/app/header.h"
#include "tui/screen/grid.h"
#include "tui/views/panel.h"

#include "engine/text/units.h"
#include "tui/screen/theme.h"
#include "tui/screen/utf8.h"
#include "tui/watch/series_names.h"
#include "tui/watch/short_names.h"
#include "tui/watch/watch.h"

#include <stdio.h>
#include <string.h>

enum { CELL = 2, LEVELS = 6, SERIES_MOST = 256, LEFT = 16, LEGEND = 28 };

/* How wide labels are, from the widest to the narrowest that fit, and the gaps; widest 0: no
 * labels. */
static const struct {
    int widest, narrowest, gap;
} levels[LEVELS] = {{SERIES_WIDEST, 17, 3},
                    {16, 10, 2},
                    {9, SERIES_NARROWEST, 1},
                    {SERIES_INITIALS, SERIES_INITIALS, 1},
                    {0, 0, 2},
                    {0, 0, 0}};

struct strip {
    const struct watch *w;
    const struct pane *p;
    int left; /* where cells begin */
    int room; /* columns for cells */
    int level;
    int first;                                /* the first decision in sight */
    char label[SERIES_MOST][SHORT_NAME_ROOM]; /* of the level, series by series */
};

/* Names of the series. Returns how many; more than SERIES_MOST: too many to label. */
static int name_series(const struct watch *w, const char *name[static SERIES_MOST])
{
    int count = 0;

    for (int n = 0, end; n < w->move_count && count <= SERIES_MOST; n = end) {
        end = watch_series_end(w, n);
        if (count < SERIES_MOST)
            name[count] = watch_series_name(w, n, end);
        count++;
    }
    return count;
}

/* Of the series with this number. */
static const char *label_of(const struct strip *s, int series)
{
    return levels[s->level].widest ? s->label[series] : "";
}

static int series_width(const struct strip *s, int cells, int series)
{
    int text = utf8_text_columns(label_of(s, series));

    return CELL * cells > text ? CELL * cells : text;
}

static int width_of_all(const struct strip *s)
{
    const struct watch *w = s->w;
    int width = 0, series = 0;

    for (int n = 0, end; n < w->move_count; n = end, series++) {
        end = watch_series_end(w, n);
        width +=
            series_width(s, end - n, series) + (end < w->move_count ? levels[s->level].gap : 0);
    }
    return width;
}

/* Labels of so many columns. False: they do not fit. */
static bool label_series(struct strip *s, const char *const *name, int count, int columns)
{
    short_names(name, count, columns, columns == SERIES_INITIALS ? series_initials : watch_shorten,
                s->label);
    return width_of_all(s) <= s->room;
}

/* Takes a level, with labels as wide as they fit. False: they do not. */
static bool take_level(struct strip *s, int level, const char *const *name, int count)
{
    int fits = levels[level].narrowest, most = levels[level].widest;

    s->level = level;
    if (!most)
        return width_of_all(s) <= s->room;
    if (count > SERIES_MOST || !label_series(s, name, count, fits))
        return false;
    while (fits < most) {
        int middle = (fits + most + 1) / 2;
        if (label_series(s, name, count, middle))
            fits = middle;
        else
            most = middle - 1;
    }
    return label_series(s, name, count, fits);
}

/* One cell of a row: 0 now, 1 best, 2 exact. */
static void draw_cell(const struct strip *s, int x, int y, int n, int row)
{
    const struct watch_move *m = &s->w->move[n];
    uint32_t split = row == 1 ? m->best : m->exact;
    int now = row == 0 ? m->now : split == m->classes ? 1 : split ? 2 : 0;
    static const char *const signs[] = {"·", "0", "1", "/"};
    static const unsigned styles[] = {ROLE_DIM, ROLE_CHOICE_0, ROLE_CHOICE_1 | BOLD, ROLE_CHOICE_1};

    if (row == 0 && n == s->w->position) {
        pane_text(s->p, x, y, ROLE_NEXT | REVERSE, "▸");
        return;
    }
    unsigned style = m->pinned && row < 2 ? ROLE_PIN | BOLD : styles[now + 1];
    pane_text(s->p, x, y, style, signs[now + 1]);
    if (m->pinned && row < 2)
        pane_text(s->p, x + 1, y, ROLE_PIN | BOLD, "P");
    else if (row == 0 && m->changed)
        pane_text(s->p, x + 1, y, ROLE_CHANGED | BOLD, "~");
    else if (row == 1 && watch_optimum(s->w) && m->best != m->exact)
        pane_text(s->p, x + 1, y, ROLE_WARN | BOLD, "^");
}

static void draw_names(const struct strip *s, const char *const *names)
{
    for (int row = 0; s->left && row < 3; row++)
        pane_text(s->p, 0, row + 1, row ? ROLE_DIM : ROLE_TEXT, names[row]);
}

static void draw_cells(const struct strip *s, int labels, int rows)
{
    const struct watch *w = s->w;
    int x = s->left, limit = s->left + s->room, series = 0;

    for (int n = s->first, end; n < w->move_count; n = end, series++) {
        end = watch_series_end(w, n);
        int width = series_width(s, end - n, series);
        const char *words = label_of(s, series);
        if (labels && x + utf8_text_columns(words) <= limit)
            pane_text(s->p, x, 0, ROLE_DIM, words);
        for (int i = n; i < end && x + CELL * (i - n) + CELL <= limit; i++) {
            for (int row = 0; row < rows; row++)
                draw_cell(s, x + CELL * (i - n), labels + row, i, row);
        }
        x += width + levels[s->level].gap;
        if (x >= limit)
            break;
    }
}

/* The names of the decisions in sight, told apart. Returns how many. */
static int name_in_sight(struct strip *s)
{
    const char *name[SERIES_MOST];
    int count = 0, cells = s->room / (CELL + levels[s->level].gap);

    for (int n = s->first; n < s->w->move_count && count < cells && count < SERIES_MOST; n++)
        name[count++] = s->w->move[n].name;
    short_names(name, count, 9, watch_shorten, s->label);
    return count;
}

/* Cells too close for their names: that of the decision looked at, then as many as have room. */
static void draw_some_labels(struct strip *s)
{
    const struct watch *w = s->w;
    int step = CELL + levels[s->level].gap, count = name_in_sight(s),
        here = (w->position != MOVE_NONE ? w->position : w->cursor) - s->first, end = 0;
    int limit = s->left + s->room, at = -1, at_end = -1;

    for (int pass = 0; pass < 2; pass++) {
        for (int n = pass ? 0 : here; n < (pass ? count : here + 1); n++) {
            if (n < 0 || n >= count)
                continue;
            int x = s->left + step * n, size = utf8_text_columns(s->label[n]);
            if (x + size > limit || x < end || (pass && x + size >= at && x <= at_end))
                continue;
            pane_text(s->p, x, 0, pass ? ROLE_DIM : ROLE_TEXT, s->label[n]);
            if (!pass) {
                at = x;
                at_end = x + size;
            } else {
                end = x + size + 1;
            }
        }
    }
}

/* Too many for the row even without labels: a window with the position in its middle third. */
static void scroll(struct strip *s)
{
    int fit = (s->room - 10) / CELL,
        at = s->w->position != MOVE_NONE ? s->w->position : s->w->cursor;

    if (s->w->move_count * CELL <= s->room || fit < 1)
        return;
    s->first = at - fit / 2;
    if (s->first > s->w->move_count - fit)
        s->first = s->w->move_count - fit;
    if (s->first < 0)
        s->first = 0;
    s->left += 5;
    s->room = fit * CELL;
}

static void draw_ends(const struct strip *s, int y)
{
    int after = s->w->move_count - s->first - s->room / CELL;
    if (s->first > 0)
        pane_format(s->p, s->left - 5, y, ROLE_DIM, "‹ %d", s->first);
    if (after > 0)
        pane_format(s->p, s->left + s->room, y, ROLE_DIM, "%d ›", after);
}

static bool best_differs(const struct watch *w)
{
    for (int n = 0; watch_optimum(w) && n < w->move_count; n++) {
        if (w->move[n].best != w->move[n].exact)
            return true;
    }
    return false;
}

/* What the signs mean, at the right edge where there is room. */
static void draw_legend(const struct pane *p, int rows, const struct watch *w)
{
    struct legend {
        const char *sign, *word;
        unsigned style;
        int y;
    };
    static const struct legend items[] = {{"1", "split", ROLE_CHOICE_1 | BOLD, 0},
                                          {"0", "whole", ROLE_CHOICE_0, 0},
                                          {"·", "open", ROLE_DIM, 0},
                                          {"▸", "next", ROLE_NEXT | REVERSE, 1},
                                          {"~", "wave", ROLE_CHANGED | BOLD, 1},
                                          {"P", "pin", ROLE_PIN | BOLD, 1},
                                          {"^", "best and exact differ", ROLE_WARN | BOLD, 2}};
    int ends[3] = {p->width, p->width, p->width};

    for (int i = sizeof items / sizeof *items - 1; i >= 0; i--) {
        const struct legend *l = &items[i];
        if (l->y >= rows || (l->y == 2 && !best_differs(w)))
            continue;
        int x = pane_right(p, ends[l->y], l->y, ROLE_DIM, l->word);
        pane_text(p, x - 2, l->y, l->style, l->sign);
        ends[l->y] = x - 4;
    }
}

static bool is_each_alone(const struct watch *w)
{
    for (int n = 0; n < w->move_count; n = watch_series_end(w, n)) {
        if (watch_series_end(w, n) > n + 1)
            return false;
    }
    return true;
}

void strip_draw(const struct scene *scene, const struct pane *p)
{
    const struct watch *w = scene->watch;
    int labels = p->height >= 2, rows = p->height >= 4 ? 3 : 1;

    if (!w || !w->move_count || p->height < 1)
        return;
    struct strip s = {.w = w, .p = p, .left = rows == 3 ? LEFT : 0};
    bool legend = p->width >= 110 && labels;
    char counter[32] = "";
    if (!labels && w->position != MOVE_NONE)
        snprintf(counter, sizeof counter, "%d/%d", w->position + 1, w->move_count);
    int right = legend ? LEGEND : counter[0] ? utf8_text_columns(counter) + 1 : 0;
    s.room = p->width - s.left - right;
    const char *name[SERIES_MOST];
    int level = labels ? 0 : LEVELS - 2, count = name_series(w, name);
    while (level < LEVELS && !take_level(&s, level, name, count))
        level++;
    if (s.level == LEVELS - 1)
        scroll(&s);
    char now[32], best[64] = "best", episode[UNITS_ROOM];
    snprintf(now, sizeof now,
             w->position != MOVE_NONE ? "now, %d of %d"
             : w->is_slow             ? "now"
                                      : "last episode",
             w->position + 1, w->move_count);
    if (watch_is_baseline(w))
        snprintf(best, sizeof best, "baseline");
    else if (w->best)
        snprintf(best, sizeof best, "best, ep %s", units_count(episode, (int64_t)w->best->episode));
    const char *names[3] = {now, best, watch_optimum(w) ? "exact" : ""};
    if (rows == 3)
        draw_names(&s, names);
    draw_cells(&s, labels, rows == 3 && !watch_optimum(w) ? 2 : rows);
    if (labels && !levels[s.level].widest && is_each_alone(w))
        draw_some_labels(&s);
    if (s.first || s.left > (rows == 3 ? LEFT : 0))
        draw_ends(&s, labels);
    if (legend)
        draw_legend(p, p->height, w);
    if (counter[0])
        pane_right(p, p->width, 0, ROLE_DIM, counter);
}
