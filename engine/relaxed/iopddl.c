#include "engine/relaxed/iopddl.h"

#include "engine/relaxed/contract.h"
#include "engine/relaxed/energy.h"
#include "engine/relaxed/over_time.h"
#include "engine/relaxed/timed_solve.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/stop.h"

#include <math.h>
#include <string.h>

/* Most memory of all times, from the lives as they are given. */
struct event {
    int64_t time;
    double bytes;
};

static int compare_events(const void *a, const void *b)
{
    const struct event *x = a, *y = b;

    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes); /* what ends comes first */
}

static int peak_of(const struct iopddl *p, const uint16_t *x, double *out, struct err *e)
{
    struct event *events = mem_try(2 * (size_t)p->lives.nodes + 1, sizeof *events);
    size_t count = 0;
    double now = 0;

    *out = 0;
    if (!events)
        return err_no_memory(e, "for memory over time");
    for (uint32_t n = 0; n < p->lives.nodes; n++) {
        double bytes = p->bytes[p->first[n] + x[n]];
        if (p->from[n] >= p->to[n])
            continue;
        events[count++] = (struct event){p->from[n], bytes};
        events[count++] = (struct event){p->to[n], -bytes};
    }
    qsort(events, count, sizeof *events, compare_events);
    for (size_t k = 0; k < count; k++) {
        now += events[k].bytes;
        *out = fmax(*out, now);
    }
    free(events);
    return 0;
}

/* The answer in the nodes of the file, priced as the file says. */
static int take_answer(struct iopddl *p, const struct contraction *c, const uint16_t *left,
                       struct iopddl_answer *out, struct err *e)
{
    out->x = mem_try((size_t)p->energy.nodes + 1, sizeof *out->x);
    if (!out->x)
        return err_no_memory(e, "for a solution");
    contraction_expand(c, left, out->x);
    out->cost = energy_of(&p->energy, out->x);
    int rc = peak_of(p, out->x, &out->peak, e);
    BUG_ON(!rc && (out->cost >= p->forbidden || out->peak > p->lives.limit));
    return rc;
}

int iopddl_solve(struct iopddl *p, const struct iopddl_options *o, struct iopddl_answer *out,
                 struct err *e)
{
    struct timed_options options = {
        .work = o->work, .seed = o->seed, .forbidden = p->forbidden, .stop = o->stop};
    struct contraction c;
    struct over_time m = {0};
    struct timed_result r = {0};

    *out = (struct iopddl_answer){.bound = -INFINITY};
    int rc = energy_contract(&p->energy, p->forbidden, o->stop, &c, e);
    if (rc)
        return rc;
    out->nodes_left = c.left.nodes;
    out->edges_left = c.left.edge_count;
    if (stop_asked(o->stop))
        goto out;
    rc = over_time_new(&p->lives, &c, &m, e);
    if (rc)
        goto out;
    rc = timed_solve(&c.left, &m, &options, &r, e);
    if (rc)
        goto out;
    out->points = m.points;
    for (uint32_t n = 0; n < c.left.nodes; n++)
        out->labels_left += energy_labels(&c.left, n);
    out->bound = r.bound;
    out->work = r.work;
    if (r.x)
        rc = take_answer(p, &c, r.x, out, e);
out:
    if (rc)
        iopddl_answer_release(out);
    timed_result_release(&r);
    over_time_release(&m);
    contraction_release(&c);
    return rc;
}

void iopddl_answer_release(struct iopddl_answer *a)
{
    free(a->x);
    a->x = NULL;
}
