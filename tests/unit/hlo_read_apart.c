/* A text read by two threads is the module, or the error, that one makes of it: every id, name,
 * attribute, place and warning. Newlines in front of the text move the place where the second
 * thread begins over all of its lines. */
#include "hlo/load.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/file.h"
#include "hlo/support/mem.h"
#include "hlo/support/thread.h"
#include "hlo/text/parse.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Stands before the reader's own (tests/CMakeLists.txt): counts the halves that were taken from a
 * second thread. */
int __real_hlo_parse_ahead_take(struct parser *p, bool *has_root, bool *is_taken);
int __wrap_hlo_parse_ahead_take(struct parser *p, bool *has_root, bool *is_taken);

static int taken;

int __wrap_hlo_parse_ahead_take(struct parser *p, bool *has_root, bool *is_taken)
{
    int rc = __real_hlo_parse_ahead_take(p, has_root, is_taken);

    taken += *is_taken;
    return rc;
}

static int load(const struct str *text, size_t apart, struct hlo_module **m, struct err *e)
{
    struct hlo_load_options o = {.module = -1, .apart = apart};

    *e = (struct err){0};
    return hlo_load_memory("test", text->text, text->size, &o, m, e);
}

static void same_text(const char *a, const char *b)
{
    if (!a || !b)
        assert_true(a == b);
    else
        assert_string_equal(a, b);
}

static void same_bytes(const struct hlo_text *a, const struct hlo_text *b)
{
    assert_int_equal(a->size, b->size);
    if (a->size)
        assert_memory_equal(a->text, b->text, a->size);
}

static void same_ids(const hlo_id *a, const hlo_id *b, uint32_t count)
{
    if (count)
        assert_memory_equal(a, b, count * sizeof *a);
}

static void same_instruction(const struct hlo_module *a, const struct hlo_module *b, hlo_id id)
{
    const struct hlo_instruction *i = hlo_at(a, id), *k = hlo_at(b, id);

    assert_string_equal(hlo_name(a, id), hlo_name(b, id));
    assert_int_equal(i->opcode, k->opcode);
    assert_int_equal(i->is_root, k->is_root);
    assert_int_equal(i->is_synthetic, k->is_synthetic);
    assert_int_equal(i->shape, k->shape);
    assert_int_equal(i->computation, k->computation);
    assert_int_equal(i->number, k->number);
    assert_int_equal(i->meta, k->meta);
    assert_int_equal(i->line, k->line);
    assert_int_equal(i->col, k->col);
    assert_int_equal(i->operand_count, k->operand_count);
    assert_int_equal(i->called_count, k->called_count);
    assert_int_equal(i->control_count, k->control_count);
    assert_int_equal(i->attr_count, k->attr_count);
    if (i->operand_count)
        same_ids(a->operand_pool + i->operands, b->operand_pool + k->operands, i->operand_count);
    if (i->control_count)
        same_ids(a->operand_pool + i->operands + i->operand_count,
                 b->operand_pool + k->operands + k->operand_count, i->control_count);
    if (i->called_count) /* a pool that holds nothing is none */
        same_ids(a->called_pool + i->called, b->called_pool + k->called, i->called_count);
    same_bytes(&a->literals[i->literal], &b->literals[k->literal]);
    for (uint32_t n = 0; n < i->attr_count; n++) {
        const struct hlo_attr *x = &a->attr_pool[i->attrs + n], *y = &b->attr_pool[k->attrs + n];
        assert_int_equal(x->key, y->key);
        same_bytes(&(struct hlo_text){x->text, x->size}, &(struct hlo_text){y->text, y->size});
    }
}

static void same_module(const struct hlo_module *a, const struct hlo_module *b)
{
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->computation_count, b->computation_count);
    assert_int_equal(a->entry, b->entry);
    assert_int_equal(a->shape_count, b->shape_count);
    assert_int_equal(a->meta_count, b->meta_count);
    assert_int_equal(a->warning_count, b->warning_count);
    assert_int_equal(a->alias_count, b->alias_count);
    for (uint32_t n = 0; n < a->alias_count; n++) {
        assert_int_equal(a->aliases[n].out, b->aliases[n].out);
        assert_int_equal(a->aliases[n].param, b->aliases[n].param);
        assert_int_equal(a->aliases[n].param_leaf, b->aliases[n].param_leaf);
    }
    assert_memory_equal(a->opcode_count, b->opcode_count, sizeof a->opcode_count);
    assert_int_equal(a->name_bytes, b->name_bytes);
    for (hlo_comp c = 0; c < a->computation_count; c++) {
        const struct hlo_computation *x = &a->computations[c], *y = &b->computations[c];
        assert_string_equal(x->name, y->name);
        same_text(x->thread, y->thread);
        assert_int_equal(x->first, y->first);
        assert_int_equal(x->count, y->count);
        assert_int_equal(x->root, y->root);
    }
    for (uint32_t n = 0; n < a->shape_count; n++) {
        assert_int_equal(a->shapes[n].bare, b->shapes[n].bare);
        assert_int_equal(a->shapes[n].bytes, b->shapes[n].bytes);
    }
    for (uint32_t n = 0; n < a->meta_count; n++) {
        same_text(a->metas[n].op_type, b->metas[n].op_type);
        same_text(a->metas[n].op_name, b->metas[n].op_name);
        same_text(a->metas[n].source_file, b->metas[n].source_file);
        assert_int_equal(a->metas[n].source_line, b->metas[n].source_line);
    }
    for (uint32_t n = 0; n < a->warning_count; n++) {
        same_text(a->warnings[n].what, b->warnings[n].what);
        assert_int_equal(a->warnings[n].line, b->warnings[n].line);
        assert_int_equal(a->warnings[n].col, b->warnings[n].col);
        assert_int_equal(a->warnings[n].count, b->warnings[n].count);
    }
    for (hlo_id id = 0; id < a->count; id++)
        same_instruction(a, b, id);
}

static void check_one(const struct str *text)
{
    struct hlo_module *alone = NULL, *apart = NULL;
    struct err e, f;
    int code = load(text, SIZE_MAX, &alone, &e);

    assert_int_equal(load(text, 1, &apart, &f), code);
    if (code) {
        assert_string_equal(e.what, f.what);
        assert_int_equal(e.line, f.line);
        assert_int_equal(e.col, f.col);
    } else {
        same_module(alone, apart);
    }
    hlo_free(alone);
    hlo_free(apart);
}

/* `text` with so many newlines before it that its middle moves from its own to its end. */
static void check_moved(const char *text, size_t size, size_t step)
{
    for (size_t pad = 0; pad < size; pad += step) {
        struct str moved = {0};
        for (size_t n = 0; n < pad; n++)
            str_add_char(&moved, '\n');
        str_add_bytes(&moved, text, size);
        check_one(&moved);
        str_clear(&moved);
        str_add_bytes(&moved, text, size);
        for (size_t n = 0; n < pad; n++)
            str_add_char(&moved, '\n');
        check_one(&moved);
        str_release(&moved);
    }
}

#define SUM \
    "sum {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] add(a, b)\n}\n"
#define HEAD "HloModule m\n"
#define META(n) ", metadata={op_name=\"layer" #n "/x\" source_file=\"f.py\" source_line=" #n "}"

static const char *const texts[] = {
    /* calls from and to both halves, metadata of both, an attribute nobody knows, two shapes of
     * one bare shape */
    HEAD SUM "twice {\n  p = f32[4]{0} parameter(0)\n  ROOT q = f32[4]{0} add(p, p)" META(
        1) "\n}\n"
           "ENTRY e {\n  x = f32[4]{0} parameter(0)" META(
               1) "\n"
                  "  k = f32[] constant(0)\n"
                  "  y = f32[4]{0} negate(x), new_one={3}" META(
                      2) "\n"
                         "  z = f32[4]{0} call(y), to_apply=twice\n"
                         "  u = f32[4] add(x, z), new_one={4}" META(
                             1) "\n"
                                "  w = f32[] reduce(u, k), dimensions={0}, to_apply=sum" META(
                                    3) "\n"
                                       "  t = (f32[4]{0}, f32[]) tuple(x, w), other=1\n"
                                       "  ROOT g = f32[] get-tuple-element(t), index=1\n}\n",
    /* the same in the older form, with shapes before operands, and a computation defined last */
    HEAD "%e0 (p: f32[4]) -> f32[4] {\n  %p = f32[4]{0} parameter(0)\n"
         "  ROOT %q = f32[4]{0} call(f32[4]{0} %p), to_apply=%late\n}, execution_thread=\"host\"\n"
         "%late (p: f32[4]) -> f32[4] {\n  %p = f32[4]{0} parameter(0)\n"
         "  %q = f32[4]{0} negate(f32[4]{0} %p)\n  ROOT %r = f32[4]{0} abs(f32[4]{0} %q)\n"
         "}, execution_thread=\"device\"\n"
         "ENTRY %e (p: f32[4]) -> f32[4] {\n  %p = f32[4]{0} parameter(0)\n"
         "  %q = f32[4]{0} negate(f32[4]{0} %p)\n"
         "  ROOT %r = f32[4]{0} call(f32[4]{0} %q), to_apply=%e0\n}\n",
    /* no ROOT, no ENTRY, aliases, operands defined later */
    "HloModule m, input_output_alias={ {}: (0, {}, may-alias) }\n"
    "c {\n  r = f32[2]{0} add(s, p)\n  s = f32[2]{0} negate(p)\n  p = f32[2]{0} parameter(0)\n}\n"
    "d {\n  p = f32[2]{0} parameter(0)\n  s = f32[2]{0} negate(p)\n  r = f32[2]{0} add(s, p)\n"
    "  q = f32[2]{0} add(r, s)\n}\n",
    /* aliases of an entry that others stand around */
    "HloModule m, input_output_alias={ {1}: (1, {}, may-alias), {0}: (0, {}, may-alias) }\n"
    "c {\n  p = f32[2]{0} parameter(0)\n  s = f32[2]{0} negate(p)\n}\n"
    "ENTRY e {\n  x = f32[2]{0} parameter(0)\n  y = f32[3]{0} parameter(1)\n"
    "  z = f32[2]{0} call(x), to_apply=d\n"
    "  ROOT t = (f32[2]{0}, f32[3]{0}) tuple(z, y)\n}\n"
    "d {\n  p = f32[2]{0} parameter(0)\n  s = f32[2]{0} call(p), to_apply=c\n}\n",
    /* what is numbered over the whole text: bodies in place, elements, nested operands */
    HEAD "ENTRY e {\n  x = f32[4]{0} parameter(0)\n  k = f32[] constant(0)\n"
         "  w = f32[] reduce(x, k), dimensions={0}, to_apply={\n    a = f32[] parameter(0)\n"
         "    b = f32[] parameter(1)\n    ROOT c = f32[] add(a, b)\n  }\n"
         "  t = (f32[4]{0}, f32[]) tuple(x, w)\n  v = f32[] negate(t#1)\n"
         "  u = f32[] add(v, f32[] negate(t#1))\n  ROOT s = f32[] add(u, v)\n}\n",
    /* control predecessors, a string over lines, a comment over lines */
    HEAD "ENTRY e {\n  x = f32[4]{0} parameter(0)\n  y = f32[4]{0} negate(x)\n"
         "  z = f32[4]{0} negate(x), control-predecessors={y}, frontend_attributes={a=\"\n"
         "  no = f32[4]{0} negate(x)\n\"}\n  /* one\n  two = f32[4]{0} negate(x)\n  */\n"
         "  ROOT w = f32[4]{0} add(y, z)\n}\n",
    /* errors: a name twice, over any distance; one that is nowhere; another shape; a second ROOT */
    HEAD
    "ENTRY e {\n  x = f32[4]{0} parameter(0)\n  y = f32[4]{0} negate(x)\n"
    "  z = f32[4]{0} negate(y)\n  y = f32[4]{0} negate(z)\n  ROOT w = f32[4]{0} add(y, z)\n}\n",
    HEAD "ENTRY e {\n  x = f32[4]{0} parameter(0)\n  y = f32[4]{0} negate(x)\n"
         "  z = f32[4]{0} negate(nowhere)\n  ROOT w = f32[4]{0} add(y, z)\n}\n",
    HEAD "ENTRY e {\n  x = f32[4]{0} parameter(0)\n  y = f32[4]{0} negate(f32[4]{0} x)\n"
         "  z = f32[4]{0} negate(f32[4]{0} y)\n  ROOT w = f32[4]{0} add(f32[5]{0} x, z)\n}\n",
    HEAD "ENTRY e {\n  x = f32[4]{0} parameter(0)\n  ROOT y = f32[4]{0} negate(x)\n"
         "  z = f32[4]{0} negate(y)\n  ROOT w = f32[4]{0} add(y, z)\n}\n",
    /* a computation twice, a second ENTRY, one that calls itself, one that is missing, the end */
    HEAD SUM SUM "ENTRY e {\n  ROOT x = f32[] parameter(0)\n}\n",
    HEAD
    "ENTRY d {\n  ROOT x = f32[] parameter(0)\n}\nENTRY e {\n  ROOT x = f32[] parameter(0)\n}\n",
    HEAD "d {\n  x = f32[] parameter(0)\n  ROOT y = f32[] call(x), to_apply=e\n}\n"
         "ENTRY e {\n  x = f32[] parameter(0)\n  ROOT y = f32[] call(x), to_apply=d\n}\n",
    HEAD "ENTRY e {\n  x = f32[] parameter(0)\n  y = f32[] negate(x)\n"
         "  ROOT z = f32[] call(y), to_apply=gone\n}\n",
    HEAD "ENTRY e {\n  x = f32[] parameter(0)\n  y = f32[] call(x), to_apply=gone\n"
         "  z = f32[] negate(y)\n  ROOT w = f32[] call(z), to_apply=gone\n}\n",
    HEAD "ENTRY e {\n  x = f32[] parameter(0)\n  y = f32[] negate(x)\n  z = f32[] negate(y)\n",
};

static void test_texts(void **state)
{
    (void)state;
    for (size_t n = 0; n < sizeof texts / sizeof *texts; n++) {
        taken = 0;
        check_moved(texts[n], strlen(texts[n]), 1);
        assert_true(taken || n > 2); /* those are sound, and nothing is numbered over all */
    }
}

/* Warnings are counted up to a number of kinds. */
static void test_many_warnings(void **state)
{
    struct str text = {0};

    (void)state;
    str_add(&text, HEAD "ENTRY e {\n  x0 = f32[] parameter(0)\n");
    for (int n = 1; n < 90; n++)
        str_format(&text, "  x%d = f32[] negate(x%d), new%d=1, always=2\n", n, n - 1, n % 70);
    str_add(&text, "}\n");
    check_moved(text.text, text.size, 97);
    str_release(&text);
}

/* Real ones. */
static void test_models(void **state)
{
    static const char *const names[] = {"mlp", "moe.meta", "decoder-scan.meta", "t5-3b.meta"};
    char path[4096];

    (void)state;
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        struct str text = {0};
        struct err e;
        snprintf(path, sizeof path, "%s/examples/models/%s.hlo.txt.gz", AUTOMAP_SOURCE_DIR,
                 names[n]);
        assert_int_equal(hlo_file_read_plain(path, 1 << 28, &text, &e), 0);
        taken = 0;
        check_one(&text);
        assert_true(taken);
        str_release(&text);
    }
}

/* ---- large enough for two threads at each step: the file's halves, the text's, the check's ----
 */

enum { LARGE_BYTES = 10 << 20 };

/* A chain; negation `wrong` has another shape than its operand, `twice` the name of the seventh.
 * Returns how many there are. */
static int write_chain(struct str *text, int wrong, int twice)
{
    int n = 1;

    str_add(text, HEAD "ENTRY e {\n  value.0 = f32[512,512]{1,0} parameter(0)\n");
    for (; text->size < LARGE_BYTES; n++)
        str_format(text,
                   "  value.%d = f32[512,%d]{1,0} negate(value.%d), "
                   "metadata={op_name=\"jit(step)/jit(main)/layer_%d/negative\"}\n",
                   n == twice ? 7 : n, n == wrong ? 511 : 512, n - 1, n % 1000);
    str_add(text, "}\n");
    return n;
}

static int load_file(const struct str *text, struct hlo_module **m, struct err *e)
{
    const char *dir = getenv("TMPDIR");
    struct str path = {0};

    str_format(&path, "%s/automap_apart_XXXXXX", dir && *dir ? dir : "/tmp");
    int file = mkstemp(path.text);
    assert_true(file >= 0);
    assert_int_equal(write(file, text->text, text->size), text->size);
    close(file);
    *e = (struct err){0};
    int code = hlo_load(path.text, NULL, m, e);
    unlink(path.text);
    str_release(&path);
    return code;
}

static void test_large_file(void **state)
{
    struct hlo_module *alone = NULL, *apart = NULL;
    struct str text = {0};
    struct err e;

    (void)state;
    int count = write_chain(&text, -1, -1);
    taken = 0;
    assert_int_equal(load_file(&text, &apart, &e), 0);
    assert_true(taken || thread_processors() < 2);
    assert_int_equal(load(&text, SIZE_MAX, &alone, &e), 0);
    assert_int_equal(apart->count, count);
    same_module(alone, apart);
    hlo_free(alone);
    hlo_free(apart);
    const int wrong[] = {7, count / 2, count - 2};
    for (size_t n = 0; n < sizeof wrong / sizeof *wrong; n++) {
        str_clear(&text);
        write_chain(&text, wrong[n], -1);
        assert_int_not_equal(load_file(&text, &apart, &e), 0);
        assert_int_equal(e.line, 3 + wrong[n]);
    }
    str_clear(&text);
    write_chain(&text, -1,
                count - 9); /* the table of the later half has it, that of the first too */
    assert_int_not_equal(load_file(&text, &apart, &e), 0);
    assert_int_equal(e.line, 3 + count - 9);
    assert_non_null(strstr(e.what, "\"value.7\" (the first is on line 10)"));
    str_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_many_warnings),
        cmocka_unit_test(test_models),
        cmocka_unit_test(test_large_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
