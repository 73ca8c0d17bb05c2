/* A tour plays in the explorer: its steps act as keys and commands do. A person goes on and back,
 * takes over with any other key, and comes back: then the model is opened again and the steps are
 * done again, so that a tour always says what is there. */
#include "engine/live/session.h"
#include "hlo/support/err.h"
#include "tui/app/app.h"
#include "tui/app/app_internal.h"
#include "tui/app/script.h"
#include "tui/files/tour.h"
#include "tui/options/problem_args.h"
#include "tui/screen/grid.h"
#include "tui/screen/keys.h"
#include "tui/screen/theme.h"
#include "tui/screen/utf8.h"
#include "tui/views/actions.h"
#include "tui/views/views.h"
#include "tui/watch/watch.h"

#include <stdio.h>
#include <string.h>

enum { ROWS = 5, ROWS_LOW = 3, LOW = 20 };

int app_tour_rows(const struct app *a)
{
    return !a->tour.script || a->height < 12 ? 0 : a->height < LOW ? ROWS_LOW : ROWS;
}

static const struct tour_step *step_of(const struct app *a)
{
    return &a->tour.script->steps[a->tour.step];
}

/* Under the tour's options; nothing is remembered of it. */
static int open_model(struct app *a, struct err *e)
{
    struct app_setup mine = a->setup;
    const struct tour *t = a->tour.script;

    a->setup.problem = (struct problem_args){0};
    a->setup.problem.options.classes.paper_rules = t->paper_rules;
    a->setup.seed = t->seed;
    a->setup.keep_journal = false;
    a->setup.reads_beside = false; /* its acts follow at once */
    a->setup.state_dir = NULL;
    int rc = app_load(a, t->model, t->cluster, e);
    a->setup = mine;
    a->is_journaled = true; /* nothing of a tour can be lost */
    return rc;
}

static void end_tour(struct app *a)
{
    tour_free(a->tour.script);
    a->tour = (struct tour_state){0};
    app_touch(a);
}

/* From the beginning to step `until`, what is on the way done at once. */
static void play_to(struct app *a, int until)
{
    struct err e = {0};

    a->tour.step = a->tour.item = 0;
    a->tour.until = until;
    a->tour.taken = false;
    a->frozen = a->zoom = false;
    a->split = 0;
    if (open_model(a, &e)) {
        app_say_err(a, &e);
        end_tour(a);
    }
}

int app_tour_begin(struct app *a, const char *name, struct err *e)
{
    struct tour *t;

    if (tour_load(&t, a->setup.data_dir, name, e))
        return e->code;
    tour_free(a->tour.script);
    a->tour = (struct tour_state){.script = t};
    int rc = open_model(a, e);
    if (rc)
        end_tour(a);
    return rc;
}

void app_tour_to(struct app *a, int step)
{
    if (!a->tour.script)
        return;
    a->tour.until = step < 1                            ? 0
                    : step > a->tour.script->step_count ? a->tour.script->step_count - 1
                                                        : step - 1;
    while (app_tour_is_busy(a) || a->tour.step < a->tour.until) {
        app_settle(a, 120);
        app_tour_tick(a);
        (void)app_frame(a);
    }
    app_settle(a, 120);
}

static void do_item(struct app *a, const char *item)
{
    if (item[0] == ':') {
        (void)app_command(a, item + 1);
        return;
    }
    if (item[0] == '/' && item[1]) {
        snprintf(a->pattern, sizeof a->pattern, "%s", item + 1);
        app_act(a, &common_keys, ACT_SEARCH_NEXT);
        return;
    }
    a->tour.acts = true;
    app_key(a, key_parse(item));
    a->tour.acts = false;
}

bool app_tour_is_busy(const struct app *a)
{
    return a->tour.script && !a->tour.taken && a->tour.item < step_of(a)->item_count;
}

void app_tour_tick(struct app *a)
{
    while (a->tour.script && !a->tour.taken) {
        if (!app_tour_is_busy(a) && a->tour.step >= a->tour.until)
            return;
        if (a->session && !session_wait_idle(a->session, 0))
            return;
        app_look(a);
        if (app_tour_is_busy(a)) {
            do_item(a, step_of(a)->items[a->tour.item++]);
        } else {
            a->tour.step++;
            a->tour.item = 0;
        }
        app_touch(a);
    }
}

static void go_on(struct app *a)
{
    if (app_tour_is_busy(a)) { /* goes on by itself then */
        if (a->tour.step + 1 < a->tour.script->step_count)
            a->tour.until = a->tour.step + 1;
    } else if (a->tour.step + 1 < a->tour.script->step_count) {
        a->tour.step++;
        a->tour.item = 0;
        a->tour.until = a->tour.step;
        app_tour_tick(a);
    } else {
        end_tour(a);
        app_say(a, "the end of the tour; the explorer is yours. T lists tours");
    }
}

bool app_tour_key(struct app *a, uint32_t key)
{
    if (!a->tour.script || a->tour.taken || a->tour.acts)
        return false;
    a->message[0] = 0;
    app_touch(a);
    switch (key) {
    case ' ':
    case KEYC_RIGHT:
        go_on(a);
        return true;
    case KEYC_LEFT:
    case KEYC_BACKSPACE:
        play_to(a, a->tour.step > 0 ? a->tour.step - 1 : 0);
        return true;
    case KEYC_ESC:
        end_tour(a);
        app_say(a, "the tour is left; the explorer is yours. T lists tours");
        return true;
    default:
        a->tour.taken = true;
        return false;
    }
}

void app_tours(struct app *a)
{
    struct err e = {0};

    if (a->tour.script && a->tour.taken)
        play_to(a, a->tour.step);
    else if (app_open(a, &view_tours, NULL, &e))
        app_say_err(a, &e);
}

/* ---- the caption ---- */

static void draw_hints(const struct app *a, const struct pane *p, int y)
{
    static const char *const leads[][2] = {{"Space", "goes on"},
                                           {"←", "back"},
                                           {"Esc", "leaves the tour"}},
                             *const taken[][2] = {{"T", "comes back to this step"}};
    int count = a->tour.taken ? 1 : 3, x = 0;

    for (int i = 0; i < count; i++) {
        const char *const *hint = a->tour.taken ? taken[i] : leads[i];
        x = pane_text(p, x, y, ROLE_KEY, hint[0]);
        x = pane_text(p, x + 1, y, ROLE_DIM, hint[1]) + 2;
    }
    const char *more = a->tour.taken         ? "the explorer is yours"
                       : app_tour_is_busy(a) ? "the search is at work .."
                                             : "any other key takes over";
    if (x + utf8_text_columns(more) <= p->width)
        pane_text(p, x, y, ROLE_DIM, more);
}

void app_tour_draw(struct app *a, const struct pane *p)
{
    const struct tour *t = a->tour.script;
    char note[32], line[TOUR_SAY_MOST + 1];
    const char *text = step_of(a)->say;

    pane_clear(p);
    snprintf(note, sizeof note, "%d of %d", a->tour.step + 1, t->step_count);
    pane_head(p, 0, &(struct head){0, t->title, note, !a->tour.taken});
    for (int y = 1; y < p->height - (p->height > ROWS_LOW); y++) {
        text = pane_take_line(text, p->width, line, sizeof line);
        pane_text(p, 0, y, a->tour.taken ? ROLE_DIM : ROLE_TEXT, line);
    }
    if (p->height > ROWS_LOW)
        draw_hints(a, p, p->height - 1);
}
