/* Panels 4 and 5: curves of the snapshot, drawn whole each time: 16,384 points at most. */
#include "engine/live/series.h"
#include "engine/live/snapshot.h"
#include "engine/search/game.h"
#include "engine/search/search.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/sort.h"
#include "tui/screen/grid.h"
#include "tui/screen/keys.h"
#include "tui/screen/layout.h"
#include "tui/views/panel.h"
#include "tui/views/views.h"

#include "engine/text/units.h"
#include "tui/screen/plot.h"
#include "tui/screen/theme.h"
#include "tui/watch/watch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MARKS_MOST = 64 };

static const double smoothings[] = {0.9, 0.98, 0, 0.5};
enum { SMOOTHINGS = sizeof smoothings / sizeof *smoothings };

struct curves {
    double *x, *y, *mean, *best; /* [SERIES_POINTS] */
    double *best_x;
    double *low, *high, *band_x; /* 10 and 90 of 100 of what falls into a column */
    double *thin, *thin_x;       /* the mean of what falls into a column */
    int smoothing;               /* of smoothings */
    int zoom;                    /* a 2^zoom-th of the run is shown */
    double end;                  /* of it, in parts of the run from its end; 0: it is followed */
    bool log_flipped;
    bool progress; /* reward panel: the share of dims settled, after each decision */
};

enum {
    CURVES_SMOOTH,
    CURVES_NEARER,
    CURVES_FARTHER,
    CURVES_EARLIER,
    CURVES_LATER,
    CURVES_ALL,
    CURVES_LAST /* log axis of the loss; progress in place of the reward */
};
#define OF_BOTH                                                                              \
    [CURVES_SMOOTH] = {"smooth", "in this panel", "smoothing", "smooth", "s", NULL},         \
    [CURVES_NEARER] =                                                                        \
        {"nearer", "in this panel", "a shorter, longer part of the run", "part", "+", NULL}, \
    [CURVES_FARTHER] = {"farther", "in this panel", NULL, NULL, "-", NULL},                  \
    [CURVES_EARLIER] =                                                                       \
        {"earlier", "in this panel", "an earlier, later part", "earlier", "[", NULL},        \
    [CURVES_LATER] = {"later", "in this panel", NULL, NULL, "]", NULL},                      \
    [CURVES_ALL] = {"all", "in this panel", "all of the run", "all", "0", NULL}
static const struct action reward_actions[] = {
    OF_BOTH,
    [CURVES_LAST] = {"progress", "in this panel", "the share of dims settled after each decision",
                     "progress", "l", NULL},
};
static const struct action loss_actions[] = {
    OF_BOTH,
    [CURVES_LAST] = {"log-axis", "in this panel", "log axis", "log", "l", NULL},
};
static const struct key_table reward_keys = {"reward", reward_actions, CURVES_LAST + 1};
static const struct key_table loss_keys = {"loss", loss_actions, CURVES_LAST + 1};

enum { ZOOM_MOST = 12 };

/* What is shown of a run of that length. */
struct part {
    double first, last;
};

static struct part part_of(const struct curves *v, double all)
{
    double wide = all / (1 << v->zoom), last = all * (1 - v->end);

    return (struct part){last - wide > 0 ? last - wide : 0, last};
}

/* The points inside: *first the index of the first; returns how many. */
static uint32_t points_in(const double *x, uint32_t count, const struct part *p, uint32_t *first)
{
    uint32_t end = count;

    for (*first = 0; *first < count && x[*first] < p->first;)
        ++*first;
    while (end > *first && x[end - 1] > p->last)
        end--;
    return end - *first;
}

/* The first one follows the length of the run: about a fiftieth of it, at least ten points. */
static double weight_of(const struct curves *v, uint32_t count)
{
    double weight = smoothings[v->smoothing];
    return v->smoothing == 0 && count > 500 ? 1 - 50. / count : weight;
}

static int open_curves(struct panel *p, const void *arg, struct err *e)
{
    struct curves *v = p->state;
    double **arrays[] = {&v->x,   &v->y,    &v->mean,   &v->best, &v->best_x,
                         &v->low, &v->high, &v->band_x, &v->thin, &v->thin_x};

    (void)arg;
    (void)e;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        *arrays[i] = mem_alloc(SERIES_POINTS * sizeof(double));
    return 0;
}

static void close_curves(struct panel *p)
{
    struct curves *v = p->state;
    free(v->x);
    free(v->y);
    free(v->mean);
    free(v->best);
    free(v->best_x);
    free(v->low);
    free(v->high);
    free(v->band_x);
    free(v->thin);
    free(v->thin_x);
}

static void copy_series(const struct series *s, double *x, double *y)
{
    for (uint32_t i = 0; i < s->count; i++) {
        x[i] = s->block->points[i].x;
        y[i] = (double)s->block->points[i].mean;
    }
}

/* A person's acts, where they stand in the log: by episode, or by update of the network. */
static size_t find_marks(const struct live_log *log, bool by_update, const struct part *part,
                         struct plot_mark *marks)
{
    size_t count = 0;

    for (uint32_t i = 0; i < log->count && count < MARKS_MOST; i++) {
        const struct log_line *line = &log->block->lines[i];
        double x = (double)(by_update ? line->updates : line->episode);
        if (line->act && x >= part->first && x <= part->last)
            marks[count++] = (struct plot_mark){x, (int)line->act};
    }
    return count;
}

/* The episode of the last act: what is proven now is so under it, not of what was before. */
static double last_act(const struct live_log *log)
{
    for (uint32_t i = log->count; i > 0; i--) {
        if (log->block->lines[i - 1].act)
            return (double)log->block->lines[i - 1].episode;
    }
    return 0;
}

/* Where several points fall into a column, they are told by the 10th and the 90th of 100 of them; a
 * cloud of all would be a filled block. Returns how many columns; 0: there is room for each point.
 */
static uint32_t find_band(struct curves *v, uint32_t from, uint32_t count, int width)
{
    uint32_t columns = width > 8 ? (uint32_t)width : 8;
    double *part;

    if (count < 12 * columns)
        return 0;
    part = mem_alloc(((size_t)count / columns + 2) * sizeof *part);
    for (uint32_t k = 0; k < columns; k++) {
        uint32_t first = from + (uint32_t)((uint64_t)count * k / columns),
                 end = from + (uint32_t)((uint64_t)count * (k + 1) / columns), size = end - first;
        memcpy(part, v->y + first, size * sizeof *part);
        sort_doubles(part, size);
        v->band_x[k] = v->x[first];
        v->low[k] = part[size / 10];
        v->high[k] = part[size - 1 - size / 10];
    }
    free(part);
    return columns;
}

/* The mean as a line: a point a column where two or more fall into one. A line from each to the
 * next would fill a block where they leap. */
static void set_mean(struct curves *v, uint32_t from, uint32_t count, int width,
                     struct plot_series *line)
{
    uint32_t columns = width > 8 ? (uint32_t)width : 8;

    line->kind = PLOT_LINE;
    line->y = v->mean + from;
    line->x = v->x + from;
    line->count = count;
    if (count < 2 * columns)
        return;
    for (uint32_t k = 0; k < columns; k++) {
        uint32_t first = from + (uint32_t)((uint64_t)count * k / columns),
                 end = from + (uint32_t)((uint64_t)count * (k + 1) / columns), finite = 0;
        double sum = 0;
        for (uint32_t i = first; i < end; i++) {
            sum += isfinite(v->mean[i]) ? v->mean[i] : 0;
            finite += isfinite(v->mean[i]) != 0;
        }
        v->thin[k] = finite ? sum / finite : NAN;
        v->thin_x[k] = v->x[k + 1 < columns ? first : end - 1];
    }
    line->y = v->thin;
    line->x = v->thin_x;
    line->count = columns;
}

/* The points, or the two edges of their band: series 0 and 1. */
static void set_points(const struct curves *v, uint32_t from, uint32_t count, uint32_t columns,
                       struct plot_series series[static 2])
{
    const double *edges[] = {v->low, v->high};

    series[0] = (struct plot_series){.y = v->y + from,
                                     .x = v->x + from,
                                     .count = count,
                                     .kind = PLOT_DOTS,
                                     .role = ROLE_PLOT_4,
                                     .sign = '.'};
    series[1] = (struct plot_series){
        .y = v->y, .x = v->x, .kind = PLOT_DOTS, .role = ROLE_PLOT_4, .sign = '.'};
    for (int i = 0; columns && i < 2; i++)
        series[i] = (struct plot_series){.y = edges[i],
                                         .x = v->band_x,
                                         .count = columns,
                                         .kind = PLOT_LINE,
                                         .role = ROLE_PLOT_4,
                                         .sign = '.',
                                         .name = i ? "10–90 %" : NULL};
}

static void say_empty(const struct panel *p, const struct pane *pane, const char *what)
{
    const struct watch *w = p->scene->watch;
    bool ready = w && w->shot->state == LIVE_READY;
    pane_format(pane, 0, 0, ROLE_DIM, "%s", ready ? "Space starts the search" : what);
}

/* The best so far that held when the part begins belongs to it. Returns its first point. */
static uint32_t cut_best(struct curves *v, uint32_t *count, const struct part *part)
{
    uint32_t first, inside = points_in(v->best_x, *count, part, &first);

    if (first > 0) {
        first--;
        inside++;
        v->best_x[first] = part->first;
    }
    *count = inside;
    return first;
}

/* A series in view: its points or their band, and its mean as `line` says, which get their points
 * here. `length`: of the whole, in its unit. Returns what part of it is shown. */
static struct part show_series(struct curves *v, const struct series *s, uint64_t length, int width,
                               struct plot_series line, struct plot_series series[static 3])
{
    copy_series(s, v->x, v->y);
    plot_smooth(v->mean, v->y, s->count, weight_of(v, s->count));
    struct part part = part_of(v, length > 1 ? (double)length : 1);
    uint32_t from, count = points_in(v->x, s->count, &part, &from);

    set_points(v, from, count, find_band(v, from, count, width - 8), series);
    series[2] = line;
    set_mean(v, from, count, width - 8, &series[2]);
    return part;
}

/* How far propagation has come after each decision (Auto-MAP's figure 16). */
static void draw_progress(struct panel *p, const struct pane *pane)
{
    struct curves *v = p->state;
    const struct snapshot *s = p->scene->watch->shot;

    struct plot_series series[3];
    struct part part =
        show_series(v, &s->progress, s->decisions, pane->width,
                    (struct plot_series){.role = ROLE_PLOT_3, .sign = '*', .name = "mean"}, series);
    struct plot plot = {.series = series,
                        .series_count = 3,
                        .first_x = part.first,
                        .last_x = part.last,
                        .unit_x = "decisions",
                        .low = 0,
                        .high = 1,
                        .limit = NAN,
                        .ascii = p->scene->ascii};
    plot_draw(pane, &plot);
}

static void draw_reward(struct panel *p, const struct pane *pane)
{
    struct curves *v = p->state;
    const struct watch *w = p->scene->watch;
    struct plot_mark marks[MARKS_MOST];

    if (w && v->progress && w->shot->progress.count) {
        draw_progress(p, pane);
        return;
    }
    if (!w || w->shot->reward.count == 0) {
        say_empty(p, pane, "no episode has ended yet");
        return;
    }
    const struct snapshot *s = w->shot;
    struct plot_series series[4];
    copy_series(&s->best_ms, v->best_x, v->best);
    struct part part =
        show_series(v, &s->reward, s->episodes, pane->width,
                    (struct plot_series){.role = ROLE_PLOT_0, .sign = '*', .name = "mean"}, series);
    uint32_t best_count = s->best_ms.count, best = cut_best(v, &best_count, &part);
    series[3] = (struct plot_series){.y = v->best + best,
                                     .x = v->best_x + best,
                                     .count = best_count,
                                     .kind = PLOT_STEPS,
                                     .role = ROLE_PLOT_2,
                                     .sign = '+',
                                     .name = "best"};
    struct plot plot = {
        .series = series,
        .series_count = 4,
        .first_x = part.first,
        .last_x = part.last,
        .unit_x = "ep",
        .low = NAN,
        .high = NAN,
        .limit = w->exact && w->exact->fits ? w->exact->score : NAN,
        .limit_x = last_act(&s->log),
        .limit_role = ROLE_OK,
        .limit_name = w->exact && w->exact->proven ? "optimum" : "exact",
        .marks = marks,
        .mark_count = find_marks(&s->log, false, &part, marks),
        .ascii = p->scene->ascii,
    };
    plot_draw(pane, &plot);
}

static void draw_loss(struct panel *p, const struct pane *pane)
{
    struct curves *v = p->state;
    const struct watch *w = p->scene->watch;
    struct plot_mark marks[MARKS_MOST];

    if (!w || w->shot->loss_curve.count == 0) {
        say_empty(p, pane,
                  w && w->shot->options.algorithm != SEARCH_DQN ? "this search learns nothing"
                                                                : "the learner collects first");
        return;
    }
    const struct snapshot *s = w->shot;
    struct plot_series series[3];
    struct part part =
        show_series(v, &s->loss_curve, s->updates, pane->width,
                    (struct plot_series){.role = ROLE_PLOT_1, .sign = '*', .name = "mean"}, series);
    struct plot plot = {
        .series = series,
        .series_count = 3,
        .first_x = part.first,
        .last_x = part.last,
        .unit_x = "upd",
        .log_y = !v->log_flipped,
        .low = NAN,
        .high = NAN,
        .limit = NAN,
        .marks = marks,
        .mark_count = find_marks(&s->log, true, &part, marks),
        .ascii = p->scene->ascii,
    };
    plot_draw(pane, &plot);
}

/* The part and the smoothing are named when they are not the default. */
static void add_smoothing(const struct curves *v, char *note, size_t room)
{
    size_t size = strlen(note);

    if (v->zoom)
        snprintf(note + size, room - size, " · 1/%d of the run%s", 1 << v->zoom,
                 v->end > 0 ? "" : ", its end");
    size = strlen(note);
    if (v->smoothing == 0)
        return;
    if (smoothings[v->smoothing] > 0)
        snprintf(note + size, room - size, " · smoothed %g", smoothings[v->smoothing]);
    else
        snprintf(note + size, room - size, " · not smoothed");
}

static void head_reward(const struct panel *p, struct head *h, char *note, size_t room)
{
    const struct watch *w = p->scene->watch;
    bool paper = w && w->shot->options.game.reward == GAME_REWARD_PAPER;
    const struct curves *v = p->state;
    snprintf(note, room, "%s",
             v->progress ? "share of dims settled after each decision"
             : paper     ? "sum over dims, as the paper"
                         : "ln(baseline / step)");
    add_smoothing(p->state, note, room);
    h->note = note;
}

static void head_loss(const struct panel *p, struct head *h, char *note, size_t room)
{
    const struct curves *v = p->state;
    snprintf(note, room, "%s", v->log_flipped ? "Huber" : "Huber, log");
    add_smoothing(v, note, room);
    h->note = note;
}

static bool act_curves(struct panel *p, int action)
{
    struct curves *v = p->state;
    double wide = 1. / (1 << v->zoom);

    if (action == CURVES_SMOOTH)
        v->smoothing = (v->smoothing + 1) % SMOOTHINGS;
    else if (action == CURVES_NEARER && v->zoom < ZOOM_MOST)
        v->zoom++;
    else if (action == CURVES_FARTHER && v->zoom > 0)
        v->zoom--;
    else if (action == CURVES_EARLIER || action == CURVES_LATER)
        v->end += action == CURVES_EARLIER ? wide / 2 : -wide / 2;
    else if (action == CURVES_ALL)
        v->zoom = 0;
    else if (action == CURVES_LAST)
        v->log_flipped = v->progress = !v->progress; /* each panel reads its own */
    wide = 1. / (1 << v->zoom);                      /* the part stays within the run */
    v->end = v->end > 1 - wide ? 1 - wide : v->end;
    v->end = v->end < 0 ? 0 : v->end;
    return true;
}

/* How much is settled late in the run, and early. */
static void message_progress(const struct series *s, char *out, size_t room)
{
    uint32_t tenth = s->count / 10 ? s->count / 10 : 1;
    double first = 0, last = 0;

    for (uint32_t n = 0; n < tenth; n++) {
        first += (double)s->block->points[n].mean / tenth;
        last += (double)s->block->points[s->count - 1 - n].mean / tenth;
    }
    snprintf(out, room,
             "after a decision %.0f %% of all dims are settled, in the last tenth of this run; "
             "%.0f %% in the first",
             100 * last, 100 * first);
}

static void message_reward(const struct panel *p, char *out, size_t room)
{
    const struct watch *w = p->scene->watch;
    const struct curves *v = p->state;
    char ms[UNITS_ROOM];

    if (w && v->progress && w->shot->progress.count)
        message_progress(&w->shot->progress, out, room);
    else if (w && w->best && !w->best->fits)
        snprintf(out, room, "best %.3f: over the memory limit, below all that fits",
                 w->best->score);
    else if (w && w->best && w->exact)
        snprintf(out, room, "%s %.3f, %s %.3f, in ln(baseline %s / step)",
                 watch_is_baseline(w) ? "baseline" : "best", w->best->score,
                 w->exact->proven ? "optimum" : "exact", w->exact->score,
                 units_ms(ms, w->shot->baseline_ms));
}

static void message_loss(const struct panel *p, char *out, size_t room)
{
    const struct watch *w = p->scene->watch;
    if (w && w->shot->updates)
        snprintf(out, room, "loss %.3g after %llu updates of the network", w->shot->loss,
                 (unsigned long long)w->shot->updates);
}

#define CURVES(which)                                                                     \
    .place = PLACE_LAYOUT, .size = sizeof(struct curves), .open = open_curves,            \
    .close = close_curves, .act = act_curves, .draw = draw_##which, .head = head_##which, \
    .keys = &which##_keys, .message = message_##which

const struct panel_ops view_reward = {
    .name = "reward",
    .title = "Reward",
    .id = PANEL_REWARD,
    .hints = "run decide undo smooth nearer earlier progress +plans=views zoom command help",
    CURVES(reward),
};

const struct panel_ops view_loss = {
    .name = "loss",
    .title = "Loss",
    .id = PANEL_LOSS,
    .hints = "run decide undo smooth nearer earlier log-axis +plans=views zoom command help",
    CURVES(loss),
};
