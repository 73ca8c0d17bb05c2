#include "tui/app/header.h"

#include "engine/cluster/cluster.h"
#include "engine/cluster/mesh.h"
#include "engine/compare/fewer.h"
#include "engine/live/ledger.h"
#include "engine/live/snapshot.h"
#include "engine/problem/problem.h"
#include "engine/search/game.h"
#include "engine/search/search.h"
#include "engine/text/units.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "tui/app/app.h"
#include "tui/screen/grid.h"
#include "tui/screen/theme.h"
#include "tui/screen/utf8.h"
#include "tui/watch/fewer_job.h"
#include "tui/watch/other_plans.h"
#include "tui/watch/plan_load.h"
#include "tui/watch/watch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Pieces of one row: those that do not fit are left out, least wanted first. */
enum { PIECES_MOST = 24 };

struct piece {
    char text[96];
    unsigned style;
    int gap;    /* blanks before it */
    int wanted; /* 0: always; the higher, the sooner it goes. Equal ones go together */
};

struct row {
    struct piece pieces[PIECES_MOST];
    int count;
};

static void add_words(struct row *r, int wanted, int gap, unsigned style, const char *text)
{
    if (r->count == PIECES_MOST || !*text)
        return;
    struct piece *p = &r->pieces[r->count++];
    *p = (struct piece){.style = style, .gap = gap, .wanted = wanted};
    snprintf(p->text, sizeof p->text, "%s", text);
}

static int width_of(const struct row *r, int level)
{
    int width = 0;

    for (int i = 0; i < r->count; i++) {
        if (r->pieces[i].wanted <= level)
            width += (width ? r->pieces[i].gap : 0) + utf8_text_columns(r->pieces[i].text);
    }
    return width;
}

static int draw_row(const struct row *r, const struct pane *p, int x, int y, int level)
{
    int start = x;

    for (int i = 0; i < r->count; i++) {
        if (r->pieces[i].wanted <= level)
            x = pane_text(p, x > start ? x + r->pieces[i].gap : x, y, r->pieces[i].style,
                          r->pieces[i].text);
    }
    return x;
}

/* Left and right share a row: both lose pieces of the same level until they fit. */
static void draw_both(const struct row *left, const struct row *right, const struct pane *p)
{
    int level = 9;

    while (level > 0 && width_of(left, level) + 3 + width_of(right, level) > p->width)
        level--;
    draw_row(left, p, 0, 0, level);
    int width = width_of(right, level);
    if (width_of(left, level) + 1 + width <= p->width)
        draw_row(right, p, p->width - width, 0, level);
}

static void add_model(struct row *r, const struct scene *s)
{
    char count[UNITS_ROOM], text[96], devices[64];
    uint32_t variables = 0, dims = 0;

    add_words(r, 0, 0, ROLE_TITLE | BOLD, s->model_name);
    if (s->graph_words)
        add_words(r, 1, 2, ROLE_TEXT, s->graph_words);
    if (!s->problem)
        return;
    const struct problem *p = s->problem;
    units_count(count, p->file->count);
    snprintf(text, sizeof text, "%s instr", count);
    add_words(r, 3, 2, ROLE_DIM, text);
    for (uint32_t n = 0; n < p->roles.param_count; n++) {
        if (p->roles.params[n].role != HLO_ROLE_VARIABLE)
            continue;
        variables++;
        dims += hlo_value_shape(p->m, p->roles.params[n].value)->rank;
    }
    snprintf(text, sizeof text, "%u variables, %u dims", variables, dims);
    add_words(r, 7, 2, ROLE_DIM, text);
    add_words(r, 1, 3, ROLE_TITLE | BOLD, p->cluster.name);
    cluster_label(&p->cluster, devices, sizeof devices);
    add_words(r, 2, 2, ROLE_DIM, text_times(text, sizeof text, devices));
    if (p->mesh.axes > 1) {
        mesh_format(&p->mesh, devices, sizeof devices);
        snprintf(text, sizeof text, "mesh %s", devices);
        add_words(r, 2, 2, ROLE_DIM, text);
    }
}

static void add_search(struct row *r, const struct watch *w)
{
    static const char *const names[SEARCH_ALGORITHM_COUNT] = {[SEARCH_DQN] = "DQN",
                                                              [SEARCH_RANDOM] = "random",
                                                              [SEARCH_GREEDY] = "greedy",
                                                              [SEARCH_ENUMERATE] = "enumerate",
                                                              [SEARCH_ANNEAL] = "anneal",
                                                              [SEARCH_EXACT] = "exact",
                                                              [SEARCH_TRWS] = "TRW-S, rounded"};
    const struct search_options *o = &w->shot->options;
    char text[96];

    add_words(r, 4, 3, ROLE_DIM, names[o->algorithm]);
    if (search_is_continuous(o))
        add_words(r, 5, 1, ROLE_DIM,
                  w->shot->stage[0].episodes < SEARCH_LED || w->shot->stage[1].episodes
                      ? "led by the shipped policy"
                      : "once led by the shipped policy");
    else if (o->algorithm == SEARCH_DQN)
        add_words(r, 5, 1, ROLE_DIM, o->paper ? "of the paper, from scratch" : "from scratch");
    snprintf(text, sizeof text, "· %s reward · strict",
             o->game.reward == GAME_REWARD_PAPER ? "paper" : "cost");
    add_words(r, 6, 1, ROLE_DIM, text);
    snprintf(text, sizeof text, "· full propagation · seed %llu", (unsigned long long)o->seed);
    if (o->game.weak)
        snprintf(text, sizeof text, "· weak propagation · seed %llu", (unsigned long long)o->seed);
    add_words(r, 8, 1, ROLE_DIM, text);
}

static void add_state(struct row *r, const struct watch *w, bool wide)
{
    static const struct {
        const char *sign, *word;
        unsigned style;
    } states[LIVE_STATE_COUNT] = {[LIVE_READY] = {"‖", "ready", ROLE_DIM},
                                  [LIVE_RUNNING] = {"▶", "", ROLE_OK},
                                  [LIVE_PAUSED] = {"‖", "paused", ROLE_WARN},
                                  [LIVE_DONE] = {"●", "done", ROLE_OK},
                                  [LIVE_FAILED] = {"", "failed", ROLE_ERR}};
    const struct snapshot *s = w->shot;
    char text[96], count[UNITS_ROOM];

    add_words(r, 0, 3, states[s->state].style, states[s->state].sign);
    if (s->state != LIVE_RUNNING)
        snprintf(text, sizeof text, "%s", states[s->state].word);
    else if (s->pace > 0 && s->pace <= CALM_PER_SECOND)
        snprintf(text, sizeof text, wide ? "slow, %g decisions/s" : "slow, %g/s", s->pace);
    else if (s->episodes_per_s >= 10)
        snprintf(text, sizeof text, "%s ep/s",
                 units_count(count, (int64_t)(s->episodes_per_s + 0.5)));
    else
        snprintf(text, sizeof text, "%.1f ep/s", s->episodes_per_s);
    add_words(r, 0, 1, s->state == LIVE_FAILED ? ROLE_ERR : ROLE_TEXT, text);
    add_words(r, 1, 3, ROLE_DIM, wide ? "episode" : "ep");
    add_words(r, 1, 1, ROLE_TEXT, units_count(count, (int64_t)s->episodes));
}

static void add_about(struct row *r, const struct panel_about *a)
{
    static const struct {
        const char *sign;
        unsigned style;
    } states[] = {[ABOUT_RUNS] = {"▶", ROLE_OK},
                  [ABOUT_STANDS] = {"‖", ROLE_WARN},
                  [ABOUT_IS_DONE] = {"●", ROLE_OK}};

    add_words(r, 4, 3, ROLE_DIM, a->what);
    add_words(r, 0, 3, states[a->state].style, states[a->state].sign);
    add_words(r, a->where[0] ? 2 : 0, 1, ROLE_TEXT, a->pace);
    add_words(r, 0, a->pace[0] ? 3 : 1, ROLE_TEXT, a->where);
}

void header_title(const struct scene *s, const struct panel_about *about, const struct pane *p)
{
    struct row left = {.count = 0}, right = {.count = 0};

    if (p->height < 1)
        return;
    if (about && about->name) {
        add_words(&left, 0, 0, ROLE_TITLE | BOLD, about->name);
        add_words(&left, 5, 2, ROLE_DIM, about->words);
    } else {
        add_model(&left, s);
    }
    if (about) {
        add_about(&right, about);
    } else if (s->watch) {
        add_search(&right, s->watch);
        add_state(&right, s->watch, p->width >= 110);
    }
    draw_both(&left, &right, p);
}

/* "no split of variables fits, proven  batch split does, 195.1": of which space that is proven, and
 * what fits outside of it. */
static void add_no_fit(struct row *r, const struct watch *w)
{
    static const char *const spaces[] = {
        [GAME_OPP] = "variables", [GAME_ADP] = "inputs", [GAME_ALL] = "anything"};
    struct live_plan *plans[WATCH_PLANS_MOST];
    uint32_t count = plan_load_all(w, plans);
    char text[96], ms[UNITS_ROOM];

    snprintf(text, sizeof text, w->exact->proven ? "no split of %s fits" : "none of %s found fits",
             spaces[w->shot->options.game.kind]);
    add_words(r, 0, 3, ROLE_ERR, text);
    add_words(r, 2, 1, ROLE_DIM, w->exact->proven ? "proven by exact" : "by exact");
    for (uint32_t n = 0; n < count; n++) {
        if (plans[n] == w->best || plans[n] == w->exact || !plans[n]->fits)
            continue;
        snprintf(text, sizeof text, "%s does, %s", plans[n]->found_by,
                 units_plain_ms(ms, plans[n]->cost.step_ms));
        add_words(r, 1, 3, ROLE_TEXT, text);
        return;
    }
}

/* Beside the step of the headline: with its unit, where that one is in seconds. */
static char *beside_step(char out[static UNITS_ROOM], const struct watch *w, double ms)
{
    bool seconds = w->best && w->best->cost.step_ms >= 10e3;
    return seconds ? units_ms(out, ms) : units_plain_ms(out, ms);
}

/* "+4.1 % over optimum of variables 245.0 proven by exact" */
static void add_gap(struct row *r, const struct watch *w)
{
    const struct live_plan *exact = w->exact;
    char ms[UNITS_ROOM];
    double gap = watch_gap(w);
    char text[96];
    int narrow = watch_is_baseline(w); /* that it is one comes first */

    if (!exact) {
        add_words(r, 0, 3, ROLE_DIM, "no optimum yet");
        return;
    }
    if (!exact->fits) {
        add_no_fit(r, w);
        return;
    }
    bool paper = w->shot->options.game.reward == GAME_REWARD_PAPER;
    const char *what = exact->proven ? "optimum" : "best of exact";
    if (isnan(gap)) {
        add_words(r, narrow, 3, ROLE_DIM, what);
    } else if (gap < 1e-9) {
        add_words(r, narrow, 3, ROLE_OK, "0.0 %");
        add_words(r, narrow, 1, ROLE_TEXT, "over");
        add_words(r, narrow, 1, ROLE_TEXT, what);
    } else {
        snprintf(text, sizeof text, "%s %%", units_change(ms, (paper ? -gap : gap) * 100, 1));
        add_words(r, narrow, 3, ROLE_WARN, text);
        add_words(r, narrow, 1, ROLE_TEXT, paper ? "of reward" : "over");
        add_words(r, narrow, 1, ROLE_TEXT, what);
    }
    snprintf(text, sizeof text, "of %s", watch_decides[w->shot->options.game.kind]);
    add_words(r, 2, 1, ROLE_DIM, text);
    units_number(text, exact->score, 1);
    if (!paper)
        snprintf(text, sizeof text, "%s", beside_step(ms, w, exact->cost.step_ms));
    add_words(r, narrow, 1, exact->proven ? ROLE_OK : ROLE_TEXT, text);
    if (!exact->proven)
        return;
    add_words(r, 3, 1, ROLE_DIM, "proven"); /* an optimum is: "best of exact" is none */
    add_words(r, 5, 1, ROLE_DIM, "by exact");
    snprintf(text, sizeof text, "%s %s", units_count(ms, (int64_t)exact->nodes),
             exact->nodes == 1 ? "case" : "cases");
    if (exact->nodes)
        add_words(r, 7, 2, ROLE_DIM, text);
}

enum { ELSEWHERE_SHOWN = 2 }; /* the fastest; V p has all */

static void add_elsewhere(struct row *r, const struct watch *w)
{
    struct elsewhere list[ELSEWHERE_MOST];
    char text[96], ms[UNITS_ROOM];
    int count = elsewhere(w, list);

    if (count)
        add_words(r, 6, 3, ROLE_DIM, "elsewhere");
    for (int n = 0; n < count && n < ELSEWHERE_SHOWN; n++) {
        snprintf(text, sizeof text, "%s%s %s", n ? "· " : "", beside_step(ms, w, list[n].step_ms),
                 list[n].name);
        add_words(r, n ? 7 : 6, 1, ROLE_TEXT, text);
    }
}

/* "your pins cost 10.1" */
static void add_pins_cost(struct row *r, const struct watch *w)
{
    double cost = w->shot->ledger ? ledger_pins_cost(w->shot->ledger) : NAN;
    char ms[UNITS_ROOM], text[64];

    if (isnan(cost) || cost <= 1e-9 * w->exact->cost.step_ms)
        return;
    snprintf(text, sizeof text, "your %s %s", w->shot->pin_count == 1 ? "pin costs" : "pins cost",
             beside_step(ms, w, cost));
    add_words(r, 2, 3, ROLE_WARN, text);
}

/* "on 8 devices 28.3": leaving devices out is faster. */
static void add_fewer(struct row *r, const struct watch *w)
{
    const struct fewer *f = fewer_found(w);
    char text[96], ms[UNITS_ROOM];

    if (!f)
        return;
    snprintf(text, sizeof text, "on %u", f->devices);
    add_words(r, 1, 3, ROLE_WARN, text);
    add_words(r, 2, 1, ROLE_WARN, f->devices == 1 ? "device" : "devices");
    add_words(r, 1, 1, ROLE_WARN | BOLD, units_plain_ms(ms, f->step_ms));
}

static void add_best(struct row *r, const struct watch *w)
{
    char text[UNITS_ROOM];

    if (w->best) {
        add_words(r, 0, 0, ROLE_TITLE | BOLD, units_ms(text, w->best->cost.step_ms));
        add_words(r, !watch_is_baseline(w), 1, ROLE_TEXT,
                  watch_is_baseline(w) ? "baseline" : "best");
    } else {
        add_words(r, 0, 0, ROLE_DIM, "no plan yet");
    }
    if (watch_is_baseline(w)) {
        if (w->shot->episodes > w->shot->began)
            add_words(r, 4, 1, ROLE_DIM, "is best so far");
        return;
    }
    add_words(r, w->best ? 4 : 0, 3, ROLE_DIM, "baseline");
    add_words(r, w->best ? 4 : 0, 1, ROLE_TEXT, units_plain_ms(text, w->shot->baseline_ms));
}

/* "7.6" and " of 16 GB": one unit for both, but for a peak that would be 0.0 of it. */
static void write_memory(char peak_text[static UNITS_ROOM], char *of, size_t room, double peak,
                         double limit, bool limited)
{
    double unit = limit >= 1e9 ? 1e9 : 1e6;

    if (peak / unit < 0.05)
        units_bytes(peak_text, peak);
    else
        units_number(peak_text, peak / unit, 1);
    snprintf(of, room, " of %.4g %s%s%s", limit / unit, unit == 1e9 ? "GB" : "MB",
             limited ? " limit" : "", peak > limit ? ", over" : "");
}

/* Columns that it takes without a word and without a bar. */
static int memory_width(const struct watch *w)
{
    char of[48], figure[UNITS_ROOM];

    write_memory(figure, of, sizeof of, w->memory.peak, watch_memory_limit(w), watch_is_limited(w));
    return (int)strlen(figure) + utf8_text_columns(of);
}

/* Memory of a device under the best plan; at 110 columns with a bar. */
static void draw_memory(const struct scene *s, const struct pane *p, const struct row *row)
{
    double limit = watch_memory_limit(s->watch), peak = s->watch->memory.peak, share = peak / limit;
    unsigned style = share > 1 ? ROLE_ERR | BOLD : share > 0.8 ? ROLE_WARN : ROLE_TEXT;
    char of[48], figure[UNITS_ROOM];
    enum { BAR = 10 };

    bool limited =
        watch_is_limited(s->watch); /* what the search has to keep within, not all there is */
    write_memory(figure, of, sizeof of, peak, limit, limited);
    int brief = (int)strlen(figure) + utf8_text_columns(of);
    int used = width_of(row, 9), bar = used + 3 + brief + 8 + BAR <= p->width && p->width >= 100;
    int word = used + 3 + brief + 7 <= p->width;
    if (used + 3 + brief > p->width || !(limit > 0))
        return;
    int x = p->width - brief - (bar ? BAR + 1 : 0) - (word ? 7 : 0);
    if (word)
        x = pane_text(p, x, 0, ROLE_DIM, "memory ");
    if (bar) {
        pane_repeat(p, x, 0, BAR, (struct cell){U'░', ROLE_BORDER});
        pane_bar(p, x, 0, BAR, share,
                 share > 1     ? ROLE_ERR
                 : share > 0.8 ? ROLE_WARN
                               : ROLE_CHOICE_1);
        x += BAR + 1;
    }
    x = pane_text(p, x, 0, style, figure);
    pane_text(p, x, 0, ROLE_DIM, of);
}

void header_headline(const struct scene *s, const struct pane *p)
{
    struct row left = {.count = 0};

    if (p->height < 1 || !s->watch)
        return;
    add_best(&left, s->watch);
    add_gap(&left, s->watch);
    add_pins_cost(&left, s->watch);
    add_fewer(&left, s->watch);
    add_elsewhere(&left, s->watch);
    int memory = 3 + memory_width(s->watch), level = 9;
    while (level > 1 && width_of(&left, level) + memory + (level > 3 ? 7 : 0) +
                                (level > 4 && p->width >= 100 ? 11 : 0) >
                            p->width)
        level--; /* the bar goes before what is wanted more */
    while (level > 0 && width_of(&left, level) > p->width)
        level--; /* and memory before the distance from the optimum */
    draw_row(&left, p, 0, 0, level);
    struct row shown = {.count = 0};
    for (int i = 0; i < left.count; i++) {
        if (left.pieces[i].wanted <= level)
            shown.pieces[shown.count++] = left.pieces[i];
    }
    draw_memory(s, p, &shown);
}

void header_line(const struct scene *s, const struct pane *p)
{
    struct row left = {.count = 0}, right = {.count = 0};
    char text[64], count[UNITS_ROOM];

    if (s->watch) {
        const struct watch *w = s->watch;
        double gap = watch_gap(w);
        add_words(&left, 0, 0, ROLE_TITLE | BOLD,
                  units_ms(text, w->best ? w->best->cost.step_ms : w->shot->baseline_ms));
        bool found = w->best && !watch_is_baseline(w);
        add_words(&left, found ? 2 : 0, 1, ROLE_TEXT, found ? "best" : "baseline");
        snprintf(text, sizeof text, "%s %%", units_change(count, gap * 100, 1));
        if (!isnan(gap))
            add_words(&left, 1, 1, gap > 0 ? ROLE_WARN : ROLE_OK, text);
        snprintf(text, sizeof text, "ep %s", units_count(count, (int64_t)w->shot->episodes));
        add_words(&left, 3, 1, ROLE_DIM, text);
    } else {
        add_words(&left, 0, 0, ROLE_TITLE | BOLD, s->model_name[0] ? s->model_name : "automap");
    }
    add_words(&right, 1, 0, ROLE_KEY, "q");
    int level = 9;
    while (level > 0 && width_of(&left, level) + 1 + width_of(&right, level) > p->width)
        level--;
    draw_row(&left, p, 0, 0, level);
    if (level > 0)
        draw_row(&right, p, p->width - width_of(&right, level), 0, level);
}

/* "graph" of "Graph". */
static const char *tab_word(const struct panel *p, char out[static 32])
{
    snprintf(out, 32, "%s", p->ops->title);
    if (out[0] >= 'A' && out[0] <= 'Z')
        out[0] = (char)(out[0] + 'a' - 'A');
    return out;
}

/* Columns of all tabs when those up to number `named`, and the focused one, have their words. */
static int tabs_width(struct panel *const *placed, enum panel_id focus, int named, int gap)
{
    char word[32];
    int width = 6;

    for (int i = 1; i <= PANEL_DEVICES; i++) {
        if (placed[i])
            width +=
                1 + gap +
                (i <= named || i == (int)focus ? 1 + utf8_text_columns(tab_word(placed[i], word))
                                               : 0);
    }
    return width;
}

void header_tabs(const struct scene *s, const struct pane *p, struct panel *const *placed,
                 enum panel_id focus)
{
    int x = 0, named = PANEL_DEVICES, gap = 2;
    char word[32];

    (void)s;
    if (tabs_width(placed, focus, named, gap) > p->width)
        gap = 1;
    while (named > 0 && tabs_width(placed, focus, named, gap) > p->width)
        named--;
    for (int i = 1; i <= PANEL_DEVICES; i++) {
        if (!placed[i])
            continue;
        x = pane_format(p, x, 0, ROLE_KEY, "%d", i);
        if (i <= named || i == (int)focus)
            x = pane_text(p, x + 1, 0, i == (int)focus ? ROLE_TITLE | BOLD : ROLE_DIM,
                          tab_word(placed[i], word));
        x += gap;
    }
    if (x + 6 <= p->width) {
        x = pane_text(p, x, 0, ROLE_KEY, "? ");
        pane_text(p, x, 0, ROLE_DIM, "help");
    }
}
