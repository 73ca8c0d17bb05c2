/* Kinds of sections, and the labels of their local classes. */
#include "engine/hybrid/row_maker.h"

#include "engine/cost/overlap.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/hybrid/hybrid_pins.h"
#include "engine/hybrid/sections.h"
#include "engine/hybrid/stage_costs.h"
#include "engine/hybrid/stage_rows.h"
#include "engine/hybrid/stage_table.h"
#include "engine/pipeline/order.h"
#include "engine/pipeline/unroll.h"
#include "engine/problem/problem.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/stop.h"
#include "hlo/support/union_find.h"

#include <math.h>
#include <string.h>

static const char MEMORY_FOR[] = "for the costs of stages";
static const double GB = 1e9;

static const struct {
    double memory; /* ms a GB */
    double excess; /* of overlap, as if there were one (cost/overlap.h) */
} prices[ROW_PRICES] = {{0, 0}, {0.1, 0}, {1, 0}, {10, 0}, {1e4, 0}, {0, 1}};

/* ---- kinds ---- */

static uint32_t local_count(const struct sections *s, uint32_t section)
{
    return s->local_base[section + 1] - s->local_base[section];
}

/* Local classes that a term or a clash joins are one part. `index` [classes]:
 * number of a local class of this section + 1. */
static void find_parts(struct row_maker *k, uint32_t kind, uint32_t *index)
{
    const struct sections *s = k->costs.s;
    const struct classes *c = &k->costs.p->classes;
    uint32_t section = s->kind_first[kind], count = local_count(s, section);
    const class_id *local = s->local + s->local_base[section];
    uint32_t *part = k->part_of + k->t->kind_at[kind] - s->shared_count;
    struct row_kind *d = &k->kinds[kind];

    for (uint32_t n = 0; n < count; n++) {
        part[n] = n;
        index[local[n]] = n + 1;
    }
    for (uint32_t t = d->first; t < d->end; t++) {
        uint32_t before = UINT32_MAX;
        for (uint32_t n = 0; n < k->costs.bills[t].count; n++) {
            uint32_t own = index[k->costs.pool[k->costs.bills[t].classes + n]];
            if (own && before != UINT32_MAX)
                part[union_root(part, own - 1)] = union_root(part, before);
            if (own)
                before = own - 1;
        }
    }
    for (uint32_t n = 0; n < count; n++) {
        const struct class_info *info = &c->info[local[n]];
        for (uint32_t m = info->meets; m < info->meets + info->meet_count; m++)
            if (index[c->meets[m].other])
                part[union_root(part, n)] = union_root(part, index[c->meets[m].other] - 1);
    }
    /* roots, then numbers: a root's number is kept in index while roots are
     * looked up */
    uint32_t *number = mem_alloc((count + 1) * sizeof *number);
    for (uint32_t n = 0; n < count; n++)
        number[n] = union_root(part, n);
    for (uint32_t n = 0; n < count; n++) {
        if (number[n] == n)
            part[n] = d->parts++;
    }
    for (uint32_t n = 0; n < count; n++)
        if (number[n] != n)
            part[n] = part[number[n]];
    free(number);
    for (uint32_t t = d->first; t < d->end; t++)
        for (uint32_t n = 0; n < k->costs.bills[t].count; n++) {
            uint32_t own = index[k->costs.pool[k->costs.bills[t].classes + n]];
            if (own)
                k->costs.bills[t].part = part[own - 1];
        }
    for (uint32_t n = 0; n < count; n++)
        index[local[n]] = 0;
}

int row_kinds_new(struct row_maker *k)
{
    const struct sections *s = k->costs.s;
    uint32_t *index = mem_try(k->costs.p->classes.count, sizeof *index);

    k->kinds = mem_try(s->kinds, sizeof *k->kinds);
    k->part_of = mem_try(k->t->row_size + 1, sizeof *k->part_of);
    k->spread = mem_try(s->spread_count, sizeof *k->spread);
    bool ok = index && k->kinds && k->part_of && k->spread;
    for (uint32_t kind = 0; kind < s->kinds && ok && !stop_asked(k->t->options.stop); kind++) {
        uint32_t section = s->kind_first[kind];
        size_t first = k->costs.bill_count;
        for (uint32_t n = s->op_base[section]; n < s->op_base[section + 1] && ok; n++)
            ok = bill_add_operation(&k->costs, first, s->op[n]);
        for (uint32_t n = s->value_base[section]; n < s->value_base[section + 1] && ok; n++)
            ok = bill_add_value(&k->costs, first, &s->values[n]);
        k->kinds[kind] = (struct row_kind){(uint32_t)first, (uint32_t)k->costs.bill_count, 0};
        if (ok)
            find_parts(k, kind, index);
    }
    for (uint32_t n = 0; n < s->spread_count && ok; n++) {
        struct section_value v = {s->spread[n].value, s->spread[n].use};
        size_t first = k->costs.bill_count; /* a term of its own */
        ok = bill_add_value(&k->costs, first, &v);
        if (ok)
            k->spread[n] = k->costs.bills[first];
    }
    free(index);
    return ok ? 0 : err_no_memory(k->costs.e, MEMORY_FOR);
}

/* ---- the least of a bill ---- */

/* The labels that an entry gives to the bill's classes: false when one of them cannot have it, or
 * has another already. */
static bool is_open(const struct row_maker *k, const class_id *list, uint32_t count, uint32_t entry)
{
    label has[BILL_CLASSES_MOST] = {0};

    for (uint32_t x = 0; x < k->costs.labels.axes; x++, entry /= count + 1)
        if (entry % (count + 1))
            has[entry % (count + 1) - 1] |= (label)(1u << x);
    for (uint32_t n = 0; n < count; n++) {
        bool fixed = !k->is_free[list[n]];
        if (fixed ? has[n] != k->costs.on[list[n]]
                  : !label_is_admissible(&k->costs.labels, list[n], has[n]))
            return false;
    }
    return true;
}

/* Of a bill the least of every figure over the labels that its free classes can have, each figure
 * alone. INFINITY where there are none. */
void row_least_of(const struct row_maker *k, const struct bill *b, double out[static ROW_FIGURES])
{
    const class_id *list = k->costs.pool + b->classes;

    for (int f = 0; f < ROW_FIGURES; f++)
        out[f] = INFINITY;
    for (uint32_t e = 0; e < b->entries; e++) {
        const double *from = k->costs.figures + b->table + (size_t)e * ROW_FIGURES;
        if (!is_open(k, list, b->count, e))
            continue;
        for (int f = 0; f < ROW_FIGURES; f++)
            out[f] = fmin(out[f], f == ROW_BOTH ? from[ROW_FORWARD] + from[ROW_BACKWARD] : from[f]);
    }
}

/* ---- what labels can be ---- */

static bool clashes(const struct row_maker *k, class_id class, label a)
{
    const struct classes *c = &k->costs.p->classes;
    const struct class_info *info = &c->info[class];

    for (uint32_t m = info->meets; a && m < info->meets + info->meet_count; m++)
        if (k->costs.on[c->meets[m].other] & a)
            return true;
    return false;
}

/* Data and tensor parallelism: the batch over some axes, all else over all others or none. */
static bool is_plain(const struct row_maker *k, class_id class, label a)
{
    class_id batch = k->costs.s->order->steps.batch;
    label rest = (label)((k->costs.labels.count - 1) & ~k->costs.on[batch]);

    return !k->t->options.is_plain || class == batch || !a || a == rest;
}

/* ---- local labels ---- */

bool row_may_have(const struct row_maker *k, class_id class, label a)
{
    return label_is_admissible(&k->costs.labels, class, a) && !clashes(k, class, a) &&
           is_plain(k, class, a);
}

bool row_must_allow(const struct row_maker *k, uint32_t slot, label a)
{
    const struct hybrid_pins *pins = k->t->options.pins;

    for (uint32_t n = 0; n < k->needs; n++)
        if (k->need[n].slot == slot && k->must >> k->need[n].pin & 1 &&
            !hybrid_pin_allows_parts(&pins->pin[k->need[n].pin], k->costs.labels.parts[a]))
            return false;
    return true;
}

/* ---- local labels ---- */

void row_add_figures(double *to, const double *from)
{
    for (int f = 0; f < ROW_SUMMED; f++)
        to[f] += from[f];
    to[ROW_WORKING] = fmax(to[ROW_WORKING], from[ROW_WORKING]);
}

static void look_at(struct row_maker *k, struct row_part *p)
{
    double figure[ROW_FIGURES] = {0};
    const struct row_kind *d = &k->kinds[p->kind];
    const struct overlap *o = &k->costs.overlap;

    for (uint32_t t = d->first; t < d->end; t++)
        if (k->costs.bills[t].part == p->number)
            row_add_figures(figure, bill_at(&k->costs, &k->costs.bills[t]));
    figure[ROW_BOTH] = figure[ROW_FORWARD] + figure[ROW_BACKWARD];
    double ms = k->t->options.micro_batches * figure[ROW_BOTH] +
                (1 - o->hidden) * figure[ROW_SUMS] + figure[ROW_ONCE];
    double excess = figure[ROW_BACKWARD_BALANCE] + overlap_balance(o, 0, figure[ROW_SUMS]);
    double bytes = figure[ROW_FIXED] + 4 * figure[ROW_KEPT];
    for (int f = 0; f < ROW_FIGURES; f++)
        p->out->least[f] = fmin(p->out->least[f], figure[f]);
    for (uint32_t n = 0; n < row_prices(k); n++) {
        double value = ms + prices[n].memory * bytes / GB + prices[n].excess * excess;
        if (!(value < p->out->value[n]))
            continue;
        p->out->value[n] = value;
        memcpy(p->out->figure[n], figure, sizeof figure);
        for (uint32_t c = 0; c < p->count; c++)
            p->out->labels[n][c] = k->costs.on[p->class[c]];
    }
}

static void try_labels(struct row_maker *k, struct row_part *p, uint32_t n)
{
    if (n == p->count) {
        if (p->tried++ < k->choices_most)
            look_at(k, p);
        else
            *k->cut_short = p->is_cut_short = true;
        return;
    }
    for (uint32_t a = k->costs.labels.count; a-- > 0;) {
        if (!row_may_have(k, p->class[n], (label)a) ||
            !row_must_allow(k, k->t->kind_at[p->kind] + p->place[n], (label)a))
            continue;
        k->costs.on[p->class[n]] = (label)a;
        try_labels(k, p, n + 1);
        k->costs.on[p->class[n]] = 0;
        if (p->tried > k->choices_most)
            return;
    }
}

/* The best labels of one part of a section, at each price. */
void row_choose(struct row_maker *k, struct row_part *p)
{
    const struct sections *s = k->costs.s;
    uint32_t section = s->kind_first[p->kind];
    const class_id *local = s->local + s->local_base[section];
    const uint32_t *part_of = k->part_of + k->t->kind_at[p->kind] - s->shared_count;

    for (uint32_t c = 0; c < local_count(s, section); c++) {
        if (part_of[c] != p->number)
            continue;
        if (p->count == BILL_CLASSES_MOST) {
            *k->cut_short = p->is_cut_short = true; /* the others stay whole */
            break;
        }
        p->class[p->count] = local[c];
        p->place[p->count++] = c;
    }
    for (int n = 0; n < ROW_PRICES; n++) {
        p->out->value[n] = INFINITY;
        for (int f = 0; f < ROW_FIGURES; f++)
            p->out->figure[n][f] = INFINITY;
        memset(p->out->labels[n], 0, sizeof p->out->labels[n]);
    }
    for (int f = 0; f < ROW_FIGURES; f++)
        p->out->least[f] = INFINITY;
    try_labels(k, p, 0);
}

/* The least of a part of which not all labellings were looked at: of each of its bills alone. */
void row_least_of_part(struct row_maker *k, const struct row_part *p,
                       double out[static ROW_FIGURES])
{
    const struct sections *s = k->costs.s;
    const struct row_kind *d = &k->kinds[p->kind];
    uint32_t section = s->kind_first[p->kind];
    const class_id *local = s->local + s->local_base[section];
    const uint32_t *part_of = k->part_of + k->t->kind_at[p->kind] - s->shared_count;

    for (uint32_t c = 0; c < local_count(s, section); c++)
        k->is_free[local[c]] = part_of[c] == p->number;
    memset(out, 0, ROW_FIGURES * sizeof *out);
    for (uint32_t t = d->first; t < d->end; t++) {
        double least[ROW_FIGURES];
        if (k->costs.bills[t].part != p->number)
            continue;
        row_least_of(k, &k->costs.bills[t], least);
        row_add_figures(out, least);
    }
    for (uint32_t c = 0; c < local_count(s, section); c++)
        k->is_free[local[c]] = 0;
}
