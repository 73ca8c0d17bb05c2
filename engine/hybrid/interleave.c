#include "engine/hybrid/interleave.h"

#include "engine/pipeline/pipe_instance.h"
#include "hlo/support/mem.h"

#include <math.h>

uint32_t interleave_in_flight(const struct interleave *x, uint32_t s)
{
    uint32_t most = x->micro_batches * x->chunks;
    uint32_t first = 2 * (x->groups - s - 1) + (x->chunks - 1) * x->groups + 1;

    return first < most ? first : most;
}

/* What is known of a pass: when it ends, INFINITY before. Chunk-major: [p v][M]. */
struct play {
    const struct interleave *x;
    double *forward, *backward;
    double *arrived, *returned; /* the same behind its transfer */
    double *link_free;          /* [2][p v] each way */
};

struct device {
    uint32_t forwards, backwards; /* passes done */
    double free_at;
};

/* The n-th pass of a device: which of its chunks, which micro-batch. */
static void pass_of(const struct interleave *x, uint32_t n, bool backward, uint32_t *chunk,
                    uint32_t *batch)
{
    uint32_t round = x->groups * x->chunks, in = n % round;

    *chunk = in / x->groups;
    if (backward)
        *chunk = x->chunks - 1 - *chunk;
    *batch = n / round * x->groups + in % x->groups;
}

static void note_task(const struct play *y, uint32_t node, uint32_t batch, enum pipe_task_kind kind,
                      double start, double end)
{
    struct pipe_schedule *s = y->x->tasks;

    if (s)
        s->task[s->count++] = (struct pipe_task){node, batch, kind, start, end};
}

/* Moves what a pass has made over link `l` (0 .. p v - 2), one way. */
static double move_batch(struct play *y, uint32_t l, bool back, uint32_t batch, double at,
                         double ms)
{
    double *free_at = &y->link_free[2 * l + back], start = pipe_more(*free_at, at);

    *free_at = start + ms;
    note_task(y, 2 * l + 1, batch, back ? PIPE_BACKWARD : PIPE_FORWARD, start, *free_at);
    return *free_at;
}

/* Runs the next pass of device s when what it needs is there. */
static bool run_one(struct play *y, struct device *d, uint32_t s)
{
    const struct interleave *x = y->x;
    uint32_t all = x->micro_batches * x->chunks, last = x->groups * x->chunks - 1;
    uint32_t first = interleave_in_flight(x, s) - 1, chunk, batch;
    bool forward = d->forwards < all && d->forwards - d->backwards <= first;

    if (d->backwards == all)
        return false;
    pass_of(x, forward ? d->forwards : d->backwards, !forward, &chunk, &batch);
    uint32_t c = chunk * x->groups + s;
    size_t at = (size_t)c * x->micro_batches + batch;
    double ready = forward    ? (c ? y->arrived[at - x->micro_batches] : 0)
                   : c < last ? y->returned[at + x->micro_batches]
                              : y->forward[at];
    if (ready == INFINITY)
        return false;
    double start = pipe_more(ready, d->free_at);
    note_task(y, 2 * c, batch, forward ? PIPE_FORWARD : PIPE_BACKWARD, start,
              start + (forward ? x->chunk[c].forward_ms : x->chunk[c].backward_ms));
    if (forward) {
        d->free_at = y->forward[at] = start + x->chunk[c].forward_ms;
        if (c < last)
            y->arrived[at] = move_batch(y, c, false, batch, d->free_at, x->transfer[c].forward_ms);
        d->forwards++;
    } else {
        d->free_at = y->backward[at] = start + x->chunk[c].backward_ms;
        if (c)
            y->returned[at] =
                move_batch(y, c - 1, true, batch, d->free_at, x->transfer[c - 1].backward_ms);
        d->backwards++;
    }
    return true;
}

static double finish_of_device(const struct play *y, const struct device *d)
{
    const struct interleave *x = y->x;
    uint32_t chunks = x->groups * x->chunks;
    double last = 0;

    for (uint32_t s = 0; s < x->groups; s++) {
        double end = d[s].free_at;
        if (d[s].backwards < x->micro_batches * x->chunks)
            return INFINITY; /* M is no multiple of p */
        for (uint32_t c = s; c < chunks; c += x->groups) {
            note_task(y, 2 * c, x->micro_batches, PIPE_REDUCE, end, end + x->chunk[c].reduce_ms);
            end += x->chunk[c].reduce_ms;
        }
        last = pipe_more(last, end);
    }
    for (uint32_t c = 0; c + 1 < chunks; c++)
        last = pipe_more(last, y->link_free[2 * c + 1] + x->transfer[c].reduce_ms);
    return last;
}

double interleave_makespan(const struct interleave *x)
{
    uint32_t chunks = x->groups * x->chunks;
    size_t n = (size_t)chunks * x->micro_batches;
    double *times = mem_try(4 * n + 2 * (size_t)chunks, sizeof *times);
    struct device *device = mem_try(x->groups, sizeof *device);
    double out = INFINITY;

    if (times && device) {
        struct play y = {x, times, times + n, times + 2 * n, times + 3 * n, times + 4 * n};
        for (size_t k = 0; k < 4 * n; k++)
            times[k] = INFINITY;
        for (bool moved = true; moved;) {
            moved = false;
            for (uint32_t s = 0; s < x->groups; s++)
                while (run_one(&y, &device[s], s))
                    moved = true;
        }
        out = finish_of_device(&y, device);
    }
    free(times);
    free(device);
    return out;
}
