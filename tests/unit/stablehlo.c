/* StableHLO as a specification: small modules and what they mean, told by the HLO they are written
 * as; what is refused, and where. */
#include "hlo/load.h"
#include "hlo/meaning/cost.h"
#include "hlo/module/hlo.h"
#include "hlo/proto/write.h"
#include "hlo/stablehlo/dialects.h"
#include "hlo/stablehlo/write_stablehlo.h"
#include "hlo/text/write_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct hlo_module *load(const char *text)
{
    struct hlo_module *m = NULL;
    struct err e = {0};

    if (hlo_load_memory("test", text, strlen(text), NULL, &m, &e)) {
        err_print(&e, stderr);
        fail();
    }
    assert_int_equal(m->format, HLO_FORMAT_STABLEHLO);
    return m;
}

/* Written as StableHLO it reads as the same module, and is written so again. */
static void check_written(const struct hlo_module *m)
{
    struct str first = {0}, second = {0};
    struct hlo_module *back = NULL;
    struct err e = {0};

    if (hlo_write_stablehlo(m, NULL, &first, &e) ||
        hlo_load_memory("written", first.text, first.size, NULL, &back, &e) ||
        hlo_write_stablehlo(back, NULL, &second, &e)) {
        err_print(&e, stderr);
        fail();
    }
    assert_int_equal(back->count, m->count);
    assert_string_equal(first.text, second.text);
    hlo_free(back);
    str_release(&first);
    str_release(&second);
}

/* The module as HLO text, read again as such, holds each of these lines in this order. */
static struct hlo_module *check_text(const char *text, const char *const *lines)
{
    struct hlo_module *m = load(text), *back = NULL;
    struct str out = {0};
    struct err e = {0};

    assert_int_equal(hlo_write_text(m, NULL, &out, &e), 0);
    const char *at = out.text;
    for (; *lines; lines++) {
        const char *found = strstr(at, *lines);
        if (!found) {
            fprintf(stderr, "not found (in order): %s\nin:\n%s\n", *lines, out.text);
            fail();
        }
        at = found + strlen(*lines);
    }
    if (hlo_load_memory("back", out.text, out.size, NULL, &back, &e)) {
        err_print(&e, stderr);
        fail();
    }
    assert_int_equal(back->count, m->count);
    hlo_free(back);
    str_release(&out);
    return m;
}

static void check_lines(const char *text, const char *const *lines)
{
    struct hlo_module *m = check_text(text, lines);

    check_written(m);
    hlo_free(m);
}

/* The same of what the reader orders or names otherwise when it reads it again: as many. */
static void check_lines_again(const char *text, const char *const *lines)
{
    struct hlo_module *m = check_text(text, lines), *back = NULL;
    struct str out = {0};
    struct err e = {0};

    assert_int_equal(hlo_write_stablehlo(m, NULL, &out, &e), 0);
    assert_int_equal(hlo_load_memory("written", out.text, out.size, NULL, &back, &e), 0);
    assert_int_equal(back->count, m->count);
    assert_int_equal(back->computation_count, m->computation_count);
    hlo_free(back);
    hlo_free(m);
    str_release(&out);
}
static void check_refused(const char *text, uint32_t line, const char *what)
{
    struct hlo_module *m = NULL;
    struct err e = {0};

    assert_int_equal(hlo_load_memory("test", text, strlen(text), NULL, &m, &e), ERR_INPUT);
    if (e.line != line || !strstr(e.what, what)) {
        err_print(&e, stderr);
        fail();
    }
}

#define LINES(...) ((const char *const[]){__VA_ARGS__, NULL})

#define MAIN1(args, result, body)                                                    \
    "module @m {\n  func.func public @main(" args ") -> " result " {\n" body "  }\n" \
    "}\n"

static void test_pretty_forms(void **state)
{
    (void)state;
    check_lines(MAIN1("%arg0: tensor<2x3xf32>, %arg1: tensor<3x4xf32>", "tensor<4x2xf32>",
                      "%0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], "
                      "precision = [DEFAULT, HIGHEST] : (tensor<2x3xf32>, tensor<3x4xf32>) -> "
                      "tensor<2x4xf32>\n"
                      "%1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<2x4xf32>) -> "
                      "tensor<4x2xf32>\n"
                      "return %1 : tensor<4x2xf32>\n"),
                LINES("Arg_0.1 = f32[2,3] parameter(0)", "Arg_1.1 = f32[3,4] parameter(1)",
                      "f32[2,4] dot(Arg_0.1, Arg_1.1), lhs_contracting_dims={1}, "
                      "rhs_contracting_dims={0}, operand_precision={default,highest}",
                      "ROOT transpose.1 = f32[4,2] transpose(dot.1), dimensions={1,0}"));
    check_lines(MAIN1("%arg0: tensor<8xf32>, %arg1: tensor<f32>", "tensor<3xf32>",
                      "%0 = stablehlo.pad %arg0, %arg1, low = [1], high = [-2], interior = [0] : "
                      "(tensor<8xf32>, tensor<f32>) -> tensor<7xf32>\n"
                      "%1 = stablehlo.slice %0 [1:7:2] : (tensor<7xf32>) -> tensor<3xf32>\n"
                      "return %1 : tensor<3xf32>\n"),
                LINES("pad(Arg_0.1, Arg_1.1), padding=1_-2", "slice(pad.1), slice={[1:7:2]}"));
    check_lines(
        MAIN1(
            "%arg0: tensor<2x8x8x3xf32>, %arg1: tensor<3x3x3x4xf32>", "tensor<2x8x8x4xf32>",
            "%0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, "
            "o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = "
            "[1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, "
            "feature_group_count = 1 : i64} : (tensor<2x8x8x3xf32>, tensor<3x3x3x4xf32>) -> "
            "tensor<2x8x8x4xf32>\nreturn %0 : tensor<2x8x8x4xf32>\n"),
        LINES("convolution(Arg_0.1, Arg_1.1), window={size=3x3 pad=1_1x1_1}, "
              "dim_labels=b01f_01io->b01f"));
}

static void test_constants(void **state)
{
    (void)state;
    check_lines(MAIN1("%arg0: tensor<2x2xf32>",
                      "(tensor<2x2xf32>, tensor<3xi8>, tensor<bf16>, "
                      "tensor<2xf32>, tensor<9xi1>)",
                      "%cst = stablehlo.constant dense<0x7F800000> : tensor<f32>\n"
                      "%0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> "
                      "tensor<2x2xf32>\n"
                      "%1 = stablehlo.maximum %arg0, %0 : tensor<2x2xf32>\n"
                      "%c = stablehlo.constant dense<[1, -2, 3]> : tensor<3xi8>\n"
                      "%b = stablehlo.constant dense<0x3F80> : tensor<bf16>\n"
                      "%h = stablehlo.constant dense<\"0x0000803F000000C0\"> : tensor<2xf32>\n"
                      "%p = stablehlo.constant dense<\"0x0501\"> : tensor<9xi1>\n"
                      "return %1, %c, %b, %h, %p : tensor<2x2xf32>, tensor<3xi8>, tensor<bf16>, "
                      "tensor<2xf32>, tensor<9xi1>\n"),
                LINES("f32[] constant(inf)", "broadcast(constant.1), dimensions={}",
                      "s8[3] constant({1, -2, 3})", "bf16[] constant(1)",
                      "f32[2] constant({1, -2})",
                      "pred[9] constant({true, false, true, false, false, false, false, false, "
                      "true})"));
}

/* Numbers of any length, read alike as text, as proto and again as StableHLO. What rounds to
 * infinity is it, as MLIR reads it: XLA refuses it as text. */
static void test_long_numbers(void **state)
{
#define DIGITS "44444444444444444444444444444444444444444444444444"
#define ZEROS "00000000000000000000000000000000000000000000000000"
    static const char text[] = MAIN1(
        "%arg0: tensor<6xf32>", "(tensor<6xf32>, tensor<2xf16>)",
        "%c = stablehlo.constant dense<[1.0" DIGITS DIGITS "e+00, 1" ZEROS ZEROS ".0, -1" ZEROS
        ".0, 0." ZEROS ZEROS "1e+101, -3.402823e+38, 3.4028236e+38]> : tensor<6xf32>\n"
        "%h = stablehlo.constant dense<[65519.0, -65520.0]> : tensor<2xf16>\n"
        "%0 = stablehlo.add %arg0, %c : tensor<6xf32>\n"
        "return %0, %h : tensor<6xf32>, tensor<2xf16>\n");
    struct hlo_module *m, *back = NULL;
    struct str proto = {0};
    struct err e = {0};

    (void)state;
    m = check_text(text, LINES(", inf, -inf, 0." ZEROS ZEROS "1e+101, -3.402823e+38, inf})",
                               "f16[2] constant({65519.0, -inf})"));
    check_written(m);
    assert_int_equal(hlo_write_proto(m, &proto, &e), 0);
    assert_int_equal(hlo_load_memory("proto", proto.text, proto.size, NULL, &back, &e), 0);
    struct str out = {0};
    assert_int_equal(hlo_write_text(back, NULL, &out, &e), 0);
    if (!strstr(out.text, "({1.04444444, inf, -inf, 1, -3.40282306e+38, inf})"))
        fail_msg("%s", out.text);
    hlo_free(back);
    hlo_free(m);
    str_release(&proto);
    str_release(&out);
}

/* As XLA prints arrays of four dims. */
static void test_comments_in_constants(void **state)
{
    static const char text[] =
        "ENTRY e {\n  p = f32[1,1,2] parameter(0)\n"
        "  c = f32[1,1,2] constant({ { /*i0=0*/ {/*i1=0*/ 1, 2/*last*/} } })\n"
        "  t = pred[2] constant({/*i0=0*/ 1, false})\n"
        "  s = f32[1,1,2] add(p, c)\n  ROOT r = (f32[1,1,2], pred[2]) tuple(s, t)\n}\n";
    struct hlo_module *m = NULL;
    struct str out = {0};
    struct err e = {0};

    (void)state;
    assert_int_equal(hlo_load_memory("test", text, strlen(text), NULL, &m, &e), 0);
    if (hlo_write_stablehlo(m, NULL, &out, &e))
        fail_msg("%s", e.what);
    assert_non_null(strstr(out.text, "dense<[[[1.000000000e+00,2.000000000e+00]]]>"));
    assert_non_null(strstr(out.text, "dense<[true,false]>"));
    str_release(&out);
    hlo_free(m);
}

/* Captured values, loop invariants, unused results: the trip count is still found. */
static void test_loop(void **state)
{
    (void)state;
    static const char text[] = MAIN1(
        "%arg0: tensor<4x4xf32>, %arg1: tensor<2x4xf32>", "tensor<2x4xf32>",
        "%c = stablehlo.constant dense<0> : tensor<i32>\n"
        "%0:3 = stablehlo.while(%iterArg = %c, %iterArg_0 = %arg1, %iterArg_1 = %arg0) : "
        "tensor<i32>, tensor<2x4xf32>, tensor<4x4xf32>\n"
        "cond {\n %c_2 = stablehlo.constant dense<7> : tensor<i32>\n"
        " %1 = stablehlo.compare LT, %iterArg, %c_2,  SIGNED : (tensor<i32>, tensor<i32>) -> "
        "tensor<i1>\n stablehlo.return %1 : tensor<i1>\n"
        "} do {\n %c_2 = stablehlo.constant dense<1> : tensor<i32>\n"
        " %1 = stablehlo.add %iterArg, %c_2 : tensor<i32>\n"
        " %2 = stablehlo.dot %iterArg_0, %iterArg_1 : (tensor<2x4xf32>, tensor<4x4xf32>) -> "
        "tensor<2x4xf32>\n"
        " stablehlo.return %1, %2, %iterArg_1 : tensor<i32>, tensor<2x4xf32>, tensor<4x4xf32>\n}\n"
        "return %0#1 : tensor<2x4xf32>\n");
    check_lines(text, LINES("(s32[], f32[2,4], f32[4,4]) while(tuple", "index=1"));
    struct hlo_module *m = load(text);
    for (hlo_id id = 0; id < m->count; id++) {
        if (hlo_at(m, id)->opcode == HLO_OP_WHILE)
            assert_int_equal(hlo_trip_count(m, id), 7);
    }
    hlo_free(m);
}

static void test_generic_is_pretty(void **state)
{
    (void)state;
    static const char generic[] =
        "\"builtin.module\"() <{sym_name = \"m\"}> ({\n"
        "  \"func.func\"() <{arg_attrs = [{tf.aliasing_output = 0 : i32}, {}], function_type = "
        "(tensor<2x3xf32>, tensor<i1>) -> tensor<2x3xf32>, sym_name = \"main\"}> ({\n"
        "  ^bb0(%arg0: tensor<2x3xf32>, %arg1: tensor<i1>):\n"
        "    %0 = \"stablehlo.if\"(%arg1) ({\n"
        "      %2 = \"stablehlo.negate\"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>\n"
        "      \"stablehlo.return\"(%2) : (tensor<2x3xf32>) -> ()\n    }, {\n"
        "      \"stablehlo.return\"(%arg0) : (tensor<2x3xf32>) -> ()\n"
        "    }) : (tensor<i1>) -> tensor<2x3xf32>\n"
        "    %1 = \"mhlo.reverse\"(%0) {dimensions = dense<1> : tensor<1xi64>} : "
        "(tensor<2x3xf32>) -> tensor<2x3xf32>\n"
        "    \"func.return\"(%1) : (tensor<2x3xf32>) -> ()\n  }) : () -> ()\n}) : () -> ()\n";
    check_lines(generic,
                LINES("input_output_alias={ {}: (0, {}, may-alias) }",
                      "conditional(Arg_1.1, Arg_0.1, Arg_0.1), true_computation=region_1.1, "
                      "false_computation=region_0.1",
                      "ROOT reverse.1 = f32[2,3] reverse(conditional.1), dimensions={1}"));
}

static int write_mlir(const struct hlo_module *m, struct str *out, struct err *e)
{
    return hlo_write_stablehlo(m, NULL, out, e);
}

static int write_hlo(const struct hlo_module *m, struct str *out, struct err *e)
{
    return hlo_write_text(m, NULL, out, e);
}

/* Every device sends a part to every other of its group; HLO has no form for parts joined along
 * another dim, so these are turned first. */
static void test_all_to_all(void **state)
{
    (void)state;
#define ALL_TO_ALL(concat, to)                                                                     \
    "module @m {\n  func.func @main(%a: tensor<8x12xf32>) -> tensor<" to "> {\n"                   \
    "    %0 = \"stablehlo.all_to_all\"(%a) <{channel_handle = #stablehlo.channel_handle<handle = " \
    "7, type = 1>, concat_dimension = " concat " : i64, replica_groups = dense<[[0, 2], [1, 3]]> " \
    ": tensor<2x2xi64>, split_count = 2 : i64, split_dimension = 1 : i64}> : "                     \
    "(tensor<8x12xf32>) -> tensor<" to ">\n    return %0 : tensor<" to ">\n  }\n}\n"
    check_lines(ALL_TO_ALL("1", "8x12xf32"),
                LINES("all-to-all.1 = f32[8,12] all-to-all(Arg_0.1), channel_id=7, "
                      "replica_groups={{0,2},{1,3}}, dimensions={1}"));
    check_lines_again(ALL_TO_ALL("0", "16x6xf32"), LINES("all-to-all(Arg_0.1), channel_id=7",
                                                         "reshape(", "transpose(", "reshape("));
    struct hlo_module *m = load(ALL_TO_ALL("1", "8x12xf32"));
    struct str out = {0};
    struct err e = {0};
    assert_int_equal(hlo_write_stablehlo(m, NULL, &out, &e), 0);
    assert_non_null(strstr(out.text, "split_count = 2 : i64"));
    str_release(&out);
    hlo_free(m);
#undef ALL_TO_ALL
    static const char *const no_lists[] = {"{}", "[2,4]<=[8]"};
    for (size_t k = 0; k < 2; k++) {
        char text[256];
        int size =
            snprintf(text, sizeof text,
                     "HloModule m\n\nENTRY e {\n  a = f32[4] parameter(0)\n  ROOT t = f32[4] "
                     "all-to-all(a), replica_groups=%s, dimensions={0}\n}\n",
                     no_lists[k]);
        assert_int_equal(hlo_load_memory("test", text, (size_t)size, NULL, &m, &e), 0);
        assert_int_equal(hlo_write_stablehlo(m, NULL, &out, &e), ERR_INPUT);
        assert_non_null(strstr(e.what, "without groups"));
        str_release(&out);
        hlo_free(m);
    }
}

/* Names and source lines, in whatever form the module is written. */
static void test_locations(void **state)
{
    (void)state;
    struct hlo_module *m =
        load("#loc1 = loc(\"params['w']\")\n"
             "module @m {\n"
             "  func.func public @main(%arg0: tensor<4xf32> loc(#loc1)) -> tensor<4xf32> {\n"
             "    %0 = stablehlo.negate %arg0 : tensor<4xf32> loc(#loc3)\n"
             "    return %0 : tensor<4xf32> loc(#loc)\n  } loc(#loc)\n} loc(#loc)\n"
             "#loc = loc(unknown)\n#loc2 = loc(\"model.py\":31:7 to :20)\n"
             "#loc3 = loc(\"jit(step)/layer_0/neg\"(callsite(#loc2 at #loc)))\n");
    hlo_id root = m->computations[m->entry].root, w = m->computations[m->entry].params[0];
    assert_string_equal(hlo_meta(m, root)->op_name, "jit(step)/layer_0/neg");
    assert_string_equal(hlo_meta(m, root)->source_file, "model.py");
    assert_int_equal(hlo_meta(m, root)->source_line, 31);
    assert_string_equal(hlo_name(m, root), "neg.1");
    assert_string_equal(hlo_meta(m, w)->op_name, "params['w']");
    assert_int_equal(hlo_at(m, root)->line, 4);
    check_written(m);
    int (*const writers[])(const struct hlo_module *, struct str *,
                           struct err *) = {write_mlir, write_hlo, hlo_write_json, hlo_write_proto};
    for (size_t k = 0; k < sizeof writers / sizeof *writers; k++) {
        struct hlo_module *back = NULL;
        struct str out = {0};
        struct err e = {0};
        if (writers[k](m, &out, &e) || hlo_load_memory("back", out.text, out.size, NULL, &back, &e))
            fail_msg("%s", e.what);
        root = back->computations[back->entry].root;
        w = back->computations[back->entry].params[0];
        assert_string_equal(hlo_meta(back, root)->op_name, "jit(step)/layer_0/neg");
        assert_string_equal(hlo_meta(back, root)->source_file, "model.py");
        assert_int_equal(hlo_meta(back, root)->source_line, 31);
        assert_string_equal(hlo_meta(back, w)->op_name, "params['w']");
        hlo_free(back);
        str_release(&out);
    }
    hlo_free(m);
}

/* What XLA takes out, and what it makes of size-1 broadcasts. */
static void test_simplified(void **state)
{
    (void)state;
    struct hlo_module *m = load(
        MAIN1("%arg0: tensor<1x3xf32>", "tensor<2x3xf32>",
              "%cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>\n"
              "%0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x3xf32>\n"
              "%1 = stablehlo.multiply %0, %arg0 : tensor<1x3xf32>\n"
              "%2 = stablehlo.convert %1 : tensor<1x3xf32>\n"
              "%dead = stablehlo.exponential %2 : tensor<1x3xf32>\n"
              "%3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<1x3xf32>) -> "
              "tensor<2x3xf32>\n"
              "return %3 : tensor<2x3xf32>\n"));
    assert_int_equal(m->count, 3); /* parameter, reshape, broadcast */
    assert_int_equal(hlo_at(m, 1)->opcode, HLO_OP_RESHAPE);
    assert_int_equal(hlo_at(m, 2)->opcode, HLO_OP_BROADCAST);
    hlo_free(m);
}

/* The opcode of the result that `ops` make as %r, of %a, %b (truth values), constants %s, %z, %f.
 */
static int opcode_of(const char *ops)
{
    char text[2048];

    int size = snprintf(text, sizeof text,
                        "!F = tensor<1x3xf32>\n!P = tensor<1x3xi1>\n!S = tensor<f32>\n"
                        "!C = tensor<1x3xcomplex<f32>>\n!G = tensor<3x1xf32>\n"
                        "func.func @main(%%a: !F, %%b: !P) -> !F {\n"
                        "%%s = stablehlo.constant dense<0.000000e+00> : !S\n"
                        "%%z = stablehlo.broadcast_in_dim %%s, dims = [] : (!S) -> !F\n"
                        "%%t = stablehlo.constant dense<false> : tensor<i1>\n"
                        "%%f = stablehlo.broadcast_in_dim %%t, dims = [] : (tensor<i1>) -> !P\n"
                        "%s\nreturn %%r : !F\n}\n",
                        ops);
    assert_true(size > 0 && (size_t)size < sizeof text);
    struct hlo_module *m = load(text);
    int opcode = hlo_at(m, m->computations[m->entry].root)->opcode;
    hlo_free(m);
    return opcode;
}

/* Of each what is left, and what only looks alike and stays. */
static void test_changes_nothing(void **state)
{
    static const struct {
        const char *ops;
        int opcode;
    } cases[] = {
        {"%r = stablehlo.subtract %a, %z : !F", HLO_OP_PARAMETER},
        {"%r = stablehlo.subtract %z, %a : !F", HLO_OP_SUBTRACT},
        {"%r = stablehlo.pad %a, %s, low = [0, 0], high = [0, 0], interior = [0, 0] : "
         "(!F, !S) -> !F",
         HLO_OP_PARAMETER},
        {"%r = stablehlo.pad %a, %s, low = [0, 1], high = [0, -1], interior = [0, 0] : "
         "(!F, !S) -> !F",
         HLO_OP_PAD},
        {"%r = stablehlo.concatenate %a, dim = 0 : (!F) -> !F", HLO_OP_PARAMETER},
        {"%r = stablehlo.reverse %a, dims = [0] : !F", HLO_OP_PARAMETER},
        {"%r = stablehlo.reverse %a, dims = [0, 1] : !F", HLO_OP_REVERSE},
        {"%r = stablehlo.select %b, %a, %a : !P, !F", HLO_OP_PARAMETER},
        {"%r = stablehlo.select %b, %a, %z : !P, !F", HLO_OP_SELECT},
        {"%r = stablehlo.select %f, %z, %a : !P, !F", HLO_OP_PARAMETER},
        {"%p = stablehlo.or %f, %b : !P\n%q = stablehlo.xor %p, %f : !P\n"
         "%r = stablehlo.select %q, %a, %z : !P, !F",
         HLO_OP_SELECT},
        {"%r = stablehlo.reduce(%a init: %s) applies stablehlo.add across dimensions = [] : "
         "(!F, !S) -> !F",
         HLO_OP_PARAMETER},
        {"%c = stablehlo.complex %a, %z : !C\n%r = stablehlo.real %c : (!C) -> !F",
         HLO_OP_PARAMETER},
        {"%c = stablehlo.complex %a, %z : !C\n%i = stablehlo.imag %c : (!C) -> !F\n"
         "%r = stablehlo.subtract %a, %i : !F",
         HLO_OP_PARAMETER},
        {"%g = stablehlo.transpose %a, dims = [1, 0] : (!F) -> !G\n"
         "%r = stablehlo.reshape %g : (!G) -> !F",
         HLO_OP_PARAMETER},
        {"%p = stablehlo.compare NE, %b, %f, UNSIGNED : (!P, !P) -> !P\n"
         "%q = stablehlo.and %p, %f : !P\n%r = stablehlo.select %q, %z, %a : !P, !F",
         HLO_OP_PARAMETER},
        {"%p = stablehlo.compare EQ, %b, %f, UNSIGNED : (!P, !P) -> !P\n"
         "%r = stablehlo.select %p, %a, %z : !P, !F",
         HLO_OP_SELECT},
        {"%p = stablehlo.compare NE, %b, %b, UNSIGNED : (!P, !P) -> !P\n"
         "%r = stablehlo.select %p, %z, %a : !P, !F",
         HLO_OP_PARAMETER},
        {"%p = stablehlo.compare NE, %a, %a, FLOAT : (!F, !F) -> !P\n"
         "%r = stablehlo.select %p, %z, %a : !P, !F",
         HLO_OP_SELECT},
        {"%i = stablehlo.constant dense<0> : tensor<i32>\n"
         "%r = stablehlo.dynamic_update_slice %z, %a, %i, %i : "
         "(!F, !F, tensor<i32>, tensor<i32>) -> !F",
         HLO_OP_PARAMETER},
    };

    (void)state;
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        int opcode = opcode_of(cases[n].ops);
        if (opcode != cases[n].opcode)
            print_error("case %zu: %s\n", n, cases[n].ops);
        assert_int_equal(opcode, cases[n].opcode);
    }
}

/* What jaxlib's own folder makes of constants of one value, of lists, and what it leaves. */
static void test_constants_are_folded(void **state)
{
    static const struct {
        const char *type, *a, *b, *ops, *want; /* want NULL: not folded */
    } cases[] = {
        {"tensor<f32>", "-1.000000e+00", "48.0", "stablehlo.divide %a, %b : T", "-2.0833333"},
        {"tensor<f32>", "0.1", "0.2", "stablehlo.add %a, %b : T", "3.0000001192"},
        {"tensor<bf16>", "1.0", "3.0", "stablehlo.divide %a, %b : T", "3.339843"},
        {"tensor<f32>", "4.0", "0.0", "stablehlo.rsqrt %a : T", "5.000000e-01"},
        {"tensor<f32>", "4.0", "0.0", "stablehlo.divide %a, %b : T", NULL},
        {"tensor<f32>", "3.0e38", "3.0e38", "stablehlo.add %a, %b : T", NULL},
        {"tensor<f32>", "4.0", "0.5", "stablehlo.power %a, %b : T", NULL},
        {"tensor<i8>", "100", "100", "stablehlo.add %a, %b : T", "-56"},
        {"tensor<ui8>", "3", "5", "stablehlo.subtract %a, %b : T", "254"},
        {"tensor<i32>", "-7", "2", "stablehlo.divide %a, %b : T", "-3"},
        {"tensor<i32>", "7", "0", "stablehlo.remainder %a, %b : T", NULL},
        {"tensor<i32>", "6", "3", "stablehlo.minimum %a, %b : T", "3"},
        {"tensor<3xi32>", "[1, -2, 3]", "5", "stablehlo.maximum %a, %b : T", "{5, 5, 5}"},
        {"tensor<2x2xi32>", "[[1, 2], [3, 4]]", "2", "stablehlo.multiply %a, %b : T",
         "{{2, 4}, {6, 8}}"},
        {"tensor<2xi1>", "[true, false]", "true", "stablehlo.not %a : T", "{false, true}"},
        {"tensor<i1>", "true", "true", "stablehlo.add %a, %b : T", NULL},
        {"tensor<i32>", "6", "3", "stablehlo.clamp %b, %a, %b : T", "3"},
        {"tensor<2xi32>", "[6, 1]", "[3, 1]",
         "stablehlo.compare EQ, %a, %b, SIGNED : (T, T) -> tensor<2xi1>\n"
         "%r = stablehlo.select %c, %a, %b : tensor<2xi1>, T",
         "{3, 1}"},
        {"tensor<i32>", "6", "3", "stablehlo.xor %a, %b : T", NULL},
        {"tensor<f32>", "0.0", "-0.0", "stablehlo.maximum %a, %b : T", "0"},
        {"tensor<f32>", "-0.0", "0.0", "stablehlo.maximum %a, %b : T", "0"},
        {"tensor<f32>", "0.0", "-0.0", "stablehlo.minimum %a, %b : T", "-0"},
        {"tensor<f32>", "-0.0", "0.0", "stablehlo.minimum %a, %b : T", "-0"},
        {"tensor<f32>", "-0.0", "0.0", "stablehlo.clamp %b, %a, %b : T", "0"},
        {"tensor<f32>", "0.0", "-0.0", "stablehlo.clamp %b, %a, %b : T", "-0"},
    };

    (void)state;
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        bool has_two = strstr(cases[n].ops, "%r = ") != NULL;
        char ops[512] = "", text[1024];
        for (const char *p = cases[n].ops; *p; p++) /* T: the type */
            snprintf(ops + strlen(ops), sizeof ops - strlen(ops), *p == 'T' ? "!T" : "%c", *p);
        snprintf(text, sizeof text,
                 "!T = %s\nfunc.func @main() -> !T {\n%%a = stablehlo.constant dense<%s> : !T\n"
                 "%%b = stablehlo.constant dense<%s> : !T\n%%%s = %s\nreturn %%r : !T\n}\n",
                 cases[n].type, cases[n].a, cases[n].b, has_two ? "c" : "r", ops);
        struct hlo_module *m = load(text);
        const struct hlo_instruction *root = hlo_at(m, m->computations[m->entry].root);
        if (cases[n].want && root->opcode == HLO_OP_BROADCAST) /* one value for all */
            root = hlo_at(m, m->operand_pool[root->operands]);
        if ((root->opcode == HLO_OP_CONSTANT) != (cases[n].want != NULL))
            print_error("case %zu: %s\n", n, text);
        assert_int_equal(root->opcode == HLO_OP_CONSTANT, cases[n].want != NULL);
        if (cases[n].want)
            assert_memory_equal(m->literals[root->literal].text, cases[n].want,
                                strlen(cases[n].want));
        hlo_free(m);
    }
}

/* Whole numbers that a double rounds: to the nearest, not to the nearest of the double's. */
static void test_large_whole_numbers(void **state)
{
    static const struct {
        const char *whole, *type;
        double want;
    } cases[] = {
        {"18014399583223809", "f32", 0x1.000002p54},   /* 2^54 + 2^30 + 1: above half way */
        {"18014399583223808", "f32", 0x1p54},          /* half way, to even */
        {"-18014399583223809", "f32", -0x1.000002p54}, /* the same below 0 */
        {"9223372036854775807", "f32", 0x1p63},
        {"36169534507319297", "bf16", 0x1.02p55}, /* 2^55 + 2^47 + 1 */
        {"18014399583223809", "f64", 0x1.000001p54},
    };

    (void)state;
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        char text[512];
        snprintf(text, sizeof text,
                 "func.func @main() -> tensor<%s> {\n%%a = stablehlo.constant dense<%s> : "
                 "tensor<i64>\n%%r = stablehlo.convert %%a : (tensor<i64>) -> tensor<%s>\n"
                 "return %%r : tensor<%s>\n}\n",
                 cases[n].type, cases[n].whole, cases[n].type, cases[n].type);
        struct hlo_module *m = load(text);
        const struct hlo_instruction *root = hlo_at(m, m->computations[m->entry].root);
        assert_int_equal(root->opcode, HLO_OP_CONSTANT);
        assert_true(strtod(m->literals[root->literal].text, NULL) == cases[n].want);
        hlo_free(m);
    }
}

/* A slice of what is known when the program is read, moved inwards. */
static void test_known_starts(void **state)
{
    (void)state;
    check_lines(MAIN1("%a: tensor<8x4xf32>", "tensor<2x4xf32>",
                      "%i = stablehlo.constant dense<7> : tensor<i32>\n"
                      "%j = stablehlo.constant dense<-1> : tensor<i32>\n"
                      "%r = stablehlo.dynamic_slice %a, %i, %j, sizes = [2, 4] : "
                      "(tensor<8x4xf32>, tensor<i32>, tensor<i32>) -> tensor<2x4xf32>\n"
                      "return %r : tensor<2x4xf32>\n"),
                LINES("slice(Arg_0.1), slice={[6:8], [0:4]}"));
}

/* Sizes that are constants are known: the operation that needs none computed. */
static void test_known_sizes(void **state)
{
    (void)state;
    check_lines(
        MAIN1("%a: tensor<8x4xf32>, %p: tensor<f32>",
              "(tensor<4x8xf32>, tensor<11x5xf32>, tensor<i32>)",
              "%s = stablehlo.constant dense<[4, 8]> : tensor<2xi64>\n"
              "%0 = stablehlo.dynamic_reshape %a, %s : (tensor<8x4xf32>, tensor<2xi64>) -> "
              "tensor<4x8xf32>\n"
              "%l = stablehlo.constant dense<[2, 0]> : tensor<2xindex>\n"
              "%h = stablehlo.constant dense<1> : tensor<2xindex>\n"
              "%i = stablehlo.constant dense<0> : tensor<2xindex>\n"
              "%1 = stablehlo.dynamic_pad %a, %p, %l, %h, %i : (tensor<8x4xf32>, tensor<f32>, "
              "tensor<2xindex>, tensor<2xindex>, tensor<2xindex>) -> tensor<11x5xf32>\n"
              "%2 = stablehlo.get_dimension_size %a, dim = 0 : (tensor<8x4xf32>) -> tensor<i32>\n"
              "%3 = \"stablehlo.get_dimension_size\"(%a) <{dimension = 1 : i64}> : "
              "(tensor<8x4xf32>) -> tensor<i32>\n"
              "%4 = stablehlo.add %2, %3 : tensor<i32>\n"
              "return %0, %1, %4 : tensor<4x8xf32>, tensor<11x5xf32>, tensor<i32>\n"),
        LINES("f32[4,8] reshape(Arg_0.1)", "f32[11,5] pad(Arg_0.1, Arg_1.1), padding=2_1x0_1",
              "s32[] constant(12)"));
    check_lines(MAIN1("%a: tensor<8xf32>, %p: tensor<f32>", "tensor<8xf32>",
                      "%z = stablehlo.constant dense<0> : tensor<1xi64>\n"
                      "%s = stablehlo.constant dense<8> : tensor<1xi32>\n"
                      "%0 = stablehlo.dynamic_pad %a, %p, %z, %z, %z : (tensor<8xf32>, "
                      "tensor<f32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<8xf32>\n"
                      "%1 = stablehlo.dynamic_reshape %0, %s : (tensor<8xf32>, tensor<1xi32>) -> "
                      "tensor<8xf32>\nreturn %1 : tensor<8xf32>\n"),
                LINES("ROOT Arg_0.1 = f32[8] parameter(0)"));
}

/* Sizes that are not, or contradict the result: refused at their line. */
static void test_unknown_sizes(void **state)
{
#define RESHAPED(list, to)                                                                  \
    MAIN1("%a: tensor<8x4xf32>, %s: tensor<2xi64>", to,                                     \
          "%c = stablehlo.constant " list " : tensor<2xi64>\n"                              \
          "%0 = stablehlo.dynamic_reshape %a, %c : (tensor<8x4xf32>, tensor<2xi64>) -> " to \
          "\nreturn %0 : " to "\n")
    (void)state;
    check_refused(RESHAPED("dense<[8, 4]>", "tensor<4x8xf32>"), 4, "no form in HLO");
    check_refused(RESHAPED("dense<[4, 4]>", "tensor<4x4xf32>"), 4, "reshape");
    check_refused(MAIN1("%a: tensor<8x4xf32>, %s: tensor<2xi64>", "tensor<4x8xf32>",
                        "%0 = stablehlo.dynamic_reshape %a, %s : (tensor<8x4xf32>, tensor<2xi64>) "
                        "-> tensor<4x8xf32>\nreturn %0 : tensor<4x8xf32>\n"),
                  3, "no form in HLO");
    check_refused(MAIN1("%a: tensor<8xf32>", "tensor<i32>",
                        "%0 = stablehlo.get_dimension_size %a, dim = 1 : (tensor<8xf32>) -> "
                        "tensor<i32>\nreturn %0 : tensor<i32>\n"),
                  3, "no form in HLO");
    check_refused(MAIN1("%a: tensor<8xf32>, %p: tensor<f32>", "tensor<9xf32>",
                        "%z = stablehlo.constant dense<0> : tensor<1xi64>\n"
                        "%0 = stablehlo.dynamic_pad %a, %p, %z, %z, %z : (tensor<8xf32>, "
                        "tensor<f32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> "
                        "tensor<9xf32>\nreturn %0 : tensor<9xf32>\n"),
                  4, "result is f32[9], expected f32[8]");
#undef RESHAPED
}

/* `p != false`, which JAX writes before it joins two conditions. */
static void test_truth_itself(void **state)
{
    (void)state;
    check_lines(MAIN1("%a: tensor<4xf32>, %b: tensor<4xi1>", "tensor<4xf32>",
                      "%f = stablehlo.constant dense<false> : tensor<4xi1>\n"
                      "%p = stablehlo.compare NE, %b, %f, UNSIGNED : (tensor<4xi1>, "
                      "tensor<4xi1>) -> tensor<4xi1>\n%n = stablehlo.negate %a : tensor<4xf32>\n"
                      "%r = stablehlo.select %p, %a, %n : tensor<4xi1>, tensor<4xf32>\n"
                      "return %r : tensor<4xf32>\n"),
                LINES("select(Arg_1.1, Arg_0.1, negate.1)"));
}

/* What a library is called with: its version, layouts (LAPACK knows columns alone) and attributes.
 */
static void test_library_calls(void **state)
{
    (void)state;
    check_lines(MAIN1("%a: tensor<8x4xf32>", "(tensor<8x4xf32>, tensor<4xf32>)",
                      "%0:2 = stablehlo.custom_call @lapack_sgeqrf_ffi(%a) {backend_config = \"\", "
                      "mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "
                      "\"0\"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], "
                      "result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : "
                      "tensor<1xindex>]} : (tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<4xf32>)\n"
                      "%1 = stablehlo.custom_call @lapack_sorgqr_ffi(%0#0, %0#1) {"
                      "mhlo.backend_config = {side = 76 : ui8}, operand_layouts = [dense<[0, 1]> : "
                      "tensor<2xindex>, dense<0> : tensor<1xindex>], result_layouts = "
                      "[dense<[0, 1]> : tensor<2xindex>]} : "
                      "(tensor<8x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>\n"
                      "return %1, %0#1 : tensor<8x4xf32>, tensor<4xf32>\n"),
                LINES("(f32[8,4]{0,1}, f32[4]{0}) custom-call(Arg_0.1), "
                      "custom_call_target=\"lapack_sgeqrf_ffi\", "
                      "operand_layout_constraints={f32[8,4]{0,1}}, "
                      "api_version=API_VERSION_TYPED_FFI",
                      "frontend_attributes={num_batch_dims=\"0\"}", "backend_config={}",
                      "f32[8,4]{0,1} custom-call(",
                      "operand_layout_constraints={f32[8,4]{0,1}, f32[4]{0}}",
                      "backend_config={side = 76 : ui8}"));
}

/* HLO says nothing of what a constraint is; MLIR refuses a layout that is none. */
static void test_no_layouts(void **state)
{
    static const char *const lists[] = {"{f32[8,4]{0,1}}", "{f32[8,4]{0,0}}", "{f32[8,4]}",
                                        "{f32[8,4]{0,2}}", "{}"};

    (void)state;
    for (size_t n = 0; n < sizeof lists / sizeof *lists; n++) {
        struct hlo_module *m = NULL;
        struct str out = {0};
        struct err e = {0};
        char text[256];
        snprintf(text, sizeof text,
                 "HloModule m\nENTRY e {\n  p = f32[8,4] parameter(0)\n  ROOT c = f32[8,4] "
                 "custom-call(p), custom_call_target=\"x\", operand_layout_constraints=%s\n}\n",
                 lists[n]);
        assert_int_equal(hlo_load_memory("test", text, strlen(text), NULL, &m, &e), 0);
        assert_int_equal(hlo_write_stablehlo(m, NULL, &out, &e), 0);
        assert_int_equal(strstr(out.text, "operand_layouts") != NULL, n == 0);
        str_release(&out);
        hlo_free(m);
    }
}

/* A dictionary is handed on as it stands: HLO must read all of it as one. */
static void test_dictionary_ends(void **state)
{
    static const struct {
        const char *dictionary, *what;
    } rows[] = {
        {"{a = 1}\nfunc.func @g(%b: tensor<f32>) {x = 2}", "expected , or } after a value"},
        {"{a = 1} : i32", "expected , or } after a value"},
        {"[1] [2]", "expected , or } after a value"},
        {"{a = (}}", "brackets of backend_config"},
        {"{a = [1}]", "brackets of backend_config"},
        {"{a = 1} // all", NULL},
        {"{a = {b = [1, 2]}, c = \"}\"}", NULL},
    };

    (void)state;
    for (size_t n = 0; n < sizeof rows / sizeof *rows; n++) {
        char text[512];
        snprintf(text, sizeof text,
                 "func.func @main(%%a: tensor<f32>) -> tensor<f32> {\n%%0 = "
                 "stablehlo.custom_call @f(%%a) {api_version = 4 : i32, backend_config = %s\n} : "
                 "(tensor<f32>) -> tensor<f32>\nreturn %%0 : tensor<f32>\n}\n",
                 rows[n].dictionary);
        if (rows[n].what)
            check_refused(text, n ? 2 : 3, rows[n].what);
        else
            check_lines(text, LINES("custom_call_target=\"f\"", "backend_config={a = "));
    }
}

/* Two broadcasts are one, as are two transposes; a transpose of dims that are larger stays. */
static void test_in_a_row(void **state)
{
    (void)state;
    check_lines("func.func @main(%a: tensor<3x4xf32>) -> tensor<5x4x3xf32> {\n"
                "%0 = stablehlo.broadcast_in_dim %a, dims = [1, 2] : (tensor<3x4xf32>) -> "
                "tensor<5x3x4xf32>\n"
                "%1 = stablehlo.broadcast_in_dim %0, dims = [0, 2, 3] : (tensor<5x3x4xf32>) -> "
                "tensor<5x2x3x4xf32>\n"
                "%2 = stablehlo.transpose %1, dims = [1, 0, 2, 3] : (tensor<5x2x3x4xf32>) -> "
                "tensor<2x5x3x4xf32>\n"
                "%3 = stablehlo.transpose %2, dims = [1, 0, 3, 2] : (tensor<2x5x3x4xf32>) -> "
                "tensor<5x2x4x3xf32>\n"
                "%4 = stablehlo.slice %3 [0:5, 0:1, 0:4, 0:3] : (tensor<5x2x4x3xf32>) -> "
                "tensor<5x1x4x3xf32>\n"
                "%5 = stablehlo.reshape %4 : (tensor<5x1x4x3xf32>) -> tensor<5x4x3xf32>\n"
                "return %5 : tensor<5x4x3xf32>\n}\n",
                LINES("parameter(0)",
                      "broadcast.1 = f32[5,2,3,4] broadcast(Arg_0.1), "
                      "dimensions={2,3}",
                      "transpose.1 = f32[5,2,4,3] transpose(broadcast.1), dimensions={0,1,3,2}"));
}

/* A transpose that moves dims of one is a reshape, unless it has more to say. */
static void test_transpose_keeps_sharding(void **state)
{
    (void)state;
#define TRANSPOSE(more)                                      \
    MAIN1("%a: tensor<1x4xf32>", "tensor<4x1xf32>",          \
          "%0 = stablehlo.transpose %a, dims = [1, 0] " more \
          ": (tensor<1x4xf32>) -> tensor<4x1xf32>\nreturn %0 : tensor<4x1xf32>\n")
    check_lines(TRANSPOSE(""), LINES("ROOT reshape.1 = f32[4,1] reshape(Arg_0.1)"));
    check_lines_again(TRANSPOSE("{mhlo.sharding = \"{devices=[4,1]<=[4]}\"} "),
                      LINES("ROOT transpose.1 = f32[4,1] transpose(Arg_0.1), dimensions={1,0}, "
                            "sharding={devices=[4,1]<=[4]}"));
#undef TRANSPOSE
}

static void test_unknown_is_opaque(void **state)
{
    (void)state;
    struct hlo_module *m = load(MAIN1("%arg0: tensor<4xf32>", "tensor<4xf32>",
                                      "%0 = my.thing %arg0 {a = 3 : i64} : tensor<4xf32>\n"
                                      "return %0 : tensor<4xf32>\n"));
    assert_int_equal(m->warning_count, 1);
    assert_int_equal(m->warnings[0].line, 3);
    assert_int_equal(hlo_at(m, 1)->opcode, HLO_OP_CUSTOM_CALL);
    hlo_free(m);
}

/* A form of its own with a region in it. */
static void test_unknown_with_region(void **state)
{
    (void)state;
    struct hlo_module *m = load(
        MAIN1("%arg0: tensor<4xf32>, %arg1: tensor<f32>", "tensor<4xf32>",
              "%0:2 = chlo.scan(%arg0) inits(%arg1) dimension=0 attributes {is_reverse = true} {\n"
              "^bb0(%a: tensor<f32>, %b: tensor<f32>):\n"
              "  %1 = stablehlo.add %a, %b : tensor<f32>\n"
              "  stablehlo.return %1, %1 : tensor<f32>, tensor<f32>\n"
              "} : (tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<f32>)\n"
              "return %0#0 : tensor<4xf32>\n"));
    assert_int_equal(m->warning_count, 1);
    assert_int_equal(m->warnings[0].line, 3);
    hlo_id scan = hlo_operand(m, m->computations[m->entry].root, 0);
    assert_int_equal(hlo_at(m, scan)->opcode, HLO_OP_CUSTOM_CALL);
    assert_int_equal(hlo_at(m, scan)->operand_count, 2);
    hlo_free(m);
}

/* What jax.export makes of operations that only MHLO has. */
static void test_mhlo_calls(void **state)
{
    (void)state;
    check_lines(
        "module @m {\n"
        "  func.func @main(%a: tensor<4x8xf32>) -> (tensor<4x2xf32>, tensor<4x2xi32>) {\n"
        "    %0 = stablehlo.custom_call @mhlo.erf(%a) {mhlo.attributes = {}, mhlo.version = "
        "1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>\n"
        "    %1:2 = stablehlo.custom_call @mhlo.topk(%0) {mhlo.attributes = {k = 2 : i64, "
        "largest = true}, mhlo.version = 1 : i64} : (tensor<4x8xf32>) -> "
        "(tensor<4x2xf32>, tensor<4x2xi32>)\n"
        "    return %1#0, %1#1 : tensor<4x2xf32>, tensor<4x2xi32>\n  }\n}\n",
        LINES(" erf(Arg_0.1)", " topk(", "k=2", "largest=true"));

    /* The smallest have a form as HLO text, and none in StableHLO. */
    struct hlo_module *m =
        load("module @m {\n"
             "  func.func @main(%a: tensor<8xf32>) -> (tensor<2xf32>, tensor<2xi32>) {\n"
             "    %0:2 = stablehlo.custom_call @mhlo.topk(%a) {mhlo.attributes = {k = 2 : i64, "
             "largest = false}, mhlo.version = 1 : i64} : (tensor<8xf32>) -> (tensor<2xf32>, "
             "tensor<2xi32>)\n"
             "    return %0#0, %0#1 : tensor<2xf32>, tensor<2xi32>\n  }\n}\n");
    struct str out = {0};
    struct err e;
    assert_int_equal(hlo_write_text(m, NULL, &out, &e), 0);
    assert_non_null(strstr(out.text, "k=2, largest=false"));
    assert_int_not_equal(hlo_write_stablehlo(m, NULL, &out, &e), 0);
    str_release(&out);
    hlo_free(m);
}

static bool whole_dims(void *context, const char *text, size_t size, uint32_t rank, struct str *out)
{
    (void)context;
    assert_int_equal(size, strlen("{replicated}"));
    assert_memory_equal(text, "{replicated}", size);
    str_add_char(out, '[');
    for (uint32_t d = 0; d < rank; d++)
        str_add(out, d ? ", {}" : "{}");
    str_add_char(out, ']');
    return true;
}

/* What a loop carries is constrained right behind it: else Shardy takes the split that its first
 * reader wants, and gathers in every round. */
static void test_loop_is_constrained(void **state)
{
    static const char text[] =
        "HloModule m\n\nbody {\n  p = (s32[], f32[8]) parameter(0)\n  i = s32[] "
        "get-tuple-element(p), index=0\n  x = f32[8] get-tuple-element(p), index=1\n  y = f32[8] "
        "tanh(x)\n  one = s32[] constant(1)\n  n = s32[] add(i, one)\n  ROOT t = (s32[], f32[8]) "
        "tuple(n, y)\n}\n\ncond {\n  p = (s32[], f32[8]) parameter(0)\n  i = s32[] "
        "get-tuple-element(p), index=0\n  five = s32[] constant(5)\n  ROOT c = pred[] compare(i, "
        "five), direction=LT\n}\n\nENTRY e {\n  a = f32[8] parameter(0)\n  z = s32[] "
        "constant(0)\n  t = (s32[], f32[8]) tuple(z, a)\n  w = (s32[], f32[8]) while(t), "
        "condition=cond, body=body, sharding={{replicated}, {replicated}}\n  g = f32[8] "
        "get-tuple-element(w), index=1\n  ROOT n = f32[8] negate(g)\n}\n";
    struct stablehlo_write_options o = {.mesh = "<[\"x\"=2]>", .dims = whole_dims};
    struct hlo_module *m = NULL;
    struct str out = {0};
    struct err e = {0};

    (void)state;
    assert_int_equal(hlo_load_memory("test", text, strlen(text), NULL, &m, &e), 0);
    assert_int_equal(hlo_write_stablehlo(m, &o, &out, &e), 0);
    const char *loop = strstr(out.text, "\"stablehlo.while\""), *at = strstr(loop, "}) : ");
    for (int n = 0; n < 2; n++) {
        at = strstr(at + 1, "\"sdy.sharding_constraint\"");
        assert_non_null(at);
    }
    assert_true(at < strstr(loop, "\"stablehlo.negate\""));
    str_release(&out);
    hlo_free(m);
}

/* Strings that hold quotes, backslashes and what a terminal obeys say the same in both languages,
 * whose escapes differ: those of C, and two hexadecimal digits. */
static void test_strings(void **state)
{
    static const char hlo[] =
        "HloModule m\n\nENTRY e {\n"
        "  a = f32[4] parameter(0), sharding={replicated metadata={op_name=\"}\\\"\\033{\"}}\n"
        "  b = (f32[4], f32[2]) parameter(1), sharding={{replicated metadata={op_name=\"},{\"}}, "
        "/*index=1*/{devices=[2]<=[2]}}\n"
        "  c = f32[4] get-tuple-element(b), index=0\n"
        "  ROOT r = f32[4] custom-call(a, c), custom_call_target=\"x\\033(\\\"y\\\\\", "
        "backend_config=\"{\\\"k\\\": 1}\\n\\316\\261\", "
        "frontend_attributes={a-b=\"1\"}\n}\n";
    struct hlo_module *m = NULL, *back = NULL;
    struct str out = {0};
    struct err e = {0};

    (void)state;
    assert_int_equal(hlo_load_memory("test", hlo, strlen(hlo), NULL, &m, &e), 0);
    assert_int_equal(hlo_write_stablehlo(m, NULL, &out, &e), 0);
    assert_non_null(strstr(out.text, "call_target_name = \"x\\1B(\\\"y\\\\\""));
    assert_non_null(strstr(out.text, "backend_config = \"{\\\"k\\\": 1}\\0A\\CE\\B1\""));
    assert_non_null(strstr(out.text, "frontend_attributes = {\"a-b\" = \"1\"}"));
    if (hlo_load_memory("written", out.text, out.size, NULL, &back, &e))
        fail_msg("%s in:\n%s", e.what, out.text);
    str_clear(&out);
    assert_int_equal(hlo_write_text(back, NULL, &out, &e), 0);
    for (const char *const *line = LINES(
             "sharding={replicated metadata={op_name=\"}\\\"\\033{\"}}",
             "sharding={replicated metadata={op_name=\"},{\"}}", "sharding={devices=[2]<=[2]}",
             "custom_call_target=\"x\\033(\\\"y\\\\\"",
             "backend_config=\"{\\\"k\\\": 1}\\012\\316\\261\"", "frontend_attributes={a-b=\"1\"}");
         *line; line++) {
        if (!strstr(out.text, *line))
            fail_msg("%s not found in:\n%s", *line, out.text);
    }
    hlo_free(m);
    hlo_free(back);
    m = load(MAIN1("%a: tensor<4xf32> {mhlo.sharding = \"{\\22}\"}", "tensor<4xf32>",
                   "return %a : tensor<4xf32>\n"));
    str_clear(&out);
    assert_int_equal(hlo_write_text(m, NULL, &out, &e), 0);
    assert_null(strstr(out.text, "sharding")); /* it is not closed: no sharding of HLO */
    hlo_free(m);
    str_release(&out);
}

/* Several modules in a file, as MLIR's tools divide them; names of types before them. */
static void test_several_modules(void **state)
{
    static const char file[] = "// RUN: opt %s\n"
                               "!row = tensor<4xf32>\n"
                               "!two = tuple<!row, !row>\n"
                               "!f = (!row) -> !row\n"
                               "module @short {\n"
                               "  func.func @main(%a: !row) -> !row {\n"
                               "    %0 = stablehlo.tanh %a : !row\n"
                               "    return %0 : !row\n  }\n}\n"
                               "// -----\n\n// nothing but words\n\n// -----\n"
                               "module @long {\n"
                               "  func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {\n"
                               "    %0 = stablehlo.tanh %a : tensor<8xf32>\n"
                               "    %1 = stablehlo.cosine %0 : tensor<8xf32>\n"
                               "    %2 = stablehlo.sine %1 : tensor<8xf32>\n"
                               "    %3 = stablehlo.negate %2 : tensor<8xf32>\n"
                               "    return %3 : tensor<8xf32>\n  }\n}\n";
    static const char *const names[] = {"short", "long", "long"};
    static const int32_t numbers[] = {0, 1, -1};

    (void)state;
    for (int n = 0; n < 3; n++) {
        struct hlo_load_options o = {.module = numbers[n]};
        struct hlo_module *m = NULL;
        struct err e = {0};
        if (hlo_load_memory("test", file, strlen(file), &o, &m, &e))
            fail_msg("%s", e.what);
        assert_string_equal(m->name, names[n]);
        assert_int_equal(hlo_shape(m, 0)->dims[0], n ? 8 : 4);
        assert_int_equal(m->warning_count, 1);
        hlo_free(m);
    }
    struct hlo_load_options o = {.module = 2};
    struct hlo_module *m = NULL;
    struct err e = {0};
    assert_int_equal(hlo_load_memory("test", file, strlen(file), &o, &m, &e), ERR_INPUT);
    assert_non_null(strstr(e.what, "no module 2 in a file of 2"));
}

#define CONSTANTS(body)                                                                          \
    "func.func @main() -> tensor<3xi32> {\n%one = stablehlo.constant dense<1.5> : tensor<f32>\n" \
    "%two = stablehlo.constant dense<[1, 2]> : tensor<2xi32>\n"                                  \
    "%three = stablehlo.constant dense<[10, 20, 30]> : tensor<3xi32>\n\n" body "}\n"

static void test_refused(void **state)
{
    (void)state;
    check_refused(MAIN1("%arg0: tensor<?x3xf32>", "tensor<3xf32>", ""), 2, "fixed shapes");
    check_refused(MAIN1("%arg0: tensor<4x!quant.uniform<i8:f32, 0.5>>", "tensor<3xf32>", ""), 2,
                  "quantised");
    check_refused(MAIN1("%arg0: tensor<3xf32>", "tensor<3xf32>", "return %1 : tensor<3xf32>\n"), 3,
                  "\"%1\" is not defined");
    check_refused(MAIN1("%arg0: tensor<3xf32>", "tensor<3xf32>",
                        "%0 = stablehlo.add %arg0 : tensor<3xf32>\nreturn %0 : tensor<3xf32>\n"),
                  3, "1 operands, expected 2");
    check_refused(MAIN1("%arg0: tensor<3xf32>", "tensor<3xf32>",
                        "%0 = call @f(%arg0) : (tensor<3xf32>) -> tensor<3xf32>\n"
                        "return %0 : tensor<3xf32>\n"),
                  3, "not defined");
    check_refused(
        "module {\n func.func @main(%a: tensor<f32>) -> tensor<f32> {\n"
        "%0 = call @main(%a) : (tensor<f32>) -> tensor<f32>\n return %0 : tensor<f32>\n}\n"
        "}\n",
        3, "calls itself");
    check_refused("module {\n func.func @main(%a: tensor<3xi32>) -> tensor<3xi32> {\n"
                  "%0 = stablehlo.constant dense<[1, 2]> : tensor<3xi32>\n"
                  "return %0 : tensor<3xi32>\n}\n}\n",
                  3, "not a value of its type");
    /* arithmetic on constants that does not go together */
    check_refused(CONSTANTS("%r = \"stablehlo.add\"(%two, %three) : (tensor<2xi32>, tensor<3xi32>) "
                            "-> tensor<3xi32>\nreturn %r : tensor<3xi32>\n"),
                  6, "operands of shapes s32[2] and s32[3]");
    check_refused(CONSTANTS("%r = \"stablehlo.abs\"(%one) : (tensor<f32>) -> tensor<3xf32>\n"
                            "return %r : tensor<3xf32>\n"),
                  6, "result is f32[3], expected f32[]");
    check_refused(CONSTANTS("%r = \"stablehlo.abs\"(%three) : (tensor<3xi32>) -> tensor<3xi8>\n"
                            "return %r : tensor<3xi32>\n"),
                  6, "result is s8[3], expected s32[3]");
    check_refused(CONSTANTS("%r = stablehlo.compare EQ, %two, %two : (tensor<2xi32>, "
                            "tensor<2xi32>) -> tensor<3xi1>\nreturn %r : tensor<3xi32>\n"),
                  6, "result is pred[3], expected pred[2]");
    check_refused(MAIN1("%arg0: tensor<4x4xf32>", "tensor<4x4xf32>",
                        "%0 = stablehlo.custom_call @f(%arg0) {result_layouts = [dense<[0, 0]> : "
                        "tensor<2xindex>]} : (tensor<4x4xf32>) -> tensor<4x4xf32>\n"
                        "return %0 : tensor<4x4xf32>\n"),
                  3, "layout names dim 0");
    check_refused(MAIN1("%arg0: tensor<4x4xf32>", "tensor<4x4xf32>",
                        "%0 = stablehlo.custom_call @f(%arg0) {operand_layouts = [dense<[1, 1]> : "
                        "tensor<2xindex>]} : (tensor<4x4xf32>) -> tensor<4x4xf32>\n"
                        "return %0 : tensor<4x4xf32>\n"),
                  3, "layout of operand 0");
    check_refused("module {\n func.func @main() -> tensor<f32> {\n", 3, "end of the file");
    check_refused("module {\n vhlo.func_v1 @main() {}\n}\n", 2, "portable artifact");
}

/* What StableHLO's verifier refuses and HLO's rules alone would let pass. */
static void test_refused_by_verifier(void **state)
{
    static const struct {
        const char *args, *result, *op, *what;
        uint32_t col;
    } rows[] = {
        {"%a: tensor<4xf32>", "tensor<4xf32>",
         "%r = \"stablehlo.map\"(%a) <{dimensions = array<i64: 0, 1>}> ({\n^bb0(%x: "
         "tensor<f32>):\nstablehlo.return %x : tensor<f32>\n}) : (tensor<4xf32>) -> tensor<4xf32>",
         "dimensions are {0,1}, expected the 1 of", 1},
        {"%a: tensor<4x4xf32>", "tensor<4x4xf32>",
         "%r = \"stablehlo.map\"(%a) <{dimensions = array<i64: 1, 0>}> ({\n^bb0(%x: "
         "tensor<f32>):\nstablehlo.return %x : tensor<f32>\n}) : (tensor<4x4xf32>) -> "
         "tensor<4x4xf32>",
         "in their order", 1},
        {"", "tensor<ui64>", "  %r = stablehlo.replica_id : tensor<ui64>",
         "result is u64[], expected u32[]", 3},
        {"", "tensor<1xui32>", "%r = stablehlo.partition_id : tensor<1xui32>",
         "result is u32[1], expected u32[]", 1},
        {"%a: tensor<4xcomplex<f32>>", "tensor<4xf16>",
         "%r = stablehlo.real %a : (tensor<4xcomplex<f32>>) -> tensor<4xf16>",
         "result is f16[4], expected f32[4]", 1},
        {"%a: tensor<4xf32>", "tensor<4xf16>",
         "%r = stablehlo.add %a, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf16>",
         "result is f16[4], expected f32[4]", 1},
        {"%a: tensor<4xf32>, %b: tensor<4xf16>", "tensor<4xf32>",
         "%r = stablehlo.add %a, %b : (tensor<4xf32>, tensor<4xf16>) -> tensor<4xf32>",
         "operands of types f32 and f16", 1},
        {"%a: tensor<4xf32>, %b: tensor<4xf32>", "tensor<4xf32>",
         "%r = stablehlo.or %a, %b : tensor<4xf32>", "expected integers or booleans", 1},
        {"%a: tensor<4xi32>", "tensor<4xi32>", "%r = stablehlo.floor %a : tensor<4xi32>",
         "expected floating-point numbers", 1},
        {"%a: tensor<4xi1>", "tensor<4xi1>", "%r = stablehlo.negate %a : tensor<4xi1>",
         "expected numbers", 1},
        {"", "tensor<4xi1>", "%r = stablehlo.iota dim = 0 : tensor<4xi1>", "expected numbers", 1},
        {"%a: tensor<4x2xi32>, %i: tensor<i32>, %j: tensor<i64>", "tensor<1x2xi32>",
         "%r = stablehlo.dynamic_slice %a, %i, %j, sizes = [1, 2] : (tensor<4x2xi32>, tensor<i32>, "
         "tensor<i64>) -> tensor<1x2xi32>",
         "its types differ, expected one type", 1},
        {"%a: tensor<4x2xf32>, %z: tensor<f32>", "tensor<4xf32>",
         "%r = \"stablehlo.reduce\"(%a, %z) ({\n^bb0(%x: tensor<i32>, %y: tensor<i32>):\n"
         "%s = stablehlo.add %x, %y : tensor<i32>\nstablehlo.return %s : tensor<i32>\n}) "
         "{dimensions = array<i64: 1>} : (tensor<4x2xf32>, tensor<f32>) -> tensor<4xf32>",
         "its types differ from those of the computation it applies", 1},
        {"%a: tensor<4xf32>", "tensor<4xf32>",
         "%r = \"stablehlo.sort\"(%a) ({\n^bb0(%x: tensor<i32>, %y: tensor<i32>):\n"
         "%s = stablehlo.compare LT, %x, %y : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
         "stablehlo.return %s : tensor<i1>\n}) : (tensor<4xf32>) -> tensor<4xf32>",
         "its types differ from those of the computation it applies", 1},
        {"%a: tensor<4xf32>", "tensor<4x2xi8>",
         "%r = stablehlo.bitcast_convert %a : (tensor<4xf32>) -> tensor<4x2xi8>",
         "expected as many bits an element", 1},
        {"%a: tensor<4xf64>", "tensor<4xcomplex<f32>>",
         "%r = stablehlo.bitcast_convert %a : (tensor<4xf64>) -> tensor<4xcomplex<f32>>",
         "expected as many bits an element", 1},
        {"%p: tensor<i32>, %a: tensor<f32>", "tensor<f32>",
         "%r = \"stablehlo.if\"(%p) ({\nstablehlo.return %a : tensor<f32>\n}, {\n"
         "stablehlo.return %a : tensor<f32>\n}) : (tensor<i32>) -> tensor<f32>",
         "a selector of type s32, expected pred", 6},
        {"%a: tensor<4xf32>", "tensor<4xf32>",
         "%r = \"stablehlo.collective_permute\"(%a) {source_target_pairs = dense<[[0, 1, 2]]> : "
         "tensor<1x3xi64>} : (tensor<4xf32>) -> tensor<4xf32>",
         "a source and a target in each row", 6},
        {"%a: tensor<4xf32>", "tensor<4xf32>",
         "%r = \"stablehlo.collective_permute\"(%a) {source_target_pairs = dense<[[-1, 1]]> : "
         "tensor<1x2xi64>} : (tensor<4xf32>) -> tensor<4xf32>",
         "no device below 0", 6},
    };

    (void)state;
    for (size_t n = 0; n < sizeof rows / sizeof *rows; n++) {
        struct hlo_module *m = NULL;
        struct err e = {0};
        char text[1024];
        snprintf(text, sizeof text, "func.func @main(%s) -> %s {\n%s\nreturn %%r : %s\n}\n",
                 rows[n].args, rows[n].result, rows[n].op, rows[n].result);
        check_refused(text, 2, rows[n].what);
        assert_int_equal(hlo_load_memory("test", text, strlen(text), NULL, &m, &e), ERR_INPUT);
        assert_int_equal(e.col, rows[n].col);
    }
}

/* HLO need not name the dims of a map; StableHLO must. */
static void test_map_names_all_dims(void **state)
{
    static const char text[] =
        "HloModule m\nf {\n  x = f32[] parameter(0)\n  ROOT n = f32[] negate(x)\n}\nENTRY e {\n"
        "  p = f32[4,2] parameter(0)\n  ROOT m = f32[4,2] map(p), to_apply=f\n}\n";
    struct hlo_module *m = NULL;
    struct err e = {0};

    (void)state;
    assert_int_equal(hlo_load_memory("test", text, strlen(text), NULL, &m, &e), 0);
    check_written(m);
    hlo_free(m);
}

/* `op` as the root of a module with arrays of several floating-point types. */
static void mixed_module(char *text, size_t size, const char *op)
{
    snprintf(text, size,
             "HloModule m\n"
             "sum {\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n"
             "  ROOT s = f32[] add(x, y)\n}\n"
             "one {\n  ROOT s = f32[] constant(1)\n}\n"
             "twice {\n  x = f32[] parameter(0)\n  ROOT s = f32[] add(x, x)\n}\n"
             "ENTRY e {\n  p = f32[4] parameter(0)\n  q = bf16[4] parameter(1)\n"
             "  b = pred[4] parameter(2)\n  z = bf16[] parameter(3)\n  i = s32[] parameter(4)\n"
             "  c = bf16[4,4] parameter(5)\n  k = f32[4,4] parameter(6)\n"
             "  w = bf16[2,4,4] parameter(7)\n  g = s32[2] parameter(8)\n  o = f32[] parameter(9)\n"
             "  ROOT r = %s\n}\n",
             op);
}

/* What HLO may say and StableHLO may not is not written. */
static void test_not_written(void **state)
{
    static const struct {
        const char *op, *what;
    } rows[] = {
        {"f32[4] add(p, q)", "it has no form for these types"},
        {"bf16[4] add(p, p)", "it has no form for these types"},
        {"f32[8] concatenate(p, q), dimensions={0}", "it has no form for these types"},
        {"f32[4] select(b, p, q)", "it has no form for these types"},
        {"pred[4] compare(p, q), direction=LT", "it has no form for these types"},
        {"f32[4] clamp(q, p, p)", "it has no form for these types"},
        {"f32[6] pad(p, z), padding=1_1", "it has no form for these types"},
        {"f32[4] dynamic-update-slice(p, q, i)", "it has no form for these types"},
        {"f32[4] map(q), dimensions={0}, to_apply=twice", "it has no form for these types"},
        {"bf16[4] all-reduce(q), replica_groups={}, to_apply=sum",
         "it has no form for these types"},
        {"f32[4,4] convolution(c, k), dim_labels=bf_io->bf", "it has no form for these types"},
        {"(bf16[4,4], f32[4], f32[4]) batch-norm-training(c, p, p), epsilon=0.1, "
         "feature_index=1",
         "it has no form for these types"},
        {"f32[4] custom-call(p, q), custom_call_target=\"f\", api_version=API_VERSION_TYPED_FFI, "
         "backend_config={a = <, b = (}",
         "its backend_config is no dictionary"},
    };

    (void)state;
    for (size_t n = 0; n < sizeof rows / sizeof *rows; n++) {
        struct hlo_module *m = NULL;
        struct str out = {0};
        struct err e = {0};
        char text[1024];
        mixed_module(text, sizeof text, rows[n].op);
        assert_int_equal(hlo_load_memory("test", text, strlen(text), NULL, &m, &e), 0);
        assert_int_equal(hlo_write_stablehlo(m, NULL, &out, &e), ERR_INPUT);
        assert_non_null(strstr(e.what, rows[n].what));
        str_release(&out);
        hlo_free(m);
    }
}

/* Where StableHLO lets types differ they do: MLIR takes each of these texts, and so do we. */
static void test_types_that_differ(void **state)
{
    static const struct {
        const char *op, *written;
    } rows[] = {
        {"f32[4,4] dot(c, c), lhs_contracting_dims={1}, rhs_contracting_dims={0}", "dot_general"},
        {"f32[4,4] convolution(c, c), dim_labels=bf_io->bf", "stablehlo.convolution"},
        {"f32[4] reduce(c, o), dimensions={1}, to_apply=sum", "stablehlo.reduce"},
        {"f32[4] all-reduce(q), replica_groups={}, to_apply=sum", "dense<> : tensor<0x0xi64>"},
        {"f32[4] all-reduce(q), replica_groups={{0,1,2},{3}}, to_apply=sum",
         "dense<[[0,1,2],[3,-1,-1]]> : tensor<2x3xi64>"},
        {"f32[4] collective-permute(p), source_target_pairs={}", "dense<> : tensor<0x2xi64>"},
        {"s8[4,4] bitcast-convert(p)", "bitcast_convert"},
        {"f32[4] map(), dimensions={0}, to_apply=one", "stablehlo.map"}, /* of no parameters */
        {"f32[4,4] ragged-dot(c, w, g), lhs_contracting_dims={1}, rhs_contracting_dims={1}, "
         "lhs_ragged_dims={0}, rhs_group_dims={0}, operand_precision={high,default}",
         "rhs_group_dimensions = [0]>, precision_config = [#chlo<precision HIGH>"},
    };

    (void)state;
    for (size_t n = 0; n < sizeof rows / sizeof *rows; n++) {
        struct hlo_module *m = NULL;
        struct str out = {0};
        struct err e = {0};
        char text[1024];
        mixed_module(text, sizeof text, rows[n].op);
        assert_int_equal(hlo_load_memory("test", text, strlen(text), NULL, &m, &e), 0);
        assert_int_equal(hlo_write_stablehlo(m, NULL, &out, &e), 0);
        assert_non_null(strstr(out.text, rows[n].written));
        hlo_free(m);
        m = load(out.text);
        check_written(m);
        hlo_free(m);
        str_release(&out);
    }
}

/* Shardy's shardings as HLO's, which XLA gives for the same text. */
static void test_shardings(void **state)
{
    (void)state;
    check_lines(
        "sdy.mesh @mesh = <[\"x\"=2, \"y\"=4, \"z\"=2]>\n"
        "func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"z\", "
        "\"x\"}, {\"y\":(2)2, ?}p1], replicated={\"y\":(1)2}>}) -> (tensor<16x8xf32> "
        "{sdy.sharding = #sdy.sharding<@mesh, [{\"y\":(1)2}, {}]>}) {\n"
        "%0 = sdy.sharding_constraint %a <@mesh, [{\"x\", \"y\", \"z\"}, {}]> : "
        "tensor<16x8xf32>\n"
        "%1 = stablehlo.add %0, %0 : tensor<16x8xf32>\n"
        "%2 = sdy.sharding_constraint %1 <@nomesh, [{\"x\"}, {}]> : tensor<16x8xf32>\n"
        "%3 = sdy.sharding_constraint %2 <mesh<[\"a\"=4]>, [{}, {\"a\"}]> : tensor<16x8xf32>\n"
        "return %3 : tensor<16x8xf32>\n}\n",
        LINES("parameter(0), sharding={devices=[4,2,2]<=[2,2,2,2]T(3,0,2,1) "
              "last_tile_dim_replicate}",
              "custom_call_target=\"Sharding\", sharding={devices=[16,1]<=[16]}", " add(",
              "custom-call(add", "sharding={devices=[1,4]<=[4]}", "ROOT",
              "sharding={devices=[2,1,8]<=[2,2,4]T(1,0,2) last_tile_dim_replicate}"));
    check_lines("\"builtin.module\"() ({\n"
                "\"sdy.mesh\"() <{mesh = #sdy.mesh<[\"x\"=2]>, sym_name = \"m\"}> : () -> ()\n"
                "func.func @main(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32> {sdy.sharding "
                "= #sdy.sharding<@m, [{\"x\"}]>}) {\n"
                "%0 = stablehlo.negate %a : tensor<4xf32>\n"
                "return %a, %0 : tensor<4xf32>, tensor<4xf32>\n}\n}) : () -> ()\n",
                LINES("ROOT", "tuple(", "sharding={{replicated}, {devices=[2]<=[2]}}"));
}

/* A branch that a constant takes is no branch, and what it returns may be a constant, too. */
static void test_constant_branches(void **state)
{
    (void)state;
    struct hlo_module *m = load(
        MAIN1("%a: tensor<4xf32>", "tensor<4xf32>",
              "%c = stablehlo.constant dense<1> : tensor<i32>\n"
              "%0 = \"stablehlo.case\"(%c) ({\n%1 = stablehlo.constant dense<5> : tensor<i32>\n"
              "stablehlo.return %1 : tensor<i32>\n}, {\n"
              "%1 = stablehlo.constant dense<0> : tensor<i32>\n"
              "stablehlo.return %1 : tensor<i32>\n}) : (tensor<i32>) -> tensor<i32>\n"
              "%2 = \"stablehlo.case\"(%0) ({\n%3 = stablehlo.sine %a : tensor<4xf32>\n"
              "stablehlo.return %3 : tensor<4xf32>\n}, {\n"
              "%3 = stablehlo.cosine %a : tensor<4xf32>\n"
              "stablehlo.return %3 : tensor<4xf32>\n}) : (tensor<i32>) -> tensor<4xf32>\n"
              "return %2 : tensor<4xf32>\n"));
    bool sine = false;

    for (hlo_id id = 0; id < m->count; id++) {
        assert_int_not_equal(hlo_at(m, id)->opcode, HLO_OP_CONDITIONAL);
        assert_int_not_equal(hlo_at(m, id)->opcode, HLO_OP_COSINE);
        sine |= hlo_at(m, id)->opcode == HLO_OP_SINE;
    }
    assert_true(sine);
    hlo_free(m);
}

static double flops_of(const char *type, const char *name)
{
    char text[512];
    struct hlo_costs costs;
    struct err e = {0};

    snprintf(text, sizeof text,
             "func.func @main(%%a: tensor<8x2x%s>) -> tensor<8x2x%s> {\n"
             "%%0 = %s %%a : tensor<8x2x%s> -> tensor<8x2x%s>\nreturn %%0 : tensor<8x2x%s>\n}\n",
             type, type, name, type, type, type);
    struct hlo_module *m = load(text);
    assert_int_equal(hlo_costs_new(m, &costs, &e), 0);
    double flops = costs.total.flops;
    hlo_costs_release(&costs);
    hlo_free(m);
    return flops;
}

static size_t instructions_of(const char *type, const char *name)
{
    char text[512];

    snprintf(text, sizeof text,
             "func.func @main(%%a: tensor<4x%s>) -> tensor<4x%s> {\n%%0 = %s %%a : tensor<4x%s>\n"
             "return %%0 : tensor<4x%s>\n}\n",
             type, type, name, type, type);
    struct hlo_module *m = load(text);
    size_t count = m->count;
    hlo_free(m);
    return count;
}

/* Functions kept whole cost what XLA's expansion of them does. */
static void test_special_functions(void **state)
{
    (void)state;
    assert_true(flops_of("f32", "chlo.lgamma") == 16 * 53);
    assert_true(flops_of("bf16", "chlo.lgamma") == 16 * 55);
    assert_true(flops_of("f64", "chlo.erf_inv") == 16 * 100);
    assert_true(flops_of("complex<f32>", "chlo.asin") == 16 * 105);
    assert_true(flops_of("complex<f32>", "stablehlo.log") == 16 * 62);
    assert_true(flops_of("complex<f64>", "stablehlo.log_plus_one") == 16 * 79);
    assert_true(flops_of("complex<f32>", "stablehlo.sqrt") == 16 * 86);
    assert_true(flops_of("complex<f32>", "stablehlo.exponential") == 16 * 15);
    assert_true(flops_of("complex<f32>", "chlo.square") == 16 * 14);
    assert_true(flops_of("complex<f32>", "stablehlo.tanh") == 0); /* XLA leaves it as it is */
    assert_true(flops_of("f32", "stablehlo.log") == 0);
    assert_true(flops_of("f32", "chlo.cosh") == 16 * 3);
    assert_true(flops_of("bf16", "chlo.cosh") == 16 * 5); /* computed as f32 */
}

/* Short expansions, as XLA writes them. */
static void test_expansions(void **state)
{
    (void)state;
    check_lines_again(MAIN1("%a: tensor<4xf32>", "tensor<4xi1>",
                            "%0 = chlo.is_inf %a : tensor<4xf32> -> tensor<4xi1>\n"
                            "return %0 : tensor<4xi1>\n"),
                      LINES("abs.1 = f32[4] abs(Arg_0.1)", "f32[] constant(inf)",
                            "ROOT compare.1 = pred[4] compare(abs.1, broadcast.1), direction=EQ"));
    check_lines_again(MAIN1("%a: tensor<4xcomplex<f64>>", "tensor<4xcomplex<f64>>",
                            "%0 = stablehlo.exponential %a : tensor<4xcomplex<f64>>\n"
                            "return %0 : tensor<4xcomplex<f64>>\n"),
                      LINES("real.1 = f64[4] real(Arg_0.1)",
                            "exponential.1 = f64[4] exponential(real.1)",
                            "pred[4] compare(exponential.1, broadcast.1), direction=EQ",
                            "cosine.1 = f64[4] cosine(imag.1)", "f64[4] select(",
                            "ROOT complex.1 = c128[4] complex("));
    check_lines_again(
        MAIN1("%a: tensor<4xcomplex<f32>>", "tensor<4xcomplex<f32>>",
              "%0 = chlo.square %a : tensor<4xcomplex<f32>> -> tensor<4xcomplex<f32>>\n"
              "return %0 : tensor<4xcomplex<f32>>\n"),
        LINES("pred[4] is-finite(real.1)", "pred[4] and(is-finite.1, compare.1)",
              "subtract.1 = f32[4] subtract(real.1, imag.1)",
              "f32[4] select(and.1, broadcast.1, multiply.1)", "ROOT complex.1 = c64[4]"));
    check_lines_again(MAIN1("%a: tensor<4xcomplex<f32>>", "tensor<4xcomplex<f32>>",
                            "%0 = stablehlo.sqrt %a : tensor<4xcomplex<f32>>\n"
                            "return %0 : tensor<4xcomplex<f32>>\n"),
                      LINES("compare(real.1, broadcast.1), direction=GE", "constant(1.553774)",
                            "divide(minimum.1, maximum.1)", "ROOT complex.1 = c64[4]"));
    assert_int_equal(instructions_of("complex<f32>", "stablehlo.sqrt"), 108); /* XLA: 108 */
    assert_int_equal(instructions_of("complex<f32>", "stablehlo.log"), 75);
    assert_int_equal(instructions_of("complex<f32>", "stablehlo.log_plus_one"), 95);
    assert_int_equal(instructions_of("complex<f64>", "stablehlo.sqrt"), 2);
    assert_int_equal(instructions_of("f32", "stablehlo.sqrt"), 2);
}

/* Old forms, as MLIR's own tools and tests have them. */
static void test_old_forms(void **state)
{
    (void)state;
    check_lines(MAIN1("%a: tensor<2x3x4xf32>, %b: tensor<4x5x2xf32>", "tensor<2x3x5xf32>",
                      "%0 = \"stablehlo.einsum\"(%a, %b) <{einsum_config = \"bij,jkb->bik\"}> : "
                      "(tensor<2x3x4xf32>, tensor<4x5x2xf32>) -> tensor<2x3x5xf32>\n"
                      "return %0 : tensor<2x3x5xf32>\n"),
                LINES("ROOT dot.1 = f32[2,3,5] dot(Arg_0.1, Arg_1.1), lhs_batch_dims={0}, "
                      "lhs_contracting_dims={2}, rhs_batch_dims={2}, rhs_contracting_dims={0}"));
    check_lines(MAIN1("%a: tensor<3x4xf32>, %b: tensor<4x5xf32>", "tensor<5x3xf32>",
                      "%0 = mhlo.einsum %a, %b, config = \"ij,jk->ki\" : "
                      "(tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<5x3xf32>\n"
                      "return %0 : tensor<5x3xf32>\n"),
                LINES("f32[3,5] dot(Arg_0.1, Arg_1.1), lhs_contracting_dims={1}",
                      "ROOT transpose.1 = f32[5,3] transpose(", "dimensions={1,0}"));
    check_lines(MAIN1("%a: tensor<9x7x5x4xf32>, %b: tensor<3x3x6x4xf32>", "tensor<9x7x5x6xf32>",
                      "%0 = \"mhlo.convolution\"(%a, %b) {batch_group_count = 1 : i64, "
                      "dimension_numbers = #mhlo.conv<raw\n input_batch_dimension = 0, "
                      "input_feature_dimension = 3, input_spatial_dimensions = [1, 2], "
                      "kernel_input_feature_dimension = 3, kernel_output_feature_dimension = 2, "
                      "kernel_spatial_dimensions = [0, 1], output_batch_dimension = 0, "
                      "output_feature_dimension = 3, output_spatial_dimensions = [1, 2]>, "
                      "feature_group_count = 1 : i64, padding = dense<1> : tensor<2x2xi64>} : "
                      "(tensor<9x7x5x4xf32>, tensor<3x3x6x4xf32>) -> tensor<9x7x5x6xf32>\n"
                      "return %0 : tensor<9x7x5x6xf32>\n"),
                LINES("window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01oi->b01f"));
    check_lines(MAIN1("%a: tensor<2xi32>", "tensor<2xi32>",
                      "%0 = arith.constant dense<[3, 5]> : tensor<2xi32>\n"
                      "%1 = stablehlo.add %a, %0 : tensor<2xi32>\nreturn %1 : tensor<2xi32>\n"),
                LINES("s32[2] constant({3, 5})", "add(Arg_0.1, constant.1)"));
}

#define COMPARATOR                                                                       \
    "func.func private @\"is more\"(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, " \
    "%d: tensor<i32>) -> tensor<i1> {\n"                                                 \
    "%0 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"     \
    "return %0 : tensor<i1>\n}\n"
#define TOP_K(target, config)                                                              \
    COMPARATOR                                                                             \
    "func.func private @g(%a: tensor<f32>) -> tensor<f32> {\nreturn %a : tensor<f32>\n}\n" \
    "func.func public @main(%a: tensor<4x9xf32>, %b: tensor<4x9xi32>, %c: tensor<f32>, "   \
    "%d: tensor<i32>) -> (tensor<4x2xf32>, tensor<4x2xi32>) {\n"                           \
    "%0:2 = stablehlo.custom_call @" target "(%a, %b, %c, %d) {backend_config = \"\", "    \
    "called_computations = [" config "} : "                                                \
    "(tensor<4x9xf32>, tensor<4x9xi32>, tensor<f32>, tensor<i32>) -> "                     \
    "(tensor<4x2xf32>, tensor<4x2xi32>)\n"                                                 \
    "return %0#0, %0#1 : tensor<4x2xf32>, tensor<4x2xi32>\n}\n"

/* What a custom-call hands on stays with it; where XLA runs a sort in its place, it is one. */
static void test_called_computations(void **state)
{
    static const char undefined[] = TOP_K("mine", "@absent]");
    struct hlo_module *m = NULL;
    struct err e = {0};

    (void)state;
    check_lines_again(TOP_K("mine", "@\"is more\" , @g]"),
                      LINES("is_more.1 {", "g.1 {", "custom_call_target=\"mine\"",
                            "called_computations={is_more.1, g.1}"));
    check_lines_again(
        TOP_K("ApproxTopK", "@\"is more\"], mhlo.backend_config = {is_fallback = false, "
                            "reduction_dim = 1 : i64}"),
        LINES("custom_call_target=\"ApproxTopK\"", "called_computations={is_more.1}"));
    check_lines_again(
        TOP_K("ApproxTopK", "@\"is more\"], mhlo.backend_config = {is_fallback = true, "
                            "reduction_dim = 1 : i64}"),
        LINES("sort.1 = (f32[4,9], s32[4,9]) sort(Arg_0.1, Arg_1.1), dimensions={1}, "
              "to_apply=is_more.1",
              "f32[4,2] slice(get-tuple-element.1), slice={[0:4], [0:2]}", "s32[4,2] slice("));
    assert_int_equal(hlo_load_memory("test", undefined, strlen(undefined), NULL, &m, &e),
                     ERR_INPUT);
    assert_non_null(strstr(e.what, "called computation 0 is not defined"));
}

static void test_dialects(void **state)
{
    (void)state;
    struct str out = {0};

    hlo_stablehlo_dialects("// stablehlo.add in words\n#loc = loc(\"/a/stablehlo.zoo/f.py\":1:2)\n"
                           "func.func @main(%a: tensor<f32>) -> tensor<f32> {\n"
                           "%0 = stablehlo.add %a, %a {x = #stablehlo.y<z>} : tensor<f32>\n"
                           "%1 = \"stablehlo.sine\"(%0) : (tensor<f32>) -> tensor<f32>\n"
                           "%2 = chlo.erf %1 : tensor<f32> -> tensor<f32>\n",
                           &out);
    assert_non_null(strstr(out.text, "stablehlo 2, chlo 1, func 1"));
    str_release(&out);
}

static void test_bytecode(void **state)
{
    (void)state;
    static const char artifact[] = "ML\xefR\rStableHLO_v1.15.0\0", plain[] = "ML\xefR\rMLIR21\0",
                      export[] = "\x28\0\0\0\x24\0\0\0ML\xefR\rStableHLO_v1.9.1\0";
    static const struct {
        const char *bytes;
        size_t size;
        const char *what, *version;
    } rows[] = {
        {artifact, sizeof artifact, "deserialize_portable_artifact", "artifact of version 1.15.0,"},
        {plain, sizeof plain, "ir.Module.parse", "MLIR bytecode,"},
        {export, sizeof export, "jax.export.deserialize", "jax.export of version 1.9.1,"}};
    for (size_t n = 0; n < sizeof rows / sizeof *rows; n++) {
        struct hlo_module *m = NULL;
        struct err e = {0};
        assert_int_equal(hlo_load_memory("b", rows[n].bytes, rows[n].size, NULL, &m, &e),
                         ERR_INPUT);
        assert_non_null(strstr(e.what, rows[n].what));
        assert_non_null(strstr(e.what, rows[n].version));
    }
}

/* The bytes that bytecode begins with, within a string. */
static void test_bytecode_in_text(void **state)
{
    struct hlo_module *m = load(MAIN1("%t: !stablehlo.token", "tensor<3xi32>",
                                      "%0:2 = \"stablehlo.infeed\"(%t) {infeed_config = "
                                      "\"ML\\EFR\"} : (!stablehlo.token) -> (tensor<3xi32>, "
                                      "!stablehlo.token)\nreturn %0#0 : tensor<3xi32>\n")),
                      *back = NULL;
    struct str proto = {0};
    struct err e = {0};

    (void)state;
    assert_int_equal(hlo_write_proto(m, &proto, &e), 0);
    assert_int_equal(hlo_load_memory("proto", proto.text, proto.size, NULL, &back, &e), 0);
    assert_int_equal(back->count, m->count);
    hlo_free(m);
    hlo_free(back);
    str_release(&proto);
}

/* JAX says for how many devices, before anything is partitioned. */
static void test_partitions(void **state)
{
    static const struct {
        const char *attributes;
        int64_t partitions, replicas;
    } rows[] = {
        {"", 1, 1},
        {"attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} ", 8, 1},
        {"attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 4 : i32} ", 2, 4},
        {"attributes {mhlo.num_partitions = 0 : i32} ", 1, 1},
    };

    (void)state;
    for (size_t n = 0; n < sizeof rows / sizeof *rows; n++) {
        struct str text = {0};
        str_format(&text,
                   "module @m %s{\n  func.func @main(%%arg0: tensor<8xf32>) -> tensor<8xf32> {\n"
                   "    return %%arg0 : tensor<8xf32>\n  }\n}\n",
                   rows[n].attributes);
        struct hlo_module *m = load(text.text);
        assert_int_equal(m->num_partitions, rows[n].partitions);
        assert_int_equal(m->replica_count, rows[n].replicas);
        check_written(m);
        hlo_free(m);
        str_release(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pretty_forms),
        cmocka_unit_test(test_constants),
        cmocka_unit_test(test_long_numbers),
        cmocka_unit_test(test_comments_in_constants),
        cmocka_unit_test(test_loop),
        cmocka_unit_test(test_generic_is_pretty),
        cmocka_unit_test(test_all_to_all),
        cmocka_unit_test(test_transpose_keeps_sharding),
        cmocka_unit_test(test_locations),
        cmocka_unit_test(test_simplified),
        cmocka_unit_test(test_changes_nothing),
        cmocka_unit_test(test_constants_are_folded),
        cmocka_unit_test(test_large_whole_numbers),
        cmocka_unit_test(test_known_starts),
        cmocka_unit_test(test_known_sizes),
        cmocka_unit_test(test_unknown_sizes),
        cmocka_unit_test(test_truth_itself),
        cmocka_unit_test(test_library_calls),
        cmocka_unit_test(test_no_layouts),
        cmocka_unit_test(test_dictionary_ends),
        cmocka_unit_test(test_in_a_row),
        cmocka_unit_test(test_unknown_is_opaque),
        cmocka_unit_test(test_unknown_with_region),
        cmocka_unit_test(test_mhlo_calls),
        cmocka_unit_test(test_loop_is_constrained),
        cmocka_unit_test(test_several_modules),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_refused_by_verifier),
        cmocka_unit_test(test_map_names_all_dims),
        cmocka_unit_test(test_not_written),
        cmocka_unit_test(test_types_that_differ),
        cmocka_unit_test(test_shardings),
        cmocka_unit_test(test_strings),
        cmocka_unit_test(test_constant_branches),
        cmocka_unit_test(test_special_functions),
        cmocka_unit_test(test_expansions),
        cmocka_unit_test(test_old_forms),
        cmocka_unit_test(test_called_computations),
        cmocka_unit_test(test_dialects),
        cmocka_unit_test(test_bytecode),
        cmocka_unit_test(test_bytecode_in_text),
        cmocka_unit_test(test_partitions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
