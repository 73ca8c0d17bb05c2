/* A dump of the explorer: what its headline says is the sum of its rows, before and after the
 * program was planned again; that needs no file any more, and can be left. */
#include "engine/doctor/doctor.h"
#include "hlo/support/file.h"
#include "hlo/support/mem.h"
#include "tui/views/doctor_detail.h"
#include "tui/views/panel.h"
#include "tui/views/views.h"
#include "tui/watch/doctored.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const char dump[] = "tests/data/doctor/while_carry.cpu_after_optimizations.txt.gz";
static const char program[] = "tests/data/doctor/while_carry.before_optimizations.txt.gz";

/* Each at most what it takes. The headline's is what all save together: in one plan, where there is
 * one, and what rows save that have no change in it. */
static void check_sums(const struct doctored *d, bool is_planned)
{
    const struct doctor_together *t = &d->doctor.together;
    double gain = 0, apart = 0, most = INFINITY;
    uint32_t changes = 0;

    assert_true(d->row_count > 0);
    for (uint32_t n = 0; n < d->row_count; n++) {
        const struct doctored_row *r = &d->rows[n];
        double cured = r->finding->cure_is_priced ? r->now.ms - r->cured.ms : 0;
        assert_true(r->gain_ms >= 0 && r->gain_ms <= r->now.ms * (1 + 1e-12));
        assert_true(r->finding->planned.change || r->gain_ms >= cured * (1 - 1e-12));
        assert_true(r->gain_ms <= most);
        assert_true(is_planned || !r->is_planned);
        most = r->gain_ms;
        gain += r->gain_ms;
        apart += r->finding->planned.change ? 0 : r->gain_ms;
        changes += r->gain_ms > 0;
    }
    if (t->changes)
        gain = t->now_ms - t->ms + apart;
    assert_int_equal(changes, d->changes);
    assert_true((d->gain_ms > 0) == (d->changes > 0));
    assert_true(fabs(gain - d->gain_ms) <= 1e-9 * gain);
    assert_true(fabs(d->apart_ms - (t->changes ? apart : 0)) <= 1e-12 * gain);
    assert_true(d->gain_ms <= d->now.ms * (1 + 1e-12));
}

static void copy_file(const char *from, const char *to)
{
    char line[600];

    snprintf(line, sizeof line, "%s/%s", AUTOMAP_SOURCE_DIR, from);
    FILE *in = fopen(line, "rb"), *out = fopen(to, "wb");
    int c;
    assert_non_null(in);
    assert_non_null(out);
    while ((c = fgetc(in)) != EOF)
        fputc(c, out);
    fclose(in);
    fclose(out);
}

/* The dump planned again, in its thread, to the end. */
static struct doctored *plan_again(struct doctored *d)
{
    struct doctored *next = NULL;
    struct doctored_job *job;
    struct err e;

    assert_int_equal(doctored_job_new(d, true, &job, &e), 0);
    while (!doctored_job_take(job, &next))
        usleep(2000);
    doctored_job_free(job);
    assert_non_null(next);
    return next;
}

static void test_planned_again_without_files(void **state)
{
    char dir[] = "/tmp/automap-doctored-XXXXXX", a[64], b[64];
    struct doctored *d, *next;
    struct err e;
    bool planned = false;

    (void)state;
    assert_non_null(mkdtemp(dir));
    snprintf(a, sizeof a, "%s/dump.txt.gz", dir);
    snprintf(b, sizeof b, "%s/before.txt.gz", dir);
    copy_file(dump, a);
    copy_file(program, b);
    assert_int_equal(doctored_open(&(struct doctored_files){.dump = a, .before = b}, &d, &e), 0);
    check_sums(d, false);
    unlink(a);
    unlink(b);
    rmdir(dir);
    next = plan_again(d);
    doctored_succeed(d, next);
    check_sums(next, true);
    for (uint32_t n = 0; n < next->row_count; n++)
        planned |= next->rows[n].finding->planned.change != NULL;
    assert_true(planned);
    const struct doctor_together *all = &next->doctor.together;
    assert_true(all->changes > 0 && all->memory_now > 0 && all->memory > 0);
    for (uint32_t n = 0; n < next->row_count; n++) {
        const struct doctor_planned *one = &next->rows[n].finding->planned;
        assert_true(!one->change || all->ms <= one->ms * (1 + 1e-9));
        assert_true(!one->change || fabs(all->now_ms - one->now_ms) <= 1e-9 * one->now_ms);
    }
    struct str page = {0};
    doctor_write_page(next, false, &page);
    assert_true(!page.failed && !strncmp(page.text, "# dump", 6));
    assert_non_null(strstr(page.text, "| unwanted | all-gather ×1 ×5 | "));
    assert_non_null(strstr(page.text, "Priced together, not row by row: "));
    str_release(&page);
    assert_null(next->program);
    doctored_free(next);
}

static void check_headline(const char *name, bool is_added_up, bool is_apart)
{
    char after[128], before[128];
    struct doctored *d, *next;
    struct err e;
    double rows_ms = 0;

    snprintf(after, sizeof after, "%s/tests/data/doctor/kept/%s.after.hlo.gz", AUTOMAP_SOURCE_DIR,
             name);
    snprintf(before, sizeof before, "%s/tests/data/doctor/kept/%s.before.hlo.gz",
             AUTOMAP_SOURCE_DIR, name);
    assert_int_equal(
        doctored_open(&(struct doctored_files){.dump = after, .before = before}, &d, &e), 0);
    next = plan_again(d);
    doctored_succeed(d, next);
    check_sums(next, true);
    for (uint32_t n = 0; n < next->row_count; n++)
        rows_ms += next->rows[n].gain_ms;
    assert_int_equal(fabs(rows_ms - next->gain_ms) <= 1e-9 * rows_ms, is_added_up);
    assert_int_equal(next->apart_ms > 0, is_apart);
    doctored_free(next);
}

/* One change of all rows; one that saves more than its own row has; a row that words alone change.
 */
static void test_headline_is_what_all_save(void **state)
{
    (void)state;
    check_headline("ulysses.compiled", true, false);
    check_headline("scan_constraint.gspmd", true, false);
    check_headline("plan_and_rewrite.shardy", true, true);
}

/* The page asked for at once says that plans are missing; once they are made, drawn or not, it has
 * them. */
static void test_page_of_the_view(void **state)
{
    static const char missing[] = "still planned again";
    struct doctor_view v = {0};
    struct panel p = {.ops = &view_doctor, .state = &v};
    char text[DOCTOR_WARNINGS_MOST][200];
    struct str page = {0};
    struct err e;

    (void)state;
    assert_int_equal(
        doctored_open(&(struct doctored_files){.dump = AUTOMAP_SOURCE_DIR
                                               "/tests/data/doctor/"
                                               "while_carry.cpu_after_optimizations.txt.gz",
                                               .before = AUTOMAP_SOURCE_DIR
                                               "/tests/data/doctor/"
                                               "while_carry.before_optimizations.txt.gz"},
                      &v.dump, &e),
        0);
    doctor_write_page(v.dump, true, &page);
    assert_non_null(strstr(page.text, missing));
    assert_null(strstr(page.text, "Planned: "));
    str_release(&page);
    assert_int_equal(doctored_job_new(v.dump, false, &v.job, &e), 0);
    page = (struct str){0};
    assert_true(view_doctor.page(&p, &page));
    assert_null(strstr(page.text, missing));
    assert_non_null(strstr(page.text, "Planned: "));
    int count = doctor_warnings_of(v.dump, text);
    assert_true(count > 0);
    for (int k = 0; k < count; k++)
        assert_non_null(strstr(page.text, text[k]));
    str_release(&page);
    view_doctor.close(&p);
}

static bool says_before(const char *before)
{
    struct doctored *d;
    struct err e;
    const char *dump_of_order =
        AUTOMAP_SOURCE_DIR "/tests/data/doctor/kept/order_between.compiled.after.hlo.gz";

    assert_int_equal(
        doctored_open(&(struct doctored_files){.dump = dump_of_order, .before = before}, &d, &e),
        0);
    bool says = strstr(d->rows[0].finding->because, "--before") != NULL;
    doctored_free(d);
    return says;
}

/* Whose line it is compiled text alone cannot tell, and says so. */
static void test_lost_constraints(void **state)
{
    (void)state;
    assert_true(says_before(NULL));
    assert_false(says_before(AUTOMAP_SOURCE_DIR
                             "/tests/data/doctor/kept/order_between.compiled.before.hlo.gz"));
}

/* A change that was priced and would cost more is none. */
static void test_no_gain(void **state)
{
    struct doctored *d;
    struct err e;

    (void)state;
    assert_int_equal(
        doctored_open(&(struct doctored_files){.dump = AUTOMAP_SOURCE_DIR
                                               "/tests/data/doctor/contract_one.spmd.hlo.gz",
                                               .before = NULL,
                                               .cluster = NULL},
                      &d, &e),
        0);
    check_sums(d, false);
    assert_true(d->rows[0].finding->cure_is_priced);
    assert_int_equal(d->changes, 0);
    assert_true(d->gain_ms == 0);
    doctored_free(d);
}

/* A call that no rule knows is one row with its assumption, also after planning again; told, it is
 * priced by its rule. */
static void test_unknown_call(void **state)
{
    static const char after[] = AUTOMAP_SOURCE_DIR "/tests/data/doctor/unknown_call.spmd.hlo.gz";
    static const char before[] = AUTOMAP_SOURCE_DIR "/tests/data/doctor/unknown_call.before.hlo.gz";
    struct doctored_files f = {.dump = after, .before = before};
    char rules[] = "/tmp/automap-rules-XXXXXX";
    struct doctored *d, *next;
    struct err e;

    (void)state;
    assert_int_equal(doctored_open(&f, &d, &e), 0);
    assert_true(d->doctor.has_compute);
    assert_int_equal(d->doctor.opaque_count, 1);
    assert_string_equal(d->doctor.opaque[0].target, "my_attention");
    /* 1024 x 512 floats read and written: 4 MB at the 900 GB/s of a V100, and a launch. */
    assert_true(d->doctor.opaque[0].ms > 4194304 / 900e9 * 1e3);
    assert_true(d->doctor.opaque[0].ms < d->doctor.compute_ms);
    double bytes_alone = d->doctor.compute_ms;
    next = plan_again(d);
    assert_int_equal(next->doctor.opaque_count, 1);
    assert_true(next->doctor.compute_ms == bytes_alone);
    doctored_succeed(d, next);
    doctored_free(next);

    int file = mkstemp(rules);
    static const char text[] = "kernels:\n  - target: my_attention\n    dims: 'a b -> a b'\n"
                               "    flops: a * b * 100000\n    reach: {default: 1}\n";
    assert_true(write(file, text, sizeof text - 1) == (ssize_t)(sizeof text - 1));
    close(file);
    f.kernels = rules;
    assert_int_equal(doctored_open(&f, &d, &e), 0);
    assert_int_equal(d->doctor.opaque_count, 0);
    assert_true(d->doctor.compute_ms > 2 * bytes_alone);
    doctored_free(d);
    f.kernels = before; /* no rules at all */
    assert_int_not_equal(doctored_open(&f, &d, &e), 0);
    unlink(rules);
}

static void test_left(void **state)
{
    char a[600], b[600];

    (void)state;
    snprintf(a, sizeof a, "%s/%s", AUTOMAP_SOURCE_DIR, dump);
    snprintf(b, sizeof b, "%s/%s", AUTOMAP_SOURCE_DIR, program);
    for (int n = 0; n < 5; n++) {
        struct doctored *d;
        struct doctored_job *job;
        struct err e;
        assert_int_equal(doctored_open(&(struct doctored_files){.dump = a, .before = b}, &d, &e),
                         0);
        assert_int_equal(doctored_job_new(d, true, &job, &e), 0);
        usleep((useconds_t)n * 3000);
        doctored_job_free(job);
        doctored_free(d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_planned_again_without_files),
        cmocka_unit_test(test_page_of_the_view),
        cmocka_unit_test(test_headline_is_what_all_save),
        cmocka_unit_test(test_lost_constraints),
        cmocka_unit_test(test_no_gain),
        cmocka_unit_test(test_unknown_call),
        cmocka_unit_test(test_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
