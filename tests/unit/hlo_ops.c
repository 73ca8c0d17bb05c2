/* The op table: every opcode of XLA's list is found by its name, and nothing else is; real files
 * have the attributes that the rows promise; the docs leave no opcode out. */
#include "hlo/load.h"
#include "hlo/module/ops.h"

#include "opcodes_file.h"

#include <ctype.h>

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
    static const char *const names[] = {"",  "A",     "add2",         "ad",  "zeta", "year",
                                        "{", "trace", "tuple-select", "Add", "-",    "\xff"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_int_equal(hlo_op_by_name(names[i], strlen(names[i])), HLO_OP_UNKNOWN);
    assert_int_equal(hlo_op_by_name("addition", 3), HLO_OP_ADD);
}

/* ---- attributes ---- */

static bool takes(const struct hlo_op_info *op, unsigned key, bool required)
{
    for (int i = 0; i < HLO_OP_ATTRS_MAX && op->attrs[i]; i++)
        if ((op->attrs[i] & ~(unsigned)HLO_OP_ATTR_REQUIRED) == key + 1)
            return !required || (op->attrs[i] & HLO_OP_ATTR_REQUIRED);
    return false;
}

static void check_attributes(const struct hlo_module *m)
{
    for (hlo_id id = 0; id < m->count; id++) {
        const struct hlo_instruction *x = hlo_at(m, id);
        const struct hlo_op_info *op = &hlo_op_info[x->opcode];
        for (uint32_t n = 0; n < x->attr_count; n++) {
            unsigned key = m->attr_pool[x->attrs + n].key;
            if (key < HLO_ATTR_SHARDING &&
                !takes(op, key, false)) /* the others go with any opcode */
                fail_msg("%s has %s", op->name, hlo_attr_info[key].name);
        }
        for (unsigned key = 0; key < HLO_ATTR_COUNT; key++)
            if (takes(op, key, true) && !hlo_attr(m, id, (enum hlo_attr_key)key))
                fail_msg("%s without %s", op->name, hlo_attr_info[key].name);
    }
}

static void check_case(const struct hlo_module *m, const char *name, const char *rest,
                       void *context)
{
    (void)name;
    (void)rest;
    (void)context;
    check_attributes(m);
}

static void test_attributes(void **state)
{
    (void)state;
    static const char *const models[] = {"t5-tiny",  "mlp",          "moe",
                                         "resnet20", "decoder-scan", "vgg19"};

    opcodes_each("// factors ", check_case, NULL);
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        char path[512];
        struct hlo_module *m = NULL;
        struct err e;
        snprintf(path, sizeof path, "%s/examples/models/%s.hlo.txt.gz", AUTOMAP_SOURCE_DIR,
                 models[i]);
        assert_int_equal(hlo_load(path, NULL, &m, &e), 0);
        check_attributes(m);
        hlo_free(m);
    }
}

/* ---- docs ---- */

static bool is_word(const char *text, const char *word)
{
    size_t size = strlen(word);

    for (const char *p = text; (p = strstr(p, word)); p++) {
        bool starts = p == text || (!isalnum((unsigned char)p[-1]) && p[-1] != '-');
        if (starts && !isalnum((unsigned char)p[size]) && p[size] != '-')
            return true;
    }
    return false;
}

static void test_docs_name_every_opcode(void **state)
{
    (void)state;
    char *text = read_all(AUTOMAP_SOURCE_DIR "/hlo/meaning/README.md");
    char *factors = strstr(text, "## Factors"),
         *end = factors ? strstr(factors, "## Partial") : NULL;

    assert_non_null(end);
    *end = '\0';
    for (int op = 0; op < HLO_OP_UNKNOWN; op++)
        if (!is_word(factors, hlo_op_info[op].name))
            fail_msg("%s has no factors in hlo/meaning/README.md", hlo_op_info[op].name);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_unknown_names),
        cmocka_unit_test(test_attributes),
        cmocka_unit_test(test_docs_name_every_opcode),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
