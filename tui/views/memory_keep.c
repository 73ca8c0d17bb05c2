/* The memory view's other half: what the backward pass keeps, what it computes again, and what
 * waits on the host; the front of memory against time, and the rows of one of its points. */
#include "engine/plan/recompute_rows.h"
#include "engine/text/units.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "tui/screen/grid.h"
#include "tui/screen/list.h"
#include "tui/screen/plot.h"
#include "tui/screen/theme.h"
#include "tui/views/host.h"
#include "tui/views/memory_draw.h"
#include "tui/views/panel.h"
#include "tui/watch/keep_job.h"
#include "tui/watch/tree.h"
#include "tui/watch/watch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the point under the cursor ---- */

static const struct keep_look *look_of(const struct memory_view *v)
{
    const struct keep_look *look = v->keep ? keep_job_look(v->keep) : NULL;

    return look && look->count ? look : NULL;
}

static const struct keep_point *point_of(const struct memory_view *v)
{
    const struct keep_look *look = look_of(v);
    int64_t at = v->list[MEMORY_LIST_FRONT].cursor;

    return look && at < look->count ? &look->points[at] : NULL;
}

/* Rows of the point under the cursor, worked out when it is another one. */
static void follow_front(struct panel *p)
{
    struct memory_view *v = p->state;
    struct list *front = &v->list[MEMORY_LIST_FRONT];
    const struct keep_look *look = look_of(v);
    struct err e;

    if (!look)
        return;
    if (!front->count) {
        list_fit(front, look->count, front->rows > 0 ? front->rows : 1);
        list_go(front, look->choice);
    }
    if (v->rows && v->rows_of == front->cursor)
        return;
    free(v->rows);
    v->rows = NULL;
    v->row_count = 0;
    v->rows_of = front->cursor;
    v->list[MEMORY_LIST_KEEP] = (struct list){.rows = v->list[MEMORY_LIST_KEEP].rows};
    if (keep_job_rows(v->keep, (uint32_t)front->cursor, &v->rows, &v->row_count, &e))
        host_say_err(p->scene, &e);
}

const struct recompute_row *memory_row_here(const struct memory_view *v)
{
    const struct list *l = &v->list[MEMORY_LIST_KEEP];

    return v->shown == MEMORY_LIST_KEEP && l->cursor < (int64_t)v->row_count ? &v->rows[l->cursor]
                                                                             : NULL;
}

/* The job is of the limit there is now: started when there is none, and anew for another limit. */
static void follow_limit(struct panel *p)
{
    struct memory_view *v = p->state;
    const struct keep_look *look = v->keep ? keep_job_look(v->keep) : NULL;
    double limit = memory_limit(p->scene);
    struct err e;

    if (v->keep && (!look || look->limit == limit)) /* one that runs ends first */
        return;
    keep_job_free(v->keep);
    v->keep = NULL;
    free(v->rows);
    v->rows = NULL;
    v->row_count = 0;
    v->list[MEMORY_LIST_FRONT] = v->list[MEMORY_LIST_KEEP] = (struct list){0};
    /* Without a clock, for a picture, it is worked out at once. */
    if (keep_job_new(p->scene->watch, v->curve.plan, limit, p->scene->now_ms > 0, &v->keep, &e)) {
        host_say_err(p->scene, &e);
        v->shown = MEMORY_LIST_GROUPS;
    }
}

/* ---- drawing ---- */

/* "fits in 3.0 GB if weight gradients do not wait": a warning where they do and it is over then. */
static int draw_fit(const struct panel *p, const struct pane *pane, int x, double peak, bool listed)
{
    const struct memory_view *v = p->state;
    double limit = memory_limit(p->scene);
    unsigned role = listed && v->curve.total[v->curve.peak] > limit ? ROLE_WARN : ROLE_OK;
    char a[UNITS_ROOM];

    if (peak > limit)
        return pane_format(pane, x, 0, ROLE_ERR, "over %s", units_bytes(a, limit));
    return pane_format(pane, x, 0, role, "fits in %s%s", units_bytes(a, limit),
                       listed ? " if weight gradients do not wait" : "");
}

/* "497.1 ms a step with 64.0 GB   fits in 80.0 GB   as written 463.5 ms, 122.0 GB". */
static void draw_sentence(const struct panel *p, const struct pane *pane)
{
    const struct memory_view *v = p->state;
    const struct keep_look *look = v->keep ? keep_job_look(v->keep) : NULL;
    const struct keep_point *point = point_of(v);
    char a[UNITS_ROOM], b[UNITS_ROOM], text[128];

    if (!point) {
        pane_text(pane, 0, 0, ROLE_DIM, look ? look->trouble : "working out what to keep ..");
        return;
    }
    int x = pane_format(pane, 0, 0, ROLE_TITLE | BOLD, "%s", units_ms(a, point->step_ms));
    x = pane_format(pane, x, 0, ROLE_TEXT, " a step with %s", units_bytes(a, point->peak));
    x = draw_fit(p, pane, x + 3, point->peak, look->is_listed);
    if (point->host_bytes > 0)
        x = pane_format(pane, x + 3, 0, ROLE_TEXT, "%s on the host",
                        units_bytes(a, point->host_bytes));
    int size = snprintf(text, sizeof text, "as written %s, %s", units_ms(a, look->now_ms),
                        units_bytes(b, v->curve.total[v->curve.peak]));
    if (x + 3 + size <= pane->width)
        pane_text(pane, x + 3, 0, ROLE_DIM, text);
}

/* Step time over memory; the point under the cursor, and the module as it is written. */
static void draw_front(const struct panel *p, const struct pane *pane)
{
    const struct memory_view *v = p->state;
    const struct keep_look *look = look_of(v);
    double x[KEEP_POINTS_MOST], y[KEEP_POINTS_MOST], low = INFINITY, high = 0;

    if (!look)
        return;
    for (uint32_t k = 0; k < look->count; k++) { /* ascending */
        const struct keep_point *point = &look->points[look->count - 1 - k];
        x[k] = point->peak / 1e9;
        y[k] = point->step_ms;
        low = fmin(low, y[k]);
        high = fmax(high, y[k]);
    }
    const struct keep_point *point = point_of(v);
    double here_x = point ? point->peak / 1e9 : NAN, here_y = point ? point->step_ms : NAN;
    struct plot_series series[] = {{.y = y,
                                    .x = x,
                                    .count = look->count,
                                    .kind = PLOT_LINE,
                                    .role = ROLE_PLOT_0,
                                    .sign = '*',
                                    .name = "step, ms"},
                                   {.y = &here_y,
                                    .x = &here_x,
                                    .count = 1,
                                    .kind = PLOT_DOTS,
                                    .role = ROLE_CHANGED,
                                    .sign = 'o',
                                    .name = "here"}};
    struct plot plot = {.series = series,
                        .series_count = 2,
                        .first_x = x[0],
                        .last_x = x[look->count - 1] > x[0] ? x[look->count - 1] : x[0] + 1,
                        .unit_x = "GB",
                        .low = low - 0.02 * (high - low),
                        .high = high + 0.02 * (high - low) + 1e-9,
                        .limit = NAN,
                        .ascii = p->scene->ascii};
    plot_draw(pane, &plot);
}

/* Where columns end; 0: left out. */
struct keep_columns {
    int name, source, gb, ms, price;
};

static struct keep_columns keep_columns_for(int width)
{
    struct keep_columns c = {.price = width, .ms = width - 8, .gb = width - 17};

    c.name = c.gb - 8;
    if (width >= 84) {
        c.source = c.name - 20;
        c.name = c.source - 2;
    }
    return c;
}

static void draw_row(const struct panel *p, const struct pane *pane, int y,
                     const struct recompute_row *row, const struct keep_columns *c)
{
    const struct memory_view *v = p->state;
    const struct watch *w = p->scene->watch;
    hlo_value value = keep_job_value(v->keep, row);
    hlo_id id = w->problem->m->value_instruction[value];
    double held = row->kept_bytes + row->host_bytes, less = (row->most - held) / 1e9;
    unsigned role = row->host_bytes > 0 ? ROLE_PLOT_3 : row->again > 0 ? ROLE_CHOICE_1 : ROLE_TEXT;
    char text[192];

    pane_text(pane, 0, y, role, recompute_row_word(row));
    snprintf(text, sizeof text, "%.100s%s%.40s", row->scope, row->scope[0] ? " " : "",
             tree_instruction_name(w->tree, id));
    pane_cut(pane, 15, y, c->name - 15, ROLE_TEXT, text);
    if (c->source) {
        memory_write_source(w->problem->m, value, text, sizeof text);
        pane_cut(pane, c->source, y, 20, ROLE_DIM, text);
    }
    pane_right_number(pane, c->gb, y, ROLE_TEXT, held / 1e9, 2);
    if (row->ms > 0)
        pane_right_ms(pane, c->ms, y, ROLE_TEXT, row->ms);
    if (row->again > 0 && less > 1e-6)
        pane_right_number(pane, c->price, y, ROLE_TEXT, row->ms / less, 2);
}

/* "4/14" behind the note of a list that does not fit. */
static void add_position(char *note, size_t room, const struct list *l, int64_t count, int rows)
{
    size_t size = strlen(note);

    if (count > rows)
        snprintf(note + size, room - size, "%s%lld/%lld", size ? " · " : "",
                 (long long)l->cursor + 1, (long long)count);
}

static void draw_rows(const struct panel *p, const struct pane *pane)
{
    struct memory_view *v = p->state;
    struct list *l = &v->list[MEMORY_LIST_KEEP];
    struct keep_columns c = keep_columns_for(pane->width);
    const struct keep_point *point = point_of(v);
    bool own = v->shown == MEMORY_LIST_KEEP;
    char note[64] = "";

    if (point && point->layers)
        snprintf(note, sizeof note, "the first %u layers recompute more", point->layers);
    add_position(note, sizeof note, l, v->row_count, pane->height - 2);
    pane_head(pane, 0, &(struct head){0, "Kept for the backward pass", note, own});
    pane_right(pane, c.gb, 1, ROLE_DIM, "GB");
    pane_right(pane, c.ms, 1, ROLE_DIM, "adds ms");
    pane_right(pane, c.price, 1, ROLE_DIM, "ms/GB");
    list_fit(l, v->row_count, pane->height - 2);
    for (int y = 0; y < pane->height - 2 && l->top + y < l->count; y++) {
        draw_row(p, pane, y + 2, &v->rows[l->top + y], &c);
        if (l->top + y == l->cursor)
            memory_select(pane, y + 2, own);
    }
}

static void draw_points(const struct panel *p, const struct pane *pane)
{
    struct memory_view *v = p->state;
    const struct keep_look *look = look_of(v);
    struct list *l = &v->list[MEMORY_LIST_FRONT];
    bool own = v->shown == MEMORY_LIST_FRONT;
    int price = pane->width, step = price - 8, peak = step - 11;

    char note[64] = "memory against time";
    add_position(note, sizeof note, l, look ? look->count : 0, pane->height - 2);
    pane_head(pane, 0, &(struct head){0, "Front", note, own});
    pane_right(pane, peak, 1, ROLE_DIM, "GB");
    pane_right(pane, step, 1, ROLE_DIM, "step ms");
    pane_right(pane, price, 1, ROLE_DIM, "ms/GB");
    list_fit(l, look ? look->count : 0, pane->height - 2);
    for (int y = 0; look && y < pane->height - 2 && l->top + y < l->count; y++) {
        const struct keep_point *k = &look->points[l->top + y];
        if (k->is_the_choice && peak >= 15)
            pane_text(pane, 0, y + 2, look->fits ? ROLE_OK : ROLE_ERR,
                      look->fits ? "the limit" : "the least");
        pane_right_number(pane, peak, y + 2, ROLE_TEXT, k->peak / 1e9,
                          k->peak < 1e9 ? units_ms_decimals(k->peak / 1e9) : 1);
        pane_right_ms(pane, step, y + 2, ROLE_TEXT, k->step_ms);
        if (k->ms_per_gb > 0)
            pane_right_number(pane, price, y + 2, ROLE_TEXT, k->ms_per_gb, 2);
        if (l->top + y == l->cursor)
            memory_select(pane, y + 2, own);
    }
}

static void draw_keep_lists(const struct panel *p, const struct pane *pane)
{
    const struct memory_view *v = p->state;
    bool beside = pane->width >= 96;
    int right = beside ? 34 : 0, left = beside ? pane->width - right - 3 : pane->width;
    struct pane one = pane_part(pane, 0, 0, left, pane->height),
                two = pane_part(pane, left + 3, 0, right, pane->height);

    if (pane->height < 3)
        return;
    if (beside || v->shown == MEMORY_LIST_KEEP)
        draw_rows(p, &one);
    else
        draw_points(p, &one);
    if (!beside)
        return;
    for (int y = 1; y < pane->height; y++)
        pane_text(pane, left + 1, y, ROLE_BORDER, "│");
    draw_points(p, &two);
}

void memory_draw_keep(struct panel *p, const struct pane *pane)
{
    int gap = pane->height >= 24, plot = (pane->height - 2 - 2 * gap) * 8 / 20;

    follow_limit(p);
    follow_front(p);
    const struct keep_look *look = look_of(p->state);
    draw_sentence(p, pane);
    pane_head(pane, 1 + gap,
              &(struct head){0, "Step",
                             look && look->is_listed
                                 ? "over memory of one device; weight gradients at once"
                                 : "over memory of one device, as less is kept",
                             false});
    plot = plot > 16 ? 16 : plot;
    struct pane course = pane_part(pane, 0, 2 + gap, pane->width, plot > 2 ? plot : 2);
    draw_front(p, &course);
    int y = 2 + gap + course.height + gap;
    struct pane lists = pane_part(pane, 0, y, pane->width, pane->height - y);
    draw_keep_lists(p, &lists);
}

/* ---- words ---- */

/* "computed again in 24 layers' place: 8.59 ms, 1.50 ms for each GB". */
void memory_keep_message(const struct panel *p, char *out, size_t room)
{
    const struct memory_view *v = p->state;
    const struct recompute_row *row = memory_row_here(v);
    const struct keep_look *look = look_of(v);
    char a[UNITS_ROOM], b[UNITS_ROOM], c[UNITS_ROOM];

    if (row && row->again > 0)
        snprintf(out, room, "%s: computing it again adds %s and gives back %s  %.120s", row->name,
                 units_ms(a, row->ms),
                 units_bytes(b, row->most - row->kept_bytes - row->host_bytes), row->scope);
    else if (row)
        snprintf(out, room, "%s: %s kept, %s on the host  %.120s", row->name,
                 units_bytes(a, row->kept_bytes), units_bytes(b, row->host_bytes), row->scope);
    else if (look && look->fits)
        snprintf(out, room, "within the limit of %s: %s; no choice with this plan is below %s",
                 units_bytes(a, memory_limit(p->scene)),
                 units_ms(b, look->points[look->choice].step_ms), units_ms(c, look->bound_ms));
    else if (look)
        snprintf(out, room, "nothing fits in %s: the least is %s",
                 units_bytes(a, memory_limit(p->scene)),
                 units_bytes(b, look->points[look->choice].peak));
}
