/* The application: which views there are, which of them gets a key. */
#include "hlo/mem.h"
#include "engine/live/outcome.h"
#include "engine/plan/settings.h"
#include "tui/app_internal.h"
#include "tui/view_export.h"
#include "tui/view_help.h"
#include "tui/view_members.h"
#include "tui/view_memory.h"
#include "tui/view_palette.h"
#include "tui/view_pipeline.h"
#include "tui/view_plans.h"
#include "tui/view_race.h"
#include "tui/view_relaxed.h"
#include "tui/view_why.h"
#include "tui/watch.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const struct panel_ops *panel_by_name(const char *name)
{
    for (int i = 0; panel_list[i]; i++) {
        if (!strcmp(panel_list[i]->name, name))
            return panel_list[i];
    }
    return NULL;
}

static int build_keymap(struct app *a, struct err *e)
{
    int views = 0, count = 1;

    while (panel_list[views])
        views++;
    a->tables = mem_alloc(((size_t)views + 1) * sizeof *a->tables);
    a->tables[0] = &common_keys;
    for (int i = 0; i < views; i++) {
        if (panel_list[i]->keys)
            a->tables[count++] = panel_list[i]->keys;
    }
    a->keymap = keymap_new(a->tables, count, a->setup.mode);
    const struct yaml_doc *d = a->setup.config;
    const struct yaml *keys = d ? yaml_get(d->root, "keys") : NULL;
    return keys ? keymap_configure(a->keymap, d, keys, e) : 0;
}

int app_new(struct app **out, const struct app_setup *s, struct err *e)
{
    struct app *a = mem_alloc(sizeof *a);

    a->setup = *s;
    a->theme = s->theme;
    a->focus = PANEL_GRAPH;
    a->mouse = true;
    a->scene = (struct scene){.app = a, .ascii = s->ascii, .model_name = ""};
    a->dirty = true;
    if (build_keymap(a, e)) {
        app_free(a);
        return e->code;
    }
    *out = a;
    return 0;
}

static void free_panel(struct panel *p)
{
    if (!p)
        return;
    if (p->ops->close)
        p->ops->close(p);
    match_free(p->filter);
    free(p->state);
    free(p);
}

void app_free(struct app *a)
{
    if (!a)
        return;
    while (a->depth > 0)
        free_panel(a->stack[--a->depth]);
    for (int i = 0; i < PANEL_COUNT; i++)
        free_panel(a->placed[i]);
    tour_free(a->tour.script);
    keymap_free(a->keymap);
    free(a->tables);
    history_release(&a->history[0]);
    history_release(&a->history[1]);
    history_release(&a->history[2]);
    grid_release(&a->grid);
    app_drop_problem(a);
    str_release(&a->wish_text);
    free(a);
}

struct panel *app_top(const struct app *a)
{
    return a->depth > 0 ? a->stack[a->depth - 1] : a->placed[a->focus];
}

int app_open(struct app *a, const struct panel_ops *ops, const void *arg, struct err *e)
{
    if (a->depth == APP_DEPTH && ops->place != PLACE_LAYOUT)
        return err_set(e, ERR_LIMIT, "%d views are open; q closes one", APP_DEPTH);
    struct panel *p = mem_alloc(sizeof *p);
    p->ops = ops;
    p->scene = &a->scene;
    p->state = mem_alloc(ops->size);
    if (ops->open && ops->open(p, arg, e)) {
        free(p->state);
        free(p);
        return e->code;
    }
    if (ops->place == PLACE_LAYOUT) {
        free_panel(a->placed[ops->id]);
        a->placed[ops->id] = p;
    } else {
        a->stack[a->depth++] = p;
    }
    app_touch(a);
    return 0;
}

void app_drop_top(struct app *a)
{
    free_panel(a->stack[--a->depth]);
    app_touch(a);
}

void app_drop_placed(struct app *a, enum panel_id id)
{
    free_panel(a->placed[id]);
    a->placed[id] = NULL;
}

void app_close_top(struct app *a)
{
    if (a->depth == 0)
        return;
    app_drop_top(a);
    bool empty = a->depth == 0;
    for (int i = 0; i < PANEL_COUNT; i++)
        empty = empty && !a->placed[i];
    if (empty)
        a->done = true;
}

void app_go_to(struct app *a, hlo_id id)
{
    struct panel *graph = a->placed[PANEL_GRAPH];

    if (!graph || !graph->ops->go_to)
        return;
    while (a->depth > 0)
        app_drop_top(a);
    a->focus = PANEL_GRAPH;
    graph->ops->go_to(graph, id);
    app_touch(a);
}

void app_resize(struct app *a, int width, int height)
{
    a->width = width;
    a->height = height;
    app_touch(a);
}

void app_touch(struct app *a)
{
    a->dirty = true;
}

void app_time(struct app *a, double now_ms)
{
    a->scene.now_ms = now_ms;
}

void app_say(struct app *a, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(a->message, sizeof a->message, format, args);
    va_end(args);
    a->message_style = ROLE_TEXT;
    app_touch(a);
}

void app_say_err(struct app *a, const struct err *e)
{
    err_format(e, a->message, sizeof a->message);
    a->message_style = ROLE_ERR;
    app_touch(a);
}

void app_quit(struct app *a)
{
    a->done = true;
}

bool app_wants_mouse(const struct app *a)
{
    return a->mouse;
}

void app_ask(struct app *a, const char *text)
{
    app_prompt_open(a, PROMPT_COMMAND);
    edit_set(&a->line, text);
    app_touch(a);
}

bool app_is_done(const struct app *a)
{
    return a->done;
}

const struct keymap *app_keymap(const struct app *a)
{
    return a->keymap;
}

const struct theme *app_theme(const struct app *a)
{
    return &a->theme;
}

const struct app_setup *app_get_setup(const struct app *a)
{
    return &a->setup;
}

int app_set_theme(struct app *a, const char *name, struct err *e)
{
    if (theme_load(&a->theme, name, e))
        return e->code;
    a->theme_changed = true;
    app_touch(a);
    return 0;
}

bool app_theme_changed(struct app *a)
{
    bool changed = a->theme_changed;
    a->theme_changed = false;
    return changed;
}

enum app_wish app_take_wish(struct app *a, const char **text)
{
    enum app_wish wish = a->wish;
    a->wish = APP_NOTHING;
    *text = a->wish_text.text ? a->wish_text.text : "";
    return wish;
}

static void focus_on(struct app *a, enum panel_id id)
{
    if (a->depth > 0)
        return;
    if (!a->placed[id]) {
        app_say(a, "there is no panel %d here", (int)id);
        return;
    }
    a->focus = id;
}

/* A panel with all the room there is. */
static void show_alone(struct app *a, enum panel_id id)
{
    focus_on(a, id);
    a->zoom = a->depth == 0 && a->placed[id];
}

static void focus_next(struct app *a, int step)
{
    if (a->depth > 0)
        return;
    for (int i = 1; i <= PANEL_COUNT; i++) {
        int id = ((int)a->focus + step * i + PANEL_COUNT * PANEL_COUNT) % PANEL_COUNT;
        if (a->placed[id] && layout_panel(&a->layout, (enum panel_id)id)) {
            a->focus = (enum panel_id)id;
            return;
        }
    }
}

void app_copy(struct app *a, const char *text, size_t size, const char *what)
{
    str_clear(&a->wish_text);
    str_add_bytes(&a->wish_text, text, size);
    a->wish = APP_COPY;
    app_say(a, "copied %.200s", what);
}

void app_write_command(const struct app *a, struct str *out)
{
    struct problem_args args = a->opened;

    char edited[sizeof a->model_name + 16];
    snprintf(edited, sizeof edited, "%s.cluster.yaml", a->model_name);
    args.options = a->scene.problem->options;
    args.model = a->model_path;
    args.cluster = cluster_fingerprint(a->scene.cluster) != cluster_fingerprint(&a->problem->cluster) ? edited
                   : a->cluster_path[0]                                                               ? a->cluster_path
                                                                                                      : NULL;
    problem_args_write(&args, out);
}

void app_note_saved(struct app *a)
{
    a->saved_acts = a->watch ? a->watch->shot->acts : 0;
}

/* The same place seen as tree, in its neighbourhood, in its lane. */
static void next_graph_view(struct app *a)
{
    static const enum panel_id views[] = {PANEL_GRAPH, PANEL_FOCUS, PANEL_LANES};
    enum { VIEWS = sizeof views / sizeof *views };
    int at = 0;

    while (at < VIEWS && views[at] != a->focus)
        at++;
    struct panel *next = a->placed[views[(at + 1) % VIEWS]];
    if (a->depth > 0 || !next || !a->watch)
        return;
    a->focus = next->ops->id;
    if (next->ops->go_to && a->watch->here != HLO_NONE)
        next->ops->go_to(next, a->watch->here);
}

static void copy_name(struct app *a)
{
    struct panel *p = app_top(a);
    const char *name = p && p->ops->name_here ? p->ops->name_here(p) : NULL;
    if (!name) {
        app_say(a, "no name here to copy");
        return;
    }
    app_copy(a, name, strlen(name), name);
}

/* The row of the hardware cursor, as it stands in its panel. */
static void copy_line(struct app *a)
{
    struct str all = {0};
    const struct rect *r = a->depth > 0 ? &a->top_area : layout_panel(&a->layout, a->focus);
    int y = a->grid.cursor_y;

    if (!r || y < r->y || y >= r->y + r->height) {
        app_say(a, "no line here to copy");
        return;
    }
    struct grid row = {0};
    grid_resize(&row, r->width, 1);
    memcpy(row.cells, a->grid.cells + (size_t)y * (size_t)a->grid.width + r->x, (size_t)r->width * sizeof *row.cells);
    grid_text(&row, &all);
    while (all.size && (all.text[all.size - 1] == ' ' || all.text[all.size - 1] == '\n'))
        all.text[--all.size] = 0;
    app_copy(a, all.text ? all.text : "", all.size, all.text ? all.text : "");
    str_release(&all);
    grid_release(&row);
}

/* The command line that makes the best plan again. */
static void copy_command(struct app *a)
{
    struct str text = {0};
    struct plan plan = {0};
    struct err e = {0};
    const struct snapshot *s = a->watch ? a->watch->shot : NULL;
    struct live_plan *best = !s ? NULL : s->best ? s->best : s->plan_count ? s->plans[0] : NULL;

    if (!best) {
        app_say(a, "no plan yet; Space searches");
        return;
    }
    app_write_command(a, &text);
    int rc = outcome_plan_shown(s, best, &plan, &e);
    if (!rc)
        rc = plan_settings_write(&plan, " --set ", &text, &e);
    plan_release(&plan);
    if (rc)
        app_say_err(a, &e);
    else
        app_copy(a, text.text, text.size, text.text);
    str_release(&text);
}

static void find(struct app *a, int step)
{
    struct panel *p = app_top(a);
    struct match *m = match_new(a->pattern);

    if (!p || !p->ops->find)
        app_say(a, "nothing to search here");
    else if (!m)
        app_say(a, "/ searches; n and N repeat it");
    else if (!p->ops->find(p, m, step))
        app_say(a, "no %s", a->pattern);
    match_free(m);
}

void app_set_filter(struct app *a, struct panel *p, const char *pattern)
{
    struct match *before = p->filter;

    p->filter = match_new(pattern);
    p->ops->filter(p);
    match_free(before);
    app_touch(a);
}

static void ask_filter(struct app *a)
{
    const struct panel *p = app_top(a);

    if (!p || !p->ops->filter) {
        app_say(a, "nothing to filter here");
        return;
    }
    app_prompt_open(a, PROMPT_FILTER);
    edit_set(&a->line, p->filter ? match_pattern(p->filter) : "");
}

/* ---- jump labels ---- */

struct rect app_jump_area(const struct app *a)
{
    const struct panel *p = app_top(a);
    const struct rect *r = a->depth > 0 ? NULL : layout_panel(&a->layout, a->focus);

    if (!p || !p->ops->click)
        return (struct rect){0};
    return a->depth > 0 ? a->top_area : r ? (struct rect){r->x, r->y + 1, r->width, r->height - 1} : (struct rect){0};
}

/* Blank, or all dim as titles of columns are. */
static bool is_blank(const struct grid *g, const struct rect *r, int y)
{
    const struct cell *row = g->cells + (size_t)(r->y + y) * (size_t)g->width + r->x;

    for (int x = 0; x < r->width; x++) {
        if (row[x].ch != ' ' && row[x].ch && (row[x].style & 0xff) != ROLE_DIM)
            return false;
    }
    return true;
}

char app_jump_letter(const struct app *a, const struct rect *r, int y)
{
    static const char letters[] = "asdfghjklqwertyuiopzxcvbnmASDFGHJKLQWERTYUIOPZXCVBNM";
    int at = 0;

    for (int n = 0; n <= y && n < r->height; n++) {
        bool blank = is_blank(&a->grid, r, n);
        if (n == y)
            return !blank && at < (int)sizeof letters - 1 ? letters[at] : 0;
        at += !blank;
    }
    return 0;
}

static void jump(struct app *a, uint32_t key)
{
    struct rect r = app_jump_area(a);

    a->jumping = false;
    for (int y = 0; y < r.height && r.y + y < a->grid.height; y++) {
        char letter = app_jump_letter(a, &r, y);
        if (letter && (uint32_t)letter == key) {
            app_click(a, r.x, r.y + y, false);
            return;
        }
    }
    if (key != KEYC_ESC)
        app_say(a, "no row has this letter");
}

static void begin_jump(struct app *a)
{
    a->jumping = app_jump_area(a).height > 0;
    if (!a->jumping)
        app_say(a, "no rows to jump to here");
}

static void open_over(struct app *a, const struct panel_ops *ops, const void *arg)
{
    struct err e = {0};
    if (app_open(a, ops, arg, &e))
        app_say_err(a, &e);
}

int app_unsaved_pins(const struct app *a)
{
    const struct snapshot *s = a->watch ? a->watch->shot : NULL;

    if (!s || a->is_journaled || s->acts == a->saved_acts)
        return 0;
    int count = 0;
    for (int n = 0; n < a->watch->move_count; n++)
        count += a->watch->move[n].pinned;
    return count;
}

static void ask_to_quit(struct app *a)
{
    if (app_unsaved_pins(a))
        app_prompt_open(a, PROMPT_QUIT);
    else
        app_quit(a);
}

static void close_view(struct app *a)
{
    if (a->depth > 0)
        app_close_top(a);
    else
        ask_to_quit(a);
}

/* Escape leaves one thing after the other, and never the program. */
static void escape(struct app *a)
{
    if (a->depth > 1 || (a->depth == 1 && a->placed[a->focus]))
        app_close_top(a);
    else if (a->zoom)
        a->zoom = false;
    else
        app_say(a, "q quits");
}

static void wish(struct app *a, enum app_wish w)
{
    a->wish = w;
}

static void act_common(struct app *a, int action)
{
    static const enum list_move moves[] = {LIST_DOWN,    LIST_UP,        LIST_PAGE_DOWN,
                                           LIST_PAGE_UP, LIST_HALF_DOWN, LIST_HALF_UP,
                                           LIST_FIRST,   LIST_LAST};
    struct panel *p = app_top(a);

    if (action >= ACT_PANEL_0 && action <= ACT_PANEL_9) {
        focus_on(a, (enum panel_id)(action - ACT_PANEL_0));
        return;
    }
    if (action >= ACT_DOWN && action <= ACT_LAST) {
        if (p && p->ops->move)
            p->ops->move(p, moves[action - ACT_DOWN]);
        return;
    }
    if (app_steer(a, action))
        return;
    switch (action) {
    case ACT_SEARCH:
        app_prompt_open(a, PROMPT_SEARCH);
        return;
    case ACT_FILTER:
        ask_filter(a);
        return;
    case ACT_JUMP:
        begin_jump(a);
        return;
    case ACT_COMMAND:
        app_prompt_open(a, PROMPT_COMMAND);
        return;
    case ACT_SEARCH_NEXT:
    case ACT_SEARCH_LAST:
        find(a, action == ACT_SEARCH_NEXT ? 1 : -1);
        return;
    case ACT_EXPORT:
        open_over(a, &view_export, p && p->ops->plan_here ? p->ops->plan_here(p) : NULL);
        return;
    case ACT_COPY:
        copy_name(a);
        return;
    case ACT_COPY_LINE:
        copy_line(a);
        return;
    case ACT_COPY_COMMAND:
        copy_command(a);
        return;
    case ACT_SAVE_SCREEN:
        app_command(a, "save-screen");
        return;
    case ACT_PANEL_NEXT:
    case ACT_PANEL_LAST:
        focus_next(a, action == ACT_PANEL_NEXT ? 1 : -1);
        return;
    case ACT_ZOOM:
        a->zoom = !a->zoom && a->depth == 0;
        return;
    case ACT_NARROWER:
    case ACT_WIDER:
        a->split += action == ACT_WIDER ? 2 : -2;
        return;
    case ACT_MOUSE:
        a->mouse = !a->mouse;
        wish(a, APP_MOUSE);
        app_say(a, a->mouse ? "mouse on" : "mouse off: the terminal selects text");
        return;
    case ACT_REDRAW:
        wish(a, APP_REDRAW);
        return;
    case ACT_STOP:
        wish(a, APP_STOP);
        return;
    case ACT_WHY:
        open_over(a, &view_why, p);
        return;
    case ACT_GRAPH_VIEW:
        next_graph_view(a);
        return;
    case ACT_MEMORY:
        open_over(a, &view_memory, p && p->ops->plan_here ? p->ops->plan_here(p) : NULL);
        return;
    case ACT_RACE:
        open_over(a, &view_race, NULL);
        return;
    case ACT_PIPELINE:
        open_over(a, &view_pipeline, NULL);
        return;
    case ACT_RELAXED:
        open_over(a, &view_relaxed, NULL);
        return;
    case ACT_FORBIDDEN:
        open_over(a, &view_members, NULL);
        return;
    case ACT_COST:
    case ACT_DEVICES:
        show_alone(a, action == ACT_COST ? PANEL_COST : PANEL_DEVICES);
        return;
    case ACT_PLANS:
        open_over(a, &view_plans, NULL);
        return;
    case ACT_TOURS:
        app_tours(a);
        return;
    case ACT_HELP:
        open_over(a, &view_help, p);
        return;
    case ACT_PALETTE:
        open_over(a, &view_palette, p);
        return;
    case ACT_CLOSE:
        close_view(a);
        return;
    case ACT_QUIT:
        ask_to_quit(a);
        return;
    case ACT_ESCAPE:
        escape(a);
        return;
    default:
        BUG_ON(action >= 0);
    }
}

void app_act(struct app *a, const struct key_table *t, int action)
{
    struct panel *p = app_top(a);

    app_touch(a);
    if (t == &common_keys)
        act_common(a, action);
    else if (p && p->ops->keys == t && p->ops->act)
        p->ops->act(p, action);
}

/* What was typed in a row, as a person would write it. */
static void say_unknown(struct app *a)
{
    struct key_sequence s = {{0}};
    char text[KEYS_TEXT_ROOM];
    memcpy(s.keys, a->typed, (size_t)a->typed_count * sizeof *s.keys);
    app_say(a, "%s means nothing here. ? lists the keys.", key_sequence_name(text, &s));
}

void app_key(struct app *a, uint32_t key)
{
    struct panel *p = app_top(a);
    const struct key_table *table = NULL;
    int action = 0;

    a->message[0] = 0;
    app_touch(a);
    if (a->prompt != PROMPT_NONE) {
        app_prompt_key(a, key);
        return;
    }
    if (app_tour_key(a, key))
        return;
    if (a->jumping) {
        jump(a, key);
        return;
    }
    if (!a->typed_count && p && p->ops->key && p->ops->key(p, key))
        return;
    if (a->typed_count && key == KEYC_ESC) {
        a->typed_count = 0;
        return;
    }
    a->typed[a->typed_count++] = key;
    switch (keymap_find(a->keymap, p ? p->ops->keys : NULL, a->typed, a->typed_count, &table,
                        &action)) {
    case KEY_MORE:
        return;
    case KEY_ACTION:
        a->typed_count = 0;
        app_act(a, table, action);
        return;
    case KEY_NONE:
        say_unknown(a);
        a->typed_count = 0;
        return;
    }
}

void app_pasted(struct app *a, uint32_t key)
{
    struct panel *p = app_top(a);

    app_touch(a);
    if (key == KEYC_ENTER || key == KEYC_TAB)
        key = ' ';
    if (key >= KEY_FIRST_NAMED || key < ' ')
        return;
    if (a->prompt != PROMPT_NONE)
        app_prompt_key(a, key);
    else if (p && p->ops->place != PLACE_LAYOUT && p->ops->key)
        p->ops->key(p, key);
}

static struct panel *panel_at(struct app *a, int x, int y, struct rect *area)
{
    if (a->depth > 0) {
        *area = a->top_area;
        return a->stack[a->depth - 1];
    }
    for (int i = 0; i < a->layout.panel_count; i++) {
        struct rect r = a->layout.panels[i].area;
        if (x >= r.x && x < r.x + r.width && y >= r.y && y < r.y + r.height) {
            *area = (struct rect){r.x, r.y + 1, r.width, r.height - 1};
            return a->placed[a->layout.panels[i].id];
        }
    }
    return NULL;
}

/* A click on a hint is as its key. */
static bool click_hint(struct app *a, int x, int y)
{
    for (int n = 0; a->prompt == PROMPT_NONE && n < a->hint_count; n++) {
        const struct hint_spot *h = &a->hints[n];
        if (y == h->y && x >= h->x && x < h->x + h->width) {
            app_act(a, h->table, h->action);
            return true;
        }
    }
    return false;
}

void app_click(struct app *a, int x, int y, bool twice)
{
    if (click_hint(a, x, y))
        return;
    struct rect area = {0};
    struct panel *p = a->prompt == PROMPT_NONE ? panel_at(a, x, y, &area) : NULL;

    if (!p)
        return;
    app_touch(a);
    if (p->ops->place == PLACE_LAYOUT)
        a->focus = p->ops->id;
    if (p->ops->place == PLACE_LAYOUT && twice && y == area.y - 1)
        a->zoom = !a->zoom; /* on its title */
    if (p->ops->click && y >= area.y && y < area.y + area.height)
        p->ops->click(p, x - area.x, y - area.y, twice);
}

void app_wheel(struct app *a, int x, int y, int steps)
{
    struct rect area = {0};
    struct panel *p = a->prompt == PROMPT_NONE ? panel_at(a, x, y, &area) : NULL;

    if (!p || !p->ops->move)
        return;
    app_touch(a);
    for (int i = 0; i < 3 * (steps < 0 ? -steps : steps); i++)
        p->ops->move(p, steps < 0 ? LIST_UP : LIST_DOWN);
}

static bool any_live(const struct app *a)
{
    struct panel *top = app_top(a);
    if (top && top->ops->is_live && top->ops->is_live(top))
        return true;
    for (int i = 0; i < PANEL_COUNT; i++) {
        struct panel *p = a->placed[i];
        if (p && p->ops->is_live && p->ops->is_live(p))
            return true;
    }
    return false;
}

/* How long a snapshot may wait to be looked at. */
static double look_ms(const struct app *a)
{
    double pace = a->watch->shot->pace;
    if (pace > 0 && pace <= CALM_PER_SECOND)
        return 1000 / pace < LIVE_MS ? 1000 / pace / 2 : 33;
    return a->watch->shot->state == LIVE_RUNNING ? LIVE_MS : 33;
}

static double first_of(double x, double y)
{
    return x < 0 || (y >= 0 && y < x) ? y : x;
}

double app_next_ms(const struct app *a)
{
    double next = any_live(a) ? a->drawn_ms + LIVE_MS : -1;

    if (a->dirty)
        return a->scene.now_ms;
    if (a->woken && !a->frozen)
        next = first_of(next, a->looked_ms + look_ms(a));
    if (app_tour_is_busy(a))
        next = first_of(next, a->scene.now_ms + 33);
    if (a->watch)
        next = first_of(next, wave_next_ms(&a->watch->wave));
    return next;
}

/* Lit in the order it happened, before the next decision comes. A screen without a clock shows its end. */
static void play_wave(struct app *a)
{
    const struct snapshot *s = a->watch->shot;
    double ms = s->state == LIVE_RUNNING && s->pace > 0 ? 800 / s->pace / (a->watch->wave.steps + 1) : 0;

    wave_play(&a->watch->wave, a->scene.now_ms, ms > 0 && ms < 60 ? ms : 0);
}

void app_look(struct app *a)
{
    struct err e = {0};

    a->woken = false;
    a->looked_ms = a->scene.now_ms;
    a->asked_pace = -1;
    uint64_t decision = a->watch->wave.decision;
    watch_read(a->watch);
    if (a->watch->is_stale)
        app_follow_edit(a);
    else if (a->scene.now_ms > 0 && a->watch->wave.decision != decision)
        play_wave(a);
    for (int i = 0; i < PANEL_COUNT; i++) {
        if (a->placed[i] && a->placed[i]->ops->read)
            a->placed[i]->ops->read(a->placed[i]);
    }
    for (int i = 0; i < a->depth; i++) {
        if (a->stack[i]->ops->read)
            a->stack[i]->ops->read(a->stack[i]);
    }
    uint64_t refused = session_refused(a->session, &e);
    if (refused != a->refused) {
        a->refused = refused;
        app_say_err(a, &e);
    }
    app_touch(a);
}

int app_wake_fd(const struct app *a)
{
    return a->session ? session_fd(a->session) : -1;
}

void app_woken(struct app *a)
{
    a->woken = a->session != NULL;
}

struct watch *app_watch(const struct app *a)
{
    return a->watch;
}

void app_settle(struct app *a, double seconds)
{
    struct panel *top = app_top(a);

    if (top && top->ops->settle)
        top->ops->settle(top);
    if (!a->session)
        return;
    (void)session_wait_idle(a->session, seconds);
    app_look(a);
}

int app_tell(struct app *a, const char *line, struct err *e)
{
    struct live_command c;

    if (!a->session)
        return err_set(e, ERR_INPUT, "no model is open");
    if (live_command_parse(line, &c, e) || session_wait(a->session, session_send(a->session, &c), 60, e))
        return e->code;
    if (c.verb == COMMAND_DECIDE || c.verb == COMMAND_EPISODE)
        (void)session_wait_idle(a->session, 600);
    app_look(a);
    return 0;
}

const struct grid *app_frame(struct app *a)
{
    if (a->woken && !a->frozen && (a->looked_ms + look_ms(a) <= a->scene.now_ms))
        app_look(a);
    app_tour_tick(a);
    if (a->watch && wave_tick(&a->watch->wave, a->scene.now_ms))
        app_touch(a);
    double next = app_next_ms(a);
    if (next < 0 || next > a->scene.now_ms || a->width < 1)
        return NULL;
    a->dirty = false;
    a->drawn_ms = a->scene.now_ms;
    app_draw(a);
    return &a->grid;
}
