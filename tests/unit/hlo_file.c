/* Files are written whole or not at all, and nothing but them. */
#include "hlo/support/file.h"

#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

struct place {
    char dir[64], path[128], other[128];
};

static int make_place(void **state)
{
    struct place *p = calloc(1, sizeof *p);

    assert_non_null(p);
    snprintf(p->dir, sizeof p->dir, "/tmp/hlo_file_XXXXXX");
    assert_non_null(mkdtemp(p->dir));
    snprintf(p->path, sizeof p->path, "%s/plan.json", p->dir);
    snprintf(p->other, sizeof p->other, "%s/other", p->dir);
    *state = p;
    return 0;
}

static int clear_place(void **state)
{
    struct place *p = *state;

    unlink(p->path);
    unlink(p->other);
    assert_int_equal(rmdir(p->dir), 0); /* nothing else was left */
    free(p);
    return 0;
}

static void write_file(const char *path, const char *text, unsigned how, int expected)
{
    struct err e = {0};

    assert_int_equal(hlo_file_write(path, text, strlen(text), how, &e), expected);
    if (expected)
        assert_true(e.what[0]);
}

static void assert_holds(const char *path, const char *text, mode_t mode)
{
    struct str read = {0};
    struct stat s;
    struct err e;

    assert_int_equal(hlo_file_read(path, 1000, &read, &e), 0);
    assert_string_equal(read.text, text);
    str_release(&read);
    assert_int_equal(stat(path, &s), 0);
    assert_int_equal(s.st_mode & 07777, mode);
}

static void test_modes(void **state)
{
    struct place *p = *state;
    mode_t mask = umask(022);

    write_file(p->path, "one", FILE_REPLACE, 0);
    assert_holds(p->path, "one", 0644);
    assert_int_equal(chmod(p->path, 0600), 0);
    write_file(p->path, "two", FILE_REPLACE, 0); /* the old mode stays */
    assert_holds(p->path, "two", 0600);
    assert_int_equal(chmod(p->path, 0664), 0);
    write_file(p->path, "three", FILE_REPLACE | FILE_PRIVATE | FILE_QUICK, 0);
    assert_holds(p->path, "three", 0600);
    umask(mask);
}

static void test_no_replacing(void **state)
{
    struct place *p = *state;

    write_file(p->path, "one", 0, 0);
    write_file(p->path, "two", 0, ERR_IO);
    assert_int_equal(symlink("nowhere", p->other), 0);
    write_file(p->other, "two", 0, ERR_IO); /* a link to nothing is there too */
    assert_holds(p->path, "one", 0666 & ~022);
}

/* The link is followed; what lies beside under a name that could be guessed is not. */
static void test_links(void **state)
{
    struct place *p = *state;
    char planted[200];

    write_file(p->other, "victim", 0, 0);
    static const char *const names[] = {"%s.%ld.part", "%s.new", "%s.tmp"};
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        if (n)
            snprintf(planted, sizeof planted, "%s%s", p->path, names[n] + 2);
        else
            snprintf(planted, sizeof planted, "%s.%ld.part", p->path, (long)getpid());
        assert_int_equal(symlink(p->other, planted), 0);
        write_file(p->path, "new", FILE_REPLACE, 0);
        assert_holds(p->other, "victim", 0666 & ~022);
        assert_int_equal(unlink(planted), 0);
    }
    assert_int_equal(unlink(p->path), 0);
    assert_int_equal(symlink("other", p->path), 0);
    write_file(p->path, "through", FILE_REPLACE, 0);
    struct stat s;
    assert_int_equal(lstat(p->path, &s), 0);
    assert_true(S_ISLNK(s.st_mode));
    assert_holds(p->other, "through", 0666 & ~022);
}

static void test_failures(void **state)
{
    struct place *p = *state;
    struct rlimit old, small = {4, RLIM_INFINITY};

    write_file(p->path, "old", 0, 0);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small.rlim_max = old.rlim_max;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    struct err e;
    int rc = hlo_file_write(p->path, "much longer", 11, FILE_REPLACE, &e);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    signal(SIGXFSZ, handler);
    assert_int_equal(rc, ERR_IO);
    assert_holds(p->path, "old", 0666 & ~022); /* and clear_place finds nothing beside it */
    write_file(p->dir, "x", FILE_REPLACE, ERR_IO);
    write_file("/nowhere/at/all", "x", FILE_REPLACE, ERR_IO);
    write_file("/dev/null", "x", 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_modes, make_place, clear_place),
        cmocka_unit_test_setup_teardown(test_no_replacing, make_place, clear_place),
        cmocka_unit_test_setup_teardown(test_links, make_place, clear_place),
        cmocka_unit_test_setup_teardown(test_failures, make_place, clear_place),
    };

    umask(022);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
