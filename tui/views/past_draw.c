#include "tui/views/past_draw.h"

#include "engine/cost/memory.h"
#include "engine/decide/names.h"
#include "engine/live/past.h"
#include "engine/live/series.h"
#include "engine/live/snapshot.h"
#include "engine/search/game.h"
#include "engine/text/units.h"
#include "tui/screen/grid.h"
#include "tui/screen/list.h"
#include "tui/screen/theme.h"
#include "tui/screen/utf8.h"
#include "tui/views/panel.h"
#include "tui/watch/branches.h"
#include "tui/watch/past_job.h"
#include "tui/watch/versus.h"
#include "tui/watch/watch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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

/* Round episodes where they end, 1 2 5 10 .., as they fit between columns x and end. */
static void draw_ticks(const struct past_view *v, const struct pane *pane, int y, int x, int end)
{
    static const unsigned next[] = {2, 5, 10};
    char text[UNITS_ROOM];

    for (uint64_t ten = 1; ten <= v->look.episode_count; ten *= 10) {
        for (int n = 0; n < 3; n++) {
            uint64_t episode = n ? ten * next[n - 1] : ten;
            if (episode > v->look.episode_count)
                return;
            int at = LANE + column_of(v, v->look.episodes[episode - 1], pane->width - LANE);
            units_count(text, (int64_t)episode);
            if (at < x || at + (int)strlen(text) + 2 > end)
                continue;
            x = pane_text(pane, at, y, ROLE_DIM, text) + 2;
        }
    }
}

/* Below the lanes, to where this search ends: "0  1 more branch   5  10  20    420 episodes". */
static void draw_scale(const struct past_view *v, const struct pane *pane, int y, int end)
{
    char count[UNITS_ROOM], text[UNITS_ROOM + 24];
    int more = v->look.more_branches, x = pane_text(pane, LANE, y, ROLE_DIM, "0");

    if (more)
        x = pane_format(pane, LANE + 3, y, ROLE_DIM, "%d more branch%s", more,
                        more == 1 ? "" : "es");
    snprintf(text, sizeof text, "%s episodes%s", units_count(count, (int64_t)v->look.episode_count),
             v->look.surveyed ? "" : " so far");
    int least = x + 2 + (int)strlen(text);
    end = end > least ? end : least;
    end = end < pane->width ? end : pane->width;
    draw_ticks(v, pane, y, x + 2, end - (int)strlen(text));
    pane_right(pane, end, y, ROLE_DIM, text);
}

/* Steps of the best plans, as they fit: of those close together the later. */
static void draw_best_steps(const struct past_view *v, const struct pane *pane, int y)
{
    int width = pane->width - LANE, free_to = width + 1;
    char text[UNITS_ROOM];

    for (size_t n = v->look.event_count; n--;) {
        const struct past_event *e = &v->look.events[n];
        if (e->act || e->stage)
            continue;
        int x = column_of(v, e->step, width), size = (int)strlen(units_plain_ms(text, e->ms));
        x = x + size > width ? width - size : x;
        if (x + size >= free_to)
            continue;
        pane_text(pane, LANE + x, y, ROLE_OK, text);
        free_to = x;
    }
}

void past_draw_timeline(const struct panel *p, const struct pane *pane)
{
    const struct past_view *v = p->state;
    int width = pane->width - LANE;

    if (width < 8)
        return;
    pane_text(pane, 0, 0, ROLE_DIM, "best");
    draw_best_steps(v, pane, 0);
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
        if (e->stage) {
            pane_put(pane, LANE + x, 1, ROLE_TITLE | BOLD, U'2');
            continue;
        }
        pane_put(pane, LANE + x, 1, ROLE_OK | BOLD, U'+');
    }
    if (v->b.shot)
        pane_put(pane, LANE + column_of(v, v->b.step, width), 1, ROLE_TITLE | BOLD, U'B');
    pane_put(pane, LANE + column_of(v, v->a.step, width), 1, ROLE_TITLE | BOLD | REVERSE, U'A');
    for (int n = 0; n < v->look.branch_count; n++)
        draw_branch(v, pane, 3 + n, n);
    draw_scale(v, pane, 3 + v->look.branch_count, LANE + own);
}

/* ---- A and B ---- */

/* The decisions of then are those of now. */
static bool has_names(const struct watch *w, const struct snapshot *s)
{
    return s->moves->count == (uint32_t)w->move_count &&
           s->problem->classes.count == w->problem->classes.count;
}

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

/* Q of the decision that A would make next, and of B where it is the same. Returns the row below.
 */
static int draw_q(const struct panel *p, const struct pane *pane, int y)
{
    const struct past_view *v = p->state;
    const struct watch *w = p->scene->watch;
    const struct snapshot *a = v->a.shot, *b = v->b.shot;
    char name[NAME_ROOM], text[NAME_ROOM + 8];

    if (!a->has_q || a->position >= a->moves->count || !has_names(w, a))
        return y;
    watch_move_name(w, (int)a->position, name, sizeof name, 20);
    for (int split = 1; split >= 0; split--, y++) {
        snprintf(text, sizeof text, "Q %s = %d", name, split);
        pane_cut(pane, 0, y, 26, ROLE_DIM, text);
        pane_right_number(pane, 32, y, ROLE_TEXT, (double)a->q[split], 3);
        if (b && b->has_q && b->position == a->position && has_names(w, b)) {
            char change[UNITS_ROOM];
            pane_right_number(pane, 43, y, ROLE_TEXT, (double)b->q[split], 3);
            pane_right(pane, 54, y, ROLE_TEXT,
                       units_change(change, (double)b->q[split] - (double)a->q[split], 3));
        }
    }
    return y;
}

char *past_sentence(const struct past_view *v, char *out, size_t room)
{
    out[0] = 0;
    if (v->b.shot && v->a.has_plan && v->b.has_plan)
        versus_sentence(&(struct versus_side){"A", v->a.figures.cost, v->a.figures.reduced_bytes},
                        &(struct versus_side){"B", v->b.figures.cost, v->b.figures.reduced_bytes},
                        out, room);
    return out;
}

void past_draw_figures(const struct panel *p, const struct pane *pane)
{
    const struct past_view *v = p->state;
    const struct past_moment *a = &v->a, *b = &v->b;
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
    draw_figure(v, pane, y++, "loss", s->loss, t->loss, fmax(s->loss, t->loss) < 0.01 ? 6 : 4);
    draw_figure(v, pane, y++, "updates", (double)s->updates, (double)t->updates, 0);
    draw_figure(v, pane, y++, "decisions", (double)s->decisions, (double)t->decisions, 0);
    draw_figure(v, pane, y++, "conflicts", (double)s->conflicts, (double)t->conflicts, 0);
    y = draw_q(p, pane, y);
    struct pane rest = pane_part(pane, 0, y, pane->width, pane->height - y);
    pane_sentence(&rest, ROLE_TITLE | BOLD, past_sentence(v, text, sizeof text));
}

/* ---- what happened ---- */

void past_draw_events(struct panel *p, const struct pane *pane)
{
    struct past_view *v = p->state;
    char note[48], named[LOG_TEXT_ROOM], text[LOG_TEXT_ROOM];

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
        text_cut_words(
            text, sizeof text,
            watch_with_names(p->scene->watch, e->text, pane->width - x, named, sizeof named),
            pane->width - x);
        pane_text(pane, x, y + 1,
                  !past                ? ROLE_DIM
                  : e->act || e->stage ? ROLE_TEXT
                                       : ROLE_OK,
                  text);
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

static void draw_choice(const struct pane *p, int x, int y, uint32_t part, uint32_t of)
{
    unsigned style = part ? ROLE_CHOICE_1 | BOLD : ROLE_CHOICE_0;

    if (part == 0 || part == of)
        pane_text(p, x, y, style, part ? "1" : "0");
    else
        pane_format(p, x, y, style, "%u/%u", part, of);
}

/* Of a decision's column: its name in at most `room`, "" where the column before says the same.
 * Returns the width. */
static int column_name(const struct watch *w, int n, int room, char name[static NAME_ROOM])
{
    char before[NAME_ROOM] = "";

    if (n)
        watch_short_name(before, sizeof before, w->move[n - 1].name, room);
    watch_short_name(name, NAME_ROOM, w->move[n].name, room);
    if (!strcmp(name, before))
        name[0] = 0;
    int width = utf8_text_columns(name);
    return width > 4 ? width : 4;
}

/* Columns of the decisions from `first` on. */
static int vector_width(const struct watch *w, int first, int room)
{
    char name[NAME_ROOM];
    int columns = -1;

    for (int n = first; n < w->move_count; n++)
        columns += 1 + column_name(w, n, room, name);
    return columns;
}

void past_draw_vector(const struct panel *p, const struct pane *pane)
{
    const struct past_view *v = p->state;
    const struct watch *w = p->scene->watch;
    const struct snapshot *a = v->a.shot, *b = v->b.shot;
    int x = 10;

    if (pane->height < 4 || !a || !has_names(w, a) || !a->best ||
        (b && (!has_names(w, b) || !b->best)))
        return;
    pane_head(pane, 0,
              &(struct head){0, "Decisions of the best plan", b ? "^ differs" : "", false});
    pane_text(pane, 0, 1, ROLE_DIM, "group");
    pane_text(pane, 0, 2, ROLE_DIM, "A");
    pane_text(pane, 0, 3, ROLE_DIM, b ? "B" : "");
    int room = 20;
    while (room > 6 && x + vector_width(w, 0, room) > pane->width)
        room--;
    for (int n = 0; n < w->move_count; n++) {
        char name[NAME_ROOM];
        int width = column_name(w, n, room, name);
        if (x + width + 8 > pane->width && x + vector_width(w, n, room) > pane->width) {
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
