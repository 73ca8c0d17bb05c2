/* A part of a module as a module of its own: what its instructions are called. */
#include "hlo/load.h"
#include "hlo/meaning/extract.h"
#include "hlo/meaning/factors.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/support/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Both weights come as one tuple; names that a part might give are taken. */
static const char text[] =
    "HloModule m\nENTRY e {\n  p = (f32[4,4], f32[4,4]) parameter(0)\n"
    "  p.leaf1 = f32[4,4] parameter(1)\n"
    "  w = f32[4,4] get-tuple-element(p), index=0\n  v = f32[4,4] get-tuple-element(p), index=1\n"
    "  p.leaf0.whole = f32[4,4] negate(w)\n"
    "  a = f32[4,4] add(p.leaf0.whole, v)\n  ROOT b = f32[4,4] multiply(a, p.leaf1)\n}\n";

static void every_input_and_copy_has_its_name(void **state)
{
    struct hlo_module *m = NULL, *made = NULL;
    hlo_value *of = NULL, input[3];
    struct err e = {0};

    (void)state;
    if (hlo_load_memory("test", text, strlen(text), NULL, &m, &e))
        fail_msg("%s", e.what);
    bool *is_kept = mem_alloc(m->count), *is_free = mem_alloc(m->value_count),
         *is_copied = mem_alloc(m->value_count);
    memset(is_kept, 0, m->count);
    memset(is_free, 0, m->value_count);
    memset(is_copied, 0, m->value_count);
    hlo_id p = hlo_find(m, "p");
    input[0] = m->leaf_base[p];
    input[1] = m->leaf_base[p] + 1;
    input[2] = m->leaf_base[hlo_find(m, "p.leaf1")];
    for (int n = 0; n < 3; n++)
        is_copied[input[n]] = true;
    is_kept[hlo_find(m, "p.leaf0.whole")] = is_kept[hlo_find(m, "a")] = true;
    is_kept[hlo_find(m, "b")] = true;
    hlo_value output = m->leaf_base[hlo_find(m, "b")];
    struct hlo_part part = {.name = "part",
                            .is_kept = is_kept,
                            .input = input,
                            .inputs = 3,
                            .is_copied = is_copied,
                            .output = &output,
                            .outputs = 1,
                            .is_free = is_free,
                            .cut = 1};
    if (hlo_extract(m, &part, &made, &of, &e))
        fail_msg("%s", e.what);
    static const char *const names[] = {
        "p.leaf0",       "p.leaf0.whole.2", "p.leaf1.2", "p.leaf1", "p.leaf1.2.whole",
        "p.leaf1.whole", "p.leaf0.whole",   "a",         "b"};
    for (size_t n = 0; n < sizeof names / sizeof *names; n++)
        assert_int_not_equal(hlo_find(made, names[n]), HLO_NONE);
    hlo_id negate = hlo_find(made, "p.leaf0.whole");
    assert_int_equal(hlo_operand(made, negate, 0), hlo_find(made, "p.leaf0.whole.2"));
    free(of);
    free(is_kept);
    free(is_free);
    free(is_copied);
    hlo_free(made);
    hlo_free(m);
}

/* A loop of three trips over the batch, a branch and a sum: taken out for a third of the batch. */
static const char held[] =
    "HloModule m\n"
    "add {\n  l = f32[] parameter(0)\n  r = f32[] parameter(1)\n  ROOT s = f32[] add(l, r)\n}\n"
    "body {\n  b = (s32[], f32[6,4], f32[4]) parameter(0)\n"
    "  i = s32[] get-tuple-element(b), index=0\n  one = s32[] constant(1)\n"
    "  j = s32[] add(i, one)\n  x = f32[6,4] get-tuple-element(b), index=1\n"
    "  c1 = f32[] constant(1)\n  ones = f32[6,4] broadcast(c1), dimensions={}\n  y = f32[6,4] "
    "add(x, ones)\n"
    "  z = f32[4] get-tuple-element(b), index=2\n"
    "  ROOT bt = (s32[], f32[6,4], f32[4]) tuple(j, y, z)\n}\n"
    "until {\n  u = (s32[], f32[6,4], f32[4]) parameter(0)\n"
    "  k = s32[] get-tuple-element(u), index=0\n  most = s32[] constant(3)\n"
    "  ROOT less = pred[] compare(k, most), direction=LT\n}\n"
    "yes {\n  yp = f32[6,4] parameter(0)\n  ROOT yn = f32[6,4] negate(yp)\n}\n"
    "no {\n  ROOT np = f32[6,4] parameter(0)\n}\n"
    "ENTRY e {\n  p = f32[6,4] parameter(0)\n  q = f32[4] parameter(1)\n"
    "  if = pred[] parameter(2)\n  from = s32[] constant(0)\n"
    "  t = (s32[], f32[6,4], f32[4]) tuple(from, p, q)\n"
    "  w = (s32[], f32[6,4], f32[4]) while(t), condition=until, body=body\n"
    "  got = f32[6,4] get-tuple-element(w), index=1\n"
    "  c = f32[6,4] conditional(if, got, got), true_computation=yes, false_computation=no\n"
    "  zero = f32[] constant(0)\n"
    "  ROOT sum = f32[4] reduce(c, zero), dimensions={0}, to_apply=add\n}\n";

static bool cuts_six(const void *context, hlo_value v, uint32_t dim)
{
    const struct hlo_module *m = context;

    return hlo_value_shape(m, v)->dims[dim] == 6;
}

static void loops_and_branches_come_whole(void **state)
{
    struct hlo_module *m = NULL, *made = NULL;
    struct err e = {0};

    (void)state;
    if (hlo_load_memory("test", held, strlen(held), NULL, &m, &e))
        fail_msg("%s", e.what);
    bool *is_kept = mem_alloc(m->count), *is_free = mem_alloc(m->value_count);
    memset(is_kept, 0, m->count);
    if (hlo_free_values(m, is_free, &e))
        fail_msg("%s", e.what);
    hlo_value input[] = {m->leaf_base[hlo_find(m, "p")], m->leaf_base[hlo_find(m, "q")],
                         m->leaf_base[hlo_find(m, "if")]},
              output = m->leaf_base[hlo_find(m, "sum")], *of = NULL;
    is_kept[hlo_find(m, "w")] = is_kept[hlo_find(m, "c")] = is_kept[hlo_find(m, "sum")] = true;
    struct hlo_part part = {.name = "part",
                            .is_kept = is_kept,
                            .input = input,
                            .inputs = 3,
                            .output = &output,
                            .outputs = 1,
                            .is_free = is_free,
                            .cut = 3,
                            .is_cut = cuts_six,
                            .context = m};
    if (hlo_extract(m, &part, &made, &of, &e))
        fail_msg("%s", e.what);
    hlo_id w = hlo_find(made, "w"), y = hlo_find(made, "y"), root;
    assert_int_equal(hlo_at(made, w)->opcode, HLO_OP_WHILE);
    assert_int_equal(hlo_shape(made, w)->leaf_count, 3);
    root = made->computations[hlo_called(made, w, 0)].root;
    assert_int_equal(hlo_shape(made, root)->leaf_count, 3);
    /* a third of the batch everywhere, in what is made from nothing too; the rest as it was */
    assert_int_equal(hlo_value_shape(made, made->leaf_base[w] + 1)->dims[0], 2);
    assert_int_equal(hlo_value_shape(made, made->leaf_base[w] + 2)->dims[0], 4);
    assert_int_equal(hlo_shape(made, y)->dims[0], 2);
    assert_int_equal(hlo_shape(made, hlo_operand(made, y, 1))->dims[0], 2);
    assert_int_equal(hlo_shape(made, hlo_find(made, "yn"))->dims[0], 2);
    assert_int_equal(hlo_trip_count(made, w), 3);
    /* what it stands for: inside too, but not in a reducer */
    assert_int_equal(of[y], m->leaf_base[hlo_find(m, "y")]);
    assert_int_equal(of[root], m->leaf_base[hlo_find(m, "bt")]);
    assert_int_equal(of[hlo_find(made, "s")], HLO_NONE);
    free(of);
    of = NULL;
    hlo_free(made);

    /* `from` is free: what a loop carries so is whole, wherever it is read */
    is_free[m->leaf_base[hlo_find(m, "w")] + 1] = true;
    assert_int_equal(hlo_extract(m, &part, &made, &of, &e), ERR_INPUT);
    assert_non_null(strstr(e.what, "in another size"));
    free(is_kept);
    free(is_free);
    hlo_free(m);
}

/* Random bits are of every row and of every column, a position of the column alone. */
static const char samples[] =
    "HloModule m\n"
    "ENTRY e {\n  key = u32[2] parameter(0)\n  p = f32[6,4] parameter(1)\n"
    "  first = u32[1] slice(key), slice={[0:1]}\n  word = u32[] reshape(first)\n"
    "  words = u32[6,4] broadcast(word), dimensions={}\n"
    "  row = u32[6,4] iota(), iota_dimension=0\n  bits = u32[6,4] xor(words, row)\n"
    "  column = u32[6,4] iota(), iota_dimension=1\n  same = u32[6,4] xor(words, column)\n"
    "  more = f32[6,4] convert(same)\n  nine = u32[] constant(9)\n"
    "  nines = u32[6,4] broadcast(nine), dimensions={}\n"
    "  keep = pred[6,4] compare(bits, nines), direction=LT\n"
    "  own = f32[6] constant({1, 2, 3, 4, 5, 6})\n"
    "  owns = f32[6,4] broadcast(own), dimensions={0}\n"
    "  x = f32[6,4] add(p, more)\n  y = f32[6,4] select(keep, x, p)\n"
    "  ROOT z = f32[6,4] multiply(y, owns)\n}\n";

/* What is kept, of a third of the samples, from one input to one output. */
static struct hlo_part third_of(struct hlo_module *m, const bool *is_kept, const bool *is_free,
                                const hlo_value *input, const hlo_value *output)
{
    return (struct hlo_part){.name = "part",
                             .is_kept = is_kept,
                             .input = input,
                             .inputs = 1,
                             .output = output,
                             .outputs = 1,
                             .is_free = is_free,
                             .cut = 3,
                             .is_cut = cuts_six,
                             .context = m};
}

static void what_every_sample_has_of_its_own_comes_in(void **state)
{
    static const char *const kept[] = {"x", "y", "z"}, *const apart[] = {"keep", "owns"};
    struct hlo_module *m = NULL, *made = NULL;
    struct err e = {0};

    (void)state;
    if (hlo_load_memory("test", samples, strlen(samples), NULL, &m, &e))
        fail_msg("%s", e.what);
    bool *is_kept = mem_alloc(m->count), *is_free = mem_alloc(m->value_count);
    uint64_t *cut = mem_alloc(m->value_count * sizeof *cut);
    memset(is_kept, 0, m->count);
    if (hlo_free_values(m, is_free, &e))
        fail_msg("%s", e.what);
    for (int n = 0; n < 3; n++)
        is_kept[hlo_find(m, kept[n])] = true;
    hlo_value input[] = {m->leaf_base[hlo_find(m, "p")], m->leaf_base[hlo_find(m, "keep")],
                         m->leaf_base[hlo_find(m, "owns")], m->leaf_base[hlo_find(m, "key")]},
              output = m->leaf_base[hlo_find(m, "z")], *of = NULL;
    const uint64_t input_cut[] = {0, 1, 1, 0};
    struct hlo_part part = third_of(m, is_kept, is_free, input, &output);
    if (hlo_extract_parts(m, &part, cut, &e))
        fail_msg("%s", e.what);
    for (hlo_value v = 0; v < m->value_count; v++) {
        bool is_apart = false;
        for (int n = 0; n < 2; n++)
            is_apart |= v == m->leaf_base[hlo_find(m, apart[n])];
        assert_int_equal(cut[v], is_apart);
    }
    /* made here they would be those of the first part */
    assert_int_equal(hlo_extract(m, &part, &made, &of, &e), ERR_INPUT);
    assert_non_null(strstr(e.what, "another for every sample"));

    part.inputs = 4;
    part.input_cut = input_cut;
    if (hlo_extract(m, &part, &made, &of, &e))
        fail_msg("%s", e.what);
    hlo_id keep = hlo_find(made, "keep");
    assert_int_equal(hlo_at(made, keep)->opcode, HLO_OP_PARAMETER);
    assert_int_equal(hlo_shape(made, keep)->dims[0], 2);
    assert_int_equal(hlo_shape(made, hlo_find(made, "more"))->dims[0], 2);
    assert_int_equal(hlo_find(made, "bits"), HLO_NONE);
    free(of);
    free(cut);
    free(is_kept);
    free(is_free);
    hlo_free(made);
    hlo_free(m);
}

/* As many dims as an array may have: constants of one for each sample come in all the same. */
static void samples_of_many_dims(void **state)
{
    struct str shape = {0}, all = {0};
    struct hlo_module *m = NULL;
    struct err e = {0};

    (void)state;
    str_add(&shape, "f32[6");
    for (int n = 1; n < HLO_RANK_MAX; n++)
        str_add(&shape, ",1");
    str_format(&all,
               "HloModule m\nENTRY e {\n  p = %s] parameter(0)\n  own = %s] constant({...})\n"
               "  ROOT z = %s] multiply(p, own)\n}\n",
               shape.text, shape.text, shape.text);
    if (hlo_load_memory("test", all.text, all.size, NULL, &m, &e))
        fail_msg("%s", e.what);
    bool is_kept[] = {false, false, true}, is_free[] = {false, true, false};
    uint64_t cut[3];
    hlo_value input = m->leaf_base[hlo_find(m, "p")], output = m->leaf_base[hlo_find(m, "z")];
    struct hlo_part part = third_of(m, is_kept, is_free, &input, &output);
    if (hlo_extract_parts(m, &part, cut, &e))
        fail_msg("%s", e.what);
    assert_int_equal(cut[hlo_find(m, "own")], 1);
    assert_int_equal(cut[hlo_find(m, "p")], 0);
    hlo_free(m);
    str_release(&shape);
    str_release(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_input_and_copy_has_its_name),
                                       cmocka_unit_test(loops_and_branches_come_whole),
                                       cmocka_unit_test(what_every_sample_has_of_its_own_comes_in),
                                       cmocka_unit_test(samples_of_many_dims)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
