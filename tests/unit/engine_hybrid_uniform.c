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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_want_of_memory)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
