/* The small parts under the explorer: the painter's bytes, the line editor, lists, recent files,
 * fuzzy matching, and the index of examples. */
#include "tui/files/examples.h"
#include "tui/files/recent.h"
#include "tui/files/sessions.h"
#include "tui/files/theme_file.h"
#include "tui/files/user_files.h"
#include "tui/options/problem_args.h"
#include "tui/screen/edit.h"
#include "tui/screen/keys.h"
#include "tui/screen/list.h"
#include "tui/screen/match.h"
#include "tui/screen/paint.h"
#include "tui/screen/path.h"
#include "tui/screen/utf8.h"
#include "tui/views/schedule_draw.h"

#include <cjson/cJSON.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <dirent.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

static void expect_bytes(struct paint *p, const struct grid *g, const char *bytes)
{
    struct str out = {0};
    paint_frame(p, g, &out);
    assert_string_equal(out.text ? out.text : "", bytes);
    str_release(&out);
}

static void test_paint_writes_only_what_changed(void **state)
{
    (void)state;
    struct paint p;
    struct grid g = {0};
    struct theme t = {0};
    struct err e = {0};
    struct str all = {0};
    assert_int_equal(theme_load(&t, "default", &e), 0);
    paint_init(&p, &t, DEPTH_TRUE, false);
    grid_resize(&g, 10, 3);
    struct pane pane = pane_whole(&g);
    pane_text(&pane, 0, 1, ROLE_WARN | BOLD, "one");
    paint_frame(&p, &g, &all);
    assert_non_null(strstr(all.text, "\033[0;1;38;2;227;179;65mone"));

    expect_bytes(&p, &g, ""); /* the same again: nothing */
    pane_text(&pane, 1, 1, ROLE_WARN | BOLD, "x");
    expect_bytes(&p, &g, "\033[2;2H\033[0;1;38;2;227;179;65mx\033[0m");
    pane_text(&pane, 3, 2, ROLE_OK, "ab");
    expect_bytes(&p, &g, "\033[3;4H\033[0;38;2;126;231;135mab\033[0m");
    g.cursor_x = 4;
    g.cursor_y = 0;
    expect_bytes(&p, &g, "\033[1;5H\033[?25h");
    expect_bytes(&p, &g, "");
    str_release(&all);
    paint_release(&p);
    grid_release(&g);
}

static void test_paint_depths(void **state)
{
    (void)state;
    struct paint p;
    struct grid g = {0};
    struct theme t = {0};
    struct err e = {0};
    assert_int_equal(theme_load(&t, "default", &e), 0);
    grid_resize(&g, 1, 1);
    struct pane pane = pane_whole(&g);
    pane_text(&pane, 0, 0, ROLE_ERR, "▸");
    static const struct {
        enum colour_depth depth;
        bool ascii;
        const char *bytes;
    } cases[] = {
        {DEPTH_MONO, false, "\033[0m▸"},
        {DEPTH_16, false, "\033[0;91m▸"},
        {DEPTH_256, true, "\033[0;38;5;209m>"},
        {DEPTH_TRUE, true, "\033[0;38;2;255;123;114m>"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct str out = {0};
        paint_init(&p, &t, cases[i].depth, cases[i].ascii);
        paint_frame(&p, &g, &out);
        if (!strstr(out.text, cases[i].bytes))
            fail_msg("case %zu: %s", i, out.text + 1);
        str_release(&out);
        paint_release(&p);
    }
    assert_int_equal(colour_to_256((struct colour){COLOUR_RGB, 0, 255, 0, 0}), 196);
    assert_int_equal(colour_to_256((struct colour){COLOUR_RGB, 0, 18, 18, 18}), 233);
    grid_release(&g);
}

static void type(struct edit *e, const char *text)
{
    for (; *text; text++)
        assert_true(edit_key(e, (unsigned char)*text));
}

static void test_edit(void **state)
{
    (void)state;
    struct edit e = {0};
    type(&e, "pin encoder self");
    edit_key(&e, 23); /* C-w */
    assert_string_equal(e.text, "pin encoder ");
    edit_key(&e, KEYC_HOME);
    edit_key(&e, 0xe9);
    assert_string_equal(e.text, "\303\251pin encoder ");
    edit_key(&e, KEYC_RIGHT);
    edit_key(&e, KEYC_BACKSPACE);
    assert_string_equal(e.text, "\303\251in encoder ");
    edit_key(&e, KEYC_LEFT);
    edit_key(&e, KEYC_DELETE);
    assert_string_equal(e.text, "in encoder ");
    edit_key(&e, 11); /* C-k */
    assert_string_equal(e.text, "");
    edit_key(&e, KEYC_BACKSPACE);
    edit_key(&e, KEYC_DELETE);
    assert_false(edit_key(&e, KEYC_F1));
    assert_false(edit_key(&e, 27));
    for (int i = 0; i < 2 * EDIT_ROOM; i++)
        edit_key(&e, 0x65e5); /* three bytes each: never past the end */
    assert_true(e.size < EDIT_ROOM && e.size % 3 == 0);
}

static void test_history(void **state)
{
    (void)state;
    struct history h = {0};
    assert_null(history_step(&h, -1));
    history_add(&h, "a");
    history_add(&h, "b");
    history_add(&h, "b");
    assert_int_equal(h.count, 2);
    assert_string_equal(history_step(&h, -1), "b");
    assert_string_equal(history_step(&h, -1), "a");
    assert_null(history_step(&h, -1));
    assert_string_equal(history_step(&h, 1), "b");
    assert_string_equal(history_step(&h, 1), "");
    for (int i = 0; i < 3 * EDIT_HISTORY; i++)
        history_add(&h, i % 2 ? "x" : "y");
    assert_int_equal(h.count, EDIT_HISTORY);
    history_release(&h);
}

static void test_fuzzy(void **state)
{
    (void)state;
    uint64_t hits = 0;
    assert_int_equal(fuzzy_score("xyz", "pin encoder self", NULL), 0);
    assert_int_equal(fuzzy_score("nip", "pin", NULL), 0);
    assert_true(fuzzy_score("", "anything", NULL) > 0);
    assert_true(fuzzy_score("pe", "pin encoder self", &hits) > 0);
    assert_int_equal(hits, 1 | 1 << 4); /* p of pin, e of encoder */
    assert_true(fuzzy_score("th", "theme light", NULL) > fuzzy_score("th", "fetch all", NULL));
    assert_true(fuzzy_score("es", "encoder self", NULL) > fuzzy_score("es", "decoder cross", NULL));
    assert_true(fuzzy_score("theme", "theme", NULL) > fuzzy_score("theme", "theme light", NULL));
    assert_int_equal(fuzzy_score("E", "encoder", NULL), 0);
    assert_true(fuzzy_score("e", "Encoder", NULL) > 0);
}

static void test_list(void **state)
{
    (void)state;
    struct list l = {0};
    list_fit(&l, 100, 10);
    assert_false(list_move(&l, LIST_UP));
    assert_true(list_move(&l, LIST_PAGE_DOWN));
    assert_int_equal(l.cursor, 10);
    assert_int_equal(l.top, 1);
    list_move(&l, LIST_LAST);
    assert_int_equal(l.cursor, 99);
    assert_int_equal(l.top, 90);
    list_fit(&l, 5, 10);
    assert_int_equal(l.cursor, 4);
    assert_int_equal(l.top, 0);
    list_fit(&l, 0, 10);
    assert_int_equal(l.cursor, 0);
    assert_false(list_move(&l, LIST_DOWN));
    list_fit(&l, 1000, 10);
    list_go(&l, 500);
    assert_int_equal(l.top, 495);
    list_fit(&l, 1000, 0);
    assert_true(l.cursor >= l.top && l.cursor < l.top + l.rows);
}

/* A directory of files alone; returns how many it held. */
static int remove_dir(const char *path)
{
    DIR *d = opendir(path);
    int count = 0;

    assert_non_null(d);
    for (struct dirent *entry; (entry = readdir(d));) {
        if (entry->d_name[0] != '.')
            count += !unlinkat(dirfd(d), entry->d_name, 0);
    }
    closedir(d);
    assert_int_equal(rmdir(path), 0);
    return count;
}

static void test_recent(void **state)
{
    (void)state;
    char dir[] = "/tmp/automap-recent-XXXXXX", path[64], day[16];
    struct recent list[RECENT_MOST], r = {.best_ms = 412.8, .gap = 0.019};
    assert_non_null(mkdtemp(dir));
    assert_int_equal(recent_load(list, dir), 0);
    for (int i = 0; i < RECENT_MOST + 5; i++) {
        r.time = 1000 + i;
        snprintf(r.path, sizeof r.path, "/models/%d.txt", i);
        snprintf(r.cluster, sizeof r.cluster, "h100-1x8");
        r.session[0] = 0;
        if (i % 2)
            snprintf(r.session, sizeof r.session, "/sessions/%d", i);
        recent_add(dir, &r);
    }
    recent_add(dir, &r); /* the same again moves up and is not doubled */
    assert_int_equal(recent_load(list, dir), RECENT_MOST);
    assert_string_equal(list[0].path, "/models/24.txt");
    assert_string_equal(list[1].path, "/models/23.txt");
    assert_true(list[0].best_ms > 412.7 && list[0].gap > 0.018);
    assert_string_equal(list[0].session, "");
    assert_string_equal(list[1].session, "/sessions/23");
    snprintf(path, sizeof path, "%s/recent", dir);
    struct err e = {0};
    static const char broken[] = "x\n\t\t\t\t\n1\t2\t3\tc\n5\t1\t-1\tc\t/ok\n";
    assert_int_equal(file_write(path, broken, sizeof broken - 1, true, &e), 0);
    assert_int_equal(recent_load(list, dir), 1);
    assert_string_equal(list[0].path, "/ok");
    unlink(path);
    rmdir(dir);
    /* 2026-11-21 12:00 UTC; 3 Nov; the year before */
    assert_string_equal(recent_day(day, 1795262400 - 3600, 1795262400), "today");
    assert_string_equal(recent_day(day, 1795262400 - 86400, 1795262400), "yesterday");
    assert_string_equal(recent_day(day, 1795262400 - 18 * 86400, 1795262400), "3 Nov");
    assert_string_equal(recent_day(day, 1795262400 - 366 * 86400, 1795262400), "20 Nov 2025");
    assert_string_equal(recent_day(day, INT64_MAX, 1795262400), ""); /* no year that an int holds */
}

/* Journals without a name: never two of one name, the oldest go, the newest is "last". */
static void test_sessions(void **state)
{
    (void)state;
    char dir[] = "/tmp/automap-sessions-XXXXXX", path[PATH_MAX];
    static const char journal[] = "0123456789abcdef automap.journal/1\n"
                                  "0123456789abcdef b 12 0000000000000000 4059000000000000 0\n"
                                  "0123456789abcdef m 77\n0123456789abcdef m 99999";
    struct err e = {0};
    uint64_t steps;
    double best_ms;

    assert_non_null(mkdtemp(dir));
    assert_false(session_find(path, dir, "last"));
    for (int i = 0; i < SESSIONS_MOST + 3; i++) {
        assert_true(session_new_path(path, dir, "/models/a b\033[2J.hlo.txt", "v100", 1795262400));
        assert_int_equal(file_write(path, journal, sizeof journal - 1, false, &e), 0);
    }
    assert_non_null(strstr(path, "/sessions/a_b__2J.v100.20261121-120000"));
    assert_true(session_find(path, dir, "last"));
    assert_true(
        session_glance(path, &steps, &best_ms)); /* the line that has no end does not count */
    assert_int_equal(steps, 77);
    assert_true(best_ms > 99.9 && best_ms < 100.1);
    assert_false(session_find(path, dir, "nosuch"));
    assert_false(session_glance("/nosuch", &steps, &best_ms));
    assert_false(session_new_path(path, NULL, "a", "b", 0));
    snprintf(path, sizeof path, "%s/sessions", dir);
    assert_int_equal(remove_dir(path), SESSIONS_MOST);
    rmdir(dir);
}

/* Every option of a problem, as a journal keeps it, reads back as the same problem. A new option
 * fails here until problem_args_words knows it. */
static void test_problem_words(void **state)
{
    (void)state;
    const char *const all[] = {"m.hlo",
                               "c.yaml",
                               "--devices=7",
                               "--mesh",
                               "7x1",
                               "--vars",
                               "v",
                               "--servers",
                               "0-3",
                               "--loss",
                               "add.3",
                               "--profile=p",
                               "--profiled-on",
                               "/d.yaml",
                               "--kernels=k",
                               "--partitioner=shardy",
                               "--rules=paper",
                               "--divisibility",
                               "exact",
                               "--zero",
                               "2",
                               "--batch",
                               "64",
                               "--micro-batches",
                               "4",
                               "--no-reductions=add,maximum",
                               "--attention=fused",
                               "--reduce-at-once",
                               "--overlap",
                               "0.3"};
    static const struct option_set sets[] = {{.rows = problem_options}, {0}};
    const struct option_parser parser = {"plan", sets, NULL};
    struct problem_args a = {0}, b = {0};
    struct word_list words = {0}, given = {0};

    words_add(&given, "plan");
    for (size_t n = 0; n < sizeof all / sizeof *all; n++)
        words_add(&given, all[n]);
    assert_int_equal(options_parse(&parser, &a, given.count, given.items), 0);
    words_add(&words, "plan");
    problem_args_words(&a, &words);
    assert_false(words.failed);
    assert_int_equal(options_parse(&parser, &b, words.count, words.items), 0);
    assert_string_equal(a.model, b.model);
    assert_string_equal(a.cluster, b.cluster);
    assert_string_equal(a.profiled_on, b.profiled_on);
    assert_string_equal(a.vars, b.vars);
    assert_string_equal(a.servers, b.servers);
    assert_string_equal(a.profile, b.profile);
    assert_string_equal(a.kernels, b.kernels);
    assert_string_equal(a.partitioner, b.partitioner);
    assert_int_equal(a.devices, b.devices);
    assert_memory_equal(&a.options, &b.options, sizeof a.options);
    for (const struct option *o = problem_options; o->name; o++) {
        char name[48];
        bool tried = !o->value; /* a model and a cluster are */
        option_spelling(o, name);
        for (int n = 0; n < given.count; n++)
            tried |= !strncmp(given.items[n], name, strlen(name));
        if (!tried)
            fail_msg("%s is not tried here", name);
    }
    words_release(&words);
    words_release(&given);
}

static int64_t number(const cJSON *json, const char *key)
{
    return (int64_t)cJSON_GetNumberValue(cJSON_GetObjectItem(json, key));
}

static void test_index_of_examples(void **state)
{
    (void)state;
    struct example_model models[EXAMPLES_MOST];
    struct err e = {0};
    int count = 0;
    assert_int_equal(examples_models(models, &count, AUTOMAP_SOURCE_DIR, &e), 0);
    assert_true(count >= 11);
    for (int i = 0; i < count; i++) {
        char path[sizeof AUTOMAP_SOURCE_DIR + 128], *text = NULL;
        size_t size = 0;
        snprintf(path, sizeof path, AUTOMAP_SOURCE_DIR "/examples/models/%.47s.expect.json",
                 models[i].name);
        assert_int_equal(file_read(&text, &size, path, 1 << 24, &e), 0);
        cJSON *json = cJSON_Parse(text);
        assert_int_equal(models[i].instructions, number(json, "instructions"));
        assert_int_equal(models[i].variables, number(json, "variables"));
        assert_int_equal(models[i].dims, number(json, "trainable_dims"));
        cJSON_Delete(json);
        free(text);
    }
    struct example_cluster clusters[EXAMPLES_MOST];
    int found = examples_clusters(clusters, AUTOMAP_SOURCE_DIR);
    assert_true(found >= 8);
    assert_string_equal(clusters[0].name, "v100-1x4");
    assert_int_equal(clusters[0].devices, 4);
}

/* What / and \\ take. */
static void test_match(void **state)
{
    static const struct {
        const char *pattern, *text;
        bool fits;
    } cases[] = {{"kernel", "q/Kernel", true},   {"Kernel", "q/kernel", false},
                 {"^dot", "dot.3", true},        {"^dot", "a.dot", false},
                 {"dot|add", "add.4", true},     {"!dot", "add.4", true},
                 {"!dot", "dot.4", false},       {"~dcf", "decoder ffn", true},
                 {"~xyz", "decoder ffn", false}, {"[768", "f32[768 768]", true},
                 {"[768", "f32[12]", false},     {"!~dcf", "decoder ffn", false}};

    (void)state;
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        struct match *m = match_new(cases[n].pattern);
        if (match_text(m, cases[n].text) != cases[n].fits)
            fail_msg("%s in %s", cases[n].pattern, cases[n].text);
        assert_string_equal(match_pattern(m), cases[n].pattern);
        match_free(m);
    }
    assert_null(match_new(""));
    assert_null(match_new("!"));
    assert_true(match_text(NULL, "all"));
    struct match *none = match_new("!dot");
    assert_false(match_any(none, "add", "dot.1", NULL));
    match_free(none);
}

/* Endings that say what is in a file go, dots of a name stay. */
static void test_stems(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"../models/t5-base6.meta.hlo.txt.gz", "t5-base6"},
        {"llama.v1.hlo", "llama.v1"},
        {"bert48.pb.gz", "bert48"},
        {"d/module_0001.jit_step.before_optimizations.txt", "module_0001.jit_step"},
        {"a-2x8-v100.yaml", "a-2x8-v100"},
        {".hlo", ".hlo"},
        {"-", "standard input"},
    };
    char out[64];

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        assert_string_equal(file_stem(out, sizeof out, pairs[i][0]), pairs[i][1]);
}

/* A layer by a short name that still says which stack it is of. */
static void test_layer_words(void **state)
{
    static const char *const words[][2] = {{"encoder/layer_014", "enc 14"},
                                           {"model/layers/3", "layer 3"},
                                           {"layers[17]", "17"},
                                           {"layer_3", "3"},
                                           {"block_003", "block 3"},
                                           {"linear_30522", "lin 30522"},
                                           {"7", "7"},
                                           {"embedding", "embedding"},
                                           {"", "rest"}};
    char out[40];

    (void)state;
    for (size_t n = 0; n < sizeof words / sizeof *words; n++) {
        schedule_layer_text(words[n][0], "rest", out, sizeof out);
        assert_string_equal(out, words[n][1]);
    }
    assert_string_equal(schedule_batches_text(1, out), "1 micro-batch");
    assert_string_equal(schedule_batches_text(2000, out), "micro-batches 0–1,999");
}

/* Paths that do not fit show where they differ from those beside them. */
static void test_paths_apart(void **state)
{
    (void)state;
    static const struct {
        const char *path, *others[3];
        int columns;
        const char *cut;
    } cases[] = {
        {"a/q/kernel", {"b/q/kernel"}, 20, "a/q/kernel"},
        {"model/block_0/key/kernel", {NULL}, 13, "../key/kernel"},
        {"model/block_0/key/kernel", {"model/block_1/key/kernel"}, 20, "../block_0/../kernel"},
        {"model/block_0/key/kernel", {"model/block_1/key/kernel"}, 23, "../block_0/key/kernel"},
        {"model/block_0/key/kernel",
         {"model/block_1/key/kernel", "model/block_0/query/kernel"},
         17,
         "../block_0/key/.."},
        {"forward/model/decoder block 0/attention",
         {"backward/model/decoder block 0/attention", "forward/model/decoder block 1/attention"},
         26,
         "forward/../decod..ock 0/.."},
        {"forward/model/decoder block 0/attention",
         {"backward/model/decoder block 0/attention", "forward/model/decoder block 1/attention"},
         12,
         "forward/.."},
    };
    char out[64];

    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        int count = 0;
        while (count < 3 && cases[n].others[count])
            count++;
        path_cut_apart(out, sizeof out, cases[n].path, cases[n].others, count, cases[n].columns);
        assert_string_equal(out, cases[n].cut);
    }
    for (int columns = 3; columns < 60; columns++) {
        path_cut_apart(out, sizeof out, cases[5].path, cases[5].others, 2, columns);
        assert_true(utf8_text_columns(out) <= columns);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layer_words),
        cmocka_unit_test(test_stems),
        cmocka_unit_test(test_paint_writes_only_what_changed),
        cmocka_unit_test(test_paint_depths),
        cmocka_unit_test(test_edit),
        cmocka_unit_test(test_history),
        cmocka_unit_test(test_fuzzy),
        cmocka_unit_test(test_list),
        cmocka_unit_test(test_recent),
        cmocka_unit_test(test_sessions),
        cmocka_unit_test(test_problem_words),
        cmocka_unit_test(test_paths_apart),
        cmocka_unit_test(test_match),
        cmocka_unit_test(test_index_of_examples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
