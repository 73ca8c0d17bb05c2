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
#include "hlo/support/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 8 }; /* figures compared without a branch */

/* What a plan wants less of, side by side for each row: only the figures in which rows differ, so
 * that two rows are two short lines of memory. */
struct ranking {
    const struct rows *r;
    const struct sections *s;
    uint32_t batch; /* its place among the labels; UINT32_MAX: rows of all parts are compared */
    uint32_t row_size;
    double shown;    /* at least, of the sums */
    uint32_t all;    /* figures of a row */
    uint32_t width;  /* those in which rows differ, filled up to blocks */
    uint32_t *which; /* [all] */
    double *figure;  /* [count][width] */
    double *row;     /* [all] scratch */
};

/* Under some protocol the latency is more: lines of one network have the same factors. None has no
 * partners. */
static double *write_lines(const struct collective_lines *l, double *out)
{
    *out++ = l->count;
    for (uint32_t k = 0; k < COLLECTIVE_LINES_MOST; k++)
        *out++ = k < l->count ? l->line[k].ms : 0;
    return out;
}

/* All figures of a row. */
static void write_row(const struct ranking *x, uint32_t row, double *out)
{
    const struct rows *r = x->r;
    const double *p = r->figure + row * (size_t)x->s->kinds * ROW_FIGURES;
    size_t spread = (size_t)x->s->set_count * ROW_SUMMED;

    for (uint32_t kind = 0; kind < x->s->kinds; kind++, p += ROW_FIGURES) {
        for (int f = 0; f < ROW_FIGURES; f++) {
            if (f == ROW_BACKWARD) /* forward and both say it */
                continue;
            /* What shows of the sums, and the rest, together. */
            *out++ = f == ROW_ONCE ? x->shown * p[ROW_SUMS] + p[ROW_ONCE] : p[f];
        }
    }
    memcpy(out, r->spread + r->spread_at[r->sigma[row]] * spread, spread * sizeof *out);
    out += spread;
    *out++ = r->rates[row].gather;
    out = write_lines(&r->rates[row].arrive, out);
    write_lines(&r->rates[row].reduce, out);
}

static void ranking_release(struct ranking *x)
{
    free(x->which);
    free(x->figure);
    free(x->row);
}

/* False: no memory. */
static bool ranking_new(struct ranking *x)
{
    uint32_t count = x->r->count;

    x->all = x->s->kinds * (ROW_FIGURES - 1) + x->s->set_count * ROW_SUMMED + 1 +
             2 * (1 + COLLECTIVE_LINES_MOST);
    x->which = mem_try(x->all, sizeof *x->which);
    x->row = mem_try(2 * (size_t)x->all, sizeof *x->row);
    if (!x->which || !x->row)
        return false;
    double *first = x->row + x->all;
    for (uint32_t n = 0; n < count; n++) {
        write_row(x, n, n ? x->row : first);
        for (uint32_t f = 0; f < x->all && n; f++)
            x->which[f] |= x->row[f] != first[f];
    }
    for (uint32_t f = 0; f < x->all; f++)
        if (x->which[f])
            x->which[x->width++] = f;
    uint32_t used = x->width;
    x->width = (used + BLOCK - 1) / BLOCK * BLOCK;
    x->figure = mem_try((size_t)count * x->width + 1, sizeof *x->figure);
    for (uint32_t n = 0; n < count && x->figure; n++) {
        write_row(x, n, x->row);
        for (uint32_t k = 0; k < used; k++)
            x->figure[(size_t)n * x->width + k] = x->row[x->which[k]];
    }
    return x->figure != NULL;
}

/* `most`: of b, each with some room for rounding. */
static bool beats(const struct ranking *x, uint32_t a, uint32_t b, const double *most)
{
    const struct rows *r = x->r;
    const double *p = x->figure + (size_t)a * x->width;

    for (uint32_t n = 0; n < x->width; n += BLOCK) {
        int more = 0;
        for (uint32_t k = 0; k < BLOCK; k++)
            more |= p[n + k] > most[n + k];
        if (more)
            return false;
    }
    if (x->batch < x->row_size && r->labels[(size_t)a * x->row_size + x->batch] !=
                                      r->labels[(size_t)b * x->row_size + x->batch])
        return false;
    return !(r->keeps[b] & ~r->keeps[a]); /* pins of groups */
}

static bool is_beaten(const struct ranking *x, const uint32_t *kept, uint32_t count, uint32_t row)
{
    const double *q = x->figure + (size_t)row * x->width;
    double *most = x->row;

    for (uint32_t f = 0; f < x->width; f++)
        most[f] = q[f] + fabs(q[f]) * 1e-12;
    for (uint32_t m = 0; m < count; m++)
        if (beats(x, kept[m], row, most))
            return true;
    return false;
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

/* Marks the rows that none beats. */
static bool mark_unbeaten(const struct ranking *x, uint8_t *stays)
{
    const struct rows *r = x->r;
    struct ranked *list = mem_try(r->count, sizeof *list);
    uint32_t *kept = mem_try(r->count, sizeof *kept), count = 0;
    bool ok = list && kept;

    for (uint32_t n = 0; n < r->count && ok; n++) {
        list[n] = (struct ranked){0, n};
        for (uint32_t kind = 0; kind < x->s->kinds; kind++)
            list[n].total += r->figure[((size_t)n * x->s->kinds + kind) * ROW_FIGURES + ROW_BOTH];
    }
    if (ok)
        qsort(list, r->count, sizeof *list, compare_ranked);
    for (uint32_t n = 0; n < r->count && ok; n++) {
        if (list[n].total != INFINITY && !is_beaten(x, kept, count, list[n].row))
            stays[kept[count++] = list[n].row] = 1;
    }
    free(list);
    free(kept);
    return ok;
}

static void keep_marked(const struct row_maker *k, struct rows *r, const uint8_t *stays)
{
    size_t size = (size_t)k->costs.s->kinds * ROW_FIGURES, labels = k->t->row_size;
    uint32_t at = 0;

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
}

bool row_drop_beaten(const struct row_maker *k, struct rows *r)
{
    const struct sections *s = k->costs.s;
    struct ranking x = {.r = r,
                        .s = s,
                        .batch = UINT32_MAX,
                        .row_size = k->t->row_size,
                        .shown = 1 - k->costs.overlap.hidden};
    uint8_t *stays = mem_try(r->count, 1);

    for (uint32_t n = 0; n < s->shared_count && hybrid_pins_are_of_splits(k->t->options.pins); n++)
        if (s->shared[n] == s->order->steps.batch) /* a pin may leave the beaten ones alone */
            x.batch = n;
    bool ok = stays && ranking_new(&x) && mark_unbeaten(&x, stays);
    if (ok)
        keep_marked(k, r, stays);
    ranking_release(&x);
    free(stays);
    return ok;
}
