/* The op table: every opcode of XLA's list is found by its name, and nothing else is. */
#include "hlo/ops.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

static void test_names(void **state)
{
    (void)state;
    for (int op = 0; op < HLO_OP_UNKNOWN; op++) {
        const char *name = hlo_op_info[op].name;
        assert_int_equal(hlo_op_by_name(name, strlen(name)), op);
        assert_int_not_equal(hlo_op_by_name(name, strlen(name) - 1), op);
    }
    assert_int_equal(HLO_OP_UNKNOWN, 133); /* xla/hlo/ir/hlo_opcode.h */
}

static void test_unknown_names(void **state)
{
    (void)state;
    static const char *const names[] = {"", "A", "add2", "ad", "zeta", "year", "{", "trace",
                                        "tuple-select", "Add", "-", "\xff"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_int_equal(hlo_op_by_name(names[i], strlen(names[i])), HLO_OP_UNKNOWN);
    assert_int_equal(hlo_op_by_name("addition", 3), HLO_OP_ADD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_unknown_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
