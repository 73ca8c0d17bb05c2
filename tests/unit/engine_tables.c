/* Tables of costs are found again by what they are made of, not by a hash of it. */
#include "engine/relaxed/tables.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

enum { LABELS = 8, CELLS = 1 << 16 };

/* One step of mem_hash (hlo/support/mem.c) over the first of two words. */
static uint64_t after_first(uint64_t word)
{
    uint64_t h = (2 * sizeof word * 0x9e3779b97f4a7c15u ^ word) * 0xff51afd7ed558ccdu;

    return h ^ h >> 32;
}

/* Two lists of labels with one hash. */
static void collide(uint16_t a[static LABELS], uint16_t b[static LABELS])
{
    uint64_t x[2] = {0x0001000200030004, 0x0005000600070008}, y[2] = {0x0102030405060708, 0};

    y[1] = x[1] ^ after_first(x[0]) ^ after_first(y[0]);
    memcpy(a, x, sizeof x);
    memcpy(b, y, sizeof y);
    assert_true(mem_hash(a, sizeof x, 0) == mem_hash(b, sizeof y, 0));
}

static void expect(const struct tables *t, table_id id, const uint16_t *labels)
{
    for (uint32_t k = 0; k < LABELS; k++)
        assert_true(tables_at(t, id, false)[k] == labels[k]);
}

static void labels_of_one_hash_are_told_apart(void **state)
{
    struct tables t;
    uint16_t a[LABELS], b[LABELS];
    const uint64_t key[TABLE_KEY] = {TABLE_KEYS};
    struct err e;
    bool is_new;

    (void)state;
    collide(a, b);
    assert_int_equal(tables_new(&t, &e), 0);
    table_id line = tables_get(&t, key, 1, CELLS, &is_new);
    for (uint32_t k = 0; k < CELLS; k++)
        tables_at(&t, line, false)[k] = k;
    struct sight s = {line, false};
    struct label_map all = {NULL, 0};
    table_id first = tables_pick(&t, &t, s, all, (struct label_map){a, LABELS});
    table_id second = tables_pick(&t, &t, s, all, (struct label_map){b, LABELS});
    assert_int_not_equal(first, second);
    expect(&t, first, a);
    expect(&t, second, b);
    assert_int_equal(first, tables_pick(&t, &t, s, all, (struct label_map){a, LABELS}));
    assert_int_equal(second, tables_pick(&t, &t, s, all, (struct label_map){b, LABELS}));
    /* The same labels, cut between rows and columns elsewhere. */
    uint64_t square_key[TABLE_KEY] = {TABLE_KEYS, 1};
    table_id square = tables_get(&t, square_key, 9, 9, &is_new);
    const uint16_t few[4] = {1, 2, 3, 4};
    table_id flat = tables_pick(&t, &t, (struct sight){square, false}, (struct label_map){few, 1},
                                (struct label_map){few + 1, 3});
    table_id even = tables_pick(&t, &t, (struct sight){square, false}, (struct label_map){few, 2},
                                (struct label_map){few + 2, 2});
    assert_int_not_equal(flat, even);
    assert_int_equal(tables_cols(&t, flat, false), 3);
    assert_int_equal(tables_cols(&t, even, false), 2);
    tables_release(&t);
}

static void forbidden_labels_add_up(void **state)
{
    struct tables t;
    const uint64_t key[TABLE_KEY] = {TABLE_KEYS};
    const uint16_t some[3] = {1, 0, 1}, other[3] = {1, 1, 0};
    struct err e;
    bool is_new;

    (void)state;
    assert_int_equal(tables_new(&t, &e), 0);
    table_id line = tables_get(&t, key, 1, 3, &is_new);
    table_id a = tables_forbid(&t, line, some), b = tables_forbid(&t, line, other);
    assert_int_not_equal(a, b);
    assert_int_equal(a, tables_forbid(&t, line, some));
    assert_true(tables_at(&t, a, false)[0] == 0 && tables_at(&t, a, false)[1] == TABLE_FORBIDDEN);
    assert_true(tables_at(&t, b, false)[1] == 0 && tables_at(&t, b, false)[2] == TABLE_FORBIDDEN);
    tables_release(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_of_one_hash_are_told_apart),
        cmocka_unit_test(forbidden_labels_add_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
