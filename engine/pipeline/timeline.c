#include "engine/pipeline/timeline.h"

#include "engine/pipeline/again.h"
#include "engine/pipeline/formula.h"
#include "engine/pipeline/order.h"
#include "engine/pipeline/pipe_instance.h"
#include "engine/pipeline/unroll.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <string.h>

const char *const timeline_kind_names[TIMELINE_KINDS] = {"parameters",      "gradients",
                                                         "optimizer state", "kept activations",
                                                         "working memory",  "transfer buffers"};

/* ---- a stage ---- */

/* Part of each pass that is over when a step ends; by count where the pass takes no time. */
static void fill_shares(struct timeline *t, const struct pipe_instance *in, uint32_t i, uint32_t j,
                        uint32_t a, uint32_t b)
{
    uint32_t n = j - i, again = t->lifetimes.steps - 2 * n;
    double forward = pipe_forward_ms(in, i, j, a, b);
    double backward = pipe_backward_ms(in, i, j, a, b) + (again ? forward : 0);

    for (uint32_t k = 0; k < n; k++) {
        double done = pipe_forward_ms(in, i, i + k + 1, a, b);
        t->share[k] = forward > 0 ? done / forward : (k + 1.0) / n;
        if (again)
            t->share[n + k] = backward > 0 ? done / backward : (k + 1.0) / (2 * n);
    }
    for (uint32_t k = 0; k < n; k++) {
        double done = pipe_backward_ms(in, j - 1 - k, j, a, b) + (again ? forward : 0);
        t->share[n + again + k] = backward > 0 ? done / backward : (again + k + 1.0) / (again + n);
    }
}

int timeline_new(const struct order *o, const struct pipe_instance *in, const struct pipe_plan *p,
                 uint32_t stage, struct timeline *out, struct err *e)
{
    struct pipe_stage s = pipe_stage_of(in, p, stage);
    int rc;

    *out = (struct timeline){.order = o, .stage = stage, .first_point = s.first_point};
    rc = lifetimes_new(o, in, s.first_point, s.end_point, s.end_device - s.first_device,
                       &out->lifetimes, e);
    if (rc)
        return rc;
    out->share = mem_try(out->lifetimes.steps, sizeof *out->share);
    if (!out->share) {
        timeline_release(out);
        return err_no_memory(e, "for the timeline of a stage");
    }
    fill_shares(out, in, s.first_point, s.end_point, s.first_device, s.end_device);
    out->constant[TIMELINE_PARAMETERS] = s.parameter_bytes;
    out->constant[TIMELINE_GRADIENTS] = s.gradient_bytes;
    out->constant[TIMELINE_OPTIMIZER] =
        fmax(0, s.state_bytes - s.parameter_bytes - s.gradient_bytes);
    out->constant[TIMELINE_KEPT] = in->once_bytes[s.first_point];
    return 0;
}

void timeline_release(struct timeline *t)
{
    lifetimes_release(&t->lifetimes);
    free(t->share);
    *t = (struct timeline){0};
}

/* ---- played ---- */

enum { EDGE_RESTING = LIFETIMES_BUFFERS }; /* beyond the buffers */

/* A message or a micro-batch begins or ends to be held. */
struct edge {
    double ms;
    int8_t change;
    uint8_t of; /* a buffer, or EDGE_RESTING */
};

struct player {
    const struct timeline *timeline;
    const struct pipe_schedule *schedule;
    struct edge *edge;
    uint32_t edges, next;
    struct timeline_moment now;
    void (*see)(void *context, const struct timeline_moment *m);
    void *context;
};

static int compare_edges(const void *x, const void *y)
{
    const struct edge *a = x, *b = y;

    if (a->ms != b->ms)
        return a->ms < b->ms ? -1 : 1;
    return a->change != b->change ? a->change - b->change : a->of - b->of;
}

static void add_edge(struct player *y, double ms, int change, uint8_t of)
{
    y->edge[y->edges++] = (struct edge){ms, (int8_t)change, of};
}

/* At most three edges a task. */
static void add_edges(struct player *y, const struct pipe_task *t)
{
    uint32_t own = 2 * y->timeline->stage;
    bool is_first = own == 0, is_last = own + 1 == y->schedule->nodes;

    if (t->kind == PIPE_REDUCE)
        return;
    if (t->node == own && t->kind == PIPE_FORWARD) {
        add_edge(y, t->end_ms, 1, EDGE_RESTING);
        if (!is_first)
            add_edge(y, t->start_ms, -1, BUFFER_IN);
        if (!is_last)
            add_edge(y, t->end_ms, 1, BUFFER_OUT);
    } else if (t->node == own) {
        add_edge(y, t->start_ms, -1, EDGE_RESTING);
        if (!is_last)
            add_edge(y, t->start_ms, -1, BUFFER_GRADIENT_IN);
        if (!is_first)
            add_edge(y, t->end_ms, 1, BUFFER_GRADIENT_OUT);
    } else if (t->node + 1 == own) {
        bool forward = t->kind == PIPE_FORWARD;
        add_edge(y, forward ? t->start_ms : t->end_ms, forward ? 1 : -1,
                 forward ? BUFFER_IN : BUFFER_GRADIENT_OUT);
    } else if (t->node == own + 1) {
        bool forward = t->kind == PIPE_FORWARD;
        add_edge(y, forward ? t->end_ms : t->start_ms, forward ? -1 : 1,
                 forward ? BUFFER_OUT : BUFFER_GRADIENT_IN);
    }
}

static void take_edges(struct player *y, double until)
{
    for (; y->next < y->edges && y->edge[y->next].ms <= until; y->next++) {
        const struct edge *e = &y->edge[y->next];
        uint32_t *count = e->of == EDGE_RESTING ? &y->now.resting : &y->now.waiting[e->of];
        *count = e->change > 0 ? *count + 1 : *count - 1;
    }
}

/* From `start` to `end` with edges in between; a stretch without length is one moment. */
static void show_task(struct player *y, double start, double end)
{
    do {
        take_edges(y, start);
        y->now.start_ms = start;
        y->now.end_ms = y->next < y->edges && y->edge[y->next].ms < end ? y->edge[y->next].ms : end;
        y->see(y->context, &y->now);
        start = y->now.end_ms;
    } while (start < end);
}

static void play_pass(struct player *y, const struct pipe_task *t)
{
    const struct lifetimes *l = &y->timeline->lifetimes;
    uint32_t first = t->kind == PIPE_FORWARD ? 0 : l->points,
             end = t->kind == PIPE_FORWARD ? l->points : l->steps;
    double start = t->start_ms, took = t->end_ms - t->start_ms;

    y->now.micro_batch = t->micro_batch;
    for (uint32_t k = first; k < end; k++) {
        double until = k + 1 < end ? t->start_ms + y->timeline->share[k] * took : t->end_ms;
        y->now.step = k;
        show_task(y, start, until > start ? until : start);
        start = until > start ? until : start;
    }
    y->now.micro_batch = 0;
    y->now.step = TIMELINE_IDLE;
}

/* All moments from 0 to the makespan in order; the schedule is one of the plan. `see` may not keep
 * the moment. O(M x steps). */
static int timeline_play(const struct timeline *t, const struct pipe_schedule *s,
                         void (*see)(void *context, const struct timeline_moment *m), void *context,
                         struct err *e)
{
    struct player y = {
        .timeline = t, .schedule = s, .see = see, .context = context, .now.step = TIMELINE_IDLE};
    double at = 0;

    y.edge = mem_try((size_t)10 * s->micro_batches + 1, sizeof *y.edge);
    if (!y.edge)
        return err_no_memory(e, "to play a stage");
    for (uint32_t n = 0; n < s->count; n++)
        add_edges(&y, &s->task[n]);
    qsort(y.edge, y.edges, sizeof *y.edge, compare_edges);
    for (uint32_t n = 0; n < s->count; n++) {
        const struct pipe_task *task = &s->task[n];
        if (task->node != 2 * t->stage || task->kind == PIPE_REDUCE)
            continue;
        if (task->start_ms > at)
            show_task(&y, at, task->start_ms);
        play_pass(&y, task);
        at = task->end_ms;
    }
    if (at < s->makespan_ms)
        show_task(&y, at, s->makespan_ms);
    free(y.edge);
    return 0;
}

/* Bytes of each kind at a moment; returns their sum. */
static double timeline_bytes(const struct timeline *t, const struct timeline_moment *m,
                             double out[TIMELINE_KINDS])
{
    const struct lifetimes *l = &t->lifetimes;
    double total = 0;

    memcpy(out, t->constant, sizeof t->constant);
    out[TIMELINE_KEPT] += m->resting * l->resting;
    if (m->step != TIMELINE_IDLE) {
        out[TIMELINE_KEPT] += l->kept[m->step];
        out[TIMELINE_WORKING] += l->working[m->step];
    }
    for (int b = 0; b < LIFETIMES_BUFFERS; b++)
        out[TIMELINE_BUFFERS] += m->waiting[b] * l->buffer[b];
    for (int k = 0; k < TIMELINE_KINDS; k++)
        total += out[k];
    return total;
}

/* ---- what is asked of it ---- */

struct peak_search {
    const struct timeline *timeline;
    struct timeline_peak *peak;
};

static void see_peak(void *context, const struct timeline_moment *m)
{
    struct peak_search *s = context;
    double bytes[TIMELINE_KINDS], total = timeline_bytes(s->timeline, m, bytes);

    if (total <= s->peak->total)
        return;
    s->peak->total = total;
    s->peak->at = *m;
    memcpy(s->peak->bytes, bytes, sizeof bytes);
}

int timeline_find_peak(const struct timeline *t, const struct pipe_schedule *s,
                       struct timeline_peak *out, struct err *e)
{
    struct peak_search search = {t, out};

    *out = (struct timeline_peak){.at.step = TIMELINE_IDLE};
    return timeline_play(t, s, see_peak, &search, e);
}

struct column_fill {
    const struct timeline *timeline;
    double (*rows)[TIMELINE_KINDS];
    double *total; /* [columns] */
    uint32_t columns;
    double ms; /* of a column */
};

static void see_columns(void *context, const struct timeline_moment *m)
{
    struct column_fill *f = context;
    double bytes[TIMELINE_KINDS], total = timeline_bytes(f->timeline, m, bytes);
    uint32_t first = (uint32_t)(m->start_ms / f->ms);

    for (uint32_t c = first; c < f->columns && (c == first || c * f->ms < m->end_ms); c++) {
        if (total <= f->total[c])
            continue;
        f->total[c] = total;
        memcpy(f->rows[c], bytes, sizeof bytes);
    }
}

int timeline_columns(const struct timeline *t, const struct pipe_schedule *s, uint32_t columns,
                     double (*rows)[TIMELINE_KINDS], struct err *e)
{
    struct column_fill fill = {
        .timeline = t, .rows = rows, .columns = columns, .ms = s->makespan_ms / columns};

    fill.total = mem_try(columns, sizeof *fill.total);
    if (!fill.total)
        return err_no_memory(e, "for the timeline of a stage");
    if (!(fill.ms > 0))
        fill.ms = 1;
    int rc = timeline_play(t, s, see_columns, &fill, e);
    free(fill.total);
    return rc;
}

static uint32_t copies_of(const struct lifetime *life, const struct timeline_moment *m)
{
    bool runs = m->step != TIMELINE_IDLE && m->step >= life->from && m->step <= life->until;
    uint32_t copies = runs + (life->kept ? m->resting : 0);

    for (int b = 0; b < LIFETIMES_BUFFERS; b++)
        copies += life->buffers >> b & 1 ? m->waiting[b] : 0;
    return copies;
}

/* What makes the value; inputs are all alike. */
static uint16_t opcode_of(const struct timeline *t, uint32_t value)
{
    const struct unrolled *u = &t->order->steps;
    uint32_t op = u->values[value].op;

    return op == UNROLL_NONE ? HLO_OP_PARAMETER : hlo_at(u->problem->m, u->ops[op].id)->opcode;
}

static bool is_alike(const struct timeline *t, const struct timeline_top *group,
                     const struct timeline_top *one)
{
    return group->kept == one->kept && group->copies == one->copies &&
           group->bytes == group->alike * one->bytes &&
           opcode_of(t, group->value) == opcode_of(t, one->value);
}

static int largest_first(const void *x, const void *y)
{
    const struct timeline_top *a = x, *b = y;

    if (a->bytes != b->bytes)
        return a->bytes > b->bytes ? -1 : 1;
    return a->value < b->value ? -1 : a->value > b->value;
}

uint32_t timeline_tops(const struct timeline *t, const struct timeline_moment *m,
                       struct timeline_top *out, uint32_t room)
{
    struct timeline_top *group = NULL;
    size_t group_room = 0;
    uint32_t count = 0;

    for (uint32_t n = 0; n < t->lifetimes.count; n++) {
        const struct lifetime *life = &t->lifetimes.life[n];
        struct timeline_top one = {life->value, 1, copies_of(life, m), life->kept, 0};
        uint32_t g = 0;
        one.bytes = one.copies * life->bytes;
        if (!(one.bytes > 0))
            continue;
        while (g < count && !is_alike(t, &group[g], &one))
            g++;
        if (g == count && !mem_grow(&group, &group_room, count, 1))
            break;
        if (g == count) {
            group[count++] = one;
        } else {
            group[g].alike++;
            group[g].bytes = group[g].alike * one.bytes;
        }
    }
    if (count)
        qsort(group, count, sizeof *group, largest_first);
    count = count < room ? count : room;
    if (count)
        memcpy(out, group, count * sizeof *out);
    free(group);
    return count;
}
