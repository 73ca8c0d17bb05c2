/* A long file of HLO text is read where the system has it: the module, or the error, is that of the
 * same text in memory, nothing of it stays mapped, and no writer comes in between. */
#define _GNU_SOURCE /* F_SETLEASE */
#include "hlo/load.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/leased.h"
#include "hlo/support/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[] = "/tmp/automap_leased_XXXXXX";
static int leases;   /* that were had */
static int releases; /* of what was read, while the rest is */

/* Stand before the real ones (tests/CMakeLists.txt). */
bool __real_leased_begin(struct leased *l, int file, size_t size, size_t pad);
bool __wrap_leased_begin(struct leased *l, int file, size_t size, size_t pad);
void __real_leased_end(struct leased *l);
void __wrap_leased_end(struct leased *l);
void __real_leased_behind(const char *begin, const char *end);
void __wrap_leased_behind(const char *begin, const char *end);

bool __wrap_leased_begin(struct leased *l, int file, size_t size, size_t pad)
{
    bool is_had = __real_leased_begin(l, file, size, pad);

    leases += is_had;
    for (size_t n = 0; is_had && n < pad; n++)
        assert_int_equal(l->text[size + n], 0);
    return is_had;
}

void __wrap_leased_end(struct leased *l)
{
    assert_true(open(path, O_WRONLY | O_NONBLOCK) < 0); /* a writer would have to wait */
    assert_int_equal(errno, EWOULDBLOCK);
    __real_leased_end(l);
}

void __wrap_leased_behind(const char *begin, const char *end)
{
    __atomic_fetch_add(&releases, 1, __ATOMIC_RELAXED); /* two threads read */
    __real_leased_behind(begin, end);
}

/* A module of `bytes` bytes and a line of blanks to fill up; each line begins with `prefix`. */
static struct str module_of(size_t bytes, const char *prefix, const char *last)
{
    struct str text = {0};

    str_format(&text, "%sHloModule long, frontend_attributes={a=\"b\"}\n\n%sENTRY main {\n", prefix,
               prefix);
    str_format(&text, "%s  v.0 = f32[8,8]{1,0} parameter(0)\n", prefix);
    for (int n = 1; text.size < bytes - 400; n++)
        str_format(&text,
                   "%s  v.%d = f32[8,8]{1,0} dot(v.%d, v.0), lhs_contracting_dims={1}, "
                   "rhs_contracting_dims={0}, metadata={op_name=\"jit(f)/layer_%d/dot\" "
                   "source_file=\"a.py\" source_line=%d}\n",
                   prefix, n, n - 1, n / 40, n);
    str_format(&text, "%s  c = f32[2]{0} constant({1, 2})\n%s  ROOT r = f32[8,8]{1,0} %s\n%s}\n",
               prefix, prefix, last, prefix);
    while (text.size + 1 < bytes)
        str_add_char(&text, ' ');
    str_add_char(&text, '\n');
    assert_int_equal(text.size, bytes);
    return text;
}

static void write_file(const struct str *text)
{
    FILE *f = fopen(path, "wb");

    assert_non_null(f);
    assert_int_equal(fwrite(text->text, 1, text->size, f), text->size);
    assert_int_equal(fclose(f), 0);
}

/* Of what `e` says, what stands behind the name of the file: line, column and sentence. */
static void same_error(const struct err *e, const struct err *f)
{
    char said[2][2048];

    err_format(e, said[0], sizeof said[0]);
    err_format(f, said[1], sizeof said[1]);
    assert_non_null(strchr(said[0], ':'));
    assert_string_equal(strchr(said[0], ':'), strchr(said[1], ':'));
}

static void same_as_in_memory(const struct str *text)
{
    struct hlo_module *file = NULL, *memory = NULL;
    struct str a = {0}, b = {0};
    struct err e = {0}, f = {0};

    write_file(text);
    int rc = hlo_load(path, NULL, &file, &e);
    assert_int_equal(hlo_load_memory("x", text->text, text->size, NULL, &memory, &f), rc);
    if (rc) {
        same_error(&e, &f);
        return;
    }
    assert_int_equal(hlo_write_text(file, NULL, &a, &e), 0);
    assert_int_equal(hlo_write_text(memory, NULL, &b, &e), 0);
    assert_int_equal(a.size, b.size);
    assert_memory_equal(a.text, b.text, a.size);
    assert_int_equal(file->instructions[file->count - 1].line,
                     memory->instructions[memory->count - 1].line);
    str_release(&a);
    str_release(&b);
    hlo_free(file);
    hlo_free(memory);
}

static const size_t sizes[] = {1 << 20, (1 << 20) + 1, (2 << 20) - 64, (2 << 20) - 63,
                               (2 << 20) - 1};

static void test_module(void **state)
{
    (void)state;
    for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++) {
        struct str text = module_of(sizes[n], "", "negate(v.7)");
        int before = leases;
        same_as_in_memory(&text);
        assert_int_equal(leases, before + 1);
        str_release(&text);
    }
}

/* What was read is given back on the way; a name of the begin and the line of an error at the end
 * are still found. */
static void test_given_back(void **state)
{
    static const char *const lasts[] = {"negate(v.7)", "negate(nobody)"};

    (void)state;
    for (size_t n = 0; n < sizeof lasts / sizeof *lasts; n++) {
        struct str text = module_of(12 << 20, "", lasts[n]);
        releases = 0;
        same_as_in_memory(&text);
        assert_true(releases >= 4); /* of 2 MB each */
        str_release(&text);
    }
}

/* Blanked before it is read: the file itself keeps it, so that nothing is given back. */
static void test_log_prefix(void **state)
{
    struct str text =
        module_of(5 << 20, "I0521 12:04:45.883123    1509 hlo.cc:186] ", "negate(v.7)");
    struct str kept = {0};
    char chunk[4096];
    size_t size;

    (void)state;
    releases = 0;
    same_as_in_memory(&text);
    assert_int_equal(releases, 0);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    while ((size = fread(chunk, 1, sizeof chunk, f)) > 0)
        str_add_bytes(&kept, chunk, size);
    fclose(f);
    assert_int_equal(kept.size, text.size);
    assert_memory_equal(kept.text, text.text, text.size);
    str_release(&kept);
    str_release(&text);
}

static void test_error(void **state)
{
    static const char *const lasts[] = {"negate(nobody)", "negate(v.7", "dot(v.7)",
                                        "reshape(v.7), dimensions={\"}"};

    (void)state;
    for (size_t n = 0; n < sizeof lasts / sizeof *lasts; n++) {
        struct str text = module_of(1 << 20, "", lasts[n]);
        same_as_in_memory(&text);
        str_release(&text);
    }
}

/* No lease while somebody writes: it is read as it was always. */
static void test_writer(void **state)
{
    struct str text = module_of(1 << 20, "", "negate(v.7)");
    struct hlo_module *m = NULL;
    struct err e = {0};
    int before = leases;

    (void)state;
    write_file(&text);
    int writer = open(path, O_WRONLY);
    assert_true(writer >= 0);
    assert_int_equal(hlo_load(path, NULL, &m, &e), 0);
    assert_int_equal(leases, before);
    hlo_free(m);
    close(writer);
    str_release(&text);
}

/* Some file systems have no leases. */
static bool has_leases(void)
{
    int file = open(path, O_RDONLY);
    bool has = file >= 0 && !fcntl(file, F_SETLEASE, F_RDLCK);

    if (file >= 0)
        close(file);
    return has;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_module),     cmocka_unit_test(test_given_back),
        cmocka_unit_test(test_log_prefix), cmocka_unit_test(test_error),
        cmocka_unit_test(test_writer),
    };
    int file = mkstemp(path);

    if (file < 0)
        return 1;
    close(file);
    int rc = has_leases() ? cmocka_run_group_tests(tests, NULL, NULL) : 77;
    unlink(path);
    return rc;
}
