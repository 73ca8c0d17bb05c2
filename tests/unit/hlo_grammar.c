/* Text that XLA reads and protos that XLA reads: what its grammar allows beside what it prints.
 * tests/script/xla_reads.sh asks XLA itself. */
#include "hlo/load.h"
#include "hlo/meaning/roles.h"
#include "hlo/proto/write.h"
#include "hlo/support/mem.h"
#include "hlo/text/write_text.h"
#include "read_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER AUTOMAP_SOURCE_DIR "/tests/data/grammar"

static struct hlo_module *load(const char *name)
{
    struct hlo_module *m = NULL;
    struct err e = {0};
    char path[512];

    snprintf(path, sizeof path, "%s/%s", FOLDER, name);
    if (hlo_load(path, NULL, &m, &e)) {
        err_print(&e, stderr);
        fail();
    }
    return m;
}

static struct hlo_module *through_proto(const struct hlo_module *m)
{
    struct hlo_module *back = NULL;
    struct str bytes = {0};
    struct err e = {0};

    if (hlo_write_proto(m, &bytes, &e) ||
        hlo_load_memory("back", bytes.text, bytes.size, NULL, &back, &e)) {
        err_print(&e, stderr);
        fail();
    }
    str_release(&bytes);
    return back;
}

static char *text_of(const struct hlo_module *m)
{
    struct str out = {0};
    struct err e = {0};

    assert_int_equal(hlo_write_text(m, NULL, &out, &e), 0);
    return out.text;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* XLA refuses a proto in which two instructions have one name, also in two computations. */
static void check_names(const struct hlo_module *m)
{
    const char **names = calloc(m->count + 1u, sizeof *names);

    assert_non_null(names);
    for (hlo_id id = 0; id < m->count; id++)
        names[id] = hlo_name(m, id);
    qsort(names, m->count, sizeof *names, by_text);
    for (hlo_id id = 1; id < m->count; id++)
        assert_string_not_equal(names[id - 1], names[id]);
    free(names);
}

static void test_every_file(void **state)
{
    DIR *folder = opendir(FOLDER);
    int files = 0;

    (void)state;
    assert_non_null(folder);
    for (struct dirent *e; (e = readdir(folder));) {
        if (!strstr(e->d_name, ".hlo"))
            continue;
        struct hlo_module *m = load(e->d_name), *back = through_proto(m);
        assert_int_equal(m->count, back->count);
        check_names(back);
        char *first = text_of(back);
        struct hlo_module *again = read_text(first);
        char *second = text_of(again);
        assert_string_equal(first, second);
        free(first);
        free(second);
        hlo_free(again);
        hlo_free(back);
        hlo_free(m);
        files++;
    }
    closedir(folder);
    assert_true(files >= 9);
}

/* In the entry a name stays; elsewhere it gets the number of its instruction. */
static void test_names(void **state)
{
    struct hlo_module *m = load("names.hlo"), *back = through_proto(m);

    (void)state;
    for (hlo_id id = 0; id < m->count; id++) {
        bool is_entry = hlo_at(m, id)->computation == m->entry;
        assert_int_equal(hlo_at(m, id)->opcode, hlo_at(back, id)->opcode);
        if (is_entry)
            assert_string_equal(hlo_name(m, id), hlo_name(back, id));
    }
    assert_int_equal(hlo_find(back, "x") != HLO_NONE, 1);
    hlo_free(back);
    hlo_free(m);
}

/* One value for all elements is written element by element, so that older XLA reads it. */
static void test_splat(void **state)
{
    struct hlo_module *m = read_text("HloModule m\nENTRY e { c = f32[2,3] constant(1.5)\n"
                                     "  ROOT k = c64[2] constant((1, -2)) }\n");
    struct hlo_module *back = through_proto(m);
    char *text = text_of(m), *after = text_of(back);

    (void)state;
    assert_non_null(strstr(text, "{ { 1.5, 1.5, 1.5 }, { 1.5, 1.5, 1.5 } }"));
    assert_non_null(strstr(text, "{ (1, -2), (1, -2) }"));
    assert_non_null(strstr(after, "{ 1.5, 1.5, 1.5 }"));
    free(text);
    free(after);
    hlo_free(back);
    hlo_free(m);
}

/* XLA reads no proto without the values: better no file than one that is refused later. */
static void test_elided(void **state)
{
    struct hlo_module *m = read_text("HloModule m\nENTRY e { c = f32[20] constant({...})\n"
                                     "  ROOT r = f32[20] negate(c) }\n");
    struct str out = {0};
    struct err e = {0};

    (void)state;
    assert_int_equal(hlo_write_proto(m, &out, &e), ERR_INPUT);
    assert_non_null(strstr(e.what, "constant c"));
    assert_non_null(strstr(e.what, "large constants"));
    str_release(&out);
    char *text = text_of(m);
    assert_non_null(strstr(text, "{...}"));
    free(text);
    hlo_free(m);
}

/* A proto may call its module anything; in text a name ends at a blank. */
static void test_module_name(void **state)
{
    static const char json[] =
        "{\"name\":\"my model, step: "
        "1\",\"entryComputationName\":\"e\",\"computations\":[{\"name\":"
        "\"e\",\"id\":1,\"rootId\":1,\"instructions\":[{\"name\":\"p\",\"opcode\":\"parameter\","
        "\"id\":1,\"shape\":{\"elementType\":\"F32\"}}]}]}";
    struct hlo_module *m = read_text(json);
    char *text = text_of(m);

    (void)state;
    assert_string_equal(m->name, "my model, step: 1");
    struct hlo_module *back = read_text(text);
    assert_string_equal(back->name, "my_model__step__1");
    free(text);
    hlo_free(back);
    hlo_free(m);
}

/* A chain of calls that would grow past all bounds when inlined is understood less, not refused. */
static void test_calls_without_end(void **state)
{
    struct hlo_module *m = load("chain.hlo");
    struct hlo_roles r;
    struct err e = {0};

    (void)state;
    assert_int_equal(hlo_roles_new(m, NULL, &r, &e), 0);
    assert_int_equal(r.param_count, 1);
    assert_int_equal(r.params[0].confidence, HLO_DOUBTFUL);
    hlo_roles_release(&r);
    hlo_free(m);
}

static void check_refused(const char *text, unsigned line, const char *what)
{
    struct hlo_module *m = NULL;
    struct err e = {0};

    assert_int_equal(hlo_load_memory("test", text, strlen(text), NULL, &m, &e), ERR_INPUT);
    if (e.line != line || !strstr(e.what, what)) {
        err_print(&e, stderr);
        fail();
    }
}

static void test_errors_have_places(void **state)
{
    (void)state;
    check_refused(
        "HloModule m\nENTRY e {\n  x = f32[2] parameter(0)\n"
        "  ROOT r = f32[] reduce(x, x), dimensions={0}, to_apply={ a = f32[] parameter(0)\n"
        "    ROOT b = f32[] oops(c) }\n}\n",
        5, "c");
    check_refused("HloModule m\nENTRY e {\n  x = f32[2,3] parameter(0)\n"
                  "  ROOT r = f32[3,2] transpose(x), dimensions={1, /*one*/ zero}\n}\n",
                  4, "dimensions");
    check_refused("HloModule m\nENTRY e { ROOT c = f32[2,2] constant(x) }\n", 2,
                  "expected a number");
    check_refused("HloModule m\nENTRY e { x = f32[2] parameter(0)\n"
                  "  ROOT r = f32[2] copy(x), sharding=/*open\n}\n",
                  3, "comment");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_file),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_splat),
        cmocka_unit_test(test_elided),
        cmocka_unit_test(test_module_name),
        cmocka_unit_test(test_calls_without_end),
        cmocka_unit_test(test_errors_have_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
