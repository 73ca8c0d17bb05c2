/* Curves: where dots fall, spikes, gaps, clipping, axes, marks, ASCII. */
#include "tui/screen/plot.h"

#include "tui/screen/theme.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <string.h>

static struct plot_drawn check(const struct plot *plot, int width, int height, const char *expected)
{
    struct grid g = {0};
    struct str out = {0};
    grid_resize(&g, width, height);
    struct pane p = pane_whole(&g);
    struct plot_drawn drawn = plot_draw(&p, plot);
    grid_text(&g, &out);
    if (expected)
        assert_string_equal(out.text, expected);
    str_release(&out);
    grid_release(&g);
    return drawn;
}

static struct plot plain(const struct plot_series *s, size_t count)
{
    return (struct plot){.series = s,
                         .series_count = count,
                         .first_x = 0,
                         .last_x = 15,
                         .unit_x = "ep",
                         .low = NAN,
                         .high = NAN,
                         .limit = NAN,
                         .limit_role = ROLE_OK};
}

/* 16 values on 16 columns of dots, 0..7 up on 8 rows of dots: one dot each, exactly placed. */
static void test_dots(void **state)
{
    (void)state;
    double y[16];
    for (int i = 0; i < 16; i++)
        y[i] = i / 2;
    struct plot_series s = {
        .y = y, .count = 16, .kind = PLOT_DOTS, .role = ROLE_PLOT_0, .sign = '*'};
    struct plot plot = plain(&s, 1);
    check(&plot, 14, 3, "    7     ⣀⠤⠒⠉\n    0 ⣀⠤⠒⠉    \n      0  15 ep\n");
    plot.ascii = true;
    check(&plot, 14, 3, "    7     ****\n    0 ****    \n      0  15 ep\n");
}

/* One spike among a thousand values is seen at any width. */
static void test_spikes_stay(void **state)
{
    (void)state;
    double y[1000] = {0};
    y[503] = 10;
    struct plot_series s = {
        .y = y, .count = 1000, .kind = PLOT_LINE, .role = ROLE_PLOT_0, .sign = '*'};
    struct plot plot = plain(&s, 1);
    for (int width = 12; width < 150; width++) {
        struct grid g = {0};
        grid_resize(&g, width, 5);
        struct pane p = pane_whole(&g);
        plot_draw(&p, &plot);
        int top = 0;
        for (int x = 6; x < width; x++)
            top += g.cells[x].ch > 0x2800 && g.cells[x].ch < 0x2900;
        assert_true(top >= 1 && top <= 2);
        grid_release(&g);
    }
}

static void test_gaps_and_clipping(void **state)
{
    (void)state;
    double y[] = {1, NAN, 2, INFINITY, 3, -INFINITY, 100};
    struct plot_series s = {
        .y = y, .count = 7, .kind = PLOT_LINE, .role = ROLE_PLOT_0, .sign = '*'};
    struct plot plot = plain(&s, 1);
    plot.low = 0;
    plot.high = 4;
    struct plot_drawn drawn = check(&plot, 30, 6, NULL);
    assert_int_equal(drawn.not_finite, 3);
    assert_int_equal(drawn.above, 1);

    double nothing[] = {NAN, NAN};
    s.y = nothing;
    s.count = 2;
    plot.low = plot.high = NAN;
    drawn = check(&plot, 30, 6, NULL);
    assert_int_equal(drawn.not_finite, 2);
    s.count = 0;
    check(&plot, 30, 6, NULL);
    double same[] = {5, 5, 5};
    s.y = same;
    s.count = 3;
    check(&plot, 30, 6, NULL);
}

/* 40 columns: values at 0 8 16 23 31 39; (1.08 - y) / 0.93 * 4 gives rows 4 3 2 2 2 1. */
static void test_axes(void **state)
{
    (void)state;
    double raw[] = {0.15, 0.3, 0.5, 0.4, 0.7, 0.9}, best[] = {0.15, 0.3, 0.5, 0.5, 0.7, 0.9};
    struct plot_series s[] = {
        {.y = raw, .count = 6, .kind = PLOT_DOTS, .role = ROLE_DIM, .sign = '.'},
        {.y = best,
         .count = 6,
         .kind = PLOT_STEPS,
         .role = ROLE_PLOT_2,
         .sign = '+',
         .name = "best"},
    };
    struct plot_mark marks[] = {{200, 1}};
    struct plot plot = plain(s, 2);
    plot.last_x = 358;
    plot.limit = 1.08;
    plot.limit_name = "optimum";
    plot.marks = marks;
    plot.mark_count = 1;
    plot.ascii = true;
    check(&plot, 46, 7,
          " 1.08 - - - - - - - - - - - - - - - - - - - - \n"
          "                                             +\n"
          " 0.50                 ++++++++++++++++++++++++\n"
          "              +++++++++      .                \n"
          " 0.15 +++++++++                               \n"
          "                            ▲1                \n"
          "      0   - optimum  + best             358 ep\n");
}

/* Marks have a row of their own; neighbours without room share one, so that none is lost. */
static void test_marks(void **state)
{
    (void)state;
    double y[] = {0, 1};
    struct plot_series s = {
        .y = y, .count = 2, .kind = PLOT_LINE, .role = ROLE_PLOT_0, .sign = '*', .name = "mean"};
    struct plot_mark marks[] = {{10, 1}, {40, 2}, {42, 3}, {44, 4}, {70, 5}, {100, 6}};
    struct plot plot = plain(&s, 1);
    plot.last_x = 100;
    plot.ascii = true;
    plot.marks = marks;
    plot.mark_count = 6;
    struct grid g = {0};
    struct str out = {0};
    for (int height = 4; height < 8; height++) {
        grid_resize(&g, 50, height);
        grid_blank(&g);
        struct pane p = pane_whole(&g);
        plot_draw(&p, &plot);
        grid_text(&g, &out);
        assert_non_null(strstr(out.text, "▲1"));
        assert_non_null(strstr(out.text, "▲2–4"));
        assert_non_null(strstr(out.text, "▲5"));
        assert_true(height < 5 || strstr(out.text, "▲6\n"));
        assert_true(height < 5 || strstr(out.text, "      0   * mean"));
        str_clear(&out);
    }
    str_release(&out);
    grid_release(&g);
}

/* A log axis keeps its decades readable: what lies far below stands at its foot, and it says so. */
static void test_log_axis_has_an_end(void **state)
{
    (void)state;
    double y[] = {1e-1, 1e-2, 1e-3, 1e-19, 1e-22};
    struct plot_series s = {
        .y = y, .count = 5, .kind = PLOT_DOTS, .role = ROLE_PLOT_0, .sign = '*'};
    struct plot plot = plain(&s, 1);
    plot.log_y = plot.ascii = true;
    struct plot_drawn drawn = check(&plot, 18, 8,
                                    "   0.1 *          \n"
                                    "          *       \n"
                                    " 0.001      *     \n"
                                    "                  \n"
                                    " 1e-05            \n"
                                    "                  \n"
                                    "<1e-07         * *\n"
                                    "       0     15 ep\n");
    assert_true(drawn.below);
    s.count = 3;
    assert_false(check(&plot, 18, 8, NULL).below);
}

/* Without colours two curves are two signs; one alone stays as fine as it is. */
static void test_curves_without_colours(void **state)
{
    (void)state;
    double low[] = {1, 1, 1, 1}, high[] = {2, 2, 2, 2};
    struct plot_series s[] = {
        {.y = low, .count = 4, .kind = PLOT_LINE, .role = ROLE_PLOT_0, .sign = '*', .name = "mean"},
        {.y = high,
         .count = 4,
         .kind = PLOT_LINE,
         .role = ROLE_PLOT_2,
         .sign = '+',
         .name = "best"},
    };
    for (int count = 1; count <= 2; count++) {
        struct plot plot = plain(s, (size_t)count);
        struct grid g = {.no_colours = true};
        struct str text = {0};
        grid_resize(&g, 30, 4);
        struct pane p = pane_whole(&g);
        plot_draw(&p, &plot);
        grid_text(&g, &text);
        assert_true((strstr(text.text, "****") != NULL) == (count == 2));
        assert_true((strstr(text.text, "++++") != NULL) == (count == 2));
        assert_true((strstr(text.text, "+ best  * mean") != NULL) == (count == 2));
        assert_true((strstr(text.text, "─ mean") != NULL) == (count == 1));
        str_release(&text);
        grid_release(&g);
    }
}

static void test_log_axis(void **state)
{
    (void)state;
    double y[] = {1, 0.1, 0.01, 0};
    struct plot_series s = {
        .y = y, .count = 4, .kind = PLOT_DOTS, .role = ROLE_PLOT_1, .sign = '*'};
    struct plot plot = plain(&s, 1);
    plot.log_y = plot.ascii = true;
    struct plot_drawn drawn = check(&plot, 16, 4,
                                    "    1 *         \n  0.1    *      \n 0.01       *   \n"
                                    "      0    15 ep\n");
    assert_int_equal(drawn.not_finite, 1);
}

/* Against the definition: sum of w^(i-j) x_j over sum of w^(i-j). */
static void test_smooth(void **state)
{
    (void)state;
    double in[] = {3, -1, NAN, 4, 1, -5, 9}, out[7];
    plot_smooth(out, in, 7, 0.9);
    for (int i = 0; i < 7; i++) {
        double sum = 0, mass = 0, weight = 1;
        for (int j = i; j >= 0; j--) {
            if (isnan(in[j]))
                continue;
            sum += weight * in[j];
            mass += weight;
            weight *= 0.9;
        }
        if (isnan(in[i]))
            assert_true(isnan(out[i]));
        else
            assert_true(fabs(out[i] - sum / mass) < 1e-12);
    }
    plot_smooth(out, in, 7, 0);
    assert_true(out[6] == 9);
}

static void test_steps(void **state)
{
    (void)state;
    assert_true(fabs(plot_step(355, 5) - 100) < 1e-9);
    assert_true(fabs(plot_step(0.93, 5) - 0.2) < 1e-9);
    assert_true(fabs(plot_step(16, 4) - 5) < 1e-9);
    assert_true(fabs(plot_step(17, 4) - 5) < 1e-9);
    for (double span = 1e-6; span < 1e9; span *= 1.37) {
        for (int most = 1; most < 12; most++) {
            double step = plot_step(span, most);
            assert_true(step * most >= span * 0.999999 && step < 10.001 * span);
        }
    }
}

/* Any size, any values: inside the pane, nothing written outside (the sanitizers watch). */
static void test_every_size(void **state)
{
    (void)state;
    double y[64];
    unsigned seed = 7;
    for (int i = 0; i < 64; i++) {
        seed = seed * 1664525u + 1013904223u;
        y[i] = seed >> 28 == 3 ? NAN : ((double)seed / 4294967296.0 - 0.5) * pow(10, seed % 12);
    }
    for (int kind = PLOT_DOTS; kind <= PLOT_STEPS; kind++) {
        struct plot_series s = {.y = y, .count = 64, .kind = (enum plot_kind)kind, .sign = '*'};
        for (int flags = 0; flags < 4; flags++) {
            struct plot plot = plain(&s, 1);
            plot.ascii = flags & 1;
            plot.log_y = flags & 2;
            plot.limit = flags ? 3 : NAN;
            for (int width = 1; width < 90; width += 3) {
                for (int height = 1; height < 20; height += 2)
                    check(&plot, width, height, NULL);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dots),
        cmocka_unit_test(test_spikes_stay),
        cmocka_unit_test(test_gaps_and_clipping),
        cmocka_unit_test(test_axes),
        cmocka_unit_test(test_marks),
        cmocka_unit_test(test_log_axis_has_an_end),
        cmocka_unit_test(test_curves_without_colours),
        cmocka_unit_test(test_log_axis),
        cmocka_unit_test(test_smooth),
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_every_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
