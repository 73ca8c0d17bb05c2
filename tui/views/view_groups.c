/* Panel 2. A row is a decision, or a series of decisions that differ in the layer only. */
#include "engine/decide/classes.h"
#include "engine/decide/names.h"
#include "engine/live/snapshot.h"
#include "engine/problem/problem.h"
#include "engine/search/game.h"
#include "hlo/support/clock.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "tui/screen/grid.h"
#include "tui/screen/keys.h"
#include "tui/screen/layout.h"
#include "tui/screen/list.h"
#include "tui/screen/match.h"
#include "tui/views/panel.h"
#include "tui/views/views.h"

#include "engine/text/units.h"
#include "tui/screen/theme.h"
#include "tui/screen/utf8.h"
#include "tui/views/groups_columns.h"
#include "tui/views/host.h"
#include "tui/watch/class_look.h"
#include "tui/watch/flips.h"
#include "tui/watch/short_names.h"
#include "tui/watch/watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct row {
    int first, count; /* decisions first .. first + count - 1 */
    double key;       /* that rows are sorted by, the greatest first */
    uint32_t settles; /* decisions; 0: not worked out, no column shows it */
};

enum sort { SORT_ORDER, SORT_SAVES, SORT_REDUCES, SORT_DIMS, SORTS };

struct groups_view {
    struct list list;
    const struct live_moves *moves; /* the rows are of these; only compared */
    struct row *rows;
    int row_count;
    bool unfolded; /* every decision a row of its own */
    enum sort sort;
    const struct problem *priced;   /* that `reduces` is of; only compared */
    struct class_reduces *reduces;  /* [classes]; NULL: out of memory */
    struct flips *flips;            /* what each row is worth in the best plan */
    bool waits;                     /* some of that is still to be worked out */
    char (*brief)[SHORT_NAME_ROOM]; /* [row_count] names in so many columns; NULL: not yet */
    int brief_columns;
    char title[32];
};

enum { CLASSES_OPEN, CLASSES_FOLD, CLASSES_SORT };
enum { TAIL_ROOM = 24 };
#define FLIPS_S 0.004 /* of a frame */
static const struct action groups_actions[] = {
    [CLASSES_OPEN] = {"open", "in this panel", "the class it decides", "members",
                      "Enter or l or Right", NULL},
    [CLASSES_FOLD] = {"fold", "in this panel", "fold series", NULL, "x", NULL},
    [CLASSES_SORT] = {"sort", "in this panel", "sort by the next column", "sort", "s", NULL},
};
static const struct key_table groups_keys = {"groups", groups_actions, 3};

/* Of a row. What is split is counted in classes, now as in the plans beside it. */
struct figures {
    uint32_t dims, count, split, open, best, exact, classes;
    bool pinned, changed;
    double saves_ms; /* all split, else of the one that saves most */
    double reduces;  /* all-reduces of these, each class split alone */
};

/* What a row's prices are of: all its decisions or, where they exclude each other, the best one. */
static struct row priced(const struct watch *w, struct row r)
{
    int only = w->move[r.first].series_only;

    return r.count > 1 && only != MOVE_NONE ? (struct row){.first = only, .count = 1} : r;
}

static double count_reduces(const struct groups_view *v, const struct watch *w, struct row r)
{
    double reduces = 0;

    for (int n = r.first; v->reduces && n < r.first + r.count; n++) {
        const struct game_move *g = &w->moves->items[n];
        for (uint32_t i = 0; i < g->class_count; i++)
            reduces += v->reduces[w->moves->pool[g->classes + i]].count;
    }
    return reduces;
}

static struct figures sum(const struct groups_view *v, const struct watch *w, struct row r)
{
    const struct watch_move *first = &w->move[r.first];
    struct figures f = {.count = (uint32_t)r.count,
                        .saves_ms = r.count > 1 ? first->series_ms : first->saves_ms,
                        .reduces = count_reduces(v, w, priced(w, r))};

    for (int n = r.first; n < r.first + r.count; n++) {
        const struct watch_move *m = &w->move[n];
        f.dims += m->dims;
        f.split += m->now == 1 ? m->classes : 0;
        f.open += m->now < 0;
        f.best += m->best;
        f.exact += m->exact;
        f.classes += m->classes;
        f.pinned |= m->pinned;
        f.changed |= m->changed;
    }
    return f;
}

static double key_of(const struct groups_view *v, const struct watch *w, struct row r)
{
    struct figures f = sum(v, w, r);
    const double keys[SORTS] = {[SORT_ORDER] = 0,
                                [SORT_SAVES] = f.saves_ms,
                                [SORT_REDUCES] = f.reduces,
                                [SORT_DIMS] = f.dims};
    return keys[v->sort];
}

static int by_key(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    return x->key != y->key ? (x->key > y->key ? -1 : 1) : x->first - y->first;
}

/* Figures they are sorted by are of the problem, not of the plan: rows stand still while it
 * searches. */
static void make_rows(struct groups_view *v, struct watch *w, const struct match *filter)
{
    free(v->brief);
    v->brief = NULL;
    free(v->rows);
    v->rows = mem_alloc(((size_t)w->move_count + 1) * sizeof *v->rows);
    v->row_count = 0;
    v->moves = w->moves;
    w->apart = v->unfolded;
    for (int n = 0, end; n < w->move_count; n = end) {
        end = v->unfolded ? n + 1 : watch_series_end(w, n);
        struct row r = {.first = n, .count = end - n};
        r.key = key_of(v, w, r);
        bool fits = !filter;
        for (int k = n; k < end && !fits; k++)
            fits = match_any(filter, w->move[k].name, w->move[k].stem, NULL);
        if (fits)
            v->rows[v->row_count++] = r;
    }
    qsort(v->rows, (size_t)v->row_count, sizeof *v->rows, by_key);
}

static int row_of(const struct groups_view *v, int move)
{
    for (int n = 0; n < v->row_count; n++) {
        if (move >= v->rows[n].first && move < v->rows[n].first + v->rows[n].count)
            return n;
    }
    return 0;
}

/* Rows anew, the cursor on the row of a decision. */
static void show_rows(struct panel *p, int move)
{
    struct groups_view *v = p->state;

    make_rows(v, p->scene->watch, p->filter);
    list_fit(&v->list, v->row_count, v->list.rows);
    if (move != MOVE_NONE)
        list_go(&v->list, row_of(v, move));
}

static void read_groups(struct panel *p)
{
    struct groups_view *v = p->state;
    const struct watch *w = p->scene->watch;

    if (w && v->priced != w->problem) {
        struct err e;
        free(v->reduces);
        v->priced = w->problem;
        if (class_reduces_all(w, &v->reduces, &e))
            v->reduces = NULL;
    }
    if (w && v->moves != w->moves)
        show_rows(p, MOVE_NONE);
}

static int open_groups(struct panel *p, const void *arg, struct err *e)
{
    (void)arg;
    (void)e;
    ((struct groups_view *)p->state)->flips = flips_new();
    read_groups(p);
    return 0;
}

static void close_groups(struct panel *p)
{
    struct groups_view *v = p->state;
    free(v->rows);
    free(v->brief);
    free(v->reduces);
    flips_free(v->flips);
}

/* "1", "0", "·", or "3/6" of a series. */
static int draw_share(const struct pane *p, int x, int y, uint32_t part, uint32_t of,
                      unsigned style)
{
    if (part == of || part == 0)
        return pane_text(p, x, y,
                         style  ? style
                         : part ? ROLE_CHOICE_1 | BOLD
                                : ROLE_CHOICE_0,
                         part ? "1" : "0");
    x = pane_format(p, x, y, style ? style : ROLE_CHOICE_1 | BOLD, "%u", part);
    return pane_format(p, x, y, ROLE_DIM, "/%u", of);
}

static int share_width(uint32_t part, uint32_t of)
{
    char text[2 * UNITS_ROOM];

    return part == of || !part ? 1 : snprintf(text, sizeof text, "%u/%u", part, of);
}

static int now_width(const struct figures *f)
{
    int width = (f->open == f->count ? 1 : share_width(f->split, f->classes)) + f->changed;

    return f->pinned ? (width < 2 ? 2 : width) + 1 : width;
}

static void draw_now(const struct pane *p, int y, const struct figures *f)
{
    unsigned style = f->pinned ? ROLE_PIN | BOLD : 0;
    int x = 0;

    if (f->open == f->count)
        x = pane_text(p, 0, y, ROLE_DIM, "·");
    else
        x = draw_share(p, 0, y, f->split, f->classes, style);
    if (f->changed)
        x = pane_text(p, x, y, ROLE_CHANGED | BOLD, "~");
    if (f->pinned)
        pane_text(p, x < 2 ? 2 : x, y, ROLE_PIN | BOLD, "P");
}

/* "+99.6"; ".." until it is worked out, "-" where it can not be; dim where that is not proven. */
static void draw_change(struct groups_view *v, const struct watch *w, const struct pane *p, int end,
                        int y, bool known, bool impossible, bool proven, double change_ms)
{
    char text[UNITS_ROOM];
    bool waits = w->best && !known;

    v->waits |= waits;
    if (!known || impossible)
        pane_right(p, end, y, ROLE_DIM, waits ? ".." : "-");
    else
        pane_right(p, end, y, proven ? ROLE_TEXT : ROLE_DIM,
                   units_change(text, change_ms, pane_ms_decimals(p)));
}

/* The other way round, the rest as it is; and with the rest decided anew. */
static void draw_changes(struct groups_view *v, const struct watch *w, const struct pane *p, int y,
                         struct row r, const struct groups_columns *c, double until_s)
{
    struct flip f = flips_of(v->flips, w, r.first, r.count, until_s);

    draw_change(v, w, p, c->in_best, y, f.known, f.impossible, true, f.change_ms);
    if (!c->turned)
        return;
    struct turned t = flips_anew(v->flips, w, r.first, r.count, until_s);
    draw_change(v, w, p, c->turned, y, t.known, t.impossible, t.proven, t.change_ms);
}

static void draw_choices(const struct pane *p, int y, const struct watch *w,
                         const struct groups_columns *c, const struct figures *f)
{
    unsigned style = f->pinned ? ROLE_PIN | BOLD : 0;

    if (c->best && w->best)
        draw_share(p, c->best, y, f->best, f->classes, style);
    if (c->exact && watch_optimum(w))
        draw_share(p, c->exact, y, f->exact, f->classes, style);
}

/* What stands behind the name of a series: " ×6", or " one of 2" where the prices are of one. */
static const char *tail_of(const struct watch *w, struct row r, char out[static TAIL_ROOM])
{
    out[0] = '\0';
    if (r.count > 1)
        snprintf(out, TAIL_ROOM, priced(w, r).count == 1 ? " one of %d" : " ×%d", r.count);
    return out;
}

static const char *name_row(const struct watch *w, struct row r)
{
    return r.count == 1 ? w->move[r.first].name : w->move[r.first].stem;
}

/* Names of all rows in `columns`, told apart; kept until the rows or the columns change. */
static void shorten_rows(struct groups_view *v, const struct watch *w, int columns)
{
    char tail[TAIL_ROOM];

    if (v->brief && v->brief_columns == columns)
        return;
    const char **name = mem_alloc(((size_t)v->row_count + 1) * sizeof *name);
    int *room = mem_alloc(((size_t)v->row_count + 1) * sizeof *room);
    free(v->brief);
    v->brief = mem_alloc(((size_t)v->row_count + 1) * sizeof *v->brief);
    v->brief_columns = columns;
    for (int n = 0; n < v->row_count; n++) {
        name[n] = name_row(w, v->rows[n]);
        room[n] = columns - utf8_text_columns(tail_of(w, v->rows[n], tail));
    }
    short_names_beside(name, room, v->row_count, watch_shorten, v->brief);
    free(name);
    free(room);
}

static void draw_row(struct groups_view *v, const struct watch *w, const struct pane *p, int y,
                     struct row *row, const struct groups_columns *c, double until_s)
{
    struct row r = *row;
    struct figures f = sum(v, w, r);
    char tail[TAIL_ROOM], text[UNITS_ROOM];

    draw_now(p, y, &f);
    draw_choices(p, y, w, c, &f);
    int x = pane_text(p, c->name, y, ROLE_TEXT, v->brief[row - v->rows]);
    pane_text(p, x, y, ROLE_TEXT, tail_of(w, r, tail));
    if (c->dims)
        pane_right(p, c->dims, y, ROLE_TEXT, units_count(text, f.dims));
    if (c->alone)
        pane_right(p, c->alone, y, ROLE_TEXT, units_change(text, -f.saves_ms, pane_ms_decimals(p)));
    draw_changes(v, w, p, y, r, c, until_s);
    if (c->settles && !r.settles)
        row->settles = flips_settled(w, priced(w, r).first, priced(w, r).count);
    if (c->settles)
        pane_right_format(p, c->settles, y, ROLE_TEXT, "%u", row->settles);
    if (c->reduces)
        pane_right(p, c->reduces, y, ROLE_TEXT, units_count(text, (int64_t)(f.reduces + 0.5)));
}

static void draw_title(const struct pane *p, int end, const char *title, bool is_sorted)
{
    if (end)
        pane_right_format(p, end, 0, is_sorted ? ROLE_TITLE | BOLD : ROLE_DIM, "%s%s",
                          is_sorted ? "▾" : "", title);
}

static void draw_titles(const struct watch *w, const struct pane *p, const struct groups_columns *c,
                        enum sort sort)
{
    pane_text(p, 0, 0, ROLE_DIM, "now");
    if (c->best)
        pane_text(p, c->best, 0, ROLE_DIM, watch_best_word(w));
    if (c->exact)
        pane_text(p, c->exact, 0, ROLE_DIM, "exact");
    pane_text(p, c->name, 0, ROLE_DIM, "group");
    draw_title(p, c->dims, "dims", sort == SORT_DIMS);
    draw_title(p, c->alone, "alone", sort == SORT_SAVES);
    draw_title(p, c->in_best, watch_is_baseline(w) ? "in base" : "in best", false);
    draw_title(p, c->turned, "turned", false);
    draw_title(p, c->settles, "settles", false);
    draw_title(p, c->reduces, "reduces", sort == SORT_REDUCES);
}

static bool has_titles(int width, int height, int rows)
{
    return width >= GROUPS_TITLED && (rows < height || height >= 8);
}

static void widen_to(int *widest, int width)
{
    *widest = width > *widest ? width : *widest;
}

static void widen(int *widest, const char *text)
{
    widen_to(widest, utf8_text_columns(text));
}

/* Of all names, and of the figures of rows in sight as far as they are worked out. */
static struct groups_widest find_widest(const struct groups_view *v, const struct watch *w,
                                        const struct pane *pane, double until_s)
{
    struct groups_widest widest = {0};
    char tail[TAIL_ROOM], change[UNITS_ROOM];
    int decimals = pane_ms_decimals(pane);

    for (int n = 0; n < v->row_count; n++) {
        struct row r = v->rows[n];
        int name = utf8_text_columns(name_row(w, r)) + utf8_text_columns(tail_of(w, r, tail));
        widen_to(&widest.name, name);
        if (n < v->list.top || n >= v->list.top + v->list.rows)
            continue;
        struct figures f = sum(v, w, r);
        struct flip in_best = flips_of(v->flips, w, r.first, r.count, until_s);
        widen_to(&widest.now, now_width(&f));
        widen_to(&widest.choice, share_width(f.best, f.classes));
        widen_to(&widest.choice, share_width(f.exact, f.classes));
        widen(&widest.dims, units_count(change, f.dims));
        widen(&widest.alone, units_change(change, -f.saves_ms, decimals));
        if (in_best.known && !in_best.impossible)
            widen(&widest.in_best, units_change(change, in_best.change_ms, decimals));
        if (pane->width < GROUPS_WITH_ALL)
            continue;
        struct turned turned = flips_anew(v->flips, w, r.first, r.count, until_s);
        if (turned.known && !turned.impossible)
            widen(&widest.turned, units_change(change, turned.change_ms, decimals));
    }
    return widest;
}

static void draw_groups(struct panel *p, const struct pane *pane)
{
    struct groups_view *v = p->state;
    const struct watch *w = p->scene->watch;
    int titles = w && has_titles(pane->width, pane->height, v->row_count);

    if (!w)
        return;
    list_fit(&v->list, v->row_count, pane->height - titles);
    if (!p->focus && v->row_count)
        list_go(&v->list, row_of(v, w->cursor));
    double until_s = p->scene->now_ms > 0 ? clock_seconds() + FLIPS_S : 0;
    struct groups_widest widest = find_widest(v, w, pane, until_s);
    struct groups_columns c = groups_columns_for(pane->width, &widest, v->sort == SORT_DIMS);
    v->waits = false;
    shorten_rows(v, w, c.name_end - c.name);
    if (titles)
        draw_titles(p->scene->watch, pane, &c, v->sort);
    for (int y = 0; y < pane->height - titles && v->list.top + y < v->row_count; y++) {
        draw_row(v, w, pane, y + titles, &v->rows[v->list.top + y], &c, until_s);
        if (v->list.top + y != v->list.cursor)
            continue;
        pane_select(pane, y + titles, p->focus ? ROLE_SELECT : ROLE_SELECT_DIM);
        if (p->focus) {
            pane->grid->cursor_x = pane->x;
            pane->grid->cursor_y = pane->y + y + titles;
        }
    }
}

static void head_groups(const struct panel *p, struct head *h, char *note, size_t room)
{
    struct groups_view *v = p->state;
    const struct watch *w = p->scene->watch;
    static const char *const sorts[SORTS] = {"by group size", "by alone", "by reduces", "by dims"};
    const char *best = w ? watch_best_word(w) : "best";
    uint32_t dims = 0, classes = 0;

    for (int n = 0; w && n < w->move_count; n++) {
        dims += w->move[n].dims;
        classes += w->move[n].classes;
    }
    snprintf(v->title, sizeof v->title, "Linkage groups %u", classes);
    if (p->width < 48)
        h->title = v->title;
    if (p->width >= 48)
        snprintf(note, room, "%u · %u dims · %s", classes, dims, sorts[v->sort]);
    else if (v->sort != SORT_ORDER)
        snprintf(note, room, "%s", sorts[v->sort]);
    else if (p->width >= 40)
        snprintf(note, room, "now %s · dims · in %s", best, best);
    else
        snprintf(note, room, "ms in %s", best);
    h->note = note;
}

static int rows_groups(const struct panel *p, int width)
{
    const struct groups_view *v = p->state;
    (void)width;
    return v->row_count + 2;
}

static int move_of_row(const struct panel *p)
{
    const struct groups_view *v = p->state;
    return v->list.cursor < v->row_count ? v->rows[v->list.cursor].first : MOVE_NONE;
}

static void follow_class(struct panel *p)
{
    struct watch *w = p->scene->watch;
    int move = move_of_row(p);
    if (w && move != MOVE_NONE)
        w->cursor = move;
}

static bool move_groups(struct panel *p, enum list_move move)
{
    struct groups_view *v = p->state;
    bool moved = list_move(&v->list, move);
    follow_class(p);
    return moved;
}

static void click_groups(struct panel *p, int x, int y, bool twice)
{
    struct groups_view *v = p->state;
    int titles = has_titles(p->width, p->height, v->row_count);
    (void)x;
    (void)twice;
    if (y < titles)
        return;
    list_go(&v->list, v->list.top + y - titles);
    follow_class(p);
}

/* A series is unfolded first: its classes are opened one by one. */
static void open_class(struct panel *p, int move)
{
    struct groups_view *v = p->state;
    const struct watch *w = p->scene->watch;
    struct err e = {0};

    if (move == MOVE_NONE)
        return;
    if (v->rows[v->list.cursor].count > 1) {
        v->unfolded = true;
        show_rows(p, move);
        return;
    }
    class_id k = w->moves->pool[w->moves->items[move].classes];
    if (host_open(p->scene, &view_members, &k, &e))
        host_say_err(p->scene, &e);
}

static bool act_groups(struct panel *p, int action)
{
    struct groups_view *v = p->state;
    int move = move_of_row(p);

    if (!p->scene->watch)
        return false;
    if (action == CLASSES_OPEN) {
        open_class(p, move);
        return true;
    }
    if (action == CLASSES_SORT)
        v->sort = (v->sort + 1) % SORTS;
    else
        v->unfolded = !v->unfolded;
    show_rows(p, move);
    return true;
}

static void filter_groups(struct panel *p)
{
    if (!p->scene->watch)
        return;
    show_rows(p, move_of_row(p));
    follow_class(p);
}

/* What is sorted and unfolded, for an edited problem. */
struct classes_memory {
    bool unfolded;
    enum sort sort;
};

static void *remember_groups(const struct panel *p)
{
    const struct groups_view *v = p->state;
    struct classes_memory *m = mem_try(1, sizeof *m);

    if (m)
        *m = (struct classes_memory){v->unfolded, v->sort};
    return m;
}

static void recall_groups(struct panel *p, const void *memory)
{
    const struct classes_memory *m = memory;
    struct groups_view *v = p->state;

    v->unfolded = m->unfolded;
    v->sort = m->sort;
    if (p->scene->watch)
        show_rows(p, p->scene->watch->cursor);
}

static void go_to_move(struct panel *p, int move)
{
    if (p->scene->watch)
        show_rows(p, move);
    follow_class(p);
}

static bool find_groups(struct panel *p, const struct match *pattern, int step)
{
    struct groups_view *v = p->state;
    const struct watch *w = p->scene->watch;

    for (int i = step ? 1 : 0; w && i <= v->row_count; i++) {
        int64_t at = (v->list.cursor + (step < 0 ? -i : i) + v->row_count) % v->row_count;
        bool fits = false;
        for (int k = 0; k < v->rows[at].count && !fits; k++)
            fits = match_text(pattern, w->move[v->rows[at].first + k].name);
        if (fits) {
            list_go(&v->list, at);
            follow_class(p);
            return true;
        }
    }
    return false;
}

static const char *name_of_row(const struct panel *p)
{
    int move = move_of_row(p);
    return move == MOVE_NONE || !p->scene->watch ? NULL : p->scene->watch->move[move].name;
}

static bool is_live_groups(const struct panel *p)
{
    return ((const struct groups_view *)p->state)->waits;
}

static void message_groups(const struct panel *p, char *out, size_t room)
{
    const struct watch *w = p->scene->watch;
    int move = move_of_row(p);

    if (!w || move == MOVE_NONE)
        return;
    char values[UNITS_ROOM], size[UNITS_ROOM];
    const struct watch_move *m = &w->move[move];
    const struct game_move *g = &w->moves->items[move];
    const struct class_info *info = &w->problem->classes.info[w->moves->pool[g->classes]];
    if (m->classes > 1)
        snprintf(out, room, "%s: %u classes of %u dims of variables each, decided alike", m->name,
                 m->classes, info->var_dims);
    else
        snprintf(out, room, "%s: %u %s of variables, %s of values, size %s", m->name,
                 info->var_dims, info->var_dims == 1 ? "dim" : "dims",
                 units_count(values, info->dim_count), units_count(size, info->least));
}

static const struct list *list_here(const struct panel *p)
{
    const struct groups_view *v = p->state;
    return &v->list;
}

const struct panel_ops view_groups = {
    .name = "groups",
    .title = "Linkage groups",
    .place = PLACE_LAYOUT,
    .id = PANEL_GROUPS,
    .keys = &groups_keys,
    .hints = "run decide pin backtrack undo why +plans=views command export search sort down=row "
             "zoom help",
    .size = sizeof(struct groups_view),
    .open = open_groups,
    .close = close_groups,
    .read = read_groups,
    .list = list_here,
    .draw = draw_groups,
    .head = head_groups,
    .rows = rows_groups,
    .act = act_groups,
    .move = move_groups,
    .click = click_groups,
    .find = find_groups,
    .go_to_move = go_to_move,
    .filter = filter_groups,
    .remember = remember_groups,
    .recall = recall_groups,
    .move_here = move_of_row,
    .name_here = name_of_row,
    .message = message_groups,
    .is_live = is_live_groups,
    .live_ms = 40,
};
