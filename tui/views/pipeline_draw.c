#include "tui/views/pipeline_draw.h"

#include "engine/pipeline/formula.h"
#include "engine/pipeline/pipe_instance.h"
#include "engine/pipeline/pipeline.h"
#include "engine/pipeline/simulation.h"
#include "engine/text/units.h"
#include "hlo/support/mem.h"
#include "tui/screen/grid.h"
#include "tui/screen/plot.h"
#include "tui/screen/theme.h"
#include "tui/screen/utf8.h"
#include "tui/views/schedule_draw.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* "encoder/layer_014" as "enc 14", "layers[17]" as "17". */
void pipeline_layer_text(const struct pipeline *l, uint32_t point, char *out, size_t room)
{
    char layer[128];

    pipeline_layer(l, point, layer, sizeof layer);
    schedule_layer_text(layer, "start", out, room);
}

/* ---- stages ---- */

/* Where columns end; 0: left out. */
struct columns {
    int layers, devices, forward, backward, reduce, gradient, memory, bar;
    bool mb; /* memory in MB, else GB */
};

static struct columns columns_for(int width)
{
    struct columns c = {.layers = 18, .devices = width >= 58 ? 29 : 0};
    bool close = width < 92; /* no blanks to spare: memory stays in sight */
    int x = c.devices ? c.devices : c.layers;

    c.forward = x += width < 70 ? 10 : close ? 12 : 13;
    c.backward = x += width < 70 ? 10 : close ? 12 : 14;
    if (width >= 76)
        c.reduce = x += close ? 14 : 15;
    if (width >= 100)
        c.gradient = x += 14;
    x += close ? 7 : 12;
    c.memory = x <= width ? x : 0;
    c.bar = width - x - 2 > 24 ? 24 : width - x - 2;
    return c;
}

static void draw_stage(const struct pipeline_shown *s, const struct pane *p, int y, uint32_t stage,
                       const struct columns *c)
{
    struct pipe_stage st = pipe_stage_of(&s->pipeline->all, &s->plan, stage);
    char from[64], to[64], layers[140], count[UNITS_ROOM];
    double share =
        st.limit_bytes > 0 && isfinite(st.limit_bytes) ? st.memory_bytes / st.limit_bytes : 0;

    pane_format(p, 0, y, ROLE_TITLE | BOLD, "%u", stage);
    pipeline_layer_text(s->pipeline, st.first_point, from, sizeof from);
    pipeline_layer_text(s->pipeline, st.end_point - 1, to, sizeof to);
    snprintf(layers, sizeof layers, strcmp(from, to) ? "%s–%s" : "%s", from, to);
    char cut[160];
    pane_right(p, c->layers, y, ROLE_TEXT, text_cut_middle(cut, sizeof cut, layers, 16));
    if (c->devices)
        pane_right_format(p, c->devices, y, ROLE_TEXT,
                          st.end_device - st.first_device > 1 ? "%u–%u" : "%u", st.first_device,
                          st.end_device - 1);
    int d = units_ms_decimals(s->schedule.makespan_ms);
    pane_right_number(p, c->forward, y, ROLE_TEXT, st.forward_ms, d);
    pane_right_number(p, c->backward, y, ROLE_TEXT, st.backward_ms, d);
    if (c->reduce)
        pane_right_number(p, c->reduce, y, ROLE_TEXT, st.all_reduce_ms + st.sync_ms, d);
    if (c->gradient)
        pane_right(p, c->gradient, y, ROLE_TEXT,
                   units_count(count, (int64_t)(st.gradient_bytes / 1e6 + 0.5)));
    unsigned style = share > 1 ? ROLE_ERR : share > 0.8 ? ROLE_WARN : ROLE_PLOT_0;
    if (c->memory)
        pane_right_format(p, c->memory, y, share > 1 ? ROLE_ERR : ROLE_TEXT, "%.1f",
                          st.memory_bytes / (c->mb ? 1e6 : 1e9));
    if (c->bar >= 4) {
        pane_repeat(p, c->memory + 1, y, c->bar, (struct cell){U'░', ROLE_BORDER});
        pane_bar(p, c->memory + 1, y, c->bar, share, style);
    }
}

static void draw_cut(const struct pipeline_shown *s, const struct pane *p, int y)
{
    char there[UNITS_ROOM], back[UNITS_ROOM], once[UNITS_ROOM], to[UNITS_ROOM], fro[UNITS_ROOM];

    if (s->plan.stages < 2) {
        pane_text(p, 0, y, ROLE_DIM, "one stage: every device holds the whole model");
        return;
    }
    uint32_t cut = s->stage + 1 < s->plan.stages ? s->stage : s->plan.stages - 2;
    struct pipe_transfer t = pipe_transfer_of(&s->pipeline->all, &s->plan, cut);
    int x =
        pane_format(p, 0, y, ROLE_DIM, "cut %u–%u: a micro-batch %s there in %s, %s back in %s",
                    cut, cut + 1, units_bytes(there, t.forward_bytes), units_ms(to, t.forward_ms),
                    units_bytes(back, t.backward_bytes), units_ms(fro, t.backward_ms));
    char text[UNITS_ROOM + 24];
    snprintf(text, sizeof text, " · once a step %s", units_bytes(once, t.once_bytes));
    if (t.once_bytes > 0 && x + utf8_text_columns(text) <= p->width)
        pane_text(p, x, y, ROLE_DIM, text);
}

static bool takes_less_than_a_gb(const struct pipeline_shown *s)
{
    bool small = true;

    for (uint32_t n = 0; n < s->plan.stages; n++)
        small &= pipe_stage_of(&s->pipeline->all, &s->plan, n).memory_bytes < 1e9;
    return small;
}

void pipeline_draw_stages(const struct pipeline_shown *s, const struct pane *p,
                          const struct head *h)
{
    struct columns c = columns_for(p->width);
    int room = p->height - 3;
    uint32_t top = 0;
    double limit = pipe_memory_limit(&s->pipeline->all, 0, s->pipeline->all.devices);
    char memory[48];

    pane_head(p, 0, h);
    pane_right(p, c.layers, 1, ROLE_DIM, "layers");
    if (c.devices)
        pane_right(p, c.devices, 1, ROLE_DIM, "devices");
    pane_right(p, c.forward, 1, ROLE_DIM, p->width < 70 ? "forward" : "forward ms");
    pane_right(p, c.backward, 1, ROLE_DIM, p->width < 70 ? "backward" : "backward ms");
    if (c.reduce)
        pane_right(p, c.reduce, 1, ROLE_DIM, "all-reduce ms");
    if (c.gradient)
        pane_right(p, c.gradient, 1, ROLE_DIM, "gradient MB");
    c.mb = takes_less_than_a_gb(s);
    if (isfinite(limit) && c.bar >= 8 && !c.mb)
        snprintf(memory, sizeof memory, "GB of %.0f", limit / 1e9);
    else
        snprintf(memory, sizeof memory, c.mb ? "MB" : "GB");
    if (c.memory)
        pane_right(p, c.bar >= 8 && !c.mb ? c.memory + 6 : c.memory, 1, ROLE_DIM, memory);
    if (s->stage >= (uint32_t)room && room > 0)
        top = s->stage - (uint32_t)room + 1;
    for (int y = 0; y < room && top + (uint32_t)y < s->plan.stages; y++) {
        draw_stage(s, p, y + 2, top + (uint32_t)y, &c);
        if (top + (uint32_t)y == s->stage) {
            pane_select(p, y + 2, ROLE_SELECT);
            p->grid->cursor_x = p->x;
            p->grid->cursor_y = p->y + y + 2;
        }
    }
    int last = 2 + (room < (int)s->plan.stages ? room : (int)s->plan.stages);
    if (last < p->height)
        draw_cut(s, p, last);
}

/* ---- schedule ---- */

void pipeline_draw_schedule(const struct pipeline_shown *s, const struct pane *p, bool spaced)
{
    char note[96], batches[40];
    struct schedule_shown shown = {.schedule = &s->schedule,
                                   .rows = s->plan.stages,
                                   .cursor = s->stage,
                                   .spaced = spaced,
                                   .signs = s->signs};

    snprintf(note, sizeof note, "%s · %s · ms", pipe_schedule_names[s->kind],
             schedule_batches_text(s->schedule.micro_batches, batches));
    pane_head(p, 0, &(struct head){0, "Schedule", note, false});
    struct pane below = pane_part(p, 0, 1, p->width, p->height - 1);
    schedule_draw(&shown, &below);
}

/* ---- C, A, W ---- */

enum { COURSE_POINTS = 128 };

struct course {
    double c[COURSE_POINTS], w[COURSE_POINTS]; /* ms, MB of each part */
    double *a;                                 /* [points - 1] MB at each cut */
};

/* Prefix sums cut into equal parts of the forward order. */
static void sum_course(const struct pipe_instance *in, struct course *out)
{
    const double *ms = in->forward_ms[pipe_row(in, 0, 1)];

    for (uint32_t n = 0; n < COURSE_POINTS; n++) {
        uint32_t from = (uint32_t)((uint64_t)in->points * n / COURSE_POINTS);
        uint32_t end = (uint32_t)((uint64_t)in->points * (n + 1) / COURSE_POINTS);
        out->c[n] = ms[end] - ms[from];
        out->w[n] = (in->gradient_bytes[end] - in->gradient_bytes[from]) / 1e6;
    }
    double most = 0;
    for (uint32_t cut = 1; cut < in->points; cut++)
        most = fmax(most, in->forward_bytes[cut] / 1e6);
    for (uint32_t cut = 1; cut < in->points;
         cut++) /* three decades: what is below is as good as nothing */
        out->a[cut - 1] = fmax(in->forward_bytes[cut] / 1e6, most / 1e3);
}

/* One curve, without the row of its x axis. */
static struct plot_drawn draw_curve(const struct pipeline_shown *s, const struct pane *p, int y,
                                    int rows, const double *values, size_t count, bool log,
                                    unsigned role, char letter, const char *unit)
{
    bool percent = unit[0] == '%';
    double low = percent ? 0 : NAN, high = percent ? 100 : NAN;
    struct plot_series series = {
        .y = values, .count = count, .kind = PLOT_LINE, .role = role, .sign = letter};
    struct plot plot = {.series = &series,
                        .series_count = 1,
                        .first_x = 0,
                        .last_x = 1,
                        .low = low,
                        .high = high,
                        .limit = NAN,
                        .log_y = log,
                        .ascii = s->ascii};
    struct pane area = pane_part(p, 3, y, p->width - 3, rows + 1);
    struct plot_drawn d = plot_draw(&area, &plot);
    struct pane axis = pane_part(p, 0, y + rows, p->width, 1);

    pane_clear(&axis);
    pane_format(p, 0, y, role | BOLD, "%c", letter);
    pane_text(p, 0, y + 1, ROLE_DIM, unit);
    d.first_column += 3;
    return d;
}

static void draw_cuts(const struct pipeline_shown *s, const struct pane *p, int rows,
                      const struct plot_drawn *d)
{
    int last = -1;

    for (uint32_t k = 1; k < s->plan.stages; k++) {
        int x = d->first_column +
                (int)((double)s->plan.pivot[k] / s->pipeline->all.points * (d->columns - 1));
        for (int y = 1; y <= rows; y++) {
            const struct cell *cell =
                p->grid->cells + (size_t)(p->y + y) * (size_t)p->grid->width + (size_t)(p->x + x);
            if (cell->ch == ' ' || cell->ch == 0x2800)
                pane_put(p, x, y, ROLE_PLOT_2, U'┊');
        }
        char layer[64], text[96];
        pipeline_layer_text(s->pipeline, s->plan.pivot[k], layer, sizeof layer);
        snprintf(text, sizeof text, " %s  %.1f %% of C", layer,
                 pipeline_share(s->pipeline, s->plan.pivot[k]) * 100);
        if (x <= last)
            continue;
        bool own = k == s->stage + 1;
        last = pane_text(p, x, rows + 1, own ? ROLE_PIN | BOLD : ROLE_PLOT_2, "▲");
        if (x + 1 + utf8_text_columns(text) <= p->width)
            last = pane_text(p, last, rows + 1, own ? ROLE_TEXT : ROLE_DIM, text) + 1;
    }
}

/* The same as prefix sums of C and W, and A over its largest, each in percent: where a cut leaves
 * half of the computing behind it, C stands at 50 (Auto-MAP, figures 12 to 15). */
static void normalise_course(const struct pipe_instance *in, struct course *out)
{
    const double *ms = in->forward_ms[pipe_row(in, 0, 1)];
    double all_ms = ms[in->points], all_bytes = in->gradient_bytes[in->points], most = 0;

    for (uint32_t n = 0; n < COURSE_POINTS; n++) {
        uint32_t end = (uint32_t)((uint64_t)in->points * (n + 1) / COURSE_POINTS);
        out->c[n] = all_ms > 0 ? 100 * ms[end] / all_ms : 0;
        out->w[n] = all_bytes > 0 ? 100 * in->gradient_bytes[end] / all_bytes : 0;
    }
    for (uint32_t cut = 1; cut < in->points; cut++)
        most = fmax(most, in->forward_bytes[cut]);
    for (uint32_t cut = 1; cut < in->points; cut++)
        out->a[cut - 1] = most > 0 ? 100 * in->forward_bytes[cut] / most : 0;
}

void pipeline_draw_course(const struct pipeline_shown *s, const struct pane *p, bool normalised)
{
    const struct pipe_instance *in = &s->pipeline->all;
    int rows = p->height - 2, c = rows / 4 > 1 ? rows / 4 : 2, w = c, a = rows - c - w;
    char note[96], points[UNITS_ROOM];

    snprintf(note, sizeof note, "%s, %s operations · cuts ▲",
             normalised ? "prefix sums of C and W, A of its largest" : "along the forward order",
             units_count(points, in->points));
    pane_head(p, 0, &(struct head){0, normalised ? "C  A  W in %" : "C  A  W", note, false});
    if (a < 2 || in->points < 2)
        return;
    struct course *k = mem_alloc(sizeof *k);
    k->a = mem_alloc(in->points * sizeof *k->a);
    (normalised ? normalise_course : sum_course)(in, k);
    const char *ms = normalised ? "%" : "ms", *mb = normalised ? "%" : "MB";
    draw_curve(s, p, 1, c, k->c, COURSE_POINTS, false, ROLE_PLOT_0, 'C', ms);
    struct plot_drawn d =
        draw_curve(s, p, 1 + c, a, k->a, in->points - 1, !normalised, ROLE_PLOT_1, 'A', mb);
    draw_curve(s, p, 1 + c + a, w, k->w, COURSE_POINTS, false, ROLE_PLOT_2, 'W', mb);
    draw_cuts(s, p, rows, &d);
    free(k->a);
    free(k);
}
