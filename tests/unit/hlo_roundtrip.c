/* What XLA wrote as text and as proto is one module to us, and goes text -> proto -> JSON -> text
 * without changing a byte. */
#include "hlo/load.h"
#include "hlo/module/hlo.h"
#include "hlo/proto/write.h"
#include "hlo/text/write_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#define ROOT AUTOMAP_SOURCE_DIR "/"

static struct hlo_module *checked(int rc, struct hlo_module *m, const struct err *e)
{
    if (rc) {
        err_print(e, stderr);
        fail();
    }
    return m;
}

static struct hlo_module *load(const char *path)
{
    struct hlo_module *m = NULL;
    struct err e = {0};
    int rc = hlo_load(path, NULL, &m, &e);

    return checked(rc, m, &e);
}

static struct hlo_module *load_bytes(const struct str *bytes)
{
    struct hlo_module *m = NULL;
    struct err e = {0};
    int rc = hlo_load_memory("memory", bytes->text, bytes->size, NULL, &m, &e);

    return checked(rc, m, &e);
}

static struct str text_of(const struct hlo_module *m)
{
    struct str out = {0};
    struct err e = {0};

    assert_int_equal(hlo_write_text(m, NULL, &out, &e), 0);
    return out;
}

/* Names the first line that differs. */
static void check_same(const char *what, const struct str *a, const struct str *b)
{
    size_t line = 1, begin = 0;

    for (size_t i = 0; i < a->size && i < b->size && a->text[i] == b->text[i]; i++) {
        if (a->text[i] == '\n') {
            line++;
            begin = i + 1;
        }
    }
    if (a->size != b->size || memcmp(a->text, b->text, a->size))
        fail_msg("%s differs in line %zu:\n%.300s\n%.300s", what, line, a->text + begin,
                 b->text + begin);
}

/* Instruction count, opcodes, operands and users, one by one: more than texts could hide. */
static void check_same_graph(const struct hlo_module *a, const struct hlo_module *b)
{
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->computation_count, b->computation_count);
    for (hlo_id i = 0; i < a->count; i++) {
        const struct hlo_instruction *x = hlo_at(a, i), *y = hlo_at(b, i);
        assert_int_equal(x->opcode, y->opcode);
        assert_int_equal(x->operand_count, y->operand_count);
        assert_int_equal(x->user_count, y->user_count);
        for (uint32_t n = 0; n < x->operand_count; n++)
            assert_int_equal(hlo_operand(a, i, n), hlo_operand(b, i, n));
        for (uint32_t n = 0; n < x->user_count; n++)
            assert_int_equal(hlo_user(a, i, n), hlo_user(b, i, n));
        assert_string_equal(hlo_meta(a, i)->op_name, hlo_meta(b, i)->op_name);
        assert_string_equal(hlo_meta(a, i)->source_file, hlo_meta(b, i)->source_file);
        assert_int_equal(hlo_meta(a, i)->source_line, hlo_meta(b, i)->source_line);
    }
    assert_int_equal(a->alias_count, b->alias_count);
    for (uint32_t n = 0; n < a->alias_count; n++) {
        const struct hlo_alias *x = &a->aliases[n], *y = &b->aliases[n];
        assert_int_equal(x->out, y->out);
        assert_int_equal(x->param, y->param);
        assert_int_equal(x->param_leaf, y->param_leaf);
        assert_int_equal(x->must, y->must);
    }
}

typedef int (*writer)(const struct hlo_module *m, struct str *out, struct err *e);

static struct hlo_module *through(const struct hlo_module *m, writer write, enum hlo_format format)
{
    struct str bytes = {0};
    struct err e = {0};

    if (write(m, &bytes, &e)) {
        err_print(&e, stderr);
        fail();
    }
    struct hlo_module *back = load_bytes(&bytes);
    assert_int_equal(back->format, format);
    str_release(&bytes);
    return back;
}

static void check_cycle(const char *path)
{
    struct hlo_module *first = load(path);
    struct hlo_module *proto = through(first, hlo_write_proto, HLO_FORMAT_PROTO);
    struct hlo_module *json = through(proto, hlo_write_json, HLO_FORMAT_JSON);
    struct str before = text_of(first), after = text_of(json);

    check_same(path, &before, &after);
    check_same_graph(first, proto);
    check_same_graph(first, json);
    str_release(&before);
    str_release(&after);
    hlo_free(first);
    hlo_free(proto);
    hlo_free(json);
}

/* Two files of one module, both made by XLA. */
static void check_pair(const char *a, const char *b)
{
    struct hlo_module *x = load(a), *y = load(b);
    struct str one = text_of(x), other = text_of(y);

    check_same(b, &one, &other);
    check_same_graph(x, y);
    str_release(&one);
    str_release(&other);
    hlo_free(x);
    hlo_free(y);
}

static void test_models(void **state)
{
    static const char *const names[] = {"mlp", "moe", "decoder-scan", "resnet20", "t5-tiny"};

    (void)state;
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        char text[512], meta[512], proto[512];
        snprintf(text, sizeof text, ROOT "examples/models/%s.hlo.txt.gz", names[n]);
        snprintf(meta, sizeof meta, ROOT "examples/models/%s.meta.hlo.txt.gz", names[n]);
        snprintf(proto, sizeof proto, ROOT "examples/models/%s.pb.gz", names[n]);
        check_cycle(text);
        check_cycle(meta);
        check_pair(meta, proto);
    }
}

/* HloProto, HloSnapshot, JSON of either key style, as other libraries wrote them. */
static void test_forms(void **state)
{
    static const char *const forms[] = {"hlo.pb", "snapshot.pb", "camel.json", "snake.json"};
    static const char *const names[] = {"mlp", "decoder-scan"};

    (void)state;
    for (size_t n = 0; n < 8; n++) {
        char meta[512], form[512];
        snprintf(meta, sizeof meta, ROOT "examples/models/%s.meta.hlo.txt.gz", names[n / 4]);
        snprintf(form, sizeof form, ROOT "tests/data/forms/%s.%s.gz", names[n / 4], forms[n % 4]);
        check_pair(meta, form);
    }
}

/* Every attribute, type and header field we know, printed by XLA from the proto beside it. */
static void test_features(void **state)
{
    static const char *const names[] = {"types", "ops", "sharding", "nan"};

    (void)state;
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        char text[512], proto[512];
        snprintf(text, sizeof text, ROOT "tests/data/proto/%s.hlo.txt", names[n]);
        snprintf(proto, sizeof proto, ROOT "tests/data/proto/%s.pb", names[n]);
        check_pair(text, proto);
        if (!strcmp(names[n], "nan")) /* JSON's "NaN" has neither sign nor payload */
            continue;
        check_cycle(text);
        check_cycle(proto);
    }
}

/* What the messages have no field for rides along as text. */
static void test_kept(void **state)
{
    static const char text[] =
        "HloModule kept, alias_passthrough_params=true, replica_count=2, num_partitions=4, "
        "some_new_thing={1,2}\n\n"
        "ENTRY e {\n"
        "  a = f32[2]{0} parameter(0)\n"
        "  b = f32[2]{0} frobnicate(a), dimensions={0}, metadata={op_name=\"x\"}\n"
        "  ROOT c = f32[2]{0} negate(b), brand_new={x=\"}\"}, outer_dimension_partitions={0,1}\n"
        "}\n\n";
    struct str in = {.text = (char *)(uintptr_t)text, .size = sizeof text - 1};
    struct hlo_module *first = load_bytes(&in);
    struct hlo_module *proto = through(first, hlo_write_proto, HLO_FORMAT_PROTO);
    struct hlo_module *json = through(proto, hlo_write_json, HLO_FORMAT_JSON);
    struct str before = text_of(proto), after = text_of(json);

    (void)state;
    check_same("kept", &before, &after);
    assert_non_null(strstr(after.text, "some_new_thing={1,2}"));
    assert_non_null(strstr(after.text, "alias_passthrough_params=true"));
    assert_non_null(strstr(after.text, "replica_count=2, num_partitions=4"));
    assert_non_null(
        strstr(after.text, "b = f32[2]{0} frobnicate(a), dimensions={0}, metadata={op"));
    assert_non_null(strstr(after.text, "outer_dimension_partitions={0,1}, brand_new={x=\"}\"}"));
    str_release(&before);
    str_release(&after);
    hlo_free(first);
    hlo_free(proto);
    hlo_free(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_models),
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_features),
        cmocka_unit_test(test_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
