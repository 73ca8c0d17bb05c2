#include "engine/pipeline/pipe_before.h"

#include "engine/pipeline/again.h"
#include "hlo/support/mem.h"

#include <math.h>

struct pipe_prefix pipe_prefix_start(void)
{
    return (struct pipe_prefix){.f1 = -INFINITY, .f2 = -INFINITY};
}

void pipe_prefix_add(struct pipe_prefix *p, const struct pipe_node *n, double steady)
{
    struct pipe_prefix was = *p;
    double g = pipe_more(was.f0 + n->reduce_ms, was.f1);

    p->f0 = was.f0 + n->forward_ms;
    p->f1 = g + n->forward_ms + n->backward_ms;
    p->f2 = pipe_more(p->f0 + steady, was.f2 - n->backward_ms);
    p->f3 = pipe_more(pipe_more(was.f3, g + n->forward_ms + steady + n->backward_ms),
                      was.f2 + n->reduce_ms);
}

static struct pipe_prefix *least_of(struct pipe_before *b, uint32_t m, uint32_t c, uint32_t i)
{
    return &b->least[((size_t)(m - 1) * (b->cuts + 1) + c) * (b->points + 1) + i];
}

static bool goes_on(struct pipe_before_ask *q)
{
    if (q->looks % 1024 == 0 && q->stop && atomic_load_explicit(q->stop, memory_order_relaxed))
        return false;
    return ++q->looks <= q->looks_most;
}

static double waits(const struct pipe_before_ask *q)
{
    return q->in->options.micro_batches - 1;
}

static void add_stage(const struct pipe_before_ask *q, struct pipe_prefix *p, uint32_t i,
                      uint32_t j, uint32_t a, uint32_t b)
{
    struct pipe_node node = pipe_stage_node(q->in, i, j, q->position[a], q->position[b]);

    pipe_prefix_add(p, &node, waits(q) * (node.forward_ms + node.backward_ms));
}

/* Whether the devices behind cut c can do what is left behind point i in the time known. */
static bool leaves_enough(const struct pipe_before_ask *q, uint32_t c, uint32_t i)
{
    double left = q->work[q->in->points] - q->work[i];

    return q->in->options.micro_batches * left <= q->known_ms * (q->in->devices - q->position[c]);
}

/* Where a stage that ends before point i on cuts [a, c) may begin: not before `from`, which grows
 * with i. */
static bool is_too_long(const struct pipe_before_ask *q, uint32_t from, uint32_t i, uint32_t a,
                        uint32_t c)
{
    uint32_t first = q->position[a], end = q->position[c];
    double ms =
        pipe_forward_ms(q->in, from, i, first, end) + pipe_backward_ms(q->in, from, i, first, end);

    return q->in->options.micro_batches * ms > q->known_ms;
}

static void take_least(struct pipe_prefix *least, const struct pipe_prefix *p)
{
    least->f0 = p->f0 < least->f0 ? p->f0 : least->f0;
    least->f1 = p->f1 < least->f1 ? p->f1 : least->f1;
    least->f2 = p->f2 < least->f2 ? p->f2 : least->f2;
    least->f3 = p->f3 < least->f3 ? p->f3 : least->f3;
}

/* The first stage's link to a stage on [a, c), the only one whose devices are known. What another
 * would take off f2 is not known: f2 is then that of the stage behind it alone. */
static void add_link(const struct pipe_before_ask *q, struct pipe_prefix *p, uint32_t m, uint32_t j,
                     uint32_t a, uint32_t c)
{
    if (m != 2) {
        p->f2 = -INFINITY;
        return;
    }
    struct pipe_node link = pipe_link_node(q->in, j, 0, q->position[a], q->position[c]);
    double one = q->in->options.half_duplex ? link.forward_ms + link.backward_ms
                                            : pipe_more(link.forward_ms, link.backward_ms);
    pipe_prefix_add(p, &link, waits(q) * one);
}

/* Beginnings of m stages whose last is on cuts [a, c). */
static bool fill_pair(struct pipe_before_ask *q, struct pipe_before *b, uint32_t m, uint32_t a,
                      uint32_t c)
{
    uint32_t from = m - 1;

    for (uint32_t i = m; i < b->points; i++) {
        if (!leaves_enough(q, c, i))
            continue;
        while (from < i && is_too_long(q, from, i, a, c))
            from++;
        for (uint32_t j = from; j < i; j++) {
            struct pipe_prefix p = *least_of(b, m - 1, a, j);
            if (isinf(p.f0))
                continue;
            if (!goes_on(q))
                return false;
            add_link(q, &p, m, j, a, c);
            add_stage(q, &p, j, i, a, c);
            if (p.f3 <= q->known_ms)
                take_least(least_of(b, m, c, i), &p);
        }
    }
    return true;
}

static bool fill_before(struct pipe_before_ask *q, struct pipe_before *b)
{
    static const struct pipe_prefix none = {INFINITY, INFINITY, INFINITY, INFINITY};
    size_t n = (size_t)q->stages * (b->cuts + 1) * (b->points + 1);

    for (size_t k = 0; k < n; k++)
        b->least[k] = none;
    for (uint32_t c = 1; c <= b->cuts; c++) {
        for (uint32_t i = 1; i <= b->points; i++) {
            struct pipe_prefix p = pipe_prefix_start();
            add_stage(q, &p, 0, i, 0, c);
            if (p.f3 <= q->known_ms)
                *least_of(b, 1, c, i) = p;
        }
    }
    for (uint32_t m = 2; m <= q->stages; m++)
        for (uint32_t c = m; c < b->cuts; c++)
            for (uint32_t a = m - 1; a < c; a++)
                if (!fill_pair(q, b, m, a, c))
                    return false;
    return true;
}

bool pipe_before_new(struct pipe_before_ask *q, struct pipe_before *out)
{
    size_t row = (size_t)(q->cuts + 1) * (q->in->points + 1);

    *out = (struct pipe_before){.cuts = q->cuts, .points = q->in->points, .stages = q->stages};
    out->least = mem_try(q->stages * row, sizeof *out->least);
    if (out->least && fill_before(q, out))
        return true;
    pipe_before_free(out);
    return false;
}

void pipe_before_free(struct pipe_before *b)
{
    free(b->least);
    b->least = NULL;
}
