#include "engine/relaxed/timed_solve.h"

#include "engine/relaxed/energy.h"
#include "engine/relaxed/over_time.h"
#include "engine/relaxed/peaks.h"
#include "engine/relaxed/price_ascent.h"
#include "engine/relaxed/tree_search.h"
#include "engine/relaxed/trws.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/stop.h"

#include <math.h>
#include <string.h>

enum { REPAIR_ROUNDS = 60, COOLINGS = 48, TREE_MOST = 3000, BARRIER_STEP = 6 };
#define LOW 3
#define DOUBLINGS 3
#define BARRIERS_END 0.9 /* of a search, which looks each sixteenth: they stand for the last */
#define COOLING 0.92172  /* 1/50 after COOLINGS */
#define ENOUGH 1e-9      /* gap that ends it */

struct timed_search {
    struct energy *g;
    const struct over_time *m;
    const struct timed_options *o;
    struct price_ascent ascent;
    struct tree_search trees;
    struct timed_result *best;
    double *price, *sums, *bytes; /* [points + 1] of a search */
    bool has_barriers;            /* some table has forbidden pairs */
};

static uint64_t work_of(const struct timed_search *s)
{
    return s->ascent.work + s->trees.work;
}

static bool is_over(const struct timed_search *s, uint64_t until)
{
    const struct timed_result *b = s->best;

    return work_of(s) >= until || stop_asked(s->o->stop) ||
           (b->x && b->energy - s->ascent.bound <= ENOUGH * fabs(b->energy));
}

/* Keeps labels that fit, when they cost less than the best. */
static int offer_timed(struct timed_search *s, const uint16_t *x, double energy, struct err *e)
{
    struct timed_result *b = s->best;

    if (energy >= s->o->forbidden || (b->x && energy >= b->energy))
        return 0;
    if (!b->x)
        b->x = mem_try((size_t)s->g->nodes + 1, sizeof *b->x);
    if (!b->x)
        return err_no_memory(e, "for a labelling");
    memcpy(b->x, x, s->g->nodes * sizeof *x);
    b->energy = energy;
    return 0;
}

static void set_priced(struct timed_search *s, double scale)
{
    struct tree_search *t = &s->trees;

    price_sums(s->m, s->price, s->sums);
    memcpy(t->priced, t->cost, t->label_first[s->g->nodes] * sizeof *t->cost);
    for (uint32_t n = 0; n < s->g->nodes; n++) {
        uint32_t labels = (uint32_t)(t->label_first[n + 1] - t->label_first[n]);
        over_time_price(s->m, n, labels, s->sums, scale, t->priced + t->label_first[n]);
        t->work += (uint64_t)labels * (1 + s->m->first[n + 1] - s->m->first[n]);
    }
}

static uint32_t tree_most(const struct timed_search *s)
{
    return s->g->nodes < TREE_MOST ? s->g->nodes : TREE_MOST;
}

/* Moves until `until`, the best kept. */
static int walk_trees(struct timed_search *s, uint64_t until, struct err *e)
{
    struct tree_search *t = &s->trees;
    uint32_t most = tree_most(s);

    while (!is_over(s, until)) {
        tree_search_move(t, tree_search_size(t, most));
        t->work += 50;
        bool fits = t->data == s->g->tables->data && peaks_most(&t->peaks) <= s->m->limit;
        int rc = fits ? offer_timed(s, t->x, t->energy, e) : 0;
        if (rc)
            return rc;
    }
    return 0;
}

/* Prices of peaks over the limit rise; what was no peak keeps its own. */
static void raise_prices(struct timed_search *s)
{
    double all = price_sums(s->m, s->price, s->sums);

    if (all <= 0)
        all = fmax(s->ascent.bound, 1);
    over_time_profile(s->m, s->trees.x, s->bytes);
    s->trees.work += s->m->span_count + 4 * (uint64_t)s->m->points;
    for (uint32_t t = 0; t < s->m->points; t++) {
        double over = s->bytes[t] / s->m->limit - 1;
        bool is_peak = over > 0 && (!t || s->bytes[t] >= s->bytes[t - 1]) &&
                       (t + 1 == s->m->points || s->bytes[t] > s->bytes[t + 1]);
        if (is_peak)
            s->price[t] = 1.1 * s->price[t] + 0.01 * (0.2 + over) * all;
    }
}

/* From the labels of the search to ones that fit; false: not found. */
static bool repair(struct timed_search *s, uint64_t budget)
{
    struct tree_search *t = &s->trees;
    uint64_t until = work_of(s) + budget;
    uint32_t most = tree_most(s);

    t->temperature = 0;
    for (uint32_t round = 0; round < REPAIR_ROUNDS && peaks_most(&t->peaks) > s->m->limit;
         round++) {
        uint64_t part = work_of(s) + budget / 12;
        raise_prices(s);
        set_priced(s, 1);
        while (!is_over(s, part) && peaks_most(&t->peaks) > s->m->limit) {
            t->limit = fmax(s->m->limit, peaks_most(&t->peaks));
            tree_search_move(t, tree_search_size(t, most));
            t->work += 50;
        }
        if (is_over(s, until))
            break;
    }
    t->limit = s->m->limit;
    return peaks_most(&t->peaks) <= s->m->limit;
}

/* Barriers begin at LOW times what a node costs and double until they are as they are. */
static int set_barriers(struct timed_search *s, double part, struct err *e)
{
    double share = fmax(s->ascent.bound, 1) / s->g->nodes;
    double most =
        part < BARRIERS_END ? LOW * share * exp2(DOUBLINGS * part / BARRIERS_END) : INFINITY;

    return tree_search_lower(&s->trees, most, e);
}

/* A search of so much work from the labels it has, which fit: prices fade, the temperature falls,
 * and with `low` barriers rise, once some labels are known that keep them. */
static int search_from(struct timed_search *s, uint64_t budget, double heat, bool low,
                       struct err *e)
{
    struct tree_search *t = &s->trees;
    bool lowers = low && s->best->x;
    uint64_t from = work_of(s), end = s->o->work;
    double temperature = heat * fmax(s->ascent.bound, 1) / s->g->nodes;
    int rc = offer_timed(s, t->x, t->energy, e);

    t->limit = s->m->limit;
    for (uint32_t k = 0; k < 2 * COOLINGS && !rc; k++) {
        double part = (double)k / (2 * COOLINGS);
        double scale = part < 0.5 ? 1 : fmax((0.85 - part) / 0.35, 0);
        uint64_t until = from + budget * (k + 1) / (2 * COOLINGS);
        t->temperature = part < 0.75 ? temperature : 0;
        if (k % 2)
            temperature *= COOLING;
        if (scale != 1 || !k)
            set_priced(s, scale);
        if (lowers && k % BARRIER_STEP == 0)
            rc = set_barriers(s, part, e);
        if (rc)
            return rc;
        rc = walk_trees(s, until < end ? until : end, e);
    }
    return rc;
}

static void set_prices(struct timed_search *s, const double *price)
{
    memcpy(s->price, price, s->m->points * sizeof *price);
}

/* From the last rounding. */
static int try_rounding(struct timed_search *s, uint64_t budget, double heat, bool low,
                        struct err *e)
{
    tree_search_set(&s->trees, s->ascent.trws.x);
    set_prices(s, s->ascent.best_price);
    if (!repair(s, budget / 2))
        return 0;
    set_prices(s, s->ascent.best_price);
    return search_from(s, budget, heat, low, e);
}

/* Steps of prices; roundings that fit are kept. */
static int climb(struct timed_search *s, uint64_t budget, struct err *e)
{
    uint64_t until = work_of(s) + budget;
    int rc = 0;

    while (!is_over(s, until) && !rc) {
        price_ascent_step(&s->ascent, s->best->x ? s->best->energy : INFINITY);
        if (s->ascent.peak <= s->m->limit)
            rc = offer_timed(s, s->ascent.trws.x, energy_of(s->g, s->ascent.trws.x), e);
    }
    return rc;
}

static const double SCALES[] = {1, 1.05, 1.15, 0.97};
/* First temperatures, in the bound's share of a node: what one instance needs freezes another. */
static const double HEATS[] = {1, 4, 0.3, 16};
enum { KINDS = 4 };
#define BRIEF_HEAT 0.1

/* A quarter of the work: prices, with a look at what their roundings lead to. */
static int begin_ascent(struct timed_search *s, uint64_t slice, struct err *e)
{
    int rc = 0;

    for (uint32_t round = 0; !rc && work_of(s) < 25 * slice && !is_over(s, 25 * slice); round++) {
        rc = climb(s, 2 * slice, e);
        if (rc)
            return rc;
        if (round % 3 == 2 || !s->best->x)
            rc = try_rounding(s, slice, BRIEF_HEAT, s->has_barriers, e);
    }
    return rc;
}

/* A search from a rounding at about the best prices, and some steps of them. */
static int restart(struct timed_search *s, uint32_t round, uint64_t slice, struct err *e)
{
    price_ascent_settle(&s->ascent, SCALES[round % KINDS], 20 + 10 * (round % 5));
    int rc = try_rounding(s, 3 * slice, HEATS[round % KINDS], s->has_barriers, e);
    if (rc)
        return rc;
    if (!s->best->x)
        price_ascent_raise(&s->ascent, s->trees.x, 0.05);
    return climb(s, slice, e);
}

static int from_best(struct timed_search *s, uint32_t round, uint64_t slice, struct err *e)
{
    tree_search_set(&s->trees, s->best->x);
    set_prices(s, s->ascent.best_price);
    return search_from(s, 3 * slice, HEATS[round % KINDS], s->has_barriers, e);
}

static int run_rounds(struct timed_search *s, struct err *e)
{
    uint64_t slice = s->o->work / 100;
    int rc = begin_ascent(s, slice, e);

    for (uint32_t round = 0; !rc && !is_over(s, s->o->work); round++)
        rc = round % 2 && s->best->x ? from_best(s, round / 2, slice, e)
                                     : restart(s, round / 2, slice, e);
    return rc;
}

static void release_timed(struct timed_search *s)
{
    tree_search_release(&s->trees);
    price_ascent_release(&s->ascent);
    free(s->price);
    free(s->sums);
    free(s->bytes);
}

static bool has_barriers(const struct energy *g, double forbidden)
{
    for (size_t k = 0; k < g->tables->used; k++) {
        if (g->tables->data[k] >= forbidden)
            return true;
    }
    return false;
}

int timed_solve(struct energy *g, const struct over_time *m, const struct timed_options *o,
                struct timed_result *out, struct err *e)
{
    struct timed_search s = {
        .g = g, .m = m, .o = o, .best = out, .has_barriers = has_barriers(g, o->forbidden)};
    size_t points = (size_t)m->points + 1;
    int rc;

    *out = (struct timed_result){.bound = -INFINITY};
    if (m->never_fits)
        return err_set(e, ERR_INFEASIBLE, "what is always needed is over the memory limit");
    if (!g->nodes) {
        out->bound = out->energy = g->constant;
        out->x = mem_try(1, sizeof *out->x);
        return out->x ? 0 : err_no_memory(e, "for a labelling");
    }
    rc = price_ascent_new(g, m, o->stop, &s.ascent, e);
    if (rc)
        goto out;
    rc = tree_search_new(&s.ascent.trws, m, s.ascent.cost, s.ascent.label_first, o->seed, &s.trees,
                         e);
    if (rc)
        goto out;
    s.price = mem_try(points, sizeof *s.price);
    s.sums = mem_try(points, sizeof *s.sums);
    s.bytes = mem_try(points, sizeof *s.bytes);
    rc =
        s.price && s.sums && s.bytes ? run_rounds(&s, e) : err_no_memory(e, "for prices of memory");
    out->bound = out->x ? fmin(s.ascent.bound, out->energy) : s.ascent.bound;
    out->work = work_of(&s);
out:
    release_timed(&s);
    if (rc)
        timed_result_release(out);
    return rc;
}

void timed_result_release(struct timed_result *r)
{
    free(r->x);
    memset(r, 0, sizeof *r);
}
