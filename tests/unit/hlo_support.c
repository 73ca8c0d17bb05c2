/* The small shared pieces: numbers by hash against a search of the whole list, sorts against the
 * definition, names of files, formatted text. */
#include "hlo/support/file.h"
#include "hlo/support/mem.h"
#include "hlo/support/slots.h"
#include "hlo/support/sort.h"
#include "hlo/support/union_find.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

static uint64_t seed = 1;

static uint64_t draw(void)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return seed >> 33;
}

static uint32_t find(const struct slots *s, const uint32_t *key, uint32_t wanted, uint64_t hash)
{
    struct slot_walk at;
    uint32_t n = slots_first(s, hash, &at);

    while (n != SLOTS_END && key[n] != wanted)
        n = slots_next(s, &at);
    return n;
}

/* `kinds` of hashes: with few of them nearly all keys collide. */
static void check_slots(uint32_t count, uint64_t kinds)
{
    struct slots s = {0};
    uint32_t *key = calloc(count, sizeof *key), kept = 0;

    assert_non_null(key);
    for (uint32_t n = 0; n < count; n++) {
        uint32_t k = (uint32_t)(draw() % (2 * (uint64_t)count)), there = SLOTS_END;
        for (uint32_t m = 0; m < kept; m++)
            there = key[m] == k ? m : there;
        assert_int_equal(find(&s, key, k, k % kinds), there);
        if (there != SLOTS_END)
            continue;
        assert_true(slots_add(&s, k % kinds, kept));
        key[kept++] = k;
        assert_int_equal(find(&s, key, k, k % kinds), kept - 1);
    }
    assert_int_equal(s.count, kept);
    slots_release(&s);
    assert_int_equal(find(&s, key, key[0], key[0] % kinds), SLOTS_END);
    free(key);
}

static void test_slots(void **unused)
{
    (void)unused;
    check_slots(2000, UINT64_MAX);
    check_slots(2000, 3);
    check_slots(300, 1);
}

static void test_sort(void **unused)
{
    uint32_t whole[257];
    double part[257], moved[257], picked[257];
    uint64_t sum = 0;

    (void)unused;
    for (size_t count = 0; count < 257; count += 16) {
        for (size_t n = 0; n < count; n++) {
            whole[n] = (uint32_t)(draw() % 50) + (n % 7 ? 0 : UINT32_MAX - 60);
            part[n] = (double)(count % 32 ? draw() : draw() % 9) - 1e9;
            sum += whole[n];
        }
        sort_u32(whole, count);
        for (uint32_t n = 0; n < count; n++) {
            memcpy(moved, part, sizeof moved);
            picked[n] = select_double(moved, count, n);
        }
        sort_doubles(part, count);
        assert_memory_equal(picked, part, count * sizeof *part);
        for (size_t n = 0; n < count; n++) {
            sum -= whole[n];
            assert_true(!n || (whole[n - 1] <= whole[n] && part[n - 1] <= part[n]));
        }
        assert_int_equal(sum, 0);
    }
    sort_u32(NULL, 0);
}

/* A chain of n parents leads to its end, and afterwards is half as long. */
static void test_union(void **unused)
{
    uint32_t parent[64];

    (void)unused;
    for (uint32_t n = 0; n < 64; n++)
        parent[n] = n ? n - 1 : 0;
    assert_int_equal(union_root(parent, 63), 0);
    assert_int_equal(parent[63], 61);
    assert_int_equal(union_root(parent, 63), 0);
    assert_int_equal(union_root(parent, 0), 0);
}

static void test_file_name(void **unused)
{
    (void)unused;
    assert_string_equal(hlo_file_name("a/b/c.hlo"), "c.hlo");
    assert_string_equal(hlo_file_name("c.hlo"), "c.hlo");
    assert_string_equal(hlo_file_name("a/"), "");
}

/* Into room that is there, that just is, and that is not; beyond the limit nothing changes. */
static void test_format(void **state)
{
    char plain[8192] = "";
    size_t size = 0;
    struct str s = {0}, limited = {.limit = 20};

    (void)state;
    for (int n = 0; n < 120; n++) {
        str_format(&s, "%*s%d", n, "", n % 7);
        size += (size_t)snprintf(plain + size, sizeof plain - size, "%*s%d", n, "", n % 7);
        str_format(&s, "%s", "");
        assert_false(s.failed);
        assert_int_equal(s.size, size);
        assert_string_equal(s.text, plain);
    }
    str_release(&s);
    str_format(&limited, "%s", "0123456789");
    str_format(&limited, "%s", "0123456789");
    assert_false(limited.failed);
    assert_string_equal(limited.text, "01234567890123456789");
    str_format(&limited, "%c", 'x');
    assert_true(limited.failed);
    assert_int_equal(limited.size, 20);
    assert_string_equal(limited.text, "01234567890123456789");
    str_format(&limited, "%s", "more");
    assert_string_equal(limited.text, "01234567890123456789");
    str_release(&limited);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_format),    cmocka_unit_test(test_slots),
        cmocka_unit_test(test_sort),      cmocka_unit_test(test_union),
        cmocka_unit_test(test_file_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
