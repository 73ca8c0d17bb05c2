/* engine/relaxed/limited.c - the search for prices, and for plans. */
#include "engine/relaxed/limited.h"
#include "engine/cost/memory.h"
#include "engine/cost/memory_chain.h"
#include "engine/cost/overlap.h"
#include "engine/exact/limit.h"
#include "engine/linear/cutting_plane.h"
#include "engine/relaxed/energy.h"
#include "engine/relaxed/limited_internal.h"
#include "engine/relaxed/model.h"
#include "engine/relaxed/plan_totals.h"
#include "engine/relaxed/relaxed.h"
#include "engine/relaxed/relaxed_internal.h"
#include "engine/relaxed/tables.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/stop.h"

#include <math.h>
#include <string.h>

enum { LIMITED_SWEEPS = 100, LIMITED_WEIGHTS_MOST = 3, STRICT_MOST = 3 };
#define CELLS_MOST ((size_t)1 << 26) /* of new tables: half a GB */
#define FIRST_SHARE 0.05             /* of the bound that the limit's bytes cost at first */
#define GROWTH 4                     /* of a price in one round */
#define PRICE_MOST 1e5               /* times the first one */
#define LEAST_MS 1e-9                /* of a bound, to divide by */
#define ROUNDING 1e-9                /* of sums of costs; a bound gives that much away */
#define ENOUGH 1e-6
#define RIPE 2e-3  /* of the bound, that it may still win */
#define LITTLE 0.1 /* of the gap */
#define WORTH 1e-3 /* a gap that trees are for */

static void limited_search_release(struct limited_search *w)
{
    for (uint32_t k = 0; k < w->known_count; k++) {
        free(w->known[k].x);
        free(w->known[k].bytes);
    }
    limited_price_release(w);
    relaxed_plan_release(&w->best);
    free(w->best_x);
}

/* ---- plans ---- */

static bool is_better(const struct limited_search *w, double ms, double peak)
{
    bool fits = peak <= w->limit;

    if (!w->best.problem || fits != w->how->fits)
        return !w->best.problem || fits;
    return fits ? ms < w->best.cost.step_ms : peak < w->how->peak;
}

int limited_offer(struct limited_search *w, double *ms, struct memory_cost *memory,
                  struct memory_chain *where, double *bytes, struct err *e)
{
    struct relaxed_plan plan = {0};
    int rc = relaxed_extract(w->r, &plan, e);

    *ms = plan.cost.step_ms;
    if (rc)
        goto out;
    rc = relaxed_memory_peak(&plan, memory, where, bytes, e);
    if (rc || !is_better(w, *ms, memory->peak))
        goto out;
    relaxed_plan_release(&w->best);
    w->best = plan;
    memcpy(w->best_x, w->r->best, w->r->pinned.nodes * sizeof *w->best_x);
    w->how->fits = memory->peak <= w->limit;
    w->how->peak = memory->peak;
    return 0;
out:
    relaxed_plan_release(&plan);
    return rc;
}

/* The strict optimum within o->limit, as far as strict mode can keep the pins. *fits: within the
 * limit as relaxed plans are counted, too; else o->limit becomes one that leaves room for what it
 * is above. */
static int offer_strict_within(struct limited_search *w, struct limit_options *o, bool *fits,
                               struct err *e)
{
    struct relaxed *r = w->r;
    struct limit_result best;
    struct memory_cost memory;
    struct memory_chain where;
    bool embeds = true;
    double ms;
    int rc = exact_limited(&r->p->step_tables, &r->p->memory, &r->fixed, o, &best, e);

    *fits = true;
    if (rc)
        return rc;
    w->strict_ms = best.fits ? best.value : 0;
    w->strict_proven = best.proven;
    for (uint32_t n = 0; n < r->model.energy.nodes && embeds; n++) {
        uint32_t found = model_strict_label(&r->model, n, best.on);
        embeds = found != UINT32_MAX;
        r->best[n] = (uint16_t)(embeds ? found : 0);
    }
    if (embeds && energy_of(&r->pinned, r->best) < TABLE_FORBIDDEN / 2) {
        rc = limited_offer(w, &ms, &memory, &where, NULL, e);
        *fits = rc || memory.peak <= w->limit;
        if (!*fits)
            o->limit = best.peak - (memory.peak - w->limit);
    }
    limit_release(&best);
    return rc;
}

/* Strict mode counts less than is counted here, all-reduces' results for one: where its optimum
 * does not fit by that, the one of a tighter limit, which proves nothing. */
static int offer_strict(struct limited_search *w, struct err *e)
{
    struct limit_options o = {
        .limit = w->limit, .variables = true, .inputs = true, .stop = w->r->stop};
    bool fits = false;

    w->strict_ms = 0;
    if (w->r->is_beyond_strict || !w->r->has_strict)
        return 0;
    for (int k = 0; k < STRICT_MOST && !fits && o.limit > 0; k++) {
        int rc = offer_strict_within(w, &o, &fits, e);
        if (rc)
            return rc;
        w->strict_proven &= k == 0;
        if (!(w->strict_ms > 0))
            return 0;
    }
    w->strict_ms = fits ? w->strict_ms : 0;
    return 0;
}

/* ---- prices ---- */

struct peak *limited_peak_at(struct limited_search *w, const struct memory_chain *where)
{
    for (uint32_t k = 0; k < w->count; k++) {
        if (memory_chain_equals(&w->peaks[k].where, where))
            return &w->peaks[k];
    }
    if (w->count == POSITIONS_MOST)
        return NULL;
    w->peaks[w->count] = (struct peak){.where = *where};
    return &w->peaks[w->count++];
}

/* What the energy without prices says of labels: without the excess of overlap, or with its weight,
 * where the plan's step has it whole. */
static double energy_ms(const struct limited_search *w, const uint16_t *x)
{
    struct energy plain = w->r->pinned;

    plain.unary = w->unary;
    plain.edges = (struct energy_edge *)w->edges;
    plain.constant = w->r->model.energy.constant;
    return energy_of(&plain, x);
}

/* The labels of r->best, kept and offered. */
static int remember_and_offer(struct limited_search *w, struct err *e)
{
    struct known_plan *k = &w->known[w->known_count];
    struct memory_cost memory;
    struct memory_chain where;
    size_t nodes = (size_t)w->r->pinned.nodes + 1;

    *k = (struct known_plan){.x = mem_try(nodes, sizeof *k->x),
                             .bytes = memory_scratch(&w->r->p->memory)};
    w->known_count++;
    if (!k->x || !k->bytes)
        return err_no_memory(e, "for a plan within a limit");
    memcpy(k->x, w->r->best, (nodes - 1) * sizeof *k->x);
    int rc = limited_offer(w, &k->ms, &memory, &where, k->bytes, e);
    if (rc)
        return rc;
    if (w->r->p->step_tables.overlap.is_bounded)
        k->ms = energy_ms(w, k->x);
    k->peak = memory.peak;
    if (k->peak > w->limit)
        (void)limited_peak_at(w, &where);
    return 0;
}

/* What the solve just made proves of its energy, memory that no label changes included. */
static double proven_energy(const struct limited_search *w)
{
    double bound = w->r->whole.trws.bound;

    return bound + w->constant - ROUNDING * (fabs(bound) + fabs(w->constant));
}

/* The known plan with labels x, or NULL. */
static const struct known_plan *find_known(const struct limited_search *w, const uint16_t *x)
{
    for (uint32_t k = 0; k < w->known_count; k++) {
        if (!memcmp(w->known[k].x, x, w->r->pinned.nodes * sizeof *x))
            return &w->known[k];
    }
    return NULL;
}

/* A solve with the prices as they are. *found: a plan that was not known; it is the last one now.
 */
static int solve_at_prices(struct limited_search *w, bool *found, struct err *e)
{
    int rc = limited_price(w, e);

    *found = false;
    if (rc)
        return rc;
    rc = relaxed_minimise(w->r, LIMITED_SWEEPS, e);
    if (rc)
        return rc;
    *found = w->r->best_ms < TABLE_FORBIDDEN / 2 && !find_known(w, w->r->best);
    return *found ? remember_and_offer(w, e) : 0;
}

bool limited_has_room(const struct limited_search *w)
{
    return w->r->model.tables.used - w->tables_before < CELLS_MOST;
}

struct summed {
    const double *bytes;
    double sum;
};

static void add_range(void *self, uint32_t range)
{
    struct summed *s = self;

    s->sum += s->bytes[range];
}

/* Of ranges and copies. */
static double bytes_at(const struct limited_search *w, const struct known_plan *k,
                       const struct peak *p)
{
    const struct memory_model *memory = &w->r->p->memory;
    const double *copies = memory_copies(memory, k->bytes);
    struct summed s = {k->bytes, 0};

    memory_chain_each(memory, &p->where, add_range, &s);
    for (uint32_t d = 0; d < p->where.depth; d++)
        s.sum += copies[p->where.at[d]];
    return s.sum;
}

/* What the tangents are made of: times and bytes over the limit, or bytes alone. */
struct tangent_scale {
    double ms, byte; /* what 1 ms, and 1 byte over `off`, are in them */
    double off;      /* bytes */
    double unit;     /* of prices, ms per byte */
    double sum;      /* all prices together */
    bool is_shares;  /* prices are shares, from 0 to 1 */
};

static struct tangent_scale scale_of(const struct limited_search *w)
{
    double ms = 1 / fmax(w->how->bound_ms, LEAST_MS);

    if (w->weighs)
        return (struct tangent_scale){0, 1 / w->limit, 0, w->weigh_unit, 1, true};
    return (struct tangent_scale){ms, w->unit * ms, w->limit, w->unit, INFINITY, false};
}

/* The prices at which the known plans would allow the highest bound: every plan is a tangent, its
 * time and what it is over the limit at each position. In a box around the best prices, since far
 * from the plans the tangents promise too much. Weighing: shares that add up to 1, and every plan
 * its bytes. *top: that bound, in ms or in shares of the limit. */
static int raise_prices(struct limited_search *w, double *top, struct err *e)
{
    size_t places = w->count, count = w->known_count;
    struct tangent_scale t = scale_of(w);
    double low[POSITIONS_MOST], high[POSITIONS_MOST], x[POSITIONS_MOST];
    double *value = mem_try(count, sizeof *value), *slope = mem_try(count * places, sizeof *slope);
    struct cutting_planes c = {(uint32_t)count, (uint32_t)places, value, slope, low, high, t.sum};
    int rc;

    if (!value || !slope) {
        rc = err_no_memory(e, "for a plan within a limit");
        goto out;
    }
    for (size_t n = 0; n < count; n++) {
        value[n] = w->known[n].ms * t.ms;
        for (size_t k = 0; k < places; k++)
            slope[n * places + k] = (bytes_at(w, &w->known[n], &w->peaks[k]) - t.off) * t.byte;
    }
    for (size_t k = 0; k < places; k++) {
        double now = w->peaks[k].best / t.unit;
        low[k] = t.is_shares || now <= 1 ? 0 : now / GROWTH;
        high[k] = t.is_shares ? 1 : fmin(PRICE_MOST, fmax(now, 1) * GROWTH);
    }
    rc = cutting_plane_top(&c, x, top, e);
    if (rc)
        goto out;
    *top /= t.is_shares ? 1 : t.ms;
    for (size_t k = 0; k < places; k++)
        w->peaks[k].now = x[k] * t.unit;
out:
    free(value);
    free(slope);
    return rc;
}

static void keep_bound(struct limited_search *w)
{
    double bound = proven_energy(w);

    if (bound <= w->how->bound_ms)
        return;
    w->how->bound_ms = bound;
    for (uint32_t k = 0; k < w->count; k++)
        w->peaks[k].best = w->peaks[k].now;
}

static bool is_enough(const struct limited_search *w)
{
    return w->how->fits && w->best.cost.step_ms <= w->how->bound_ms * (1 + ENOUGH);
}

/* A solve at the present prices, its bound, and what lies between its plan and the best. *is_more:
 * the plan is new, or the bound higher. */
static int raise_bound(struct limited_search *w, bool *is_more, struct err *e)
{
    const struct known_plan *now = &w->known[w->known_count];
    double before = w->how->bound_ms;
    bool found;
    int rc = solve_at_prices(w, &found, e);

    if (rc)
        return rc;
    w->how->rounds++;
    keep_bound(w);
    *is_more =
        found || (w->how->least_bound <= w->limit && w->how->bound_ms > before * (1 + ENOUGH));
    if (!found)
        return 0;
    if (w->how->fits)
        rc = limited_try_between(w, now->x, e);
    /* where the next solve starts */
    memcpy(w->r->best, now->x, w->r->pinned.nodes * sizeof *w->r->best);
    return rc;
}

static bool is_at_end(const struct limited_search *w)
{
    return w->known_count > SOLVES_MOST || !limited_has_room(w) || is_enough(w) ||
           stop_asked(w->r->stop);
}

static bool may_fit(const struct limited_search *w)
{
    return w->how->least_bound <= w->limit;
}

/* A solve at `scale` times the best prices. *fits: its plan does, new or not. */
static int try_scale(struct limited_search *w, double scale, bool *fits, struct err *e)
{
    bool is_more;

    for (uint32_t k = 0; k < w->count; k++)
        w->peaks[k].now = scale * w->peaks[k].best;
    int rc = raise_bound(w, &is_more, e);
    const struct known_plan *found = find_known(w, w->r->best);
    *fits = found && found->peak <= w->limit;
    return rc;
}

/* Between the best plan and every other that is faster. */
static int try_between_known(struct limited_search *w, struct err *e)
{
    for (uint32_t k = 0; k < w->known_count && !is_enough(w) && !stop_asked(w->r->stop); k++) {
        if (w->known[k].peak <= w->limit || w->known[k].ms >= w->best.cost.step_ms)
            continue;
        int rc = limited_try_between(w, w->known[k].x, e);
        if (rc)
            return rc;
    }
    return 0;
}

/* No plan fits at the prices of the highest bound, which mixes plans above the limit with plans
 * below it. Higher prices until one does, the least such scale by bisection, and what lies between
 * it and the plans that are known. */
static int search_above(struct limited_search *w, struct err *e)
{
    double low = 1, high = INFINITY;

    for (uint32_t n = 0; n < ABOVE_MOST && !is_at_end(w); n++) {
        double scale = isfinite(high) ? sqrt(low * high) : 2 * low;
        bool fits;
        int rc = try_scale(w, scale, &fits, e);
        if (rc)
            return rc;
        *(fits ? &high : &low) = scale;
    }
    return w->how->fits ? try_between_known(w, e) : 0;
}

/* The known plans allow little more than the bound there is. */
static bool is_ripe(const struct limited_search *w, double top)
{
    return top - w->how->bound_ms <= RIPE * w->how->bound_ms;
}

/* What the bound may still win is little of the gap. */
static bool is_near_top(const struct limited_search *w, double top)
{
    return w->how->fits &&
           top - w->how->bound_ms <= LITTLE * (w->best.cost.step_ms - w->how->bound_ms);
}

static bool is_worth_trees(const struct limited_search *w)
{
    return may_fit(w) && !is_at_end(w) &&
           !(w->how->fits && w->best.cost.step_ms <= w->how->bound_ms * (1 + WORTH));
}

/* *found: the best plan is another one now. */
static int walk_trees(struct limited_search *w, bool *found, struct err *e)
{
    double before = w->how->fits ? w->best.cost.step_ms : INFINITY;
    int rc = limited_walk_trees(w, e);

    *found = w->how->fits && w->best.cost.step_ms < before * (1 - ENOUGH);
    return rc;
}

/* Towards the highest bound. Once it is near, trees look for plans around its prices: what they
 * find says how much of the bound is still worth its time. *found: they found one. */
static int climb_prices(struct limited_search *w, uint32_t most, bool *has_walked, bool *found,
                        struct err *e)
{
    bool is_more = true;
    double top;

    for (uint32_t k = 0; k < most && is_more && !is_at_end(w); k++) {
        int rc = raise_prices(w, &top, e);
        if (rc)
            return rc;
        if (*found && is_near_top(w, top))
            return 0;
        bool walks = !*has_walked && k && is_ripe(w, top) && is_worth_trees(w);
        *has_walked |= walks;
        rc = walks ? walk_trees(w, found, e) : raise_bound(w, &is_more, e);
        if (rc)
            return rc;
    }
    return 0;
}

/* Plans at prices around those of the bound. */
static int search_around(struct limited_search *w, struct err *e)
{
    static const double around[AROUND_MOST] = {0.9, 0.7, 0.5, 1.1, 1.4};

    for (uint32_t n = 0; n < AROUND_MOST && w->how->fits && !is_at_end(w); n++) {
        bool fits;
        int rc = try_scale(w, around[n], &fits, e);
        if (rc)
            return rc;
    }
    return 0;
}

/* The highest bound first, in at most `most` solves; then plans around its prices. */
static int search_prices(struct limited_search *w, uint32_t most, struct err *e)
{
    bool has_walked = false, found = false;

    w->weighs = false;
    int rc = climb_prices(w, most, &has_walked, &found, e);
    if (rc)
        return rc;
    bool walks = is_worth_trees(w) && (found || !has_walked || !w->how->fits);
    rc = walks ? walk_trees(w, &found, e) : 0;
    if (rc)
        return rc;
    if (!w->how->fits)
        return may_fit(w) ? search_above(w, e) : 0;
    return found ? 0 : search_around(w, e);
}

/* Memory alone, until a plan fits, or it is proven that none does. */
static int weigh_memory(struct limited_search *w, struct err *e)
{
    bool is_more = true;

    w->weighs = true;
    w->weigh_unit = 1e3 / w->how->peak; /* energies of a usual size */
    for (uint32_t k = 0;
         k < WEIGH_MOST && is_more && !w->how->fits && may_fit(w) && !stop_asked(w->r->stop); k++) {
        double before = w->how->least_bound;
        double top;
        int rc = raise_prices(w, &top, e);
        if (rc)
            return rc;
        rc = solve_at_prices(w, &is_more, e);
        if (rc)
            return rc;
        w->how->least_bound = fmax(before, proven_energy(w) / w->weigh_unit);
        is_more |= w->how->least_bound > before * (1 + ENOUGH);
    }
    return 0;
}

/* Where the plan without a limit does not fit. */
static int search_within(struct limited_search *w, struct err *e)
{
    int rc = limited_price_new(w, e);

    w->tables_before = w->r->model.tables.used;
    if (rc)
        goto out;
    rc = remember_and_offer(w, e);
    if (rc)
        goto out;
    rc = offer_strict(w, e);
    if (rc)
        goto out;
    if (!w->how->fits)
        rc = weigh_memory(w, e);
    if (rc || (w->proves && !may_fit(w)))
        goto out;
    /* where nothing fits, for the smallest peak */
    rc = search_prices(w, may_fit(w) ? SEARCH_MOST : WEIGH_MOST, e);
out:
    w->how->positions = w->count;
    limited_unprice(w);
    return rc;
}

/* The best plan goes out, with what is proven of it. */
static void hand_out(struct limited_search *w, struct relaxed_plan *out)
{
    struct relaxed_limited *how = w->how;

    *out = w->best;
    memset(&w->best, 0, sizeof w->best);
    how->bound_ms = how->fits ? fmin(how->bound_ms, out->cost.step_ms) : how->bound_ms;
    out->bound_ms = how->bound_ms;
    out->gap = out->bound_ms > 0 ? out->cost.step_ms / out->bound_ms - 1 : 0;
    out->strict_ms = w->strict_ms;
    out->strict_proven = w->strict_proven;
}

static int solve_at_weight(struct relaxed *r, bool proves, double limit, double beaten_ms,
                           struct relaxed_plan *out, struct relaxed_limited *how, struct err *e)
{
    struct limited_search w = {.r = r, .limit = limit, .how = how, .proves = proves};
    struct memory_cost memory;

    *how = (struct relaxed_limited){.limit = limit};
    memset(out, 0, sizeof *out);
    if (r->is_folded)
        return err_set(e, ERR_INPUT,
                       "within a memory limit equal layers may differ: expected no folding");
    int rc = relaxed_solve(r, 0, &w.best, e);
    if (rc)
        return rc;
    how->bound_ms = w.best.bound_ms;
    w.unit = FIRST_SHARE * fmax(how->bound_ms, LEAST_MS) / limit;
    rc = relaxed_memory(&w.best, &memory, e);
    if (rc)
        goto out;
    how->peak = memory.peak;
    how->fits = memory.peak <= limit;
    how->is_skipped = how->bound_ms >= beaten_ms;
    w.best_x = mem_try((size_t)r->pinned.nodes + 1, sizeof *w.best_x);
    if (!w.best_x) {
        rc = err_no_memory(e, "for a plan within a limit");
        goto out;
    }
    if (!how->is_skipped)
        rc = how->fits ? offer_strict(&w, e) : search_within(&w, e);
    if (rc)
        goto out;
    hand_out(&w, out);
out:
    limited_search_release(&w);
    return rc;
}

/* ---- overlap ---- */

static bool is_first_better(const struct relaxed_plan *a, const struct relaxed_limited *x,
                            const struct relaxed_plan *b, const struct relaxed_limited *y)
{
    if (x->fits != y->fits)
        return x->fits;
    return x->fits ? a->cost.step_ms < b->cost.step_ms : x->peak < y->peak;
}

/* Keeps the better plan; what either proves holds for all plans. `from` is released. */
static void keep_better(struct relaxed_plan *best, struct relaxed_limited *how,
                        struct relaxed_plan *from, const struct relaxed_limited *one)
{
    struct relaxed_limited all = *how;

    if (is_first_better(from, one, best, how)) {
        struct relaxed_plan swap = *best;
        *best = *from;
        *from = swap;
        all.fits = one->fits;
        all.peak = one->peak;
    }
    all.least_bound = fmax(how->least_bound, one->least_bound);
    all.bound_ms = fmax(how->bound_ms, one->bound_ms);
    if (all.fits)
        all.bound_ms = fmin(all.bound_ms, best->cost.step_ms);
    all.positions = how->positions > one->positions ? how->positions : one->positions;
    all.rounds = how->rounds + one->rounds;
    *how = all;
    best->bound_ms = all.bound_ms;
    best->gap = best->bound_ms > 0 ? best->cost.step_ms / best->bound_ms - 1 : 0;
    relaxed_plan_release(from);
}

/* The same search with another weight of the excess, under the pins of `r`. *above: there is more
 * beside than is hidden in the plan that it finds. */
static int try_weight(const struct relaxed *r, double weight, double limit,
                      struct relaxed_plan *best, struct relaxed_limited *how, bool *above,
                      struct err *e)
{
    struct relaxed_options o = r->options;
    struct relaxed_limited how_one;
    struct relaxed_plan one;
    struct relaxed *with;

    o.excess_weight = weight;
    int rc = relaxed_new(r->p, &o, &with, e);
    if (rc)
        return rc;
    relaxed_set_stop(with, r->stop);
    rc = relaxed_take_pins(with, r, e);
    if (rc)
        goto out;
    rc = solve_at_weight(with, false, limit, INFINITY, &one, &how_one, e);
    if (rc)
        goto out;
    *above =
        overlap_balance(&r->p->step_tables.overlap, one.cost.compute_ms, one.cost.beside_ms) >= 0;
    keep_better(best, how, &one, &how_one);
out:
    relaxed_free(with);
    return rc;
}

static int solve_limited(struct relaxed *r, bool proves, double limit, double beaten_ms,
                         struct relaxed_plan *out, struct relaxed_limited *how, struct err *e)
{
    const struct overlap *o = &r->p->step_tables.overlap;
    double low = 0, high = 1;
    bool above = false;
    int rc = solve_at_weight(r, proves, limit, beaten_ms, out, how, e);

    if (rc || how->is_skipped || !how->fits ||
        overlap_excess(o, out->cost.compute_ms, out->cost.beside_ms) <= 0)
        return rc;
    for (int k = 0; k < LIMITED_WEIGHTS_MOST && !stop_asked(r->stop); k++) {
        double weight = k ? (low + high) / 2 : 1;
        rc = try_weight(r, weight, limit, out, how, &above, e);
        if (rc)
            goto out;
        if ((!k && above) || out->gap <= ENOUGH)
            return 0;
        if (k)
            *(above ? &low : &high) = weight;
    }
out:
    if (rc)
        relaxed_plan_release(out);
    return rc;
}

int relaxed_solve_limited(struct relaxed *r, double limit, double beaten_ms,
                          struct relaxed_plan *out, struct relaxed_limited *how, struct err *e)
{
    return solve_limited(r, false, limit, beaten_ms, out, how, e);
}

int relaxed_solve_limited_or_prove(struct relaxed *r, double limit, double beaten_ms,
                                   struct relaxed_plan *out, struct relaxed_limited *how,
                                   struct err *e)
{
    return solve_limited(r, true, limit, beaten_ms, out, how, e);
}
