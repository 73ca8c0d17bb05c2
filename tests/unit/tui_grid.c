/* The cell grid: clipping, wide characters, cuts, heads, dumps. */
#include "tui/files/theme_file.h"
#include "tui/screen/grid.h"
#include "tui/screen/svg.h"
#include "tui/screen/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

static void expect(const struct grid *g, const char *text)
{
    struct str out = {0};
    grid_text(g, &out);
    assert_string_equal(out.text, text);
    str_release(&out);
}

static void test_utf8(void **state)
{
    (void)state;
    const char *s = "a\303\251\342\224\201\360\237\230\200\377\300\257";
    const uint32_t expected[] = {'a', 0xe9, 0x2501, 0x1f600, 0xfffd, 0xfffd, 0xfffd, 0};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_int_equal(utf8_next(&s), expected[i]);
    for (uint32_t c = 1; c < 0x110000; c += 7) {
        char bytes[UTF8_ROOM];
        const char *at = bytes;
        utf8_put(bytes, c);
        assert_int_equal(utf8_next(&at), c >= 0xd800 && c < 0xe000 ? 0xfffd : c);
        assert_int_equal(*at, 0);
    }
    assert_int_equal(utf8_text_columns("a\346\227\245b"), 4); /* a, sun, b */
    assert_int_equal(utf8_text_columns("e\314\201"), 1);      /* e with a combining accent */
    assert_int_equal(utf8_text_columns("\342\240\277\342\226\270"), 2);
}

static void test_clipping(void **state)
{
    (void)state;
    struct grid g = {0};
    grid_resize(&g, 8, 3);
    struct pane whole = pane_whole(&g), part = pane_part(&whole, 2, 1, 4, 1);

    assert_int_equal(pane_text(&part, -1, 0, 0, "abcdefgh"), 7);
    pane_text(&part, 0, 1, 0, "below");
    pane_text(&part, 0, -1, 0, "above");
    expect(&g, "        \n  bcde  \n        \n");
    struct pane outside = pane_part(&part, 5, 0, 9, 9);
    assert_int_equal(outside.width, 0);
    pane_text(&outside, 0, 0, 0, "x");
    pane_clear(&part);
    assert_int_equal(pane_right(&part, 4, 0, 0, "12.5"), 0);
    expect(&g, "        \n  12.5  \n        \n");
    grid_release(&g);
}

static void test_wide_characters_are_never_halved(void **state)
{
    (void)state;
    struct grid g = {0};
    grid_resize(&g, 6, 1);
    struct pane p = pane_whole(&g);

    pane_text(&p, 0, 0, 0, "\346\227\245\346\227\245\346\227\245");
    expect(&g, "\346\227\245\346\227\245\346\227\245\n");
    pane_text(&p, 1, 0, 0, "x"); /* its left half goes as well */
    expect(&g, " x\346\227\245\346\227\245\n");
    pane_text(&p, 4, 0, 0, "y");
    expect(&g, " x\346\227\245y \n");
    pane_text(&p, 5, 0, 0, "\346\227\245"); /* no room for its right half */
    expect(&g, " x\346\227\245y \n");
    grid_release(&g);
}

static void test_controls_never_reach_a_cell(void **state)
{
    (void)state;
    struct grid g = {0};
    grid_resize(&g, 8, 1);
    struct pane p = pane_whole(&g);
    pane_text(&p, 0, 0, 0, "a\033[2J\302\233\007");
    expect(&g, "a?[2J?? \n");
    grid_release(&g);
}

static void check_cut(char *(*cut)(char *, size_t, const char *, int), const char *text,
                      int columns, const char *expected)
{
    char out[64];
    assert_string_equal(cut(out, sizeof out, text, columns), expected);
    assert_true(utf8_text_columns(out) <= (columns > 0 ? columns : 0));
}

static void test_cuts(void **state)
{
    (void)state;
    check_cut(text_cut_clauses, "6,722 instructions, 1,045.1 of 2,000.0 ms; decided otherwise", 50,
              "6,722 instructions, 1,045.1 of 2,000.0 ms");
    check_cut(text_cut_clauses, "6,722 instructions, 1,045.1 of 2,000.0 ms; decided otherwise", 20,
              "6,722 instructions");
    check_cut(text_cut_clauses, "Row 1 is 200.8 ms slower: 352.0 ms of computing, not 177.7 ms", 37,
              "Row 1 is 200.8 ms slower: 352.0 ms ..");
    check_cut(text_cut_clauses, "Row 1 is 200.8 ms slower: 352.0 ms of computing, not 177.7 ms", 36,
              "Row 1 is 200.8 ms slower: 352.0 ..");
    check_cut(text_cut_clauses, "a long_name/of_something/else", 20, "a long_na..hing/else");
    check_cut(text_cut_clauses, "two words", 9, "two words");
    check_cut(text_cut_clauses, "two words", 2, "tw");
    check_cut(text_cut_clauses, "dot.4  used by 1, 2  a/b/c/dot", 20, "dot.4  us..a/b/c/dot");
    check_cut(text_cut_words, "exact: optimum 1,659.6 ms, 1 case", 25, "exact: optimum 1,659.6 ms");
    check_cut(text_cut_words, "exact: optimum 1,659.6 ms, 1 case", 23, "exact: optimum 1,659.6");
    check_cut(text_cut_words, "stage 2: decisions are set back in turn", 10, "stage 2");
    check_cut(text_cut_words, "reduce_scatter.12", 10, "redu..r.12");
    check_cut(text_cut_middle, "fusion.12901", 11, "fusio..2901");
    check_cut(text_cut_middle, "fusion.12901", 12, "fusion.12901");
    check_cut(text_cut_middle, "fusion.12901", 4, "f..1");
    check_cut(text_cut_middle, "fusion.12901", 2, "fu");
    check_cut(text_cut_middle, "fusion.12901", 0, "");
    check_cut(text_cut_middle, "\346\227\245\346\227\245\346\227\245\346\227\245", 7,
              "\346\227\245..\346\227\245");
    check_cut(text_cut_left, "encoder/layer_000/self/q/kernel", 16, "../self/q/kernel");
    check_cut(text_cut_left, "encoder/layer_000/self/q/kernel", 15, "../q/kernel");
    check_cut(text_cut_left, "encoder/layer_012/self/q/kernel", 22, "..er_012/self/q/kernel");
    check_cut(text_cut_left, "encoder/layer_012/self/q/kernel", 19, "..012/self/q/kernel");
    check_cut(text_cut_left, "encoder/layer_012/self/q/kernel", 18, "../self/q/kernel");
    check_cut(text_cut_left, "encoder/layer_000/self/q/kernel", 40,
              "encoder/layer_000/self/q/kernel");
    check_cut(text_cut_left, "onelongname", 6, "..name");
}

static void test_head(void **state)
{
    (void)state;
    struct grid g = {0};
    grid_resize(&g, 30, 4);
    struct pane p = pane_whole(&g), narrow = pane_part(&p, 0, 3, 14, 1);
    pane_head(&p, 0, &(struct head){1, "Graph", "best plan, ms", true});
    pane_head(&p, 1, &(struct head){0, "Log", NULL, false});
    pane_head(&p, 2, &(struct head){2, "Classes 24", "saves ms", false});
    pane_head(&narrow, 0, &(struct head){2, "Classes", "saves ms", false});
    expect(&g, "1 Graph ━━━━━━━━ best plan, ms\n"
               "Log ──────────────────────────\n"
               "2 Classes 24 ──────── saves ms\n"
               "2 Classes ────                \n");
    grid_to_ascii(&g);
    expect(&g, "1 Graph ======== best plan, ms\n"
               "Log --------------------------\n"
               "2 Classes 24 -------- saves ms\n"
               "2 Classes ----                \n");
    grid_release(&g);
}

static void test_bar(void **state)
{
    (void)state;
    struct grid g = {0};
    grid_resize(&g, 4, 5);
    struct pane p = pane_whole(&g);
    pane_bar(&p, 0, 0, 4, 1, 0);
    pane_bar(&p, 0, 1, 4, 0.5, 0);
    pane_bar(&p, 0, 2, 4, 9.0 / 32, 0);
    pane_bar(&p, 0, 3, 4, 0.0 / 1, 0);
    pane_bar(&p, 0, 4, 4, 99, 0);
    expect(&g, "████\n██  \n█▏  \n    \n████\n");
    grid_release(&g);
}

/* A word where blanks follow, which shrink to no less than one; else a letter, and nothing moves.
 */
static void test_ascii_words(void **state)
{
    (void)state;
    static const struct {
        const char *text, *ascii;
    } cases[] = {
        {"explored: ε 0.620, by lot   next", "explored: eps 0.620, by lot next\n"},
        {"β 0.42    ε 0.1   loss", "beta 0.42 eps 0.1 loss\n"},
        {"-2.1°   speed   0.3", "-2.1deg speed   0.3\n"},
        {"ε 0.620  next     one", "e 0.620  next     one\n"},
        {"ε 0.6 │ next      one", "e 0.6 | next      one\n"},
        {"ends with an epsilon: ε 0.6", "ends with an epsilon: e 0.6\n"},
    };
    struct grid g = {0};
    struct str out = {0};

    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        grid_resize(&g, utf8_text_columns(cases[n].text), 1);
        struct pane p = pane_whole(&g);
        pane_text(&p, 0, 0, 0, cases[n].text);
        grid_to_ascii(&g);
        str_clear(&out);
        grid_text(&g, &out);
        assert_string_equal(out.text, cases[n].ascii);
    }
    str_release(&out);
    grid_release(&g);
}

static void test_every_sign_has_one_ascii_column(void **state)
{
    (void)state;
    for (uint32_t c = 1; c < 0x30000; c++) {
        uint32_t a = grid_ascii(c);
        assert_true(a < 0x80 && (a >= 0x20 || c < 0x20));
    }
    static const char *const known = "─━│▾▸·×–▶‖●▲█░▓‹›ε┏┓┗┛┷┯┊╌";
    uint32_t c;
    for (const char *s = known; (c = utf8_next(&s));)
        assert_true(grid_ascii(c) != '?');
}

static size_t count_of(const char *text, const char *part)
{
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, part)); at++)
        n++;
    return n;
}

static void test_svg(void **state)
{
    (void)state;
    struct grid g = {0};
    struct theme t = {0};
    struct err e = {0};
    struct str out = {0};
    assert_int_equal(theme_load(&t, "default", &e), 0);
    grid_resize(&g, 20, 2);
    struct pane p = pane_whole(&g);
    pane_text(&p, 0, 0, ROLE_TITLE | BOLD, "a<b & c");
    pane_text(&p, 0, 1, ROLE_PLOT_0, "\342\240\277"); /* six dots */
    pane_text(&p, 8, 1, ROLE_TEXT, "row");
    pane_select(&p, 1, ROLE_SELECT);
    grid_svg(&g, &t, &out);
    assert_non_null(strstr(out.text, "font-weight=\"bold\" fill=\"#e6edf3\">a&lt;b</text>"));
    assert_int_equal(count_of(out.text, "<circle"), 6);
    assert_int_equal(count_of(out.text, "#79b8ff"), 6);
    assert_true(count_of(out.text, "#1f2d40") >= 1);
    str_release(&out);
    grid_release(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_utf8),
        cmocka_unit_test(test_clipping),
        cmocka_unit_test(test_wide_characters_are_never_halved),
        cmocka_unit_test(test_controls_never_reach_a_cell),
        cmocka_unit_test(test_cuts),
        cmocka_unit_test(test_head),
        cmocka_unit_test(test_bar),
        cmocka_unit_test(test_ascii_words),
        cmocka_unit_test(test_every_sign_has_one_ascii_column),
        cmocka_unit_test(test_svg),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
