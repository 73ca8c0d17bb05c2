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
    int smoothing;               /* of smoothings */
    bool log_flipped;
};

enum { CURVES_SMOOTH, CURVES_LOG };
static const struct action curves_actions[] = {
    [CURVES_SMOOTH] = {"smooth", "in this panel", "smoothing", "smooth", "s", NULL},
    [CURVES_LOG] = {"log-axis", "in this panel", "log axis", "log", "l", NULL},
};
static const struct key_table reward_keys = {"reward", curves_actions, 1};
static const struct key_table loss_keys = {"loss", curves_actions, 2};

/* The first one follows the length of the run: about a fiftieth of it, at least ten points. */
static double weight_of(const struct curves *v, uint32_t count)
{
    double weight = smoothings[v->smoothing];
    return v->smoothing == 0 && count > 500 ? 1 - 50. / count : weight;
}

static int open_curves(struct panel *p, const void *arg, struct err *e)
{
    struct curves *v = p->state;
    double **arrays[] = {&v->x,      &v->y,   &v->mean, &v->best,
                         &v->best_x, &v->low, &v->high, &v->band_x};

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
}

static void copy_series(const struct series *s, double *x, double *y)
{
    for (uint32_t i = 0; i < s->count; i++) {
        x[i] = s->block->points[i].x;
        y[i] = (double)s->block->points[i].mean;
    }
}

/* A person's acts, where they stand in the log: by episode, or by update of the network. */
static size_t find_marks(const struct live_log *log, bool by_update, struct plot_mark *marks)
{
    size_t count = 0;

    for (uint32_t i = 0; i < log->count && count < MARKS_MOST; i++) {
        const struct log_line *line = &log->block->lines[i];
        if (line->act)
            marks[count++] = (struct plot_mark){(double)(by_update ? line->updates : line->episode),
                                                (int)line->act};
    }
    return count;
}

/* Where several points fall into a column, they are told by the 10th and the 90th of 100 of them; a
 * cloud of all would be a filled block. Returns how many columns; 0: there is room for each point.
 */
static uint32_t find_band(struct curves *v, uint32_t count, int width)
{
    uint32_t columns = width > 8 ? (uint32_t)width : 8;
    double *part;

    if (count < 12 * columns)
        return 0;
    part = mem_alloc(((size_t)count / columns + 2) * sizeof *part);
    for (uint32_t k = 0; k < columns; k++) {
        uint32_t first = (uint32_t)((uint64_t)count * k / columns),
                 end = (uint32_t)((uint64_t)count * (k + 1) / columns), size = end - first;
        memcpy(part, v->y + first, size * sizeof *part);
        sort_doubles(part, size);
        v->band_x[k] = v->x[first];
        v->low[k] = part[size / 10];
        v->high[k] = part[size - 1 - size / 10];
    }
    free(part);
    return columns;
}

/* The points, or the two edges of their band: series 0 and 1. */
static void set_points(const struct curves *v, uint32_t count, uint32_t columns,
                       struct plot_series series[static 2])
{
    const double *edges[] = {v->low, v->high};

    series[0] = (struct plot_series){
        .y = v->y, .x = v->x, .count = count, .kind = PLOT_DOTS, .role = ROLE_PLOT_4, .sign = '.'};
    series[1] = (struct plot_series){
        .y = v->y, .x = v->x, .kind = PLOT_DOTS, .role = ROLE_PLOT_4, .sign = '.'};
    for (int i = 0; columns && i < 2; i++)
        series[i] = (struct plot_series){.y = edges[i],
                                         .x = v->band_x,
                                         .count = columns,
                                         .kind = PLOT_LINE,
                                         .role = ROLE_PLOT_4,
                                         .sign = '.',
                                         .name = i ? "10-90 %" : NULL};
}

static void say_empty(const struct panel *p, const struct pane *pane, const char *what)
{
    const struct watch *w = p->scene->watch;
    bool ready = w && w->shot->state == LIVE_READY;
    pane_format(pane, 0, 0, ROLE_DIM, "%s", ready ? "Space starts the search" : what);
}

static void draw_reward(struct panel *p, const struct pane *pane)
{
    struct curves *v = p->state;
    const struct watch *w = p->scene->watch;
    struct plot_mark marks[MARKS_MOST];

    if (!w || w->shot->reward.count == 0) {
        say_empty(p, pane, "no episode has ended yet");
        return;
    }
    const struct snapshot *s = w->shot;
    copy_series(&s->reward, v->x, v->y);
    copy_series(&s->best_ms, v->best_x, v->best);
    plot_smooth(v->mean, v->y, s->reward.count, weight_of(v, s->reward.count));
    struct plot_series series[] = {
        {0},
        {0},
        {.y = v->mean,
         .x = v->x,
         .count = s->reward.count,
         .kind = PLOT_LINE,
         .role = ROLE_PLOT_0,
         .sign = '*',
         .name = "mean"},
        {.y = v->best,
         .x = v->best_x,
         .count = s->best_ms.count,
         .kind = PLOT_STEPS,
         .role = ROLE_PLOT_2,
         .sign = '+',
         .name = "best"},
    };
    set_points(v, s->reward.count, find_band(v, s->reward.count, pane->width - 8), series);
    struct plot plot = {
        .series = series,
        .series_count = 4,
        .first_x = 0,
        .last_x = (double)s->episodes > 1 ? (double)s->episodes : 1,
        .unit_x = "ep",
        .low = NAN,
        .high = NAN,
        .limit = w->exact && w->exact->fits ? w->exact->score : NAN,
        .limit_role = ROLE_OK,
        .limit_name = w->exact && w->exact->proven ? "optimum" : "exact",
        .marks = marks,
        .mark_count = find_marks(&s->log, false, marks),
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
    copy_series(&s->loss_curve, v->x, v->y);
    plot_smooth(v->mean, v->y, s->loss_curve.count, weight_of(v, s->loss_curve.count));
    struct plot_series series[] = {
        {0},
        {0},
        {.y = v->mean,
         .x = v->x,
         .count = s->loss_curve.count,
         .kind = PLOT_LINE,
         .role = ROLE_PLOT_1,
         .sign = '*'},
    };
    set_points(v, s->loss_curve.count, find_band(v, s->loss_curve.count, pane->width - 8), series);
    struct plot plot = {
        .series = series,
        .series_count = 3,
        .first_x = 0,
        .last_x = (double)s->updates > 1 ? (double)s->updates : 1,
        .unit_x = "upd",
        .log_y = !v->log_flipped,
        .low = NAN,
        .high = NAN,
        .limit = NAN,
        .marks = marks,
        .mark_count = find_marks(&s->log, true, marks),
        .ascii = p->scene->ascii,
    };
    plot_draw(pane, &plot);
}

/* The smoothing is named when it is not the default. */
static void add_smoothing(const struct curves *v, char *note, size_t room)
{
    size_t size = strlen(note);
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
    snprintf(note, room, "%s", paper ? "sum over dims, as the paper" : "ln(baseline / step)");
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
    if (action == CURVES_SMOOTH)
        v->smoothing = (v->smoothing + 1) % SMOOTHINGS;
    else
        v->log_flipped = !v->log_flipped;
    return true;
}

static void message_reward(const struct panel *p, char *out, size_t room)
{
    const struct watch *w = p->scene->watch;
    char ms[UNITS_ROOM];

    if (w && w->best && !w->best->fits)
        snprintf(out, room, "best %.3f: over the memory limit, below all that fits",
                 w->best->score);
    else if (w && w->best && w->exact)
        snprintf(out, room, "best %.3f, %s %.3f, in ln(baseline %s / step)", w->best->score,
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
    .hints = "run decide undo smooth +plans=views zoom command help",
    CURVES(reward),
};

const struct panel_ops view_loss = {
    .name = "loss",
    .title = "Loss",
    .id = PANEL_LOSS,
    .hints = "run decide undo smooth log-axis +plans=views zoom command help",
    CURVES(loss),
};
