#include "engine/hybrid/stage_rows.h"
#include "engine/hybrid/stage_costs.h"

#include "engine/cluster/cluster.h"
#include "engine/cluster/collectives.h"
#include "engine/cluster/mesh.h"
#include "engine/cost/step_tables.h"
#include "engine/cost/training.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/hybrid/hybrid_pins.h"
#include "engine/hybrid/sections.h"
#include "engine/pipeline/order.h"
#include "engine/pipeline/unroll.h"
#include "engine/problem/problem.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/union_find.h"

#include <math.h>
#include <string.h>

static const char MEMORY_FOR[] = "for the costs of stages";
static const double GB = 1e9;

/* Prices of memory, ms a GB. */
static const double prices[] = {0, 0.1, 1, 10, 1e4};
enum { PRICES = sizeof prices / sizeof *prices };

/* One kind of section. */
struct kind {
    uint32_t first, end; /* terms */
    uint32_t parts;
};

struct maker {
    struct stage_costs costs;
    const struct stage_tables *t;
    struct kind *kinds;
    uint32_t *part_of;   /* [local classes of all kinds, by kind_at - shared_count] */
    struct bill *spread; /* [spread_count] */
    label *sigmas;       /* [sigma_count][shared_count] */
    size_t sigma_count, sigma_room, sigma_limit;
    uint32_t sigmas_most, choices_most;
    bool is_ideal;
    bool is_merged;   /* an ideal row for each label of the batch, over all sigmas with it */
    uint8_t *is_free; /* [classes] whose labels a bill's least is taken over */
    bool *cut_short;
};

/* ---- kinds ---- */

static uint32_t local_count(const struct sections *s, uint32_t section)
{
    return s->local_base[section + 1] - s->local_base[section];
}

/* Local classes that a term or a clash joins are one part. `index` [classes]:
 * number of a local class of this section + 1. */
static void find_parts(struct maker *k, uint32_t kind, uint32_t *index)
{
    const struct sections *s = k->costs.s;
    const struct classes *c = &k->costs.p->classes;
    uint32_t section = s->kind_first[kind], count = local_count(s, section);
    const class_id *local = s->local + s->local_base[section];
    uint32_t *part = k->part_of + k->t->kind_at[kind] - s->shared_count;
    struct kind *d = &k->kinds[kind];

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

static int make_kinds(struct maker *k)
{
    const struct sections *s = k->costs.s;
    uint32_t *index = mem_try(k->costs.p->classes.count, sizeof *index);

    k->kinds = mem_try(s->kinds, sizeof *k->kinds);
    k->part_of = mem_try(k->t->row_size + 1, sizeof *k->part_of);
    k->spread = mem_try(s->spread_count, sizeof *k->spread);
    bool ok = index && k->kinds && k->part_of && k->spread;
    for (uint32_t kind = 0; kind < s->kinds && ok; kind++) {
        uint32_t section = s->kind_first[kind];
        size_t first = k->costs.bill_count;
        for (uint32_t n = s->op_base[section]; n < s->op_base[section + 1] && ok; n++)
            ok = bill_add_operation(&k->costs, first, s->op[n]);
        for (uint32_t n = s->value_base[section]; n < s->value_base[section + 1] && ok; n++)
            ok = bill_add_value(&k->costs, first, &s->values[n]);
        k->kinds[kind] = (struct kind){(uint32_t)first, (uint32_t)k->costs.bill_count, 0};
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
static bool is_open(const struct maker *k, const class_id *list, uint32_t count, uint32_t entry)
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
static void least_of(const struct maker *k, const struct bill *b, double out[static ROW_FIGURES])
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

/* ---- sigma ---- */

static bool clashes(const struct maker *k, class_id class, label a)
{
    const struct classes *c = &k->costs.p->classes;
    const struct class_info *info = &c->info[class];

    for (uint32_t m = info->meets; a && m < info->meets + info->meet_count; m++)
        if (k->costs.on[c->meets[m].other] & a)
            return true;
    return false;
}

/* Data and tensor parallelism: the batch over some axes, all else over all others or none. */
static bool is_plain(const struct maker *k, class_id class, label a)
{
    class_id batch = k->costs.s->order->steps.batch;
    label rest = (label)((k->costs.labels.count - 1) & ~k->costs.on[batch]);

    return !k->t->options.is_plain || class == batch || !a || a == rest;
}

/* Shared classes n .. are given all labels they can have; complete ones are
 * kept. False: no memory.
 */
static bool add_sigmas(struct maker *k, uint32_t n)
{
    const struct sections *s = k->costs.s;

    if (k->sigma_count >= k->sigma_limit) {
        *k->cut_short = true;
        return true;
    }
    if (n == s->shared_count) {
        size_t size = s->shared_count ? s->shared_count : 1;
        const struct stage_options *o = &k->t->options;
        label batch = k->costs.on[s->order->steps.batch];
        uint32_t dp = k->costs.labels.parts[batch], tp = k->costs.shape->mesh.devices / dp;
        if ((o->dp && dp != o->dp) || (o->tp && tp != o->tp))
            return true;
        if (!mem_grow(&k->sigmas, &k->sigma_room, k->sigma_count * size, size))
            return false;
        for (uint32_t m = 0; m < s->shared_count; m++)
            k->sigmas[k->sigma_count * size + m] = k->costs.on[s->shared[m]];
        k->sigma_count++;
        return true;
    }
    bool ok = true;
    for (uint32_t a = k->costs.labels.count;
         a-- > 0 && ok;) { /* split first: what is cut short has it */
        if (!label_is_admissible(&k->costs.labels, s->shared[n], (label)a) ||
            clashes(k, s->shared[n], (label)a) || !is_plain(k, s->shared[n], (label)a))
            continue;
        k->costs.on[s->shared[n]] = (label)a;
        if (!n)
            k->sigma_limit = k->sigma_count + k->sigmas_most / k->costs.labels.count;
        ok = add_sigmas(k, n + 1);
        k->costs.on[s->shared[n]] = 0;
    }
    return ok;
}

/* ---- local labels ---- */

/* The best of one part at each price, and the least of every figure. */
struct choice {
    double value[PRICES];
    double figure[PRICES][ROW_FIGURES];
    label labels[PRICES][BILL_CLASSES_MOST];
    double least[ROW_FIGURES];
};

struct part {
    uint32_t kind, number, count;
    class_id class[BILL_CLASSES_MOST];
    uint32_t place[BILL_CLASSES_MOST]; /* in the kind's list */
    struct choice *out;
    uint64_t tried;
    bool is_cut_short;
};

static void add_figures(double *to, const double *from)
{
    for (int f = 0; f < ROW_SUMMED; f++)
        to[f] += from[f];
    to[ROW_WORKING] = fmax(to[ROW_WORKING], from[ROW_WORKING]);
}

static void look_at(struct maker *k, struct part *p)
{
    double figure[ROW_FIGURES] = {0};
    const struct kind *d = &k->kinds[p->kind];
    double overlap = k->t->options.overlap;

    for (uint32_t t = d->first; t < d->end; t++)
        if (k->costs.bills[t].part == p->number)
            add_figures(figure, bill_at(&k->costs, &k->costs.bills[t]));
    figure[ROW_BOTH] = figure[ROW_FORWARD] + figure[ROW_BACKWARD];
    double ms = k->t->options.micro_batches * figure[ROW_BOTH] + (1 - overlap) * figure[ROW_SUMS] +
                figure[ROW_ONCE];
    double bytes = figure[ROW_FIXED] + 4 * figure[ROW_KEPT];
    for (int f = 0; f < ROW_FIGURES; f++)
        p->out->least[f] = fmin(p->out->least[f], figure[f]);
    for (int n = 0; n < PRICES; n++) {
        double value = ms + prices[n] * bytes / GB;
        if (!(value < p->out->value[n]))
            continue;
        p->out->value[n] = value;
        memcpy(p->out->figure[n], figure, sizeof figure);
        for (uint32_t c = 0; c < p->count; c++)
            p->out->labels[n][c] = k->costs.on[p->class[c]];
    }
}

static void try_labels(struct maker *k, struct part *p, uint32_t n)
{
    if (n == p->count) {
        if (p->tried++ < k->choices_most)
            look_at(k, p);
        else
            *k->cut_short = p->is_cut_short = true;
        return;
    }
    for (uint32_t a = k->costs.labels.count; a-- > 0;) {
        if (!label_is_admissible(&k->costs.labels, p->class[n], (label)a) ||
            clashes(k, p->class[n], (label)a) || !is_plain(k, p->class[n], (label)a))
            continue;
        k->costs.on[p->class[n]] = (label)a;
        try_labels(k, p, n + 1);
        k->costs.on[p->class[n]] = 0;
        if (p->tried > k->choices_most)
            return;
    }
}

/* ---- rows ---- */

static bool add_row(struct rows *r, const struct stage_tables *t)
{
    size_t n = r->count, kinds = t->sections->kinds;

    return mem_grow(&r->figure, &r->figure_room, n * kinds * ROW_FIGURES, kinds * ROW_FIGURES) &&
           mem_grow(&r->labels, &r->label_room, n * t->row_size, t->row_size + 1) &&
           mem_grow(&r->sigma, &r->sigma_room, n, 1) &&
           mem_grow(&r->gather, &r->gather_room, n, 1) &&
           mem_grow(&r->gather_latency, &r->latency_room, n, 1) &&
           mem_grow(&r->reduce_latency, &r->reduce_room, n, 1);
}

/* So many more rows with the labels of the shared classes in k->costs.on, nothing priced yet. */
static bool begin_rows(const struct maker *k, struct rows *r, uint32_t sigma, uint32_t rows)
{
    const struct sections *s = k->costs.s;
    size_t size = (size_t)s->kinds * ROW_FIGURES;
    struct row_rates rates = stage_costs_rates(&k->costs);

    for (uint32_t n = 0; n < rows; n++) {
        if (!add_row(r, k->t))
            return false;
        uint32_t row = r->count++;
        memset(r->figure + row * size, 0, size * sizeof *r->figure);
        memset(r->labels + (size_t)row * k->t->row_size, 0, k->t->row_size);
        for (uint32_t m = 0; m < s->shared_count; m++)
            r->labels[(size_t)row * k->t->row_size + m] = k->costs.on[s->shared[m]];
        r->sigma[row] = sigma;
        r->gather[row] = rates.gather;
        r->gather_latency[row] = rates.gather_latency;
        r->reduce_latency[row] = rates.reduce_latency;
    }
    return true;
}

/* The best labels of one part of a section, at each price. */
static void choose_part(struct maker *k, struct part *p)
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
    for (int n = 0; n < PRICES; n++)
        p->out->value[n] = INFINITY;
    for (int f = 0; f < ROW_FIGURES; f++)
        p->out->least[f] = INFINITY;
    try_labels(k, p, 0);
}

/* The least of a part of which not all labellings were looked at: of each of its bills alone. */
static void least_of_part(struct maker *k, const struct part *p, double out[static ROW_FIGURES])
{
    const struct sections *s = k->costs.s;
    const struct kind *d = &k->kinds[p->kind];
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
        least_of(k, &k->costs.bills[t], least);
        add_figures(out, least);
    }
    for (uint32_t c = 0; c < local_count(s, section); c++)
        k->is_free[local[c]] = 0;
}

/* The figures of a bill over shared classes alone. */
static void figures_of(const struct maker *k, const struct bill *b, double out[static ROW_FIGURES])
{
    if (k->is_merged) {
        least_of(k, b, out);
        return;
    }
    memcpy(out, bill_at(&k->costs, b), ROW_FIGURES * sizeof *out);
    out[ROW_BOTH] = out[ROW_FORWARD] + out[ROW_BACKWARD];
}

/* Prices one kind of section in the rows from `first` on. */
static void price_kind(struct maker *k, struct rows *r, uint32_t first, bool is_ideal,
                       uint32_t kind, struct choice *choice)
{
    size_t size = (size_t)k->costs.s->kinds * ROW_FIGURES;
    const struct kind *d = &k->kinds[kind];
    double base[ROW_FIGURES] = {0};

    for (uint32_t t = d->first; t < d->end; t++) {
        double own[ROW_FIGURES];
        if (k->costs.bills[t].part != UINT32_MAX)
            continue;
        figures_of(k, &k->costs.bills[t], own);
        add_figures(base, own);
    }
    for (uint32_t row = first; row < r->count; row++)
        memcpy(r->figure + row * size + (size_t)kind * ROW_FIGURES, base, sizeof base);
    for (uint32_t number = 0; number < d->parts; number++) {
        struct part p = {.kind = kind, .number = number, .out = choice};
        if (!k->is_merged)
            choose_part(k, &p);
        if (is_ideal && (k->is_merged || p.is_cut_short))
            least_of_part(k, &p, choice->least);
        for (uint32_t row = first; row < r->count; row++) {
            double *to = r->figure + row * size + (size_t)kind * ROW_FIGURES;
            uint8_t *labels = r->labels + (size_t)row * k->t->row_size + k->t->kind_at[kind];
            add_figures(to, is_ideal ? choice->least : choice->figure[row - first]);
            for (uint32_t c = 0; c < p.count && !is_ideal; c++)
                labels[p.place[c]] = choice->labels[row - first][c];
        }
    }
}

/* At neighbouring prices the choice is often the same: one of equal neighbours stays. */
static void drop_equal_rows(const struct maker *k, struct rows *r, uint32_t first)
{
    size_t size = (size_t)k->costs.s->kinds * ROW_FIGURES, labels = k->t->row_size;
    uint32_t kept = first;

    for (uint32_t row = first + 1; row < r->count; row++) {
        if (!memcmp(r->labels + row * labels, r->labels + kept * labels, labels))
            continue;
        kept++;
        memmove(r->figure + kept * size, r->figure + row * size, size * sizeof *r->figure);
        memmove(r->labels + kept * labels, r->labels + row * labels, labels);
    }
    r->count = kept + 1;
}

/* One row for each price (or one ideal row) under the sigma that stands in k->costs.on. */
static bool add_sigma_rows(struct maker *k, struct rows *r, uint32_t sigma, bool is_ideal,
                           struct choice *choice)
{
    uint32_t first = r->count;

    if (!begin_rows(k, r, sigma, is_ideal ? 1 : PRICES))
        return false;
    for (uint32_t kind = 0; kind < k->costs.s->kinds; kind++)
        price_kind(k, r, first, is_ideal, kind, choice);
    drop_equal_rows(k, r, first);
    return true;
}

static bool price_spread(struct maker *k, struct rows *r, uint32_t sigma)
{
    const struct sections *s = k->costs.s;
    size_t size = (size_t)s->spread_count * ROW_SUMMED;

    if (!mem_grow(&r->spread, &r->spread_room, r->spread_sets * size, size + 1))
        return false;
    for (uint32_t n = 0; n < s->spread_count; n++) {
        double *to = r->spread + r->spread_sets * size + (size_t)n * ROW_SUMMED;
        double own[ROW_FIGURES];
        figures_of(k, &k->spread[n], own);
        memcpy(to, own, ROW_SUMMED * sizeof *to);
    }
    r->spread_at[sigma] = r->spread_sets++;
    return true;
}

/* ---- rows that another beats ---- */

struct ranking {
    const struct rows *r;
    const struct sections *s;
    uint32_t batch; /* its place among the labels; UINT32_MAX: rows of all parts are compared */
    uint32_t row_size;
    double *total; /* [count] */
};

static bool beats(const struct ranking *x, uint32_t a, uint32_t b)
{
    const struct rows *r = x->r;
    size_t size = (size_t)x->s->kinds * ROW_FIGURES;
    const double *p = r->figure + a * size, *q = r->figure + b * size;
    const double slack = 1 + 1e-12;

    if (x->batch < x->row_size && r->labels[(size_t)a * x->row_size + x->batch] !=
                                      r->labels[(size_t)b * x->row_size + x->batch])
        return false;
    if (r->gather[a] > r->gather[b] * slack || r->gather_latency[a] > r->gather_latency[b] ||
        r->reduce_latency[a] > r->reduce_latency[b])
        return false;
    for (size_t n = 0; n < size; n++) {
        size_t f = n % ROW_FIGURES;
        if (f == ROW_BACKWARD) /* forward and both say it */
            continue;
        if (f == ROW_ONCE) { /* sums and the rest together, whatever is hidden */
            if (p[n] + p[n - 1] > (q[n] + q[n - 1]) * slack)
                return false;
            continue;
        }
        if (p[n] > q[n] * slack)
            return false;
    }
    if (r->sigma[a] == r->sigma[b])
        return true;
    size = (size_t)x->s->spread_count * ROW_SUMMED;
    p = r->spread + r->spread_at[r->sigma[a]] * size;
    q = r->spread + r->spread_at[r->sigma[b]] * size;
    for (size_t n = 0; n < size; n++)
        if (p[n] > q[n] * slack)
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
static bool drop_beaten(const struct maker *k, struct rows *r)
{
    const struct sections *s = k->costs.s;
    size_t size = (size_t)s->kinds * ROW_FIGURES, labels = k->t->row_size;
    struct ranking x = {.r = r, .s = s, .batch = UINT32_MAX, .row_size = k->t->row_size};
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
        r->gather[at] = r->gather[n];
        r->gather_latency[at] = r->gather_latency[n];
        r->reduce_latency[at] = r->reduce_latency[n];
        at++;
    }
    r->count = at;
    free(list);
    free(kept);
    free(stays);
    return true;
}

/* ---- the whole ---- */

/* Where there are more sigmas than are looked at, ideal rows are made of the labels of the batch
 * alone: below every sigma, for they take the least over all of them. */
static bool merge_sigmas(struct maker *k)
{
    const struct sections *s = k->costs.s;
    class_id batch = s->order->steps.batch;
    size_t size = s->shared_count;
    bool is_cut_short = false, *own = k->cut_short, ok = true;

    k->cut_short = &is_cut_short;
    ok = add_sigmas(k, 0);
    k->cut_short = own;
    if (!ok || !is_cut_short || !k->is_ideal) {
        *own |= is_cut_short;
        return ok;
    }
    k->is_merged = true;
    k->sigma_count = 0;
    for (uint32_t n = 0; n < s->shared_count; n++)
        k->is_free[s->shared[n]] = s->shared[n] != batch;
    for (uint32_t a = 0; a < k->costs.labels.count && ok; a++) {
        const struct stage_options *o = &k->t->options;
        uint32_t dp = k->costs.labels.parts[a], tp = k->costs.shape->mesh.devices / dp;
        if (!label_is_admissible(&k->costs.labels, batch, (label)a) || (o->dp && dp != o->dp) ||
            (o->tp && tp != o->tp) || (a && s->shared[0] != batch))
            continue;
        ok = mem_grow(&k->sigmas, &k->sigma_room, k->sigma_count * size, size);
        for (uint32_t m = 0; m < s->shared_count && ok; m++)
            k->sigmas[k->sigma_count * size + m] = s->shared[m] == batch ? (label)a : 0;
        k->sigma_count += ok;
    }
    return ok;
}

static int fill_rows(struct maker *k, struct rows *r, bool is_ideal)
{
    const struct sections *s = k->costs.s;
    struct choice *choice = mem_try(1, sizeof *choice);
    k->sigma_limit = k->sigmas_most;
    bool ok = choice && merge_sigmas(k);

    r->sigmas = (uint32_t)k->sigma_count;
    r->spread_at = mem_try(k->sigma_count, sizeof *r->spread_at);
    ok = ok && r->spread_at;
    for (uint32_t n = 0; n < k->sigma_count && ok; n++) {
        const struct stage_options *o = &k->t->options;
        if (o->stop && atomic_load_explicit(o->stop, memory_order_relaxed))
            break;
        for (uint32_t m = 0; m < s->shared_count; m++)
            k->costs.on[s->shared[m]] = k->sigmas[(size_t)n * s->shared_count + m];
        ok = price_spread(k, r, n) && add_sigma_rows(k, r, n, is_ideal, choice);
        for (uint32_t m = 0; m < s->shared_count; m++)
            k->costs.on[s->shared[m]] = 0;
    }
    ok = ok && drop_beaten(k, r);
    free(choice);
    return ok ? 0 : err_no_memory(k->costs.e, MEMORY_FOR);
}

int rows_new(const struct stage_tables *t, const struct stage_shape *shape, bool is_ideal,
             struct rows *out, bool *cut_short, struct err *e)
{
    struct maker k = {
        .t = t,
        .cut_short = cut_short,
        .is_ideal = is_ideal,
        .sigmas_most = t->options.sigmas_most ? t->options.sigmas_most : STAGE_SIGMAS_MOST,
        .choices_most = t->options.choices_most ? t->options.choices_most : STAGE_CHOICES_MOST};
    struct rows r = {0};
    int rc = stage_costs_new(t, shape, &k.costs, e);

    if (rc)
        return rc;
    k.is_free = mem_try((size_t)k.costs.p->classes.count + 1, 1);
    rc = k.is_free ? make_kinds(&k) : err_no_memory(e, MEMORY_FOR);
    if (!rc)
        rc = fill_rows(&k, &r, is_ideal);
    stage_costs_release(&k.costs);
    free(k.kinds);
    free(k.part_of);
    free(k.spread);
    free(k.sigmas);
    free(k.is_free);
    if (rc)
        rows_release(&r);
    else
        *out = r;
    return rc;
}

static bool is_used(const struct sections *s, const struct section_spread *x, uint32_t i,
                    uint32_t j)
{
    for (uint32_t n = 0; n < x->section_count; n++)
        if (s->spread_pool[x->sections + n] >= i && s->spread_pool[x->sections + n] < j)
            return true;
    return false;
}

int rows_price(const struct stage_tables *t, const struct stage_shape *shape, const label *on,
               uint32_t i, uint32_t j, struct row_sum *out, struct err *e)
{
    const struct sections *s = t->sections;
    double *figure = out->figure;
    struct stage_costs k;
    int rc = stage_costs_new(t, shape, &k, e);

    if (rc)
        return rc;
    memcpy(k.on, on, s->problem->classes.count * sizeof *on);
    *out = (struct row_sum){0};
    for (uint32_t m = i; m < j; m++) {
        double before = figure[ROW_KEPT];
        for (uint32_t n = s->op_base[m]; n < s->op_base[m + 1]; n++) {
            double ms[COSTS];
            stage_costs_operation(&k, s->op[n], ms);
            figure[stage_costs_figure[s->pass[s->op[n]]]] += ms[COST_IN_PASS];
            out->collective[s->pass[s->op[n]]] += ms[COST_COLLECTIVE];
            if (stage_costs_runs_again(&k, s->op[n])) {
                figure[ROW_BACKWARD] += ms[COST_IN_PASS];
                out->collective[SECTION_BACKWARD] += ms[COST_COLLECTIVE];
            }
            figure[ROW_SUMS] += ms[COST_AT_END];
        }
        for (uint32_t n = s->value_base[m]; n < s->value_base[m + 1]; n++)
            stage_costs_value(&k, &s->values[n], figure);
        out->section_kept = fmax(out->section_kept, figure[ROW_KEPT] - before);
    }
    for (uint32_t n = 0; n < s->spread_count; n++)
        if (is_used(s, &s->spread[n], i, j))
            stage_costs_value(&k, &(struct section_value){s->spread[n].value, s->spread[n].use},
                              figure);
    figure[ROW_BOTH] = figure[ROW_FORWARD] + figure[ROW_BACKWARD];
    out->rates = stage_costs_rates(&k);
    stage_costs_release(&k);
    return 0;
}

void rows_release(struct rows *r)
{
    free(r->figure);
    free(r->labels);
    free(r->sigma);
    free(r->spread);
    free(r->spread_at);
    free(r->gather);
    free(r->gather_latency);
    free(r->reduce_latency);
    memset(r, 0, sizeof *r);
}
