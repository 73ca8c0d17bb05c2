#include "engine/relaxed/over_time.h"

#include "engine/relaxed/contract.h"
#include "engine/relaxed/energy.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <string.h>

/* ---- points ---- */

struct event {
    int64_t time;
    int32_t is_start; /* ends come first */
    double bytes;     /* the most of what begins or ends */
};

static int compare_events(const void *a, const void *b)
{
    const struct event *x = a, *y = b;

    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->is_start - y->is_start;
}

static double most_of(const struct memory_lives *l, const struct contraction *c, uint32_t node,
                      uint32_t labels, double *least)
{
    double most = 0;

    *least = INFINITY;
    for (uint32_t k = 0; k < labels; k++) {
        double bytes = l->bytes[l->first[node] + c->label[c->map[node] + k]];
        most = fmax(most, bytes);
        *least = fmin(*least, bytes);
    }
    return most;
}

static uint32_t labels_over(const struct contraction *c, uint32_t node)
{
    return c->owner[node] == CONTRACTION_FIXED ? 1 : energy_labels(&c->left, c->owner[node]);
}

/* Times at which something starts and the next thing to happen is an end, where all at their
 * largest are over the limit. */
static int find_points(const struct memory_lives *l, const struct contraction *c, int64_t **times,
                       uint32_t *count, struct err *e)
{
    struct event *events = mem_try(2 * (size_t)l->nodes + 1, sizeof *events);
    size_t n = 0;
    double live = 0;

    *count = 0;
    *times = mem_try((size_t)l->nodes + 1, sizeof **times);
    if (!events || !*times) {
        free(events);
        return err_no_memory(e, "for memory over time");
    }
    for (uint32_t k = 0; k < l->nodes && l->limit < INFINITY; k++) {
        double least, most = most_of(l, c, k, labels_over(c, k), &least);
        if (l->from[k] >= l->to[k] || most <= 0)
            continue;
        events[n++] = (struct event){l->from[k], 1, most};
        events[n++] = (struct event){l->to[k], 0, -most};
    }
    qsort(events, n, sizeof *events, compare_events);
    for (size_t k = 0; k < n; k++) {
        live += events[k].bytes;
        if (events[k].is_start && k + 1 < n && !events[k + 1].is_start && live > l->limit)
            (*times)[(*count)++] = events[k].time;
    }
    free(events);
    return 0;
}

/* The first point that is not before `time`. */
static uint32_t point_of(const int64_t *times, uint32_t count, int64_t time)
{
    uint32_t low = 0;

    while (count > 0) {
        uint32_t half = count / 2;
        if (times[low + half] < time) {
            low += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return low;
}

/* ---- spans ---- */

/* A node's life, by who decides it. */
struct life {
    uint32_t owner, from, to, node;
};

static int compare_lives(const void *a, const void *b)
{
    const struct life *x = a, *y = b;

    if (x->owner != y->owner)
        return x->owner < y->owner ? -1 : 1;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

/* What is needed whatever is chosen goes to the base, the rest becomes a life. */
static uint32_t list_lives(const struct memory_lives *l, const struct contraction *c,
                           const int64_t *times, struct over_time *m, struct life *lives,
                           size_t *cells)
{
    uint32_t count = 0;

    for (uint32_t k = 0; k < l->nodes; k++) {
        uint32_t labels = labels_over(c, k);
        struct life life = {c->owner[k], point_of(times, m->points, l->from[k]),
                            point_of(times, m->points, l->to[k]), k};
        double least, most = most_of(l, c, k, labels, &least);
        if (life.from >= life.to || most <= 0)
            continue;
        m->base[life.from] += least;
        m->base[life.to] -= least;
        if (most <= least)
            continue;
        lives[count++] = life;
        *cells += labels;
    }
    qsort(lives, count, sizeof *lives, compare_lives);
    return count;
}

static void write_spans(const struct memory_lives *l, const struct contraction *c,
                        const struct life *lives, uint32_t count, struct over_time *m)
{
    size_t used = 0;

    for (uint32_t k = 0; k < count; k++) {
        const struct life *i = &lives[k];
        bool joins = k && i->owner == i[-1].owner && i->from == i[-1].from && i->to == i[-1].to;
        uint32_t labels = labels_over(c, i->node);
        double least;
        (void)most_of(l, c, i->node, labels, &least);
        if (!joins) {
            m->spans[m->span_count++] = (struct over_time_span){i->from, i->to, used};
            m->first[i->owner + 1]++;
            used += labels;
        }
        double *bytes = m->bytes + m->spans[m->span_count - 1].bytes;
        for (uint32_t x = 0; x < labels; x++)
            bytes[x] += l->bytes[l->first[i->node] + c->label[c->map[i->node] + x]] - least;
    }
    for (uint32_t n = 0; n < m->nodes; n++)
        m->first[n + 1] += m->first[n];
}

int over_time_new(const struct memory_lives *l, const struct contraction *c, struct over_time *out,
                  struct err *e)
{
    struct life *lives = mem_try((size_t)l->nodes + 1, sizeof *lives);
    int64_t *times = NULL;
    size_t cells = 0;

    *out = (struct over_time){.nodes = c->left.nodes, .limit = l->limit};
    int rc = find_points(l, c, &times, &out->points, e);
    if (rc)
        goto out;
    out->base = mem_try((size_t)out->points + 1, sizeof *out->base);
    out->first = mem_try((size_t)out->nodes + 1, sizeof *out->first);
    rc = err_no_memory(e, "for memory over time");
    if (!lives || !out->base || !out->first)
        goto out;
    uint32_t count = list_lives(l, c, times, out, lives, &cells);
    out->spans = mem_try((size_t)count + 1, sizeof *out->spans);
    out->bytes = mem_try(cells + 1, sizeof *out->bytes);
    if (!out->spans || !out->bytes)
        goto out;
    write_spans(l, c, lives, count, out);
    for (uint32_t t = 0; t < out->points; t++) {
        out->base[t + 1] += out->base[t];
        out->never_fits |= out->base[t] > out->limit;
    }
    rc = 0;
out:
    free(lives);
    free(times);
    if (rc)
        over_time_release(out);
    return rc;
}

void over_time_release(struct over_time *m)
{
    free(m->base);
    free(m->first);
    free(m->spans);
    free(m->bytes);
    memset(m, 0, sizeof *m);
}

double over_time_profile(const struct over_time *m, const uint16_t *x, double *out)
{
    double sum = 0, most = 0;

    memset(out, 0, ((size_t)m->points + 1) * sizeof *out);
    for (uint32_t n = 0; n < m->nodes; n++) {
        for (uint32_t k = m->first[n]; k < m->first[n + 1]; k++) {
            double bytes = m->bytes[m->spans[k].bytes + x[n]];
            out[m->spans[k].from] += bytes;
            out[m->spans[k].to] -= bytes;
        }
    }
    for (uint32_t t = 0; t < m->points; t++) {
        sum += out[t];
        out[t] = sum + m->base[t];
        most = fmax(most, out[t]);
    }
    return most;
}

void over_time_price(const struct over_time *m, uint32_t node, uint32_t labels, const double *sums,
                     double scale, double *out)
{
    for (uint32_t k = m->first[node]; k < m->first[node + 1]; k++) {
        double price = scale * (sums[m->spans[k].to] - sums[m->spans[k].from]);
        const double *bytes = m->bytes + m->spans[k].bytes;
        if (price == 0)
            continue;
        for (uint32_t x = 0; x < labels; x++)
            out[x] += price * bytes[x];
    }
}
