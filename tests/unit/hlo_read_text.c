/* HLO text, one small module per feature of the grammar. */
#include "hlo/hlo.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

static struct hlo_module *load(const char *text)
{
    struct hlo_module *m = NULL;
    struct err e = {0};

    if (hlo_load_memory("test", text, strlen(text), NULL, &m, &e)) {
        err_print(&e, stderr);
        fail();
    }
    return m;
}

static void test_smallest_module(void **state)
{
    (void)state;
    struct hlo_module *m = load("HloModule m\n"
                                "ENTRY e {\n"
                                "  x = f32[2,3]{1,0} parameter(0)\n"
                                "  ROOT y = f32[2,3]{1,0} negate(x)\n"
                                "}\n");
    assert_string_equal(m->name, "m");
    assert_int_equal(m->count, 2);
    assert_int_equal(hlo_at(m, 1)->opcode, HLO_OP_NEGATE);
    assert_true(hlo_at(m, 1)->is_root);
    assert_int_equal(hlo_operand(m, 1, 0), 0);
    assert_string_equal(hlo_name(m, 1), "y");
    assert_int_equal(hlo_at(m, 1)->line, 4);
    assert_int_equal(hlo_at(m, 1)->col, 8);
    assert_int_equal(hlo_shape(m, 1)->elements, 6);
    hlo_free(m);
}

static void test_every_example_loads(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint32_t instructions;
    } examples[] = {{"mlp", 363}, {"t5-tiny", 2801}, {"vgg19", 1495}};

    for (size_t n = 0; n < sizeof examples / sizeof *examples; n++) {
        for (int meta = 0; meta < 2; meta++) {
            char path[128];
            struct hlo_module *m;
            struct err e;
            snprintf(path, sizeof path, "examples/models/%s%s.hlo.txt.gz", examples[n].name,
                     meta ? ".meta" : "");
            assert_int_equal(hlo_load(path, NULL, &m, &e), 0);
            assert_int_equal(m->count, examples[n].instructions);
            assert_true(m->is_gzipped);
            assert_int_equal(m->warning_count, 0);
            hlo_free(m);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_smallest_module),
        cmocka_unit_test(test_every_example_loads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
