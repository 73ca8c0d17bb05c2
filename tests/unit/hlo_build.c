/* The builder: order, users, callers, leaves; broken graphs refused. */
#include "hlo/module/build.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

static struct hlo_builder *begin(void)
{
    struct hlo_builder *b = hlo_builder_new(NULL, 0, 0);

    assert_non_null(b);
    return b;
}

static hlo_shape_id f32(struct hlo_builder *b, uint8_t rank, const int64_t *dims)
{
    struct hlo_shape_draft d = {.type = HLO_F32, .rank = rank, .dims = dims};
    hlo_shape_id id;
    struct err e;

    assert_int_equal(hlo_build_shape(b, &d, &id, &e), 0);
    return id;
}

static hlo_comp computation(struct hlo_builder *b, const char *name)
{
    hlo_comp c;
    struct err e;

    assert_int_equal(hlo_build_computation(b, name, strlen(name), &c, &e), 0);
    return c;
}

static hlo_id add(struct hlo_builder *b, hlo_comp c, enum hlo_opcode op, const char *name,
                  uint32_t n, const hlo_id *operands, uint32_t number)
{
    int64_t dims[] = {4};
    struct hlo_draft d = {.computation = c,
                          .opcode = (uint16_t)op,
                          .name = name,
                          .name_size = (uint32_t)strlen(name),
                          .shape = f32(b, 1, dims),
                          .operands = operands,
                          .operand_count = n,
                          .number = number,
                          .at = SIZE_MAX};
    hlo_id id;
    struct err e;

    assert_int_equal(hlo_build_instruction(b, &d, &id, &e), 0);
    return id;
}

static void test_shapes_are_interned(void **state)
{
    (void)state;
    struct hlo_builder *b = begin();
    int64_t dims[] = {2, 3};
    uint8_t order[] = {0, 1};
    struct hlo_shape_draft plain = {.type = HLO_BF16, .rank = 2, .dims = dims};
    struct hlo_shape_draft laid = plain;
    hlo_shape_id a, c, l, t;
    struct err e;

    laid.has_layout = true;
    laid.minor_to_major = order;
    assert_int_equal(hlo_build_shape(b, &laid, &l, &e), 0);
    assert_int_equal(hlo_build_shape(b, &plain, &a, &e), 0);
    assert_int_equal(hlo_build_shape(b, &plain, &c, &e), 0);
    assert_int_equal(a, c);
    assert_int_not_equal(a, l);
    assert_int_equal(hlo_builder_shape(b, l)->bare, a);
    assert_int_equal(hlo_builder_shape(b, a)->bytes, 12);
    hlo_shape_id parts[] = {l, a};
    struct hlo_shape_draft tuple = {.type = HLO_TUPLE, .parts = parts, .part_count = 2};
    assert_int_equal(hlo_build_shape(b, &tuple, &t, &e), 0);
    assert_int_equal(hlo_builder_shape(b, t)->leaf_count, 2);
    assert_int_equal(hlo_builder_shape(b, t)->bytes, 24);
    int64_t huge[] = {INT64_MAX, 3};
    plain.dims = huge;
    assert_int_equal(hlo_build_shape(b, &plain, &t, &e), ERR_LIMIT);
    hlo_builder_free(b);
}

/* Users before operands, callers before callees, a repeated operand. */
static void test_order_is_made(void **state)
{
    (void)state;
    struct hlo_builder *b = begin();
    hlo_comp main_comp = computation(b, "main"), callee = computation(b, "callee");
    hlo_id none[] = {HLO_NONE, HLO_NONE};
    hlo_id sum = add(b, main_comp, HLO_OP_ADD, "sum", 2, none, 0);
    hlo_id p = add(b, main_comp, HLO_OP_PARAMETER, "p", 0, NULL, 0);
    hlo_build_set_operand(b, sum, 0, p);
    hlo_build_set_operand(b, sum, 1, p);
    hlo_builder_at(b, sum)->is_root = true;
    int64_t dims[] = {4};
    struct hlo_draft call = {.computation = main_comp,
                             .opcode = HLO_OP_CALL,
                             .name = "c",
                             .name_size = 1,
                             .shape = f32(b, 1, dims),
                             .operands = &p,
                             .operand_count = 1,
                             .called = &callee,
                             .called_count = 1,
                             .at = SIZE_MAX};
    hlo_id c;
    struct err e;
    assert_int_equal(hlo_build_instruction(b, &call, &c, &e), 0);
    hlo_id q = add(b, callee, HLO_OP_PARAMETER, "q", 0, NULL, 0);
    add(b, callee, HLO_OP_NEGATE, "n", 1, &q, 0);
    struct hlo_module *m = NULL;
    assert_int_equal(hlo_builder_finish(b, main_comp, &m, &e), 0);

    assert_int_equal(m->count, 5);
    assert_string_equal(m->computations[0].name, "callee");
    assert_int_equal(m->entry, 1);
    assert_string_equal(hlo_name(m, m->computations[0].root), "n");
    assert_string_equal(hlo_name(m, m->computations[1].root), "sum");
    for (hlo_id i = 0; i < m->count; i++) {
        for (uint32_t k = 0; k < hlo_at(m, i)->operand_count; k++)
            assert_true(hlo_operand(m, i, k) < i);
    }
    hlo_id new_p = m->computations[1].params[0];
    assert_string_equal(hlo_name(m, new_p), "p");
    assert_int_equal(hlo_at(m, new_p)->user_count,
                     2); /* sum once, though it reads p twice; the call */
    assert_int_equal(m->computations[0].caller_count, 1);
    assert_string_equal(hlo_name(m, m->computations[0].callers[0]), "c");
    assert_int_equal(m->value_count, 5);
    hlo_free(m);
}

static void test_broken_graphs(void **state)
{
    (void)state;
    struct err e;
    struct hlo_module *m = NULL;

    struct hlo_builder *b = begin();
    hlo_comp c = computation(b, "main");
    hlo_id none = HLO_NONE;
    hlo_id x = add(b, c, HLO_OP_NEGATE, "x", 1, &none, 0);
    hlo_id y = add(b, c, HLO_OP_NEGATE, "y", 1, &x, 0);
    hlo_build_set_operand(b, x, 0, y);
    assert_int_equal(hlo_builder_finish(b, c, &m, &e), ERR_INPUT);
    assert_non_null(strstr(e.what, "operand of itself"));

    b = begin();
    c = computation(b, "main");
    add(b, c, HLO_OP_NEGATE, "x", 1, &none, 0);
    assert_int_equal(hlo_builder_finish(b, c, &m, &e), ERR_INPUT);

    b = begin();
    c = computation(b, "main");
    add(b, c, HLO_OP_PARAMETER, "p", 0, NULL, 1);
    assert_int_equal(hlo_builder_finish(b, c, &m, &e), ERR_INPUT);
    assert_non_null(strstr(e.what, "parameter number 1"));

    b = begin();
    c = computation(b, "main");
    struct hlo_draft d = {.computation = c,
                          .opcode = HLO_OP_ADD,
                          .name = "a",
                          .name_size = 1,
                          .shape = f32(b, 0, NULL),
                          .operands = &none,
                          .operand_count = 1,
                          .at = SIZE_MAX};
    assert_int_equal(hlo_build_instruction(b, &d, &x, &e), ERR_INPUT);
    assert_non_null(strstr(e.what, "1 operands, expected 2"));
    add(b, c, HLO_OP_PARAMETER, "p", 0, NULL, 0);
    d.name = "p";
    d.opcode = HLO_OP_NEGATE;
    assert_int_equal(hlo_build_instruction(b, &d, &x, &e), ERR_INPUT);
    assert_non_null(strstr(e.what, "second instruction named"));
    hlo_builder_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes_are_interned),
        cmocka_unit_test(test_order_is_made),
        cmocka_unit_test(test_broken_graphs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
