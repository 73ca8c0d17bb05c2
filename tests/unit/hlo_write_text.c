/* Text written back: what XLA printed comes out byte for byte, other spellings in XLA's. */
#include "hlo/load.h"
#include "hlo/module/hlo.h"
#include "hlo/text/write_text.h"
#include "read_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

static void check_written(const char *text, const struct hlo_write_options *o, const char *expected)
{
    struct hlo_module *m = read_text(text);
    struct str out = {0};
    struct err e;

    assert_int_equal(hlo_write_text(m, o, &out, &e), 0);
    assert_string_equal(out.text, expected);
    str_release(&out);
    hlo_free(m);
}

static char *read_gz(const char *path, size_t *size)
{
    gzFile f = gzopen(path, "rb");
    size_t room = 16u << 20;
    char *data = malloc(room);

    assert_non_null(f);
    assert_non_null(data);
    int n = gzread(f, data, (unsigned)room);
    assert_true(n > 0 && (size_t)n < room);
    gzclose(f);
    *size = (size_t)n;
    return data;
}

static void check_same(const char *path)
{
    struct hlo_module *m;
    struct str out = {0};
    struct err e;
    size_t size;
    char *printed_by_xla = read_gz(path, &size);

    assert_int_equal(hlo_load(path, NULL, &m, &e), 0);
    assert_int_equal(hlo_write_text(m, NULL, &out, &e), 0);
    assert_int_equal(out.size, size);
    assert_memory_equal(out.text, printed_by_xla, size);
    str_release(&out);
    hlo_free(m);
    free(printed_by_xla);
}

static void test_examples_come_out_as_xla_printed_them(void **state)
{
    (void)state;
    DIR *d = opendir("examples/models");
    int count = 0;

    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) {
        char path[512];
        if (!strstr(e->d_name, ".hlo.txt.gz"))
            continue;
        snprintf(path, sizeof path, "examples/models/%s", e->d_name);
        check_same(path);
        count++;
    }
    closedir(d);
    assert_true(count >= 10);
}

#define SMALL                          \
    "HloModule m\n\nENTRY e {\n"       \
    "  x = f32[4]{0} parameter(0)%s\n" \
    "  ROOT y = f32[4]{0} negate(x)%s\n}\n\n"

static const char *shard_x(void *context, hlo_id id)
{
    (void)context;
    return id == 0 ? "{devices=[2]<=[2]}" : NULL;
}

static void test_shardings_are_replaced(void **state)
{
    (void)state;
    char in[512], out[512];
    struct hlo_write_options o = {.sharding = shard_x};

    snprintf(in, sizeof in, SMALL, ", metadata={op_name=\"x\"}", ", sharding={replicated}");
    snprintf(out, sizeof out, SMALL, ", sharding={devices=[2]<=[2]}, metadata={op_name=\"x\"}", "");
    check_written(in, &o, out);
}

static void test_metadata_can_be_left_out(void **state)
{
    (void)state;
    char in[512], out[512];
    struct hlo_write_options o = {.no_metadata = true};

    snprintf(in, sizeof in, SMALL, ", metadata={op_name=\"x\"}, backend_config={\"k\":1}", "");
    snprintf(out, sizeof out, SMALL, ", backend_config={\"k\":1}", "");
    check_written(in, &o, out);
}

/* Attributes in any order come out in XLA's. */
static void test_order_of_attributes(void **state)
{
    (void)state;
    char in[512], out[512];

    snprintf(in, sizeof in, SMALL, "",
             ", backend_config=\"b\", metadata={op_name=\"y\"}, frontend_attributes={a=\"b\"}, "
             "sharding={replicated}, control-predecessors={x}");
    snprintf(out, sizeof out, SMALL, "",
             ", sharding={replicated}, frontend_attributes={a=\"b\"}, control-predecessors={x}, "
             "metadata={op_name=\"y\"}, backend_config=\"b\"");
    check_written(in, NULL, out);
}

/* A bare `true` or `f32` would be a word of the language. */
static void test_names_that_are_words(void **state)
{
    (void)state;
    check_written("ENTRY %e { %f32 = f32[] parameter(0) ROOT %true = f32[] negate(%f32) }", NULL,
                  "HloModule e\n\nENTRY e {\n  %f32 = f32[] parameter(0)\n"
                  "  ROOT %true = f32[] negate(%f32)\n}\n\n");
}

static void save_and_load(const struct hlo_module *m, const char *path)
{
    struct hlo_module *again;
    struct err e;

    assert_int_equal(hlo_save(m, path, NULL, &e), 0);
    assert_int_equal(hlo_load(path, NULL, &again, &e), 0);
    assert_int_equal(again->count, m->count);
    assert_int_equal(again->is_gzipped, strstr(path, ".gz") != NULL);
    hlo_free(again);
    assert_int_equal(unlink(path), 0);
}

static void test_save_by_ending(void **state)
{
    (void)state;
    struct hlo_module *m = read_text("ENTRY e { ROOT x = f32[] parameter(0) }");
    char folder[] = "/tmp/automap_save_XXXXXX", path[128];
    struct err e;

    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/m.hlo", folder);
    save_and_load(m, path);
    snprintf(path, sizeof path, "%s/m.txt.gz", folder);
    save_and_load(m, path);
    snprintf(path, sizeof path, "%s/m.doc", folder);
    assert_int_equal(hlo_save(m, path, NULL, &e), ERR_INPUT);
    assert_non_null(strstr(e.what, "ending"));
    snprintf(path, sizeof path, "%s/none/m.txt", folder);
    assert_int_equal(hlo_save(m, path, NULL, &e), ERR_IO);
    hlo_free(m);
    assert_int_equal(rmdir(folder), 0); /* and no temporary file is left */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples_come_out_as_xla_printed_them),
        cmocka_unit_test(test_shardings_are_replaced),
        cmocka_unit_test(test_metadata_can_be_left_out),
        cmocka_unit_test(test_order_of_attributes),
        cmocka_unit_test(test_names_that_are_words),
        cmocka_unit_test(test_save_by_ending),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
