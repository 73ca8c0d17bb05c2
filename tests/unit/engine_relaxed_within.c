/* Relaxed plans within a memory limit: on random modules every plan of a limit fits, and
 * bound <= the fastest fitting plan of all <= the plan, all labels enumerated. */
#include "random_module.h"

#include "engine/relaxed/relaxed_internal.h"
#include "engine/relaxed/summary.h"
#include "engine/relaxed/within.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SEEDS = 300, LABELLINGS_MOST = 3000, LIMITS = 4 };

static struct problem *open_random(uint64_t seed, uint32_t length, const char *mesh)
{
    struct problem *p = mem_alloc(sizeof *p);
    struct cluster *c = mem_alloc(sizeof *c);
    struct problem_options o = {.exact_divisibility = seed % 3 == 0};
    struct err e;

    assert_int_equal(slow_cluster(c, 4, seed, &e), 0);
    snprintf(o.mesh, sizeof o.mesh, "%s", mesh);
    assert_int_equal(random_problem(seed, length, c, &o, p, &e), 0);
    free(c);
    return p;
}

struct point {
    double ms, bytes;
};

/* Step and peak of every labelling that is a plan; 0: too many to try. */
static uint32_t every_plan(struct relaxed *r, struct point *out)
{
    const struct energy *g = &r->model.energy;
    double labellings = 1;
    uint32_t count = 0, node;

    for (uint32_t n = 0; n < g->nodes; n++)
        labellings *= energy_labels(g, n);
    if (labellings > LABELLINGS_MOST)
        return 0;
    memset(r->best, 0, g->nodes * sizeof *r->best);
    do {
        if (energy_of(g, r->best) < TABLE_FORBIDDEN / 2) {
            struct relaxed_plan plan = {0};
            struct memory_cost memory;
            struct err e;
            assert_int_equal(relaxed_extract(r, &plan, &e), 0);
            assert_int_equal(relaxed_memory(&plan, &memory, &e), 0);
            out[count++] = (struct point){plan.cost.step_ms, memory.peak};
            relaxed_plan_release(&plan);
        }
        for (node = 0; node < g->nodes && ++r->best[node] == energy_labels(g, node); node++)
            r->best[node] = 0;
    } while (node < g->nodes);
    return count;
}

struct tally {
    uint32_t limits, fit, missed, optimal, dear, unfit, proven;
};

static void check_limit(struct problem *p, const struct point *all, uint32_t count, double limit,
                        struct tally *t)
{
    struct relaxed_options o = {.folding = RELAXED_FOLD_OFF};
    struct relaxed_plan plan;
    struct relaxed_within how;
    struct memory_cost memory;
    struct relaxed *r;
    struct err e;
    double best = INFINITY, free_best = INFINITY, least = INFINITY;

    for (uint32_t k = 0; k < count; k++) {
        free_best = fmin(free_best, all[k].ms);
        least = fmin(least, all[k].bytes);
        if (all[k].bytes <= limit)
            best = fmin(best, all[k].ms);
    }
    assert_int_equal(relaxed_new(p, &o, &r, &e), 0);
    assert_int_equal(relaxed_solve_within(r, limit, INFINITY, &plan, &how, &e), 0);
    assert_int_equal(relaxed_memory(&plan, &memory, &e), 0);
    assert_true(memory.peak == how.peak && how.fits == (memory.peak <= limit));
    if (how.bound_ms > best * (1 + 1e-9))
        fail_msg("%s: within %.0f bytes bound %.12g, optimum %.12g", p->m->name, limit, how.bound_ms,
                 best);
    if (how.fits)
        assert_true(best <= plan.cost.step_ms * (1 + 1e-9) && plan.bound_ms <= plan.cost.step_ms);
    if (how.least_bound > least * (1 + 1e-9))
        fail_msg("%s: bound %.12g bytes, least %.12g", p->m->name, how.least_bound, least);
    t->unfit += least > limit;
    t->proven += how.least_bound > limit;
    t->limits++;
    t->fit += how.fits;
    t->missed += !how.fits && best < INFINITY;
    t->optimal += how.fits && plan.cost.step_ms <= best * (1 + 1e-9);
    t->dear += how.fits && best > free_best * (1 + 1e-9);
    relaxed_plan_release(&plan);
    relaxed_free(r);
}

static void bound_fitting_optimum_plan(void **state)
{
    struct point *all = mem_alloc(LABELLINGS_MOST * sizeof *all);
    struct tally t = {0};
    (void)state;

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct problem *p = open_random(seed, 2 + (uint32_t)(seed % 6), seed % 4 == 3 ? "2x2" : "");
        struct relaxed_options o = {.folding = RELAXED_FOLD_OFF};
        struct relaxed *r;
        struct err e;
        double least = INFINITY, most = 0;
        assert_int_equal(relaxed_new(p, &o, &r, &e), 0);
        uint32_t count = every_plan(r, all);
        relaxed_free(r);
        for (uint32_t k = 0; k < count; k++) {
            least = fmin(least, all[k].bytes);
            most = fmax(most, all[k].bytes);
        }
        for (int n = 0; n < LIMITS && count; n++) /* the first: nothing fits; the second: the least does */
            check_limit(p, all, count, n ? least + (most - least) * (n - 1) / LIMITS : least * 0.9, &t);
        problem_release(p);
        free(p);
    }
    free(all);
    print_message("%u limits: %u plans fit, %u of them the fastest, %u slower for the limit; %u missed; nothing fits %u, proven %u\n",
                  t.limits, t.fit, t.optimal, t.dear, t.missed, t.unfit, t.proven);
    assert_true(t.limits > SEEDS && t.dear > 20);
    assert_true(t.proven * 10 > t.unfit * 8);
    assert_true(t.missed * 10 < t.fit && t.optimal * 10 > t.fit * 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bound_fitting_optimum_plan)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
