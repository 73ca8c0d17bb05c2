#include "engine/relaxed/price_ascent.h"

#include "engine/relaxed/energy.h"
#include "engine/relaxed/over_time.h"
#include "engine/relaxed/tables.h"
#include "engine/relaxed/trws.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <string.h>

enum { PRICED_UNARY = TABLE_KEYS + 1, SWEEPS_BY_STEP = 2, PATIENCE = 10 };
#define KEPT_DIRECTION 0.8 /* of the direction before, in the next */
#define FIRST_REACH 0.1    /* of the bound */
#define LEAST_REACH 2e-5
#define FRESH_REACH 5e-3
#define ROUNDING 1e-9 /* of sums of costs; a bound gives that much away */

static int own_costs(struct price_ascent *a, struct err *e)
{
    struct energy *g = &a->g;
    size_t nodes = (size_t)g->nodes + 1;
    const table_id *from = g->unary;

    g->unary = mem_try(nodes, sizeof *g->unary);
    a->label_first = mem_try(nodes, sizeof *a->label_first);
    if (!g->unary || !a->label_first)
        return err_no_memory(e, "for prices of memory");
    for (uint32_t n = 0; n < g->nodes; n++)
        a->label_first[n + 1] = a->label_first[n] + g->tables->items[from[n]].cols;
    a->cost = mem_try(a->label_first[g->nodes] + 1, sizeof *a->cost);
    if (!a->cost)
        return err_no_memory(e, "for prices of memory");
    for (uint32_t n = 0; n < g->nodes; n++) {
        uint32_t labels = g->tables->items[from[n]].cols;
        bool is_new;
        memcpy(a->cost + a->label_first[n], tables_at(g->tables, from[n], false),
               labels * sizeof *a->cost);
        g->unary[n] =
            tables_get(g->tables, (uint64_t[TABLE_KEY]){PRICED_UNARY, n}, 1, labels, &is_new);
    }
    return g->tables->failed ? err_no_memory(e, "for prices of memory") : 0;
}

static void set_costs(struct price_ascent *a, const double *price, double scale)
{
    price_sums(a->memory, price, a->sums);
    for (uint32_t n = 0; n < a->g.nodes; n++) {
        uint32_t labels = energy_labels(&a->g, n);
        double *v = tables_at(a->g.tables, a->g.unary[n], false);
        memcpy(v, a->cost + a->label_first[n], labels * sizeof *v);
        over_time_price(a->memory, n, labels, a->sums, scale, v);
        a->work += (uint64_t)labels * (1 + a->memory->first[n + 1] - a->memory->first[n]);
    }
}

int price_ascent_new(struct energy *g, const struct over_time *m, const atomic_bool *stop,
                     struct price_ascent *out, struct err *e)
{
    size_t points = (size_t)m->points + 1;
    int rc;

    *out = (struct price_ascent){.memory = m, .g = *g, .bound = -INFINITY, .stop = stop};
    rc = own_costs(out, e);
    if (rc)
        goto out;
    out->price = mem_try(points, sizeof *out->price);
    out->best_price = mem_try(points, sizeof *out->best_price);
    out->direction = mem_try(points, sizeof *out->direction);
    out->bytes = mem_try(points, sizeof *out->bytes);
    out->sums = mem_try(points, sizeof *out->sums);
    if (!out->price || !out->best_price || !out->direction || !out->bytes || !out->sums) {
        rc = err_no_memory(e, "for prices of memory");
        goto out;
    }
    rc = trws_new(&out->g, &out->trws, e);
    for (uint32_t k = 0; k < g->edge_count; k++)
        out->sweep_work +=
            2 * (uint64_t)energy_labels(g, g->edges[k].a) * energy_labels(g, g->edges[k].b);
    out->sweep_work += 8 * (uint64_t)out->trws.message_size;
out:
    if (rc)
        price_ascent_release(out);
    return rc;
}

void price_ascent_release(struct price_ascent *a)
{
    trws_release(&a->trws);
    free(a->g.unary);
    free(a->label_first);
    free(a->cost);
    free(a->price);
    free(a->best_price);
    free(a->direction);
    free(a->bytes);
    free(a->sums);
    memset(a, 0, sizeof *a);
}

double price_sums(const struct over_time *m, const double *price, double *sums)
{
    double all = 0;

    sums[0] = 0;
    for (uint32_t t = 0; t < m->points; t++) {
        sums[t + 1] = sums[t] + price[t] / m->limit;
        all += price[t];
    }
    return all;
}

/* What the last sweep proves at these prices. */
static double sweep_bound(struct price_ascent *a, const double *price, double scale,
                          uint32_t sweeps)
{
    double away = 0, size = 0;

    for (bool is_last = false; !is_last; sweeps--) { /* the last one has a bound and labels */
        is_last = sweeps <= 1 || stop_asked(a->stop);
        a->trws.bound = -INFINITY;
        trws_sweep(&a->trws, is_last);
        a->work += a->sweep_work;
    }
    for (uint32_t t = 0; t < a->memory->points; t++) {
        away += scale * price[t] * (a->memory->base[t] / a->memory->limit - 1);
        size += scale * price[t];
    }
    return a->trws.bound + away - ROUNDING * (fabs(a->trws.bound) + size);
}

/* bytes / limit - 1 where it counts: at local peaks over the limit, and where there is a price.
 * Returns its square; bytes becomes it. */
static double subgradient(struct price_ascent *a)
{
    double *g = a->bytes, before = -INFINITY, square = 0;

    for (uint32_t t = 0; t < a->memory->points; t++) {
        double here = g[t], after = t + 1 < a->memory->points ? g[t + 1] : -INFINITY;
        bool is_peak = here > a->memory->limit && here >= before && here > after;
        g[t] = is_peak || a->price[t] > 0 ? here / a->memory->limit - 1 : 0;
        square += g[t] * g[t];
        before = here;
    }
    return square;
}

static void adapt_reach(struct price_ascent *a, double low)
{
    double size = fmax(fabs(a->bound), 1e-9);

    if (low > a->bound) {
        double grown = low - a->bound;
        a->grown += grown;
        a->bound = low;
        memcpy(a->best_price, a->price, a->memory->points * sizeof *a->price);
        if (grown > 0.3 * a->reach)
            a->reach *= 1.3;
    }
    if (++a->steps % PATIENCE == 0) {
        if (a->grown < 0.02 * a->reach)
            a->reach *= 0.8;
        a->grown = 0;
    }
    if (a->reach < LEAST_REACH * size)
        a->reach = FRESH_REACH * size;
}

static void follow_subgradient(struct price_ascent *a, double low, double known)
{
    double here = subgradient(a), square = 0;
    double target = fmin(a->bound + a->reach, 1.001 * known);

    for (uint32_t t = 0; t < a->memory->points; t++) {
        a->direction[t] = KEPT_DIRECTION * a->direction[t] + (1 - KEPT_DIRECTION) * a->bytes[t];
        square += a->direction[t] * a->direction[t];
    }
    square = fmax(square, (1 - KEPT_DIRECTION) * here);
    if (square <= 0)
        return;
    double step = fmin(target - low, 3 * a->reach) / square;
    for (uint32_t t = 0; t < a->memory->points; t++)
        a->price[t] = fmax(a->price[t] + step * a->direction[t], 0);
}

void price_ascent_step(struct price_ascent *a, double known)
{
    bool is_first = a->bound == -INFINITY;

    set_costs(a, a->price, 1);
    double low = sweep_bound(a, a->price, 1, is_first ? 20 : SWEEPS_BY_STEP);
    if (is_first) {
        a->bound = low;
        a->reach = FIRST_REACH * fmax(fabs(low), 1);
    }
    adapt_reach(a, low);
    a->peak = over_time_profile(a->memory, a->trws.x, a->bytes);
    a->work += 2 * a->memory->span_count + 8 * (uint64_t)a->memory->points;
    if (low < a->bound - 3 * a->reach) {
        memcpy(a->price, a->best_price, a->memory->points * sizeof *a->price);
        memset(a->direction, 0, a->memory->points * sizeof *a->direction);
        return;
    }
    follow_subgradient(a, low, known);
}

void price_ascent_settle(struct price_ascent *a, double scale, uint32_t sweeps)
{
    set_costs(a, a->best_price, scale);
    double low = sweep_bound(a, a->best_price, scale, sweeps);
    if (scale == 1)
        a->bound = fmax(a->bound, low);
    a->peak = over_time_profile(a->memory, a->trws.x, a->bytes);
    a->work += 2 * a->memory->span_count + 4 * (uint64_t)a->memory->points;
}

void price_ascent_raise(struct price_ascent *a, const uint16_t *x, double share)
{
    double all = price_sums(a->memory, a->price, a->sums);

    over_time_profile(a->memory, x, a->bytes);
    if (all <= 0)
        all = fmax(a->bound, 1);
    for (uint32_t t = 0; t < a->memory->points; t++)
        if (a->bytes[t] > a->memory->limit)
            a->price[t] += share * all * (a->bytes[t] / a->memory->limit - 1 + 0.2);
}
