/* Rows that another beats in every section: no plan needs them. */
#include "engine/hybrid/row_maker.h"

#include "engine/cluster/collectives.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/hybrid/hybrid_pins.h"
#include "engine/hybrid/sections.h"
#include "engine/hybrid/stage_costs.h"
#include "engine/hybrid/stage_rows.h"
#include "engine/hybrid/stage_table.h"
#include "engine/pipeline/order.h"
#include "engine/pipeline/unroll.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct ranking {
    const struct rows *r;
    const struct sections *s;
    uint32_t batch; /* its place among the labels; UINT32_MAX: rows of all parts are compared */
    uint32_t row_size;
    double *total; /* [count] */
    double shown;  /* at least, of the sums */
};

static bool is_more(double a, double b)
{
    return a > b + fabs(b) * 1e-12;
}

/* Under some protocol the latency is more: lines of one network have the same factors. */
static bool is_later(const struct collective_lines *a, const struct collective_lines *b)
{
    if (a->count != b->count) /* one of them has no partners */
        return a->count > b->count;
    for (uint32_t k = 0; k < a->count; k++)
        if (a->line[k].ms > b->line[k].ms)
            return true;
    return false;
}

static bool beats(const struct ranking *x, uint32_t a, uint32_t b)
{
    const struct rows *r = x->r;
    size_t size = (size_t)x->s->kinds * ROW_FIGURES;
    const double *p = r->figure + a * size, *q = r->figure + b * size;
    const double slack = 1 + 1e-12;

    if (x->batch < x->row_size && r->labels[(size_t)a * x->row_size + x->batch] !=
                                      r->labels[(size_t)b * x->row_size + x->batch])
        return false;
    if (r->keeps[b] & ~r->keeps[a]) /* pins of groups */
        return false;
    if (r->rates[a].gather > r->rates[b].gather * slack ||
        is_later(&r->rates[a].arrive, &r->rates[b].arrive) ||
        is_later(&r->rates[a].reduce, &r->rates[b].reduce))
        return false;
    for (size_t n = 0; n < size; n++) {
        size_t f = n % ROW_FIGURES;
        if (f == ROW_BACKWARD) /* forward and both say it */
            continue;
        if (f == ROW_ONCE) { /* what shows of the sums, and the rest, together */
            if (x->shown * p[n - 1] + p[n] > (x->shown * q[n - 1] + q[n]) * slack)
                return false;
            continue;
        }
        if (is_more(p[n], q[n]))
            return false;
    }
    if (r->sigma[a] == r->sigma[b])
        return true;
    size = (size_t)x->s->set_count * ROW_SUMMED;
    p = r->spread + r->spread_at[r->sigma[a]] * size;
    q = r->spread + r->spread_at[r->sigma[b]] * size;
    for (size_t n = 0; n < size; n++)
        if (is_more(p[n], q[n]))
            return false;
    return true;
}

struct ranked {
    double total;
    uint32_t row;
};

static int compare_ranked(const void *a, const void *b)
{
    const struct ranked *p = a, *q = b;

    if (p->total != q->total)
        return p->total < q->total ? -1 : 1;
    return (p->row > q->row) - (p->row < q->row);
}

/* Keeps the rows that none beats, in order. */
bool row_drop_beaten(const struct row_maker *k, struct rows *r)
{
    const struct sections *s = k->costs.s;
    size_t size = (size_t)s->kinds * ROW_FIGURES, labels = k->t->row_size;
    struct ranking x = {.r = r,
                        .s = s,
                        .batch = UINT32_MAX,
                        .row_size = k->t->row_size,
                        .shown = 1 - k->costs.overlap.hidden};
    struct ranked *list = mem_try(r->count, sizeof *list);
    uint32_t *kept = mem_try(r->count, sizeof *kept), count = 0, at = 0;
    uint8_t *stays = mem_try(r->count, 1);

    for (uint32_t n = 0; n < s->shared_count && hybrid_pins_are_of_splits(k->t->options.pins); n++)
        if (s->shared[n] == s->order->steps.batch) /* a pin may leave the beaten ones alone */
            x.batch = n;
    if (!list || !kept || !stays) {
        free(list);
        free(kept);
        free(stays);
        return false;
    }
    for (uint32_t n = 0; n < r->count; n++) {
        list[n] = (struct ranked){0, n};
        for (uint32_t kind = 0; kind < s->kinds; kind++)
            list[n].total += r->figure[n * size + (size_t)kind * ROW_FIGURES + ROW_BOTH];
    }
    qsort(list, r->count, sizeof *list, compare_ranked);
    for (uint32_t n = 0; n < r->count; n++) {
        bool is_beaten = list[n].total == INFINITY;
        for (uint32_t m = 0; m < count && !is_beaten; m++)
            is_beaten = beats(&x, kept[m], list[n].row);
        if (!is_beaten)
            stays[kept[count++] = list[n].row] = 1;
    }
    for (uint32_t n = 0; n < r->count; n++) {
        if (!stays[n])
            continue;
        memmove(r->figure + at * size, r->figure + n * size, size * sizeof *r->figure);
        memmove(r->labels + at * labels, r->labels + n * labels, labels);
        r->sigma[at] = r->sigma[n];
        r->keeps[at] = r->keeps[n];
        r->rates[at] = r->rates[n];
        at++;
    }
    r->count = at;
    free(list);
    free(kept);
    free(stays);
    return true;
}
