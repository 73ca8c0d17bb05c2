/* A solver that is asked to end at once gives a plan all the same, and claims no more than it
 * looked at: its bound holds for the optimum that a solver left alone finds. */
#include "example.h"

#include "engine/compare/fewer.h"
#include "engine/exact/batch_and_zero.h"
#include "engine/exact/stability.h"
#include "engine/relaxed/limited.h"
#include "engine/relaxed/limited_batches.h"

#include <math.h>
#include <stdatomic.h>

static const atomic_bool now = true;

enum { DEVICES = 4 };
#define LIMIT 4.3e9 /* between what the least and the fastest plan of t5-base6 need */

static void load(struct problem *p)
{
    load_example("t5-base6", DEVICES, NULL, p);
}

static struct limit_result limited(const struct problem *p, double bytes, const atomic_bool *stop)
{
    struct limit_options o = {.limit = bytes, .variables = true, .inputs = true, .stop = stop};
    struct limit_result r;
    struct err e;

    assert_int_equal(exact_limited(&p->step_tables, &p->memory, NULL, &o, &r, &e), 0);
    return r;
}

static void a_limit(void **state)
{
    struct problem p;
    (void)state;

    load_example("decoder-scan", 8, &(struct problem_options){.mesh = "2x4"}, &p);
    struct limit_result whole = limited(&p, 5e9, NULL), cut = limited(&p, 5e9, &now);
    assert_true(whole.fits && whole.work > 10 * cut.work);
    assert_true(cut.bound <= whole.value * (1 + 1e-9));
    assert_true(!cut.fits || cut.value >= whole.value * (1 - 1e-9));
    assert_true(!cut.fits || cut.peak <= 5e9);
    assert_true(!cut.proven || fabs(cut.value - whole.value) < 1e-9 * whole.value);
    limit_release(&whole);
    limit_release(&cut);
    problem_release(&p);
}

static void batches_and_zero(void **state)
{
    struct batch_and_zero_options o = {
        .limit = LIMIT, .variables = true, .inputs = true, .zero = -1};
    struct batch_and_zero_result *whole = mem_alloc(sizeof *whole), *cut = mem_alloc(sizeof *cut);
    struct problem p;
    struct err e;
    (void)state;

    load(&p);
    assert_int_equal(exact_batch_and_zero(&p, &o, whole, &e), 0);
    p.stop = &now;
    assert_int_equal(exact_batch_and_zero(&p, &o, cut, &e), 0);
    assert_true(whole->fits);
    assert_int_equal(cut->count, 1);
    assert_false(cut->proven);
    assert_true(cut->plan.on != NULL);
    assert_true(cut->bound <= whole->bound * (1 + 1e-9)); /* of pairs that were not looked at */
    batch_and_zero_release(whole);
    batch_and_zero_release(cut);
    free(whole);
    free(cut);
    problem_release(&p);
}

static struct relaxed_plan relaxed(const struct problem *p, struct relaxed_limited *how)
{
    struct relaxed_options o = {.folding = RELAXED_FOLD_OFF};
    struct relaxed_plan plan;
    struct relaxed *r;
    struct err e;

    assert_int_equal(relaxed_new(p, &o, &r, &e), 0);
    assert_int_equal(relaxed_solve_limited(r, LIMIT, INFINITY, &plan, how, &e), 0);
    relaxed_free(r);
    return plan;
}

static void relaxed_plans(void **state)
{
    struct relaxed_limited all, some;
    struct problem p;
    (void)state;

    load(&p);
    struct relaxed_plan whole = relaxed(&p, &all);
    p.stop = &now;
    struct relaxed_plan cut = relaxed(&p, &some);
    assert_true(all.fits && all.rounds > 0);
    assert_int_equal(some.rounds, 0);
    assert_true(cut.bound_ms <= whole.cost.step_ms * (1 + 1e-9));
    assert_true(!some.fits || cut.cost.step_ms >= whole.bound_ms * (1 - 1e-9));
    relaxed_plan_release(&whole);
    relaxed_plan_release(&cut);
    problem_release(&p);
}

static void no_stability_from_half_the_answers(void **state)
{
    struct stability_options o = {.limit = INFINITY, .variables = true, .inputs = true};
    struct stability s;
    struct problem p;
    struct err e;
    (void)state;

    load_example("t5-tiny", DEVICES, NULL, &p);
    o.on = mem_alloc(p.classes.count * sizeof *o.on);
    p.stop = &now;
    assert_int_equal(stability_of(&p, &o, &s, &e), ERR_STOPPED);
    free((label *)o.on);
    problem_release(&p);
}

/* Another problem from this one, as plans on fewer devices need it, is given up between its steps.
 */
static void a_derived_problem(void **state)
{
    struct problem_change change = {.batch_param = BATCH_AS_FOUND, .until = &now};
    struct fewer_question q = {.step_ms = 1e9, .variables = true, .inputs = true, .stop = &now};
    struct problem *derived = mem_alloc(sizeof *derived);
    struct problem p;
    struct fewer f;
    struct err e;
    (void)state;

    load(&p);
    assert_int_equal(problem_derive(&p, &change, derived, &e), ERR_STOPPED);
    assert_int_equal(fewer_devices(&p, &q, &f, &e), 0);
    assert_false(f.found);
    q.stop = NULL;
    assert_int_equal(fewer_devices(&p, &q, &f, &e), 0);
    assert_true(f.found);
    change.until = NULL;
    assert_int_equal(problem_derive(&p, &change, derived, &e), 0);
    problem_release(derived);
    free(derived);
    problem_release(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_derived_problem),
        cmocka_unit_test(a_limit),
        cmocka_unit_test(batches_and_zero),
        cmocka_unit_test(relaxed_plans),
        cmocka_unit_test(no_stability_from_half_the_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
