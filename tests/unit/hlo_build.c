/* The builder: order, users, callers, leaves; broken graphs refused. */
#include "hlo/load.h"
#include "hlo/module/build.h"
#include "hlo/support/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
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

/* ---- computations that stand behind their callers ---- */

static const char callees[] =
    "inner { p = f32[4] parameter(0)\n ROOT n = f32[4] negate(p) }\n"
    "outer { q = f32[4] parameter(0)\n c = f32[4] call(q), to_apply=inner\n"
    "  ROOT d = f32[4] add(q, c), control-predecessors={c} }\n"
    "sum { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b) }\n";

/* `links` adds between a call and a reduction. */
static void add_entry(struct str *s, int links)
{
    str_add(s, "ENTRY main { x = f32[4] parameter(0)\n z = f32[] constant(0)\n"
               "  v0 = f32[4] call(x), to_apply=outer\n");
    for (int n = 1; n <= links; n++)
        str_format(s, "  v%d = f32[4] add(v%d, %s)%s\n", n, n - 1, n % 3 ? "x" : "v0",
                   n % 5 ? "" : ", control-predecessors={z, x}");
    str_format(s, "  ROOT r = f32[] reduce(v%d, z), dimensions={0}, to_apply=sum }\n", links);
}

static struct hlo_module *read_order(int links, bool entry_first)
{
    struct hlo_module *m = NULL;
    struct str text = {0};
    struct err e = {0};

    str_add(&text, "HloModule m\n");
    if (entry_first)
        add_entry(&text, links);
    str_add(&text, callees);
    if (!entry_first)
        add_entry(&text, links);
    if (hlo_load_memory("test", text.text, text.size, NULL, &m, &e)) {
        err_print(&e, stderr);
        fail();
    }
    str_release(&text);
    return m;
}

static void assert_same_instruction(const struct hlo_module *a, const struct hlo_module *b,
                                    hlo_id id)
{
    const struct hlo_instruction *x = hlo_at(a, id), *y = hlo_at(b, id);

    assert_string_equal(hlo_name(a, id), hlo_name(b, id));
    assert_int_equal(x->opcode, y->opcode);
    assert_int_equal(x->computation, y->computation);
    assert_int_equal(x->operand_count, y->operand_count);
    assert_int_equal(x->user_count, y->user_count);
    assert_int_equal(x->control_count, y->control_count);
    assert_int_equal(x->called_count, y->called_count);
    for (uint32_t n = 0; n < x->operand_count; n++)
        assert_int_equal(hlo_operand(a, id, n), hlo_operand(b, id, n));
    for (uint32_t n = 0; n < x->user_count; n++)
        assert_int_equal(hlo_user(a, id, n), hlo_user(b, id, n));
    for (uint32_t n = 0; n < x->control_count; n++)
        assert_int_equal(hlo_control(a, id, n), hlo_control(b, id, n));
    for (uint32_t n = 0; n < x->called_count; n++)
        assert_int_equal(hlo_called(a, id, n), hlo_called(b, id, n));
}

/* With a large entry and small callees blocks move, else instructions: either way the module is
 * that of the text in order. */
static void test_callers_first(void **state)
{
    (void)state;
    const int links[] = {0, 3, 40, 71, 72, 73, 500};

    for (size_t k = 0; k < sizeof links / sizeof *links; k++) {
        struct hlo_module *a = read_order(links[k], false), *b = read_order(links[k], true);
        assert_int_equal(a->count, b->count);
        assert_int_equal(a->computation_count, 4);
        assert_int_equal(a->entry, b->entry);
        for (hlo_id id = 0; id < a->count; id++)
            assert_same_instruction(a, b, id);
        for (hlo_comp c = 0; c < a->computation_count; c++) {
            const struct hlo_computation *x = &a->computations[c], *y = &b->computations[c];
            assert_string_equal(x->name, y->name);
            assert_int_equal(x->first, y->first);
            assert_int_equal(x->count, y->count);
            assert_int_equal(x->root, y->root);
            assert_int_equal(x->param_count, y->param_count);
            assert_int_equal(x->caller_count, y->caller_count);
            assert_int_equal(x->params[0], y->params[0]);
        }
        hlo_free(a);
        hlo_free(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes_are_interned),
        cmocka_unit_test(test_order_is_made),
        cmocka_unit_test(test_callers_first),
        cmocka_unit_test(test_broken_graphs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
