/* HLO text as a specification: one small module per feature of the grammar, and what it means,
 * told by the text it is written back as (see hlo_write_text for the form) or by the module. */
#include "hlo/load.h"
#include "hlo/module/hlo.h"
#include "hlo/text/write_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct hlo_module *load_number(const char *text, int32_t number)
{
    struct hlo_module *m = NULL;
    struct hlo_load_options o = {.module = number};
    struct err e = {0};

    if (hlo_load_memory("test", text, strlen(text), &o, &m, &e)) {
        err_print(&e, stderr);
        fail();
    }
    return m;
}

static struct hlo_module *load(const char *text)
{
    return load_number(text, -1);
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
    assert_int_equal(m->opcode_count[HLO_OP_NEGATE], 1);
    assert_int_equal(m->opcode_count[HLO_OP_ADD], 0);
    hlo_set_opcode(m, 1, HLO_OP_ABS);
    assert_int_equal(m->opcode_count[HLO_OP_NEGATE], 0);
    assert_int_equal(m->opcode_count[HLO_OP_ABS], 1);
    assert_int_equal(hlo_shape(m, 1)->elements, 6);
    assert_int_equal(m->warning_count, 0);
    hlo_free(m);
}

/* ---- spelling: entry bodies and the bodies they mean ---- */

#define P "  p = f32[2]{0} parameter(0)\n"

static const struct {
    const char *feature, *text, *written;
} bodies[] = {
    {"percent signs and operand shapes of older text",
     "%p = f32[2]{0} parameter(0) ROOT %r = f32[2]{0} add(f32[2]{0} %p, f32[2]{0} %p)",
     P "  ROOT r = f32[2]{0} add(p, p)\n"},
    {"operand shapes without percent signs, layouts apart",
     "p = f32[2]{0} parameter(0) ROOT r = f32[2]{0} add(f32[2] p, f32[2]{0} p)",
     P "  ROOT r = f32[2]{0} add(p, p)\n"},
    {"no ROOT: the last instruction", "p = f32[2]{0} parameter(0) r = f32[2]{0} negate(p)",
     P "  ROOT r = f32[2]{0} negate(p)\n"},
    {"comments of both kinds, and of lists",
     "p = /* here */ f32[2]{0} parameter(0) // there\n ROOT r = f32[2]{0} add(p, /*index=1*/p)",
     P "  ROOT r = f32[2]{0} add(p, p)\n"},
    {"comments in and behind a value of an unknown attribute",
     "p = f32[2]{0} parameter(0) ROOT r = f32[2]{0} negate(p), "
     "odd={\"a\"\"b//c\" // one \"\n, x}\"\"\"d\"// two \"\n",
     P "  ROOT r = f32[2]{0} negate(p), odd={\"a\"\"b//c\"  , x}\"\"\"d\"\n"},
    {"lines mean nothing",
     "p\n=\nf32[2]{0}\nparameter(\n0)\nROOT r = f32[2]{0} negate(p),\n metadata={op_name=\"n\"}",
     P "  ROOT r = f32[2]{0} negate(p), metadata={op_name=\"n\"}\n"},
    {"operands that are defined later", "ROOT r = f32[2]{0} negate(p) p = f32[2]{0} parameter(0)",
     P "  ROOT r = f32[2]{0} negate(p)\n"},
    {"anonymous operands",
     "p = f32[2]{0} parameter(0) ROOT r = f32[2]{0} add(p, f32[2]{0} negate(p))",
     P "  unnamed.1 = f32[2]{0} negate(p)\n  ROOT r = f32[2]{0} add(p, unnamed.1)\n"},
    {"compact get-tuple-element: one instruction per element, made at first use",
     "t = ((f32[2], s32[]), s32[]) parameter(0) ROOT r = f32[2] add(t#0#0, t#0#0)",
     "  t = ((f32[2], s32[]), s32[]) parameter(0)\n"
     "  get-tuple-element.1 = (f32[2], s32[]) get-tuple-element(t), index=0\n"
     "  get-tuple-element.2 = f32[2] get-tuple-element(get-tuple-element.1), index=0\n"
     "  ROOT r = f32[2] add(get-tuple-element.2, get-tuple-element.2)\n"},
    {"shapes left out",
     "p = f32[2]{0} parameter(0) c = compare(p, p), direction=LT ROOT t = tuple(p, c)",
     P "  c = pred[2] compare(p, p), direction=LT\n  ROOT t = (f32[2]{0}, pred[2]) tuple(p, c)\n"},
    {"old opcode tuple-select",
     "c = pred[] parameter(0) t = (f32[]) parameter(1) ROOT r = (f32[]) tuple-select(c, t, t)",
     "  c = pred[] parameter(0)\n  t = (f32[]) parameter(1)\n  ROOT r = (f32[]) select(c, t, t)\n"},
    {"scalars with an empty layout, as once printed", "ROOT p = f32[]{} parameter(0)",
     "  ROOT p = f32[] parameter(0)\n"},
    {"tiles, memory spaces, element sizes",
     "ROOT p = s4[2,4]{1,0:T(8,128)(2,1)E(4)S(1)} parameter(0)",
     "  ROOT p = s4[2,4]{1,0:T(8,128)(2,1)E(4)S(1)} parameter(0)\n"},
    {"a layout of a scalar", "ROOT p = s32[]{:T(128)} parameter(0)",
     "  ROOT p = s32[]{:T(128)} parameter(0)\n"},
    {"dynamic and unbounded dims", "ROOT p = f32[<=8,?,3]{2,1,0} parameter(0)",
     "  ROOT p = f32[<=8,?,3]{2,1,0} parameter(0)\n"},
    {"empty tuples, tokens, opaque values, buffers",
     "ROOT p = ((), token[], opaque[], b(f32[2])) parameter(0)",
     "  ROOT p = ((), token[], opaque[], b(f32[2])) parameter(0)\n"},
    {"tuples mark every fifth shape",
     "ROOT p = (s1[], u4[], f8e4m3b11fnuz[], bf16[], c128[], f4e2m1fn[]) parameter(0)",
     "  ROOT p = (s1[], u4[], f8e4m3b11fnuz[], bf16[], c128[], /*index=5*/f4e2m1fn[]) "
     "parameter(0)\n"},
    {"floats of every kind",
     "ROOT c = f32[6] constant({nan, inf, -inf, 1.4013e-45, -0, nan(0x7f)})",
     "  ROOT c = f32[6] constant({nan, inf, -inf, 1.4013e-45, -0, nan(0x7f)})\n"},
    {"arrays of arrays", "ROOT c = s32[2,2] constant({ { 1, -2 }, /*i0=1*/{ 3, 4 } })",
     "  ROOT c = s32[2,2] constant({ { 1, -2 }, /*i0=1*/{ 3, 4 } })\n"},
    {"arrays without elements",
     "a = f32[0,7] constant({  }) ROOT c = f32[2,0] constant({ {}, {} })",
     "  a = f32[0,7] constant({  })\n  ROOT c = f32[2,0] constant({ {}, {} })\n"},
    {"elided values", "ROOT c = f32[100] constant({...})", "  ROOT c = f32[100] constant({...})\n"},
    {"complex numbers and truths",
     "a = c64[] constant((2, -0)) ROOT c = pred[2] constant({1, false})",
     "  a = c64[] constant((2, -0))\n  ROOT c = pred[2] constant({1, false})\n"},
    {"64-bit numbers wrap", "ROOT c = u64[] constant(-1)", "  ROOT c = u64[] constant(-1)\n"},
    {"tuple values", "ROOT c = (f32[], s32[1]) constant((1.5, {2}))",
     "  ROOT c = (f32[], s32[1]) constant((1.5, {2}))\n"},
    {"backend_config that is no JSON",
     "ROOT p = f32[] parameter(0), backend_config={uplo = 76 : ui8}",
     "  ROOT p = f32[] parameter(0), backend_config={uplo = 76 : ui8}\n"},
    {"braces in the strings of JSON",
     "ROOT p = f32[] parameter(0), backend_config={\"a\":\"}\\\"{\"}",
     "  ROOT p = f32[] parameter(0), backend_config={\"a\":\"}\\\"{\"}\n"},
    {"shardings of three ages",
     "a = f32[4] parameter(0), sharding={devices=[2,2]0,1,2,3 last_tile_dim_replicate}\n"
     "b = f32[4] negate(a), sharding={devices=[4]<=[2,2]T(1,0) metadata={op_name=\"s\"}}\n"
     "ROOT c = f32[4] negate(b), sharding={mesh['a'=2,'b'=2], [{'a', ?}], replicated={'b'}}",
     "  a = f32[4] parameter(0), sharding={devices=[2,2]0,1,2,3 last_tile_dim_replicate}\n"
     "  b = f32[4] negate(a), sharding={devices=[4]<=[2,2]T(1,0) metadata={op_name=\"s\"}}\n"
     "  ROOT c = f32[4] negate(b), sharding={mesh['a'=2,'b'=2], [{'a', ?}], replicated={'b'}}\n"},
    {"replica groups of three ages",
     "p = f32[2]{0} parameter(0)\n"
     "a = f32[4] all-gather(p), dimensions={0}, replica_groups={{0,1},{2,3}}, channel_id=1\n"
     "b = f32[4] all-gather(p), dimensions={0}, replica_groups=[2,2]<=[4]\n"
     "ROOT c = f32[4] all-gather(p), replica_groups=mesh['a'=2,'b'=2], device_ids=(0,2,1,3) {'a'}, "
     "dimensions={0}, use_global_device_ids=true",
     P "  a = f32[4] all-gather(p), channel_id=1, replica_groups={{0,1},{2,3}}, dimensions={0}\n"
       "  b = f32[4] all-gather(p), replica_groups=[2,2]<=[4], dimensions={0}\n"
       "  ROOT c = f32[4] all-gather(p), replica_groups=mesh['a'=2,'b'=2], device_ids=(0,2,1,3) "
       "{'a'}, "
       "dimensions={0}, use_global_device_ids=true\n"},
    {"opcodes nobody knows",
     "p = f32[2]{0} parameter(0) ROOT r = f32[2]{0} frobnicate(p, p), dimensions={0}",
     P "  ROOT r = f32[2]{0} frobnicate(p, p), dimensions={0}\n"},
    {"attributes nobody knows",
     "p = f32[2]{0} parameter(0) ROOT r = f32[2]{0} negate(p), zeta=[2,2]<=[4], alpha={a,{b}}",
     P "  ROOT r = f32[2]{0} negate(p), zeta=[2,2]<=[4], alpha={a,{b}}\n"},
    {"control predecessors",
     "p = f32[2]{0} parameter(0) a = f32[2]{0} negate(p) ROOT r = f32[2]{0} abs(p), "
     "control-predecessors={%a, p}",
     P "  a = f32[2]{0} negate(p)\n  ROOT r = f32[2]{0} abs(p), control-predecessors={a, p}\n"},
};

static void check_body(const char *feature, const char *text, const char *written)
{
    size_t room = strlen(text) + strlen(written) + 100;
    char *in = malloc(room), *want = malloc(room);
    struct str out = {0};
    struct err e;

    assert_true(in && want);
    snprintf(in, room, "HloModule m\n\nENTRY e {\n%s\n}\n", text);
    snprintf(want, room, "HloModule m\n\nENTRY e {\n%s}\n\n", written);
    struct hlo_module *m = load(in);
    assert_int_equal(hlo_write_text(m, NULL, &out, &e), 0);
    if (strcmp(out.text, want) != 0)
        print_message("%s\n", feature);
    assert_string_equal(out.text, want);
    str_release(&out);
    hlo_free(m);
    free(in);
    free(want);
}

static void test_spelling(void **state)
{
    (void)state;
    for (size_t n = 0; n < sizeof bodies / sizeof *bodies; n++)
        check_body(bodies[n].feature, bodies[n].text, bodies[n].written);
}

/* ---- modules ---- */

static void test_header(void **state)
{
    (void)state;
    struct hlo_module *m = load(
        "HloModule step, is_scheduled=true, input_output_alias={ {1}: (0, {}, must-alias), "
        "{0}: (1, {1, 0}) }, buffer_donor={ (1, {0}) },\n"
        "  entry_computation_layout={(f32[2]{0}, /*index=1*/(s32[], (f32[3])))->(f32[3], f32[2])}, "
        "replica_count=2, num_partitions=4, frontend_attributes={a=\"b\"}\n"
        "ENTRY e { a = f32[2] parameter(0) b = (s32[], (f32[3])) parameter(1)\n"
        "  ROOT t = (f32[3], f32[2]) tuple(b#1#0, a) }");
    assert_string_equal(m->name, "step");
    assert_true(m->is_scheduled);
    assert_int_equal(m->replica_count, 2);
    assert_int_equal(m->num_partitions, 4);
    assert_int_equal(m->alias_count, 2);
    assert_int_equal(m->aliases[0].out, 1);
    assert_int_equal(m->aliases[0].param, 0);
    assert_true(m->aliases[0].must);
    assert_int_equal(m->aliases[1].param, 1);
    assert_int_equal(m->aliases[1].param_leaf, 1); /* {1, 0}: behind the s32[] */
    assert_false(m->aliases[1].must);
    assert_int_equal(m->donor_count, 1);
    assert_int_equal(m->donors[0].param, 1);
    assert_int_equal(m->header_count, 2); /* layout and frontend attributes are kept as text */
    hlo_free(m);
}

static void test_no_header(void **state)
{
    (void)state;
    struct hlo_module *m = load("a { ROOT p = f32[] parameter(0) }\n"
                                "b (x: f32[]) -> f32[] { x = f32[] parameter(0)\n"
                                "  ROOT c = f32[] call(x), to_apply=a }");
    assert_string_equal(m->name, "b");
    assert_string_equal(m->computations[m->entry].name, "b"); /* no ENTRY: the last */
    hlo_free(m);
}

static void test_single_instruction(void **state)
{
    (void)state;
    struct hlo_module *m = load("f32[2] add(f32[2] %x, f32[2] %y), metadata={op_name=\"sum\"}");
    assert_int_equal(m->count, 3);
    assert_int_equal(m->computations[m->entry].param_count, 2);
    assert_string_equal(hlo_name(m, m->computations[m->entry].params[1]), "y");
    assert_string_equal(hlo_meta(m, m->computations[m->entry].root)->op_name, "sum");
    hlo_free(m);
    m = load(
        "f32[5] conditional(s32[], f32[5], f32[5]), branch_computations={"
        "{ a = f32[5] parameter(0) ROOT c = f32[5] ceil(a) }, "
        "{ a = f32[5] parameter(0) ROOT f = f32[5] floor(a) }}"); /* as canonical text has it */
    assert_int_equal(m->computations[m->entry].param_count, 3);
    assert_int_equal(hlo_at(m, m->computations[m->entry].root)->operand_count, 3);
    hlo_free(m);
}

static void test_computation_used_before_it_stands(void **state)
{
    (void)state;
    struct hlo_module *m =
        load("ENTRY e { x = f32[] parameter(0) ROOT c = f32[] call(x), to_apply=a }\n"
             "a { ROOT p = f32[] parameter(0) }, execution_thread=\"t\"");
    assert_string_equal(m->computations[0].name, "a"); /* callees come first */
    assert_string_equal(m->computations[0].thread, "t");
    assert_int_equal(m->entry, 1);
    hlo_free(m);
}

#define SMALL_A "HloModule a\nENTRY e { ROOT p = f32[] parameter(0) }\n"
#define LARGER_B "HloModule b\nENTRY e { p = f32[] parameter(0) ROOT n = f32[] negate(p) }\n"

static void check_modules(const char *text)
{
    struct hlo_module *m = load(text);
    assert_string_equal(m->name, "b"); /* the largest */
    assert_int_equal(m->warning_count, 1);
    assert_non_null(strstr(m->warnings[0].what, "2 modules"));
    hlo_free(m);
    m = load_number(text, 0);
    assert_string_equal(m->name, "a");
    hlo_free(m);

    struct hlo_load_options third = {.module = 2};
    struct err e;
    assert_int_equal(hlo_load_memory("test", text, strlen(text), &third, &m, &e), ERR_INPUT);
    assert_string_equal(e.what, "no module 2 in a file of 2, expected a number below 2");
}

static void test_several_modules(void **state)
{
    (void)state;
    check_modules(SMALL_A LARGER_B);
    check_modules("// RUN: x | y\n\n" SMALL_A "// -----\n" LARGER_B);
    check_modules("[SyncTensorsGraph]\nHashes: (1)\n\n## BEGIN_GRAPH\n" SMALL_A "\n## END_GRAPH\n\n"
                  "[SyncTensorsGraph]\n## BEGIN_GRAPH\n" LARGER_B "## END_GRAPH\n\n");
}

static void test_log_prefixes(void **state)
{
    (void)state;
    struct hlo_module *m =
        load("I0521 12:04:45.883123    1509 dump.cc:186] HloModule a\n"
             "I0521 12:04:45.883124    1509 dump.cc:186] ENTRY e {\n"
             "I0521 12:04:45.883125    1509 dump.cc:186]   p = f32[] parameter(0)\n"
             "I0521 12:04:45.883126    1509 dump.cc:186] }\n");
    assert_int_equal(m->count, 1);
    assert_int_equal(hlo_at(m, 0)->line, 3);
    assert_int_equal(hlo_at(m, 0)->col, 46);
    hlo_free(m);
}

/* ---- metadata ---- */

static void test_metadata_is_unescaped_and_cleaned(void **state)
{
    (void)state;
    struct hlo_module *m = load(
        "ENTRY e { ROOT p = f32[] parameter(0), metadata={op_type=\"xla__device_data\" "
        "op_name=\"params[\\'a\\'][\\\"b\\\"] caf\\303\\251\\033[31m\", source_file=\"/x/y.py\" "
        "source_line=12 profile_type={1} } }");
    assert_string_equal(hlo_meta(m, 0)->op_type, "xla__device_data");
    assert_string_equal(hlo_meta(m, 0)->op_name, "params['a'][\"b\"] caf\303\251?[31m");
    assert_string_equal(hlo_meta(m, 0)->source_file, "/x/y.py");
    assert_int_equal(hlo_meta(m, 0)->source_line, 12);
    hlo_free(m);
}

static void test_stack_frames(void **state)
{
    (void)state;
    struct hlo_module *m =
        load("HloModule m\n\nFileNames\n1 \"a.py\"\n2 \"b.py\"\n\nFunctionNames\n1 \"main\"\n\n"
             "FileLocations\n1 {file_name_id=1 function_name_id=1 line=3 end_line=9 column=1}\n"
             "2 {file_name_id=2 function_name_id=1 line=42 end_line=42 column=5}\n\n"
             "StackFrames\n1 {file_location_id=1 parent_frame_id=1}\n"
             "2 {file_location_id=2 parent_frame_id=2}\n\n"
             "ENTRY e { a = f32[] parameter(0), metadata={op_name=\"a\" stack_frame_id=2}\n"
             "  b = f32[] negate(a), metadata={op_name=\"b\" stack_frame_id=0}\n"
             "  ROOT c = f32[] negate(b), metadata={op_name=\"c\" stack_frame_id=77} }");
    assert_string_equal(hlo_meta(m, 0)->source_file, "b.py");
    assert_int_equal(hlo_meta(m, 0)->source_line, 42);
    assert_string_equal(hlo_meta(m, 1)->source_file, "");
    assert_string_equal(hlo_meta(m, 2)->source_file, "");
    hlo_free(m);
}

static void test_warnings_are_counted(void **state)
{
    (void)state;
    struct hlo_module *m = load("ENTRY e {\n  a = f32[] parameter(0)\n  b = f32[] frob(a), zeta=1\n"
                                "  ROOT c = f32[] frob(b)\n}");
    assert_int_equal(m->warning_count, 2);
    assert_non_null(strstr(m->warnings[0].what, "opcode frob"));
    assert_int_equal(m->warnings[0].count, 2);
    assert_int_equal(m->warnings[0].line, 3);
    assert_non_null(strstr(m->warnings[1].what, "attribute zeta"));
    assert_int_equal(hlo_at(m, 1)->opcode, HLO_OP_UNKNOWN);
    hlo_free(m);
}

/* ---- computations ---- */

static void test_while_names_body_then_condition(void **state)
{
    (void)state;
    struct hlo_module *m =
        load("c { p = s32[] parameter(0) ROOT r = pred[] compare(p, p), direction=LT }\n"
             "b { ROOT p = s32[] parameter(0) }\n"
             "ENTRY e { p = s32[] parameter(0)\n"
             "  ROOT w = s32[] while(p), condition=%c, body=%b }");
    hlo_id w = m->computations[m->entry].root;
    assert_string_equal(m->computations[hlo_called(m, w, 0)].name, "b");
    assert_string_equal(m->computations[hlo_called(m, w, 1)].name, "c");
    hlo_free(m);
}

static void test_sugar_of_asynchronous_instructions(void **state)
{
    (void)state;
    struct hlo_module *m = load("ENTRY e { p = f32[8] parameter(0)\n"
                                "  s = ((f32[8]), f32[2], s32[]) slice-start(p), slice={[2:4]}, "
                                "metadata={op_name=\"s\"}\n"
                                "  ROOT d = f32[2] slice-done(s) }");
    hlo_id s = hlo_find(m, "s");
    assert_int_equal(hlo_at(m, s)->opcode, HLO_OP_ASYNC_START);
    assert_string_equal(hlo_meta(m, s)->op_name, "s");
    hlo_id inner = m->computations[hlo_called(m, s, 0)].root;
    assert_int_equal(hlo_at(m, inner)->opcode, HLO_OP_SLICE);
    assert_non_null(hlo_attr(m, inner, HLO_ATTR_SLICE));
    assert_int_equal(hlo_at(m, hlo_find(m, "d"))->opcode, HLO_OP_ASYNC_DONE);
    hlo_free(m);
}

/* ---- what is kept of the text ---- */

/* Metadata like that of an earlier instruction, with a comment, with a backslash: `written` is the
 * module read, written, and read and written again. */
static void test_metadata_is_read_once_and_kept(void **state)
{
    static const char text[] =
        "HloModule m, frontend_attributes={kept=\"yes\"}\n"
        "ENTRY e { p = f32[8] parameter(0), metadata={op_name=\"a/b\" source_file=\"x.py\" "
        "source_line=3}\n"
        "  q = f32[8] negate(p), metadata={op_name=\"a/b\" source_file=\"x.py\" source_line=3}\n"
        "  r = f32[8] negate(q), metadata={/* c */ op_name=\"a/b\" source_line=3}\n"
        "  c = f32[8] constant({1, 2, 3, 4, 5, 6, 7, 8})\n"
        "  ROOT s = f32[8] add(r, c), metadata={op_name=\"a \\\"}\\\" b\"}\n"
        "}                                                                                \n";
    struct str padded = {0}, first = {0}, second = {0};
    struct err e = {0};

    (void)state;
    str_add(&padded, text); /* comments are not kept: less than half of the text is */
    for (int n = 0; n < 20; n++)
        str_add(&padded, "// a line that nothing is kept of, as shapes and operands are not\n");
    struct hlo_module *m = load(padded.text);
    assert_null(m->input);
    const struct hlo_meta *p = hlo_meta(m, hlo_find(m, "p"));
    assert_ptr_equal(p, hlo_meta(m, hlo_find(m, "q")));
    assert_ptr_not_equal(p, hlo_meta(m, hlo_find(m, "r"))); /* no file */
    assert_string_equal(p->op_name, hlo_meta(m, hlo_find(m, "r"))->op_name);
    assert_string_equal(p->source_file, "x.py");
    assert_string_equal(hlo_meta(m, hlo_find(m, "s"))->op_name, "a \"}\" b");
    const struct hlo_attr *a = hlo_attr(m, hlo_find(m, "p"), HLO_ATTR_METADATA);
    assert_ptr_equal(a->text, hlo_attr(m, hlo_find(m, "q"), HLO_ATTR_METADATA)->text);
    assert_int_equal(hlo_write_text(m, NULL, &first, &e), 0);
    hlo_free(m);
    m = load(first.text);
    assert_int_equal(hlo_write_text(m, NULL, &second, &e), 0);
    assert_string_equal(first.text, second.text);
    assert_non_null(strstr(first.text, "constant({1, 2, 3, 4, 5, 6, 7, 8})"));
    assert_non_null(strstr(first.text, "frontend_attributes={kept=\"yes\"}"));
    hlo_free(m);
    str_release(&padded);
    str_release(&first);
    str_release(&second);
}

/* 3,000 negations, each with an attribute and metadata of its own, and a constant, are more than
 * one piece of what is kept; so is a constant that is most of the text. */
static void test_kept_in_pieces(void **state)
{
    for (int with_large = 0; with_large < 2; with_large++) {
        struct str text = {0};
        (void)state;
        str_add(&text, "HloModule m\nENTRY e {\n  n.0 = f32[] constant(0)\n");
        for (int n = 1; n <= 3000; n++)
            str_format(&text,
                       "  c.%d = f32[] constant(%d)\n  n.%d = f32[] add(n.%d, c.%d), "
                       "metadata={op_name=\"scope/number_%d\" source_line=%d} // said no more\n",
                       n, n, n, n - 1, n, n, n);
        str_add(&text, "  large = f32[100000] constant({");
        str_add(&text, with_large ? "0" : "...");
        for (int n = 1; with_large && n < 100000; n++)
            str_add(&text, ", 1234567");
        str_add(&text, "})\n}\n");
        struct hlo_module *m = load(text.text);
        assert_null(m->input);
        const struct hlo_text *large = &m->literals[hlo_at(m, hlo_find(m, "large"))->literal];
        assert_int_equal(large->size, with_large ? 3 + 99999 * 9 : 5);
        assert_int_equal(large->text[large->size], 0);
        assert_int_equal(large->text[large->size - 1], '}');
        for (int n = 1; n <= 3000; n++) {
            char name[16], want[80];
            double value;
            snprintf(name, sizeof name, "c.%d", n);
            assert_true(hlo_constant_number(m, hlo_find(m, name), &value));
            assert_int_equal((int)value, n);
            snprintf(name, sizeof name, "n.%d", n);
            const struct hlo_attr *a = hlo_attr(m, hlo_find(m, name), HLO_ATTR_METADATA);
            int size =
                snprintf(want, sizeof want, "{op_name=\"scope/number_%d\" source_line=%d}", n, n);
            assert_int_equal(a->size, size);
            assert_memory_equal(a->text, want, (size_t)size);
        }
        hlo_free(m);
        str_release(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_smallest_module),
        cmocka_unit_test(test_spelling),
        cmocka_unit_test(test_header),
        cmocka_unit_test(test_no_header),
        cmocka_unit_test(test_single_instruction),
        cmocka_unit_test(test_computation_used_before_it_stands),
        cmocka_unit_test(test_several_modules),
        cmocka_unit_test(test_log_prefixes),
        cmocka_unit_test(test_metadata_is_unescaped_and_cleaned),
        cmocka_unit_test(test_stack_frames),
        cmocka_unit_test(test_warnings_are_counted),
        cmocka_unit_test(test_while_names_body_then_condition),
        cmocka_unit_test(test_sugar_of_asynchronous_instructions),
        cmocka_unit_test(test_metadata_is_read_once_and_kept),
        cmocka_unit_test(test_kept_in_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
