/* A small training step and what is said of its parameters. */
#ifndef AUTOMAP_TESTS_ROLES_CASE_H
#define AUTOMAP_TESTS_ROLES_CASE_H

#include "hlo/load.h"
#include "hlo/meaning/roles.h"
#include "hlo/support/err.h"
#include "read_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#define SUM "sum { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b) }\n"

static inline struct hlo_roles roles_of(const struct hlo_module *m)
{
    struct hlo_roles r;
    struct err e = {0};

    if (hlo_roles_new(m, NULL, &r, &e)) {
        err_print(&e, stderr);
        fail();
    }
    return r;
}

/* One letter a parameter: Variable, Optimizer state, Input, Hyper-parameter, other State. */
static inline void check_letters(const struct hlo_roles *r, const char *letters)
{
    char got[64] = "";

    assert_true(r->param_count < sizeof got);
    for (uint32_t p = 0; p < r->param_count; p++)
        got[p] = "VOIHS"[r->params[p].role];
    assert_string_equal(got, letters);
}

#endif
