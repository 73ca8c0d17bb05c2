/* The application: which views there are, what they are told, when a frame is due. */
#include "tui/app/app.h"

#include "engine/live/command.h"
#include "engine/live/journal.h"
#include "engine/live/series.h"
#include "engine/live/session.h"
#include "engine/live/snapshot.h"
#include "engine/search/game.h"
#include "engine/text/units.h"
#include "engine/text/yaml.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "tui/app/app_internal.h"
#include "tui/app/record.h"
#include "tui/app/script.h"
#include "tui/app/user_command.h"
#include "tui/files/theme_file.h"
#include "tui/files/tour.h"
#include "tui/screen/edit.h"
#include "tui/screen/grid.h"
#include "tui/screen/keys.h"
#include "tui/screen/layout.h"
#include "tui/screen/list.h"
#include "tui/screen/match.h"
#include "tui/screen/theme.h"
#include "tui/views/actions.h"
#include "tui/views/panel.h"
#include "tui/views/views.h"
#include "tui/watch/fewer_job.h"
#include "tui/watch/question.h"
#include "tui/watch/watch.h"
#include "tui/watch/wave.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static int build_keymap(struct app *a, struct err *e)
{
    int views = 0, count = 1;

    while (panel_list[views])
        views++;
    a->tables = mem_alloc(((size_t)views + 2) * sizeof *a->tables);
    a->tables[0] = &common_keys;
    for (int i = 0; i < views; i++) {
        if (panel_list[i]->keys)
            a->tables[count++] = panel_list[i]->keys;
    }
    a->user = user_commands_new(a);
    a->scene.user_keys = user_commands_keys(a->user);
    if (a->user)
        a->tables[count++] = a->scene.user_keys;
    a->keymap = keymap_new(a->tables, count, a->setup.mode);
    a->scene.keymap = a->keymap;
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
    a->scene = (struct scene){.host = &app_host,
                              .app = a,
                              .ascii = s->ascii,
                              .model_name = "",
                              .journal = "",
                              .theme = &a->theme,
                              .grid = &a->grid,
                              .data_dir = s->data_dir,
                              .state_dir = s->state_dir,
                              .today = s->today};
    a->dirty = true;
    if (build_keymap(a, e)) {
        app_free(a);
        return e->code;
    }
    *out = a;
    return 0;
}

void app_free_panel(struct panel *p)
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
    app_record_end(a);
    user_commands_free(a->user);
    app_leave_loading(a);
    while (a->depth > 0)
        app_free_panel(a->stack[--a->depth]);
    for (int i = 0; i < PANEL_COUNT; i++)
        app_free_panel(a->placed[i]);
    tour_free(a->tour.script);
    free(a->shipped);
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
        app_free_panel(a->placed[ops->id]);
        a->placed[ops->id] = p;
    } else {
        a->stack[a->depth++] = p;
    }
    app_touch(a);
    return 0;
}

void app_drop_top(struct app *a)
{
    app_free_panel(a->stack[--a->depth]);
    app_touch(a);
}

void app_drop_placed(struct app *a, enum panel_id id)
{
    app_free_panel(a->placed[id]);
    a->placed[id] = NULL;
}

void app_close_top(struct app *a)
{
    if (a->depth == 0)
        return;
    bool was_start = a->stack[a->depth - 1]->ops == &view_start;
    app_drop_top(a);
    bool empty = a->depth == 0;
    for (int i = 0; i < PANEL_COUNT; i++)
        empty = empty && !a->placed[i];
    struct err e;
    if (empty && a->graph && !was_start && !app_open(a, &view_start, NULL, &e)) {
        app_say(a, "V l goes back to %s", a->scene.model_name);
        empty = false; /* a graph stands alone: behind it is where others are opened */
    }
    if (empty)
        a->done = true;
}

/* ---- where one was ---- */

void app_note_place(struct app *a)
{
    const struct panel *graph = a->placed[PANEL_GRAPH];
    bool is_row = graph && graph->ops->instruction_here;
    struct app_place here = {
        .focus = a->focus, .instruction = HLO_NONE, .node = -1, .move = MOVE_NONE};

    if (!a->watch)
        return;
    here.instruction = is_row ? graph->ops->instruction_here(graph) : HLO_NONE;
    if (here.instruction == HLO_NONE && is_row && graph->ops->question_here) {
        struct question q = {.kind = QUESTION_DIM};
        graph->ops->question_here(graph, &q);
        here.node = q.kind == QUESTION_PART ? q.part.node : here.node;
    }
    here.move = a->watch->cursor;
    if (a->places == APP_PLACES)
        memmove(a->place, a->place + 1, --a->places * sizeof *a->place);
    a->place[a->places++] = here;
}

void app_go_back(struct app *a)
{
    if (!a->places || !a->watch) {
        app_say(a, "nowhere to go back to: C-o returns from what was found");
        return;
    }
    struct app_place to = a->place[--a->places];
    struct panel *graph = a->placed[PANEL_GRAPH], *groups = a->placed[PANEL_GROUPS];
    while (a->depth > 0)
        app_drop_top(a);
    if (graph && graph->ops->go_to && to.instruction != HLO_NONE)
        graph->ops->go_to(graph, to.instruction);
    else if (graph && graph->ops->go_to_node && to.node >= 0)
        graph->ops->go_to_node(graph, to.node);
    if (groups && groups->ops->go_to_move && to.move >= 0 && to.move < a->watch->move_count)
        groups->ops->go_to_move(groups, to.move);
    a->focus = a->placed[to.focus] ? to.focus : a->focus;
    app_touch(a);
}

/* The panel alone with the main screen, showing all of its rows; NULL: it is not there. */
static struct panel *uncover(struct app *a, enum panel_id id)
{
    struct panel *p = a->placed[id];

    if (!p)
        return NULL;
    app_note_place(a);
    while (a->depth > 0)
        app_drop_top(a);
    a->focus = id;
    if (p->filter)
        app_set_filter(a, p, "");
    app_touch(a);
    return p;
}

void app_go_to(struct app *a, hlo_id id)
{
    struct panel *graph = uncover(a, PANEL_GRAPH);

    if (graph && graph->ops->go_to)
        graph->ops->go_to(graph, id);
}

void app_go_to_node(struct app *a, int node)
{
    struct panel *graph = uncover(a, PANEL_GRAPH);

    if (graph && graph->ops->go_to_node)
        graph->ops->go_to_node(graph, node);
}

void app_go_to_move(struct app *a, int move)
{
    struct panel *groups = uncover(a, PANEL_GROUPS);

    if (groups && groups->ops->go_to_move)
        groups->ops->go_to_move(groups, move);
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

const struct theme *app_theme(const struct app *a)
{
    return &a->theme;
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

void app_note_saved(struct app *a)
{
    a->saved_acts = a->watch ? a->watch->shot->acts : 0;
}

void app_set_filter(struct app *a, struct panel *p, const char *pattern)
{
    struct match *before = p->filter;

    p->filter = match_new(pattern);
    p->ops->filter(p);
    match_free(before);
    app_touch(a);
    const struct list *rows = p->filter && p->ops->list ? p->ops->list(p) : NULL;
    if (rows && !rows->count)
        app_say(a, "nothing here holds %.60s; Esc shows all", pattern);
}

int app_pins(const struct app *a)
{
    int count = 0;

    for (int n = 0; a->watch && n < a->watch->move_count; n++)
        count += a->watch->move[n].pinned;
    return count;
}

bool app_is_kept(const struct app *a)
{
    return a->is_journaled && a->watch && !a->watch->shot->journal_ended;
}

int app_unsaved_pins(const struct app *a)
{
    const struct snapshot *s = a->watch ? a->watch->shot : NULL;

    return s && !app_is_kept(a) && s->acts != a->saved_acts ? app_pins(a) : 0;
}

/* Between two frames that panels want while nothing is typed; 0: none does. */
static double frame_ms(const struct app *a)
{
    struct panel *top = app_top(a);
    double ms = 0;

    for (int i = -1; i < PANEL_COUNT; i++) {
        const struct panel *p = i < 0 ? top : a->placed[i];
        bool is_hidden = i >= 0 && (a->depth > 0 || !layout_panel(&a->layout, (enum panel_id)i));
        if (!p || is_hidden || !p->ops->is_live || !p->ops->is_live(p))
            continue;
        double wanted = p->ops->live_ms ? p->ops->live_ms : LIVE_MS;
        ms = ms > 0 && ms < wanted ? ms : wanted;
    }
    return ms;
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
    double live = frame_ms(a), next = live > 0 ? a->drawn_ms + live : -1;

    if (a->dirty)
        return a->scene.now_ms;
    next = first_of(next, app_loading_next_ms(a));
    next = first_of(next, user_commands_next_ms(a));
    if (a->woken && !a->frozen)
        next = first_of(next, a->looked_ms + look_ms(a));
    if (app_tour_is_busy(a))
        next = first_of(next, a->scene.now_ms + 33);
    if (a->watch)
        next = first_of(next, wave_next_ms(&a->watch->wave));
    if (a->watch && fewer_is_asked(a->watch))
        next = first_of(next, a->drawn_ms + LIVE_MS);
    return next;
}

/* Lit in the order it happened, before the next decision comes. A screen without a clock shows its
 * end. */
static void play_wave(struct app *a)
{
    const struct snapshot *s = a->watch->shot;
    double ms =
        s->state == LIVE_RUNNING && s->pace > 0 ? 800 / s->pace / (a->watch->wave.steps + 1) : 0;

    wave_play(&a->watch->wave, a->scene.now_ms, ms > 0 && ms < 60 ? ms : 0);
}

/* "you undo pin width 768 = 1; u 2 more, C-r 1 back": the act as the log has it. */
static void say_undone(struct app *a)
{
    const struct snapshot *s = a->watch->shot;

    a->undoing = false;
    for (uint32_t n = s->log.count; n-- > 0;) {
        const struct log_line *line = &s->log.block->lines[n];
        if (line->kind != LOG_PERSON)
            continue;
        char named[MESSAGE_ROOM];
        app_say(a, "%s; %u to undo, %u to redo",
                watch_with_names(a->watch, line->text, a->width - 28, named, sizeof named),
                s->undoable, s->redoable);
        return;
    }
}

void app_tell_news(struct app *a, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(a->news, sizeof a->news, format, args);
    va_end(args);
}

const char *app_take_news(struct app *a)
{
    memcpy(a->told, a->news, sizeof a->told);
    a->news[0] = 0;
    return a->told[0] ? a->told : NULL;
}

/* True the first time: going back to a row, or undo, is no news. */
static bool is_news(struct app *a, const struct live_plan *plan)
{
    enum { TOLD = sizeof a->proof / sizeof *a->proof };
    uint64_t ms, key;

    memcpy(&ms, &plan->cost.step_ms, sizeof ms);
    key = journal_plan_hash(plan) ^ ms;
    for (uint32_t n = 0; n < a->proofs && n < TOLD; n++) {
        if (a->proof[n] == key)
            return false;
    }
    a->proof[a->proofs++ % TOLD] = key;
    return true;
}

/* The search has reached the proven optimum of its space: once for each optimum. */
static void note_proof(struct app *a)
{
    const struct watch *w = a->watch;
    char ms[UNITS_ROOM];

    if (w->exact && w->exact->proven && watch_gap(w) == 0 && w->shot->episodes &&
        is_news(a, w->exact))
        app_tell_news(a, "%s: %s, proven optimal over %s", a->scene.model_name,
                      units_ms(ms, w->exact->cost.step_ms),
                      game_decides[w->shot->options.game.kind]);
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
    note_proof(a);
    fewer_follow(a->watch, a->scene.now_ms > 0);
    for (int i = 0; i < PANEL_COUNT; i++) {
        if (a->placed[i] && a->placed[i]->ops->read)
            a->placed[i]->ops->read(a->placed[i]);
    }
    for (int i = 0; i < a->depth; i++) {
        if (a->stack[i]->ops->read)
            a->stack[i]->ops->read(a->stack[i]);
    }
    if (a->undoing && a->watch->shot->acts != a->undo_acts)
        say_undone(a);
    uint64_t refused = session_refused(a->session, &e);
    if (refused != a->refused) {
        a->refused = refused;
        a->undoing = false;
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

int app_failed(struct app *a, struct err *e)
{
    const struct panel *top = app_top(a);

    return top && top->ops->failed ? top->ops->failed(top, e) : 0;
}

int app_send(struct app *a, const char *line, struct err *e)
{
    struct live_command c;

    if (!a->session)
        return err_set(e, ERR_INPUT, "no model is open");
    if (live_command_parse(line, &c, e))
        return e->code;
    return session_wait(a->session, session_send(a->session, &c), 60, e);
}

bool app_wait(struct app *a, double seconds)
{
    return session_wait_idle(a->session, seconds);
}

int app_tell(struct app *a, const char *line, struct err *e)
{
    if (app_send(a, line, e))
        return e->code;
    if (!strncmp(line, "decide", 6) || !strncmp(line, "episode", 7))
        (void)app_wait(a, 600);
    app_look(a);
    return 0;
}

const struct grid *app_frame(struct app *a)
{
    app_after_loading(a);
    app_finish_loading(a);
    if (a->done)
        return NULL;
    if (a->woken && !a->frozen && (a->looked_ms + look_ms(a) <= a->scene.now_ms))
        app_look(a);
    app_tour_tick(a);
    user_commands_tick(a);
    if (a->watch && wave_tick(&a->watch->wave, a->scene.now_ms))
        app_touch(a);
    double next = app_next_ms(a);
    if (next < 0 || next > a->scene.now_ms || a->width < 1)
        return NULL;
    a->dirty = false;
    a->drawn_ms = a->scene.now_ms;
    app_draw(a);
    app_record_frame(a);
    return &a->grid;
}
