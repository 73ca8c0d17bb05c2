/* A person's acts on the search: each is one line to the session, which answers by doing it or by
 * saying why not. */
#include "engine/decide/names.h"
#include "engine/live/snapshot.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "tui/app/app_internal.h"
#include "tui/app/script.h"
#include "tui/views/actions.h"
#include "tui/views/panel.h"
#include "tui/views/views.h"
#include "tui/watch/watch.h"

#include <stdio.h>
#include <string.h>

/* Decisions a second, from slow motion to full speed (0). */
static const double paces[] = {0.5, 1, 2, 4, 8, CALM_PER_SECOND, 50, 200, 1000, 0};
enum { PACES = sizeof paces / sizeof *paces };

static void change_pace(struct app *a, int step)
{
    double now = a->asked_pace >= 0 ? a->asked_pace : a->watch->shot->pace;
    int at = 0;

    while (at < PACES - 1 && paces[at] < now)
        at++;
    if (now <= 0)
        at = PACES - 1;
    at += step;
    if (at < 0 || at >= PACES) {
        app_say(a, at < 0 ? "1 decision in 2 s is the slowest" : "full speed already");
        return;
    }
    watch_send(a->watch, "pace %g", paces[at]);
    a->asked_pace = paces[at];
    if (paces[at] > 0)
        app_say(a, "%g decisions/s", paces[at]);
    else
        app_say(a, "full speed");
}

static int move_here(const struct app *a)
{
    const struct panel *p = app_top(a);

    int move = p && p->ops->move_here ? p->ops->move_here(p) : a->watch->cursor;
    return move < a->watch->move_count ? move : MOVE_NONE;
}

static void list_pins(struct app *a)
{
    const struct watch *w = a->watch;
    char text[MESSAGE_ROOM];
    int count = 0;
    size_t size = 0;

    for (int n = 0; n < w->move_count; n++) {
        if (w->move[n].pinned && size + NAME_ROOM < sizeof text) {
            size += (size_t)snprintf(text + size, sizeof text - size, "%s%s = %d",
                                     count ? " · " : "", w->move[n].name, w->move[n].now == 1);
        }
        count += w->move[n].pinned;
    }
    if (count)
        app_say(a, "%d %s: %s", count, count == 1 ? "pin" : "pins", text);
    else
        app_say(a, "no pins; p pins the decision under the cursor");
}

static void steer_move(struct app *a, int action)
{
    int move = move_here(a);

    struct err e = {0};
    if (move == MOVE_NONE)
        app_say(a, "nothing to decide here");
    else if (app_open(a, action == ACT_PIN ? &view_pin : &view_backtrack, &move, &e))
        app_say_err(a, &e);
}

static void open_options(struct app *a)
{
    struct err e = {0};

    if (app_top(a) && app_top(a)->ops != &view_options && app_open(a, &view_options, NULL, &e))
        app_say_err(a, &e);
}

static void open_role(struct app *a)
{
    const struct panel *p = app_top(a);
    hlo_id here = p && p->ops->instruction_here ? p->ops->instruction_here(p) : HLO_NONE;
    struct err e = {0};

    if (app_open(a, &view_role, &here, &e))
        app_say_err(a, &e);
}

static void run_or_pause(struct app *a)
{
    enum live_state state = a->watch->shot->state;

    if (state == LIVE_DONE)
        app_say(a, "the search is done; b backtracks, p pins, and it goes on");
    else if (state == LIVE_FAILED)
        app_say(a, "%s", a->watch->shot->trouble);
    else
        watch_send(a->watch, state == LIVE_RUNNING ? "pause" : "run");
}

static void toggle_freeze(struct app *a)
{
    a->frozen = !a->frozen;
    app_say(a,
            a->frozen ? "the view stands still, the search goes on; Z again follows it" : "live");
}

static void undo(struct app *a, int by)
{
    a->undoing = true;
    a->undo_acts = a->watch->shot->acts;
    watch_send(a->watch, by < 0 ? "undo" : "redo");
}

/* A line for the session as it is, or a function: of one that takes an argument, or of none. */
struct steering {
    const char *line;
    void (*act)(struct app *a);
    void (*act_with)(struct app *a, int argument);
    int argument;
};

static const struct steering steerings[ACT_REDO + 1] = {
    [ACT_RUN] = {.act = run_or_pause},
    [ACT_DECIDE] = {.line = "decide 1"},
    [ACT_EPISODE] = {.line = "episode 1"},
    [ACT_SLOWER] = {.act_with = change_pace, .argument = -1},
    [ACT_FASTER] = {.act_with = change_pace, .argument = 1},
    [ACT_FREEZE] = {.act = toggle_freeze},
    [ACT_PIN] = {.act_with = steer_move, .argument = ACT_PIN},
    [ACT_PINS] = {.act = list_pins},
    [ACT_BACKTRACK] = {.act_with = steer_move, .argument = ACT_BACKTRACK},
    [ACT_OPTIONS] = {.act = open_options},
    [ACT_ROLE] = {.act = open_role},
    [ACT_UNDO] = {.act_with = undo, .argument = -1},
    [ACT_REDO] = {.act_with = undo, .argument = 1},
};

void app_steer(struct app *a, int action)
{
    const struct steering *s = &steerings[action];

    if (!a->watch)
        app_say(a, "no search is open");
    else if (s->line)
        watch_send(a->watch, "%s", s->line);
    else if (s->act)
        s->act(a);
    else
        s->act_with(a, s->argument);
}
