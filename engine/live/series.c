#include "engine/live/series.h"

#include <stdlib.h>
#include <string.h>

bool series_new(struct series *s)
{
    *s = (struct series){.block = calloc(1, sizeof *s->block), .stride = 1};
    if (s->block)
        atomic_init(&s->block->references, 1);
    return s->block != NULL;
}

static struct point merge_points(const struct point *a, const struct point *b)
{
    uint32_t merged = a->merged + b->merged;

    return (struct point){
        .x = a->x,
        .mean = (float)(((double)a->mean * a->merged + (double)b->mean * b->merged) / merged),
        .low = a->low < b->low ? a->low : b->low,
        .high = a->high > b->high ? a->high : b->high,
        .merged = merged,
    };
}

static bool halve_series(struct series *s)
{
    struct series next;

    if (!series_new(&next))
        return false;
    for (uint32_t k = 0; k < SERIES_POINTS / 2; k++)
        next.block->points[k] =
            merge_points(&s->block->points[2 * k], &s->block->points[2 * k + 1]);
    next.count = SERIES_POINTS / 2;
    next.stride = s->stride * 2;
    series_release(s);
    *s = next;
    return true;
}

/* The last point takes in values until it holds `stride` of them; it is past what readers were
 * given (series_share leaves an unfinished point out). */
void series_add(struct series *s, double x, double y)
{
    struct point p = {x, (float)y, (float)y, (float)y, 1};

    if (s->count && s->block->points[s->count - 1].merged < s->stride) {
        s->block->points[s->count - 1] = merge_points(&s->block->points[s->count - 1], &p);
        return;
    }
    if (s->count == SERIES_POINTS) {
        if (halve_series(s)) /* out of memory: the point is not kept */
            series_add(s, x, y);
        return;
    }
    s->block->points[s->count++] = p;
}

struct series series_share(const struct series *s)
{
    struct series copy = *s;

    if (copy.count && copy.block->points[copy.count - 1].merged < copy.stride)
        copy.count--;
    atomic_fetch_add(&copy.block->references, 1);
    return copy;
}

void series_release(struct series *s)
{
    if (s->block && atomic_fetch_sub(&s->block->references, 1) == 1)
        free(s->block);
    memset(s, 0, sizeof *s);
}

bool log_new(struct live_log *l)
{
    *l = (struct live_log){.block = calloc(1, sizeof *l->block)};
    if (l->block)
        atomic_init(&l->block->references, 1);
    return l->block != NULL;
}

void log_add(struct live_log *l, const struct log_line *line)
{
    if (l->count == LOG_LINES) {
        struct live_log next;
        if (!log_new(&next))
            return;
        memcpy(next.block->lines, l->block->lines + LOG_LINES / 2, LOG_LINES / 2 * sizeof *line);
        next.count = LOG_LINES / 2;
        next.dropped = l->dropped + LOG_LINES / 2;
        log_release(l);
        *l = next;
    }
    l->block->lines[l->count++] = *line;
}

struct live_log log_share(const struct live_log *l)
{
    atomic_fetch_add(&l->block->references, 1);
    return *l;
}

void log_release(struct live_log *l)
{
    if (l->block && atomic_fetch_sub(&l->block->references, 1) == 1)
        free(l->block);
    memset(l, 0, sizeof *l);
}
