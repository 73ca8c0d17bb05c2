/* Panel 6. In slow motion it follows the search; at speed, the person's cursor. */
#include "engine/decide/classes.h"
#include "engine/decide/names.h"
#include "engine/live/snapshot.h"
#include "engine/live/watched.h"
#include "hlo/support/err.h"
#include "tui/screen/grid.h"
#include "tui/screen/keys.h"
#include "tui/screen/layout.h"
#include "tui/screen/list.h"
#include "tui/views/class_draw.h"
#include "tui/views/panel.h"
#include "tui/views/views.h"
#include "tui/watch/wave.h"

#include "engine/text/units.h"
#include "tui/screen/theme.h"
#include "tui/screen/utf8.h"
#include "tui/views/host.h"
#include "tui/watch/flips.h"
#include "tui/watch/other_plans.h"
#include "tui/watch/watch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { DECISION_BACK, DECISION_FORWARD, DECISION_PLAY };
static const struct action decision_actions[] = {
    [DECISION_BACK] = {"wave-back", "in this panel", "last wave, one step back, on", "wave",
                       "h or Left", "Left"},
    [DECISION_FORWARD] = {"wave-on", "in this panel", NULL, NULL, "l or Right", "Right"},
    [DECISION_PLAY] = {"wave-play", "in this panel", "last wave in slow motion", "play", "Enter",
                       NULL},
};
static const struct key_table decision_keys = {"decision", decision_actions, 3};

struct decision {
    char title[48];
    struct flips *flips;
};

static int open_decision(struct panel *p, const void *arg, struct err *e)
{
    (void)arg;
    (void)e;
    ((struct decision *)p->state)->flips = flips_new();
    return 0;
}

static void close_decision(struct panel *p)
{
    flips_free(((struct decision *)p->state)->flips);
}

/* The decision shown. */
static int shown_move(const struct watch *w)
{
    if (w->position != MOVE_NONE)
        return w->position;
    return w->cursor < w->move_count ? w->cursor : MOVE_NONE;
}

static bool at_position(const struct watch *w)
{
    return w->position != MOVE_NONE;
}

/* Ends of the columns of figures. */
struct columns {
    int q, visits, step;
};

static struct columns columns_for(int width)
{
    int gap = width >= 48 ? 11 : 9;
    int step = width >= 60 ? 12 + 3 * gap : width;
    return (struct columns){.step = step, .visits = step - gap, .q = step - 2 * gap};
}

static void draw_titles(const struct pane *p, const struct columns *c)
{
    pane_right(p, c->q, 0, ROLE_DIM, "Q");
    pane_right(p, c->visits, 0, ROLE_DIM, "visits");
    pane_right(p, c->step, 0, ROLE_DIM, "step ms");
}

static void draw_answer(const struct watch *w, const struct pane *p, int y, int split,
                        const struct columns *c)
{
    const struct snapshot *s = w->shot;
    char text[UNITS_ROOM];

    int x = pane_text(p, 0, y, split ? ROLE_CHOICE_1 | BOLD : ROLE_CHOICE_0, split ? "1" : "0");
    pane_text(p, x + 1, y, ROLE_TEXT, split ? "split" : "whole");
    if (s->has_q)
        pane_right_number(p, c->q, y, ROLE_TEXT, (double)s->q[split], 3);
    else
        pane_right(p, c->q, y, ROLE_DIM, "-");
    pane_right(p, c->visits, y, ROLE_TEXT, units_count(text, s->visits[split]));
    double change = s->price[split] - s->step_ms;
    if (s->price[split] < 0) {
        pane_right(p, c->step, y, ROLE_DIM, "masked");
        return;
    }
    pane_right(p, c->step, y, ROLE_TEXT, units_change(text, change, pane_ms_decimals(p)));
}

/* "dim label   text", cut in the middle of the text where it must be. */
static void draw_fact(const struct pane *p, int y, const char *what, const char *text)
{
    if (y >= p->height)
        return;
    pane_text(p, 0, y, ROLE_DIM, what);
    int x = p->width >= 44 ? 11 : utf8_text_columns(what) + 1;
    pane_cut(p, x, y, p->width - x, ROLE_TEXT, text);
}

static void draw_margin(const struct watch *w, const struct pane *p, int y)
{
    const struct snapshot *s = w->shot;
    char text[160];

    if (y >= p->height)
        return;
    if (!s->has_q) {
        pane_text(p, 0, y, ROLE_DIM, "no Q: this search does not learn");
        return;
    }
    double margin = fabs((double)s->q[1] - (double)s->q[0]);
    int size =
        snprintf(text, sizeof text, "margin %.3f%s", margin, margin < 0.005 ? ", not settled" : "");
    if (p->width >= 50 && s->epsilon > 0)
        snprintf(text + size, sizeof text - (size_t)size, "; ε %.2f explores %.0f in 100",
                 s->epsilon, s->epsilon * 100);
    pane_text(p, 0, y, ROLE_DIM, text);
}

/* "last wave  decoder cross 2 = 1 ~ 131 values, 9 steps"; while it is lit up, "step 3 of 9". */
static void draw_wave(const struct watch *w, const struct pane *p, int y)
{
    const struct wave *v = &w->wave;
    bool wide = p->width >= 44;
    char count[UNITS_ROOM], tail[96], name[NAME_ROOM];

    if (y >= p->height)
        return;
    int x = pane_text(p, 0, y, ROLE_DIM, wide ? "last wave" : "wave");
    x = wide ? 11 : x + 1;
    if (!v->steps) {
        pane_text(p, x, y, ROLE_DIM, "none yet");
        return;
    }
    units_count(count, v->values);
    if (v->shown < v->steps)
        snprintf(tail, sizeof tail, " step %u of %u", v->shown, v->steps);
    else
        snprintf(tail, sizeof tail, wide ? " %s dims, %u steps" : " %s dims", count, v->steps);
    const struct watch_move *m = &w->move[v->move];
    int room = p->width - x - utf8_text_columns(tail) - 6;
    x = pane_text(p, x, y, ROLE_TEXT, watch_move_name(w, (int)v->move, name, sizeof name, room));
    x = pane_text(p, x, y, ROLE_DIM, " = ");
    x = pane_text(p, x, y, m->now == 1 ? ROLE_CHOICE_1 | BOLD : ROLE_CHOICE_0,
                  m->now == 1 ? "1" : "0");
    x = pane_text(p, x, y, ROLE_CHANGED | BOLD, " ~");
    pane_text(p, x, y, ROLE_TEXT, tail);
}

/* The classes of the wave in order, as many as there is room for: what each became, where it met
 * the one decided. */
static void draw_wave_classes(const struct watch *w, const struct pane *p, int y)
{
    const struct snapshot *s = w->shot;
    const struct classes *c = &w->problem->classes;
    char name[NAME_ROOM], count[UNITS_ROOM];
    uint32_t rows = 0, room = p->height > y + 1 ? (uint32_t)(p->height - y - 1) : 0;

    if (!w->wave.steps || room < 2 || p->width < 44)
        return;
    uint32_t shown = s->wave_count <= room ? s->wave_count : room - 1;
    for (; rows < shown; rows++) {
        const struct live_change *change = &s->wave[rows];
        bool split = change->on & w->wave.axes;
        int at = ++y, end = p->width - 12;
        class_name(&w->names, change->class, name);
        int x =
            pane_text(p, 11, at, split ? ROLE_CHOICE_1 | BOLD : ROLE_CHOICE_0, split ? "1" : "0");
        char brief[NAME_ROOM];
        pane_text(p, x + 1, at, ROLE_TEXT,
                  watch_short_name(brief, sizeof brief, name, end - x - 2));
        pane_right_format(p, p->width, at, ROLE_DIM, "%s dims",
                          units_count(count, c->info[change->class].dim_count));
    }
    if (shown < s->wave_count)
        pane_format(p, 11, y + 1, ROLE_DIM, "%u more", s->wave_count - shown);
}

static void draw_open(const struct watch *w, const struct pane *p, int y)
{
    char text[96], ms[UNITS_ROOM];
    int open = 0;

    for (int n = 0; n < w->move_count; n++)
        open += w->move[n].now < 0;
    snprintf(text, sizeof text, "%s, %d of %d decisions open", units_ms(ms, w->shot->step_ms), open,
             w->move_count);
    draw_fact(p, y, "so far", text);
}

/* Better plans this search does not hold. */
static void draw_elsewhere(const struct watch *w, const struct pane *p, int y)
{
    struct elsewhere list[ELSEWHERE_MOST];
    char text[160] = "", ms[UNITS_ROOM];
    size_t size = 0;
    int count = elsewhere(w, list);

    for (int n = 0; n < count && size < 100; n++)
        size += (size_t)snprintf(text + size, sizeof text - size, "%s%s %s", size ? " · " : "",
                                 units_plain_ms(ms, list[n].step_ms), list[n].name);
    if (size)
        draw_fact(p, y, "elsewhere", text);
}

static void draw_position(const struct watch *w, const struct pane *p)
{
    struct columns c = columns_for(p->width);
    int y = p->height >= 4;

    if (y)
        draw_titles(p, &c);
    draw_answer(w, p, y++, 1, &c);
    draw_answer(w, p, y++, 0, &c);
    draw_margin(w, p, y++);
    draw_wave(w, p, y++);
    draw_open(w, p, y++);
    draw_elsewhere(w, p, y++);
    draw_wave_classes(w, p, y);
}

static const char *answer_bits(uint32_t split, uint32_t of, char out[static 32])
{
    if (split == 0 || split == of)
        snprintf(out, 32, "%s", split ? "1 split" : "0 whole");
    else
        snprintf(out, 32, "%u of %u split", split, of);
    return out;
}

/* What panel 2 shows in the row of the cursor: one decision, or the layers of a series. */
struct looked {
    int first, count;
    bool one; /* of them only one can be split */
};

static struct looked looked_at(const struct watch *w, int move)
{
    if (w->apart)
        return (struct looked){move, 1, false};
    int first = watch_series_begin(w, move), count = watch_series_end(w, first) - first;
    return (struct looked){first, count, count > 1 && w->move[first].series_only != MOVE_NONE};
}

/* "it alone is", "these 6 alone are", "one of 2 alone is". */
static const char *who_alone(const struct looked *l, char out[static 40])
{
    if (l->count == 1)
        snprintf(out, 40, "it alone is");
    else
        snprintf(out, 40, l->one ? "one of %d alone is" : "these %d alone are", l->count);
    return out;
}

/* "+99.6 ms if it is whole, 3 others in its way": of the best plan. */
static void draw_turned(const struct decision *v, const struct watch *w, const struct pane *p,
                        int y, const struct looked *l)
{
    struct flip f = flips_of(v->flips, w, l->first, l->count, 0);
    const char *in_best = watch_is_baseline(w) ? "in base" : "in best";
    char text[160], change[UNITS_ROOM], who[32] = "";
    int size;

    if (!f.known)
        return;
    if (f.impossible) {
        draw_fact(p, y, in_best, "it can not be the other way");
        return;
    }
    if (l->count > 1)
        snprintf(who, sizeof who, f.one ? "one of %d " : "all %d ", l->count);
    size = snprintf(text, sizeof text, "%s ms if %s%s there",
                    units_change(change, f.change_ms, pane_ms_decimals(p)), who,
                    f.split ? "split" : "whole");
    if (f.in_way && p->width >= 44)
        snprintf(text + size, sizeof text - (size_t)size, ", %u other%s whole then", f.in_way,
                 f.in_way == 1 ? "" : "s");
    int room = p->width - (p->width >= 44 ? 11 : utf8_text_columns(in_best) + 1);
    if (size > room) /* the figure alone rather than a sentence without its middle */
        *strstr(text, " if ") = 0;
    draw_fact(p, y, in_best, text);
}

/* What the episode shown says of all of a row: "1 split", "2 of 6 split", "open". */
static const char *say_now(const struct watch *w, const struct looked *l, char out[static 32])
{
    uint32_t split = 0, classes = 0;
    int open = 0;

    for (int n = l->first; n < l->first + l->count; n++) {
        open += w->move[n].now < 0;
        split += w->move[n].now == 1 ? w->move[n].classes : 0;
        classes += w->move[n].classes;
    }
    if (open == l->count)
        snprintf(out, 32, "open");
    else
        answer_bits(split, classes, out);
    return out;
}

/* At speed, and between episodes: what is known of the row under the cursor. */
static void draw_cursor(const struct decision *v, const struct watch *w, const struct pane *p,
                        int move)
{
    struct looked l = looked_at(w, move);
    const struct watch_move *m = &w->move[l.first];
    uint32_t best = 0, exact = 0, classes = 0;
    char text[160], a[32], who[40], change[UNITS_ROOM];
    bool pinned = false;
    int y = 0;

    for (int n = l.first; n < l.first + l.count; n++) {
        best += w->move[n].best;
        exact += w->move[n].exact;
        classes += w->move[n].classes;
        pinned |= w->move[n].pinned;
    }
    draw_fact(p, y++, pinned ? "pinned" : w->is_slow ? "now" : "last", say_now(w, &l, a));
    if (w->best)
        draw_fact(p, y++, watch_best_word(w), answer_bits(best, classes, a));
    if (watch_optimum(w))
        draw_fact(p, y++, w->exact->proven ? "optimum" : "exact", answer_bits(exact, classes, a));
    units_change(change, -(l.count > 1 ? m->series_ms : m->saves_ms), pane_ms_decimals(p));
    if (p->width >= 44)
        snprintf(text, sizeof text, "%s ms if %s split", change, who_alone(&l, who));
    else
        snprintf(text, sizeof text, "%s ms", change);
    draw_fact(p, y++, "alone", text);
    draw_turned(v, w, p, y++, &l);
    if (w->shot->state == LIVE_RUNNING && w->shot->epsilon > 0) {
        snprintf(text, sizeof text, "%.2f", w->shot->epsilon);
        draw_fact(p, y++, "ε", text);
    }
    draw_elsewhere(w, p, y++);
    if (!w->is_slow || !w->wave.steps)
        return;
    draw_wave(w, p, y++);
    draw_wave_classes(w, p, y);
}

/* Zoomed, with the learner watched: beside it all of its last decision, as in the classroom (C). */
static void draw_lesson(const struct watch *w, const struct pane *pane, int upper)
{
    static const char *const answers[] = {"whole", "split"};
    const struct live_lesson *l = w->shot->lesson;
    int half = pane->width / 2, rest = pane->width - half - 1;
    struct class_shown s = {.lesson = &l->rl,
                            .settings = &l->settings,
                            .live = l,
                            .watch = w,
                            .actions = answers,
                            .action_count = 2,
                            .inputs = l->inputs,
                            .part = CLASS_COPY};
    struct pane choice = pane_part(pane, half + 1, 0, rest, upper - 1),
                update = pane_part(pane, 0, upper, half - 2, pane->height - upper),
                sample = pane_part(pane, half + 1, upper, rest, pane->height - upper);

    class_draw_choice(&s, &choice);
    class_draw_update(&s, &update);
    class_draw_sample(&s, &sample, 0);
}

static void draw_decision(struct panel *p, const struct pane *pane)
{
    enum { UPPER = 15, WIDE = 100 };
    const struct watch *w = p->scene->watch;
    int move = w ? shown_move(w) : MOVE_NONE;
    struct pane own = *pane;

    if (w && w->shot->lesson && pane->width >= WIDE && pane->height >= UPPER + 8) {
        draw_lesson(w, pane, UPPER);
        own = pane_part(pane, 0, 0, pane->width / 2 - 2, UPPER - 1);
    }
    if (move == MOVE_NONE)
        pane_sentence(&own, ROLE_DIM,
                      w ? "nothing to decide: no class can be split; V x says why" : "");
    else if (at_position(w))
        draw_position(w, &own);
    else
        draw_cursor(p->state, w, &own, move);
}

static void head_decision(const struct panel *p, struct head *h, char *note, size_t room)
{
    const struct watch *w = p->scene->watch;
    int move = w ? shown_move(w) : MOVE_NONE;

    if (move == MOVE_NONE)
        return;
    struct decision *v = p->state;
    if (at_position(w)) {
        snprintf(v->title, sizeof v->title, "Decision %d of %d", move + 1, w->move_count);
        h->title = v->title;
    }
    struct looked l = at_position(w) ? (struct looked){move, 1, false} : looked_at(w, move);
    int columns = p->width - (int)strlen(h->title) - 6;
    if (l.count > 1)
        watch_short_name(note, room, w->move[l.first].stem, columns);
    else
        watch_move_name(w, l.first, note, room, columns);
    h->note = note;
}

static int move_here(const struct panel *p)
{
    return p->scene->watch ? shown_move(p->scene->watch) : MOVE_NONE;
}

static const char *name_here(const struct panel *p)
{
    int move = move_here(p);
    return move == MOVE_NONE ? NULL : p->scene->watch->move[move].name;
}

static bool move_decision(struct panel *p, enum list_move move)
{
    struct watch *w = p->scene->watch;
    struct list l = {0};

    if (!w || !w->move_count)
        return false;
    list_fit(&l, w->move_count, p->height);
    l.cursor = w->cursor;
    bool moved = list_move(&l, move);
    w->cursor = (int)l.cursor;
    return moved;
}

static bool act_decision(struct panel *p, int action)
{
    enum { SLOW_STEP_MS = 400 };
    struct watch *w = p->scene->watch;

    if (!w || !w->wave.steps) {
        host_say(p->scene, "no wave: { slows the search down, , makes one decision");
        return true;
    }
    if (action == DECISION_PLAY)
        wave_play(&w->wave, p->scene->now_ms, SLOW_STEP_MS);
    else
        wave_step_by(&w->wave, action == DECISION_FORWARD ? 1 : -1);
    return true;
}

static bool works_decision(const struct panel *p, int action)
{
    (void)action;
    return p->scene->watch && p->scene->watch->wave.steps > 0;
}

const struct panel_ops view_decision = {
    .name = "decision",
    .title = "Decision",
    .place = PLACE_LAYOUT,
    .id = PANEL_DECISION,
    .keys = &decision_keys,
    .hints = "run decide episode slower wave-back wave-play pin backtrack undo why class "
             "+plans=views zoom command help",
    .size = sizeof(struct decision),
    .open = open_decision,
    .close = close_decision,
    .draw = draw_decision,
    .head = head_decision,
    .act = act_decision,
    .works = works_decision,
    .move = move_decision,
    .move_here = move_here,
    .name_here = name_here,
};
