/* What broken input is told: place and sentence, one row per error of the grammar; then files that
 * are no HLO at all. */
#include "hlo/load.h"
#include "hlo/module/hlo.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

static const struct {
    const char *text;
    uint32_t line, col;
    const char *what;
} errors[] = {
    {"HloModule\n", 2, 1, "expected the name of the module"},
    {"HloModule m\n", 2, 1, "no computation found"},
    {"HloModule m, is_scheduled=maybe\n", 1, 27, "expected true or false"},
    {"HloModule m, replica_count=0\n", 1, 28, "\"0\" is not a count, expected 1 or more"},
    {"HloModule m, x\n", 2, 1, "expected = after the name of an attribute"},
    {"HloModule m, entry_computation_layout={(f32[]\n", 1, 39, "without an end"},
    {"HloModule m, input_output_alias={ {0}: 3 }\nENTRY e { ROOT p = f32[] parameter(0) }", 1, 40,
     "expected ( before the parameter of an alias"},
    {"HloModule m, input_output_alias={ {}: (7, {}) }\nENTRY e { ROOT p = f32[] parameter(0) }", 1,
     43, "no parameter 7 in the entry computation"},
    {"HloModule m, input_output_alias={ {2}: (0, {}) }\nENTRY e { ROOT p = f32[] parameter(0) }", 1,
     36, "\"2}:\" is not an element"},
    {"HloModule m\nFileNames\n2 \"a\"\n", 3, 1, "row \"2\" of a table, expected 1"},
    {"ENTRY e {", 1, 10, "end of the file inside a computation, expected }"},
    {"ENTRY e { }", 1, 7, "computation without instructions"},
    {"ENTRY { }", 1, 7, "\"{\" is not a computation, expected its name"},
    {"ENTRY e { ROOT p = f32[] parameter(0) }\nENTRY f { ROOT p = f32[] parameter(0) }", 2, 7,
     "a second ENTRY"},
    {"a { ROOT p = f32[] parameter(0) }\na { ROOT p = f32[] parameter(0) }", 2, 1,
     "a second computation \"a\""},
    {"ENTRY e { p = f32[] parameter(0)\n  c = f32[] call(p), to_apply=x }", 2, 31,
     "computation \"x\" is not defined"},
    {"a { p = f32[] parameter(0) ROOT c = f32[] call(p), to_apply=a }", 0, 0, "calls itself"},
    {"ENTRY e (p: f32[]) { p = f32[] parameter(0) }", 1, 20, "expected -> and the result"},
    {"ENTRY e {\n  p f32[] parameter(0)\n}", 2, 5, "\"f32[]\" found, expected ="},
    {"ENTRY e {\n  9p = f32[] parameter(0)\n}", 2, 3, "\"9p\" is not an instruction"},
    {"ENTRY e {\n  p = f33[] parameter(0)\n}", 2, 7, "\"f33[]\" is not a type"},
    {"ENTRY e {\n  p = f32[2 parameter(0)\n}", 2, 13, "expected , between dims"},
    {"ENTRY e {\n  p = f32[-1] parameter(0)\n}", 2, 11, "\"-1]\" is not a dim"},
    {"ENTRY e {\n  p = f32[99999999999999999999] parameter(0)\n}", 2, 11, "is not a dim"},
    {"ENTRY e {\n  p = f32[2]{1} parameter(0)\n}", 2, 14, "layout does not fit 1 dims"},
    {"ENTRY e {\n  p = f32[2,2]{1} parameter(0)\n}", 2, 15, "layout names 1 dims, expected 2"},
    {"ENTRY e {\n  p = (f32[], f32[] parameter(0)\n}", 2, 21, "expected , between the shapes"},
    {"ENTRY e {\n  p = f32[] parameter(x)\n}", 2, 23, "\"x)\" is not a parameter number"},
    {"ENTRY e {\n  p = f32[] parameter(1)\n}", 2, 3, "parameter number 1"},
    {"ENTRY e { p = f32[] parameter(0)\n p = f32[] negate(p) }", 2, 2,
     "a second instruction named \"p\" (the first is on line 1)"},
    {"ENTRY e { p = f32[] parameter(0)\n n = f32[] negate(q) }", 2, 19, "\"q\" is not defined"},
    {"ENTRY e { p = f32[] parameter(0)\n n = f32[] negate(n) }", 2, 2, "n is an operand of itself"},
    {"ENTRY e { p = f32[2] parameter(0)\n n = f32[2] negate(f32[3] p) }", 2, 20,
     "operand declared with another shape"},
    {"ENTRY e { p = f32[] parameter(0)\n n = f32[] add(p p) }", 2, 18,
     "expected , between operands"},
    {"ENTRY e { p = f32[] parameter(0)\n n = f32[] negate(p#0) }", 2, 20,
     "element of an operand that is not a tuple"},
    {"ENTRY e { p = (f32[]) parameter(0)\n n = f32[] negate(p#1) }", 2, 20, "a number below 1"},
    {"ENTRY e { p = f32[] parameter(0)\n n = convert(p) }", 2, 2,
     "no shape, and none that follows"},
    {"ENTRY e { p = f32[] parameter(0)\n n = f32[] negate(p), }", 2, 23, "expected an attribute"},
    {"ENTRY e { p = f32[] parameter(0)\n n = f32[] negate(p), a }", 2, 25,
     "expected = after the name"},
    {"ENTRY e { p = f32[] parameter(0)\n n = f32[] reverse(p), dimensions=0 }", 2, 35,
     "the value of dimensions is wrong, expected numbers such as {0,1}"},
    {"ENTRY e { p = f32[] parameter(0)\n n = f32[] negate(p), metadata={op_name=\"x }", 2, 32,
     "the value of metadata is not closed"},
    {"ENTRY e { p = f32[] parameter(0)\n n = f32[] negate(p), metadata={op_name} }", 2, 33,
     "in metadata, expected name=value"},
    {"ENTRY e { p = f32[] parameter(0)\n n = f32[] reverse(p), dimensions={}, dimensions={} }", 2,
     2, "attribute dimensions stands twice"},
    {"ENTRY e { p = f32[] parameter(0)\n n = f32[] negate(p), control-predecessors={q} }", 2, 45,
     "\"q\" is not defined"},
    {"ENTRY e { p = f32[] parameter(0) /* never closed\n}", 1, 34,
     "comment is not closed, expected */"},
    {"ENTRY e {\n c = f32[2] constant({1})\n}", 2, 22, "1 values in dim 0, expected 2"},
    {"ENTRY e {\n c = f32[] constant(x)\n}", 2, 21, "\"x)\" is no f32"},
    {"ENTRY e {\n c = u32[] constant(4294967296)\n}", 2, 21,
     "is no u32, expected a number from 0 to 4294967295"},
    {"ENTRY e {\n c = s8[] constant(-129)\n}", 2, 20, "expected a number from -128 to 127"},
    {"ENTRY e {\n c = token[] constant(1)\n}", 2, 23, "a constant of type token"},
    {"ENTRY e {\n c = s32[] constant(1 2)\n}", 2, 23, "expected ) after the value"},
};

static void test_errors(void **state)
{
    (void)state;
    for (size_t n = 0; n < sizeof errors / sizeof *errors; n++) {
        struct hlo_module *m = NULL;
        struct err e = {0};
        int rc = hlo_load_memory("t.hlo", errors[n].text, strlen(errors[n].text), NULL, &m, &e);
        if (rc >= 0 || !strstr(e.what, errors[n].what) || e.line != errors[n].line ||
            e.col != errors[n].col) {
            print_message("%s\n  gives    %u:%u: %s\n  expected %u:%u: %s\n", errors[n].text,
                          e.line, e.col, e.what, errors[n].line, errors[n].col, errors[n].what);
            hlo_free(m);
            fail();
        }
        assert_null(m);
        assert_string_equal(e.file, "t.hlo");
    }
}

static void test_error_as_printed(void **state)
{
    (void)state;
    static const char text[] = "HloModule m\nENTRY e {\n  p = f32[2,x] parameter(0)\n}\n";
    struct hlo_module *m;
    struct err e;
    char printed[512] = "";

    assert_int_equal(hlo_load_memory("t.hlo", text, strlen(text), NULL, &m, &e), ERR_INPUT);
    FILE *f = fmemopen(printed, sizeof printed, "w");
    err_print(&e, f);
    fclose(f);
    assert_string_equal(printed,
                        "t.hlo:3:13: \"x]\" is not a dim, expected a number from 0 to 2^63-1\n"
                        "    p = f32[2,x] parameter(0)\n"
                        "              ^\n");
}

/* ---- limits ---- */

static char *repeat(const char *before, const char *piece, size_t times, const char *after)
{
    struct str s = {0};

    str_add(&s, before);
    for (size_t n = 0; n < times; n++)
        str_add(&s, piece);
    str_add(&s, after);
    assert_false(s.failed);
    return s.text;
}

static void check_refused(char *text, int code, const char *what)
{
    struct hlo_module *m;
    struct err e;

    assert_int_equal(hlo_load_memory("t", text, strlen(text), NULL, &m, &e), code);
    if (!strstr(e.what, what))
        print_message("gives: %s\n", e.what);
    assert_non_null(strstr(e.what, what));
    free(text);
}

static void test_limits(void **state)
{
    (void)state;
    check_refused(repeat("ENTRY e { p = ", "(", 100000, ""), ERR_LIMIT, "nested deeper than 200");
    check_refused(
        repeat("ENTRY e { p = f32[] parameter(0) r = f32[] ", "negate(f32[] ", 100000, ""),
        ERR_LIMIT, "nested deeper than 200");
    check_refused(repeat("ENTRY e { p = f32[", "1,", 100, "1] parameter(0) }"), ERR_LIMIT,
                  "more than 64 dims");
    check_refused(repeat("ENTRY e { p = f32[", "9000000000,", 3, "1] parameter(0) }"), ERR_LIMIT,
                  "2^63");
    check_refused(repeat("ENTRY e { ", "x", 70000, " = f32[] parameter(0) }"), ERR_LIMIT,
                  "name of 70000 bytes");
}

static void test_size_limit(void **state)
{
    (void)state;
    static const char text[] = "ENTRY e { ROOT p = f32[] parameter(0) }";
    struct hlo_load_options o = {.max_bytes = 10, .module = -1};
    struct hlo_module *m;
    struct err e;

    assert_int_equal(hlo_load_memory("t", text, strlen(text), &o, &m, &e), ERR_LIMIT);
    assert_non_null(strstr(e.what, "more than 10 bytes"));
}

/* ---- files that are no HLO ---- */

static char folder[] = "/tmp/automap_load_XXXXXX";

static const char *file_of(const char *name, const void *data, size_t size)
{
    static char path[128];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, size, f), size);
    fclose(f);
    return path;
}

static void check_file(const char *path, int code, const char *what)
{
    struct timespec from, to;
    struct hlo_module *m = NULL;
    struct err e;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
    assert_int_equal(hlo_load(path, NULL, &m, &e), code);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
    assert_null(m);
    if (!strstr(e.what, what))
        print_message("%s gives: %s\n", path, e.what);
    assert_non_null(strstr(e.what, what));
    assert_string_equal(e.file, path);
    assert_true(to.tv_sec - from.tv_sec < 2); /* "at once", on a slow machine under a sanitizer */
}

static void test_no_file(void **state)
{
    (void)state;
    check_file("/nonexistent/m.hlo", ERR_IO, "cannot be opened: No such file");
    check_file("/", ERR_IO, "this is a directory, expected a file");
    check_file("/dev/null", ERR_INPUT, "the input is empty");
    check_file("/dev/zero", ERR_INPUT, "this is not HLO"); /* zeros without end */
}

static void test_no_hlo(void **state)
{
    (void)state;
    check_file(file_of("empty", "", 0), ERR_INPUT, "the input is empty");
    check_file(file_of("blank", "\n \n", 3), ERR_INPUT, "the input is empty");
    check_file(file_of("seven", "\7ELF\2\1\1\0\0", 9), ERR_INPUT, "the first byte is 0x07");
    check_file(file_of("mlir", "module @jit_f {\n}\n", 17), ERR_INPUT, "no function with a body");
    check_file(file_of("bytecode", "ML\xefR\rMLIR21\0", 13), ERR_INPUT, "this is MLIR bytecode");
    check_file(file_of("prose", "Dear reader,\n", 13), ERR_INPUT, "found, expected");
}

/* Bytes of a literal, and how many. */
#define DATA(literal) (literal), sizeof(literal) - 1

/* Beginnings as the formats' own writers make them. */
static void test_foreign(void **state)
{
    (void)state;
    static const char zst[] = "\x28\xb5\x2f\xfd\x04\x58", xz[] = "\xfd"
                                                                 "7zXZ\0\0\4";
    static const char onnx[] = "\x08\x08\x12\x07pytorch", saved[] = "\x08\x01\x12\xf3\x2a\x0a";
    static const char plane[] = "\x0a\x9f\x04\x08\x01\x12\x09/host:CPU\x1a\x05",
                      array[] = "\x93NUMPY\x01\x00v\x00{'descr': '<f4'}";
    static const struct {
        const char *name, *data;
        size_t size;
        const char *what, *then;
    } files[] = {
        {"a.zst", zst, sizeof zst - 1, "packed by zstd", "zstd -d FILE"},
        {"a.xz", xz, sizeof xz - 1, "packed by xz", "xz -dk FILE"},
        {"a.bz2", DATA("BZh91AY&SY"), "packed by bzip2", "bunzip2 -k FILE"},
        {"a.zip", DATA("PK\3\4\x14\0\0\0"), "a zip archive", "unzip FILE"},
        {"a.pt", DATA("PK\3\4\0\0\0\0m/data.pkl"), "torch.save", "XLA_SAVE_TENSORS_FILE"},
        {"saved_model.pb", saved, sizeof saved - 1, "a TensorFlow SavedModel",
         "experimental_get_compiler_ir"},
        {"a.onnx", onnx, sizeof onnx - 1, "an ONNX model", "as_text('hlo')"},
        {"a.xplane.pb", plane, sizeof plane - 1, "a profile (xplane)", "--xla_dump_to=DIR"},
        {"a.npy", array, sizeof array - 1, "a NumPy array", "as_text('hlo')"},
        {"elf", DATA("\177ELF\2\1\1\0\0"), "a compiled program", "--xla_dump_to=DIR"},
        {"jaxpr", DATA("{ lambda ; a:f32[8]. let b:f32[8] = sin a in (b,) }"), "a jaxpr",
         "as_text('hlo')"},
        {"buffers.txt", DATA("BufferAssignment:\nallocation 0: size 4\n"),
         "XLA's buffer assignment", "the module beside it"},
        {"trace.json", DATA("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[{\"ph\":\"X\"}]}"),
         "a trace for Chrome or Perfetto", "--xla_dump_to=DIR"},
        {"list.json", DATA("[{\"name\":\"step\",\"ph\":\"B\",\"ts\":1}]"),
         "a trace for Chrome or Perfetto", "--xla_dump_to=DIR"},
        {"ir.ll", DATA("; ModuleID = 'jit_step'\n"), "LLVM IR", "--xla_dump_to=DIR"},
        {"ptx", DATA("//\n// Generated by LLVM NVPTX Back-End\n.version 8.3\n"), "PTX",
         "--xla_dump_to=DIR"},
    };

    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        const char *path = file_of(files[k].name, files[k].data, files[k].size);
        check_file(path, ERR_INPUT, files[k].what);
        check_file(path, ERR_INPUT, files[k].then);
        assert_int_equal(unlink(path), 0);
    }
}

static void test_zero_byte_in_text(void **state)
{
    (void)state;
    char text[8192] = "ENTRY e { ROOT p = f32[] parameter(0) }";

    memset(text + 39, ' ', sizeof text - 39);
    text[6000] = '\0';
    check_file(file_of("zero", text, sizeof text), ERR_INPUT, "a zero byte in text");
}

static void test_broken_gzip(void **state)
{
    (void)state;
    unsigned char packed[4096];
    uLong size = sizeof packed;
    char path[128];
    snprintf(path, sizeof path, "%s/ok.gz", folder);
    gzFile g = gzopen(path, "wb");
    for (int n = 0; n < 1000; n++)
        gzprintf(g, "// line %d of many\n", n);
    gzclose(g);
    FILE *f = fopen(path, "rb");
    size = fread(packed, 1, sizeof packed, f);
    fclose(f);

    check_file(file_of("cut.gz", packed, size / 2), ERR_INPUT, "gzip data ends early");
    memset(packed + size / 3, 0xff, 40);
    check_file(file_of("damaged.gz", packed, size), ERR_INPUT, "gzip data is damaged");
    check_file(file_of("head.gz", "\037\213", 2), ERR_INPUT, "gzip data ends early");
}

/* 256 MB of zeros in 260 kB: refused from its first bytes. */
static void test_packed_zeros(void **state)
{
    (void)state;
    static const char zeros[1 << 20];
    char path[128];

    snprintf(path, sizeof path, "%s/zeros.gz", folder);
    gzFile g = gzopen(path, "wb1");
    for (int n = 0; n < 256; n++)
        assert_int_equal(gzwrite(g, zeros, sizeof zeros), sizeof zeros);
    gzclose(g);
    check_file(path, ERR_INPUT, "this is not HLO");
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    static const char *const names[] = {"bytecode", "empty",      "blank",   "seven",
                                        "mlir",     "prose",      "zero",    "ok.gz",
                                        "cut.gz",   "damaged.gz", "head.gz", "zeros.gz"};
    char path[128];

    (void)state;
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[n]);
        unlink(path);
    }
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_errors),      cmocka_unit_test(test_error_as_printed),
        cmocka_unit_test(test_limits),      cmocka_unit_test(test_size_limit),
        cmocka_unit_test(test_no_file),     cmocka_unit_test(test_no_hlo),
        cmocka_unit_test(test_foreign),     cmocka_unit_test(test_zero_byte_in_text),
        cmocka_unit_test(test_broken_gzip), cmocka_unit_test(test_packed_zeros),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
