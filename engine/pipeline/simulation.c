#include "engine/pipeline/simulation.h"

#include "engine/pipeline/pipe_instance.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <string.h>

/* A node while it is played. */
struct player {
    uint32_t forwards, backwards; /* passes done */
    uint32_t warm_up;             /* K of a stage */
    bool reduced;
    double *forward_end, *backward_end; /* [M] of the passes done */
    enum pipe_task_kind next;           /* what it would do next, and when */
    double start;                       /* INFINITY: it waits for a neighbour, or is done */
};

struct play {
    const struct pipe_node *node;
    uint32_t count, micro_batches;
    bool half_duplex;
    struct player player[PIPE_NODES_MOST];
    struct pipe_task *task; /* NULL: only the makespan is wanted */
    uint32_t tasks;
    double makespan;
};

static double last_end(const double *end, uint32_t done)
{
    return done ? end[done - 1] : 0;
}

/* When the next pass of a node has what it needs from its neighbour; INFINITY: not known yet, or
 * there is no next. The last node's backward pass needs its own forward pass. */
static double forward_arrival(const struct play *y, uint32_t n)
{
    const struct player *p = &y->player[n];

    if (p->forwards == y->micro_batches)
        return INFINITY;
    if (!n)
        return 0;
    return y->player[n - 1].forwards > p->forwards ? y->player[n - 1].forward_end[p->forwards]
                                                   : INFINITY;
}

static double backward_arrival(const struct play *y, uint32_t n)
{
    const struct player *p = &y->player[n];

    if (p->backwards == y->micro_batches)
        return INFINITY;
    if (n + 1 == y->count)
        return p->forwards > p->backwards ? p->forward_end[p->backwards] : INFINITY;
    return y->player[n + 1].backwards > p->backwards ? y->player[n + 1].backward_end[p->backwards]
                                                     : INFINITY;
}

static void set_next(struct player *p, enum pipe_task_kind kind, double start)
{
    p->next = kind;
    p->start = start;
}

/* A stage: its list says which pass, one thing at a time. */
static void plan_stage(struct play *y, uint32_t n, double forward_free, double backward_free)
{
    struct player *p = &y->player[n];
    double free_at = pipe_more(forward_free, backward_free);
    bool forward = p->forwards < y->micro_batches && p->forwards - p->backwards < p->warm_up;

    set_next(p, forward ? PIPE_FORWARD : PIPE_BACKWARD,
             pipe_more(free_at, forward ? forward_arrival(y, n) : backward_arrival(y, n)));
}

/* A transfer: whichever can begin first; if it moves one way at a time, whichever came first. */
static void plan_link(struct play *y, uint32_t n, double forward_free, double backward_free)
{
    struct player *p = &y->player[n];
    double forward = forward_arrival(y, n), backward = backward_arrival(y, n);

    if (y->half_duplex) {
        double free_at = pipe_more(forward_free, backward_free);
        bool back = backward <= forward;
        set_next(p, back ? PIPE_BACKWARD : PIPE_FORWARD,
                 pipe_more(free_at, back ? backward : forward));
        return;
    }
    forward = pipe_more(forward, forward_free);
    backward = pipe_more(backward, backward_free);
    set_next(p, backward <= forward ? PIPE_BACKWARD : PIPE_FORWARD, fmin(forward, backward));
}

static void plan_next(struct play *y, uint32_t n)
{
    struct player *p = &y->player[n];
    double forward_free = last_end(p->forward_end, p->forwards);
    double backward_free = last_end(p->backward_end, p->backwards);

    if (p->backwards == y->micro_batches)
        set_next(p, PIPE_REDUCE, p->reduced ? INFINITY : backward_free);
    else if (n & 1)
        plan_link(y, n, forward_free, backward_free);
    else
        plan_stage(y, n, forward_free, backward_free);
}

static void carry_out(struct play *y, uint32_t n)
{
    const struct pipe_node *node = &y->node[n];
    struct player *p = &y->player[n];
    enum pipe_task_kind kind = p->next;
    uint32_t batch = kind == PIPE_FORWARD    ? p->forwards
                     : kind == PIPE_BACKWARD ? p->backwards
                                             : y->micro_batches;
    double took = kind == PIPE_FORWARD    ? node->forward_ms
                  : kind == PIPE_BACKWARD ? node->backward_ms
                                          : node->reduce_ms;
    double end = p->start + took;

    if (y->task)
        y->task[y->tasks] = (struct pipe_task){n, batch, kind, p->start, end};
    y->tasks++;
    y->makespan = pipe_more(y->makespan, end);
    if (kind == PIPE_FORWARD)
        p->forward_end[p->forwards++] = end;
    else if (kind == PIPE_BACKWARD)
        p->backward_end[p->backwards++] = end;
    else
        p->reduced = true;
    plan_next(y, n);
    if (kind == PIPE_FORWARD && n + 1 < y->count)
        plan_next(y, n + 1);
    if (kind == PIPE_BACKWARD && n)
        plan_next(y, n - 1);
}

static uint32_t earliest(const struct play *y)
{
    uint32_t best = 0;

    for (uint32_t n = 1; n < y->count; n++)
        if (y->player[n].start < y->player[best].start)
            best = n;
    return best;
}

/* When a link moves both ways at once every node's passes have a fixed order in each direction, so
 * their times do not depend on the order in which they are worked out: node by node, as far as each
 * can go. */
static void play_in_any_order(struct play *y, uint32_t total)
{
    for (uint32_t before = UINT32_MAX; y->tasks < total && y->tasks != before;) {
        before = y->tasks;
        for (uint32_t n = 0; n < y->count; n++)
            while (y->player[n].start < INFINITY)
                carry_out(y, n);
    }
}

/* `ends` has room for 2 x count x M. */
static void play_schedule(struct play *y, enum pipe_schedule_kind kind, double *ends)
{
    struct pipe_options o = {.micro_batches = y->micro_batches, .schedule = kind};
    uint32_t total = y->count * (2 * y->micro_batches + 1);

    for (uint32_t n = 0; n < y->count; n++) {
        struct player *p = &y->player[n];
        *p = (struct player){.warm_up = pipe_in_flight(&o, (y->count - n + 1) / 2)};
        p->forward_end = ends + (size_t)2 * n * y->micro_batches;
        p->backward_end = p->forward_end + y->micro_batches;
    }
    for (uint32_t n = 0; n < y->count; n++)
        plan_next(y, n);
    if (!y->task && !y->half_duplex)
        play_in_any_order(y, total);
    while (y->tasks < total) {
        uint32_t next = earliest(y);
        if (!(y->player[next].start < INFINITY)) { /* some node takes for ever */
            y->makespan = INFINITY;
            return;
        }
        carry_out(y, next);
    }
}

static bool is_too_long(uint32_t nodes, uint32_t micro_batches)
{
    return (uint64_t)nodes * (2 * (uint64_t)micro_batches + 1) > PIPE_TASKS_MOST;
}

double pipe_nodes_makespan(const struct pipe_node *node, uint32_t count,
                           const struct pipe_options *o, enum pipe_schedule_kind kind)
{
    enum { SMALL = 2048 };
    double small[SMALL], *ends = small;
    size_t room = (size_t)2 * count * o->micro_batches;
    struct play y = {.node = node,
                     .count = count,
                     .micro_batches = o->micro_batches,
                     .half_duplex = o->half_duplex};

    if (is_too_long(count, o->micro_batches))
        return INFINITY;
    if (room > SMALL)
        ends = mem_try(room, sizeof *ends);
    if (!ends)
        return INFINITY;
    play_schedule(&y, kind, ends);
    if (ends != small)
        free(ends);
    return y.makespan;
}

double pipe_makespan(const struct pipe_instance *in, const struct pipe_plan *p,
                     enum pipe_schedule_kind kind)
{
    struct pipe_node node[PIPE_NODES_MOST];
    uint32_t count = pipe_plan_nodes(in, p, node);

    return pipe_nodes_makespan(node, count, &in->options, kind);
}

int pipe_nodes_schedule(const struct pipe_node *node, uint32_t count, const struct pipe_options *o,
                        enum pipe_schedule_kind kind, struct pipe_schedule *out, struct err *e)
{
    uint32_t m = o->micro_batches;
    struct play y = {
        .node = node, .count = count, .micro_batches = m, .half_duplex = o->half_duplex};

    if (is_too_long(count, m))
        return err_set(e, ERR_LIMIT,
                       "a schedule of %u stages and %u micro-batches: more than %d tasks",
                       (count + 1) / 2, m, PIPE_TASKS_MOST);
    double *ends = mem_try((size_t)2 * count * m, sizeof *ends);
    y.task = mem_try((size_t)count * (2 * m + 1), sizeof *y.task);
    if (!ends || !y.task) {
        free(ends);
        free(y.task);
        return err_no_memory(e, "for a schedule");
    }
    play_schedule(&y, kind, ends);
    free(ends);
    *out = (struct pipe_schedule){y.task, y.tasks, count, m, kind, y.makespan};
    return 0;
}

int pipe_schedule_make(const struct pipe_instance *in, const struct pipe_plan *p,
                       enum pipe_schedule_kind kind, struct pipe_schedule *out, struct err *e)
{
    struct pipe_node node[PIPE_NODES_MOST];
    uint32_t count = pipe_plan_nodes(in, p, node);

    return pipe_nodes_schedule(node, count, &in->options, kind, out, e);
}

void pipe_schedule_free(struct pipe_schedule *s)
{
    free(s->task);
    memset(s, 0, sizeof *s);
}

double pipe_schedule_busy_ms(const struct pipe_schedule *s, uint32_t node)
{
    double sum = 0;

    for (uint32_t i = 0; i < s->count; i++)
        if (s->task[i].node == node)
            sum += s->task[i].end_ms - s->task[i].start_ms;
    return sum;
}
