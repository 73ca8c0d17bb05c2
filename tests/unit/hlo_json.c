/* HLO JSON and protobuf text: every spelling protobuf allows for a value, and errors with their
 * place. The modules are written here by hand; what protobuf's own printers write is read in
 * hlo_roundtrip.c. */
#include "hlo/load.h"
#include "hlo/module/hlo.h"
#include "hlo/proto/write.h"
#include "hlo/text/write_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cJSON.h>
#include <cmocka.h>
#include <string.h>

/* A module whose only constant is `literal` (the fields of a LiteralProto behind its shape). */
#define MODULE(type, dims, literal)                                                            \
    "{\"name\":\"m\",\"computations\":[{\"name\":\"e\",\"id\":\"1\",\"rootId\":\"1\","         \
    "\"instructions\":[{\"name\":\"c\",\"opcode\":\"constant\",\"id\":\"1\",\"metadata\":{},"  \
    "\"frontendAttributes\":{},"                                                               \
    "\"shape\":{\"elementType\":\"" type "\",\"dimensions\":[" dims "]},"                      \
    "\"literal\":{\"shape\":{\"elementType\":\"" type "\",\"dimensions\":[" dims "]}," literal \
    "}}]}]}"

static struct hlo_module *load(const char *json)
{
    struct hlo_module *m = NULL;
    struct err e = {0};

    if (hlo_load_memory("x.json", json, strlen(json), NULL, &m, &e)) {
        err_print(&e, stderr);
        fail_msg("%.300s", json);
    }
    return m;
}

static void check_literal(const char *json, const char *expected)
{
    struct hlo_module *m = load(json);
    const struct hlo_text *t = &m->literals[hlo_at(m, 0)->literal];
    char text[200];

    assert_int_equal(m->format, HLO_FORMAT_JSON);
    snprintf(text, sizeof text, "%.*s", (int)t->size, t->text);
    assert_string_equal(text, expected);
    hlo_free(m);
}

static void test_numbers(void **state)
{
    (void)state;
    check_literal(MODULE("S32", "2", "\"s32s\":[1,-2]"), "{1, -2}");
    check_literal(MODULE("S32", "\"2\"", "\"s32s\":[\"1\",\"-2\"]"), "{1, -2}");
    check_literal(MODULE("S64", "2", "\"s64s\":[\"-9223372036854775808\",7]"),
                  "{-9223372036854775808, 7}");
    check_literal(MODULE("U64", "1", "\"u64s\":[\"18446744073709551615\"]"),
                  "{18446744073709551615}");
    check_literal(MODULE("F32", "4", "\"f32s\":[0.1,\"NaN\",\"Infinity\",\"-Infinity\"]"),
                  "{0.1, nan, inf, -inf}");
    check_literal(MODULE("F64", "2", "\"f64s\":[\"0.1\",1e300]"), "{0.1, 1e+300}");
    check_literal(MODULE("PRED", "2", "\"preds\":[true,false]"), "{1, 0}");
    check_literal(MODULE("C64", "1", "\"c64s\":[1,-2]"), "{(1, -2)}");
}

/* Bytes in base64: the usual alphabet, the one for URLs, with padding or without. */
static void test_bytes(void **state)
{
    (void)state;
    check_literal(MODULE("S8", "3", "\"s8s\":\"//79\""), "{-1, -2, -3}");
    check_literal(MODULE("S8", "3", "\"s8s\":\"__79\""), "{-1, -2, -3}");
    check_literal(MODULE("S8", "1", "\"s8s\":\"/w==\""), "{-1}");
    check_literal(MODULE("S8", "1", "\"s8s\":\"_w\""), "{-1}");
    check_literal(MODULE("BF16", "2", "\"bf16s\":\"gD8AQA==\""), "{1, 2}");
    check_literal(MODULE("F16", "1", "\"f16s\":\"Zi4=\""), "{0.099976}");
    check_literal(MODULE("S4", "2", "\"s4s\":\"AQ4=\""), "{1, -2}");
}

static void test_left_out(void **state)
{
    (void)state;
    check_literal(MODULE("F32", "1000", "\"sparseIndices\":null"), "{...}");
    check_literal(MODULE("F32", "0", "\"f32s\":[]"), "{}");
}

/* ---- keys, roots, enums ---- */

static const char body[] =
    "\"name\":\"m\",\"entry_computation_name\":\"e\",\"entryComputationId\":2,"
    "\"from_the_future\":{\"a\":[1,{\"b\":null}]},"
    "\"computations\":[{\"name\":\"e\",\"id\":2,\"root_id\":\"5\",\"instructions\":["
    "{\"name\":\"p\",\"opcode\":\"parameter\",\"id\":4,\"shape\":{\"element_type\":11}},"
    "{\"name\":\"q\",\"opcode\":\"exponential\",\"id\":5,\"operandIds\":[\"4\"],"
    "\"shape\":{\"elementType\":\"F32\",\"dimensions\":null,\"layout\":{}},"
    "\"sharding\":{\"type\":\"MAXIMAL\",\"tileAssignmentDevices\":[3]},"
    "\"resultAccuracy\":{\"mode\":1},"
    "\"frontend_attributes\":{\"map\":{\"k\":\"v\",\"a\":\"caf\\u00e9\"}},"
    "\"metadata\":{\"opName\":\"jit(f)/exp\",\"sourceFile\":\"a.py\",\"sourceLine\":7}}]}]";

static void check_body(const char *before, const char *after)
{
    struct str json = {0}, text = {0};
    struct err e = {0};

    str_add(&json, before);
    str_add(&json, body);
    str_add(&json, after);
    struct hlo_module *m = load(json.text);
    assert_int_equal(hlo_write_text(m, NULL, &text, &e), 0);
    assert_non_null(strstr(text.text, "ENTRY e {\n  p = f32[] parameter(0)\n"
                                      "  ROOT q = f32[] exponential(p), "
                                      "sharding={maximal device=3}, "
                                      "frontend_attributes={a=\"caf\\303\\251\",k=\"v\"}, "
                                      "result_accuracy={mode=highest}, "
                                      "metadata={op_name=\"jit(f)/exp\" source_file=\"a.py\" "
                                      "source_line=7}\n}"));
    assert_string_equal(hlo_meta(m, 1)->op_name, "jit(f)/exp");
    str_release(&json);
    str_release(&text);
    hlo_free(m);
}

static void test_keys_and_roots(void **state)
{
    (void)state;
    check_body("{", "}");
    check_body("  \n{\"hloModule\":{",
               "},\"bufferAssignment\":{\"logicalBuffers\":[{\"id\":\"1\"}]}}");
    check_body("{\"hlo_module\":{", "}}");
    check_body("{\"arguments\":[],\"executionPlatform\":\"cpu\",\"hlo\":{\"hloModule\":{", "}}}");
}

/* ---- errors ---- */

static void check_error(const char *file, const char *expected)
{
    struct hlo_module *m = NULL;
    struct err e = {0};
    char line[800];

    assert_true(hlo_load_memory("x", file, strlen(file), NULL, &m, &e) < 0);
    err_format(&e, line, sizeof line);
    if (strncmp(line, expected, strlen(expected)))
        fail_msg("error: %s\nwanted: %s", line, expected);
}

static void test_json_errors(void **state)
{
    (void)state;
    check_error("{\"name\":\"m\",\n \"computations\": [}]\n}",
                "x:2:19: no valid JSON from here on");
    check_error("{\"name\":\"m\",\n \"computations\": [{\"name\":\"e\"", "x:2:");
    check_error("{\"name\":\"m\",\"computations\":{}}", "x: computations: is not an array");
    check_error("{\"name\":7,\"computations\":[]}", "x: name: is not a string");
    check_error("{\"computations\":[{\"id\":1.5}]}", "x: computations[0].id: is not an integer");
    check_error("{\"computations\":[{\"id\":\"x1\"}]}",
                "x: computations[0].id: is not a number in range");
    check_error("{\"computations\":[{\"id\":9007199254740994}]}",
                "x: computations[0].id: is too large for a JSON number: write it as a string");
    check_error("{\"computations\":[{\"id\":\"9223372036854775808\"}]}",
                "x: computations[0].id: is outside the range of a 64-bit integer");
    check_error(
        "{\"computations\":[{\"name\":\"e\",\"instructions\":[{\"distribution\":\"RNG_ODD\"}]}]}",
        "x: computations[0].instructions[0].distribution: is not a name of this enum");
    check_error(
        "{\"computations\":[{\"name\":\"e\",\"instructions\":[{\"backendConfig\":\"?\"}]}]}",
        "x: computations[0].instructions[0].backend_config: is not base64");
    check_error("{\"computations\":[{\"name\":\"e\",\"instructions\":[{\"name\":\"p\","
                "\"opcode\":\"parameter\"}]}]}",
                "x: computations[0].instructions[0] \"p\": shape is missing");
    check_error(
        MODULE("S32", "2", "\"s32s\":[1]"),
        "x: computations[0].instructions[0] \"c\": literal: its values are not what its shape");
}

static void test_json_nesting(void **state)
{
    struct str deep = {0};

    (void)state;
    str_add(&deep, "{\"hostProgramShape\":{\"result\":");
    for (int n = 0; n < 400; n++)
        str_add(&deep, "{\"tupleShapes\":[");
    for (int n = 0; n < 400; n++)
        str_add(&deep, "]}");
    str_add(&deep, "},\"name\":\"m\",\"computations\":[]}");
    check_error(deep.text, "x: ...");
    str_clear(&deep);
    str_add(&deep, "{\"name\":");
    for (int n = 0; n < 100000; n++)
        str_add_char(&deep, '[');
    check_error(deep.text, "x:1:"); /* cJSON's own limit */
    str_release(&deep);
}

/* What we write, another parser reads: cJSON, strictly. */
static void test_writing(void **state)
{
    static const char text[] = "HloModule w\n\nENTRY e {\n"
                               "  ROOT c = f32[3]{0} constant({nan, 1e-45, -inf}), "
                               "metadata={op_name=\"a\\\"b\\\\c\\n\\001\"}\n}\n";
    struct hlo_module *m = load(text);
    struct str json = {0};
    struct err e = {0};

    (void)state;
    assert_int_equal(hlo_write_json(m, &json, &e), 0);
    cJSON *root = cJSON_Parse(json.text);
    assert_non_null(root);
    const cJSON *comp = cJSON_GetArrayItem(cJSON_GetObjectItem(root, "computations"), 0);
    const cJSON *i = cJSON_GetArrayItem(cJSON_GetObjectItem(comp, "instructions"), 0);
    const cJSON *values = cJSON_GetObjectItem(cJSON_GetObjectItem(i, "literal"), "f32s");
    assert_string_equal(cJSON_GetArrayItem(values, 0)->valuestring, "NaN");
    assert_true((float)cJSON_GetArrayItem(values, 1)->valuedouble == 1e-45f);
    assert_string_equal(cJSON_GetArrayItem(values, 2)->valuestring, "-Infinity");
    const cJSON *name = cJSON_GetObjectItem(cJSON_GetObjectItem(i, "metadata"), "opName");
    assert_string_equal(name->valuestring, "a\"b\\c\n\001");
    assert_string_equal(cJSON_GetObjectItem(i, "id")->valuestring, "1");
    assert_string_equal(
        cJSON_GetObjectItem(cJSON_GetObjectItem(i, "shape"), "elementType")->valuestring, "F32");
    cJSON_Delete(root);
    str_release(&json);
    hlo_free(m);
}

/* ---- protobuf text ---- */

static void check_proto_text(const char *file)
{
    struct hlo_module *m = load(file);

    assert_int_equal(m->format, HLO_FORMAT_PROTO_TEXT);
    assert_string_equal(m->name, "m");
    assert_int_equal(m->count, 2);
    assert_int_equal(hlo_at(m, 1)->opcode, HLO_OP_BROADCAST);
    assert_string_equal(hlo_meta(m, 1)->op_name, "it's");
    int64_t dims[HLO_RANK_MAX];
    assert_int_equal(hlo_attr_ints(m, 1, HLO_ATTR_DIMENSIONS, dims), 2);
    assert_int_equal(dims[0], 0);
    assert_int_equal(dims[1], 2);
    hlo_free(m);
}

static void test_proto_text(void **state)
{
    (void)state;
    check_proto_text(
        "name: \"m\"\nentry_computation_name: 'e'\n"
        "computations {\n  name: \"e\"\n  id: 1\n  root_id: 2\n"
        "  instructions {\n    name: \"p\"\n    opcode: \"parameter\"\n    id: 1\n"
        "    shape { element_type: F32 dimensions: 2 dimensions: 4 }\n  }\n"
        "  instructions {\n    name: \"b\"\n    opcode: \"broad\" \"cast\"  # in two parts\n    "
        "id: 2\n"
        "    operand_ids: 1\n    dimensions: [0, 2]\n"
        "    shape: < element_type: 11; dimensions: 0x2, dimensions: 03 dimensions: 4 >\n"
        "    metadata { op_name: \"it\\'s\" }\n"
        "    [xla.extension] { a: 1 }\n    from_the_future { x: -inf y: 1.5f z: [{}, {}] }\n"
        "  }\n}\n");
    check_proto_text(
        "hlo_module { name: \"m\" computations { name: \"e\" root_id: 2 instructions { "
        "name: \"p\" opcode: \"parameter\" id: 1 shape { element_type: F32 dimensions: "
        "[2, 4] } } instructions { name: \"b\" opcode: \"broadcast\" id: 2 operand_ids: "
        "1 dimensions: 0 dimensions: 2 shape { element_type: F32 dimensions: [2, 3, 4] "
        "} metadata { op_name: \"it\\x27s\" } } } }");
}

static void test_proto_text_errors(void **state)
{
    (void)state;
    check_error("name: \"m\"\ncomputations {\n  id: x\n}\n",
                "x:3:7: computations[0].id: expected a value");
    check_error("name: \"m\"\ncomputations {\n",
                "x:3:1: computations[0]: the file ends inside a message");
    check_error("name: \"m\ncomputations {}", "x:1:8: name: this string does not end on its line");
    check_error("name: \"m\"\ncomputations: 5\n",
                "x:2:15: computations[0]: expected '{' for a message");
    check_error("name: \"m\"\ncomputations { id: 99999999999999999999 }\n",
                "x:2:20: computations[0].id: a number outside the range of 64 bits");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),           cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_left_out),          cmocka_unit_test(test_keys_and_roots),
        cmocka_unit_test(test_json_errors),       cmocka_unit_test(test_json_nesting),
        cmocka_unit_test(test_writing),           cmocka_unit_test(test_proto_text),
        cmocka_unit_test(test_proto_text_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
