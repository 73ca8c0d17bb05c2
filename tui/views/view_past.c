/* V t, the time machine: the journal as a timeline, played again bit for bit; any moment of it, the
 * difference of two, and a branch from there. The search that runs is not touched. */
#include "engine/cost/memory.h"
#include "engine/decide/names.h"
#include "engine/live/ledger.h"
#include "engine/live/past.h"
#include "engine/live/snapshot.h"
#include "engine/search/game.h"
#include "engine/text/units.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "tui/files/sessions.h"
#include "tui/screen/grid.h"
#include "tui/screen/keys.h"
#include "tui/screen/list.h"
#include "tui/screen/theme.h"
#include "tui/views/host.h"
#include "tui/views/panel.h"
#include "tui/views/past_draw.h"
#include "tui/views/views.h"
#include "tui/watch/branches.h"
#include "tui/watch/past_job.h"
#include "tui/watch/plan_load.h"
#include "tui/watch/versus.h"
#include "tui/watch/watch.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    PAST_BACK_1,
    PAST_ON_1,
    PAST_BACK_10,
    PAST_ON_10,
    PAST_EVENT_BACK,
    PAST_EVENT_ON,
    PAST_PLAY,
    PAST_SLOWER,
    PAST_FASTER,
    PAST_STOPS,
    PAST_MARK,
    PAST_COMPARE,
    PAST_BRANCH,
    PAST_CHOOSE,
    PAST_OPEN,
    PAST_NOW,
    PAST_BACK
};
static const struct action past_actions[] = {
    [PAST_BACK_1] = {"earlier", "in this view", "an episode back, on", "episode", "h or Left",
                     "Left"},
    [PAST_ON_1] = {"later", "in this view", NULL, NULL, "l or Right", "Right"},
    [PAST_BACK_10] = {"earlier-10", "in this view", "ten episodes back, on", "10", "H or S-Tab",
                      "S-Tab"},
    [PAST_ON_10] = {"later-10", "in this view", NULL, NULL, "L or Tab", "Tab"},
    [PAST_EVENT_BACK] = {"event-before", "in this view", "the event before, the next", "event", "[",
                         NULL},
    [PAST_EVENT_ON] = {"event-next", "in this view", NULL, NULL, "]", NULL},
    [PAST_PLAY] = {"play", "in this view", "play from here, stop", "play", "Space", NULL},
    [PAST_SLOWER] = {"slower", "in this view", "slower, faster", "speed", "{", NULL},
    [PAST_FASTER] = {"faster", "in this view", NULL, NULL, "}", NULL},
    [PAST_STOPS] = {"stops", "in this view",
                    "stop at best plans, at your acts, at both, at neither", "stops", "x", NULL},
    [PAST_MARK] = {"mark", "in this view", "mark this moment as B", "mark B", "m", NULL},
    [PAST_COMPARE] = {"compare", "in this view", "the plans of A and B, compared", "compare", "c",
                      NULL},
    [PAST_BRANCH] = {"branch", "in this view", "a new session from here", "branch", "b or Enter",
                     NULL},
    [PAST_CHOOSE] = {"choose", "in this view", "another branch", NULL, "v", NULL},
    [PAST_OPEN] = {"open", "in this view", "open that branch", "open", "o", NULL},
    [PAST_NOW] = {"now", "in this view", "to its end", NULL, "n", NULL},
    [PAST_BACK] = {"back", "in this view", "back", "back", "Esc", NULL},
};
static const struct key_table past_keys = {"time", past_actions,
                                           sizeof past_actions / sizeof *past_actions};

static const struct {
    double a_second;
    bool decisions; /* else episodes */
} speeds[] = {{0.25, true}, {1, true},   {4, true},   {1, false},   {2, false},
              {5, false},   {10, false}, {25, false}, {100, false}, {400, false}};
enum { SPEEDS = sizeof speeds / sizeof *speeds, SPEED_FIRST = 6 };

/* What playing stops at. */
enum { STOP_BEST = 1, STOP_ACTS = 2, STOPS = 4 };
static const char *const stop_words[STOPS] = {"", " · stops at best plans", " · stops at your acts",
                                              " · stops at best plans and your acts"};

/* ---- moments ---- */

static void set_moment(struct past_moment *m, const struct snapshot *shot, uint64_t step)
{
    snapshot_release(m->shot);
    *m = (struct past_moment){.shot = snapshot_keep(shot), .step = step, .episode = shot->episodes};
    m->has_plan =
        shot->best && !ledger_figures_of(shot->problem, shot->best->on, &m->figures, &m->e);
}

static uint64_t step_of(const struct past_view *v, uint64_t episode)
{
    if (!episode || !v->look.episode_count)
        return 0;
    if (episode >= v->look.episode_count && v->look.surveyed)
        return v->look.last_step;
    return v->look
        .episodes[(episode < v->look.episode_count ? episode : v->look.episode_count) - 1];
}

/* Episodes that have ended by then. */
static uint64_t episode_at(const struct past_view *v, uint64_t step)
{
    size_t low = 0, high = v->look.episode_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (v->look.episodes[middle] <= step)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Where one is going counts at once: the next key starts from there. */
static void go_to_step(struct past_view *v, uint64_t step)
{
    v->step = step;
    v->episode = episode_at(v, step);
    past_job_go(v->job, step);
}

static void go_to_episode(struct past_view *v, uint64_t episode)
{
    go_to_step(v, step_of(v, episode < v->look.episode_count ? episode : v->look.episode_count));
}

/* The plan of a moment is one of those to be asked about and compared, unless the problem was
 * another then. */
static void show_plan(struct panel *p, int which, const struct past_moment *m)
{
    struct watch *w = p->scene->watch;
    struct ledger_figures now;
    struct err e;

    m = m->has_plan && m->shot->problem->classes.count == w->problem->classes.count &&
                !ledger_figures_of(w->problem, m->shot->best->on, &now, &e) &&
                fabs(now.cost.step_ms - m->figures.cost.step_ms) <= 1e-9 * now.cost.step_ms
            ? m
            : NULL;
    plan_load_moment(w, which, m ? m->shot->best : NULL);
}

/* The newest of the job, and what follows from it. */
static void take_answer(struct panel *p)
{
    struct past_view *v = p->state;

    past_job_look(v->job, &v->look);
    if (v->look.shot && v->a.shot != v->look.shot) {
        set_moment(&v->a, v->look.shot, v->look.step);
        show_plan(p, 0, &v->a);
    }
    if (!v->failed.code)
        v->failed = v->look.trouble.code ? v->look.trouble : v->a.e;
    v->episode = episode_at(v, v->step);
    size_t at = 0;
    while (at < v->look.event_count && v->look.events[at].step <= v->a.step)
        at++;
    list_fit(&v->list, (int64_t)v->look.event_count, v->list.rows ? v->list.rows : 1);
    list_go(&v->list, at ? (int64_t)at - 1 : 0);
}

/* The first event behind the present step, up to `step`, that playing stops at; NULL: none. */
static const struct past_event *stop_before(const struct past_view *v, uint64_t step)
{
    for (size_t n = 0; n < v->look.event_count && v->look.events[n].step <= step; n++) {
        const struct past_event *e = &v->look.events[n];
        int kind = e->stage ? 0 : e->act ? STOP_ACTS : STOP_BEST;
        if (e->step > v->step && (v->stops & kind))
            return e;
    }
    return NULL;
}

static void play_on(struct panel *p)
{
    struct past_view *v = p->state;
    double due = (p->scene->now_ms - v->played_ms) * speeds[v->speed].a_second / 1000;

    if (!v->playing || due < 1 || !v->look.is_there)
        return;
    v->played_ms = p->scene->now_ms;
    uint64_t to = speeds[v->speed].decisions ? v->step + (uint64_t)due
                                             : step_of(v, v->episode + (uint64_t)due);
    if (to > v->look.last_step)
        to = v->look.last_step;
    const struct past_event *stop = stop_before(v, to);
    go_to_step(v, stop ? stop->step : to);
    v->playing = !stop && (v->step < v->look.last_step || !v->look.surveyed);
    if (stop)
        host_say(p->scene, "stopped at: %s; Space goes on", stop->text);
}

static const char *speed_words(const struct past_view *v, char out[static 32])
{
    double a_second = speeds[v->speed].a_second;

    snprintf(out, 32, "%g %s%s/s", a_second, speeds[v->speed].decisions ? "decision" : "episode",
             a_second == 1 ? "" : "s");
    return out;
}

static int open_past(struct panel *p, const void *arg, struct err *e)
{
    struct past_view *v = p->state;
    const struct scene *scene = p->scene;

    (void)arg;
    if (!scene->watch)
        return err_set(e, ERR_INPUT, "no search is open");
    if (!scene->journal[0])
        return err_set(e, ERR_INPUT, "this search keeps no journal, so it has no past to show");
    if (past_job_new(scene->base, scene->search, scene->journal, scene->state_dir,
                     scene->now_ms > 0, &v->job, e))
        return e->code;
    v->speed = SPEED_FIRST;
    past_job_look(v->job, &v->look);
    v->step = v->look.last_step;
    take_answer(p);
    return 0;
}

static void close_past(struct panel *p)
{
    struct past_view *v = p->state;

    past_job_free(v->job);
    for (int n = 0; n < 2 && p->scene->watch; n++)
        plan_load_moment(p->scene->watch, n, NULL);
    snapshot_release(v->a.shot);
    snapshot_release(v->b.shot);
}

static bool is_live(const struct panel *p)
{
    const struct past_view *v = p->state;
    return v->job && (v->playing || !v->look.surveyed || !v->look.is_there);
}

/* ---- the view ---- */

/* Row 1: where in the past. */
static bool about_past(const struct panel *p, struct panel_about *out)
{
    const struct past_view *v = p->state;
    char at[UNITS_ROOM], of[UNITS_ROOM], speed[32];

    snprintf(out->what, sizeof out->what, "time machine");
    out->state = v->playing ? ABOUT_RUNS : ABOUT_STANDS;
    if (v->playing)
        snprintf(out->pace, sizeof out->pace, "%s", speed_words(v, speed));
    snprintf(out->where, sizeof out->where, "at episode %s of %s%s",
             units_count(at, (int64_t)v->episode), units_count(of, (int64_t)v->look.episode_count),
             v->look.surveyed ? "" : " so far");
    return v->job != NULL;
}

/* Row 2: the best plan of then and how far it was from the optimum, beside that of now. */
static bool headline_past(const struct panel *p, const struct pane *row)
{
    const struct past_view *v = p->state;
    const struct watch *w = p->scene->watch;
    const struct live_plan *exact = v->a.shot ? v->a.shot->exact : NULL;
    double limit = watch_memory_limit(w), peak = v->a.figures.memory.peak;
    char ms[UNITS_ROOM], memory[UNITS_ROOM + 40];
    int x = 0;

    if (!v->a.shot)
        return true;
    if (!v->a.has_plan) {
        x = pane_text(row, 0, 0, ROLE_DIM, "no plan yet");
    } else {
        x = pane_text(row, 0, 0, ROLE_TITLE | BOLD, units_ms(ms, v->a.figures.cost.step_ms));
        x = pane_text(row, x, 0, ROLE_TEXT, " best then");
    }
    if (v->a.has_plan && exact && exact->fits) {
        double gap = v->a.figures.cost.step_ms / exact->cost.step_ms - 1;
        bool is_there = gap < 1e-9;
        x = pane_format(row, x, 0, is_there ? ROLE_OK : ROLE_WARN, "   %s%.1f %%",
                        is_there ? "" : "+", is_there ? 0.0 : 100 * gap);
        x = pane_format(row, x, 0, ROLE_TEXT, " over %s ", exact->proven ? "optimum" : "exact");
        x = pane_text(row, x, 0, exact->proven ? ROLE_OK : ROLE_TEXT,
                      units_plain_ms(ms, exact->cost.step_ms));
        if (exact->proven && row->width >= 78)
            x = pane_text(row, x, 0, ROLE_DIM, " proven");
    }
    if (w->best) {
        x = pane_text(row, x, 0, ROLE_DIM, "   now ");
        x = pane_text(row, x, 0, ROLE_TEXT, units_ms(ms, w->best->cost.step_ms));
    }
    snprintf(memory, sizeof memory, "%s of %.4g GB%s", units_number(ms, peak / 1e9, 1), limit / 1e9,
             peak > limit ? ", over" : "");
    if (v->a.has_plan && x + 3 + (int)strlen(memory) <= row->width)
        pane_right(row, row->width, 0, peak > limit ? ROLE_ERR : ROLE_TEXT, memory);
    return true;
}

/* Below the timeline: figures beside what happened, or above it on a narrow and tall screen; then
 * the decisions. */
static void draw_parts(struct panel *p, const struct pane *pane, int y)
{
    enum { VECTOR = 4, FIGURES = 16, FIGURES_OF_BOTH = 57, FIGURES_OF_A = 36 };
    const struct past_view *v = p->state;
    int gap = pane->height >= 26, vector = pane->height >= 18 ? VECTOR : 0;
    int room = pane->height - y - 2 * gap - vector;
    bool beside = pane->width >= 100 || room < FIGURES + 4;
    int half = !beside                           ? pane->width
               : v->b.shot || pane->width >= 100 ? FIGURES_OF_BOTH
                                                 : FIGURES_OF_A;
    struct pane left = pane_part(pane, 0, y + gap, half, beside ? room : FIGURES),
                right = beside ? pane_part(pane, half + 3, y + gap, pane->width - half - 3, room)
                               : pane_part(pane, 0, y + gap + FIGURES + 1, pane->width,
                                           room - FIGURES - 1),
                low = pane_part(pane, 0, pane->height - vector, pane->width, vector);

    past_draw_figures(p, &left);
    past_draw_events(p, &right);
    past_draw_vector(p, &low);
}

static void draw_past(struct panel *p, const struct pane *pane)
{
    struct past_view *v = p->state;
    char note[160], speed[32];

    if (!v->job)
        return;
    take_answer(p);
    play_on(p);
    snprintf(note, sizeof note, "%s%s%s",
             pane->width >= 100 ? "the journal, played again bit for bit · square root scale · "
                                : "",
             speed_words(v, speed), stop_words[v->stops]);
    pane_head(pane, 0, &(struct head){0, "Time", note, true});
    struct pane line = pane_part(pane, 0, 1, pane->width, 4 + v->look.branch_count);
    past_draw_timeline(p, &line);
    draw_parts(p, pane, 5 + v->look.branch_count);
}

/* ---- acts ---- */

static void go_to_event(struct panel *p, int by)
{
    struct past_view *v = p->state;
    size_t at = 0;

    while (at < v->look.event_count && v->look.events[at].step <= v->step)
        at++;
    if (by < 0) {
        while (at && v->look.events[at - 1].step >= v->step)
            at--;
        if (!at) {
            go_to_step(v, 0);
            return;
        }
        at--;
    }
    if (at < v->look.event_count)
        go_to_step(v, v->look.events[at].step);
    else
        host_say(p->scene, "no later event");
}

static const char no_branch[] = "no other session left this one; b makes a branch";

static void branch(struct panel *p)
{
    struct past_view *v = p->state;
    const struct scene *scene = p->scene;
    char path[PATH_MAX], said[128];
    struct err e = {0};

    snprintf(said, sizeof said,
             "a branch from episode %llu, in a session of its own; the one before is kept",
             (unsigned long long)v->episode);
    if (!scene->state_dir || !session_new_path(path, scene->state_dir, scene->model_name,
                                               scene->cluster->name, (int64_t)time(NULL)))
        host_say(scene, "there is no directory for sessions");
    else if (past_job_branch(v->job, v->step, path, &e) || host_resume(scene, path, said, &e))
        host_say_err(scene, &e);
}

static void choose_branch(struct panel *p)
{
    struct past_view *v = p->state;

    v->branch = v->branch + 1 < v->look.branch_count ? v->branch + 1 : 0;
    if (v->look.branch_count > 1)
        host_say(p->scene, "branch %c; o opens it", 'a' + v->branch);
    else
        host_say(p->scene, v->look.branch_count ? "a is the only branch; o opens it" : no_branch);
}

/* The session goes on where it ended; this one is kept. */
static void open_branch(struct panel *p)
{
    struct past_view *v = p->state;
    const struct scene *scene = p->scene;
    char path[PATH_MAX];
    struct err e = {0};

    if (!v->look.looked_for)
        host_say(scene, "still looking for other sessions");
    else if (v->branch >= v->look.branch_count)
        host_say(scene, no_branch);
    else if (!session_find(path, scene->state_dir, v->look.branches[v->branch].name))
        host_say(scene, "that session is gone");
    else if (host_resume(scene, path, "the other session; the one before is kept", &e))
        host_say_err(scene, &e);
}

static void compare(struct panel *p)
{
    struct past_view *v = p->state;
    const struct live_plan *a = plan_load_of_moment(p->scene->watch, 0),
                           *b = plan_load_of_moment(p->scene->watch, 1);
    struct err e;

    if (!v->b.shot)
        host_say(p->scene, "m marks a moment as B; c compares its plan with that of A");
    else if (!v->look.is_there) /* A is the moment before */
        host_say(p->scene, "this moment is still being played; c again when it is there");
    else if (a && b && live_plan_equal(a, b))
        host_say(p->scene, "A and B have the same best plan");
    else if (!a || !b)
        host_say(p->scene, "%s",
                 !v->a.has_plan || !v->b.has_plan
                     ? "there is no plan yet at one of the two"
                     : "the problem was another then: their plans can not be "
                       "compared as things are now");
    else if (host_open(p->scene, &view_plans, a, &e))
        host_say_err(p->scene, &e);
}

/* ---- an episode by its number ---- */

static void go_to_typed(struct panel *p)
{
    struct past_view *v = p->state;
    unsigned long long episode = strtoull(v->typed, NULL, 10);

    v->typed[0] = 0;
    v->playing = false;
    if (episode > v->look.episode_count)
        host_say(p->scene, "episode %llu is not in the journal%s: the last is %zu", episode,
                 v->look.surveyed ? "" : " so far as it was read", v->look.episode_count);
    else
        go_to_episode(v, episode);
}

/* Digits are the number of an episode, which Enter goes to. */
static bool type_past(struct panel *p, uint32_t key)
{
    struct past_view *v = p->state;
    size_t size = strlen(v->typed);

    if (key == KEYC_BACKSPACE && size) {
        v->typed[size - 1] = 0;
        return true;
    }
    if (key == KEYC_ESC && size) {
        v->typed[0] = 0;
        return true;
    }
    if (key == KEYC_ENTER && size) {
        go_to_typed(p);
        return true;
    }
    if (key < '0' || key > '9') {
        v->typed[0] = 0; /* another key: it was no number */
        return false;
    }
    if (size + 1 < sizeof v->typed && (size || key != '0'))
        snprintf(v->typed + size, sizeof v->typed - size, "%c", (char)key);
    return true;
}

static void play_past(struct panel *p)
{
    struct past_view *v = p->state;

    if (!v->playing && v->look.surveyed && v->step >= v->look.last_step)
        go_to_episode(v, 0);
    v->playing = !v->playing;
    v->played_ms = p->scene->now_ms;
}

static bool act_past(struct panel *p, int action)
{
    struct past_view *v = p->state;
    static const int by[] = {
        [PAST_BACK_1] = -1, [PAST_ON_1] = 1, [PAST_BACK_10] = -10, [PAST_ON_10] = 10};

    if (action <= PAST_ON_10) {
        int64_t to = (int64_t)v->episode + by[action];
        v->playing = false;
        go_to_episode(v, to > 0 ? (uint64_t)to : 0);
    } else if (action == PAST_EVENT_BACK || action == PAST_EVENT_ON) {
        v->playing = false;
        go_to_event(p, action == PAST_EVENT_ON ? 1 : -1);
    } else if (action == PAST_PLAY) {
        play_past(p);
    } else if (action == PAST_SLOWER || action == PAST_FASTER) {
        v->speed += action == PAST_FASTER ? v->speed + 1 < SPEEDS : -(v->speed > 0);
    } else if (action == PAST_STOPS) {
        v->stops = (v->stops + 1) % STOPS;
    } else if (action == PAST_MARK && (!v->a.shot || !v->look.is_there)) {
        host_say(p->scene, "this moment is still being played; m again when it is there");
    } else if (action == PAST_MARK) {
        set_moment(&v->b, v->a.shot, v->a.step);
        show_plan(p, 1, &v->b);
        host_say(p->scene, "B is episode %llu; A is where you go",
                 (unsigned long long)v->b.episode);
    } else if (action == PAST_NOW) {
        v->playing = false;
        go_to_step(v, v->look.last_step);
    } else if (action == PAST_COMPARE) {
        compare(p);
    } else if (action == PAST_BRANCH && v->a.shot) {
        branch(p);
    } else if (action == PAST_CHOOSE) {
        choose_branch(p);
    } else if (action == PAST_OPEN) {
        open_branch(p);
    } else if (action == PAST_BACK) {
        host_close(p->scene);
    }
    return true;
}

static bool works_past(const struct panel *p, int action)
{
    const struct past_view *v = p->state;

    return action == PAST_COMPARE ? v->b.shot != NULL
           : action == PAST_OPEN  ? v->look.branch_count > 0
                                  : true;
}

static bool move_past(struct panel *p, enum list_move move)
{
    struct past_view *v = p->state;

    if (move == LIST_FIRST || move == LIST_LAST)
        go_to_step(v, move == LIST_FIRST ? 0 : v->look.last_step);
    else
        go_to_event(p, move == LIST_UP || move == LIST_PAGE_UP || move == LIST_HALF_UP ? -1 : 1);
    return true;
}

static void message_past(const struct panel *p, char *out, size_t room)
{
    const struct past_view *v = p->state;
    char count[UNITS_ROOM];

    if (v->failed.code)
        snprintf(out, room, "%s", v->failed.what);
    else if (v->typed[0])
        snprintf(out, room, "episode %s: Enter goes there", v->typed);
    else if (!v->look.surveyed)
        snprintf(out, room, "reading the journal: %s episodes so far",
                 units_count(count, (int64_t)v->look.episode_count));
    else if (!*past_sentence(v, out, room))
        snprintf(out, room,
                 "you look at the past, played again and equal at every best plan; the search is "
                 "not touched");
}

/* The two moments as a page. */
static bool page_past(const struct panel *p, struct str *out)
{
    const struct past_view *v = p->state;
    char text[256], a[UNITS_ROOM], b[UNITS_ROOM];

    if (!v->b.shot || !v->a.has_plan || !v->b.has_plan || !out)
        return v->b.shot && v->a.has_plan && v->b.has_plan;
    str_format(out,
               "# %s: episode %llu against episode %llu\n\n%s\n\n| | A | B |\n|---|---:|---:|\n",
               p->scene->model_name, (unsigned long long)v->a.episode,
               (unsigned long long)v->b.episode, past_sentence(v, text, sizeof text));
    const struct ledger_figures *f = &v->a.figures, *g = &v->b.figures;
    const double rows[][2] = {{f->cost.step_ms, g->cost.step_ms},
                              {f->cost.compute_ms, g->cost.compute_ms},
                              {f->cost.communication_ms, g->cost.communication_ms},
                              {f->memory.peak / 1e9, g->memory.peak / 1e9},
                              {v->a.shot->epsilon, v->b.shot->epsilon},
                              {v->a.shot->loss, v->b.shot->loss}};
    static const char *const names[] = {"best step, ms", "computing, ms", "collectives, ms",
                                        "memory, GB",    "epsilon",       "loss"};
    for (size_t n = 0; n < sizeof rows / sizeof *rows; n++)
        str_format(out, "| %s | %s | %s |\n", names[n], units_number(a, rows[n][0], 4),
                   units_number(b, rows[n][1], 4));
    return true;
}

/* What w explains and e takes away: the plan of A. */
static struct live_plan *plan_here(const struct panel *p)
{
    return p->scene->watch ? plan_load_of_moment(p->scene->watch, 0) : NULL;
}

static void settle_past(struct panel *p)
{
    take_answer(p);
}

static int fail_past(const struct panel *p, struct err *e)
{
    const struct past_view *v = p->state;

    if (v->failed.code)
        *e = v->failed;
    return (int)v->failed.code;
}

const struct panel_ops view_past = {
    .name = "time",
    .title = "Time",
    .place = PLACE_FULL,
    .is_of_then = true,
    .keys = &past_keys,
    .hints =
        "earlier=ep event-before play mark=mark compare branch why help open export slower stops "
        "back",
    .size = sizeof(struct past_view),
    .open = open_past,
    .close = close_past,
    .draw = draw_past,
    .about = about_past,
    .headline = headline_past,
    .key = type_past,
    .act = act_past,
    .works = works_past,
    .plan_here = plan_here,
    .move = move_past,
    .page = page_past,
    .message = message_past,
    .is_live = is_live,
    .settle = settle_past,
    .failed = fail_past,
};
