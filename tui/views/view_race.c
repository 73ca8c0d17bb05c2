/* The race: who found what after how many priced plans, who led when. If the DQN did not win, the
 * first line says so. */
#include "engine/live/snapshot.h"
#include "engine/search/game.h"
#include "engine/search/search.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/sort.h"
#include "tui/screen/grid.h"
#include "tui/screen/keys.h"
#include "tui/screen/list.h"
#include "tui/views/panel.h"
#include "tui/views/views.h"

#include "engine/text/units.h"
#include "tui/screen/plot.h"
#include "tui/screen/theme.h"
#include "tui/screen/utf8.h"
#include "tui/views/host.h"
#include "tui/watch/race_run.h"
#include "tui/watch/watch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TARGET = 2000, PICTURE_TARGET = 100, SEEDS = 5 };

struct race_end {        /* of one algorithm in one race */
    double value, plans; /* as shown; INFINITY: no plan */
};

struct race_view {
    struct race_run *run;
    struct race_look look;
    bool by_time, linear; /* x: seconds; not logarithmic */
    uint64_t seed;
    struct race_end ends[SEARCH_ALGORITHM_COUNT][SEEDS]; /* [][seeds_done] */
    int seeds_done, seeds_wanted;
    struct list row;         /* of `order` */
    struct live_plan *asked; /* the plan of the row w was asked on last; NULL: none */
};

enum { RACE_TIME, RACE_LOG, RACE_AGAIN, RACE_SEEDS, RACE_BACK };
static const struct action race_actions[] = {
    [RACE_TIME] = {"time", "in this view", "by plans priced or by time", "plans or time", "a",
                   NULL},
    [RACE_LOG] = {"log", "in this view", "logarithmic", "log", "l", NULL},
    [RACE_AGAIN] = {"again", "in this view", "run again, new seed", "again, new seed", "r", NULL},
    [RACE_SEEDS] = {"seeds", "in this view", "five seeds, their median", "5 seeds", "n", NULL},
    [RACE_BACK] = {"back", "in this view", "back", "back", "Esc", NULL},
};
static const struct key_table race_keys = {"race", race_actions, 5};

/* By algorithm: letter, words, role of its line. */
static const struct {
    const char *letter, *words;
    unsigned role;
} known[SEARCH_ALGORITHM_COUNT] = {
    [SEARCH_DQN] = {"D", "DQN", ROLE_PLOT_0},
    [SEARCH_RANDOM] = {"R", "random", ROLE_PLOT_4},
    [SEARCH_GREEDY] = {"G", "greedy", ROLE_PLOT_3},
    [SEARCH_ENUMERATE] = {"E", "enumeration", ROLE_PLOT_1},
    [SEARCH_ANNEAL] = {"A", "annealing", ROLE_PLOT_2},
    [SEARCH_EXACT] = {"X", "exact", ROLE_OK},
};
static const enum search_algorithm order[] = {SEARCH_EXACT,  SEARCH_ENUMERATE, SEARCH_DQN,
                                              SEARCH_RANDOM, SEARCH_GREEDY,    SEARCH_ANNEAL};
enum { ORDER = sizeof order / sizeof *order };

static int start_race(struct panel *p, struct err *e)
{
    struct race_view *v = p->state;
    bool live = p->scene->now_ms > 0;

    race_run_free(v->run);
    v->run = NULL;
    if (race_run_new(p->scene->watch, v->seed, live ? TARGET : PICTURE_TARGET, live, &v->run, e))
        return e->code;
    race_run_look(v->run, &v->look);
    return 0;
}

static int open_race(struct panel *p, const void *arg, struct err *e)
{
    struct race_view *v = p->state;

    (void)arg;
    if (!p->scene->watch)
        return err_set(e, ERR_INPUT, "no model is open");
    v->seed = p->scene->watch->shot->options.seed;
    v->seeds_wanted = 1;
    list_fit(&v->row, ORDER, ORDER);
    return start_race(p, e);
}

static void close_race(struct panel *p)
{
    struct race_view *v = p->state;
    race_run_free(v->run);
    live_plan_release(v->asked);
}

static bool is_live(const struct panel *p)
{
    const struct race_view *v = p->state;
    return v->run && (!v->look.done || v->seeds_done < v->seeds_wanted);
}

static const struct race_step_point *best_of(const struct race_line *l)
{
    return l->step_count ? &l->steps[l->step_count - 1] : NULL;
}

static double best_score(const struct race_look *r)
{
    double best = -INFINITY;

    for (uint32_t n = 0; n < r->count; n++) {
        if (r->lines[n].step_count)
            best = fmax(best, best_of(&r->lines[n])->score);
    }
    return best;
}

static bool reaches(const struct race_line *l, double score)
{
    return l->step_count && best_of(l)->score >= score - 1e-9 * (1 + fabs(score));
}

/* As many decimals as it takes to tell the best of each from those of the others. */
static int decimals_of(const struct race_look *r)
{
    enum { DECIMALS_MOST = 4 };
    int decimals = r->is_reward ? 2 : units_ms_decimals(race_shown(r, best_score(r)));

    for (uint32_t n = 0; n < r->count * r->count; n++) {
        const struct race_line *a = &r->lines[n / r->count], *b = &r->lines[n % r->count];
        if (!b->step_count || reaches(a, best_of(b)->score) || !a->step_count)
            continue; /* a is behind b, or both are alike */
        double x = race_shown(r, best_of(a)->score), y = race_shown(r, best_of(b)->score);
        while (decimals < DECIMALS_MOST &&
               rint(x * pow(10, decimals)) == rint(y * pow(10, decimals)))
            decimals++;
    }
    return decimals;
}

static bool is_proven(const struct race_look *r)
{
    return r->lines[SEARCH_EXACT].proven;
}

/* ---- several seeds ---- */

static void keep_ends(struct race_view *v)
{
    for (uint32_t n = 0; n < v->look.count; n++) {
        const struct race_line *l = &v->look.lines[n];
        const struct race_step_point *best = best_of(l);
        v->ends[l->algorithm][v->seeds_done] =
            best ? (struct race_end){race_shown(&v->look, best->score), best->evaluation}
                 : (struct race_end){INFINITY, INFINITY};
    }
    v->seeds_done++;
}

/* When a race has ended: what it came to is kept, and the next seed begins if one is wanted. */
static void go_on(struct panel *p)
{
    struct race_view *v = p->state;
    struct err e;

    race_run_look(v->run, &v->look);
    while (v->look.done && v->seeds_done < v->seeds_wanted) {
        keep_ends(v);
        if (v->seeds_done == v->seeds_wanted) {
            host_tell_news(p->scene, "%s: the race is over", p->scene->model_name);
            return;
        }
        v->seed++;
        if (start_race(p, &e)) {
            host_say_err(p->scene, &e);
            v->seeds_wanted = v->seeds_done;
            return;
        }
    }
}

/* Of the seeds done: the median (of an even number the worse of the middle two) and the worst. */
static void spread_of_seeds(const struct race_view *v, enum search_algorithm k, bool of_plans,
                            double *median, double *worst)
{
    double all[SEEDS];
    bool high = v->look.is_reward &&
                !of_plans; /* the higher the better; a missing plan is worst either way */

    for (int n = 0; n < v->seeds_done; n++) {
        double x = of_plans ? v->ends[k][n].plans : v->ends[k][n].value;
        all[n] = high && isfinite(x) ? -x : x;
    }
    sort_doubles(all, (size_t)v->seeds_done);
    *median = high ? -all[v->seeds_done / 2] : all[v->seeds_done / 2];
    *worst = high ? -all[v->seeds_done - 1] : all[v->seeds_done - 1];
}

/* ---- words ---- */

static const char *words_of(const struct race_look *r, enum search_algorithm k)
{
    return k == SEARCH_DQN && r->led ? "DQN, led" : known[k].words;
}

/* How the DQN stands against the others that learn nothing. Amber unless it won. */
static void draw_verdict(const struct race_look *r, const struct pane *p, int x)
{
    const struct race_line *dqn = &r->lines[SEARCH_DQN], *first = NULL;
    double best = best_score(r);
    char mine[UNITS_ROOM], other[UNITS_ROOM], text[160];

    for (int n = 0; n < ORDER; n++) {
        const struct race_line *l = &r->lines[order[n]];
        bool counts = order[n] != SEARCH_EXACT && order[n] != SEARCH_DQN && reaches(l, best);
        if (counts && (!first || best_of(l)->evaluation < best_of(first)->evaluation))
            first = l;
    }
    bool won =
        reaches(dqn, best) && (!first || best_of(dqn)->evaluation <= best_of(first)->evaluation);
    if (!dqn->step_count)
        snprintf(text, sizeof text, "The DQN has no plan yet.");
    else if (!reaches(dqn, best))
        snprintf(text, sizeof text, "The DQN is at %s after %s plans.",
                 units_number(other, race_shown(r, best_of(dqn)->score), decimals_of(r)),
                 units_count(mine, (int64_t)dqn->evaluations));
    else if (first)
        snprintf(text, sizeof text, "The DQN needed %s plan%s, %s %s.",
                 units_count(mine, (int64_t)best_of(dqn)->evaluation),
                 best_of(dqn)->evaluation == 1 ? "" : "s", known[first->algorithm].words,
                 units_count(other, (int64_t)best_of(first)->evaluation));
    else
        snprintf(text, sizeof text, "The DQN needed %s plan%s; no other search got there.",
                 units_count(mine, (int64_t)best_of(dqn)->evaluation),
                 best_of(dqn)->evaluation == 1 ? "" : "s");
    if (x + 3 + utf8_text_columns(text) <= p->width)
        pane_text(p, x + 3, 0, won ? ROLE_OK : ROLE_WARN, text);
    else if (x + 10 < p->width)
        pane_text(p, x + 3, 0, won ? ROLE_OK : ROLE_WARN,
                  won ? "the DQN too" : "the DQN not first");
}

/* `decides`: what the optimum ranges over. */
static void draw_sentence(const struct race_look *r, const char *decides, const struct pane *p)
{
    double best = best_score(r);
    char text[UNITS_ROOM];
    int x;

    if (!isfinite(best)) {
        pane_text(p, 0, 0, ROLE_DIM, "no plan yet");
        return;
    }
    x = pane_format(p, 0, 0, ROLE_TITLE | BOLD, r->is_reward ? "reward %s" : "%s ms",
                    units_number(text, race_shown(r, best), decimals_of(r)));
    if (is_proven(r))
        x = pane_format(p, x, 0, ROLE_TEXT, " exact, proven over %s.", decides);
    else
        x = pane_text(p, x, 0, ROLE_TEXT, " the best so far.");
    draw_verdict(r, p, x);
}

/* The next better plan after `from`, of any search but the exact one: which, and its index; NULL
 * none. */
static const struct race_line *next_step(const struct race_look *r, uint32_t *at, uint32_t *step)
{
    const struct race_line *next = NULL;
    uint32_t which = 0;

    for (uint32_t n = 0; n < r->count; n++) {
        const struct race_line *l = &r->lines[n];
        if (l->algorithm == SEARCH_EXACT || !known[l->algorithm].words || at[n] == l->step_count)
            continue;
        if (!next || l->steps[at[n]].evaluation < next->steps[at[which]].evaluation) {
            next = l;
            which = n;
        }
    }
    if (next)
        *step = at[which]++;
    return next;
}

struct lead {
    const struct race_line *line;
    double from;
};

/* Changes of the lead among all but the exact one; of those with equally many plans the best. */
static int find_leads(const struct race_look *r, struct lead *out, int room)
{
    uint32_t at[SEARCH_ALGORITHM_COUNT] = {0}, step;
    const struct race_line *l;
    double best = -INFINITY;
    int count = 0;

    while ((l = next_step(r, at, &step)) && count < room) {
        const struct race_step_point *s = &l->steps[step];
        if (s->score <= best + 1e-9 * (1 + fabs(s->score)))
            continue;
        best = s->score;
        if (count && out[count - 1].from == s->evaluation)
            count--;
        if (!count || out[count - 1].line != l)
            out[count++] = (struct lead){l, s->evaluation};
    }
    return count;
}

/* "led among the searches: greedy from 1, enumeration from 5; the DQN never". */
static void write_leads(const struct race_look *r, char *out, size_t room)
{
    struct lead leads[16];
    int count = find_leads(r, leads, 16);
    size_t size =
        (size_t)snprintf(out, room, count ? "led among the searches: " : "nobody leads yet");
    bool dqn = false;

    for (int n = 0; n < count && size + 48 < room; n++) {
        char from[UNITS_ROOM];
        dqn |= leads[n].line->algorithm == SEARCH_DQN;
        size += (size_t)snprintf(out + size, room - size, "%s%s from %s", n ? ", " : "",
                                 known[leads[n].line->algorithm].words,
                                 units_count(from, (int64_t)leads[n].from));
    }
    if (count && !dqn)
        snprintf(out + size, room - size, "; the DQN never");
}

/* ---- curves ---- */

struct curve {
    double x[RACE_STEPS_MOST + 1], y[RACE_STEPS_MOST + 1];
};

static double x_of(const struct race_view *v, const struct race_step_point *s)
{
    return v->by_time ? fmax(s->seconds, 1e-4) : s->evaluation;
}

/* Steps, held to the end of what the line has seen. */
static struct plot_series series_of(const struct race_view *v, const struct race_line *l,
                                    struct curve *c, double last)
{
    for (uint32_t n = 0; n < l->step_count; n++) {
        c->x[n] = x_of(v, &l->steps[n]);
        c->y[n] = race_shown(&v->look, l->steps[n].score);
    }
    if (l->step_count) {
        double end = v->by_time ? l->seconds : l->finished ? last : (double)l->evaluations;
        c->x[l->step_count] = fmin(fmax(end, c->x[l->step_count - 1]), last);
        c->y[l->step_count] = c->y[l->step_count - 1];
    }
    return (struct plot_series){.y = c->y,
                                .x = c->x,
                                .count = l->step_count ? l->step_count + 1 : 0,
                                .kind = PLOT_STEPS,
                                .role = known[l->algorithm].role,
                                .sign = known[l->algorithm].letter[0]};
}

/* Letters at the ends of lines, those at one height side by side. */
static void draw_letters(const struct race_view *v, const struct pane *p, int x, double low,
                         double high)
{
    int rows = p->height - 1, used[GRID_MOST] = {0};

    for (int n = 0; n < ORDER; n++) {
        const struct race_line *l = &v->look.lines[order[n]];
        if (!l->step_count || high <= low || rows < 1)
            continue;
        double y = race_shown(&v->look, best_of(l)->score);
        int row = (int)((high - y) / (high - low) * (rows - 1) + 0.5);
        row = row < 0 ? 0 : row >= rows ? rows - 1 : row;
        pane_text(p, x + 2 * used[row]++, row, known[order[n]].role | BOLD, known[order[n]].letter);
    }
}

static void draw_curves(const struct panel *p, const struct pane *pane)
{
    const struct race_view *v = p->state;
    struct curve *curves = mem_alloc(ORDER * sizeof *curves);
    struct plot_series series[ORDER];
    double last = v->by_time           ? 1e-3
                  : v->look.level > 10 ? (double)v->look.level
                                       : 10,
           low = INFINITY, high = -INFINITY;
    size_t count = 0;

    for (uint32_t n = 0; v->by_time && n < v->look.count; n++)
        last = fmax(last, v->look.lines[n].seconds);
    if (!v->linear && !v->by_time)
        last = pow(10, ceil(log10(last))); /* the axis jumps by decades only */
    for (int n = ORDER - 1; n >= 0; n--) {
        const struct race_line *l = &v->look.lines[order[n]];
        series[count] = series_of(v, l, &curves[n], last);
        for (size_t k = 0; k < series[count].count; k++) {
            low = fmin(low, series[count].y[k]);
            high = fmax(high, series[count].y[k]);
        }
        count += series[count].count > 0;
    }
    if (!v->look.is_reward)
        high = fmin(high, 3 * low);
    high = high > low ? high : low + 1;
    struct pane area = pane_part(pane, 0, 0, pane->width - 14, pane->height);
    if (count) {
        struct plot plot = {
            .series = series,
            .series_count = count,
            .first_x = v->linear    ? 0
                       : v->by_time ? 1e-4
                                    : 1,
            .last_x = last,
            .unit_x = v->by_time ? "s" : "plans",
            .log_x = !v->linear,
            .low = low,
            .high = high,
            .limit = is_proven(&v->look)
                         ? race_shown(&v->look, best_of(&v->look.lines[SEARCH_EXACT])->score)
                         : NAN,
            .limit_role = ROLE_OK,
            .limit_name = "optimum",
            .ascii = p->scene->ascii};
        plot_draw(&area, &plot);
        draw_letters(v, pane, pane->width - 12, low, high);
    }
    free(curves);
}

/* ---- the table ---- */

struct columns {
    int best, over, plans, time, says;
};

static struct columns columns_for(int width)
{
    struct columns c = {.best = width >= 90 ? 38 : 25};

    c.over = c.best + 14;
    c.plans = width >= 72 ? c.over + 15 : 0;
    c.time = width >= 84 ? c.plans + 12 : 0;
    c.says = (c.time ? c.time : c.plans ? c.plans : c.over) + 3;
    return c;
}

static void write_says(const struct race_look *r, const struct race_line *l, const char *decided,
                       char *out, size_t room)
{
    double best = best_score(r);

    out[0] = 0;
    if (!l->step_count)
        snprintf(out, room, "no plan yet");
    else if (l->proven)
        snprintf(out, room, "proven over %s", decided);
    else if (l->finished)
        snprintf(out, room, "stopped");
    else if (l->algorithm == SEARCH_ENUMERATE && reaches(l, best))
        snprintf(out, room, "not proven yet");
    else if (l->algorithm == SEARCH_DQN && reaches(l, best)) {
        snprintf(out, room, "learned");
    }
}

static void draw_line(const struct panel *p, const struct pane *pane, int y,
                      const struct race_line *l, const struct columns *c)
{
    const struct race_look *r = &((const struct race_view *)p->state)->look;
    const struct race_step_point *best = best_of(l);
    bool own = l->algorithm == p->scene->watch->shot->options.algorithm;
    char text[64];

    pane_text(pane, 0, y, known[l->algorithm].role | BOLD, known[l->algorithm].letter);
    pane_text(pane, 4, y, own ? ROLE_TITLE | BOLD : ROLE_TEXT, words_of(r, l->algorithm));
    write_says(r, l, watch_decides[p->scene->watch->shot->options.game.kind], text, sizeof text);
    pane_cut(pane, c->says, y, pane->width - c->says, l->proven ? ROLE_OK : ROLE_DIM, text);
    if (!best)
        return;
    double value = race_shown(r, best->score), top = race_shown(r, best_score(r));
    pane_right_number(pane, c->best, y, ROLE_TEXT, value, decimals_of(r));
    if (r->is_reward)
        pane_right_number(pane, c->over, y, ROLE_TEXT, top - value, decimals_of(r));
    else
        pane_right(pane, c->over, y, ROLE_TEXT, units_percent(text, value / top - 1));
    if (c->plans)
        pane_right(pane, c->plans, y, ROLE_TEXT, units_count(text, (int64_t)best->evaluation));
    if (c->time && p->scene->now_ms > 0)
        pane_right_number(pane, c->time, y, ROLE_TEXT, best->seconds * 1e3, 1);
    else if (c->time)
        pane_right(pane, c->time, y, ROLE_DIM, "-"); /* a picture has no clock */
}

static void draw_number(const struct pane *p, int end, int y, double value, int decimals)
{
    if (isfinite(value))
        pane_right_number(p, end, y, ROLE_TEXT, value, decimals);
    else
        pane_right(p, end, y, ROLE_DIM, "-");
}

/* The same columns, of all seeds done: medians, and the worst in place of the time. */
static void draw_spread(const struct panel *p, const struct pane *pane, int y,
                        enum search_algorithm k, const struct columns *c)
{
    const struct race_view *v = p->state;
    double value, worst, plans, most, top, rest;
    int decimals = decimals_of(&v->look);
    char text[UNITS_ROOM];

    pane_text(pane, 0, y, known[k].role | BOLD, known[k].letter);
    pane_text(pane, 4, y,
              k == p->scene->watch->shot->options.algorithm ? ROLE_TITLE | BOLD : ROLE_TEXT,
              words_of(&v->look, k));
    spread_of_seeds(v, k, false, &value, &worst);
    spread_of_seeds(v, k, true, &plans, &most);
    spread_of_seeds(v, SEARCH_EXACT, false, &top, &rest);
    draw_number(pane, c->best, y, value, decimals);
    if (v->look.is_reward)
        draw_number(pane, c->over, y, top - value, 2);
    else if (isfinite(value) && isfinite(top))
        pane_right(pane, c->over, y, ROLE_TEXT, units_percent(text, value / top - 1));
    if (c->plans)
        draw_number(pane, c->plans, y, plans, 0);
    if (c->time)
        draw_number(pane, c->time, y, worst, decimals);
}

static void draw_table(struct panel *p, const struct pane *pane)
{
    const struct race_view *v = p->state;
    struct columns c = columns_for(pane->width);
    char note[96], level[UNITS_ROOM];

    bool many = v->seeds_done > 1;

    units_count(level, (int64_t)v->look.level);
    if (v->seeds_wanted > v->seeds_done && v->seeds_wanted > 1)
        snprintf(note, sizeof note, "%d of %d seeds · %s plans each", v->seeds_done,
                 v->seeds_wanted, level);
    else if (many)
        snprintf(note, sizeof note, "median of %d seeds · %s plans each", v->seeds_done, level);
    else
        snprintf(note, sizeof note, "after %s plans each", level);
    pane_head(pane, 0, &(struct head){0, "Standing", note, false});
    pane_right(pane, c.best, 1, ROLE_DIM,
               v->look.is_reward ? many ? "median reward" : "best reward"
               : many            ? "median ms"
                                 : "best ms");
    pane_right(pane, c.over, 1, ROLE_DIM, is_proven(&v->look) ? "over optimum" : "over best");
    if (c.plans)
        pane_right(pane, c.plans, 1, ROLE_DIM, "plans to best");
    if (c.time)
        pane_right(pane, c.time, 1, ROLE_DIM,
                   !many               ? "ms to best"
                   : v->look.is_reward ? "worst"
                                       : "worst ms");
    for (int n = 0; n < ORDER && n + 2 < pane->height; n++)
        many ? draw_spread(p, pane, n + 2, order[n], &c)
             : draw_line(p, pane, n + 2, &v->look.lines[order[n]], &c);
    pane_select(pane, 2 + (int)v->row.cursor, ROLE_SELECT);
}

static void draw_race(struct panel *p, const struct pane *pane)
{
    struct race_view *v = p->state;
    int gap = pane->height >= 24, table = ORDER + 2;
    char note[176];

    if (!p->scene->watch || !v->run)
        return;
    go_on(p);
    draw_sentence(&v->look, game_decides[p->scene->watch->shot->options.game.kind], pane);
    char seed[48] = "";
    if (v->seeds_wanted > 1)
        snprintf(seed, sizeof seed, " · seed %llu", (unsigned long long)v->look.seed);
    snprintf(note, sizeof note, "best %s so far by %s%s%s",
             v->look.is_reward ? "reward" : "step, ms,",
             v->by_time ? "seconds of each" : "plans priced", v->linear ? "" : ", log", seed);
    pane_head(pane, 1 + gap, &(struct head){0, "Race", note, true});
    int plot = pane->height - 2 - 2 * gap - table;
    if (plot >= 4) {
        struct pane curves = pane_part(pane, 0, 2 + gap, pane->width, plot);
        draw_curves(p, &curves);
    } else {
        plot = 0;
    }
    int y = 2 + gap + plot + (plot ? gap : 0);
    struct pane low = pane_part(pane, 0, y, pane->width, pane->height - y);
    draw_table(p, &low);
}

static bool act_race(struct panel *p, int action)
{
    struct race_view *v = p->state;
    struct err e = {0};

    if (action == RACE_TIME)
        v->by_time = !v->by_time;
    else if (action == RACE_LOG)
        v->linear = !v->linear;
    else if (action == RACE_BACK)
        host_close(p->scene);
    else if (action == RACE_SEEDS)
        v->seeds_wanted = SEEDS;
    else {
        v->seed++;
        v->seeds_done = 0;
        v->seeds_wanted = 1;
        if (start_race(p, &e)) {
            host_say_err(p->scene, &e);
            host_close(p->scene);
        }
    }
    return true;
}

static bool move_race(struct panel *p, enum list_move move)
{
    return list_move(&((struct race_view *)p->state)->row, move);
}

/* The best plan of the row under the cursor, in the race that ran last. */
static struct live_plan *plan_here(const struct panel *p)
{
    struct race_view *v = p->state;

    live_plan_replace(&v->asked, v->run ? race_run_plan(v->run, order[v->row.cursor]) : NULL);
    return v->asked;
}

static void message_race(const struct panel *p, char *out, size_t room)
{
    const struct race_view *v = p->state;
    write_leads(&v->look, out, room);
}

const struct panel_ops view_race = {
    .name = "race",
    .title = "Race",
    .place = PLACE_FULL,
    .anew = true,
    .keys = &race_keys,
    .hints = "down=search time log again seeds why back",
    .size = sizeof(struct race_view),
    .open = open_race,
    .close = close_race,
    .draw = draw_race,
    .act = act_race,
    .move = move_race,
    .plan_here = plan_here,
    .message = message_race,
    .is_live = is_live,
};
