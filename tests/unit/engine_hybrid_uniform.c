/* Uniform plans: where memory is wanting the search says so, rather than find a worse plan. */
#include "engine/hybrid/hybrid.h"
#include "tests/unit/shipped.h"

void *__real_mem_try(size_t count, size_t size);
void *__wrap_mem_try(size_t count, size_t size);

static uint32_t made, fails; /* of mem_try; which one: 0: none */

void *__wrap_mem_try(size_t count, size_t size)
{
    return ++made == fails ? NULL : __real_mem_try(count, size);
}

static int search(const struct problem *p, uint32_t at, double *step_ms)
{
    struct hybrid_options o = {
        .micro_batches = 4, .stages = 2, .zero = 1, .is_uniform = true, .no_bound = true};
    struct hybrid h;
    struct err e;

    made = 0;
    fails = at;
    int rc = hybrid_new(p, &o, &h, &e);
    fails = 0;
    if (rc)
        return rc;
    *step_ms = hybrid_step_ms(&h);
    hybrid_release(&h);
    return 0;
}

static void test_want_of_memory(void **unused)
{
    struct problem *p = mem_alloc(sizeof *p);
    double whole, step = 0;

    (void)unused;
    load_shipped("mlp", "v100-1x4", p);
    assert_int_equal(search(p, 0, &whole), 0);
    uint32_t count = made;
    for (uint32_t at = 1; at <= count; at++) {
        int rc = search(p, at, &step);
        if (rc != ERR_MEMORY)
            fail_msg("allocation %u of %u: %d, a step of %g ms in place of %g", at, count, rc, step,
                     whole);
    }
    print_message("%u allocations that failed\n", count);
    problem_release(p);
    free(p);
}

/* A number of micro-batches and a slot that the bound rules out take no plan away. */
static void test_what_cannot_win_is_left_out(void **unused)
{
    static const char *const cases[][2] = {
        {"mlp", "v100-1x4"}, {"t5-base6", "a100-1x8"}, {"bert48", "a-2x8-v100"}};
    uint32_t interleaved = 0, fewer = 0;
    struct err e;

    (void)unused;
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        struct problem *p = mem_alloc(sizeof *p);
        struct hybrid_options o = {.zero = 1};
        struct hybrid all, some;
        load_shipped(cases[n][0], cases[n][1], p);
        assert_int_equal(hybrid_new(p, &o, &some, &e), 0);
        o.no_bound = true;
        assert_int_equal(hybrid_new(p, &o, &all, &e), 0);
        print_message("%s: %g ms, %u chunks, %u of %u points\n", cases[n][0], hybrid_step_ms(&some),
                      some.chunks, some.points, all.points);
        assert_true(hybrid_step_ms(&some) == hybrid_step_ms(&all));
        assert_int_equal(some.chunks, all.chunks);
        assert_int_equal(some.micro_batches, all.micro_batches);
        interleaved += some.chunks > 1;
        fewer += some.points < all.points;
        hybrid_release(&some);
        hybrid_release(&all);
        problem_release(p);
        free(p);
    }
    assert_true(interleaved && fewer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_want_of_memory),
                                       cmocka_unit_test(test_what_cannot_win_is_left_out)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
