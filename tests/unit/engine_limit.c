/* The best plan within a memory limit against enumeration of every plan: random modules, limits,
 * meshes, pins and batchings, those that nothing fits among them. */
#include "random_module.h"

#include "engine/cost/overlap.h"
#include "engine/exact/limit.h"
#include "engine/plan/plan.h"
#include "engine/search/search.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PLANS_MOST = 1 << 10, CLASSES_MOST = 16 };

static bool clashes(const struct classes *c, class_id k, const label *on)
{
    for (uint32_t n = 0; n < c->info[k].meet_count; n++) {
        if (on[c->meets[c->info[k].meets + n].other] & on[k])
            return true;
    }
    return false;
}

struct brute {
    const struct problem *p;
    const struct strict *s;
    class_id classes[CLASSES_MOST];
    uint32_t count, plans;
    double product;
    label *on;
    double *scratch;
    double ms[PLANS_MOST], peak[PLANS_MOST];
};

static bool may_take(const struct brute *b, class_id k, label a)
{
    return label_is_admissible(&b->p->labels, k, a) && (a & b->s->on[k]) == b->s->on[k] &&
           !(a & b->s->off[k]);
}

static void try_all(struct brute *b, uint32_t at)
{
    if (at == b->count) {
        b->ms[b->plans] = step_tables_cost(&b->p->step_tables, b->on).step_ms;
        b->peak[b->plans++] = memory_of(&b->p->memory, &b->p->labels, b->on, b->scratch).peak;
        return;
    }
    class_id k = b->classes[at];
    for (uint32_t a = 0; a < b->p->labels.count; a++) {
        if (!may_take(b, k, (label)a))
            continue;
        b->on[k] = (label)a;
        if (!clashes(&b->p->classes, k, b->on))
            try_all(b, at + 1);
    }
    b->on[k] = b->s->on[k];
}

/* False when there are too many plans. */
static bool enumerate(struct brute *b)
{
    b->product = 1;
    b->count = b->plans = 0;
    for (class_id k = 0; k < b->p->classes.count; k++) {
        uint32_t choices = 0;
        b->on[k] = b->s->on[k];
        for (uint32_t a = 0; a < b->p->labels.count; a++)
            choices += may_take(b, k, (label)a);
        if (choices < 2)
            continue;
        b->product *= choices;
        if (b->count < CLASSES_MOST)
            b->classes[b->count++] = k;
    }
    if (b->product > PLANS_MOST)
        return false;
    try_all(b, 0);
    return true;
}

struct tally {
    uint32_t compared, infeasible, bound_by_it, branched, open, excess;
};

static bool is_near(double a, double b)
{
    return fabs(a - b) <= 1e-7 * fmax(1, fabs(b));
}

static void check_answer(const struct brute *b, double limit, const struct limit_result *r,
                         uint64_t seed)
{
    double best = INFINITY, least = INFINITY;
    struct memory_cost memory = memory_of(&b->p->memory, &b->p->labels, r->on, b->scratch);

    for (uint32_t k = 0; k < b->plans; k++) {
        least = fmin(least, b->peak[k]);
        best = b->peak[k] <= limit ? fmin(best, b->ms[k]) : best;
    }
    if (r->fits != isfinite(best) || !r->proven || (r->fits && !is_near(r->value, best)))
        fail_msg("seed %lu limit %.17g: %s %.17g bound %.17g %s, by enumeration %.17g, least %.17g",
                 (unsigned long)seed, limit, r->fits ? "fits" : "does not fit", r->value, r->bound,
                 r->proven ? "proven" : "open", best, least);
    assert_true(is_near(memory.peak, r->peak));
    assert_true(is_near(step_tables_cost(&b->p->step_tables, r->on).step_ms, r->value));
    assert_true(r->least_bound <= least * (1 + 1e-9));
    if (r->fits)
        assert_true(memory.peak <= limit * (1 + 1e-12) && r->bound <= r->value);
    for (class_id k = 0; k < b->p->classes.count; k++)
        assert_false(clashes(&b->p->classes, k, r->on));
}

/* Cut short, what is said still holds: the bound is below the best, the plan above it. */
static void check_short(const struct brute *b, double limit, struct tally *t)
{
    struct limit_options o = {.limit = limit, .variables = true, .inputs = true, .work_most = 3};
    struct limit_result r;
    double best = INFINITY;
    struct err e;

    for (uint32_t k = 0; k < b->plans; k++)
        best = b->peak[k] <= limit ? fmin(best, b->ms[k]) : best;
    assert_int_equal(exact_limited(&b->p->step_tables, &b->p->memory, b->s, &o, &r, &e), 0);
    assert_true(!r.fits || (r.bound <= best * (1 + 1e-9) && best <= r.value * (1 + 1e-9)));
    assert_true(!r.proven || r.fits == isfinite(best));
    assert_true(!r.proven || !r.fits || is_near(r.value, best));
    t->open += !r.proven;
    limit_release(&r);
}

/* The searches within a limit: enumeration and the exact solver end at the fastest plan that fits,
 * or at the one of least memory; whatever fits scores above whatever does not. */
static void check_searches(const struct brute *b, double limit, uint64_t seed)
{
    static const enum search_algorithm algorithms[] = {SEARCH_ENUMERATE, SEARCH_EXACT,
                                                       SEARCH_RANDOM, SEARCH_GREEDY, SEARCH_ANNEAL};
    double best = INFINITY, least = INFINITY;
    struct search_event event;
    struct err e;

    for (uint32_t k = 0; k < b->plans; k++) {
        least = fmin(least, b->peak[k]);
        best = b->peak[k] <= limit ? fmin(best, b->ms[k]) : best;
    }
    for (size_t n = 0; n < sizeof algorithms / sizeof *algorithms; n++) {
        struct search_options o = {
            .algorithm = algorithms[n],
            .seed = seed,
            .game = {.kind = GAME_ALL, .no_folding = true, .memory_limit = limit}};
        double worst_fit = INFINITY, best_unfit = -INFINITY;
        struct search *s;
        assert_int_equal(search_new(b->p, &o, &s, &e), 0);
        const struct game *g = search_game(s);
        for (int k = 0; k < (n ? 20 : 5000) && search_step(s, &event); k++) {
            if (!event.ended)
                continue;
            bool fits = game_score_fits(g, event.score);
            worst_fit = fits ? fmin(worst_fit, event.score) : worst_fit;
            best_unfit = fits ? best_unfit : fmax(best_unfit, event.score);
        }
        const struct search_best *found = search_best(s);
        double peak = memory_of(&b->p->memory, &b->p->labels, found->on, b->scratch).peak;
        assert_true(worst_fit >= best_unfit);
        assert_true(game_fits(g, found->on) == (peak <= limit));
        assert_true(game_score_fits(g, found->score) == (peak <= limit));
        assert_true(peak <= limit ? found->cost.step_ms >= best * (1 - 1e-7)
                                  : peak >= least * (1 - 1e-9));
        if (search_is_proven(s) && isfinite(best) && !is_near(found->cost.step_ms, best))
            fail_msg("seed %lu: %s ends at %.17g, not %.17g", (unsigned long)seed,
                     search_names[o.algorithm], found->cost.step_ms, best);
        if (algorithms[n] == SEARCH_ENUMERATE && !isfinite(best) && search_is_proven(s))
            assert_true(is_near(peak, least));
        search_free(s);
    }
}

/* Limits at the peaks of plans, a little below, between, and under all of them. */
static void check_limits(struct brute *b, uint64_t seed, struct tally *t)
{
    struct rl_rng rng;
    double fastest = INFINITY, its_peak = 0;

    rl_rng_seed(&rng, seed, 5);
    for (uint32_t k = 0; k < b->plans; k++) {
        if (b->ms[k] < fastest) {
            fastest = b->ms[k];
            its_peak = b->peak[k];
        }
    }
    for (int n = 0; n < 3; n++) {
        double one = b->peak[rl_rng_below(&rng, b->plans)],
               other = b->peak[rl_rng_below(&rng, b->plans)];
        double limit = n == 0 ? one : n == 1 ? 0.5 * (one + other) : 0.97 * fmin(one, other);
        struct limit_options o = {
            .limit = limit, .variables = true, .inputs = true, .work_most = 20000};
        struct limit_result r;
        struct err e;
        assert_int_equal(exact_limited(&b->p->step_tables, &b->p->memory, b->s, &o, &r, &e), 0);
        check_answer(b, limit, &r, seed);
        t->compared++;
        struct step_cost cost = step_tables_cost(&b->p->step_tables, r.on);
        t->excess += r.fits && overlap_excess(&b->p->step_tables.overlap, cost.compute_ms,
                                              cost.beside_ms) > 0;
        t->infeasible += !r.fits;
        t->bound_by_it += r.fits && its_peak > limit;
        t->branched += r.work > 20;
        limit_release(&r);
        check_short(b, limit, t);
        if (seed % 2 == 0) /* those are without pins */
            check_searches(b, limit, seed);
    }
    struct limit_options o = {.variables = true, .inputs = true, .least = true};
    struct limit_result r;
    struct err e;
    double least = INFINITY;
    for (uint32_t k = 0; k < b->plans; k++)
        least = fmin(least, b->peak[k]);
    assert_int_equal(exact_limited(&b->p->step_tables, &b->p->memory, b->s, &o, &r, &e), 0);
    assert_true(!r.fits && r.least_bound <= least * (1 + 1e-9) && least <= r.peak * (1 + 1e-9));
    limit_release(&r);
}

static void random_pins(const struct problem *p, struct strict *s, uint64_t seed)
{
    struct rl_rng rng;

    rl_rng_seed(&rng, seed, 3);
    for (uint32_t n = rl_rng_below(&rng, 3); n > 0 && p->classes.count; n--)
        (void)strict_decide(s, rl_rng_below(&rng, p->classes.count),
                            rl_rng_below(&rng, p->labels.axes), rl_rng_below(&rng, 2), NULL);
}

static void check_seed(uint64_t seed, const char *mesh, uint32_t devices, struct tally *t)
{
    struct cluster *cluster = mem_alloc(sizeof *cluster);
    struct problem *p = mem_alloc(sizeof *p);
    struct brute *b = mem_alloc(sizeof *b);
    double overlap = seed / 2 % 2 ? 0 : OVERLAP_AUTO;
    struct problem_options o = {
        .exact_divisibility = seed % 7 == 0, .is_overlap_given = true, .overlap = overlap};
    struct batch_and_zero r = {seed % 5 == 0 ? 2 : 1, (uint8_t)(seed % 4), overlap};
    struct strict s;
    struct err e;

    assert_int_equal(slow_cluster(cluster, devices, seed, &e), 0);
    for (uint32_t g = 0; g < cluster->groups && overlap < 0; g++)
        cluster->group[g].link.bandwidth /= 4; /* more than computation hides */
    snprintf(o.mesh, sizeof o.mesh, "%s", mesh);
    assert_int_equal(random_problem(seed, (uint32_t)(10 + seed % 30), cluster, &o, p, &e), 0);
    int rc = problem_set_batch_and_zero(p, &r, &e);
    assert_true(!rc || problem_batch_and_zero(p).micro_batches ==
                           1); /* the batch cannot be cut: the plain one stays */
    assert_int_equal(strict_new(&p->labels, &s, &e), 0);
    if (seed % 2)
        random_pins(p, &s, seed);
    b->p = p;
    b->s = &s;
    b->on = mem_alloc(p->classes.count + 1);
    b->scratch = memory_scratch(&p->memory);
    if (enumerate(b))
        check_limits(b, seed, t);
    free(b->on);
    free(b->scratch);
    free(b);
    strict_release(&s);
    problem_release(p);
    free(p);
    free(cluster);
}

static void test_brute_force(void **state)
{
    struct tally t = {0};

    (void)state;
    for (uint64_t seed = 1; seed <= 900; seed++)
        check_seed(seed, "", (uint32_t)(2 + seed % 3), &t);
    for (uint64_t seed = 2001; seed <= 2500; seed++)
        check_seed(seed, seed % 2 ? "2x2" : "2x3", seed % 2 ? 4 : 6, &t);
    print_message("%u limits answered as enumeration does: %u that nothing fits, %u that cost "
                  "time, %u branched, %u left open when cut short, %u with communication that is "
                  "not hidden\n",
                  t.compared, t.infeasible, t.bound_by_it, t.branched, t.open, t.excess);
    assert_true(t.compared > 2500 && t.infeasible > 300 && t.bound_by_it > 300 && t.branched > 20 &&
                t.open > 20 && t.excess > 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_brute_force),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
