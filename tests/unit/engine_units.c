/* Figures as people read them: what is expected is written by hand, from the rules of
 * engine/text/units.h. */
#include "engine/text/units.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

static void numbers_have_commas_from_1000(void **state)
{
    static const struct {
        double value;
        int decimals;
        const char *text;
    } of[] = {
        {0, 1, "0.0"},
        {-0.04, 1, "0.0"},
        {-0.06, 1, "-0.1"},
        {999.94, 1, "999.9"},
        {999.95001, 1, "1,000.0"},
        {7205, 0, "7,205"},
        {1045.1, 1, "1,045.1"},
        {-166294.6, 1, "-166,294.6"},
        {12345678.9, 2, "12,345,678.90"},
        {1e15, 0, "1,000,000,000,000,000"},
        {NAN, 1, "nan"},
        {-INFINITY, 1, "-inf"},
    };
    char out[UNITS_ROOM];

    (void)state;
    for (size_t n = 0; n < sizeof of / sizeof *of; n++)
        assert_string_equal(units_number(out, of[n].value, of[n].decimals), of[n].text);
}

static void changes_have_a_sign_unless_they_round_to_none(void **state)
{
    char out[UNITS_ROOM];

    (void)state;
    assert_string_equal(units_change(out, 1045.1, 1), "+1,045.1");
    assert_string_equal(units_change(out, -0.7, 1), "-0.7");
    assert_string_equal(units_change(out, 0.04, 1), "0.0");
    assert_string_equal(units_change(out, -0.04, 1), "0.0");
    assert_string_equal(units_change(out, 0.4, 0), "0");
    assert_string_equal(units_change(out, NAN, 1), "nan");
}

static void times_change_to_seconds_at_10000_ms(void **state)
{
    char out[UNITS_ROOM];

    (void)state;
    assert_string_equal(units_ms(out, 9999.94), "9,999.9 ms");
    assert_string_equal(units_ms(out, 10), "10.0 ms");
    assert_string_equal(units_ms(out, 9.999), "10.0 ms");
    assert_string_equal(units_ms(out, 8.7512), "8.75 ms");
    assert_string_equal(units_ms(out, 0.5444), "0.544 ms");
    assert_string_equal(units_ms(out, -0.04196), "-0.0420 ms");
    assert_string_equal(units_ms(out, 0.00001), "0.0000 ms");
    assert_string_equal(units_ms(out, 0), "0.0 ms");
    assert_int_equal(units_ms_decimals(NAN), 1);
    assert_string_equal(units_ms(out, 9999.96), "10.0 s");
    assert_string_equal(units_ms(out, 58993.4), "59.0 s");
    assert_string_equal(units_ms(out, 5e6), "5,000.0 s");
    assert_string_equal(units_plain_ms(out, 255.12), "255.1");
    assert_string_equal(units_plain_ms(out, 26775.8), "26.8 s");
}

static void sizes_rates_and_shares_keep_their_unit(void **state)
{
    char out[UNITS_ROOM];

    (void)state;
    assert_string_equal(units_bytes(out, 312), "312 B");
    assert_string_equal(units_bytes(out, 30.6e3), "31 kB");
    assert_string_equal(units_bytes(out, 1234.56e9), "1,234.6 GB");
    assert_string_equal(units_rate(out, 15.7e12, "FLOP/s"), "15.7 TFLOP/s");
    assert_string_equal(units_percent(out, 0.041), "4.1 %");
    assert_string_equal(units_percent(out, 12.345), "1,234.5 %");
    assert_string_equal(units_count(out, -27083), "-27,083");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_have_commas_from_1000),
        cmocka_unit_test(changes_have_a_sign_unless_they_round_to_none),
        cmocka_unit_test(times_change_to_seconds_at_10000_ms),
        cmocka_unit_test(sizes_rates_and_shares_keep_their_unit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
