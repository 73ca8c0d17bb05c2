/* Inlining: calls become their callee's instructions, bodies with several callers one copy each,
 * reducers stay shared; names, origins, aliases and scopes are kept. */
#include "hlo/load.h"
#include "hlo/meaning/cost.h"
#include "hlo/module/inline.h"
#include "hlo/text/write_text.h"
#include "read_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

static struct hlo_module *inlined(const struct hlo_module *m)
{
    struct hlo_module *out = NULL;
    struct err e = {0};

    if (hlo_inline(m, &out, &e)) {
        err_print(&e, stderr);
        fail();
    }
    return out;
}

static const char calls[] =
    "HloModule calls, input_output_alias={ {0}: (1, {}, must-alias) }, "
    "entry_computation_layout={(f32[4]{0}, f32[4]{0})->(f32[4]{0}, f32[])}\n"
    "sum { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b) }\n"
    "inner { p = f32[4]{0} parameter(0)\n ROOT twice = f32[4]{0} add(p, p), "
    "metadata={op_name=\"add\" source_file=\"m.py\" source_line=7} }\n"
    "same { p = f32[4]{0} parameter(0)\n q = f32[4]{0} parameter(1)\n ROOT r = f32[4]{0} copy(q) "
    "}\n"
    "pass { ROOT p = f32[4]{0} parameter(0) }\n"
    "outer { x = f32[4]{0} parameter(0)\n"
    "  i = f32[4]{0} call(x), to_apply=inner, metadata={op_name=\"jit(inner)\"}\n"
    "  j = f32[4]{0} call(i), to_apply=inner, metadata={op_name=\"jit(inner)\"}\n"
    "  ROOT m = f32[4]{0} multiply(i, j), metadata={op_name=\"jit(f)/jvp(layer_0)/mul\"} }\n"
    "ENTRY main { x = f32[4]{0} parameter(0)\n twice = f32[4]{0} parameter(1)\n z = f32[] "
    "constant(0)\n"
    "  o = f32[4]{0} call(twice), to_apply=outer, metadata={op_name=\"jit(f)/jvp(layer_0)\"}\n"
    "  d = f32[4]{0} call(x, o), to_apply=same\n"
    "  e = f32[4]{0} call(d), to_apply=pass\n"
    "  n = f32[] reduce(e, z), dimensions={0}, to_apply=sum\n"
    "  k = f32[] reduce(o, z), dimensions={0}, to_apply=sum\n"
    "  ROOT t = (f32[4]{0}, f32[], f32[]) tuple(e, n, k) }\n";

static uint32_t count_of(const struct hlo_module *m, enum hlo_opcode op)
{
    uint32_t count = 0;

    for (hlo_id id = 0; id < m->count; id++)
        count += m->instructions[id].opcode == op;
    return count;
}

static void test_calls(void **state)
{
    struct hlo_module *m = read_text(calls), *c = inlined(m);
    const struct hlo_computation *entry = &c->computations[c->entry];

    (void)state;
    assert_int_equal(count_of(c, HLO_OP_CALL), 0);
    assert_int_equal(c->computation_count, 2); /* main and the shared sum */
    assert_int_equal(count_of(c, HLO_OP_ADD), 3);
    assert_int_equal(count_of(c, HLO_OP_PARAMETER), 4);
    assert_int_equal(entry->count, 10); /* x twice z, add add mul, copy, n k t */
    assert_true(c->source == m);
    hlo_id n = hlo_find(c, "n"), t = hlo_find(c, "t"), k = hlo_find(c, "k");
    hlo_id copy = hlo_operand(c, n, 0);
    assert_int_equal(hlo_at(c, copy)->opcode,
                     HLO_OP_COPY); /* through the callee that gives its argument */
    assert_int_equal(hlo_operand(c, t, 0), copy);
    hlo_id mul = hlo_operand(c, copy, 0);
    assert_int_equal(hlo_at(c, mul)->opcode, HLO_OP_MULTIPLY);
    assert_int_equal(hlo_operand(c, k, 0), mul);
    hlo_id first = hlo_operand(c, mul, 0), second = hlo_operand(c, mul, 1);
    assert_int_equal(hlo_operand(c, second, 0), first);
    assert_int_equal(hlo_operand(c, first, 0), hlo_find(c, "twice"));
    assert_string_equal(hlo_name(m, c->origin[first]), "twice");
    assert_int_equal(c->origin[first], c->origin[second]);
    assert_memory_equal(hlo_name(c, first), "twice.", 6); /* the entry's own names come first */
    assert_string_not_equal(hlo_name(c, first), hlo_name(c, second));
    assert_int_equal(c->alias_count, 1);
    assert_int_equal(c->aliases[0].param, 1);
    assert_int_equal(hlo_called(c, n, 0), hlo_called(c, k, 0));
    hlo_free(c);
    hlo_free(m);
}

static void test_scopes(void **state)
{
    struct hlo_module *m = read_text(calls), *c = inlined(m);
    hlo_id mul = hlo_operand(c, hlo_find(c, "k"), 0), add = hlo_operand(c, mul, 0);

    (void)state;
    assert_string_equal(hlo_meta(c, mul)->op_name,
                        "jit(f)/jvp(layer_0)/mul"); /* had the caller's */
    assert_string_equal(hlo_meta(c, add)->op_name, "jit(f)/jvp(layer_0)/jit(inner)/add");
    assert_string_equal(hlo_meta(c, add)->source_file, "m.py");
    assert_int_equal(hlo_meta(c, add)->source_line, 7);
    assert_int_equal(hlo_at(c, add)->line, hlo_at(m, c->origin[add])->line);
    assert_true(hlo_at(c, add)->line > 1);
    hlo_free(c);
    hlo_free(m);
}

static void test_image(void **state)
{
    struct hlo_module *m = read_text(calls), *c = NULL;
    hlo_id *image = mem_alloc(m->count * sizeof *image);
    struct err e = {0};

    (void)state;
    assert_int_equal(hlo_inline_mapped(m, true, &c, image, &e), 0);
    assert_int_equal(image[hlo_find(m, "o")], hlo_operand(c, hlo_find(c, "k"), 0));
    assert_int_equal(image[hlo_find(m, "e")], image[hlo_find(m, "d")]);
    assert_int_equal(image[hlo_find(m, "z")], hlo_find(c, "z"));
    free(image);
    hlo_free(c);
    hlo_free(m);
}

static const char loops[] =
    "HloModule loops\n"
    "body { t = (s32[], f32[4]) parameter(0)\n i = s32[] get-tuple-element(t), index=0\n one = "
    "s32[] constant(1)\n"
    "  n = s32[] add(i, one)\n v = f32[4] get-tuple-element(t), index=1\n w = f32[4] negate(v)\n"
    "  ROOT r = (s32[], f32[4]) tuple(n, w) }\n"
    "cond { t = (s32[], f32[4]) parameter(0)\n i = s32[] get-tuple-element(t), index=0\n five = "
    "s32[] constant(5)\n"
    "  ROOT lt = pred[] compare(i, five), direction=LT }\n"
    "ENTRY main { z = s32[] constant(0)\n f = f32[4] parameter(0)\n s = (s32[], f32[4]) tuple(z, "
    "f)\n"
    "  a = (s32[], f32[4]) while(s), condition=cond, body=body\n"
    "  ROOT b = (s32[], f32[4]) while(a), condition=cond, body=body }\n";

static void test_loops(void **state)
{
    struct hlo_module *m = read_text(loops), *c = inlined(m);
    hlo_id a = hlo_find(c, "a"), b = hlo_find(c, "b");

    (void)state;
    assert_true(hlo_inline_needed(m));
    assert_false(hlo_inline_needed(c));
    assert_int_equal(c->computation_count, 5);
    assert_int_not_equal(hlo_called(c, a, 0), hlo_called(c, b, 0));
    assert_int_not_equal(hlo_called(c, a, 1), hlo_called(c, b, 1));
    assert_string_not_equal(c->computations[hlo_called(c, a, 0)].name,
                            c->computations[hlo_called(c, b, 0)].name);
    assert_int_equal(count_of(c, HLO_OP_NEGATE), 2);
    for (hlo_comp k = 0; k < c->computation_count; k++)
        assert_true(c->computations[k].caller_count <= 1);
    assert_int_equal(hlo_trip_count(c, a), 5);
    hlo_free(c);
    hlo_free(m);
}

/* Three trips that read slices of a parameter and fill an array with what they make of them; three
 * that read it backwards. */
static const char slices[] =
    "HloModule slices\n"
    "fill { t = (s32[], f32[3,4], f32[3,4]) parameter(0)\n"
    "  i = s32[] get-tuple-element(t), index=0\n one = s32[] constant(1)\n"
    "  n = s32[] add(i, one)\n none = s32[] constant(0)\n"
    "  p = f32[3,4] get-tuple-element(t), index=1\n"
    "  s = f32[1,4] dynamic-slice(p, i, none), dynamic_slice_sizes={1,4}\n"
    "  made = f32[1,4] negate(s)\n q = f32[3,4] get-tuple-element(t), index=2\n"
    "  u = f32[3,4] dynamic-update-slice(q, made, i, none)\n"
    "  ROOT r = (s32[], f32[3,4], f32[3,4]) tuple(n, p, u) }\n"
    "read { t = (s32[], f32[3,4], f32[1,4]) parameter(0)\n"
    "  i = s32[] get-tuple-element(t), index=0\n one = s32[] constant(1)\n"
    "  n = s32[] add(i, one)\n none = s32[] constant(0)\n two = s32[] constant(2)\n"
    "  back = s32[] subtract(two, i)\n p = f32[3,4] get-tuple-element(t), index=1\n"
    "  s = f32[1,4] dynamic-slice(p, back, none), dynamic_slice_sizes={1,4}\n"
    "  q = f32[1,4] get-tuple-element(t), index=2\n sum = f32[1,4] add(q, s)\n"
    "  ROOT r = (s32[], f32[3,4], f32[1,4]) tuple(n, p, sum) }\n"
    "until { t = (s32[], f32[3,4], f32[3,4]) parameter(0)\n"
    "  i = s32[] get-tuple-element(t), index=0\n three = s32[] constant(3)\n"
    "  ROOT lt = pred[] compare(i, three), direction=LT }\n"
    "end { t = (s32[], f32[3,4], f32[1,4]) parameter(0)\n"
    "  i = s32[] get-tuple-element(t), index=0\n three = s32[] constant(3)\n"
    "  ROOT lt = pred[] compare(i, three), direction=LT }\n"
    "ENTRY main { x = f32[3,4] parameter(0)\n y = f32[1,4] parameter(1)\n"
    "  z = s32[] constant(0)\n f = f32[] constant(0)\n"
    "  zero = f32[3,4] broadcast(f), dimensions={}\n"
    "  a = (s32[], f32[3,4], f32[3,4]) tuple(z, x, zero)\n"
    "  first = (s32[], f32[3,4], f32[3,4]) while(a), condition=until, body=fill\n"
    "  all = f32[3,4] get-tuple-element(first), index=2\n"
    "  b = (s32[], f32[3,4], f32[1,4]) tuple(z, all, y)\n"
    "  second = (s32[], f32[3,4], f32[1,4]) while(b), condition=end, body=read\n"
    "  ROOT got = f32[1,4] get-tuple-element(second), index=2 }\n";

static void test_written_out(void **state)
{
    struct hlo_module *m = read_text(slices), *c = NULL;
    bool *is_out = mem_alloc(m->count * sizeof *is_out);
    struct err e = {0};

    (void)state;
    memset(is_out, 0, m->count * sizeof *is_out);
    is_out[hlo_find(m, "first")] = true;
    assert_int_equal(hlo_write_out(m, is_out, &c, &e), 0);
    assert_int_equal(count_of(c, HLO_OP_WHILE), 1);
    assert_int_equal(count_of(c, HLO_OP_NEGATE), 3);
    assert_int_equal(hlo_trip_count(c, hlo_find(c, "second")), 3);
    hlo_free(c);

    is_out[hlo_find(m, "second")] = true;
    assert_int_equal(hlo_write_out(m, is_out, &c, &e), 0);
    assert_int_equal(count_of(c, HLO_OP_WHILE), 0);
    assert_int_equal(count_of(c, HLO_OP_DYNAMIC_SLICE), 3); /* of the parameter alone */
    /* ((y + made of trip 2) + made of trip 1) + made of trip 0 */
    hlo_id sum = c->computations[c->entry].root;
    for (uint32_t trip = 0; trip < 3; trip++) {
        hlo_id made = hlo_operand(c, sum, 1), slice = hlo_operand(c, made, 0);
        double index;
        assert_int_equal(hlo_at(c, sum)->opcode, HLO_OP_ADD);
        assert_int_equal(hlo_at(c, made)->opcode, HLO_OP_NEGATE);
        assert_string_equal(hlo_name(c, hlo_operand(c, slice, 0)), "x");
        hlo_id at = hlo_operand(c, slice, 1), steps = 0;
        for (; !hlo_constant_number(c, at, &index); at = hlo_operand(c, at, 0))
            steps++;
        assert_int_equal(steps, trip);
        sum = hlo_operand(c, sum, 0);
    }
    assert_string_equal(hlo_name(c, sum), "y");
    hlo_free(c);
    free(is_out);
    hlo_free(m);
}

static void check_same_ids(const hlo_id *a, const hlo_id *b, uint32_t count)
{
    for (uint32_t n = 0; n < count; n++)
        assert_int_equal(a[n], b[n]);
}

static void check_same_instruction(const struct hlo_module *a, const struct hlo_module *b,
                                   hlo_id id)
{
    const struct hlo_instruction *i = hlo_at(a, id), *j = hlo_at(b, id);
    const struct hlo_meta *x = hlo_meta(a, id), *y = hlo_meta(b, id);

    assert_int_equal(a->origin[id], b->origin[id]);
    assert_int_equal(i->opcode, j->opcode);
    assert_int_equal(i->is_root, j->is_root);
    assert_int_equal(i->takes_tuples, j->takes_tuples);
    assert_int_equal(i->shape, j->shape);
    assert_int_equal(i->computation, j->computation);
    assert_int_equal(i->number, j->number);
    assert_int_equal(i->attrs, j->attrs);
    assert_int_equal(i->literal, j->literal);
    assert_int_equal(i->line, j->line);
    assert_int_equal(a->leaf_base[id], b->leaf_base[id]);
    assert_int_equal(i->operand_count, j->operand_count);
    assert_int_equal(i->control_count, j->control_count);
    assert_int_equal(i->called_count, j->called_count);
    assert_int_equal(i->user_count, j->user_count);
    check_same_ids(a->operand_pool + i->operands, b->operand_pool + j->operands, i->operand_count);
    check_same_ids(a->operand_pool + i->operands + i->operand_count,
                   b->operand_pool + j->operands + j->operand_count, i->control_count);
    check_same_ids(a->called_pool + i->called, b->called_pool + j->called, i->called_count);
    check_same_ids(a->user_pool + i->users, b->user_pool + j->users, i->user_count);
    assert_string_equal(x->op_name, y->op_name);
    assert_string_equal(x->source_file, y->source_file);
    assert_int_equal(x->source_line, y->source_line);
}

static void check_same_computations(const struct hlo_module *a, const struct hlo_module *b)
{
    assert_int_equal(a->computation_count, b->computation_count);
    assert_int_equal(a->entry, b->entry);
    for (hlo_comp c = 0; c < a->computation_count; c++) {
        const struct hlo_computation *x = &a->computations[c], *y = &b->computations[c];
        assert_int_equal(x->first, y->first);
        assert_int_equal(x->count, y->count);
        assert_int_equal(x->root, y->root);
        assert_int_equal(x->param_count, y->param_count);
        assert_int_equal(x->caller_count, y->caller_count);
        check_same_ids(x->params, y->params, x->param_count);
        check_same_ids(x->callers, y->callers, x->caller_count);
        assert_true(x->thread == y->thread);
    }
}

/* The two ways to inline share nothing but the rules of what is copied: without fresh names only
 * the names differ, which are the originals'. */
static void check_both_ways(const struct hlo_module *m, bool names_differ)
{
    struct hlo_module *named = NULL, *plain = NULL;
    hlo_id *of_named = mem_alloc(m->count * sizeof *of_named);
    hlo_id *of_plain = mem_alloc(m->count * sizeof *of_plain);
    uint32_t differ = 0;
    struct err e = {0};

    assert_int_equal(hlo_inline_mapped(m, true, &named, of_named, &e), 0);
    assert_int_equal(hlo_inline_mapped(m, false, &plain, of_plain, &e), 0);
    assert_int_equal(plain->count, named->count);
    assert_int_equal(plain->value_count, named->value_count);
    check_same_computations(plain, named);
    for (hlo_id id = 0; id < named->count; id++) {
        check_same_instruction(plain, named, id);
        assert_string_equal(hlo_name(plain, id), hlo_name(m, plain->origin[id]));
        differ += strcmp(hlo_name(plain, id), hlo_name(named, id)) != 0;
    }
    check_same_ids(of_plain, of_named, m->count);
    assert_true(!names_differ || differ);
    hlo_free(named);
    hlo_free(plain);
    free(of_named);
    free(of_plain);
}

/* Calls in bodies that two loops share, in branches and in reducers, below calls, after others. */
static const char nested[] =
    "HloModule nested\n"
    "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b) }\n"
    "adder { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] call(a, b), "
    "to_apply=add, metadata={op_name=\"sum\"} }\n"
    "g { p = f32[4] parameter(0)\n z = f32[] constant(0)\n r = f32[] reduce(p, z), "
    "dimensions={0}, to_apply=adder, metadata={op_name=\"reduce\"}\n ROOT b = f32[4] broadcast(r), "
    "dimensions={}, metadata={op_name=\"wide\"} }\n"
    "f { p = f32[4] parameter(0)\n n = f32[4] negate(p), metadata={op_name=\"neg\"}\n c = f32[4] "
    "call(n), to_apply=g, metadata={op_name=\"jit(g)\"}\n d = f32[4] call(c), to_apply=g, "
    "metadata={op_name=\"jit(f)/again\"}\n ROOT m = f32[4] multiply(d, p), "
    "control-predecessors={n} }\n"
    "body { p = (s32[], f32[4]) parameter(0)\n i = s32[] get-tuple-element(p), index=0\n o = s32[] "
    "constant(1)\n j = s32[] add(i, o)\n x = f32[4] get-tuple-element(p), index=1\n y = f32[4] "
    "call(x), to_apply=f, metadata={op_name=\"while/body\"}\n ROOT t = (s32[], f32[4]) tuple(j, y) "
    "}\n"
    "cond { p = (s32[], f32[4]) parameter(0)\n i = s32[] get-tuple-element(p), index=0\n n = s32[] "
    "constant(5)\n ROOT l = pred[] compare(i, n), direction=LT }\n"
    "ENTRY main { x = f32[4] parameter(0)\n k = pred[] parameter(1)\n z = s32[] constant(0)\n"
    "  t = (s32[], f32[4]) tuple(z, x)\n"
    "  v = (s32[], f32[4]) while(t), condition=cond, body=body, "
    "metadata={op_name=\"jit(m)/while\"}\n"
    "  w = (s32[], f32[4]) while(v), condition=cond, body=body, "
    "metadata={op_name=\"jit(m)/while\"}\n"
    "  y = f32[4] get-tuple-element(w), index=1\n"
    "  c = f32[4] conditional(k, y, x), true_computation=f, false_computation=f, "
    "metadata={op_name=\"jit(m)/cond\"}\n"
    "  u = f32[4] call(c), to_apply=f, metadata={op_name=\"jit(m)/jit(f)\"}, "
    "control-predecessors={y}\n"
    "  ROOT r = f32[4] add(u, x), control-predecessors={c, u} }\n";

static void test_both_ways(void **state)
{
    static const char *const files[] = {
        "examples/models/t5-base6.hlo.txt.gz", "examples/models/decoder-scan.hlo.txt.gz",
        "examples/models/moe.hlo.txt.gz",      "tests/data/grammar/inline.hlo",
        "examples/models/resnet20.hlo.txt.gz",
    };
    struct hlo_module *m = read_text(calls);

    (void)state;
    check_both_ways(m, true);
    hlo_free(m);
    m = read_text(nested);
    check_both_ways(m, true);
    hlo_free(m);
    for (size_t n = 0; n < sizeof files / sizeof *files; n++) {
        char path[512];
        struct err e = {0};
        snprintf(path, sizeof path, "%s/%s", AUTOMAP_SOURCE_DIR, files[n]);
        assert_int_equal(hlo_load(path, NULL, &m, &e), 0);
        check_both_ways(m, false);
        hlo_free(m);
    }
}

static void expect_refusal(const char *text)
{
    struct hlo_module *m = read_text(text), *c = NULL;
    struct err e = {0};

    assert_int_equal(hlo_inline(m, &c, &e), ERR_LIMIT);
    assert_null(c);
    assert_non_null(strstr(e.what, "more than 64 times"));
    hlo_free(m);
}

/* f0 calls f1 twice, which calls f2 twice, ...: 2^40 additions, or as many identities, are refused.
 */
static void check_refused(const char *last)
{
    struct str text = {0};

    str_format(&text, "HloModule tower\nf40 { %s }\n", last);
    for (int n = 39; n > 0; n--)
        str_format(&text,
                   "f%d { p = f32[] parameter(0)\n a = f32[] call(p), to_apply=f%d\n ROOT b = "
                   "f32[] call(a), to_apply=f%d }\n",
                   n, n + 1, n + 1);
    str_add(&text, "ENTRY main { p = f32[] parameter(0)\n ROOT a = f32[] call(p), to_apply=f1 }\n");
    expect_refusal(text.text);
    str_release(&text);
}

/* `applies` has a reducer of two numbers, which calls another twice, `levels` times over; one
 * that the entry does not reach costs nothing. */
static void tower_of_adders(struct str *text, int levels, const char *applies)
{
    str_add(text, "HloModule tower\nf0 { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r "
                  "= f32[] add(a, b) }\n");
    for (int n = 1; n <= levels; n++)
        str_format(text,
                   "f%d { a = f32[] parameter(0)\n b = f32[] parameter(1)\n x = f32[] call(a, b), "
                   "to_apply=f%d\n ROOT y = f32[] call(x, b), to_apply=f%d }\n",
                   n, n - 1, n - 1);
    str_format(text,
               "ENTRY main { p = f32[8,16] parameter(0)\n z = f32[] constant(0)\n ROOT r = %s }\n",
               applies);
}

/* The same inside of what an instruction applies: it has one copy, which has its calls inside. */
static void check_applied(const char *applies)
{
    struct str text = {0};

    tower_of_adders(&text, 40, applies);
    expect_refusal(text.text);
    str_release(&text);
}

static void test_growth_of_what_is_not_reached(void **state)
{
    struct str text = {0};
    struct hlo_module *m, *c;
    struct err e = {0};

    (void)state;
    tower_of_adders(&text, 40, "f32[8,16] negate(p)");
    m = read_text(text.text);
    assert_int_equal(hlo_inline(m, &c, &e), 0);
    assert_int_equal(c->count, 3);
    hlo_free(c);
    hlo_free(m);
    str_release(&text);
}

static void test_growth(void **state)
{
    (void)state;
    check_refused("p = f32[] parameter(0)\n ROOT s = f32[] add(p, p)");
    check_refused("ROOT p = f32[] parameter(0)");
    check_applied("f32[8] reduce(p, z), dimensions={1}, to_apply=f40");
    check_applied("f32[8,16] map(p, p), dimensions={0,1}, to_apply=f40");
    check_applied("f32[8,16] all-reduce(p), replica_groups={}, to_apply=f40");
    check_applied("f32[8,16] reduce-window(p, z), window={size=1x3 pad=0_0x1_1}, to_apply=f40");
}

static void check_example(const char *name)
{
    char path[512];
    struct hlo_module *m = NULL, *again = NULL;
    struct hlo_costs before, after;
    struct str text = {0};
    struct err e = {0};

    snprintf(path, sizeof path, "%s/examples/models/%s", AUTOMAP_SOURCE_DIR, name);
    assert_int_equal(hlo_load(path, NULL, &m, &e), 0);
    struct hlo_module *c = inlined(m);
    assert_false(hlo_inline_needed(c));
    assert_int_equal(hlo_costs_new(m, &before, &e), 0);
    assert_int_equal(hlo_costs_new(c, &after, &e), 0);
    assert_true(before.total.flops == after.total.flops);
    assert_true(before.total.transcendentals == after.total.transcendentals);
    assert_true(before.total_trips.flops == after.total_trips.flops);
    assert_int_equal(hlo_write_text(c, NULL, &text, &e), 0);
    assert_int_equal(hlo_load_memory("again", text.text, text.size, NULL, &again, &e), 0);
    assert_int_equal(again->count, c->count);
    assert_int_equal(again->value_count, c->value_count);
    for (hlo_id id = 0; id < c->count; id++) {
        const struct hlo_instruction *i = hlo_at(c, id), *o = hlo_at(m, c->origin[id]);
        assert_int_equal(i->opcode, o->opcode);
        assert_int_equal(i->operand_count, o->operand_count);
        assert_int_equal(i->number, o->number);
    }
    hlo_costs_release(&before);
    hlo_costs_release(&after);
    str_release(&text);
    hlo_free(again);
    hlo_free(c);
    hlo_free(m);
}

/* Costs do not change, and the copy can be written and read again. */
static void test_examples(void **state)
{
    (void)state;
    check_example("mlp.meta.hlo.txt.gz");
    check_example("t5-tiny.hlo.txt.gz");
    check_example("decoder-scan.meta.hlo.txt.gz");
    check_example("moe.hlo.txt.gz");
    check_example("resnet20.meta.hlo.txt.gz");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls),    cmocka_unit_test(test_scopes),
        cmocka_unit_test(test_image),    cmocka_unit_test(test_both_ways),
        cmocka_unit_test(test_loops),    cmocka_unit_test(test_written_out),
        cmocka_unit_test(test_growth),   cmocka_unit_test(test_growth_of_what_is_not_reached),
        cmocka_unit_test(test_examples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
