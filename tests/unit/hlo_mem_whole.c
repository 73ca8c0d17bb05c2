/* mem_try_whole: zeros of any size, whose pages are there when it returns. */
#define _GNU_SOURCE /* mincore, MADV_POPULATE_WRITE */
#include "hlo/support/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static const size_t sizes[] = {0, 1, 4096, (1 << 18) - 1, 1 << 18, (1 << 18) + 1, (3 << 20) + 5};

static void test_zeros(void **state)
{
    (void)state;
    for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++) {
        unsigned char *used = malloc(sizes[n] + 1); /* what is given back is had again */
        for (size_t k = 0; used && k < sizes[n]; k++)
            used[k] = 0xa5;
        free(used);
        unsigned char *p = mem_try_whole(sizes[n], 1);
        assert_non_null(p);
        for (size_t k = 0; k < sizes[n]; k++)
            assert_int_equal(p[k], 0);
        free(p);
    }
    assert_null(mem_try_whole(SIZE_MAX / 2, 3));
    assert_null(mem_try_whole(SIZE_MAX, SIZE_MAX));
}

/* Nobody has written yet, and all pages but those at the ends, which others share, are there. */
static void test_pages(void **state)
{
#ifdef MADV_POPULATE_WRITE
    enum { SIZE = 24 << 20, PAGES = SIZE / 4096 };
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *p = mem_try_whole(SIZE, 1);
    static unsigned char is_there[PAGES];

    (void)state;
    assert_non_null(p);
    char *begin = p + (page - (uintptr_t)p % page) % page;
    size_t pages = (size_t)(p + SIZE - begin) / page;
    if (!madvise(begin, page, MADV_POPULATE_WRITE)) { /* not by old kernels */
        assert_int_equal(mincore(begin, pages * page, is_there), 0);
        for (size_t k = 0; k < pages; k++)
            assert_true(is_there[k] & 1);
    }
    free(p);
#else
    (void)state;
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_zeros),
        cmocka_unit_test(test_pages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
