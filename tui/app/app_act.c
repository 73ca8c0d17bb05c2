/* The actions that mean the same everywhere: what each of them does, one row of a table. */
#include "engine/live/snapshot.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "tui/app/app.h"
#include "tui/app/app_internal.h"
#include "tui/app/script.h"
#include "tui/app/user_command.h"
#include "tui/screen/edit.h"
#include "tui/screen/keys.h"
#include "tui/screen/layout.h"
#include "tui/screen/list.h"
#include "tui/screen/match.h"
#include "tui/views/actions.h"
#include "tui/views/panel.h"
#include "tui/views/views.h"
#include "tui/watch/placing.h"
#include "tui/watch/watch.h"

#include <stdio.h>

/* ---- the focus ---- */

/* Keys of the panels do nothing while a view is over them: it says so. */
static bool is_covered(struct app *a)
{
    if (a->depth > 0 && a->placed[a->focus])
        app_say(a, "%s is over the panels; Esc closes it", app_top(a)->ops->title);
    return a->depth > 0;
}

static void focus_on(struct app *a, int id)
{
    if (is_covered(a))
        return;
    if (!a->placed[id]) {
        app_say(a, "there is no panel %d here", id);
        return;
    }
    a->focus = (enum panel_id)id;
}

/* A panel with all the room there is. */
static void show_alone(struct app *a, int id)
{
    focus_on(a, id);
    if (a->depth == 0)
        a->zoom = a->placed[id] != NULL;
}

static void focus_next(struct app *a, int step)
{
    if (is_covered(a))
        return;
    for (int i = 1; i <= PANEL_COUNT; i++) {
        int id = ((int)a->focus + step * i + PANEL_COUNT * PANEL_COUNT) % PANEL_COUNT;
        if (a->placed[id] && layout_panel(&a->layout, (enum panel_id)id)) {
            a->focus = (enum panel_id)id;
            return;
        }
    }
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
    if (is_covered(a) || !next || !a->watch)
        return;
    a->focus = next->ops->id;
    if (next->ops->go_to && a->watch->here != HLO_NONE)
        next->ops->go_to(next, a->watch->here);
}

static void toggle_zoom(struct app *a)
{
    if (!is_covered(a))
        a->zoom = !a->zoom;
}

static void resize_split(struct app *a, int step)
{
    if (!is_covered(a))
        a->split += step;
}

static void move_cursor(struct app *a, int how)
{
    struct panel *p = app_top(a);

    if (p && p->ops->move)
        p->ops->move(p, (enum list_move)how);
    else if (p)
        app_say(a, "there are no rows here");
}

/* ---- asking ---- */

/* The panel with the keys first, then the others of the screen, which get the keys. */
static bool find_wide(struct app *a, const struct match *m, int step)
{
    if (app_top(a)->ops->find && app_top(a)->ops->find(app_top(a), m, step))
        return true;
    for (int i = 0; i < PANEL_COUNT && a->depth == 0; i++) {
        struct panel *p = a->placed[i];
        if (!p || i == (int)a->focus || !p->ops->find || !layout_panel(&a->layout, p->ops->id) ||
            !p->ops->find(p, m, 0))
            continue;
        a->focus = p->ops->id;
        return true;
    }
    return false;
}

/* "//words": in all of the screen; "/words": in the panel with the keys. */
static void find_step(struct app *a, int step)
{
    struct panel *p = app_top(a);
    bool wide = a->pattern[0] == '/';
    struct match *m = match_new(a->pattern + wide);

    if (!p || (!p->ops->find && !wide))
        app_say(a, "nothing to search here");
    else if (!m)
        app_say(a, "/ searches; n and N repeat it");
    else {
        if (a->depth == 0)
            app_note_place(a);
        if (wide && !find_wide(a, m, step))
            app_say(a, "nothing on the screen holds %s; C-p finds everything", a->pattern + 1);
        else if (!wide && !p->ops->find(p, m, step))
            app_say(a, "nothing in %s holds %s; // searches all panels, C-p everything",
                    p->ops->title, a->pattern);
    }
    match_free(m);
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

static void open_prompt(struct app *a, int kind)
{
    app_prompt_open(a, (enum prompt)kind);
}

/* ---- leaving ---- */

static void ask_to_quit(struct app *a)
{
    if (app_unsaved_pins(a))
        app_prompt_open(a, PROMPT_QUIT);
    else
        a->done = true;
}

/* Q leaves at once what its journal keeps; q, which closes a view everywhere else, asks first where
 * somebody is at work: pins, or a search that runs. */
static void close_view(struct app *a)
{
    bool is_tour = a->is_journaled && !a->journal[0]; /* nothing of it can be lost */
    bool is_at_work =
        !is_tour && (app_pins(a) || (a->watch && a->watch->shot->state == LIVE_RUNNING));

    if (a->depth > 0)
        app_close_top(a);
    else if (is_at_work)
        app_prompt_open(a, PROMPT_QUIT);
    else
        ask_to_quit(a);
}

/* Escape leaves one thing after the other, and never the program. */
static void escape(struct app *a)
{
    struct panel *p = app_top(a);

    if (p && p->filter)
        app_set_filter(a, p, "");
    else if (a->depth > 1 || (a->depth == 1 && a->placed[a->focus]))
        app_close_top(a);
    else if (a->zoom)
        a->zoom = false;
    else
        app_say(a, "q quits");
}

/* ---- what the loop has to do ---- */

static void make_wish(struct app *a, int wish)
{
    a->wish = (enum app_wish)wish;
}

static void toggle_mouse(struct app *a)
{
    a->mouse = !a->mouse;
    make_wish(a, APP_MOUSE);
    app_say(a, a->mouse ? "mouse on" : "mouse off: the terminal selects text");
}

static void save_screen(struct app *a)
{
    (void)app_command(a, "save-screen");
}

/* An operator graph has its placement and nothing else to go to: back to it from what is above, or
 * opened again from the start screen, which came when it was closed. */
static void show_placement(struct app *a)
{
    bool is_open = a->depth > 0 && a->stack[0]->ops == &view_place;
    struct err e = {0};

    if (a->graph && is_open && a->depth == 1)
        app_say(a, "this is the placement of the graph; :open opens a model");
    while (a->graph && is_open && a->depth > 1)
        app_drop_top(a);
    if (is_open && a->graph)
        return;
    struct place_opening o = {a->graph ? placing_graph_share(a->graph) : NULL, NULL};
    while (a->graph && a->depth > 0)
        app_drop_top(a);
    if (app_open(a, &view_place, a->graph ? &o : NULL, &e)) {
        if (o.graph)
            placing_graph_release(o.graph);
        app_say_err(a, &e);
    }
}

/* A dump is partitioned already; the program that is open is not. */
static void ask_doctor(struct app *a)
{
    if (app_top(a) && app_top(a)->ops == &view_doctor)
        app_say(a, "this is the doctor: b gives the program before, c another cluster");
    else
        app_ask(a, "doctor ");
}

/* ---- the table ---- */

enum about { ABOUT_NOTHING, ABOUT_PANEL, ABOUT_PLAN };

/* One of three: a function, one that takes an argument, a view to open over what is there. */
struct handler {
    void (*act)(struct app *a);
    void (*act_with)(struct app *a, int argument);
    int argument;
    const struct panel_ops *view;
    enum about
        about; /* what the view is opened with: nothing, the panel that had the key, its plan */
};

static void open_over(struct app *a, const struct handler *h);

/* What is on the screen as a page, where a view has one; else a plan. */
static void export_or_page(struct app *a)
{
    const struct panel *p = app_top(a);
    char line[EDIT_ROOM];

    if (p && p->ops->page && p->ops->page(p, NULL)) {
        snprintf(line, sizeof line, "page %.100s.%s.md", a->scene.model_name, p->ops->name);
        app_ask(a, line);
        return;
    }
    const char *asked = p && p->ops->export_line ? p->ops->export_line(p) : NULL;
    if (asked)
        app_ask(a, asked);
    else
        open_over(a, &(struct handler){.view = &view_export, .about = ABOUT_PANEL});
}

static const struct handler handlers[ACT_COUNT] = {
    [ACT_RUN] = {.act_with = app_steer, .argument = ACT_RUN},
    [ACT_DECIDE] = {.act_with = app_steer, .argument = ACT_DECIDE},
    [ACT_EPISODE] = {.act_with = app_steer, .argument = ACT_EPISODE},
    [ACT_SLOWER] = {.act_with = app_steer, .argument = ACT_SLOWER},
    [ACT_FASTER] = {.act_with = app_steer, .argument = ACT_FASTER},
    [ACT_FREEZE] = {.act_with = app_steer, .argument = ACT_FREEZE},
    [ACT_PIN] = {.act_with = app_steer, .argument = ACT_PIN},
    [ACT_PINS] = {.act_with = app_steer, .argument = ACT_PINS},
    [ACT_BACKTRACK] = {.act_with = app_steer, .argument = ACT_BACKTRACK},
    [ACT_OPTIONS] = {.act_with = app_steer, .argument = ACT_OPTIONS},
    [ACT_ROLE] = {.act_with = app_steer, .argument = ACT_ROLE},
    [ACT_UNDO] = {.act_with = app_steer, .argument = ACT_UNDO},
    [ACT_REDO] = {.act_with = app_steer, .argument = ACT_REDO},
    [ACT_WHY] = {.view = &view_why, .about = ABOUT_PANEL},
    [ACT_SEARCH] = {.act_with = open_prompt, .argument = PROMPT_SEARCH},
    [ACT_SEARCH_NEXT] = {.act_with = find_step, .argument = 1},
    [ACT_SEARCH_LAST] = {.act_with = find_step, .argument = -1},
    [ACT_GO_BACK] = {.act = app_go_back},
    [ACT_FILTER] = {.act = ask_filter},
    [ACT_JUMP] = {.act = app_jump_begin},
    [ACT_WORD] = {.act = app_words_begin},
    [ACT_EXPORT] = {.act = export_or_page},
    [ACT_COPY] = {.act = app_copy_name},
    [ACT_COPY_LINE] = {.act = app_copy_line},
    [ACT_COPY_COMMAND] = {.act = app_copy_command},
    [ACT_SAVE_SCREEN] = {.act = save_screen},
    [ACT_PANEL_0] = {.act_with = focus_on, .argument = 0},
    [ACT_PANEL_0 + 1] = {.act_with = focus_on, .argument = 1},
    [ACT_PANEL_0 + 2] = {.act_with = focus_on, .argument = 2},
    [ACT_PANEL_0 + 3] = {.act_with = focus_on, .argument = 3},
    [ACT_PANEL_0 + 4] = {.act_with = focus_on, .argument = 4},
    [ACT_PANEL_0 + 5] = {.act_with = focus_on, .argument = 5},
    [ACT_PANEL_0 + 6] = {.act_with = focus_on, .argument = 6},
    [ACT_PANEL_0 + 7] = {.act_with = focus_on, .argument = 7},
    [ACT_PANEL_0 + 8] = {.act_with = focus_on, .argument = 8},
    [ACT_PANEL_9] = {.act_with = focus_on, .argument = 9},
    [ACT_PANEL_NEXT] = {.act_with = focus_next, .argument = 1},
    [ACT_PANEL_LAST] = {.act_with = focus_next, .argument = -1},
    [ACT_GRAPH_VIEW] = {.act = next_graph_view},
    [ACT_PLANS] = {.view = &view_plans},
    [ACT_WHAT_IF] = {.view = &view_ledger},
    [ACT_PAST] = {.view = &view_past},
    [ACT_CLASS] = {.view = &view_class},
    [ACT_MEMORY] = {.view = &view_memory, .about = ABOUT_PLAN},
    [ACT_COST] = {.act_with = show_alone, .argument = PANEL_COST},
    [ACT_DEVICES] = {.act_with = show_alone, .argument = PANEL_DEVICES},
    [ACT_FORBIDDEN] = {.view = &view_members},
    [ACT_RACE] = {.view = &view_race},
    [ACT_PIPELINE] = {.view = &view_pipeline},
    [ACT_HYBRID] = {.view = &view_hybrid},
    [ACT_PLACE] = {.act = show_placement},
    [ACT_RELAXED] = {.view = &view_relaxed},
    [ACT_DOCTOR] = {.act = ask_doctor},
    [ACT_ZOOM] = {.act = toggle_zoom},
    [ACT_NARROWER] = {.act_with = resize_split, .argument = -2},
    [ACT_WIDER] = {.act_with = resize_split, .argument = 2},
    [ACT_MOUSE] = {.act = toggle_mouse},
    [ACT_REDRAW] = {.act_with = make_wish, .argument = APP_REDRAW},
    [ACT_DOWN] = {.act_with = move_cursor, .argument = LIST_DOWN},
    [ACT_UP] = {.act_with = move_cursor, .argument = LIST_UP},
    [ACT_PAGE_DOWN] = {.act_with = move_cursor, .argument = LIST_PAGE_DOWN},
    [ACT_PAGE_UP] = {.act_with = move_cursor, .argument = LIST_PAGE_UP},
    [ACT_HALF_DOWN] = {.act_with = move_cursor, .argument = LIST_HALF_DOWN},
    [ACT_HALF_UP] = {.act_with = move_cursor, .argument = LIST_HALF_UP},
    [ACT_FIRST] = {.act_with = move_cursor, .argument = LIST_FIRST},
    [ACT_LAST] = {.act_with = move_cursor, .argument = LIST_LAST},
    [ACT_COMMAND] = {.act_with = open_prompt, .argument = PROMPT_COMMAND},
    [ACT_FIND] = {.view = &view_find},
    [ACT_TOURS] = {.act = app_tours},
    [ACT_HELP] = {.view = &view_help, .about = ABOUT_PANEL},
    [ACT_CLOSE] = {.act = close_view},
    [ACT_QUIT] = {.act = ask_to_quit},
    [ACT_ESCAPE] = {.act = escape},
    [ACT_STOP] = {.act_with = make_wish, .argument = APP_STOP},
};

static void open_over(struct app *a, const struct handler *h)
{
    struct panel *p = app_top(a);
    const void *plan = p && p->ops->plan_here ? p->ops->plan_here(p) : NULL;
    struct err e = {0};

    if (app_open(a, h->view,
                 h->about == ABOUT_PANEL  ? p
                 : h->about == ABOUT_PLAN ? plan
                                          : NULL,
                 &e))
        app_say_err(a, &e);
}

static void act_common(struct app *a, int action)
{
    const struct handler *h = &handlers[action];

    BUG_ON(!h->act && !h->act_with && !h->view);
    if (h->act)
        h->act(a);
    else if (h->act_with)
        h->act_with(a, h->argument);
    else
        open_over(a, h);
}

void app_act(struct app *a, const struct key_table *t, int action)
{
    struct panel *p = app_top(a);

    app_touch(a);
    if (t == &common_keys)
        act_common(a, action);
    else if (a->user && t == user_commands_keys(a->user))
        user_commands_act(a, action);
    else if (p && p->ops->keys == t && p->ops->act)
        p->ops->act(p, action);
}
