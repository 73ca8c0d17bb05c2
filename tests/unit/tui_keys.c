/* Key names, sequences, tables, remapping and its errors. */
#include "tui/screen/keys.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

enum { QUIT, DOWN, VIEW_GRAPH, VIEW_PLANS, NEXT };
static const struct action common_actions[] = {
    [QUIT] = {"quit", "leave", "quit", "quit", "q", "q or F10"},
    [DOWN] = {"down", "move", "down", NULL, "j or Down", "Down"},
    [VIEW_GRAPH] = {"view-graph", "views", "graph", NULL, "V g", NULL},
    [VIEW_PLANS] = {"view-plans", "views", "plans", NULL, "V l", NULL},
    [NEXT] = {"next", "ask", "next", NULL, "n", NULL},
};
enum { FOLD, FLIP };
static const struct action graph_actions[] = {
    [FOLD] = {"fold", "in this panel", "fold", "fold", "h or Left", NULL},
    [FLIP] = {"flip", "in this panel", "flip", NULL, "j", NULL},
};
static const struct key_table common = {"", common_actions, 5}, graph = {"graph", graph_actions, 2};
static const struct key_table *const tables[] = {&common, &graph};

static void test_names_round_trip(void **state)
{
    (void)state;
    static const char *const all[] = {"a",     "Z",     "?",   ",",         "C-a",     "C-z",
                                      "Space", "Enter", "Esc", "Tab",       "S-Tab",   "Up",
                                      "PgDn",  "F1",    "F12", "Backspace", "\303\251"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char name[KEY_NAME_ROOM];
        uint32_t key = key_parse(all[i]);
        assert_true(key != 0);
        assert_string_equal(key_text(name, key), all[i]);
    }
    static const char *const wrong[] = {"",   "C-",    "C-A",  "F0",  "F13",
                                        "ab", "space", "\033", "C-aa"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(key_parse(wrong[i]), 0);
    struct key_sequence s;
    char text[KEYS_TEXT_ROOM];
    assert_true(key_sequence_parse(&s, "V g"));
    assert_string_equal(key_sequence_name(text, &s), "V g");
    assert_false(key_sequence_parse(&s, "a b c d"));
    assert_false(key_sequence_parse(&s, ""));
}

static void check(const struct keymap *m, const struct key_table *own, const char *typed,
                  enum key_match match, const struct key_table *table, int action)
{
    const struct key_table *got = NULL;
    int index = -1, count = 0;
    struct key_sequence s;
    assert_true(key_sequence_parse(&s, typed));
    while (count < KEYS_IN_A_ROW && s.keys[count])
        count++;
    assert_int_equal(keymap_find(m, own, s.keys, count, &got, &index), match);
    if (match == KEY_ACTION) {
        assert_ptr_equal(got, table);
        assert_int_equal(index, action);
    }
}

static void test_find(void **state)
{
    (void)state;
    struct keymap *m = keymap_new(tables, 2, KEYS_VI);
    check(m, NULL, "j", KEY_ACTION, &common, DOWN);
    check(m, &graph, "j", KEY_ACTION, &graph, FLIP); /* a panel's own keys go first */
    check(m, &graph, "Down", KEY_ACTION, &common, DOWN);
    check(m, &graph, "V", KEY_MORE, NULL, 0);
    check(m, &graph, "V l", KEY_ACTION, &common, VIEW_PLANS);
    check(m, &graph, "V x", KEY_NONE, NULL, 0);
    check(m, NULL, "h", KEY_NONE, NULL, 0);
    assert_string_equal(keymap_keys(m, &common, DOWN, 1), "Down");
    assert_null(keymap_keys(m, &common, DOWN, 2));
    assert_int_equal(keymap_changed(m), 0);
    keymap_free(m);

    m = keymap_new(tables, 2, KEYS_PLAIN);
    check(m, NULL, "j", KEY_NONE, NULL, 0);
    check(m, NULL, "F10", KEY_ACTION, &common, QUIT);
    keymap_free(m);
}

static int configure(struct keymap *m, const char *text, struct err *e)
{
    struct yaml_doc d;
    if (yaml_read(&d, text, strlen(text), e))
        return e->code;
    int rc = keymap_configure(m, &d, yaml_get(d.root, "keys"), e);
    yaml_release(&d);
    return rc;
}

static void test_remap(void **state)
{
    (void)state;
    struct err e = {0};
    struct keymap *m = keymap_new(tables, 2, KEYS_VI);
    assert_int_equal(configure(m, "keys: {quit: [x, C-q, \"Z Z\"], graph.fold: F2, next: []}", &e),
                     0);
    check(m, NULL, "q", KEY_NONE, NULL, 0);
    check(m, NULL, "x", KEY_ACTION, &common, QUIT);
    check(m, NULL, "Z Z", KEY_ACTION, &common, QUIT);
    check(m, &graph, "F2", KEY_ACTION, &graph, FOLD);
    check(m, NULL, "n", KEY_NONE, NULL, 0);
    assert_int_equal(keymap_changed(m), 3);
    keymap_free(m);
}

static void check_wrong(const char *text, const char *expected)
{
    struct err e = {0};
    char line[600];
    struct keymap *m = keymap_new(tables, 2, KEYS_VI);
    assert_int_equal(configure(m, text, &e), ERR_INPUT);
    err_in_file(&e, "c.yaml");
    err_format(&e, line, sizeof line);
    assert_string_equal(line, expected);
    keymap_free(m);
}

static void test_wrong_maps(void **state)
{
    (void)state;
    check_wrong("keys:\n  quit: q\n  jump: x\n",
                "c.yaml:3:3: no action \"jump\"; ? in the explorer lists them");
    check_wrong("keys:\n  quit: Ctrl-x\n",
                "c.yaml:2:9: no key \"Ctrl-x\"; x, C-x, Space, Enter, F1 or "
                "\"V g\" expected");
    check_wrong("keys:\n  next: q\n", "c.yaml:2:3: \"q\" means both quit and next");
    check_wrong("keys:\n  next: V\n", "c.yaml:2:3: \"V g\" means both view-graph and next");
    check_wrong("keys: q\n", "c.yaml:1:7: keys is a map: {pause: Space, graph.fold: [h, Left]}");
}

/* What may follow a key that begins sequences: every such action once, in order; nothing behind a
 * whole key. */
static void test_follows(void **state)
{
    (void)state;
    struct keymap *m = keymap_new(tables, 2, KEYS_VI);
    const uint32_t views = 'V', quit = 'q';
    char key[KEY_NAME_ROOM];
    int at = 0;

    assert_ptr_equal(keymap_follows(m, &graph, &views, 1, &at, key), &common_actions[VIEW_GRAPH]);
    assert_string_equal(key, "g");
    assert_ptr_equal(keymap_follows(m, &graph, &views, 1, &at, key), &common_actions[VIEW_PLANS]);
    assert_string_equal(key, "l");
    assert_null(keymap_follows(m, &graph, &views, 1, &at, key));
    at = 0;
    assert_null(keymap_follows(m, NULL, &quit, 1, &at, key));
    keymap_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_round_trip), cmocka_unit_test(test_find),
        cmocka_unit_test(test_follows),          cmocka_unit_test(test_remap),
        cmocka_unit_test(test_wrong_maps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
