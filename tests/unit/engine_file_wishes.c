/* Shardings that a program's author wrote, found in the file and kept as decisions. */
#include "engine/decide/labels.h"
#include "engine/decide/strict.h"
#include "engine/plan/file_wishes.h"
#include "engine/problem/problem.h"
#include "engine/problem/setting.h"
#include "example.h"
#include "hlo/load.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

/* As JAX writes them on a mesh of data = 4, model = 2; the call asks for what y cannot be with w
 * split by rows. */
static const char MODEL[] =
    "ENTRY e {\n"
    "  x = f32[32,64] parameter(0), sharding={devices=[4,1,2]<=[8] last_tile_dim_replicate}\n"
    "  w = f32[64,256] parameter(1), sharding={devices=[1,2,4]<=[4,2]T(1,0) "
    "last_tile_dim_replicate}\n"
    "  b = f32[32,256] parameter(2), sharding={replicated}\n"
    "  y = f32[32,256] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
    "  c = f32[32,256] custom-call(y), custom_call_target=\"Sharding\", "
    "sharding={devices=[4,2]<=[8]}\n"
    "  z = f32[32,256] add(c, b)\n"
    "  ROOT r = f32[32,256] custom-call(z), custom_call_target=\"Sharding\", "
    "sharding={devices=[8,1]<=[8]}\n}\n";

static void open_on(const char *mesh, struct problem *p)
{
    struct problem_options o = {0};
    struct hlo_module *m = NULL;
    struct err e = {0};

    snprintf(o.mesh, sizeof o.mesh, "%s", mesh);
    if (hlo_load_memory("test", MODEL, strlen(MODEL), NULL, &m, &e))
        fail_msg("%s", e.what);
    make_problem(m, NULL, 8, &o, p);
}

/* The settings on one line. */
static void settings(const char *mesh, bool parameters_alone, const char *wanted, uint32_t refused)
{
    struct str text = {0};
    struct problem p;
    struct err e = {0};
    uint32_t kept, no;

    open_on(mesh, &p);
    assert_int_equal(file_wishes_settings(&p, parameters_alone, &text, &kept, &no, &e), 0);
    uint32_t ends = 0;
    for (size_t k = 0; k < text.size; k++) {
        ends += !text.text[k];
        text.text[k] = text.text[k] ? text.text[k] : ' ';
    }
    assert_int_equal(ends, kept);
    assert_int_equal(no, refused);
    assert_string_equal(text.size ? text.text : "", wanted);
    str_release(&text);
    problem_release(&p);
}

static void wishes_become_settings(void **state)
{
    (void)state;
    /* the last call wants 8 parts of a dim that has 4: refused where x y are both of one dim */
    settings("4x2", true, "#0:0=x #1:1=y ", 0);
    settings("4x2", false, "#0:0=x #1:1=y %c:0=x %c:1=y ", 1);
    settings("2x4", true, "#0:0=y #1:1=x ", 0); /* by parts: another mesh */
    settings("8", true, "", 2);
    settings("8", false, "%r:0=x ", 4);
}

static void wishes_are_found(void **state)
{
    struct file_wish *list;
    struct problem p;
    struct err e = {0};
    size_t count;

    (void)state;
    open_on("8", &p);
    assert_int_equal(file_wishes_new(p.m, &list, &count, &e), 0);
    assert_int_equal(count, 5);
    assert_true(list[0].dim == 0 && list[0].parts == 4 && list[1].dim == 1 && list[1].parts == 2);
    free(list);
    problem_release(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(wishes_become_settings),
                                       cmocka_unit_test(wishes_are_found)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
