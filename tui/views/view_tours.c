#include "hlo/support/err.h"
#include "tui/screen/grid.h"
#include "tui/screen/keys.h"
#include "tui/screen/list.h"
#include "tui/screen/utf8.h"
#include "tui/views/panel.h"
#include "tui/views/views.h"

#include "tui/files/tour.h"
#include "tui/screen/theme.h"
#include "tui/views/host.h"

#include <stdio.h>
#include <string.h>

struct row {
    struct tour_name name;
    char title[80], about[TOUR_SAY_MOST + 1];
    int steps;
};

struct tours_view {
    struct list list;
    struct row rows[TOURS_MOST];
    int count;
};

enum { TOURS_BEGIN };
static const struct action tours_actions[] = {
    [TOURS_BEGIN] = {"begin", "in this dialog", "begin the tour", "begin", "Enter", NULL},
};
static const struct key_table tours_keys = {"tours", tours_actions, 1};

static int open_tours(struct panel *p, const void *arg, struct err *e)
{
    struct tours_view *v = p->state;
    const char *data = p->scene->data_dir;
    struct tour_name names[TOURS_MOST];
    int count = tour_names(names, data);

    (void)arg;
    for (int n = 0; n < count; n++) {
        struct tour *t;
        if (tour_load(&t, data, names[n].name, e))
            return e->code;
        struct row *r = &v->rows[v->count++];
        r->name = names[n];
        r->steps = t->step_count;
        snprintf(r->title, sizeof r->title, "%s", t->title);
        snprintf(r->about, sizeof r->about, "%s", t->about);
        tour_free(t);
    }
    return v->count ? 0
                    : err_set(e, ERR_INPUT, "no tours here; $AUTOMAP_DATA_DIR says where they are");
}

/* Where the summaries stand: behind the longest title. */
static int summaries_at(const struct tours_view *v)
{
    int widest = 0;

    for (int n = 0; n < v->count; n++) {
        int width = utf8_text_columns(v->rows[n].title);
        widest = width > widest ? width : widest;
    }
    return 2 + widest + 2;
}

static void draw_tours(struct panel *p, const struct pane *pane)
{
    struct tours_view *v = p->state;
    int head = 1 + (pane->height >= 10), at = summaries_at(v);
    char about[256];

    pane_head(pane, 0, &(struct head){0, "Tours", pane->width >= 60 ? "steps" : "", true});
    list_fit(&v->list, v->count, pane->height - head);
    for (int y = 0; y < v->list.rows && v->list.top + y < v->count; y++) {
        const struct row *r = &v->rows[v->list.top + y];
        bool here = v->list.top + y == v->list.cursor;
        pane_text(pane, 2, head + y, here ? ROLE_TITLE | BOLD : ROLE_TEXT, r->title);
        if (at + 20 < pane->width)
            pane_text(pane, at, head + y, ROLE_DIM,
                      text_cut_clauses(about, sizeof about, r->about, pane->width - at - 3));
        if (pane->width >= 60)
            pane_right_format(pane, pane->width, head + y, ROLE_TEXT, "%d", r->steps);
        if (!here)
            continue;
        pane_select(pane, head + y, ROLE_SELECT);
        pane->grid->cursor_x = pane->x;
        pane->grid->cursor_y = pane->y + head + y;
    }
}

static bool act_tours(struct panel *p, int action)
{
    struct tours_view *v = p->state;
    const struct scene *scene = p->scene;
    struct tour_name name = v->rows[v->list.cursor].name; /* the view goes */
    struct err e = {0};

    (void)action;
    if (host_tour(scene, name.name, &e))
        host_say_err(scene, &e);
    return true;
}

static bool move_tours(struct panel *p, enum list_move move)
{
    struct tours_view *v = p->state;
    return list_move(&v->list, move);
}

static void click_tours(struct panel *p, int x, int y, bool twice)
{
    struct tours_view *v = p->state;
    int row = y - 1 - (p->height >= 10);

    (void)x;
    if (row < 0 || v->list.top + row >= v->count)
        return;
    list_go(&v->list, v->list.top + row);
    if (twice)
        act_tours(p, TOURS_BEGIN);
}

static int rows_tours(const struct panel *p, int width)
{
    const struct tours_view *v = p->state;
    (void)width;
    return v->count + 3 < 10 ? 10 : v->count + 3;
}

static void message_tours(const struct panel *p, char *out, size_t room)
{
    const struct tours_view *v = p->state;
    snprintf(out, room, "%s; what is open now is closed", v->rows[v->list.cursor].about);
}

const struct panel_ops view_tours = {
    .name = "tours",
    .title = "Tours",
    .place = PLACE_DIALOG,
    .keys = &tours_keys,
    .hints = "begin down=choose escape=leave",
    .size = sizeof(struct tours_view),
    .open = open_tours,
    .draw = draw_tours,
    .act = act_tours,
    .move = move_tours,
    .click = click_tours,
    .dialog_rows = rows_tours,
    .message = message_tours,
};
