/* One rank alone: items in order, each once; a flag, or an item that fails, ends the call; what is
 * shared stays; a program without MPI refuses to be two. */
#include "engine/ranks/ranks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

enum { ITEMS = 9 };

struct log {
    uint32_t items[ITEMS], count;
    uint32_t fails; /* this item */
    uint32_t stops; /* at this item the flag is set */
    atomic_bool *stop;
};

static bool work(void *self, uint32_t item, struct ranks_result *out)
{
    struct log *l = self;

    l->items[l->count++] = item;
    if (item == l->stops)
        atomic_store(l->stop, true);
    if (item == l->fails)
        return false;
    out->data = malloc(sizeof item);
    out->size = sizeof item;
    memcpy(out->data, &item, sizeof item);
    return true;
}

static uint32_t carry_out(struct log *l, bool *ok)
{
    atomic_bool stop = false;
    struct ranks r;
    struct err e;
    struct ranks_result out[ITEMS] = {0};
    int value = 7;

    l->stop = &stop;
    assert_int_equal(ranks_join(&r, &stop, &e), 0);
    assert_true(r.self == 0 && r.count == 1);
    assert_true(ranks_share(&r, &value, sizeof value) && value == 7);
    *ok = ranks_do(&r, ITEMS, work, l, out);
    uint32_t results = 0;
    for (uint32_t n = 0; n < ITEMS && out[n].data; n++, results++) {
        assert_true(out[n].size == sizeof n && !memcmp(out[n].data, &n, sizeof n));
        assert_int_equal(l->items[n], n);
    }
    ranks_release(out, ITEMS);
    assert_true(!out[0].data && !out[ITEMS - 1].data);
    assert_true(ranks_share(&r, &value, sizeof value) == !atomic_load(&stop));
    ranks_leave(&r, *ok, 0);
    return results;
}

static void test_items_in_order(void **state)
{
    (void)state;
    struct log l = {.fails = UINT32_MAX, .stops = UINT32_MAX};
    bool ok;
    assert_int_equal(carry_out(&l, &ok), ITEMS);
    assert_true(ok && l.count == ITEMS);
}

static void test_an_item_fails(void **state)
{
    (void)state;
    struct log l = {.fails = 4, .stops = UINT32_MAX};
    bool ok;
    assert_int_equal(carry_out(&l, &ok), 4);
    assert_true(!ok && l.count == 5);
}

static void test_stopped(void **state)
{
    (void)state;
    struct log l = {.fails = UINT32_MAX, .stops = 2};
    bool ok;
    assert_int_equal(carry_out(&l, &ok), 3);
    assert_true(!ok && l.count == 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_items_in_order),
        cmocka_unit_test(test_an_item_fails),
        cmocka_unit_test(test_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
