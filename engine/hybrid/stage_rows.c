#include "engine/hybrid/stage_rows.h"

#include "engine/cluster/cluster.h"
#include "engine/cluster/collectives.h"
#include "engine/cluster/mesh.h"
#include "engine/cost/step_tables.h"
#include "engine/cost/training.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/hybrid/sections.h"
#include "engine/pipeline/order.h"
#include "engine/pipeline/unroll.h"
#include "engine/problem/problem.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <string.h>

static const char MEMORY_FOR[] = "for the costs of stages";
static const double GB = 1e9;

/* Prices of memory, ms a GB. */
static const double prices[] = {0, 0.1, 1, 10, 1e4};
enum { PRICES = sizeof prices / sizeof *prices, LIST_MOST = 2 * TERM_CLASSES_MOST };

/* Figures as a function of who owns each axis, of a few classes: entry = sum over axes x of
 * owner(x) (count + 1)^x, owner 0 nobody (step_tables.h). */
struct bill {
    uint32_t classes, count; /* into pool */
    uint32_t table;          /* into figures, [entries][ROW_FIGURES] */
    uint32_t entries;
    uint32_t part; /* local classes that hang together it has; UINT32_MAX: none */
};

/* One kind of section. */
struct kind {
    uint32_t first, end; /* terms */
    uint32_t parts;
};

struct maker {
    const struct sections *s;
    const struct problem *p;
    const struct stage_tables *t;
    const struct stage_shape *shape;
    struct err *e;
    struct labels labels;
    struct step_tables costs;
    label *on; /* [classes] */
    struct bill *terms;
    class_id *pool;
    double *figures;
    size_t term_count, term_room, pool_count, pool_room, figure_count, figure_room;
    struct kind *kinds;
    uint32_t *part_of;   /* [local classes of all kinds, by kind_at - shared_count] */
    struct bill *spread; /* [spread_count] */
    /* costs of operations that cost alike */
    struct pattern {
        uint64_t hash[2];
        size_t at; /* into costs_of: [entries][3] */
    } * patterns;
    uint32_t *slots;
    double *costs_of;
    size_t pattern_count, pattern_room, slot_count, cost_count, cost_room;
    label *sigmas; /* [sigma_count][shared_count] */
    size_t sigma_count, sigma_room;
    bool *cut_short;
    uint64_t choices;
};

/* ---- terms ---- */

static uint32_t power(uint32_t base, uint32_t exponent)
{
    return exponent ? base * power(base, exponent - 1) : 1;
}

static bool is_admissible(const struct maker *k, class_id class, label a)
{
    return label_is_admissible(&k->labels, class, a);
}

/* Gives the classes of a list the axes of an entry. False when some label cannot be. */
static bool set_entry(const struct maker *k, const class_id *list, uint32_t count, uint32_t entry)
{
    bool ok = true;

    for (uint32_t n = 0; n < count; n++)
        k->on[list[n]] = 0;
    for (uint32_t x = 0; x < k->labels.axes; x++, entry /= count + 1)
        if (entry % (count + 1))
            k->on[list[entry % (count + 1) - 1]] |= (label)(1u << x);
    for (uint32_t n = 0; n < count; n++)
        ok &= is_admissible(k, list[n], k->on[list[n]]);
    return ok;
}

static void clear(const struct maker *k, const class_id *list, uint32_t count)
{
    for (uint32_t n = 0; n < count; n++)
        k->on[list[n]] = 0;
}

static const double *term_at(const struct maker *k, const struct bill *t)
{
    uint32_t entry = 0, weight = 1;
    const class_id *list = k->pool + t->classes;

    for (uint32_t x = 0; x < k->labels.axes; x++, weight *= t->count + 1)
        for (uint32_t n = 0; n < t->count; n++)
            if (k->on[list[n]] >> x & 1)
                entry += (n + 1) * weight;
    return k->figures + t->table + (size_t)entry * ROW_FIGURES;
}

/* The term over this list, in this order, among those from `first` on; a new one of zeros. NULL: no
 * memory. */
static struct bill *find_term(struct maker *k, size_t first, const class_id *list, uint32_t count)
{
    uint32_t entries = power(count + 1, k->labels.axes);
    size_t size = (size_t)entries * ROW_FIGURES;

    for (size_t n = first; n < k->term_count; n++) {
        struct bill *t = &k->terms[n];
        if (t->count == count && !memcmp(k->pool + t->classes, list, count * sizeof *list))
            return t;
    }
    if (!mem_grow(&k->terms, &k->term_room, k->term_count, 1) ||
        !mem_grow(&k->pool, &k->pool_room, k->pool_count, count + 1) ||
        !mem_grow(&k->figures, &k->figure_room, k->figure_count, size))
        return NULL;
    struct bill *t = &k->terms[k->term_count++];
    *t = (struct bill){(uint32_t)k->pool_count, count, (uint32_t)k->figure_count, entries,
                       UINT32_MAX};
    if (count)
        memcpy(k->pool + k->pool_count, list, count * sizeof *list);
    memset(k->figures + k->figure_count, 0, size * sizeof *k->figures);
    k->pool_count += count;
    k->figure_count += size;
    return t;
}

/* ---- operations ---- */

/* Milliseconds of one operation: in its pass, of reductions that wait for the last, by entry. */
enum { IN_PASS, AT_END, COSTS };

static void price_operation(struct maker *k, uint32_t n, double *out)
{
    const struct unroll_op *op = &k->s->order->steps.ops[n];
    const struct classes *c = &k->p->classes;
    struct instruction_cost cost = step_tables_instruction(&k->costs, op->id, k->on);
    struct reduction list[TERM_CLASSES_MOST];
    uint32_t count = step_tables_reductions(&k->costs, op->id, k->on, list);
    bool waits = true, is_gradient = true;

    for (uint32_t v = c->m->leaf_base[op->id]; v < c->m->leaf_base[op->id + 1]; v++)
        waits &= k->p->training.waits[v];
    for (uint32_t v = op->values; v < op->values + op->value_count; v++)
        is_gradient &= k->s->gradient[v] == ORDER_VARIABLE;
    out[IN_PASS] = cost.times > 0 ? cost.compute_ms / cost.times * op->times : 0;
    out[AT_END] = 0;
    for (uint32_t r = 0; r < count; r++) {
        double ms = list[r].ms * op->times;
        if (!waits || list[r].kind != COLLECTIVE_ALL_REDUCE)
            out[IN_PASS] += ms;
        else if (!(op->is_backward && is_gradient))
            out[AT_END] += ms; /* a variable's gradients are reduced together: price_variable */
    }
}

static bool grow_slots(struct maker *k)
{
    size_t count = k->slot_count ? 2 * k->slot_count : 1024;
    uint32_t *slots = mem_try(count, sizeof *slots);

    if (!slots)
        return false;
    for (size_t n = 0; n < k->pattern_count; n++) {
        size_t at = k->patterns[n].hash[0] & (count - 1);
        while (slots[at])
            at = (at + 1) & (count - 1);
        slots[at] = (uint32_t)n + 1;
    }
    free(k->slots);
    k->slots = slots;
    k->slot_count = count;
    return true;
}

/* Costs of operation n by entry; worked out for the first of those alike. NULL: no memory. */
static const double *operation_costs(struct maker *k, uint32_t n, const class_id *list,
                                     uint32_t count, const uint64_t hash[2])
{
    uint32_t entries = power(count + 1, k->labels.axes);

    if (2 * k->pattern_count >= k->slot_count && !grow_slots(k))
        return NULL;
    size_t at = hash[0] & (k->slot_count - 1);
    for (; k->slots[at]; at = (at + 1) & (k->slot_count - 1)) {
        const struct pattern *p = &k->patterns[k->slots[at] - 1];
        if (p->hash[0] == hash[0] && p->hash[1] == hash[1])
            return k->costs_of + p->at;
    }
    if (!mem_grow(&k->patterns, &k->pattern_room, k->pattern_count, 1) ||
        !mem_grow(&k->costs_of, &k->cost_room, k->cost_count, (size_t)entries * COSTS))
        return NULL;
    double *out = k->costs_of + k->cost_count;
    for (uint32_t e = 0; e < entries; e++) {
        out[e * COSTS + IN_PASS] = INFINITY;
        out[e * COSTS + AT_END] = 0;
        if (set_entry(k, list, count, e))
            price_operation(k, n, out + (size_t)e * COSTS);
    }
    clear(k, list, count);
    k->patterns[k->pattern_count++] = (struct pattern){{hash[0], hash[1]}, k->cost_count};
    k->cost_count += (size_t)entries * COSTS;
    k->slots[at] = (uint32_t)k->pattern_count;
    return out;
}

static bool add_operation(struct maker *k, size_t first, uint32_t n)
{
    static const uint8_t figure_of[SECTION_PASSES] = {ROW_FORWARD, ROW_BACKWARD, ROW_ONCE};
    class_id list[TERM_CLASSES_MOST];
    uint64_t hash[2];
    uint32_t count = sections_pattern(k->s, n, list, hash);
    const double *costs = operation_costs(k, n, list, count, hash);
    struct bill *t = costs ? find_term(k, first, list, count) : NULL;

    if (!t)
        return false;
    for (uint32_t e = 0; e < t->entries; e++) {
        double *to = k->figures + t->table + (size_t)e * ROW_FIGURES;
        to[figure_of[k->s->pass[n]]] += costs[e * COSTS + IN_PASS];
        to[ROW_SUMS] += costs[e * COSTS + AT_END];
    }
    return true;
}

/* ---- values ---- */

static void add_class(const struct maker *k, class_id class, class_id *list, uint32_t *count)
{
    if (class == CLASS_NONE || k->p->classes.info[class].reason != CLASS_ALLOWED)
        return;
    for (uint32_t n = 0; n < *count; n++)
        if (list[n] == class)
            return;
    if (*count < LIST_MOST)
        list[(*count)++] = class;
}

static double local_bytes(const struct maker *k, const struct unroll_value *v)
{
    const struct classes *c = &k->p->classes;
    double bytes = v->bytes;

    for (dim_id d = c->dim_base[v->value]; d < c->dim_base[v->value + 1]; d++)
        if (c->class_of[d] != CLASS_NONE)
            bytes *= label_share(&k->labels, c->class_of[d], k->on[c->class_of[d]]);
    return bytes;
}

static void price_variable(const struct maker *k, const struct unroll_value *v, double *to)
{
    const struct problem *p = k->p;
    const struct hlo_param_role *r = &p->roles.params[v->param];
    double whole = (double)hlo_value_shape(p->m, r->value)->bytes;
    double local = local_bytes(k, v), part = whole > 0 ? v->bytes / whole : 0;
    double share = v->bytes > 0 ? local / v->bytes : 0, waits = k->t->options.micro_batches - 1;
    uint8_t zero = k->t->options.zero;
    label over = training_axes(&p->training, v->param, k->on);
    double piece = training_piece(&p->training, &k->labels, k->on, r->value, over);

    if (r->role != HLO_ROLE_VARIABLE) {
        to[ROW_FIXED] += local;
        return;
    }
    double gradient =
        part * share *
        (r->gradient != HLO_NONE ? (double)hlo_value_shape(p->m, r->gradient)->bytes : whole);
    double state = k->s->state_bytes[v->param] * part * share;
    const struct mesh_span *span = &k->shape->mesh.span[over];
    double gather = span->gather_inside + span->gather_across; /* ms per byte */
    to[ROW_FIXED] += local * (zero >= 3 ? piece : 1) + gradient * (zero >= 2 ? piece : 1) +
                     state * (zero >= 1 ? piece : 1);
    to[ROW_SUMS] += 2 * gather * gradient;
    to[ROW_ONCE] += (2 * local + gradient + 2 * state) / cluster_bandwidth(&k->costs.device) * 1e3;
    double M = waits + 1;
    if (zero >= 2 && piece < 1)
        to[ROW_BACKWARD] += waits / M * gather * gradient;
    if (zero >= 3 && piece < 1) { /* 2 M - 1 gathers in place of the update's one */
        to[ROW_FORWARD] += gather * local;
        to[ROW_BACKWARD] += waits / M * gather * local;
    }
}

static bool add_value(struct maker *k, size_t first, const struct section_value *v)
{
    static const uint8_t figure_of[SECTION_USES] = {[SECTION_KEPT] = ROW_KEPT,
                                                    [SECTION_FIXED] = ROW_FIXED,
                                                    [SECTION_WORKING] = ROW_WORKING,
                                                    [SECTION_INPUT] = ROW_INPUT};
    const struct classes *c = &k->p->classes;
    const struct unroll_value *value = &k->s->order->steps.values[v->value];
    class_id list[LIST_MOST];
    uint32_t count = 0;

    for (dim_id d = c->dim_base[value->value]; d < c->dim_base[value->value + 1]; d++)
        add_class(k, c->class_of[d], list, &count);
    if (v->use == SECTION_VARIABLE) {
        const struct training_variable *t = &k->p->training.variables[value->param];
        for (uint32_t r = 0; r < t->reduced_count; r++)
            add_class(k, t->reduced[r], list, &count);
    }
    struct bill *t = find_term(k, first, list, count);
    if (!t)
        return false;
    for (uint32_t e = 0; e < t->entries; e++) {
        double *to = k->figures + t->table + (size_t)e * ROW_FIGURES;
        if (!set_entry(k, list, count, e))
            continue;
        if (v->use == SECTION_VARIABLE)
            price_variable(k, value, to);
        else if (v->use == SECTION_WORKING)
            to[ROW_WORKING] = fmax(to[ROW_WORKING], local_bytes(k, value));
        else
            to[figure_of[v->use]] += local_bytes(k, value);
    }
    clear(k, list, count);
    return true;
}

/* ---- kinds ---- */

static uint32_t local_count(const struct sections *s, uint32_t section)
{
    return s->local_base[section + 1] - s->local_base[section];
}

static uint32_t root_of(uint32_t *parent, uint32_t n)
{
    while (parent[n] != n)
        n = parent[n] = parent[parent[n]];
    return n;
}

/* Local classes that a term or a clash joins are one part. `index` [classes]: number of a local
 * class of this section + 1. */
static void find_parts(struct maker *k, uint32_t kind, uint32_t *index)
{
    const struct sections *s = k->s;
    const struct classes *c = &k->p->classes;
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
        for (uint32_t n = 0; n < k->terms[t].count; n++) {
            uint32_t own = index[k->pool[k->terms[t].classes + n]];
            if (own && before != UINT32_MAX)
                part[root_of(part, own - 1)] = root_of(part, before);
            if (own)
                before = own - 1;
        }
    }
    for (uint32_t n = 0; n < count; n++) {
        const struct class_info *info = &c->info[local[n]];
        for (uint32_t m = info->meets; m < info->meets + info->meet_count; m++)
            if (index[c->meets[m].other])
                part[root_of(part, n)] = root_of(part, index[c->meets[m].other] - 1);
    }
    /* roots, then numbers: a root's number is kept in index while roots are looked up */
    uint32_t *number = mem_alloc((count + 1) * sizeof *number);
    for (uint32_t n = 0; n < count; n++)
        number[n] = root_of(part, n);
    for (uint32_t n = 0; n < count; n++) {
        if (number[n] == n)
            part[n] = d->parts++;
    }
    for (uint32_t n = 0; n < count; n++)
        if (number[n] != n)
            part[n] = part[number[n]];
    free(number);
    for (uint32_t t = d->first; t < d->end; t++)
        for (uint32_t n = 0; n < k->terms[t].count; n++) {
            uint32_t own = index[k->pool[k->terms[t].classes + n]];
            if (own)
                k->terms[t].part = part[own - 1];
        }
    for (uint32_t n = 0; n < count; n++)
        index[local[n]] = 0;
}

static int make_kinds(struct maker *k)
{
    const struct sections *s = k->s;
    uint32_t *index = mem_try(k->p->classes.count, sizeof *index);

    k->kinds = mem_try(s->kinds, sizeof *k->kinds);
    k->part_of = mem_try(k->t->row_size + 1, sizeof *k->part_of);
    k->spread = mem_try(s->spread_count, sizeof *k->spread);
    bool ok = index && k->kinds && k->part_of && k->spread;
    for (uint32_t kind = 0; kind < s->kinds && ok; kind++) {
        uint32_t section = s->kind_first[kind];
        size_t first = k->term_count;
        for (uint32_t n = s->op_base[section]; n < s->op_base[section + 1] && ok; n++)
            ok = add_operation(k, first, s->op[n]);
        for (uint32_t n = s->value_base[section]; n < s->value_base[section + 1] && ok; n++)
            ok = add_value(k, first, &s->values[n]);
        k->kinds[kind] = (struct kind){(uint32_t)first, (uint32_t)k->term_count, 0};
        if (ok)
            find_parts(k, kind, index);
    }
    for (uint32_t n = 0; n < s->spread_count && ok; n++) {
        struct section_value v = {s->spread[n].value, s->spread[n].use};
        size_t first = k->term_count; /* a term of its own */
        ok = add_value(k, first, &v);
        if (ok)
            k->spread[n] = k->terms[first];
    }
    free(index);
    return ok ? 0 : err_no_memory(k->e, MEMORY_FOR);
}

/* ---- sigma ---- */

static bool clashes(const struct maker *k, class_id class, label a)
{
    const struct classes *c = &k->p->classes;
    const struct class_info *info = &c->info[class];

    for (uint32_t m = info->meets; a && m < info->meets + info->meet_count; m++)
        if (k->on[c->meets[m].other] & a)
            return true;
    return false;
}

/* Shared classes n .. are given all labels they can have; complete ones are kept. False: no memory.
 */
static bool add_sigmas(struct maker *k, uint32_t n)
{
    const struct sections *s = k->s;

    if (k->sigma_count >= STAGE_SIGMAS_MOST) {
        *k->cut_short = true;
        return true;
    }
    if (n == s->shared_count) {
        size_t size = s->shared_count ? s->shared_count : 1;
        const struct stage_options *o = &k->t->options;
        label batch = k->on[s->order->steps.batch];
        uint32_t dp = k->labels.parts[batch], tp = k->shape->mesh.devices / dp;
        if ((o->dp && dp != o->dp) || (o->tp_most && tp > o->tp_most))
            return true;
        if (!mem_grow(&k->sigmas, &k->sigma_room, k->sigma_count * size, size))
            return false;
        for (uint32_t m = 0; m < s->shared_count; m++)
            k->sigmas[k->sigma_count * size + m] = k->on[s->shared[m]];
        k->sigma_count++;
        return true;
    }
    bool ok = true;
    for (uint32_t a = k->labels.count; a-- > 0 && ok;) { /* split first: what is cut short has it */
        if (!is_admissible(k, s->shared[n], (label)a) || clashes(k, s->shared[n], (label)a))
            continue;
        k->on[s->shared[n]] = (label)a;
        ok = add_sigmas(k, n + 1);
        k->on[s->shared[n]] = 0;
    }
    return ok;
}

/* ---- local labels ---- */

/* The best of one part at each price, and the least of every figure. */
struct choice {
    double value[PRICES];
    double figure[PRICES][ROW_FIGURES];
    label labels[PRICES][LIST_MOST];
    double least[ROW_FIGURES];
};

struct part {
    uint32_t kind, number, count;
    class_id class[LIST_MOST];
    uint32_t place[LIST_MOST]; /* in the kind's list */
    struct choice *out;
    uint64_t tried;
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
        if (k->terms[t].part == p->number)
            add_figures(figure, term_at(k, &k->terms[t]));
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
            p->out->labels[n][c] = k->on[p->class[c]];
    }
}

static void try_labels(struct maker *k, struct part *p, uint32_t n)
{
    if (n == p->count) {
        if (p->tried++ < STAGE_CHOICES_MOST)
            look_at(k, p);
        else
            *k->cut_short = true;
        return;
    }
    for (uint32_t a = k->labels.count; a-- > 0;) {
        if (!is_admissible(k, p->class[n], (label)a) || clashes(k, p->class[n], (label)a))
            continue;
        k->on[p->class[n]] = (label)a;
        try_labels(k, p, n + 1);
        k->on[p->class[n]] = 0;
        if (p->tried > STAGE_CHOICES_MOST)
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

/* One row for each price (or one ideal row) under the sigma that stands in k->on. */
static bool add_sigma_rows(struct maker *k, struct rows *r, uint32_t sigma, bool is_ideal,
                           struct choice *choice)
{
    const struct sections *s = k->s;
    uint32_t rows = is_ideal ? 1 : PRICES, first = r->count;
    size_t size = (size_t)s->kinds * ROW_FIGURES;
    label batch = k->on[s->order->steps.batch];
    label rest = (label)((k->labels.count - 1) & ~batch);
    const struct mesh_span *across = &k->shape->mesh.span[rest],
                           *over = &k->shape->mesh.span[batch];

    for (uint32_t n = 0; n < rows; n++) {
        if (!add_row(r, k->t))
            return false;
        uint32_t row = r->count++;
        memset(r->figure + row * size, 0, size * sizeof *r->figure);
        memset(r->labels + (size_t)row * k->t->row_size, 0, k->t->row_size);
        for (uint32_t m = 0; m < s->shared_count; m++)
            r->labels[(size_t)row * k->t->row_size + m] = k->on[s->shared[m]];
        r->sigma[row] = sigma;
        r->gather[row] = (across->gather_inside + across->gather_across) / k->labels.parts[batch];
        r->gather_latency[row] = rest ? across->latency_inside_ms + across->latency_across_ms : 0;
        r->reduce_latency[row] =
            batch ? 2 * (over->latency_inside_ms + over->latency_across_ms) : 0;
    }
    for (uint32_t kind = 0; kind < s->kinds; kind++) {
        const struct kind *d = &k->kinds[kind];
        uint32_t section = s->kind_first[kind], locals = local_count(s, section);
        const class_id *local = s->local + s->local_base[section];
        const uint32_t *part_of = k->part_of + k->t->kind_at[kind] - s->shared_count;
        double base[ROW_FIGURES] = {0};
        for (uint32_t t = d->first; t < d->end; t++)
            if (k->terms[t].part == UINT32_MAX)
                add_figures(base, term_at(k, &k->terms[t]));
        base[ROW_BOTH] = base[ROW_FORWARD] + base[ROW_BACKWARD];
        for (uint32_t n = 0; n < rows; n++)
            memcpy(r->figure + (first + n) * size + (size_t)kind * ROW_FIGURES, base, sizeof base);
        for (uint32_t number = 0; number < d->parts; number++) {
            struct part p = {.kind = kind, .number = number, .out = choice};
            for (uint32_t c = 0; c < locals; c++) {
                if (part_of[c] != number)
                    continue;
                if (p.count == LIST_MOST) {
                    *k->cut_short = true; /* the others stay whole */
                    break;
                }
                p.class[p.count] = local[c];
                p.place[p.count++] = c;
            }
            for (int n = 0; n < PRICES; n++)
                choice->value[n] = INFINITY;
            for (int f = 0; f < ROW_FIGURES; f++)
                choice->least[f] = INFINITY;
            try_labels(k, &p, 0);
            for (uint32_t n = 0; n < rows; n++) {
                double *to = r->figure + (first + n) * size + (size_t)kind * ROW_FIGURES;
                add_figures(to, is_ideal ? choice->least : choice->figure[n]);
                for (uint32_t c = 0; c < p.count && !is_ideal; c++)
                    r->labels[(size_t)(first + n) * k->t->row_size + k->t->kind_at[kind] +
                              p.place[c]] = choice->labels[n][c];
            }
        }
    }
    /* at neighbouring prices the choice is often the same */
    for (uint32_t n = 1; n < rows && first + n < r->count;) {
        const uint8_t *a = r->labels + (size_t)(first + n) * k->t->row_size;
        if (memcmp(a, a - k->t->row_size, k->t->row_size)) {
            n++;
            continue;
        }
        for (uint32_t m = first + n; m + 1 < r->count; m++) {
            memcpy(r->figure + m * size, r->figure + (m + 1) * size, size * sizeof *r->figure);
            memcpy(r->labels + (size_t)m * k->t->row_size,
                   r->labels + (size_t)(m + 1) * k->t->row_size, k->t->row_size);
        }
        r->count--;
        rows--;
    }
    return true;
}

static bool price_spread(struct maker *k, struct rows *r, uint32_t sigma)
{
    const struct sections *s = k->s;
    size_t size = (size_t)s->spread_count * ROW_SUMMED;

    if (!mem_grow(&r->spread, &r->spread_room, r->spread_sets * size, size + 1))
        return false;
    for (uint32_t n = 0; n < s->spread_count; n++) {
        double *to = r->spread + r->spread_sets * size + (size_t)n * ROW_SUMMED;
        memcpy(to, term_at(k, &k->spread[n]), ROW_SUMMED * sizeof *to);
        to[ROW_BOTH] = to[ROW_FORWARD] + to[ROW_BACKWARD];
    }
    r->spread_at[sigma] = r->spread_sets++;
    return true;
}

/* ---- rows that another beats ---- */

struct ranking {
    const struct rows *r;
    const struct sections *s;
    double *total; /* [count] */
};

static bool beats(const struct ranking *x, uint32_t a, uint32_t b)
{
    const struct rows *r = x->r;
    size_t size = (size_t)x->s->kinds * ROW_FIGURES;
    const double *p = r->figure + a * size, *q = r->figure + b * size;
    const double slack = 1 + 1e-12;

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
    const struct sections *s = k->s;
    size_t size = (size_t)s->kinds * ROW_FIGURES, labels = k->t->row_size;
    struct ranking x = {.r = r, .s = s};
    struct ranked *list = mem_try(r->count, sizeof *list);
    uint32_t *kept = mem_try(r->count, sizeof *kept), count = 0, at = 0;
    uint8_t *stays = mem_try(r->count, 1);

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

static int fill_rows(struct maker *k, struct rows *r, bool is_ideal)
{
    const struct sections *s = k->s;
    struct choice *choice = mem_try(1, sizeof *choice);
    bool ok = choice && add_sigmas(k, 0);

    r->sigmas = (uint32_t)k->sigma_count;
    r->spread_at = mem_try(k->sigma_count, sizeof *r->spread_at);
    ok = ok && r->spread_at;
    for (uint32_t n = 0; n < k->sigma_count && ok; n++) {
        const struct stage_options *o = &k->t->options;
        if (o->stop && atomic_load_explicit(o->stop, memory_order_relaxed))
            break;
        for (uint32_t m = 0; m < s->shared_count; m++)
            k->on[s->shared[m]] = k->sigmas[(size_t)n * s->shared_count + m];
        ok = price_spread(k, r, n) && add_sigma_rows(k, r, n, is_ideal, choice);
        for (uint32_t m = 0; m < s->shared_count; m++)
            k->on[s->shared[m]] = 0;
    }
    ok = ok && drop_beaten(k, r);
    free(choice);
    return ok ? 0 : err_no_memory(k->e, MEMORY_FOR);
}

static int prepare(struct maker *k)
{
    const struct problem *p = k->p;
    const struct stage_options *o = &k->t->options;
    int64_t of = p->training.batch_divisor, file = k->s->order->steps.batch_size;
    struct label_cut cut = {p->training.batch, o->micro_batches, of * o->batch / file, of};
    int rc = labels_new(&p->classes, &k->shape->mesh, p->options.exact_divisibility, &cut,
                        &k->labels, k->e);

    if (rc)
        return rc;
    k->costs = (struct step_tables){.labels = &k->labels,
                                    .mesh = &k->shape->mesh,
                                    .costs = &p->costs,
                                    .device = cluster_weakest(&k->shape->cluster),
                                    .traffic = &p->traffic,
                                    .attention = &p->attention,
                                    .measured_ms = p->measured_ms,
                                    .training = &p->training,
                                    .joined = p->step_tables.joined,
                                    .batching = {.micro_batches = o->micro_batches}};
    k->on = mem_try(p->classes.count, sizeof *k->on);
    return k->on ? 0 : err_no_memory(k->e, MEMORY_FOR);
}

int rows_new(const struct stage_tables *t, const struct stage_shape *shape, bool is_ideal,
             struct rows *out, bool *cut_short, struct err *e)
{
    struct maker k = {.s = t->sections,
                      .p = t->sections->problem,
                      .t = t,
                      .shape = shape,
                      .e = e,
                      .cut_short = cut_short};
    struct rows r = {0};
    int rc = prepare(&k);

    if (!rc)
        rc = make_kinds(&k);
    if (!rc)
        rc = fill_rows(&k, &r, is_ideal);
    labels_release(&k.labels);
    free(k.on);
    free(k.terms);
    free(k.pool);
    free(k.figures);
    free(k.kinds);
    free(k.part_of);
    free(k.spread);
    free(k.patterns);
    free(k.slots);
    free(k.costs_of);
    free(k.sigmas);
    if (rc)
        rows_release(&r);
    else
        *out = r;
    return rc;
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
