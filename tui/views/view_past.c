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
#include "tui/views/views.h"
#include "tui/watch/branches.h"
#include "tui/watch/past_job.h"
#include "tui/watch/versus.h"
#include "tui/watch/watch.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* One of the two moments: A is where a person is, B is marked. */
struct moment {
    const struct snapshot *shot; /* kept */
    uint64_t step, episode;
    struct ledger_figures figures; /* of its best plan */
    bool has_plan;
    struct err e; /* why its figures are not there; code 0: they are, or it has no plan */
};

struct past_view {
    struct past_job *job;
    struct past_look look;
    struct moment a, b;
    uint64_t episode; /* asked for; 0: before the first */
    uint64_t step;
    bool playing;
    int speed;
    double played_ms;
    struct list list;  /* events */
    int branch;        /* the one that o opens */
    struct err failed; /* the first that did; code 0: nothing */
};

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
    PAST_MARK,
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
    [PAST_MARK] = {"mark", "in this view", "mark this moment as B", "mark B", "m", NULL},
    [PAST_BRANCH] = {"branch", "in this view", "a new session from here", "branch", "b or Enter",
                     NULL},
    [PAST_CHOOSE] = {"choose", "in this view", "another branch", NULL, "v", NULL},
    [PAST_OPEN] = {"open", "in this view", "open that branch", "open", "o", NULL},
    [PAST_NOW] = {"now", "in this view", "to its end", NULL, "n", NULL},
    [PAST_BACK] = {"back", "in this view", "back", "back", "Esc", NULL},
};
static const struct key_table past_keys = {"time", past_actions,
                                           sizeof past_actions / sizeof *past_actions};

static const double speeds[] = {1, 2, 5, 10, 25, 100, 400}; /* episodes a second */
enum { SPEEDS = sizeof speeds / sizeof *speeds };

/* ---- moments ---- */

static void set_moment(struct moment *m, const struct snapshot *shot, uint64_t step)
{
    snapshot_release(m->shot);
    *m = (struct moment){.shot = snapshot_keep(shot), .step = step, .episode = shot->episodes};
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

/* The newest of the job, and what follows from it. */
static void take_answer(struct panel *p)
{
    struct past_view *v = p->state;

    past_job_look(v->job, &v->look);
    if (v->look.shot && v->a.shot != v->look.shot)
        set_moment(&v->a, v->look.shot, v->look.step);
    if (!v->failed.code)
        v->failed = v->look.trouble.code ? v->look.trouble : v->a.e;
    v->episode = episode_at(v, v->step);
    size_t at = 0;
    while (at < v->look.event_count && v->look.events[at].step <= v->a.step)
        at++;
    list_fit(&v->list, (int64_t)v->look.event_count, v->list.rows ? v->list.rows : 1);
    list_go(&v->list, at ? (int64_t)at - 1 : 0);
}

static void play_on(struct panel *p)
{
    struct past_view *v = p->state;
    double due = (p->scene->now_ms - v->played_ms) * speeds[v->speed] / 1000;

    if (!v->playing || due < 1 || !v->look.is_there)
        return;
    v->played_ms = p->scene->now_ms;
    go_to_episode(v, v->episode + (uint64_t)due);
    v->playing = v->episode < v->look.episode_count || !v->look.surveyed;
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
    v->speed = 3;
    past_job_look(v->job, &v->look);
    v->step = v->look.last_step;
    take_answer(p);
    return 0;
}

static void close_past(struct panel *p)
{
    struct past_view *v = p->state;

    past_job_free(v->job);
    snapshot_release(v->a.shot);
    snapshot_release(v->b.shot);
}

static bool is_live(const struct panel *p)
{
    const struct past_view *v = p->state;
    return v->job && (v->playing || !v->look.surveyed || !v->look.is_there);
}

/* ---- the timeline ---- */

/* Early episodes hold the most: the square root of the share. */
static int column_of(const struct past_view *v, uint64_t step, int width)
{
    double last = v->look.last_step ? (double)v->look.last_step : 1;

    for (int n = 0; n < v->look.branch_count; n++) /* one scale for all */
        last = fmax(last, (double)v->look.branches[n].last);
    int x = (int)(sqrt((double)step / last) * (width - 1) + 0.5);

    return x < 0 ? 0 : x >= width ? width - 1 : x;
}

enum { LANE = 8 };

/* Better plans, or what the person did, which stands over a plan in the same column. */
static void draw_points(const struct past_view *v, const struct pane *pane, int y, int n, bool acts)
{
    const struct past_branch *b = &v->look.branches[n];
    int width = pane->width - LANE, from = column_of(v, b->parts, width);

    for (int k = 0; k < b->points; k++) {
        int x = column_of(v, b->point[k].step, width);
        if ((b->point[k].ms <= 0) == acts)
            pane_put(pane, LANE + (x > from ? x : from + 1), y, (acts ? ROLE_PIN : ROLE_OK) | BOLD,
                     acts ? U'▲' : U'+');
    }
}

/* From where it leaves the search to its end, as the search above it: "a  └──▲──+── 235.6". */
static void draw_branch(const struct past_view *v, const struct pane *pane, int y, int n)
{
    const struct past_branch *b = &v->look.branches[n];
    int width = pane->width - LANE, from = column_of(v, b->parts, width),
        to = column_of(v, b->last, width);
    char text[UNITS_ROOM];
    bool chosen = n == v->branch;

    pane_format(pane, 0, y, chosen ? ROLE_TITLE | BOLD : ROLE_DIM, "%s%c",
                v->look.branch_count > 1 && chosen ? "▸ " : "  ", 'a' + n);
    pane_put(pane, LANE + from, y, ROLE_BORDER, U'└');
    pane_repeat(pane, LANE + from + 1, y, to - from, (struct cell){U'─', ROLE_BORDER});
    draw_points(v, pane, y, n, false);
    draw_points(v, pane, y, n, true);
    if (b->best_ms <= 0)
        return;
    units_plain_ms(text, b->best_ms);
    int size = (int)strlen(text);
    if (to + 2 + size <= width)
        pane_text(pane, LANE + to + 2, y, ROLE_OK, text);
    else if (from > size + 1)
        pane_text(pane, LANE + from - size - 1, y, ROLE_OK, text);
}

/* Below the lanes, to where this search ends: "0  1 more branch     420 episodes". */
static void draw_scale(const struct past_view *v, const struct pane *pane, int y, int end)
{
    char count[UNITS_ROOM], text[UNITS_ROOM + 24];
    int more = v->look.more_branches, x = pane_text(pane, LANE, y, ROLE_DIM, "0");

    if (more)
        x = pane_format(pane, LANE + 3, y, ROLE_DIM, "%d more branch%s", more,
                        more == 1 ? "" : "es");
    snprintf(text, sizeof text, "%s episodes%s", units_count(count, (int64_t)v->look.episode_count),
             v->look.surveyed ? "" : " so far");
    x += 2 + (int)strlen(text);
    end = end > x ? end : x;
    pane_right(pane, end < pane->width ? end : pane->width, y, ROLE_DIM, text);
}

static void draw_timeline(const struct panel *p, const struct pane *pane)
{
    const struct past_view *v = p->state;
    int width = pane->width - LANE, free_from = 0;
    char text[UNITS_ROOM];

    if (width < 8)
        return;
    pane_text(pane, 0, 0, ROLE_DIM, "best");
    pane_text(pane, 0, 1, ROLE_DIM, "search");
    pane_text(pane, 0, 2, ROLE_DIM, "you");
    int own = column_of(v, v->look.last_step, width) + 1, surveyed = own;
    if (!v->look.surveyed && v->look.episode_count)
        surveyed = column_of(v, v->look.episodes[v->look.episode_count - 1], width);
    pane_repeat(pane, LANE, 1, surveyed, (struct cell){U'─', ROLE_BORDER});
    for (size_t n = 0; n < v->look.event_count; n++) {
        const struct past_event *e = &v->look.events[n];
        int x = column_of(v, e->step, width);
        if (e->act) {
            pane_put(pane, LANE + x, 2, ROLE_PIN | BOLD, U'▲');
            continue;
        }
        pane_put(pane, LANE + x, 1, ROLE_OK | BOLD, U'+');
        units_plain_ms(text, e->ms);
        if (x >= free_from && x + (int)strlen(text) <= width) {
            pane_text(pane, LANE + x, 0, ROLE_OK, text);
            free_from = x + (int)strlen(text) + 1;
        }
    }
    if (v->b.shot)
        pane_put(pane, LANE + column_of(v, v->b.step, width), 1, ROLE_TITLE | BOLD, U'B');
    pane_put(pane, LANE + column_of(v, v->a.step, width), 1, ROLE_TITLE | BOLD | REVERSE, U'A');
    for (int n = 0; n < v->look.branch_count; n++)
        draw_branch(v, pane, 3 + n, n);
    draw_scale(v, pane, 3 + v->look.branch_count, LANE + own);
}

/* ---- A and B ---- */

static void draw_figure(const struct past_view *v, const struct pane *p, int y, const char *name,
                        double a, double b, int decimals)
{
    char change[UNITS_ROOM];

    pane_text(p, 0, y, ROLE_DIM, name);
    pane_right_number(p, 32, y, ROLE_TEXT, a, decimals);
    if (!v->b.shot)
        return;
    pane_right_number(p, 43, y, ROLE_TEXT, b, decimals);
    pane_right(p, 54, y, fabs(b - a) < 0.5 * pow(10, -decimals) ? ROLE_DIM : ROLE_TEXT,
               units_change(change, b - a, decimals));
}

static char *write_sentence(const struct past_view *v, char *out, size_t room)
{
    out[0] = 0;
    if (v->b.shot && v->a.has_plan && v->b.has_plan)
        versus_sentence(&(struct versus_side){"A", v->a.figures.cost, v->a.figures.reduced_bytes},
                        &(struct versus_side){"B", v->b.figures.cost, v->b.figures.reduced_bytes},
                        out, room);
    return out;
}

static void draw_figures(const struct panel *p, const struct pane *pane)
{
    const struct past_view *v = p->state;
    const struct moment *a = &v->a, *b = &v->b;
    const struct ledger_figures *f = &a->figures, *g = &b->figures;
    char title[96], text[320];
    int y = 2, ms = pane_ms_decimals(pane);

    if (!a->shot)
        return;
    const struct snapshot *s = a->shot, *t = b->shot ? b->shot : a->shot;
    if (b->shot)
        snprintf(title, sizeof title, "A episode %llu, B episode %llu",
                 (unsigned long long)a->episode, (unsigned long long)b->episode);
    else
        snprintf(title, sizeof title, "Episode %llu, decision %llu", (unsigned long long)a->episode,
                 (unsigned long long)s->decisions);
    pane_head(pane, 0, &(struct head){0, title, "", false});
    pane_right(pane, 32, 1, ROLE_DIM, "A");
    if (b->shot) {
        pane_right(pane, 43, 1, ROLE_DIM, "B");
        pane_right(pane, 54, 1, ROLE_DIM, "B - A");
    }
    if (a->has_plan) {
        draw_figure(v, pane, y++, "best step, ms", f->cost.step_ms, g->cost.step_ms, ms);
        draw_figure(v, pane, y++, "computing", f->cost.compute_ms, g->cost.compute_ms, ms);
        draw_figure(v, pane, y++, "collectives", f->cost.communication_ms, g->cost.communication_ms,
                    ms);
        draw_figure(v, pane, y++, "all-reduces", f->reduces, g->reduces, 0);
        draw_figure(v, pane, y++, "memory, GB", f->memory.peak / 1e9, g->memory.peak / 1e9, 1);
    }
    draw_figure(v, pane, y++, "epsilon", s->epsilon, t->epsilon, 2);
    draw_figure(v, pane, y++, "loss", s->loss, t->loss, 4);
    draw_figure(v, pane, y++, "updates", (double)s->updates, (double)t->updates, 0);
    draw_figure(v, pane, y++, "decisions", (double)s->decisions, (double)t->decisions, 0);
    draw_figure(v, pane, y++, "conflicts", (double)s->conflicts, (double)t->conflicts, 0);
    struct pane rest = pane_part(pane, 0, y, pane->width, pane->height - y);
    pane_sentence(&rest, ROLE_TITLE | BOLD, write_sentence(v, text, sizeof text));
}

/* ---- what happened ---- */

static void draw_events(struct panel *p, const struct pane *pane)
{
    struct past_view *v = p->state;
    char note[48];

    snprintf(note, sizeof note, "[ ] last, next · %zu", v->look.event_count);
    pane_head(pane, 0, &(struct head){0, "What happened", note, false});
    list_fit(&v->list, (int64_t)v->look.event_count, pane->height > 1 ? pane->height - 1 : 1);
    for (int y = 0; y < v->list.rows && v->list.top + y < v->list.count; y++) {
        const struct past_event *e = &v->look.events[v->list.top + y];
        bool past = e->step <= v->a.step, here = v->list.top + y == v->list.cursor && past;
        pane_right_number(pane, 6, y + 1, ROLE_DIM, (double)e->episode, 0);
        int x = 7;
        if (e->act)
            x = pane_format(pane, x, y + 1, ROLE_PIN | BOLD, "%u ", e->act);
        pane_cut(pane, x, y + 1, pane->width - x,
                 !past    ? ROLE_DIM
                 : e->act ? ROLE_TEXT
                          : ROLE_OK,
                 e->text);
        if (here)
            pane_select(pane, y + 1, ROLE_SELECT);
    }
}

/* ---- the decision vector of either best plan ---- */

static uint32_t splits(const struct snapshot *s, const struct live_plan *plan, uint32_t move)
{
    const struct game_move *m = &s->moves->items[move];
    uint32_t count = 0;

    for (uint32_t n = 0; n < m->class_count; n++)
        count += plan->on[s->moves->pool[m->classes + n]] >> m->axis & 1;
    return count;
}

static bool has_names(const struct watch *w, const struct snapshot *s)
{
    return s->best && s->moves->count == (uint32_t)w->move_count &&
           s->problem->classes.count == w->problem->classes.count;
}

static void draw_choice(const struct pane *p, int x, int y, uint32_t part, uint32_t of)
{
    unsigned style = part ? ROLE_CHOICE_1 | BOLD : ROLE_CHOICE_0;

    if (part == 0 || part == of)
        pane_text(p, x, y, style, part ? "1" : "0");
    else
        pane_format(p, x, y, style, "%u/%u", part, of);
}

static void draw_vector(const struct panel *p, const struct pane *pane)
{
    const struct past_view *v = p->state;
    const struct watch *w = p->scene->watch;
    const struct snapshot *a = v->a.shot, *b = v->b.shot;
    int x = 10;

    if (pane->height < 4 || !a || !has_names(w, a) || (b && !has_names(w, b)))
        return;
    pane_head(pane, 0,
              &(struct head){0, "Decisions of the best plan", b ? "^ differs" : "", false});
    pane_text(pane, 0, 1, ROLE_DIM, "group");
    pane_text(pane, 0, 2, ROLE_DIM, "A");
    pane_text(pane, 0, 3, ROLE_DIM, b ? "B" : "");
    for (int n = 0; n < w->move_count; n++) {
        char name[NAME_ROOM];
        watch_short_name(name, sizeof name, w->move[n].name, 12);
        int width = (int)strlen(name) > 4 ? (int)strlen(name) : 4;
        if (x + width + 6 > pane->width && n + 1 < w->move_count) {
            pane_format(pane, x, 1, ROLE_DIM, "%d more", w->move_count - n);
            return;
        }
        uint32_t of = a->moves->items[n].class_count, mine = splits(a, a->best, (uint32_t)n),
                 other = b ? splits(b, b->best, (uint32_t)n) : mine;
        pane_text(pane, x, 1, mine == other ? ROLE_DIM : ROLE_TITLE | BOLD, name);
        draw_choice(pane, x, 2, mine, of);
        if (b)
            draw_choice(pane, x, 3, other, of);
        if (mine != other)
            pane_put(pane, x + 3, 3, ROLE_CHANGED | BOLD, U'^');
        x += width + 1;
    }
}

/* ---- the view ---- */

static void draw_past(struct panel *p, const struct pane *pane)
{
    struct past_view *v = p->state;
    char note[128];

    if (!v->job)
        return;
    take_answer(p);
    play_on(p);
    snprintf(note, sizeof note, "%s at episode %llu of %zu%s · %g episodes/s",
             v->playing ? "▶" : "‖", (unsigned long long)v->episode, v->look.episode_count,
             v->look.surveyed ? "" : " so far", speeds[v->speed]);
    pane_head(pane, 0, &(struct head){0, "Time", note, true});
    struct pane line = pane_part(pane, 0, 1, pane->width, 4 + v->look.branch_count);
    draw_timeline(p, &line);
    int y = 6 + v->look.branch_count, vector = pane->height >= 26 ? 5 : 0;
    bool both = pane->width >= 100;
    int half = both ? 60 : pane->width, room = pane->height - y - vector;
    struct pane left = pane_part(pane, 0, y, half - (both ? 3 : 0), room < 14 || both ? room : 14);
    draw_figures(p, &left);
    if (both) {
        struct pane right = pane_part(pane, half, y, pane->width - half, room);
        draw_events(p, &right);
    } else if (room > 17) {
        struct pane low = pane_part(pane, 0, y + 15, pane->width, room - 15);
        draw_events(p, &low);
    }
    struct pane low = pane_part(pane, 0, pane->height - vector, pane->width, vector);
    draw_vector(p, &low);
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
        host_say(scene, "no other session left this one; b makes a branch");
    else if (!session_find(path, scene->state_dir, v->look.branches[v->branch].name))
        host_say(scene, "that session is gone");
    else if (host_resume(scene, path, "the other session; the one before is kept", &e))
        host_say_err(scene, &e);
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
    } else if (action == PAST_MARK && (!v->a.shot || !v->look.is_there)) {
        host_say(p->scene, "this moment is still being played; m again when it is there");
    } else if (action == PAST_MARK) {
        set_moment(&v->b, v->a.shot, v->a.step);
        host_say(p->scene, "B is episode %llu; A is where you go",
                 (unsigned long long)v->b.episode);
    } else if (action == PAST_NOW) {
        v->playing = false;
        go_to_step(v, v->look.last_step);
    } else if (action == PAST_BRANCH && v->a.shot) {
        branch(p);
    } else if (action == PAST_CHOOSE) {
        v->branch = v->branch + 1 < v->look.branch_count ? v->branch + 1 : 0;
    } else if (action == PAST_OPEN) {
        open_branch(p);
    } else if (action == PAST_BACK) {
        host_close(p->scene);
    }
    return true;
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

    if (v->failed.code)
        snprintf(out, room, "%s", v->failed.what);
    else if (!v->look.surveyed)
        snprintf(out, room, "reading the journal: %zu episodes so far", v->look.episode_count);
    else if (!*write_sentence(v, out, room))
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
               (unsigned long long)v->b.episode, write_sentence(v, text, sizeof text));
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
    .keys = &past_keys,
    .hints = "earlier event-before play slower mark branch open export=page back",
    .size = sizeof(struct past_view),
    .open = open_past,
    .close = close_past,
    .draw = draw_past,
    .act = act_past,
    .move = move_past,
    .page = page_past,
    .message = message_past,
    .is_live = is_live,
    .settle = settle_past,
    .failed = fail_past,
};
