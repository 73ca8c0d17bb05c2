/* What reaches a terminal from a file: controls, bidi, broken UTF-8 replaced, the rest kept. */
#include "hlo/support/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

static void check(const char *in, const char *expected)
{
    char out[64];

    text_clean(out, sizeof out, in, strlen(in));
    assert_string_equal(out, expected);
    assert_int_equal(text_is_clean(in, strlen(in)), !strcmp(in, expected));
}

static void test_clean(void **state)
{
    (void)state;
    check("params['q']['kernel']", "params['q']['kernel']");
    check("caf\303\251 \342\224\200", "caf\303\251 \342\224\200");
    check("\033[31mred", "?[31mred");
    check("a\nb\tc\rd", "a b c?d");
    check("evil\342\200\256txt", "evil?txt");     /* right-to-left override */
    check("zero\342\200\213width", "zero?width"); /* zero-width space */
    check("\302\233c1", "?c1");                   /* CSI as one C1 character */
    check("\300\257", "??");                      /* overlong '/' */
    check("\355\240\200", "???");                 /* surrogate */
    check("cut \342\224", "cut ??");
}

static void test_cut_at_a_character(void **state)
{
    (void)state;
    char out[4];
    assert_int_equal(text_clean(out, sizeof out, "ab\303\251", 4), 2);
    assert_string_equal(out, "ab");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clean),
        cmocka_unit_test(test_cut_at_a_character),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
