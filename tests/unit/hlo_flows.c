/* What passes through tuples, loops, calls and asynchronous work; free values; combiners. */
#include "hlo/load.h"
#include "hlo/meaning/factors.h"
#include "hlo/module/flows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

static struct hlo_module *load(const char *text)
{
    struct hlo_module *m = NULL;
    struct err e;

    if (hlo_load_memory("test", text, strlen(text), NULL, &m, &e)) {
        err_print(&e, stderr);
        fail();
    }
    return m;
}

/* FROM[.LEAF]->TO[.LEAF], with ~ for a copy, in order, separated by blanks. */
static void add_value(const struct hlo_module *m, hlo_value v, struct str *out)
{
    hlo_id id = m->value_instruction[v];

    str_format(out, "%s", hlo_name(m, id));
    if (hlo_shape(m, id)->type == HLO_TUPLE)
        str_format(out, ":%u", hlo_value_leaf(m, v));
}

static void check(const struct hlo_module *m, const char *name, const char *expected)
{
    struct hlo_flows f = {0};
    struct str have = {0};
    struct err e;
    hlo_id id = hlo_find(m, name);

    assert_true(id != HLO_NONE);
    assert_int_equal(hlo_flows_of(m, id, &f, &e), 0);
    str_add(&have, "");
    for (size_t i = 0; i < f.count; i++) {
        str_add(&have, i ? " " : "");
        add_value(m, f.items[i].from, &have);
        str_add(&have, f.items[i].is_copy ? "~>" : "->");
        add_value(m, f.items[i].to, &have);
    }
    if (strcmp(have.text, expected) != 0)
        fail_msg("%s: %s\n  expected %s", name, have.text, expected);
    assert_true(hlo_is_flow(m, id) || !f.count);
    str_release(&have);
    hlo_flows_release(&f);
}

static void test_tuples(void **state)
{
    (void)state;
    struct hlo_module *m = load("ENTRY e {\n"
                                "  a = f32[2] parameter(0)\n"
                                "  b = (f32[3], (f32[4], f32[5])) parameter(1)\n"
                                "  t = ((f32[3], (f32[4], f32[5])), f32[2]) tuple(b, a)\n"
                                "  g = (f32[3], (f32[4], f32[5])) get-tuple-element(t), index=0\n"
                                "  h = (f32[4], f32[5]) get-tuple-element(g), index=1\n"
                                "  i = f32[5] get-tuple-element(h), index=1\n"
                                "  c = (f32[4], f32[5]) copy(h)\n"
                                "  o = (f32[4], f32[5]) opt-barrier(c)\n"
                                "  ROOT n = f32[5] negate(i)\n}\n");

    check(m, "t", "b:0->t:0 b:1->t:1 b:2->t:2 a->t:3");
    check(m, "g", "t:0->g:0 t:1->g:1 t:2->g:2");
    check(m, "h", "g:1->h:0 g:2->h:1");
    check(m, "i", "h:1->i");
    check(m, "c", "h:0~>c:0 h:1~>c:1");
    check(m, "o", "c:0->o:0 c:1->o:1");
    check(m, "n", "");
    assert_true(hlo_is_flow(m, hlo_find(m, "b")));
    assert_false(hlo_is_flow(m, hlo_find(m, "n")));
    hlo_free(m);
}

static void test_computations(void **state)
{
    (void)state;
    struct hlo_module *m = load("body {\n  s = (s32[], f32[4]) parameter(0)\n"
                                "  i = s32[] get-tuple-element(s), index=0\n"
                                "  x = f32[4] get-tuple-element(s), index=1\n"
                                "  ROOT r = (s32[], f32[4]) tuple(i, x)\n}\n"
                                "cond {\n  q = (s32[], f32[4]) parameter(0)\n"
                                "  ROOT z = pred[] constant(false)\n}\n"
                                "f {\n  u = f32[4] parameter(0)\n  v = f32[4] parameter(1)\n"
                                "  ROOT w = f32[4] add(u, v)\n}\n"
                                "one {\n  k = f32[4] parameter(0)\n  ROOT l = f32[4] negate(k)\n}\n"
                                "two {\n  j = f32[4] parameter(0)\n  ROOT y = f32[4] tanh(j)\n}\n"
                                "ENTRY e {\n  p = (s32[], f32[4]) parameter(0)\n"
                                "  a = f32[4] parameter(1)\n  b = f32[4] parameter(2)\n"
                                "  c = pred[] parameter(3)\n"
                                "  loop = (s32[], f32[4]) while(p), condition=cond, body=body\n"
                                "  call = f32[4] call(a, b), to_apply=f\n"
                                "  fusion = f32[4] fusion(b, a), kind=kLoop, calls=f\n"
                                "  ROOT if = f32[4] conditional(c, a, b), true_computation=one, "
                                "false_computation=two\n}\n");

    check(m, "loop",
          "p:0->s:0 p:1->s:1 r:0->s:0 r:1->s:1 s:0->q:0 s:1->q:1 s:0->loop:0 s:1->loop:1");
    check(m, "call", "a->u b->v w->call");
    check(m, "fusion", "b->u a->v w->fusion");
    check(m, "if", "a->k l->if b->j y->if");
    hlo_free(m);
}

static void test_asynchronous(void **state)
{
    (void)state;
    struct hlo_module *m = load(
        "f {\n  u = f32[4] parameter(0)\n  ROOT w = f32[4] negate(u)\n}\n"
        "ENTRY e {\n  a = f32[4] parameter(0)\n"
        "  s = ((f32[4]), f32[4], u32[]) async-start(a), calls=f\n"
        "  t = ((f32[4]), f32[4], u32[]) async-update(s)\n"
        "  d = f32[4] async-done(t)\n"
        "  cs = (f32[4], f32[4], u32[]) copy-start(d)\n"
        "  cd = f32[4] copy-done(cs)\n"
        "  gs = (f32[4], f32[8]) all-gather-start(cd), dimensions={0}, replica_groups={{0,1}}\n"
        "  gd = f32[8] all-gather-done(gs)\n"
        "  x = f32[8] custom-call(gd), custom_call_target=\"Sharding\"\n"
        "  y = f32[4] custom-call(x), custom_call_target=\"SPMDFullToShardShape\"\n"
        "  ROOT z = f32[4] custom-call(y), custom_call_target=\"other\"\n}\n");

    check(m, "s", "a->s:0 a->u w->s:1");
    check(m, "t", "s:0->t:0 s:1->t:1 s:2->t:2");
    check(m, "d", "t:1->d");
    check(m, "cs", "d~>cs:0 d->cs:1");
    check(m, "cd", "cs:0->cd");
    check(m, "gs", "cd->gs:0");
    check(m, "gd", "gs:1->gd");
    check(m, "x", "gd->x");
    check(m, "y", ""); /* a manual region begins: another array */
    check(m, "z", "");
    assert_false(hlo_is_flow(m, hlo_find(m, "y")));
    hlo_free(m);
}

static void test_free_values(void **state)
{
    (void)state;
    static const char free_names[] = " zero fill iota shifted mask tup.0 got of_scalar looked ";
    struct hlo_module *m =
        load("ENTRY e {\n  p = f32[4] parameter(0)\n  s = f32[] parameter(1)\n"
             "  k = s32[] parameter(2)\n"
             "  zero = f32[] constant(0)\n"
             "  fill = f32[4] broadcast(zero), dimensions={}\n"
             "  iota = s32[4] iota(), iota_dimension=0\n"
             "  shifted = s32[4] add(iota, iota)\n"
             "  mask = pred[4] compare(shifted, iota), direction=LT\n"
             "  chosen = f32[4] select(mask, fill, p)\n"
             "  tup = (f32[4], f32[4]) tuple(fill, p)\n"
             "  got = f32[4] get-tuple-element(tup), index=0\n"
             "  not_got = f32[4] get-tuple-element(tup), index=1\n"
             "  of_scalar = f32[4] broadcast(s), dimensions={}\n"
             "  looked = s32[2] dynamic-slice(iota, k), dynamic_slice_sizes={2}\n"
             "  noise = f32[4] rng(zero, s), distribution=rng_uniform\n"
             "  call = f32[4] custom-call(fill), custom_call_target=\"x\"\n"
             "  ROOT r = f32[4] add(chosen, p)\n}\n");
    bool *is_free = mem_alloc(m->value_count);

    assert_int_equal(hlo_free_values(m, is_free, &(struct err){0}), 0);
    for (hlo_value v = 0; v < m->value_count; v++) {
        char name[64];
        hlo_id id = m->value_instruction[v];
        bool is_tuple = hlo_shape(m, id)->type == HLO_TUPLE;
        snprintf(name, sizeof name, is_tuple ? " %s.%u " : " %s ", hlo_name(m, id),
                 hlo_value_leaf(m, v));
        if (is_free[v] != (strstr(free_names, name) != NULL))
            fail_msg("%s free: %d", name, is_free[v]);
    }
    free(is_free);
    hlo_free(m);
}

/* Three loops in each other: what the outermost begins with reaches the innermost, and comes back.
 */
static bool *free_in_loops(const char *begin, struct hlo_module **m)
{
    static const char inside[] =
        "c {\n  a = (s32[], f32[4]) parameter(0)\n  i = s32[] get-tuple-element(a), index=0\n"
        "  n = s32[] constant(5)\n  ROOT l = pred[] compare(i, n), direction=LT\n}\n"
        "b0 {\n  a = (s32[], f32[4]) parameter(0)\n  i = s32[] get-tuple-element(a), index=0\n"
        "  x = f32[4] get-tuple-element(a), index=1\n  y = f32[4] add(x, x)\n"
        "  ROOT r = (s32[], f32[4]) tuple(i, y)\n}\n"
        "b1 {\n  a = (s32[], f32[4]) parameter(0)\n"
        "  ROOT w = (s32[], f32[4]) while(a), condition=c, body=b0\n}\n"
        "b2 {\n  a = (s32[], f32[4]) parameter(0)\n"
        "  ROOT w = (s32[], f32[4]) while(a), condition=c, body=b1\n}\n"
        "ENTRY e {\n  p = f32[4] parameter(0)\n  z = s32[] constant(0)\n"
        "  f = f32[] constant(1)\n  q = f32[4] broadcast(f), dimensions={}\n";
    struct str text = {0};

    str_format(&text,
               "%s  t = (s32[], f32[4]) tuple(z, %s)\n"
               "  ROOT w = (s32[], f32[4]) while(t), condition=c, body=b2\n}\n",
               inside, begin);
    *m = load(text.text);
    bool *is_free = mem_alloc((*m)->value_count);
    assert_int_equal(hlo_free_values(*m, is_free, &(struct err){0}), 0);
    str_release(&text);
    return is_free;
}

static void test_free_through_loops_in_loops(void **state)
{
    (void)state;
    struct hlo_module *m;
    bool *is_free = free_in_loops("p", &m);

    for (hlo_value v = 0; v < m->value_count; v++) {
        bool is_made = !strcmp(hlo_name(m, m->value_instruction[v]), "q");
        if (hlo_value_shape(m, v)->rank && is_free[v] != is_made)
            fail_msg("%s is free: %d", hlo_name(m, m->value_instruction[v]), is_free[v]);
    }
    free(is_free);
    hlo_free(m);
    is_free = free_in_loops("q", &m);
    for (hlo_value v = 0; v < m->value_count; v++) {
        bool is_given = !strcmp(hlo_name(m, m->value_instruction[v]), "p");
        if (hlo_value_shape(m, v)->rank && is_free[v] == is_given)
            fail_msg("%s is free: %d", hlo_name(m, m->value_instruction[v]), is_free[v]);
    }
    free(is_free);
    hlo_free(m);
}

/* Bits drawn from a key in a loop, glued together and cut to shape: free, and whole up to there. */
static const char DRAWN[] =
    "body {\n  b = (s32[], u32[8], f32[4]) parameter(0)\n"
    "  i = s32[] get-tuple-element(b), index=0\n  x = u32[8] get-tuple-element(b), index=1\n"
    "  w = f32[4] get-tuple-element(b), index=2\n  one = s32[] constant(1)\n"
    "  j = s32[] add(i, one)\n  y = u32[8] xor(x, x)\n"
    "  ROOT bt = (s32[], u32[8], f32[4]) tuple(j, y, w)\n}\n"
    "cond {\n  c = (s32[], u32[8], f32[4]) parameter(0)\n"
    "  k = s32[] get-tuple-element(c), index=0\n  n = s32[] constant(5)\n"
    "  ROOT lt = pred[] compare(k, n), direction=LT\n}\n"
    "ENTRY e {\n  key = u32[2] parameter(0)\n  p = f32[4] parameter(1)\n"
    "  ids = s32[4] parameter(2)\n  zero = s32[] constant(0)\n"
    "  word = u32[1] slice(key), slice={[0:1]}\n  bit = u32[] reshape(word)\n"
    "  spread = u32[8] broadcast(bit), dimensions={}\n"
    "  init = (s32[], u32[8], f32[4]) tuple(zero, spread, p)\n"
    "  loop = (s32[], u32[8], f32[4]) while(init), condition=cond, body=body\n"
    "  half = u32[8] get-tuple-element(loop), index=1\n"
    "  rest = f32[4] get-tuple-element(loop), index=2\n"
    "  bits = u32[16] concatenate(half, half), dimensions={0}\n"
    "  mask = u32[4,4] reshape(bits)\n  noise = f32[4,4] convert(mask)\n"
    "  wide = f32[4,4] broadcast(rest), dimensions={1}\n"
    "  ROOT r = f32[4,4] multiply(wide, noise)\n}\n";

static bool is_named(const char *list, const char *name)
{
    char word[64];

    snprintf(word, sizeof word, " %s ", name);
    return strstr(list, word) != NULL;
}

static void test_random_bits_are_free(void **state)
{
    (void)state;
    struct hlo_module *m = load(DRAWN);
    bool *is_free = mem_alloc(m->value_count), *is_whole = mem_alloc(m->value_count);
    struct err e;

    assert_int_equal(hlo_free_values(m, is_free, &e), 0);
    assert_int_equal(hlo_whole_values(m, is_free, is_whole, &e), 0);
    for (hlo_id id = 0; id < m->count; id++) {
        const char *name = hlo_name(m, id);
        if (hlo_shape(m, id)->type == HLO_TUPLE || !hlo_shape(m, id)->rank)
            continue;
        bool free_one = is_free[m->leaf_base[id]], whole = is_whole[m->leaf_base[id]];
        if (free_one != is_named(" key word spread x y half bits mask noise ", name))
            fail_msg("%s free: %d", name, free_one);
        if (whole != is_named(" key spread x y half bits ", name))
            fail_msg("%s whole: %d", name, whole);
    }
    free(is_free);
    free(is_whole);
    hlo_free(m);
}

static void test_combiners(void **state)
{
    (void)state;
    static const struct {
        const char *type, *body;
        enum hlo_combiner expected;
    } cases[] = {
        {"f32", "add(x, y)", HLO_COMBINE_ADD},       {"f32", "add(y, x)", HLO_COMBINE_ADD},
        {"f32", "multiply(x, y)", HLO_COMBINE_MUL},  {"s32", "maximum(x, y)", HLO_COMBINE_MAX},
        {"f32", "minimum(x, y)", HLO_COMBINE_MIN},   {"s32", "and(x, y)", HLO_COMBINE_AND},
        {"pred", "or(x, y)", HLO_COMBINE_OR},        {"pred", "add(x, y)", HLO_COMBINE_OR},
        {"pred", "multiply(x, y)", HLO_COMBINE_AND}, {"pred", "maximum(x, y)", HLO_COMBINE_OR},
        {"f32", "add(x, x)", HLO_COMBINE_NONE},      {"f32", "subtract(x, y)", HLO_COMBINE_NONE},
        {"s32", "xor(x, y)", HLO_COMBINE_NONE},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[256];
        const char *t = cases[i].type;
        snprintf(
            text, sizeof text,
            "ENTRY e {\n x = %s[] parameter(0)\n y = %s[] parameter(1)\n ROOT z = %s[] %s\n}\n", t,
            t, t, cases[i].body);
        struct hlo_module *m = load(text);
        if (hlo_combiner_of(m, m->entry) != cases[i].expected)
            fail_msg("%s %s", t, cases[i].body);
        hlo_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tuples),
        cmocka_unit_test(test_computations),
        cmocka_unit_test(test_asynchronous),
        cmocka_unit_test(test_free_values),
        cmocka_unit_test(test_free_through_loops_in_loops),
        cmocka_unit_test(test_random_bits_are_free),
        cmocka_unit_test(test_combiners),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
