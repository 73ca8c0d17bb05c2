#include "tui/views/schedule_draw.h"

#include "engine/pipeline/simulation.h"
#include "engine/text/units.h"
#include "tui/screen/grid.h"
#include "tui/screen/plot.h"
#include "tui/screen/theme.h"
#include "tui/screen/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_ROOM = 3, BUSY_ROOM = 11 };

static const uint32_t block_sign[] = {
    [PIPE_FORWARD] = U'░', [PIPE_BACKWARD] = U'▓', [PIPE_REDUCE] = U'='};
static const unsigned block_role[] = {
    [PIPE_FORWARD] = ROLE_BLOCK_0, [PIPE_BACKWARD] = ROLE_BLOCK_1, [PIPE_REDUCE] = ROLE_BLOCK_2};

static uint32_t sign_of(const struct schedule_shown *s, enum pipe_task_kind kind)
{
    return s->signs || kind == PIPE_REDUCE ? block_sign[kind] : U' ';
}

/* The end of a pass stands for what its devices send each other in it. */
static void draw_sent(const struct schedule_shown *s, const struct pane *p, int y, int from,
                      int end, const struct pipe_task *t)
{
    double part = s->sent[t->node / 2][t->kind == PIPE_BACKWARD];
    int columns = (int)(part * (end - from) + 0.5);

    pane_repeat(p, end - columns, y, columns, (struct cell){U'~', block_role[t->kind]});
}

static void draw_task(const struct schedule_shown *s, const struct pane *p, int y,
                      const struct pipe_task *t, double ms_column)
{
    int from = (int)(t->start_ms / ms_column + 0.5), end = (int)(t->end_ms / ms_column + 0.5);
    static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";

    if (t->end_ms <= t->start_ms)
        return;
    end = end > from ? end : from + 1; /* narrower than a column: one column */
    end = end < p->width ? end : p->width;
    pane_repeat(p, from, y, end - from, (struct cell){sign_of(s, t->kind), block_role[t->kind]});
    if (s->sent && t->kind != PIPE_REDUCE)
        draw_sent(s, p, y, from, end, t);
    bool numbered = s->schedule->micro_batches <= 36 || t->micro_batch % 10 == 0;
    if (t->kind != PIPE_REDUCE && numbered)
        pane_put(p, from, y, block_role[t->kind] | BOLD, (uint32_t)digits[t->micro_batch % 36]);
}

/* Whole milliseconds where they tell the steps apart. */
static void axis_text(double ms, double step, char out[static UNITS_ROOM])
{
    if (step < 1)
        snprintf(out, UNITS_ROOM, step < 0.1 ? "%.2f" : "%.1f", ms);
    else
        units_count(out, (int64_t)(ms + 0.5));
}

static void draw_axis(const struct schedule_shown *s, const struct pane *p, int y)
{
    double all = s->schedule->makespan_ms,
           step = plot_step(all, p->width / 14 > 1 ? p->width / 14 : 1);
    char text[UNITS_ROOM];
    int last = -1, end = p->width;

    axis_text(all, step, text);
    pane_right(p, end, y, ROLE_DIM, text);
    end -= utf8_text_columns(text) + 2;
    for (double at = 0; at < all; at += step) {
        int x = (int)(at / all * p->width);
        axis_text(at, step, text);
        if (x > last && x + utf8_text_columns(text) <= end)
            last = pane_text(p, x, y, ROLE_DIM, text) + 1;
    }
}

static void draw_legend(const struct schedule_shown *s, const struct pane *p, int y)
{
    static const char *const words[] = {"forward", "backward", "all-reduce"};
    int x = 0;

    for (int k = 0; k < 3; k++) {
        x = pane_put(p, x, y, block_role[k], sign_of(s, (enum pipe_task_kind)k)) + 1;
        x = pane_text(p, x, y, ROLE_DIM, words[k]) + 3;
    }
    if (s->sent) {
        x = pane_put(p, x, y, block_role[PIPE_FORWARD], U'~') + 1;
        x = pane_text(p, x, y, ROLE_DIM, "tensor parallel") + 3;
    }
    if (x + (int)sizeof "blank: waiting" <= p->width + 1)
        pane_text(p, x, y, ROLE_DIM, "blank: waiting");
}

/* Percent of the makespan in which the row's devices work. */
static double busy(const struct schedule_shown *s, uint32_t row)
{
    double ms = 0;

    for (uint32_t node = 2 * row; node < s->schedule->nodes; node += 2 * s->rows)
        ms += pipe_schedule_busy_ms(s->schedule, node);
    return ms / s->schedule->makespan_ms * 100;
}

char *schedule_batches_text(uint32_t micro_batches, char out[static 40])
{
    char last[UNITS_ROOM];

    if (micro_batches > 1)
        snprintf(out, 40, "micro-batches 0–%.12s", units_count(last, micro_batches - 1));
    else
        snprintf(out, 40, "1 micro-batch");
    return out;
}

void schedule_layer_text(const char *layer, const char *nameless, char *out, size_t room)
{
    const char *digits = layer + strcspn(layer, "0123456789"), *slash = strchr(layer, '/');
    long number = strtol(digits, NULL, 10);
    int letters = (int)strcspn(layer, "0123456789_[]. "); /* of what is not a layer by name */

    if (*digits && slash && slash < digits && !strncmp(layer, "model/", 6))
        snprintf(out, room, "layer %ld", number);
    else if (*digits && slash && slash < digits)
        snprintf(out, room, "%.3s %ld", layer, number);
    else if (letters && *digits && strncmp(layer, "layer", 5))
        snprintf(out, room, "%.*s %ld", letters > 5 ? 3 : letters, layer, number);
    else if (*digits)
        snprintf(out, room, "%ld", number);
    else
        text_cut_middle(out, room, layer[0] ? layer : nameless, (int)room - 1);
}

void schedule_draw(const struct schedule_shown *s, const struct pane *p)
{
    int rows = p->height - 2, step = s->spaced ? 2 : 1;
    struct pane gantt = pane_part(p, NUMBER_ROOM, 0, p->width - NUMBER_ROOM - BUSY_ROOM, rows);
    uint32_t top = 0;

    if (rows < 1 || gantt.width < 10 || s->schedule->makespan_ms <= 0)
        return;
    if ((int)s->cursor * step >= rows)
        top = s->cursor - (uint32_t)((rows - 1) / step);
    double ms_column = s->schedule->makespan_ms / gantt.width;
    for (uint32_t n = 0; n < s->schedule->count; n++) {
        const struct pipe_task *t = &s->schedule->task[n];
        int y = ((int)(t->node / 2 % s->rows) - (int)top) * step;
        if (t->node % 2 == 0 && y >= 0 && y < rows)
            draw_task(s, &gantt, y, t, ms_column);
    }
    uint32_t row = top;
    int y = 0;
    for (; row < s->rows && y < rows; row++, y += step) {
        pane_format(p, 0, y, row == s->cursor ? ROLE_TITLE | BOLD : ROLE_TEXT, "%u", row);
        int x = pane_text(p, p->width - BUSY_ROOM + 1, y, ROLE_DIM, "busy ");
        pane_right_format(p, x + 5, y, ROLE_TEXT, "%.0f %%", busy(s, row));
    }
    struct pane below = pane_part(p, NUMBER_ROOM, 0, p->width - NUMBER_ROOM - BUSY_ROOM, p->height);
    y = y < rows ? y : rows;
    draw_axis(s, &below, y);
    draw_legend(s, &below, y + 1);
}
