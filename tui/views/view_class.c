/* C, the classroom: one decision of the learner and the update after it, part by part; the same
 * search with one of its parts switched, beside the one before; and games with a known answer. */
#include "engine/live/snapshot.h"
#include "engine/live/watched.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "rl/games.h"
#include "rl/settings.h"
#include "rl/taught.h"
#include "tui/screen/grid.h"
#include "tui/screen/keys.h"
#include "tui/screen/list.h"
#include "tui/screen/theme.h"
#include "tui/views/actions.h"
#include "tui/views/class_draw.h"
#include "tui/views/class_view.h"
#include "tui/views/host.h"
#include "tui/views/panel.h"
#include "tui/views/views.h"
#include "tui/watch/game_job.h"
#include "tui/watch/watch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    CLASS_NEXT,
    CLASS_WHOLE,
    CLASS_EPISODE,
    CLASS_RUN,
    CLASS_SLOWER,
    CLASS_FASTER,
    CLASS_PAGE,
    CLASS_SWITCH_1, /* to 6 */
    CLASS_OVERLAY = CLASS_SWITCH_1 + CLASS_SWITCHES,
    CLASS_UNDO,
    CLASS_REDO,
    CLASS_GAME,
    CLASS_SEARCH,
    CLASS_HAND_LEFT,
    CLASS_HAND_RIGHT,
    CLASS_BACK,
    CLASS_ACTIONS
};
#define SWITCH(n, key) \
    [CLASS_SWITCH_1 + (n)] = {"switch-" key, "in this view", NULL, NULL, key, NULL}
static const struct action class_actions_table[CLASS_ACTIONS] = {
    [CLASS_NEXT] = {"part", "in this view", "the next part of this update", "next part", ",", NULL},
    [CLASS_WHOLE] = {"update", "in this view", "one update", "one update", ".", NULL},
    [CLASS_EPISODE] = {"episode", "in this view", "one episode", NULL, "E", NULL},
    [CLASS_RUN] = {"run", "in this view", "run, pause", "run", "Space", NULL},
    [CLASS_SLOWER] = {"slower", "in this view", "slower, faster", "pace", "{", NULL},
    [CLASS_FASTER] = {"faster", "in this view", NULL, NULL, "}", NULL},
    [CLASS_PAGE] = {"page", "in this view", "the next page of a small screen", "page", "Tab", NULL},
    [CLASS_SWITCH_1] = {"switch-1", "in this view", "run again without, beside this: 1 to 6",
                        "switch", "1", NULL},
    SWITCH(1, "2"),
    SWITCH(2, "3"),
    SWITCH(3, "4"),
    SWITCH(4, "5"),
    SWITCH(5, "6"),
    [CLASS_OVERLAY] = {"overlay", "in this view", "the run before, or not", "overlay", "o", NULL},
    [CLASS_UNDO] = {"undo", "in this view", "undo, redo a switch", "undo", "u", NULL},
    [CLASS_REDO] = {"redo", "in this view", NULL, NULL, "C-r", NULL},
    [CLASS_GAME] = {"game", "in this view", "a game, the next one", "game", "g", NULL},
    [CLASS_SEARCH] = {"search", "in this view", "back to the search", NULL, "G", NULL},
    [CLASS_HAND_LEFT] = {"hand-left", "in this view", "decide by hand: 0, the last action", NULL,
                         "h or Left", NULL},
    [CLASS_HAND_RIGHT] = {"hand-right", "in this view", NULL, NULL, "l or Right", NULL},
    [CLASS_BACK] = {"back", "in this view", "back", "back", "Esc", NULL},
};
static const struct key_table class_keys = {"class", class_actions_table, CLASS_ACTIONS};

/* ---- what is shown ---- */

static void forget_lessons(struct classroom *v)
{
    v->decision = v->learned_at = 0;
    v->now.rl.decision = v->last.rl.decision = 0;
    v->learned.rl.updates = v->before.rl.updates = 0;
}

const struct snapshot *class_shot(const struct panel *p)
{
    return p->scene->watch ? p->scene->watch->shot : NULL;
}

const struct rl_lesson *class_lesson(const struct panel *p)
{
    const struct classroom *v = p->state;
    const struct snapshot *s = class_shot(p);

    if (v->game)
        return v->look.has_lesson ? &v->look.lesson : NULL;
    return s && s->lesson ? &s->lesson->rl : NULL;
}

static enum class_part last_part(const struct rl_lesson *l)
{
    return l->updates ? CLASS_COPY : CLASS_STORE;
}

/* What was decided and learned last stays to be seen, dim, until the next has come so far. */
static void keep_lesson(const struct panel *p, const struct rl_lesson *l)
{
    struct classroom *v = p->state;

    v->last = v->now;
    if (!v->game)
        v->now = *class_shot(p)->lesson;
    v->now.rl = *l;
    if (!l->updates)
        return;
    v->before = v->learned;
    v->learned = v->now;
    v->learned_at = l->decision;
}

/* The update seen last before the one that is due, or none. */
static const struct live_lesson *update_before(const struct classroom *v, const struct rl_lesson *l)
{
    const struct live_lesson *k = l && l->updates ? &v->before : &v->learned;

    return v->learned_at && k->rl.updates ? k : NULL;
}

/* A decision not seen yet begins at its first part, or is shown whole. */
void class_follow(struct panel *p)
{
    struct classroom *v = p->state;

    if (v->game)
        game_job_look(v->game, &v->look);
    const struct rl_lesson *l = class_lesson(p);
    if (!l || l->decision == v->decision)
        return;
    keep_lesson(p, l);
    v->decision = l->decision;
    v->part = v->by_part ? CLASS_LOOK : last_part(l);
    if (l->updates)
        list_fit(&v->row, l->rows, v->row.rows ? v->row.rows : 1);
}

struct class_shown class_shown_now(const struct panel *p)
{
    static const char *const answers[] = {"whole", "split"};
    const struct classroom *v = p->state;
    const struct snapshot *s = class_shot(p);
    struct class_shown c = {.lesson = class_lesson(p), .part = v->part, .focus = true};

    c.row = (uint32_t)v->row.cursor;
    c.top = v->row.top;
    const struct live_lesson *before = update_before(v, c.lesson);
    c.before = before ? &before->rl : NULL;
    c.before_move = before && !v->game ? before->row_move : NULL;
    c.last = c.lesson && v->last.rl.decision ? &v->last : NULL;
    if (v->game) {
        c.settings = &v->look.now.settings;
        c.inputs = v->look.inputs;
        c.actions = class_actions(&v->look);
        c.action_count = v->look.actions;
        return c;
    }
    c.live = s->lesson;
    c.watch = p->scene->watch;
    c.settings = c.live ? &c.live->settings : &s->options.rl;
    c.inputs = c.live                        ? c.live->inputs
               : s->options.game.paper_state ? s->moves->count + 1
                                             : 3 * s->moves->count + 1;
    c.actions = answers;
    c.action_count = 2;
    return c;
}

/* ---- open, close ---- */

static int begin_game(struct panel *p, const struct rl_game *game, struct err *e)
{
    struct classroom *v = p->state;
    struct game_job *next;
    int rc = game_job_new(game, p->scene->now_ms > 0, &next, e);

    if (rc)
        return rc;
    game_job_free(v->game);
    v->game = next;
    forget_lessons(v);
    v->part = CLASS_LOOK;
    class_follow(p);
    return 0;
}

static void close_class(struct panel *p)
{
    struct classroom *v = p->state;

    game_job_free(v->game);
    class_curves_free(&v->curves);
}

static int open_class(struct panel *p, const void *arg, struct err *e)
{
    struct classroom *v = p->state;
    const struct rl_game *game = arg;

    class_curves_new(&v->curves);
    v->part = CLASS_COPY;
    if (!game && !class_shot(p))
        game = &rl_game_table[0];
    if (game && begin_game(p, game, e)) {
        close_class(p);
        return e->code;
    }
    class_follow(p);
    return 0;
}

static void read_class(struct panel *p)
{
    class_follow(p);
}

/* ---- rows 1 and 2 ---- */

static bool about_class(const struct panel *p, struct panel_about *out)
{
    const struct classroom *v = p->state;

    return v->game && class_game_about(&v->look, out);
}

static bool headline_class(const struct panel *p, const struct pane *row)
{
    const struct classroom *v = p->state;

    return v->game && class_draw_earned(&v->look, row);
}

/* ---- keys ---- */

/* Decisions to be made until an update is due. */
static uint32_t until_update(const struct panel *p)
{
    const struct class_shown s = class_shown_now(p);
    uint64_t made = s.lesson ? s.lesson->decision : 0, next = made + 1;

    next = next < s.settings->learn_start ? s.settings->learn_start : next;
    next = (next + s.settings->train_every - 1) / s.settings->train_every * s.settings->train_every;
    return (uint32_t)(next - made);
}

static void make_decisions(struct panel *p, uint32_t count)
{
    struct classroom *v = p->state;

    if (v->game)
        game_job_step(v->game, count);
    else
        watch_send(p->scene->watch, "decide %u", count);
    class_follow(p);
}

static void next_part(struct panel *p)
{
    struct classroom *v = p->state;
    const struct rl_lesson *l = class_lesson(p);

    if (l && v->by_part && v->part < last_part(l)) {
        v->part++;
        return;
    }
    v->by_part = true;
    make_decisions(p, 1);
}

static void whole_update(struct panel *p)
{
    struct classroom *v = p->state;
    const struct rl_lesson *l = class_lesson(p);

    v->by_part = false;
    if (l && l->updates && v->part < CLASS_COPY)
        v->part = CLASS_COPY;
    else
        make_decisions(p, until_update(p));
}

static void flip_of_search(struct panel *p, int n)
{
    struct classroom *v = p->state;
    const struct snapshot *s = class_shot(p);
    uint64_t so_far = s->episodes - s->began;
    bool ran = s->state == LIVE_RUNNING;
    char value[16];

    forget_lessons(v);
    class_switch_other(&s->options.rl, n, value);
    watch_send(p->scene->watch, "again %s %s", class_switches[n].option, value);
    if (!ran && so_far)
        watch_send(p->scene->watch, "episode %llu", (unsigned long long)so_far);
    host_say(p->scene, "%s %s: the same seed from its start%s; u goes back", class_switches[n].name,
             value, ran || !so_far ? "" : ", as many episodes");
}

static void flip_of_game(struct panel *p, int n)
{
    struct classroom *v = p->state;
    struct rl_settings next = v->look.now.settings;
    struct err e = {0};
    char value[16];

    class_switch_other(&next, n, value);
    if (rl_settings_set(&next, class_switches[n].option, value) ||
        game_job_again(v->game, &next, &e)) {
        host_say(p->scene, "%s %s: %s", class_switches[n].name, value, e.what);
        return;
    }
    host_say(p->scene, "%s %s: the same seed from its start; u goes back", class_switches[n].name,
             value);
    forget_lessons(v);
    class_follow(p);
}

/* Runs the same seed again with that part switched; what it came to stays beside it. */
static void flip_switch(struct panel *p, int n)
{
    struct classroom *v = p->state;

    v->alone = v->by_part = false;
    if (v->game)
        flip_of_game(p, n);
    else
        flip_of_search(p, n);
}

/* In a game its own switches; the search behind it is left alone. */
static void undo_switch(struct panel *p, int by)
{
    struct classroom *v = p->state;
    struct rl_settings from, to;
    char changes[64];

    if (!v->game) {
        host_act(p->scene, &common_keys, by < 0 ? ACT_UNDO : ACT_REDO);
        return;
    }
    if (!game_job_undo(v->game, by, &from, &to)) {
        host_say(p->scene, "no switch of the game to %s", by < 0 ? "undo" : "redo");
        return;
    }
    v->alone = v->by_part = false;
    forget_lessons(v);
    class_follow(p);
    host_say(p->scene, "%s again: the same seed from its start; %u to undo, %u to redo",
             class_write_changes(&to, &from, changes, sizeof changes), v->look.undoable,
             v->look.redoable);
}

static void change_pace(struct panel *p, double by)
{
    static const double paces[] = {1, 2, 5, 20, 60, 200, 0};
    enum { PACES = sizeof paces / sizeof *paces };
    struct classroom *v = p->state;
    int n = 0;

    while (n + 1 < PACES && paces[n] != v->look.pace)
        n++;
    n += by > 0 ? 1 : -1;
    n = n < 0 ? 0 : n >= PACES ? PACES - 1 : n;
    game_job_pace(v->game, paces[n]);
    if (paces[n] > 0)
        host_say(p->scene, "%.0f decision%s a second", paces[n], n ? "s" : "");
    else
        host_say(p->scene, "full speed");
}

static void next_game(struct panel *p)
{
    struct classroom *v = p->state;
    const struct rl_game *g = v->game ? v->look.game + 1 : rl_game_table;
    struct err e = {0};

    if (begin_game(p, g->name ? g : rl_game_table, &e))
        host_say_err(p->scene, &e);
    else
        host_say(p->scene, "%s: %s; g the next game%s", v->look.game->name, v->look.game->summary,
                 p->scene->watch ? ", G back to the search" : "");
}

static bool by_hand(struct panel *p, bool last)
{
    struct classroom *v = p->state;

    if (!v->game) {
        watch_send(p->scene->watch, "force %d", last);
        return true;
    }
    game_job_force(v->game, last ? v->look.actions - 1 : 0);
    v->by_part = false;
    class_follow(p);
    return true;
}

static bool act_class(struct panel *p, int action)
{
    struct classroom *v = p->state;

    if (action >= CLASS_SWITCH_1 && action < CLASS_SWITCH_1 + CLASS_SWITCHES) {
        flip_switch(p, action - CLASS_SWITCH_1);
        return true;
    }
    switch (action) {
    case CLASS_NEXT:
        next_part(p);
        return true;
    case CLASS_WHOLE:
        whole_update(p);
        return true;
    case CLASS_EPISODE:
        v->by_part = false;
        if (v->game)
            game_job_episode(v->game);
        else
            watch_send(p->scene->watch, "episode 1");
        return true;
    case CLASS_RUN:
        v->by_part = false;
        if (v->game)
            game_job_run(v->game, !v->look.running);
        else
            watch_send(p->scene->watch, class_shot(p)->state == LIVE_RUNNING ? "pause" : "run");
        return true;
    case CLASS_SLOWER:
    case CLASS_FASTER:
        if (v->game)
            change_pace(p, action == CLASS_FASTER ? 1 : -1);
        else
            host_act(p->scene, &common_keys, action == CLASS_FASTER ? ACT_FASTER : ACT_SLOWER);
        return true;
    case CLASS_PAGE:
        v->page = (v->page + 1) % CLASS_PAGES;
        return true;
    case CLASS_OVERLAY:
        v->alone = !v->alone;
        return true;
    case CLASS_UNDO:
    case CLASS_REDO:
        undo_switch(p, action == CLASS_REDO ? 1 : -1);
        return true;
    case CLASS_GAME:
        next_game(p);
        return true;
    case CLASS_SEARCH:
        if (!p->scene->watch)
            return false;
        game_job_free(v->game);
        v->game = NULL;
        forget_lessons(v);
        class_follow(p);
        return true;
    case CLASS_HAND_LEFT:
    case CLASS_HAND_RIGHT:
        return by_hand(p, action == CLASS_HAND_RIGHT);
    default:
        host_close(p->scene);
        return true;
    }
}

static bool works_class(const struct panel *p, int action)
{
    const struct classroom *v = p->state;
    const struct snapshot *s = class_shot(p);
    bool has_before = v->game ? v->look.before.count > 0 : s && s->run_before.ended > 0;

    if (action == CLASS_SEARCH)
        return v->game && p->scene->watch;
    if (action == CLASS_PAGE)
        return class_is_small(p->width, p->height);
    return action != CLASS_OVERLAY || has_before;
}

static bool move_class(struct panel *p, enum list_move move)
{
    return list_move(&((struct classroom *)p->state)->row, move);
}

/* w asks about the decision that was made. */
static int move_here_class(const struct panel *p)
{
    const struct classroom *v = p->state;
    const struct snapshot *s = class_shot(p);

    return !v->game && s && s->lesson ? (int)s->lesson->move : MOVE_NONE;
}

static bool is_live_class(const struct panel *p)
{
    const struct classroom *v = p->state;
    return v->game && v->look.busy;
}

static void message_class(const struct panel *p, char *out, size_t room)
{
    struct class_shown s = class_shown_now(p);
    class_sentence(&s, out, room);
}

/* The two runs as a table. */
static bool page_class(const struct panel *p, struct str *out)
{
    const struct classroom *v = p->state;
    const struct snapshot *s = class_shot(p);
    const struct rl_settings *now = v->game ? &v->look.now.settings : s ? &s->options.rl : NULL;
    const struct rl_settings *old = v->game
                                        ? (v->look.before.count ? &v->look.before.settings : NULL)
                                        : (s && s->run_before.ended ? &s->run_before.rl : NULL);

    if (!now || !old || !out)
        return now && old;
    class_write_settings(v->game ? v->look.game->name : p->scene->model_name, now, old, out);
    if (v->game) {
        str_format(
            out, "| decisions | %llu | %llu |\n| best mean of 100 episodes | %.4g | %.4g |\n",
            (unsigned long long)v->look.now.decisions, (unsigned long long)v->look.before.decisions,
            v->look.now.best, v->look.before.best);
        return true;
    }
    const struct live_run *r = &s->run_before;
    str_format(out, "| episodes | %llu | %llu |\n", (unsigned long long)(s->episodes - s->began),
               (unsigned long long)(r->ended - r->began));
    str_format(out, "| best step, ms | %.4g | %.4g |\n", s->best ? s->best->cost.step_ms : NAN,
               r->best_ms);
    return true;
}

const struct panel_ops view_class = {
    .name = "class",
    .title = "Classroom",
    .place = PLACE_FULL,
    .of_search = true,
    .keys = &class_keys,
    .hints = "part update run down=row switch-1 overlay page game why export=page help back",
    .size = sizeof(struct classroom),
    .open = open_class,
    .close = close_class,
    .read = read_class,
    .draw = class_draw,
    .about = about_class,
    .headline = headline_class,
    .act = act_class,
    .works = works_class,
    .move = move_class,
    .move_here = move_here_class,
    .page = page_class,
    .message = message_class,
    .is_live = is_live_class,
    .live_ms = 40,
};
