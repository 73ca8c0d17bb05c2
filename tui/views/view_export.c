/* Export: forms, the plan, the file's name, and the text as it will be. */
#include "engine/live/outcome.h"
#include "engine/live/snapshot.h"
#include "engine/plan/plan.h"
#include "engine/relaxed/relaxed.h"
#include "engine/search/game.h"
#include "engine/text/units.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/text.h"
#include "tui/files/complete_path.h"
#include "tui/files/user_files.h"
#include "tui/screen/edit.h"
#include "tui/screen/grid.h"
#include "tui/screen/keys.h"
#include "tui/screen/list.h"
#include "tui/screen/match.h"
#include "tui/screen/theme.h"
#include "tui/screen/utf8.h"
#include "tui/views/host.h"
#include "tui/views/panel.h"
#include "tui/views/views.h"
#include "tui/watch/export_form.h"
#include "tui/watch/export_job.h"

#include <stdio.h>
#include <string.h>

enum { FORMS_MOST = 16, WIDE = 100, LIST_COLUMNS = 60, LINE_BYTES = 1024, COPY_MOST = 64 * 1024 };
static const double PATIENCE_S = 0.02; /* a job that ends within it costs no second frame */

struct export_view {
    struct live_plan *plan; /* kept; NULL: `relaxed` is shown */
    struct plan relaxed;    /* a copy of what the view below shows; problem NULL: none */
    struct list forms;
    struct export_job *job; /* NULL: none could be started; trouble says why */
    char trouble[256];
    bool ready;
    const struct str *text, *warnings; /* of the job, when ready */
    int64_t lines, top;

    struct edit file;
    bool typing, is_named; /* in the field; by the person */
    bool over;             /* the file is there: Enter again overwrites it */
    struct str command;    /* "automap plan MODEL CLUSTER" */
};

enum { EXPORT_WRITE, EXPORT_FILE, EXPORT_PLAN, EXPORT_COPY };
static const struct action export_actions[] = {
    [EXPORT_WRITE] = {"write", "in this dialog", "write the file", "write", "Enter", NULL},
    [EXPORT_FILE] = {"file", "in this dialog", "name of the file", "file", "f or i", NULL},
    [EXPORT_PLAN] = {"plan", "in this dialog", "another plan", "plan", "Tab", NULL},
    [EXPORT_COPY] = {"copy", "in this dialog", "copy the text", "copy", "Y", NULL},
};
static const struct key_table export_keys = {"export", export_actions, 4};

static const struct export_form *chosen(const struct export_view *v)
{
    return &export_forms[v->forms.cursor];
}

static int form_count(void)
{
    int count = 0;
    while (export_forms[count].name)
        count++;
    return count;
}

/* ---- the job ---- */

static void take_result(struct export_view *v)
{
    struct err e = {0};

    if (v->ready || !v->job || !export_job_wait(v->job, 0))
        return;
    v->ready = true;
    if (export_job_result(v->job, &v->text, &v->warnings, &e)) {
        err_format(&e, v->trouble, sizeof v->trouble);
        v->text = NULL;
        return;
    }
    v->lines = 0;
    for (size_t i = 0; i < v->text->size; i++)
        v->lines += v->text->text[i] == '\n';
}

static void name_file(struct panel *p)
{
    struct export_view *v = p->state;
    char name[EDIT_ROOM];
    const char *model = p->scene->model_name[0] ? p->scene->model_name : "automap";

    if (v->is_named)
        return;
    snprintf(name, sizeof name, "%.200s%s", model, chosen(v)->ending);
    edit_set(&v->file, name);
}

static int take_plan(struct panel *p, struct plan *out, struct err *e)
{
    const struct export_view *v = p->state;

    return v->plan ? outcome_plan_shown(p->scene->watch->shot, v->plan, out, e)
                   : plan_copy(&v->relaxed, out, e);
}

static void begin_export(struct panel *p)
{
    struct export_view *v = p->state;
    struct plan plan;
    struct err e = {0};

    export_job_free(v->job);
    v->ready = v->over = false;
    v->text = v->warnings = NULL;
    v->trouble[0] = 0;
    v->top = 0;
    name_file(p);
    v->job = take_plan(p, &plan, &e)
                 ? NULL
                 : export_job_start(p->scene->watch, &plan, chosen(v), p->scene->model_name,
                                    v->command.text ? v->command.text : "", &e);
    if (!v->job)
        err_format(&e, v->trouble, sizeof v->trouble);
    else if (export_job_wait(v->job, PATIENCE_S))
        take_result(v);
}

static int take_relaxed(struct export_view *v, const struct relaxed_plan *from, struct err *e)
{
    struct relaxed_plan copy;
    int rc = relaxed_plan_copy(from, &copy, e);

    return rc ? rc : plan_from_relaxed(&copy, &v->relaxed, e);
}

/* `arg`: the panel that had the key. */
static int open_export(struct panel *p, const void *arg, struct err *e)
{
    struct export_view *v = p->state;
    const struct snapshot *s = p->scene->watch ? p->scene->watch->shot : NULL;
    const struct panel *below = arg;
    const struct relaxed_plan *relaxed =
        below && below->ops->relaxed_here ? below->ops->relaxed_here(below) : NULL;
    const struct live_plan *plan =
        below && below->ops->plan_here ? below->ops->plan_here(below) : NULL;

    if (!s)
        return err_set(e, ERR_INPUT, "no search is open");
    if (!plan)
        plan = s->best ? s->best : s->plan_count ? s->plans[0] : NULL;
    if (!plan && !relaxed)
        return err_set(e, ERR_INPUT, "no plan yet; Space searches");
    if (relaxed && take_relaxed(v, relaxed, e))
        return e->code;
    if (!relaxed)
        v->plan = live_plan_share((struct live_plan *)(uintptr_t)plan);
    host_write_command(p->scene, &v->command);
    list_fit(&v->forms, form_count(), form_count());
    begin_export(p);
    return 0;
}

static void close_export(struct panel *p)
{
    struct export_view *v = p->state;

    export_job_free(v->job);
    live_plan_release(v->plan);
    plan_release(&v->relaxed);
    str_release(&v->command);
}

static void settle_export(struct panel *p)
{
    struct export_view *v = p->state;

    if (v->job)
        (void)export_job_wait(v->job, 60);
    take_result(v);
}

static bool is_working(const struct panel *p)
{
    const struct export_view *v = p->state;
    return v->job && !v->ready;
}

/* ---- drawing ---- */

static void draw_forms(const struct export_view *v, const struct pane *pane, int y)
{
    for (int i = 0; i < v->forms.count && y + i < pane->height; i++) {
        const struct export_form *f = &export_forms[i];
        bool here = i == v->forms.cursor;
        struct pane row = pane_part(pane, 0, y + i, pane->width, 1);
        bool can_be = v->plan || !f->not_relaxed;
        pane_text(&row, 2, 0, here ? ROLE_TITLE | BOLD : can_be ? ROLE_TEXT : ROLE_DIM, f->name);
        if (pane->width >= 40)
            pane_cut(&row, 12, 0, pane->width - 12, ROLE_DIM, f->words);
        if (!here)
            continue;
        pane_select(&row, 0, ROLE_SELECT);
        if (!v->typing) {
            pane->grid->cursor_x = pane->x;
            pane->grid->cursor_y = pane->y + y + i;
        }
    }
}

static void draw_plan(const struct panel *p, const struct pane *pane, int y)
{
    const struct export_view *v = p->state;
    char ms[UNITS_ROOM];

    pane_text(pane, 2, y, ROLE_DIM, "plan");
    if (!v->plan) {
        int end = pane_text(pane, 11, y, ROLE_TEXT, v->relaxed.found_by);
        pane_text(pane, end + 2, y, ROLE_TITLE | BOLD, units_ms(ms, v->relaxed.cost.step_ms));
        return;
    }
    int x = pane_text(pane, 11, y, ROLE_TEXT, v->plan->found_by);
    x = pane_format(pane, x + 2, y, ROLE_TITLE | BOLD, "%s", units_ms(ms, v->plan->cost.step_ms));
    if (v->plan->proven)
        pane_format(pane, x + 2, y, ROLE_OK, "proven over %s",
                    game_decides[p->scene->watch->shot->options.game.kind]);
    else if (v->plan->episode)
        pane_format(pane, x + 2, y, ROLE_DIM, "episode %s",
                    units_count(ms, (int64_t)v->plan->episode));
}

static void draw_file(const struct export_view *v, const struct pane *pane, int y)
{
    struct pane field = pane_part(pane, 11, y, pane->width - 11, 1);
    char clean[EDIT_ROOM * 4];

    pane_text(pane, 2, y, ROLE_DIM, "file");
    if (v->typing && field.height && field.width) {
        int x = edit_draw(&v->file, &field, 0, 0, ROLE_TITLE | BOLD);
        pane->grid->cursor_x = field.x + (x < field.width ? x : field.width - 1);
        pane->grid->cursor_y = field.y;
        return;
    }
    text_clean(clean, sizeof clean, v->file.text, v->file.size);
    char cut[EDIT_ROOM];
    int x = pane_text(&field, 0, 0, ROLE_TEXT, text_cut_left(cut, sizeof cut, clean, field.width));
    if (v->over && x + 20 <= field.width)
        pane_text(&field, x + 2, 0, ROLE_WARN, "is there already");
}

/* The line behind `at`, cleaned; NULL after the last. */
static const char *next_line(const char *at, const char *end, char *out, size_t room)
{
    const char *stop = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
    size_t size = at < end ? (size_t)((stop ? stop : end) - at) : 0;

    if (at >= end)
        return NULL;
    text_clean(out, room, at, size < LINE_BYTES ? size : LINE_BYTES);
    return stop ? stop + 1 : end;
}

/* The last page is full. */
static void draw_text(struct export_view *v, const struct pane *pane)
{
    const char *at = v->text->text, *end = at + v->text->size;
    int64_t last = v->lines + (v->warnings->size > 0) - pane->height;
    char line[LINE_BYTES * 4 + 1];

    v->top = v->top < last ? v->top : last > 0 ? last : 0;

    for (int64_t n = 0; n < v->top && at < end; n++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        at = stop ? stop + 1 : end;
    }
    for (int y = 0; y < pane->height && (at = next_line(at, end, line, sizeof line)); y++) {
        int width = utf8_text_columns(line);
        pane_text(pane, 0, y, ROLE_TEXT, line);
        if (width > pane->width && pane->width > 2)
            pane_text(pane, pane->width - 3, y, ROLE_DIM, " ..");
    }
}

static void draw_preview(struct export_view *v, const struct pane *pane, bool focus)
{
    char note[96] = "", size[UNITS_ROOM], lines[UNITS_ROOM];
    struct head h = {0, "Preview", note, focus};

    if (v->ready && v->text)
        snprintf(note, sizeof note, "%s %s, %s · read again and equal",
                 units_count(lines, v->lines), v->lines == 1 ? "line" : "lines",
                 units_bytes(size, (double)v->text->size));
    pane_head(pane, 0, &h);
    struct pane inside = pane_part(pane, 0, 1, pane->width, pane->height - 1);
    if (v->trouble[0])
        pane_sentence(&inside, ROLE_ERR, v->trouble);
    else if (!v->ready)
        pane_text(&inside, 0, 0, ROLE_DIM, "..");
    else if (v->text)
        draw_text(v, &inside);
    if (v->ready && v->text && v->warnings->size && inside.height > 4) {
        struct pane low = pane_part(&inside, 0, inside.height - 1, inside.width, 1);
        char first[LINE_BYTES * 4 + 1];
        pane_clear(&low);
        next_line(v->warnings->text, v->warnings->text + v->warnings->size, first, sizeof first);
        pane_cut(&low, 0, 0, low.width, ROLE_WARN, first);
    }
}

static void draw_export(struct panel *p, const struct pane *pane)
{
    struct export_view *v = p->state;
    bool wide = pane->width >= WIDE;
    int gap = wide || pane->height >= 18, y = 1 + gap;
    struct pane left = pane_part(pane, 0, 0, wide ? LIST_COLUMNS : pane->width, pane->height);

    take_result(v);
    pane_head(pane, 0, &(struct head){0, "Export", "e", true});
    draw_forms(v, &left, y);
    y += (int)v->forms.count + gap;
    draw_plan(p, &left, y++);
    draw_file(v, &left, y++);
    struct pane text = wide ? pane_part(pane, LIST_COLUMNS + 2, 1 + gap,
                                        pane->width - LIST_COLUMNS - 2, pane->height - 1 - gap)
                            : pane_part(pane, 0, y + gap, pane->width, pane->height - y - gap);
    if (text.height >= 2)
        draw_preview(v, &text, false);
}

static int rows_export(const struct panel *p, int width)
{
    const struct export_view *v = p->state;
    return width >= WIDE ? 22 : (int)v->forms.count + 12;
}

/* ---- acts ---- */

static void write_file(struct panel *p)
{
    struct export_view *v = p->state;
    const struct scene *scene = p->scene;
    char size[UNITS_ROOM], clean[EDIT_ROOM * 4];
    struct err e = {0};

    if (v->job)
        (void)export_job_wait(v->job, 1); /* who presses Enter waits gladly */
    take_result(v);
    if (!v->ready || !v->text) {
        host_say(scene, "%s", v->trouble[0] ? v->trouble : "still being written");
        return;
    }
    if (!v->file.size) {
        host_say(scene, "a file needs a name");
        return;
    }
    text_clean(clean, sizeof clean, v->file.text, v->file.size);
    if (!v->over && file_is_there(v->file.text)) {
        v->over = true;
        host_say(scene, "%.300s is there already.  Enter overwrites it  f another name  Esc leaves",
                 clean);
        return;
    }
    if (file_write(v->file.text, v->text->text, v->text->size, v->over, &e)) {
        host_say_err(scene, &e);
        return;
    }
    host_note_saved(scene);
    host_say(scene, "wrote %.300s, %s, read again and equal", clean,
             units_bytes(size, (double)v->text->size));
    host_close(scene);
}

static void copy_text(struct panel *p)
{
    struct export_view *v = p->state;
    char size[UNITS_ROOM];

    take_result(v);
    if (!v->ready || !v->text)
        return;
    if (v->text->size > COPY_MOST)
        host_say(p->scene, "%s are more than a terminal takes; Enter writes a file",
                 units_bytes(size, (double)v->text->size));
    else
        host_copy(p->scene, v->text->text, v->text->size, chosen(v)->name);
}

/* The snapshot's plans in turn, and the relaxed one where there is one. */
static void next_plan(struct panel *p)
{
    struct export_view *v = p->state;
    const struct snapshot *s = p->scene->watch->shot;
    uint32_t next = 0;

    while (v->plan && next < s->plan_count && s->plans[next++] != v->plan) {
    }
    if (next >= s->plan_count && !v->relaxed.problem)
        next = 0;
    if (!s->plan_count)
        return;
    live_plan_release(v->plan);
    v->plan = next < s->plan_count ? live_plan_share(s->plans[next]) : NULL;
    begin_export(p);
}

static bool act_export(struct panel *p, int action)
{
    struct export_view *v = p->state;

    switch (action) {
    case EXPORT_WRITE:
        write_file(p);
        return true;
    case EXPORT_FILE:
        v->typing = true;
        v->over = false;
        return true;
    case EXPORT_PLAN:
        next_plan(p);
        return true;
    default:
        copy_text(p);
        return true;
    }
}

static void complete_name(struct panel *p)
{
    struct export_view *v = p->state;
    char most[EDIT_ROOM];
    struct str names = {0};
    int count = complete_path(v->file.text, most, sizeof most, &names);

    if (!count)
        host_say(p->scene, "no file begins so");
    else if (strcmp(most, v->file.text) != 0)
        edit_set(&v->file, most);
    else if (count > 1)
        host_say(p->scene, "%s", names.text);
    str_release(&names);
}

/* While the name is typed, keys go into it. */
static bool key_export(struct panel *p, uint32_t key)
{
    struct export_view *v = p->state;

    if (!v->typing)
        return false;
    if (key == KEYC_ENTER || key == KEYC_ESC) {
        v->typing = false;
        if (key == KEYC_ENTER)
            write_file(p);
        return true;
    }
    if (key == KEYC_TAB) {
        complete_name(p);
        return true;
    }
    v->is_named = true;
    return edit_key(&v->file, key) || key >= ' ';
}

/* Lines choose a form, pages turn the preview. */
static bool move_export(struct panel *p, enum list_move move)
{
    struct export_view *v = p->state;
    int64_t page = move == LIST_PAGE_UP || move == LIST_PAGE_DOWN ? 10 : 5;

    if (move == LIST_PAGE_UP || move == LIST_HALF_UP) {
        v->top = v->top > page ? v->top - page : 0;
        return true;
    }
    if (move == LIST_PAGE_DOWN || move == LIST_HALF_DOWN) {
        v->top += page; /* as far as there are lines: draw_text */
        return true;
    }
    if (list_move(&v->forms, move))
        begin_export(p);
    return true;
}

static void click_export(struct panel *p, int x, int y, bool twice)
{
    struct export_view *v = p->state;
    int first = 1 + (p->width >= WIDE || p->height >= 18);

    if (y < first || y >= first + v->forms.count || (p->width >= WIDE && x >= LIST_COLUMNS))
        return;
    if (y - first != v->forms.cursor) {
        list_go(&v->forms, y - first);
        begin_export(p);
    } else if (twice) {
        write_file(p);
    }
}

static bool export_works(const struct panel *p, int action)
{
    const struct export_view *v = p->state;

    return action != EXPORT_PLAN ||
           p->scene->watch->shot->plan_count + (v->relaxed.problem != NULL) > 1;
}

/* The form of that name, from the one under the cursor on. */
static bool find_export(struct panel *p, const struct match *m, int step)
{
    struct export_view *v = p->state;
    int64_t count = v->forms.count;

    for (int64_t i = step ? 1 : 0; i <= count; i++) {
        int64_t at = (v->forms.cursor + (step < 0 ? -i : i) + 2 * count) % count;
        if (!match_text(m, export_forms[at].name))
            continue;
        list_go(&v->forms, at);
        begin_export(p);
        return true;
    }
    return false;
}

const struct panel_ops view_export = {
    .find = find_export,
    .name = "export",
    .title = "Export",
    .place = PLACE_DIALOG,
    .keys = &export_keys,
    .hints = "write down=form file plan copy page-down=preview escape=leave",
    .size = sizeof(struct export_view),
    .open = open_export,
    .close = close_export,
    .draw = draw_export,
    .key = key_export,
    .act = act_export,
    .move = move_export,
    .works = export_works,
    .click = click_export,
    .dialog_rows = rows_export,
    .is_live = is_working,
    .settle = settle_export,
};
