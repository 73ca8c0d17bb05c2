/* Rules of custom-calls: what they match, split and cost. Shapes and configurations are those that
 * jax 0.10.2 lowers to. */
#include "engine/kernels/kernel_rules.h"
#include "engine/kernels/kernel_targets.h"
#include "engine/kernels/kernel_text.h"
#include "example.h"
#include "hlo/meaning/factors.h"
#include "hlo/meaning/kernels.h"

#include <math.h>
#include <unistd.h>

static const char calls[] =
    "HloModule kernels\n"
    "ENTRY main {\n"
    "  q = bf16[4,256,16,64] parameter(0)\n  k = bf16[4,512,4,64] parameter(1)\n"
    "  v = bf16[4,512,4,32] parameter(2)\n  m = f32[3,5,64,64] parameter(3)\n"
    "  x = f32[8,128] parameter(4)\n  h = f32[2,16,128,64] parameter(5)\n"
    "  attention = (bf16[4,16,256,32], u8[0]) custom-call(q, k, v), "
    "custom_call_target=\"__cudnn$fmhaSoftmax\", backend_config={\"cudnn_fmha_backend_config\":"
    "{\"mask_type\":\"NO_MASK\",\"algorithm\":{\"algo_id\":\"0\"}}}\n"
    "  causal = (bf16[4,16,256,32], f32[4,16,256], u8[0]) custom-call(q, k, v), "
    "custom_call_target=\"__cudnn$fmhaSoftmax\", backend_config={\"algo\":[1,{\"a\":2}],"
    "\"cudnn_fmha_backend_config\":{\"mask_type\":\"CAUSAL\"}}\n"
    "  cholesky = (f32[3,5,64,64], s32[3,5]) custom-call(m), "
    "custom_call_target=\"lapack_spotrf_ffi\"\n"
    "  flash = f32[2,16,128,64] custom-call(h, h, h), custom_call_target=\"tpu_custom_call\", "
    "metadata={op_name=\"jit(f)/flash_attention\"}\n"
    "  other = f32[2,16,128,64] custom-call(h, h, h), custom_call_target=\"tpu_custom_call\", "
    "metadata={op_name=\"jit(f)/mine\"}\n"
    "  mine = f32[8,128] custom-call(x), custom_call_target=\"my_kernel's\"\n"
    "  ROOT t = ((bf16[4,16,256,32], u8[0]), (bf16[4,16,256,32], f32[4,16,256], u8[0]), "
    "(f32[3,5,64,64], s32[3,5]), f32[2,16,128,64], f32[2,16,128,64], f32[8,128]) tuple(attention, "
    "causal, cholesky, flash, other, mine)\n}\n";

static struct hlo_module *load(const char *rules)
{
    struct kernel_rules *read = NULL;
    struct hlo_module *m = NULL;
    struct err e = {0};

    if (hlo_load_memory("test", calls, strlen(calls), NULL, &m, &e) ||
        kernel_rules_read(rules, &read, &e) || kernel_rules_apply(read, m, &e))
        fail_msg("%s", e.what);
    kernel_rules_free(read);
    return m;
}

/* Sizes of the factors of `name`, in order, and whether any leaves partial sums. */
static void expect_factors(const struct hlo_module *m, const char *name, const int64_t *sizes,
                           uint32_t count)
{
    struct hlo_factors f = {0};
    struct err e;

    assert_int_equal(hlo_factors_of(m, hlo_find(m, name), &f, &e), 0);
    if (f.count != count)
        fail_msg("%s: %u factors of %u", name, f.count, count);
    for (uint32_t k = 0; k < count; k++)
        assert_int_equal(f.items[k].size, sizes[k]);
    hlo_factors_release(&f);
}

static double flops(const struct hlo_module *m, const char *name)
{
    const struct hlo_kernel *k = hlo_kernel_of(m, hlo_find(m, name));

    return k ? k->flops : -1;
}

static void test_builtin(void **state)
{
    struct hlo_module *m = load(NULL);
    const double work = 2.0 * 4 * 16 * 256 * 512 * (64 + 32);

    (void)state;
    /* batch; query positions, where no mask counts them; 4 groups of heads, 16 heads with them */
    expect_factors(m, "attention", (int64_t[]){4, 256, 4}, 3);
    expect_factors(m, "causal", (int64_t[]){4, 4}, 2);
    expect_factors(m, "cholesky", (int64_t[]){3, 5}, 2);
    expect_factors(m, "flash", (int64_t[]){2, 16}, 2);
    expect_factors(m, "mine", NULL, 0);
    assert_true(flops(m, "attention") == work);
    assert_true(flops(m, "causal") == work / 2);
    assert_true(fabs(flops(m, "cholesky") - 15 * 64.0 * 64 * 64 / 3) < 1);
    assert_true(flops(m, "flash") == 4.0 * 2 * 16 * 128 * 128 * 64);
    assert_true(flops(m, "other") < 0);
    assert_true(kernel_is_unknown(m, hlo_find(m, "mine")) &&
                kernel_is_unknown(m, hlo_find(m, "other")));
    assert_false(kernel_is_unknown(m, hlo_find(m, "attention")));
    const struct hlo_kernel *k = hlo_kernel_of(m, hlo_find(m, "attention"));
    assert_true(hlo_kernel_reach_on(k, "a100-80") == 0.7 && hlo_kernel_reach_on(k, "tpu") == 0.5);
    hlo_free(m);
}

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

#define RULE "kernels:\n  - target: nobody\n    dims: a b -> a b\n"

static const struct {
    const char *text, *what;
    uint32_t line;
} wrong[] = {
    {"kernels:\n  - target: a\n", "without dims", 2},
    {"kernels:\n  - target: a\n    like: sum\n", "like: sum, expected dot", 3},
    {"kernels:\n  - target: a\n    like: dot\n", "without numbers", 3},
    {"kernels:\n  - target: a\n    like: convolution\n    numbers: here\n", "expected config.PATH",
     4},
    {RULE "    like: convolution\n", "like beside dims", 4},
    {RULE "    effect: magic\n", "effect: magic, expected identity", 4},
    {RULE "    inplace: {0: x}\n", "expected a result and the operand", 4},
    {RULE "    workspace: lots\n", "lots, expected a number", 4},
    {RULE "    partial: {a..: add}\n", "partial: a.., expected an index", 4},
    {"attention: {forward: 2}\n", "a reach of 2", 1},
    {"attention:\n  forward: {a100: 0.7}\n", "has no default", 2},
    {"attention: {sideways: 0.5}\n", "unknown key sideways", 1},
    {"kernels:\n  - target: a\n    dims: 'a b'\n", "without ->", 3},
    {"kernels:\n  - target: a\n    dims: a -> a\n    flips: 1\n", "unknown key", 4},
    {"kernels:\n  - target: my_kernel\n    dims: a b -> a b\n    flops: a *\n", "expected a num",
     4},
    {"kernels:\n  - target: my_kernel\n    dims: a b -> a b\n    reach: [0.5]\n", "a list", 4},
    {"kernels:\n  - target: my_kernel\n    dims: a b -> a b\n    let: {x: "
     "'y+y+y+y+y+y+y+y+y+y', "
     "y: 'z+z+z+z+z+z+z+z+z+z', z: 'u+u+u+u+u+u+u+u+u+u', u: 'v+v+v+v+v+v+v+v+v+v', v: a}\n"
     "    flops: x\n",
     "too many others", 4},
    {"kernels:\n  - target: my_kernel\n    dims: a b -> a b\n    reach: 2\n", "a reach of 2", 4},
    {"rules: []\n", "expected a list kernels", 1},
    /* of rules that no instruction here meets */
    {RULE "    partial: {b: sum}\n", "partial: sum, expected add, maximum or minimum", 4},
    {RULE "    partial: {c: add}\n", "partial: c, expected an index", 4},
    {RULE "    when: {operand: 3}\n", "when: unknown key operand", 4},
    {RULE "    when: {operands: three}\n", "operands: three, expected a number", 4},
    {RULE "    when: {results: 3.}\n", "results: 3., expected a number", 4},
    {RULE "    whole: [c]\n", "whole: c, expected an index", 4},
    {RULE "    whole: ['a if mask']\n", "mask, expected a number", 4},
    {RULE "    sizes: {a: c * r}\n", "sizes: c * r, expected an index", 4},
    {RULE "    flops: 2 * rows\n", "rows, expected a number", 4},
    {RULE "    flops: many\n", "many, expected a number", 4},
    {RULE "    flops: 'masked ? a : b'\n", "masked, expected a number", 4},
    {RULE "    bytes: a < few\n", "few, expected a number", 4},
    {RULE "    let: {n: a *}\n", "expected a number", 4},
    {RULE "    flops: a * n\n    let: {m: 1, n: b +}\n", "expected a number", 5},
    {RULE "    flops: n\n    let: {m: n, n: m}\n", "is said by itself", 5},
    {RULE "    flops: product(a)\n", "expected bytes(), elements() or product()", 4},
    {RULE "    reach: {a100: fast}\n", "a reach of fast", 4},
    {"kernels:\n  - target: t\n    dims: a very_long_name_of -> a\n", "at most 12 letters", 3},
};

/* A file's rules come first; the rule to start from is one. */
static void test_file(void **state)
{
    char path[64];
    struct str text = {0};

    (void)state;
    snprintf(path, sizeof path, "/tmp/automap-kernels-%ld.yaml", (long)getpid());
    write_file(path, "kernels:\n  - target: my_*\n    dims: rows cols -> rows cols\n"
                     "    whole: [cols]\n    let: {twice: 2 * rows}\n    flops: twice * cols\n"
                     "    reach: 0.5\n");
    struct hlo_module *m = load(path);
    expect_factors(m, "mine", (int64_t[]){8}, 1);
    assert_true(flops(m, "mine") == 2.0 * 8 * 128);
    assert_true(flops(m, "causal") > 0);
    kernel_rule_write(m, hlo_find(m, "mine"), &text);
    hlo_free(m);
    write_file(path, text.text);
    m = load(path);
    assert_false(kernel_is_unknown(m, hlo_find(m, "mine")));
    hlo_free(m);
    str_release(&text);
    unlink(path);
}

/* What is wrong in a file has its place. */
static void test_wrong_file(void **state)
{
    char path[64];

    (void)state;
    snprintf(path, sizeof path, "/tmp/automap-kernels-%ld.yaml", (long)getpid());
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        struct kernel_rules *rules;
        struct err e = {0};
        write_file(path, wrong[k].text);
        assert_int_not_equal(kernel_rules_read(path, &rules, &e), 0);
        if (!strstr(e.what, wrong[k].what) || e.line != wrong[k].line)
            fail_msg("%s at %u, expected %s at %u", e.what, e.line, wrong[k].what, wrong[k].line);
    }
    unlink(path);
}

/* Names of leaves that are not there are 0, and so are words of the module's configuration. */
static void test_absent(void **state)
{
    char path[64];

    (void)state;
    snprintf(path, sizeof path, "/tmp/automap-kernels-%ld.yaml", (long)getpid());
    write_file(path, "kernels:\n  - target: my_*\n    dims: a b, c d? -> a b\n"
                     "    partial: {c: maximum}\n    flops: a * (c + 2) + (d ?? 5)\n");
    struct hlo_module *m = load(path);
    assert_true(flops(m, "mine") == 8 * 2 + 5);
    hlo_free(m);
    write_file(path, "kernels:\n  - target: __cudnn*\n    dims: 'b q h d, _, _ -> _, _, _?'\n"
                     "    flops: 'b + config.cudnn_fmha_backend_config.mask_type'\n");
    m = load(path);
    assert_true(flops(m, "causal") == 4);
    hlo_free(m);
    unlink(path);
}

/* A problem made of another has its rules and its table, whatever has become of the files. */
static void test_derived(void **state)
{
    struct problem *p = mem_alloc(sizeof *p), *derived = mem_alloc(sizeof *derived);
    const struct problem_change nothing = {.batch_param = BATCH_AS_FOUND};
    struct problem_options o = {0};
    struct hlo_module *m = NULL;
    char rules[64], table[64];
    struct err e = {0};

    (void)state;
    snprintf(rules, sizeof rules, "/tmp/automap-kernels-%ld.yaml", (long)getpid());
    snprintf(table, sizeof table, "/tmp/automap-table-%ld.yaml", (long)getpid());
    write_file(rules, "kernels:\n  - target: my_*\n    dims: a b -> a b\n    flops: 7 * a\n");
    write_file(table, "partitioner: mine\nversion: '1'\nrows:\n"
                      "  - target: my_*\n    does: runs whole\n    why: is mine\n");
    o.kernels = rules;
    o.partitioner = table;
    assert_int_equal(hlo_load_memory("test", calls, strlen(calls), NULL, &m, &e), 0);
    make_problem(m, NULL, 4, &o, p);
    write_file(rules, "kernels: nothing\n");
    unlink(table);
    assert_int_equal(problem_derive(p, &nothing, derived, &e), 0);
    hlo_id id = hlo_find(derived->m, "mine");
    assert_true(hlo_kernel_of(derived->m, id)->flops == 7 * 8);
    assert_string_equal(partitioner_runs_whole(derived->partitioner, derived->m, id), "is mine");
    problem_release(derived);
    assert_string_equal(p->partitioner->name, "mine");
    problem_release(p);
    unlink(rules);
    free(p);
    free(derived);
}

/* A kernel with a rule splits with what is around it, and costs its flops at its reach. */
static void test_cost(void **state)
{
    struct problem *p = mem_alloc(sizeof *p);

    (void)state;
    load_text(calls, NULL, p);
    hlo_id id = hlo_find(p->m, "causal");
    label *on = mem_try((size_t)p->classes.count + 1, sizeof *on);
    struct instruction_cost c = step_tables_instruction(&p->step_tables, id, on);
    assert_true(c.flops == 4.0 * 16 * 256 * 512 * 96);
    double ms = c.flops / (cluster_peak(&p->step_tables.device, PEAK_BF16) * 0.5) * 1e3;
    assert_true(c.compute_ms >= ms);
    class_id batch = p->classes.class_of[class_dim(&p->classes, p->m->leaf_base[id], 0)];
    assert_true(batch != CLASS_NONE && p->classes.info[batch].reason == CLASS_ALLOWED);
    free(on);
    problem_release(p);
    free(p);
}

static void test_texts(void **state)
{
    static const char mlir[] = "{grid_x = 4 : i32, inner = {name = \"mha_forward\", n = [1, 2]}, "
                               "last = true}";
    static const char json[] = "{\"a\":{\"b\":[{\"c\":1}],\"d\":\"x y\"},\"e\":2.5}";
    char word[16];

    (void)state;
    assert_true(kernel_config(mlir, sizeof mlir - 1, "inner.name", word, sizeof word));
    assert_string_equal(word, "mha_forward");
    assert_true(kernel_config(mlir, sizeof mlir - 1, "last", word, sizeof word));
    assert_true(kernel_config(mlir, sizeof mlir - 1, "grid_x", word, sizeof word));
    assert_string_equal(word, "4");
    assert_true(kernel_config(json, sizeof json - 1, "a.d", word, sizeof word));
    assert_string_equal(word, "x y");
    assert_true(kernel_config(json, sizeof json - 1, "e", word, sizeof word));
    assert_false(kernel_config(json, sizeof json - 1, "a.b", word, sizeof word));
    assert_false(kernel_config(json, sizeof json - 1, "b", word, sizeof word));
    assert_false(kernel_config("{", 1, "b", word, sizeof word));
    assert_true(kernel_glob("{lapack,cusolver}_*potrf*", "cusolver_potrf_ffi"));
    assert_true(kernel_glob("a?c*", "abcd") && kernel_glob("*", ""));
    assert_false(kernel_glob("{lapack,cusolver}_*potrf*", "blas_potrf"));
    assert_false(kernel_glob("a?c", "ac"));
    assert_true(kernel_glob("{neg*,abs}", "negate") && kernel_glob("{neg*,abs}", "abs"));
    assert_true(kernel_glob("{*}_{a,b?}{,x}", "q_bcx") && kernel_glob("*ab*ab", "abababab"));
    assert_false(kernel_glob("{neg*,abs}", "absolute") || kernel_glob("{a,b", "a"));
    /* 40 stars over 300 letters end at once. */
    char stars[81] = "", letters[301];
    for (int n = 0; n < 40; n++)
        memcpy(stars + 2 * n, "*a", 3);
    memset(letters, 'a', 299);
    memcpy(letters + 299, "b", 2);
    assert_false(kernel_glob(stars, letters));
}

/* Results that a call without a rule writes over an operand; a part of a tuple is no such place. */
static void test_aliases(void **state)
{
    static const char text[] =
        "HloModule aliases\nENTRY main {\n  a = f32[8] parameter(0)\n  b = f32[8] parameter(1)\n"
        "  ab = (f32[8], f32[8]) tuple(a, b)\n"
        "  one = f32[8] custom-call(a, b), custom_call_target=\"t\", "
        "output_to_operand_aliasing={{}: (1, {})}\n"
        "  two = (f32[8], f32[8]) custom-call(a, b), custom_call_target=\"t\", "
        "output_to_operand_aliasing={{1}: (0, {})}\n"
        "  part = (f32[8], f32[8]) custom-call(a, ab), custom_call_target=\"t\", "
        "output_to_operand_aliasing={{0}: (1, {0}), {1}: (1, {})}\n"
        "  ROOT r = (f32[8], (f32[8], f32[8]), (f32[8], f32[8])) tuple(one, two, part)\n}\n";
    static const struct {
        const char *name;
        uint32_t leaf;
        int operand;
    } places[] = {{"one", 0, 1},   {"two", 0, -1},  {"two", 1, 0},
                  {"part", 0, -1}, {"part", 1, -1}, {"a", 0, -1}};
    struct hlo_module *m = NULL;
    struct err e = {0};

    (void)state;
    if (hlo_load_memory("test", text, strlen(text), NULL, &m, &e))
        fail_msg("%s", e.what);
    for (size_t k = 0; k < sizeof places / sizeof *places; k++)
        assert_int_equal(hlo_kernel_place(m, hlo_find(m, places[k].name), places[k].leaf),
                         places[k].operand);
    hlo_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_builtin),    cmocka_unit_test(test_file),
        cmocka_unit_test(test_wrong_file), cmocka_unit_test(test_absent),
        cmocka_unit_test(test_derived),    cmocka_unit_test(test_cost),
        cmocka_unit_test(test_texts),      cmocka_unit_test(test_aliases),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
