/* Panel 7. The log lives in the snapshot; nothing is copied. */
#include "engine/decide/names.h"
#include "engine/live/ledger.h"
#include "engine/live/series.h"
#include "engine/live/snapshot.h"
#include "hlo/support/err.h"
#include "tui/screen/grid.h"
#include "tui/screen/layout.h"
#include "tui/screen/list.h"
#include "tui/screen/match.h"
#include "tui/views/panel.h"
#include "tui/views/views.h"

#include "engine/text/units.h"
#include "tui/screen/theme.h"
#include "tui/watch/plan_load.h"
#include "tui/watch/watch.h"

#include <stdio.h>
#include <string.h>

struct log_view {
    struct list list;
    uint64_t seen;             /* lines ever; the cursor stays with its line when new ones come */
    uint16_t shown[LOG_LINES]; /* with a filter: lines that match, newest first */
    int64_t shown_count;       /* -1: no filter */
};

static const struct live_log *log_of(const struct panel *p)
{
    return p->scene->watch ? &p->scene->watch->shot->log : NULL;
}

/* Row 0 is the newest. */
static const struct log_line *nth_line(const struct live_log *log, int64_t row)
{
    return log && row < log->count ? &log->block->lines[log->count - 1 - (uint32_t)row] : NULL;
}

static int64_t count_rows(const struct log_view *v, const struct live_log *log)
{
    return v->shown_count >= 0 ? v->shown_count : log ? log->count : 0;
}

static const struct log_line *line_at(const struct log_view *v, const struct live_log *log,
                                      int64_t row)
{
    if (row >= count_rows(v, log))
        return NULL;
    return nth_line(log, v->shown_count >= 0 ? v->shown[row] : row);
}

static void filter_log(struct panel *p)
{
    struct log_view *v = p->state;
    const struct live_log *log = log_of(p);

    v->shown_count = p->filter ? 0 : -1;
    for (uint32_t n = 0; p->filter && log && n < log->count; n++) {
        if (match_text(p->filter, nth_line(log, n)->text))
            v->shown[v->shown_count++] = (uint16_t)n;
    }
}

static int open_log(struct panel *p, const void *arg, struct err *e)
{
    struct log_view *v = p->state;

    (void)arg;
    (void)e;
    v->shown_count = -1;
    return 0;
}

static void read_log(struct panel *p)
{
    struct log_view *v = p->state;
    const struct live_log *log = log_of(p);
    uint64_t ever = log ? log->dropped + log->count : 0;

    if (v->list.cursor > 0 && v->shown_count < 0 && ever > v->seen) {
        v->list.cursor += (int64_t)(ever - v->seen);
        v->list.top += (int64_t)(ever - v->seen);
    }
    v->seen = ever;
    filter_log(p);
}

#define EXACT "exact: "
#define YOU "you " /* before what a person did */
enum { YOU_SIZE = sizeof YOU - 1 };

/* "optimum 206.4 ms" of "exact: optimum of variables and inputs 206.4 ms, 1 case". */
static void say_optimum_briefly(const char *text, char *out, size_t room)
{
    const char *of = strstr(text, " of "), *figure = of ? strpbrk(of, "0123456789") : NULL;

    snprintf(out, room, "%.*s%s%s", figure ? (int)(of - text) : 0, text, figure ? " " : "",
             figure ? figure : text);
}

static void draw_line(const struct watch *w, const struct pane *p, int y,
                      const struct log_line *line)
{
    static const unsigned styles[] = {[LOG_INFO] = ROLE_TEXT,
                                      [LOG_BEST] = ROLE_TEXT,
                                      [LOG_PERSON] = ROLE_TEXT,
                                      [LOG_TROUBLE] = ROLE_ERR};
    int x = 6;

    pane_right_number(p, 5, y, ROLE_DIM, (double)line->episode, 0);
    if (line->act)
        x = pane_format(p, x, y, ROLE_PIN | BOLD, "%u ", line->act);
    char named[LOG_TEXT_ROOM];
    const char *text = line->kind == LOG_PERSON
                           ? watch_with_names(w, line->text, p->width - x, named, sizeof named)
                           : line->text,
               *was = strstr(text, ", was ");
    if (line->kind == LOG_BEST && was) {
        bool whole = x + (int)strlen(text) <= p->width;
        int size = (int)(was - text),
            unit = !whole && size > 3 && !strncmp(was - 3, " ms", 3) ? 3 : 0;
        x = pane_format(p, x, y, ROLE_OK, "%.*s", size - unit, text);
        if (x + (int)strlen(was) - 1 <= p->width)
            pane_text(p, x, y, ROLE_DIM, whole ? was : was + 1);
        return;
    }
    if (line->kind == LOG_PERSON && !strncmp(text, YOU, YOU_SIZE)) {
        x = pane_text(p, x, y, ROLE_PIN, YOU);
        text += YOU_SIZE;
    }
    char brief[LOG_TEXT_ROOM];
    text_cut_clauses(brief, sizeof brief, text, p->width - x);
    if (strstr(brief, "..") && line->kind == LOG_INFO) {
        bool exact = !strncmp(text, EXACT, sizeof EXACT - 1);
        if (exact)
            say_optimum_briefly(text + sizeof EXACT - 1, named, sizeof named);
        text_cut_words(brief, sizeof brief, exact ? named : text, p->width - x);
    }
    pane_text(p, x, y, line->kind < 4 ? styles[line->kind] : ROLE_TEXT, brief);
}

static void draw_log(struct panel *p, const struct pane *pane)
{
    struct log_view *v = p->state;
    const struct live_log *log = log_of(p);
    const struct log_line *line;

    list_fit(&v->list, count_rows(v, log), pane->height);
    for (int y = 0; y < pane->height && (line = line_at(v, log, v->list.top + y)); y++) {
        draw_line(p->scene->watch, pane, y, line);
        if (p->focus && v->list.top + y == v->list.cursor) {
            pane_select(pane, y, ROLE_SELECT);
            pane->grid->cursor_x = pane->x;
            pane->grid->cursor_y = pane->y + y;
        }
    }
}

static void head_log(const struct panel *p, struct head *h, char *note, size_t room)
{
    const struct live_log *log = log_of(p);
    if (p->width >= 30 && log && log->dropped)
        snprintf(note, room, "last %u", log->count);
    h->note = note;
}

static bool move_log(struct panel *p, enum list_move move)
{
    struct log_view *v = p->state;
    return list_move(&v->list, move);
}

static void click_log(struct panel *p, int x, int y, bool twice)
{
    struct log_view *v = p->state;
    (void)x;
    (void)twice;
    list_go(&v->list, v->list.top + y);
}

static bool find_log(struct panel *p, const struct match *pattern, int step)
{
    struct log_view *v = p->state;
    const struct live_log *log = log_of(p);
    int64_t count = count_rows(v, log);

    for (int64_t i = step ? 1 : 0; i <= count && count; i++) {
        int64_t at = (v->list.cursor + (step < 0 ? -i : i) + count) % count;
        if (match_text(pattern, line_at(v, log, at)->text)) {
            list_go(&v->list, at);
            return true;
        }
    }
    return false;
}

static const char *name_here(const struct panel *p)
{
    const struct log_view *v = p->state;
    const struct log_line *line = line_at(v, log_of(p), v->list.cursor);
    return line ? line->text : NULL;
}

/* The decision that a person's act was about. */
static int move_here(const struct panel *p)
{
    const struct log_view *v = p->state;
    const struct watch *w = p->scene->watch;
    const struct log_line *line = line_at(v, log_of(p), v->list.cursor);
    const struct ledger *l = w ? w->shot->ledger : NULL;

    for (uint32_t n = 0; line && line->act && l && n < l->count; n++) {
        const struct ledger_row *r = &l->rows[n];
        if (!strcmp(r->text, line->text + YOU_SIZE) && r->problem == w->problem)
            return watch_move_of(w, r->about);
    }
    return MOVE_NONE;
}

/* The plan the line speaks of, where it is kept still. */
static struct live_plan *plan_here(const struct panel *p)
{
    const struct log_view *v = p->state;
    const struct watch *w = p->scene->watch;
    const struct log_line *line = line_at(v, log_of(p), v->list.cursor);
    struct live_plan *plans[WATCH_PLANS_MOST];

    if (!line)
        return NULL;
    if (line->kind == LOG_INFO && !strncmp(line->text, EXACT, sizeof EXACT - 1))
        return w->exact;
    uint32_t count = line->kind == LOG_BEST ? plan_load_all(w, plans) : 0;
    for (uint32_t n = 0; n < count; n++) {
        if (plans[n]->episode == line->episode && plans[n] != w->exact)
            return plans[n];
    }
    return NULL;
}

static void message_log(const struct panel *p, char *out, size_t room)
{
    const struct log_view *v = p->state;
    const struct log_line *line = line_at(v, log_of(p), v->list.cursor);
    char named[LOG_TEXT_ROOM], count[UNITS_ROOM];
    if (line)
        snprintf(out, room, "%s  %s", units_count(count, (int64_t)line->episode),
                 line->kind == LOG_PERSON
                     ? watch_with_names(p->scene->watch, line->text, NAME_ROOM, named, sizeof named)
                     : line->text);
}

static const struct list *list_here(const struct panel *p)
{
    const struct log_view *v = p->state;
    return &v->list;
}

const struct panel_ops view_log = {
    .name = "log",
    .title = "Log",
    .place = PLACE_LAYOUT,
    .id = PANEL_LOG,
    .hints = "run decide undo down=row search copy=copy +plans=views zoom command help",
    .size = sizeof(struct log_view),
    .open = open_log,
    .read = read_log,
    .list = list_here,
    .draw = draw_log,
    .head = head_log,
    .move = move_log,
    .click = click_log,
    .find = find_log,
    .move_here = move_here,
    .plan_here = plan_here,
    .filter = filter_log,
    .name_here = name_here,
    .message = message_log,
};
