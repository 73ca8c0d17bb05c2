#include "engine/hybrid/hybrid_others.h"

#include "engine/decide/labels.h"
#include "engine/hybrid/hybrid.h"
#include "engine/hybrid/hybrid_instance.h"
#include "engine/hybrid/stage_table.h"
#include "engine/pipeline/pipe_instance.h"
#include "engine/problem/problem.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/stop.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char MEMORY_FOR[] = "for other ways to split a stage";

/* What stages may cost on the devices of one. */
struct table {
    struct hybrid_instance in;
    struct stage_tables rows;
    uint32_t slot;
    bool possible;
};

static int table_new(const struct hybrid *h, const struct hybrid_stage *s, struct table *t,
                     struct err *e)
{
    const struct hybrid_options *o = &h->options;
    struct stage_options so = {.batch = o->batch,
                               .micro_batches = h->micro_batches,
                               .zero = h->zero,
                               .whole_layers = o->whole_layers,
                               .overlap = o->overlap,
                               .pins = &h->pins,
                               .stop = o->stop};

    *t = (struct table){0};
    int rc = hybrid_plan_instance(h, &t->in, e);
    if (rc)
        return rc;
    t->slot = hybrid_slot_of(&t->in, s->device, s->end_device);
    if (t->slot == t->in.slots)
        return 0;
    so.slots = (uint64_t)1 << t->slot;
    rc = stage_tables_new(&h->sections, &so, &t->in, NULL, &t->rows, &t->possible, e);
    if (rc)
        hybrid_instance_release(&t->in);
    return rc;
}

static void table_release(struct table *t)
{
    hybrid_instance_release(&t->in);
    stage_tables_release(&t->rows);
}

static struct hybrid_other other_of(const struct table *t, const struct hybrid_point *p)
{
    const struct stage_shape *x = &t->rows.shape[t->rows.row_shape[p->row]];

    return (struct hybrid_other){.axes = x->axes,
                                 .size = {x->size[0], x->size[1]},
                                 .dp = stage_tables_dp(&t->rows, p->row),
                                 .recompute = p->recompute};
}

static bool is_same(const struct hybrid_other *a, const struct hybrid_other *b)
{
    return a->axes == b->axes && a->size[0] == b->size[0] && a->size[1] == b->size[1] &&
           a->dp == b->dp && a->recompute == b->recompute;
}

/* The step with stage `n` as the row has it. */
static int price_other(struct hybrid *h, uint32_t n, const struct table *t,
                       const struct hybrid_point *p, struct hybrid_other *out, label *on,
                       struct err *e)
{
    struct hybrid_stage was = h->stage[n], *s = &h->stage[n];

    stage_tables_labels(&t->rows, p->row, s->section, s->end_section, on);
    s->on = on;
    s->axes = out->axes;
    s->size[0] = out->size[0];
    s->size[1] = out->size[1];
    s->point.recompute = p->recompute;
    int rc = hybrid_price(h, e);
    out->step_ms = hybrid_step_ms(h);
    out->memory_bytes = s->memory_bytes;
    if (!rc && out->memory_bytes > s->limit_bytes)
        out->step_ms = INFINITY;
    *s = was;
    return rc;
}

static int compare_others(const void *a, const void *b)
{
    const struct hybrid_other *p = a, *q = b;

    if (p->step_ms != q->step_ms)
        return p->step_ms < q->step_ms ? -1 : 1;
    return p->dp < q->dp ? -1 : p->dp > q->dp;
}

/* The point of each kind of split that is shortest for the stage alone. */
static uint32_t choose_others(const struct hybrid *h, uint32_t n, const struct table *t,
                              struct hybrid_other out[static HYBRID_OTHERS_MOST],
                              const struct hybrid_point *best[static HYBRID_OTHERS_MOST])
{
    const struct hybrid_stage *s = &h->stage[n];
    struct hybrid_front f = *hybrid_front_of(&t->in, t->slot, s->section, s->end_section);
    struct hybrid_other now = {
        s->axes, {s->size[0], s->axes > 1 ? s->size[1] : 0}, s->dp, s->point.recompute, 0, 0};
    uint32_t count = 0;

    for (uint32_t m = f.first; m < f.first + f.count; m++) {
        const struct hybrid_point *p = &t->in.points[m];
        struct hybrid_other x = other_of(t, p);
        uint32_t at = 0;
        if (is_same(&x, &now))
            continue;
        while (at < count && !is_same(&out[at], &x))
            at++;
        if (at == HYBRID_OTHERS_MOST)
            continue;
        double ms = h->micro_batches * p->both_ms + p->reduce_ms;
        if (at < count && ms >= h->micro_batches * best[at]->both_ms + best[at]->reduce_ms)
            continue;
        count += at == count;
        out[at] = x;
        best[at] = p;
    }
    return count;
}

int hybrid_others(struct hybrid *h, uint32_t n, struct hybrid_other out[static HYBRID_OTHERS_MOST],
                  uint32_t *count, bool *looked, struct err *e)
{
    const struct hybrid_point *best[HYBRID_OTHERS_MOST];
    struct table t;
    int rc = table_new(h, &h->stage[n], &t, e);

    *count = 0;
    *looked = !rc && t.possible && !stop_asked(h->options.stop); /* a table may end at a stop */
    if (rc)
        return rc;
    label *on = mem_try((size_t)h->problem->classes.count + 1, sizeof *on);
    if (!on)
        rc = err_no_memory(e, MEMORY_FOR);
    else if (*looked)
        *count = choose_others(h, n, &t, out, best);
    for (uint32_t m = 0; m < *count && !rc; m++) {
        if (stop_asked(h->options.stop)) { /* nobody waits for the rest */
            *count = m;
            *looked = false;
            break;
        }
        rc = price_other(h, n, &t, best[m], &out[m], on, e);
    }
    qsort(out, *count, sizeof *out, compare_others);
    table_release(&t);
    free(on);
    return rc ? rc : hybrid_price(h, e);
}

/* The choice among the ways there are; `count` when it is none of them. */
static uint32_t find_other(const struct hybrid_other *other, uint32_t count,
                           const struct hybrid_other *as)
{
    uint32_t m = 0;

    while (m < count && !is_same(&other[m], as))
        m++;
    return m;
}

int hybrid_take_other(struct hybrid *h, uint32_t n, const struct hybrid_other *as, bool *taken,
                      struct err *e)
{
    const struct hybrid_point *best[HYBRID_OTHERS_MOST];
    struct hybrid_other other[HYBRID_OTHERS_MOST];
    struct hybrid_stage *s = &h->stage[n];
    struct table t;
    int rc = table_new(h, s, &t, e);

    *taken = false;
    if (rc)
        return rc;
    uint32_t count = t.possible ? choose_others(h, n, &t, other, best) : 0;
    uint32_t m = find_other(other, count, as);
    label *on = mem_try((size_t)h->problem->classes.count + 1, sizeof *on);
    if (!on) {
        rc = err_no_memory(e, MEMORY_FOR);
        goto out;
    }
    if (m == count)
        goto out;
    rc = price_other(h, n, &t, best[m], &other[m], on, e); /* the stage itself is as before */
    *taken = rc == 0 && other[m].step_ms < INFINITY;
    if (*taken) {
        memcpy(s->on, on, h->problem->classes.count * sizeof *on);
        s->axes = other[m].axes;
        s->size[0] = other[m].size[0];
        s->size[1] = other[m].size[1];
        s->point.recompute = other[m].recompute;
    }
out:
    table_release(&t);
    free(on);
    return rc ? rc : hybrid_price(h, e);
}
