/* Themes: every shipped one complete, readable (WCAG 2.1), and told apart by eyes that lack a cone;
 * wrong files named with their place. */
#include "tui/files/theme_file.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>
#include <string.h>

static struct theme load(const char *name)
{
    struct theme t = {0};
    struct err e = {0};
    if (theme_load(&t, name, &e)) {
        err_print(&e, stderr);
        fail_msg("theme %s", name);
    }
    return t;
}

static void test_shipped(void **state)
{
    (void)state;
    static const char *const expected[] = {"16-colour", "default", "deuteranopia", "high-contrast",
                                           "light",     "mono",    "tritanopia"};
    for (size_t i = 0; i < 7; i++) {
        assert_string_equal(theme_builtin(i), expected[i]);
        struct theme t = load(expected[i]);
        assert_string_equal(t.name, expected[i]);
        assert_true(strlen(t.summary) > 0);
    }
    assert_null(theme_builtin(7));
}

static double linear(double v)
{
    return v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4);
}

static double luminance(struct colour c)
{
    return 0.2126 * linear(c.r / 255.0) + 0.7152 * linear(c.g / 255.0) +
           0.0722 * linear(c.b / 255.0);
}

/* WCAG 2.1 contrast ratio, 1..21. */
static double contrast_ratio(struct colour a, struct colour b)
{
    double la = luminance(a), lb = luminance(b);
    return (fmax(la, lb) + 0.05) / (fmin(la, lb) + 0.05);
}

static void test_contrast_formula(void **state)
{
    (void)state;
    /* Figures of the WCAG definition: black on white 21, #777777 on white 4.48, #767676 4.54. */
    struct colour white = {COLOUR_RGB, 0, 255, 255, 255}, black = {COLOUR_RGB, 0, 0, 0, 0};
    struct colour grey = {COLOUR_RGB, 0, 0x77, 0x77, 0x77},
                  grey6 = {COLOUR_RGB, 0, 0x76, 0x76, 0x76};
    assert_true(fabs(contrast_ratio(white, black) - 21) < 1e-9);
    assert_true(fabs(contrast_ratio(grey, white) - 4.48) < 0.005);
    assert_true(fabs(contrast_ratio(white, grey6) - 4.54) < 0.005);
}

/* Roles that are lines or areas, never text. */
static bool is_text(enum role role)
{
    return role != ROLE_BORDER && role != ROLE_SELECT && role != ROLE_SELECT_DIM &&
           !(role >= ROLE_HEAT_0 && role <= ROLE_HEAT_2);
}

static double contrast_of(const struct theme *t, unsigned style)
{
    struct look look = theme_look(t, style);
    struct colour fg =
        look.fg.kind == COLOUR_DEFAULT ? (struct colour){COLOUR_NAMED, 7, 229, 229, 229} : look.fg;
    return contrast_ratio(fg, look.bg.kind == COLOUR_DEFAULT ? t->background : look.bg);
}

static void test_contrast(void **state)
{
    (void)state;
    for (size_t i = 0; theme_builtin(i); i++) {
        struct theme t = load(theme_builtin(i));
        double least = strcmp(t.name, "high-contrast") ? 4.5 : 7;
        if (!strcmp(t.name, "16-colour"))
            least =
                2.9; /* the terminal decides; as xterm shows them they must at least be legible */
        for (unsigned role = 0; role < ROLE_COUNT; role++) {
            double plain = contrast_of(&t, role);
            double selected = contrast_of(&t, role | BACK(ROLE_SELECT));
            double rested = contrast_of(&t, role | BACK(ROLE_SELECT_DIM));
            double worst = fmin(plain, fmin(selected, rested));
            if (is_text(role) && worst < least)
                fail_msg("%s: %s has %.2f plain, %.2f selected, %.2f dimly selected", t.name,
                         role_name(role), plain, selected, rested);
            if (role == ROLE_BORDER && plain < 1.6)
                fail_msg("%s: border has %.2f", t.name, plain);
            if (role >= ROLE_HEAT_0 && role <= ROLE_HEAT_2 && plain < 3)
                fail_msg("%s: %s has %.2f", t.name, role_name(role), plain);
        }
    }
}

/* Simulated sight, Machado, Oliveira and Fernandes 2009, severity 1.0, on linear RGB. */
static const double machado[3][3][3] = {
    {{0.152286, 1.052583, -0.204868},
     {0.114503, 0.786281, 0.099216},
     {-0.003882, -0.048116, 1.051998}},
    {{0.367322, 0.860646, -0.227968},
     {0.280085, 0.672501, 0.047413},
     {-0.011820, 0.042940, 0.968881}},
    {{1.255528, -0.076749, -0.178779},
     {-0.078411, 0.930809, 0.147602},
     {0.004733, 0.691367, 0.303900}},
};
enum { PROTAN, DEUTAN, TRITAN };

static double lab_f(double t)
{
    return t > 216.0 / 24389 ? cbrt(t) : (24389.0 / 27 * t + 16) / 116;
}

/* CIE L*a*b* (D65) of a colour as seen. */
static void seen_lab(struct colour c, int sight, double lab[3])
{
    double in[3] = {linear(c.r / 255.0), linear(c.g / 255.0), linear(c.b / 255.0)}, rgb[3];
    for (int i = 0; i < 3; i++) {
        rgb[i] = 0;
        for (int j = 0; j < 3; j++)
            rgb[i] += machado[sight][i][j] * in[j];
        rgb[i] = fmin(1, fmax(0, rgb[i]));
    }
    double x = (0.4124 * rgb[0] + 0.3576 * rgb[1] + 0.1805 * rgb[2]) / 0.95047;
    double y = 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2];
    double z = (0.0193 * rgb[0] + 0.1192 * rgb[1] + 0.9505 * rgb[2]) / 1.08883;
    lab[0] = 116 * lab_f(y) - 16;
    lab[1] = 500 * (lab_f(x) - lab_f(y));
    lab[2] = 200 * (lab_f(y) - lab_f(z));
}

static double distance(struct colour a, struct colour b, int sight)
{
    double p[3], q[3];
    seen_lab(a, sight, p);
    seen_lab(b, sight, q);
    return sqrt(pow(p[0] - q[0], 2) + pow(p[1] - q[1], 2) + pow(p[2] - q[2], 2));
}

static void check_apart(const struct theme *t, int sight)
{
    static const enum role sets[3][5] = {
        {ROLE_CHOICE_0, ROLE_CHOICE_1, ROLE_CHOICE_2, ROLE_CHOICE_3, ROLE_COUNT},
        {ROLE_OK, ROLE_WARN, ROLE_ERR, ROLE_COUNT, ROLE_COUNT},
        {ROLE_PLOT_0, ROLE_PLOT_1, ROLE_PLOT_2, ROLE_PLOT_3, ROLE_COUNT},
    };
    for (int s = 0; s < 3; s++) {
        for (int i = 0; sets[s][i] != ROLE_COUNT; i++) {
            for (int j = i + 1; sets[s][j] != ROLE_COUNT; j++) {
                double d = distance(t->roles[sets[s][i]].fg, t->roles[sets[s][j]].fg, sight);
                if (d < 15)
                    fail_msg("%s: %s and %s are %.1f apart for sight %d", t->name,
                             role_name(sets[s][i]), role_name(sets[s][j]), d, sight);
            }
        }
    }
}

static void test_apart(void **state)
{
    (void)state;
    struct theme d = load("deuteranopia"), t = load("tritanopia");
    check_apart(&d, DEUTAN);
    check_apart(&d, PROTAN);
    check_apart(&t, TRITAN);
}

static void test_mono_carries_by_attribute(void **state)
{
    (void)state;
    struct theme t = load("mono");
    for (unsigned role = 0; role < ROLE_COUNT; role++) {
        assert_int_equal(t.roles[role].fg.kind, COLOUR_DEFAULT);
        assert_int_equal(t.roles[role].bg.kind, COLOUR_DEFAULT);
    }
    assert_true(theme_look(&t, ROLE_NEXT).attr & REVERSE);
    assert_true(theme_look(&t, ROLE_CHOICE_1).attr & BOLD);
    /* All of the cursor's row: a terminal's own block on one cell would turn that back. Where the
     * panel has not the keys, its first cell. */
    assert_true(theme_look(&t, ROLE_TEXT | BACK(ROLE_SELECT)).attr & REVERSE);
    assert_true(theme_look(&t, ROLE_TEXT | MARK | BACK(ROLE_SELECT_DIM)).attr & REVERSE);
    assert_false(theme_look(&t, ROLE_TEXT | BACK(ROLE_SELECT_DIM)).attr & REVERSE);
    struct theme colours = load("default");
    assert_false(theme_look(&colours, ROLE_TEXT | MARK | BACK(ROLE_SELECT)).attr & REVERSE);
}

static void check_wrong(const char *text, const char *expected)
{
    struct theme t = {.name = "untouched"};
    struct err e = {0};
    char line[512];
    assert_int_equal(theme_parse(&t, text, strlen(text), &e), ERR_INPUT);
    err_in_file(&e, "t.yaml");
    err_format(&e, line, sizeof line);
    assert_memory_equal(line, expected, strlen(expected));
    assert_string_equal(t.name, "untouched");
}

static void test_wrong_files(void **state)
{
    (void)state;
    check_wrong("name: x\ncolor: red\n", "t.yaml:2:1: unknown key \"color\"");
    check_wrong("background: black\nroles:\n  text: {fg: red}\n  titel: {}\n",
                "t.yaml:4:3: no role \"titel\"");
    check_wrong("background: black\nroles:\n  text: {fg: rred}\n",
                "t.yaml:3:14: no colour \"rred\"");
    check_wrong("background: \"#12345\"\n", "t.yaml:1:13: no colour \"#12345\"");
    check_wrong("background: black\nroles:\n  text: {font: red}\n",
                "t.yaml:3:10: unknown key \"font\"");
    check_wrong("background: black\nroles:\n  text: {attr: blink}\n", "t.yaml:3:16: attr is");
    check_wrong("background: black\nroles:\n  text: {}\n", "t.yaml:3:3: role \"dim\" is missing");
    check_wrong("background: black\nroles: {text: {}, text: {}}\n",
                "t.yaml:2:19: \"text\" is given twice");
    check_wrong("- a\n- b\n", "t.yaml:1:1: a theme is a map");
    check_wrong("roles: {text: [}\n", "t.yaml:1:");
    check_wrong("paint: perhaps\n", "t.yaml:1:8: paint is true or false");

    struct theme t = {0};
    struct err e = {0};
    assert_int_equal(theme_load(&t, "dracula", &e), ERR_INPUT);
    assert_non_null(strstr(e.what, "default, deuteranopia"));
    assert_int_equal(theme_load(&t, "/nonexistent/x.yaml", &e), ERR_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shipped),
        cmocka_unit_test(test_contrast_formula),
        cmocka_unit_test(test_contrast),
        cmocka_unit_test(test_apart),
        cmocka_unit_test(test_mono_carries_by_attribute),
        cmocka_unit_test(test_wrong_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
