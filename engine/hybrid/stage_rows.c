#include "engine/hybrid/stage_rows.h"
#include "engine/hybrid/row_maker.h"
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
#include "hlo/support/stop.h"

#include <math.h>
#include <string.h>

static const char MEMORY_FOR[] = "for the costs of stages";

/* ---- sigma ---- */

/* The label that the batch has makes as many replicas, or parts of a sample, as asked for: said as
 * soon as it has one, for below it are as many labellings as the other classes have. */
static bool is_asked_for(const struct row_maker *k)
{
    const struct stage_options *o = &k->t->options;
    uint32_t dp = k->costs.labels.parts[k->costs.on[k->costs.s->order->steps.batch]];

    return (!o->dp || dp == o->dp) && (!o->tp || k->costs.shape->mesh.devices / dp == o->tp);
}

/* Shared classes n .. are given all labels they can have; complete ones are
 * kept. False: no memory.
 */
static bool add_sigmas(struct row_maker *k, uint32_t n)
{
    const struct sections *s = k->costs.s;
    bool has_batch = n || !s->shared_count || s->shared[0] != s->order->steps.batch;

    if (k->sigma_count >= k->sigma_limit) {
        *k->cut_short = true;
        return true;
    }
    if (stop_asked(k->t->options.stop) || (has_batch && !is_asked_for(k)))
        return true;
    if (n == s->shared_count) {
        size_t size = s->shared_count ? s->shared_count : 1;
        if (!mem_grow(&k->sigmas, &k->sigma_room, k->sigma_count * size, size) ||
            !mem_grow(&k->sigma_must, &k->must_room, k->sigma_count, 1))
            return false;
        k->sigma_must[k->sigma_count] = k->must;
        for (uint32_t m = 0; m < s->shared_count; m++)
            k->sigmas[k->sigma_count * size + m] = k->costs.on[s->shared[m]];
        k->sigma_count++;
        return true;
    }
    bool ok = true;
    for (uint32_t a = k->costs.labels.count;
         a-- > 0 && ok;) { /* split first: what is cut short has it */
        if (!row_may_have(k, s->shared[n], (label)a) || !row_must_allow(k, n, (label)a))
            continue;
        k->costs.on[s->shared[n]] = (label)a;
        if (!n)
            k->sigma_limit = k->sigma_count + k->sigmas_most / k->costs.labels.count;
        ok = add_sigmas(k, n + 1);
        k->costs.on[s->shared[n]] = 0;
    }
    return ok;
}

/* ---- rows ---- */

static bool add_row(struct rows *r, const struct stage_tables *t)
{
    size_t n = r->count, kinds = t->sections->kinds;

    return mem_grow(&r->figure, &r->figure_room, n * kinds * ROW_FIGURES, kinds * ROW_FIGURES) &&
           mem_grow(&r->labels, &r->label_room, n * t->row_size, t->row_size + 1) &&
           mem_grow(&r->sigma, &r->sigma_room, n, 1) && mem_grow(&r->keeps, &r->keeps_room, n, 1) &&
           mem_grow(&r->rates, &r->rates_room, n, 1);
}

/* So many more rows with the labels of the shared classes in k->costs.on, nothing priced yet. */
static bool begin_rows(const struct row_maker *k, struct rows *r, uint32_t sigma, uint32_t rows)
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
        r->rates[row] = rates;
    }
    return true;
}

/* The figures of a bill over shared classes alone. */
static void figures_of(const struct row_maker *k, const struct bill *b,
                       double out[static ROW_FIGURES])
{
    if (k->is_merged) {
        row_least_of(k, b, out);
        return;
    }
    memcpy(out, bill_at(&k->costs, b), ROW_FIGURES * sizeof *out);
    out[ROW_BOTH] = out[ROW_FORWARD] + out[ROW_BACKWARD];
}

/* Prices one kind of section in the rows from `first` on. */
static void price_kind(struct row_maker *k, struct rows *r, uint32_t first, bool is_ideal,
                       uint32_t kind, struct row_choice *choice)
{
    size_t size = (size_t)k->costs.s->kinds * ROW_FIGURES;
    const struct row_kind *d = &k->kinds[kind];
    double base[ROW_FIGURES] = {0};

    for (uint32_t t = d->first; t < d->end; t++) {
        double own[ROW_FIGURES];
        if (k->costs.bills[t].part != UINT32_MAX)
            continue;
        figures_of(k, &k->costs.bills[t], own);
        row_add_figures(base, own);
    }
    for (uint32_t row = first; row < r->count; row++)
        memcpy(r->figure + row * size + (size_t)kind * ROW_FIGURES, base, sizeof base);
    for (uint32_t number = 0; number < d->parts; number++) {
        struct row_part p = {.kind = kind, .number = number, .out = choice};
        if (!k->is_merged)
            row_choose(k, &p);
        if (is_ideal && (k->is_merged || p.is_cut_short))
            row_least_of_part(k, &p, choice->least);
        for (uint32_t row = first; row < r->count; row++) {
            double *to = r->figure + row * size + (size_t)kind * ROW_FIGURES;
            uint8_t *labels = r->labels + (size_t)row * k->t->row_size + k->t->kind_at[kind];
            row_add_figures(to, is_ideal ? choice->least : choice->figure[row - first]);
            for (uint32_t c = 0; c < p.count && !is_ideal; c++)
                labels[p.place[c]] = choice->labels[row - first][c];
        }
    }
}

/* At neighbouring prices the choice is often the same: one of equal neighbours stays. */
static void drop_equal_rows(const struct row_maker *k, struct rows *r, uint32_t first)
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
static bool add_sigma_rows(struct row_maker *k, struct rows *r, uint32_t sigma, bool is_ideal,
                           struct row_choice *choice)
{
    uint32_t first = r->count;

    if (!begin_rows(k, r, sigma, is_ideal ? 1 : row_prices(k)))
        return false;
    for (uint32_t kind = 0; kind < k->costs.s->kinds; kind++)
        price_kind(k, r, first, is_ideal, kind, choice);
    drop_equal_rows(k, r, first);
    return true;
}

static bool price_spread(struct row_maker *k, struct rows *r, uint32_t sigma)
{
    const struct sections *s = k->costs.s;
    size_t size = (size_t)s->set_count * ROW_SUMMED;

    if (!mem_grow(&r->spread, &r->spread_room, r->spread_sets * size, size + 1))
        return false;
    double *sets = r->spread + r->spread_sets * size;
    memset(sets, 0, size * sizeof *sets);
    for (uint32_t n = 0; n < s->spread_count; n++) {
        double *to = sets + (size_t)s->spread[n].set * ROW_SUMMED;
        double own[ROW_FIGURES];
        figures_of(k, &k->spread[n], own);
        for (int f = 0; f < ROW_SUMMED; f++)
            to[f] += own[f];
    }
    r->spread_at[sigma] = r->spread_sets++;
    return true;
}

/* ---- the whole ---- */

/* Where there are more sigmas than are looked at, ideal rows are made of the labels of the batch
 * alone: below every sigma, for they take the least over all of them. */
static bool merge_sigmas(struct row_maker *k)
{
    const struct sections *s = k->costs.s;
    class_id batch = s->order->steps.batch;
    size_t size = s->shared_count;
    bool is_cut_short = false, *own = k->cut_short, ok = true;

    k->cut_short = &is_cut_short;
    k->sigma_limit = k->sigma_count + k->sigmas_most;
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
        ok = mem_grow(&k->sigmas, &k->sigma_room, k->sigma_count * size, size) &&
             mem_grow(&k->sigma_must, &k->must_room, k->sigma_count, 1);
        if (ok)
            k->sigma_must[k->sigma_count] = UINT32_MAX; /* below what keeps pins, too */
        for (uint32_t m = 0; m < s->shared_count && ok; m++)
            k->sigmas[k->sigma_count * size + m] = s->shared[m] == batch ? (label)a : 0;
        k->sigma_count += ok;
    }
    return ok;
}

/* Bits of pins of groups that stages keep: none, and those that some stage may have, which follow
 * one another in the model. */
static bool list_sigmas(struct row_maker *k)
{
    const struct hybrid_pins *pins = k->t->options.pins;
    uint32_t groups = hybrid_pins_of_groups(pins);
    bool ok = merge_sigmas(k);

    for (uint32_t a = groups; a && ok && !k->is_merged; a &= a - 1)
        for (uint32_t b = groups; b && ok; b &= b - 1) {
            uint32_t first = pins->pin[__builtin_ctz(a)].first;
            uint32_t last = pins->pin[__builtin_ctz(b)].first;
            k->must = hybrid_pins_needed(pins, first, last + 1);
            if (first <= last && k->must)
                ok = merge_sigmas(k);
        }
    k->must = 0;
    return ok;
}

/* A label of a row, once for each pin. */
static bool add_need(struct row_maker *k, struct row_need need)
{
    for (uint32_t n = 0; n < k->needs; n++)
        if (k->need[n].slot == need.slot && k->need[n].pin == need.pin)
            return true;
    if (!mem_grow(&k->need, &k->need_room, k->needs, 1))
        return false;
    k->need[k->needs++] = need;
    return true;
}

/* Which labels of a row pins of groups are about: equal sections have theirs in one place. */
static bool list_needs(struct row_maker *k)
{
    const struct hybrid_pins *pins = k->t->options.pins;
    const struct sections *s = k->costs.s;
    bool ok = true;

    for (uint32_t left = hybrid_pins_of_groups(pins); left && ok; left &= left - 1) {
        uint32_t pin = (uint32_t)__builtin_ctz(left);
        const struct hybrid_named *named = &pins->named[pins->pin[pin].named];
        for (uint32_t c = 0; c < named->count && ok; c++) {
            uint32_t at = named->section[c], kind = s->kind[at], base = s->local_base[at];
            for (uint32_t m = 0; m < s->shared_count && ok; m++)
                if (s->shared[m] == named->class[c])
                    ok = add_need(k, (struct row_need){m, pin, UINT32_MAX});
            for (uint32_t m = base; m < s->local_base[at + 1] && ok; m++)
                if (s->local[m] == named->class[c])
                    ok = add_need(k, (struct row_need){k->t->kind_at[kind] + m - base, pin, kind});
        }
    }
    return ok;
}

/* Some labels of a section of this kind are the row's. */
static bool has_kind(const struct row_maker *k, const struct rows *r, uint32_t row, uint32_t kind)
{
    size_t at = ((size_t)row * k->costs.s->kinds + kind) * ROW_FIGURES;

    return r->figure[at + ROW_FORWARD] < INFINITY;
}

/* The pins of groups that a row keeps wherever they hold: stages without a section that cannot are
 * none the worse for it. */
static void find_kept(struct row_maker *k, struct rows *r, uint32_t row, uint32_t must)
{
    const uint8_t *labels = r->labels + (size_t)row * k->t->row_size;
    const struct hybrid_pins *pins = k->t->options.pins;

    r->keeps[row] = k->is_ideal ? must : UINT32_MAX;
    for (uint32_t n = 0; n < k->needs && !k->is_ideal; n++)
        if ((k->need[n].kind == UINT32_MAX || has_kind(k, r, row, k->need[n].kind)) &&
            !hybrid_pin_allows_parts(&pins->pin[k->need[n].pin],
                                     k->costs.labels.parts[labels[k->need[n].slot]]))
            r->keeps[row] &= ~((uint32_t)1 << k->need[n].pin);
}

static int fill_rows(struct row_maker *k, struct rows *r, bool is_ideal)
{
    const struct sections *s = k->costs.s;
    struct row_choice *choice = mem_try(1, sizeof *choice);
    bool ok = choice && list_needs(k) && list_sigmas(k);

    r->sigmas = (uint32_t)k->sigma_count;
    r->spread_at = mem_try(k->sigma_count, sizeof *r->spread_at);
    ok = ok && r->spread_at;
    for (uint32_t n = 0; n < k->sigma_count && ok; n++) {
        if (stop_asked(k->t->options.stop))
            break;
        for (uint32_t m = 0; m < s->shared_count; m++)
            k->costs.on[s->shared[m]] = k->sigmas[(size_t)n * s->shared_count + m];
        uint32_t first = r->count;
        k->must = k->is_merged ? 0 : k->sigma_must[n];
        ok = price_spread(k, r, n) && add_sigma_rows(k, r, n, is_ideal, choice);
        for (uint32_t row = first; row < r->count && ok; row++)
            find_kept(k, r, row, k->sigma_must[n]);
        for (uint32_t m = 0; m < s->shared_count; m++)
            k->costs.on[s->shared[m]] = 0;
    }
    ok = ok && row_drop_beaten(k, r);
    free(choice);
    return ok ? 0 : err_no_memory(k->costs.e, MEMORY_FOR);
}

int rows_new(const struct stage_tables *t, const struct stage_shape *shape, bool is_ideal,
             struct rows *out, bool *cut_short, struct err *e)
{
    struct row_maker k = {
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
    rc = k.is_free ? row_kinds_new(&k) : err_no_memory(e, MEMORY_FOR);
    if (!rc && !stop_asked(t->options.stop))
        rc = fill_rows(&k, &r, is_ideal);
    stage_costs_release(&k.costs);
    free(k.kinds);
    free(k.part_of);
    free(k.spread);
    free(k.sigmas);
    free(k.sigma_must);
    free(k.need);
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
            if (s->is_remade[s->op[n]])
                continue;
            stage_costs_operation(&k, s->op[n], ms);
            stage_costs_add(&k, s->op[n], ms, figure);
            out->collective[s->pass[s->op[n]]] += ms[COST_COLLECTIVE];
            if (stage_costs_runs_again(&k, s->op[n]))
                out->collective[SECTION_BACKWARD] += ms[COST_COLLECTIVE];
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
    free(r->keeps);
    free(r->spread);
    free(r->spread_at);
    free(r->rates);
    memset(r, 0, sizeof *r);
}
