/* What published runs asked of the cost model: figures measured by others, and rules by hand. */
#include "engine/cluster/collectives.h"
#include "engine/cost/product.h"
#include "engine/plan/plan.h"
#include "engine/problem/setting.h"
#include "example.h"

#include <math.h>

static void load_cluster(const char *yaml, struct cluster *out)
{
    struct err e = {0};

    if (cluster_read(out, yaml, strlen(yaml), &e))
        fail_msg("%s", e.what);
}

static const char a100[] =
    "name: a100\ndevices:\n  a100: {memory: 80 GB, peak: {f32: 156 TFLOP/s, bf16: 312 TFLOP/s}, "
    "bandwidth: "
    "2039 GB/s, share: 0.65, launch: 5 us, matmul: {units: 108, reach: 0.92}}\n"
    "servers:\n  - {devices: 8, link: {kind: switch, bandwidth: 235 GB/s, latency: 10 us, "
    "protocol: nccl}}\n";

/* stas00/ml-engineering: 6912 x 16384 x 2048 reaches 267.9 of 312 TFLOP/s on an A100. A product
 * 128 wide wastes most of the second wave. */
static void test_products(void **state)
{
    struct cluster c;
    struct product large = {6912, 16384, 2048, 1}, thin = {39936, 128, 1024, 1};

    (void)state;
    load_cluster(a100, &c);
    double flops = 2.0 * 6912 * 16384 * 2048;
    double reached = flops / product_ms(&c.type[0], PEAK_BF16, &large, flops) * 1e-9;
    assert_true(fabs(reached - 267.9) < 4);
    flops = 2.0 * 39936 * 128 * 1024;
    reached = flops / product_ms(&c.type[0], PEAK_BF16, &thin, flops) * 1e-9;
    assert_true(reached > 150 && reached < 230);
    assert_true(product_ms(&c.type[0], PEAK_BF16, &(struct product){0}, 312e12 * 0.92) == 1000);
}

/* NCCL's model: an all-reduce over 8 A100 takes 10 us when small, 37 us for 1 MB, and one step of
 * 3.4 us for each of 14 neighbours beside its bytes when large. */
static void test_nccl(void **state)
{
    struct cluster c;
    struct cluster_mesh mesh;

    (void)state;
    load_cluster(a100, &c);
    mesh_one_axis(&mesh, &c);
    assert_true(fabs(collective_ms(&mesh, COLLECTIVE_ALL_REDUCE, 1, 8) - 0.0102) < 2e-4);
    double mega = collective_ms(&mesh, COLLECTIVE_ALL_REDUCE, 1, 1e6);
    assert_true(mega > 0.030 && mega < 0.045);
    double giga = collective_ms(&mesh, COLLECTIVE_ALL_REDUCE, 1, 1e9);
    assert_true(fabs(giga - (0.056 + 1e9 * 1.75 / 235e9 * 1e3)) < 1e-3);
}

/* A cluster says what it says again, and matmul without units or array says nothing. */
static void test_cluster_keys(void **state)
{
    struct cluster c, again;
    struct str text = {0};
    struct err e = {0};

    (void)state;
    load_cluster(a100, &c);
    cluster_write(&c, &text);
    load_cluster(text.text, &again);
    assert_true(cluster_fingerprint(&c) == cluster_fingerprint(&again));
    assert_int_equal(again.type[0].matmul.units, 108);
    assert_true(again.group[0].link.nccl &&
                fabs(cluster_bandwidth(&again.type[0]) / 1.325e12 - 1) < 1e-3);
    assert_int_not_equal(cluster_set(&c, "devices.a100.matmul.reach", "1.2", &e), 0);
    assert_int_not_equal(cluster_set(&c, "devices.a100.share", "0", &e), 0);
    str_release(&text);
}

/* Scan over 8 layers tanh(h w0) w1, the inner dim split 8 ways: XLA's compiled step (jit with these
 * shardings, 8 devices, memory_analysis) has 86.77 MB of temporaries. Stacks of gradients begin as
 * zeros, which have no status: they lie as the loop carries them. */
static void test_carried_zeros(void **state)
{
    struct hlo_module *m = NULL;
    struct problem *p = mem_alloc(sizeof *p);
    struct memory_cost memory;
    struct strict s;
    struct plan plan;
    struct err e = {0};

    (void)state;
    assert_int_equal(hlo_load(AUTOMAP_SOURCE_DIR "/tests/data/reality/scan8.hlo.txt", NULL, &m, &e),
                     0);
    make_problem(m, NULL, 8, NULL, p);
    assert_int_equal(strict_new(&p->labels, &s, &e), 0);
    assert_int_equal(setting_apply(p, &s, "#0:2=1", &e), 0);
    assert_int_equal(plan_from_strict(p, &s, PLAN_BY_DECISION, &plan, &e), 0);
    assert_int_equal(plan_memory(&plan, &memory, &e), 0);
    assert_true(fabs(memory.temporaries / 86.77e6 - 1) < 0.05);
    plan_release(&plan);
    strict_release(&s);
    problem_release(p);
    free(p);
}

static const char softmax[] =
    "HloModule softmax\n"
    "most { a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT r = f32[] maximum(a, b) }\n"
    "sum { a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT r = f32[] add(a, b) }\n"
    "ENTRY main {\n  x = f32[256,512] parameter(0)\n  low = f32[] constant(-inf)\n"
    "  zero = f32[] constant(0)\n"
    "  m = f32[256] reduce(x, low), dimensions={1}, to_apply=most\n"
    "  mb = f32[256,512] broadcast(m), dimensions={0}\n  d = f32[256,512] subtract(x, mb)\n"
    "  e = f32[256,512] exponential(d)\n"
    "  s = f32[256] reduce(e, zero), dimensions={1}, to_apply=sum\n"
    "  sb = f32[256,512] broadcast(s), dimensions={0}\n  ROOT y = f32[256,512] divide(e, sb)\n}\n";

/* Weights of all leaves as large as x. */
static uint32_t large_moves(const struct problem *p, int64_t bytes)
{
    uint32_t moves = 0;

    for (hlo_id id = 0; id < p->m->count; id++) {
        for (uint32_t leaf = 0; leaf < class_leaf_count(&p->classes, id); leaf++) {
            hlo_value v = hlo_factors_value(p->m, id, leaf);
            if (hlo_value_shape(p->m, v)->bytes == bytes)
                moves += p->traffic.weight[p->classes.leaf_base[id] + leaf];
        }
    }
    return moves;
}

/* Softmax reads once and writes once; Adam reads four values of the variable's size and writes
 * three. */
static void test_traffic(void **state)
{
    static const char adam[] =
        "HloModule adam\nENTRY main {\n  p = f32[1024] parameter(0)\n  m = f32[1024] parameter(1)\n"
        "  v = f32[1024] parameter(2)\n  g = f32[1024] parameter(3)\n"
        "  m1 = f32[1024] add(m, g)\n  gg = f32[1024] multiply(g, g)\n  v1 = f32[1024] add(v, gg)\n"
        "  r = f32[1024] sqrt(v1)\n  q = f32[1024] divide(m1, r)\n  p1 = f32[1024] subtract(p, q)\n"
        "  ROOT t = (f32[1024], f32[1024], f32[1024]) tuple(p1, m1, v1)\n}\n";
    struct problem *p = mem_alloc(sizeof *p);

    (void)state;
    load_text(softmax, NULL, p);
    assert_int_equal(large_moves(p, 256 * 512 * 4), 2);
    problem_release(p);
    load_text(adam, NULL, p);
    assert_int_equal(large_moves(p, 4096), 7);
    problem_release(p);
    free(p);
}

/* Two products that are added, both split along what they sum over: one all-reduce, or two where
 * they are reduced at once. */
static void test_joined_sums(void **state)
{
    static const char text[] =
        "HloModule joined\nENTRY main {\n  x = f32[32,64] parameter(0)\n"
        "  w = f32[64,32] parameter(1)\n  u = f32[64,32] parameter(2)\n"
        "  a = f32[32,32] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
        "  b = f32[32,32] dot(x, u), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
        "  ROOT s = f32[32,32] add(a, b)\n}\n";

    (void)state;
    for (int at_once = 0; at_once < 2; at_once++) {
        struct problem_options o = {.reduce_at_once = at_once};
        struct problem *p = mem_alloc(sizeof *p);
        struct hlo_module *m = NULL;
        struct plan_collective *list;
        struct strict s;
        struct plan plan;
        size_t count;
        struct err e = {0};
        assert_int_equal(hlo_load_memory("test", text, strlen(text), NULL, &m, &e), 0);
        make_problem(m, NULL, 4, &o, p);
        assert_int_equal(strict_new(&p->labels, &s, &e), 0);
        assert_int_equal(setting_apply(p, &s, "x:1=1", &e), 0);
        assert_int_equal(plan_from_strict(p, &s, PLAN_BY_DECISION, &plan, &e), 0);
        assert_int_equal(plan_collectives(&plan, &list, &count, &e), 0);
        assert_int_equal(count, 1 + at_once);
        assert_true(list[0].bytes == 32 * 32 * 4);
        free(list);
        plan_release(&plan);
        strict_release(&s);
        problem_release(p);
        free(p);
    }
}

/* decoder-scan has causal attention in a loop: as a kernel its scores take neither memory nor
 * traffic, and half of the products' work. mlp has none. */
static void test_attention(void **state)
{
    struct problem *written = mem_alloc(sizeof *written), *fused = mem_alloc(sizeof *fused);
    struct problem_options o = {.fused_attention = true};
    double most = 0;

    (void)state;
    load_example("decoder-scan", 1, NULL, written);
    load_example("decoder-scan", 1, &o, fused);
    assert_int_equal(written->attention.count, 0);
    assert_true(fused->attention.count > 0);
    for (hlo_id id = 0; id < fused->m->count; id++)
        most = fmax(most, fused->attention.work[id]);
    assert_true(most > 0 && most <= 0.7);
    double *scratch = memory_scratch(&fused->memory), *other = memory_scratch(&written->memory);
    label *on = mem_alloc(written->classes.count + 1u);
    assert_true(memory_of(&fused->memory, &fused->labels, on, scratch).peak <
                memory_of(&written->memory, &written->labels, on, other).peak);
    assert_true(step_tables_cost(&fused->step_tables, on).compute_ms <
                step_tables_cost(&written->step_tables, on).compute_ms);
    free(on);
    free(other);
    free(scratch);
    problem_release(fused);
    load_example("mlp", 1, &o, fused);
    assert_int_equal(fused->attention.count, 0);
    problem_release(fused);
    problem_release(written);
    free(fused);
    free(written);
}

/* As much as computation hides: the step of a plan by the formula of cost/overlap.h. */
static void test_overlap(void **state)
{
    struct overlap gpu = {.hidden = 0.75, .is_bounded = true},
                   tpu = {.hidden = 0.9, .is_bounded = true}, fixed = {.hidden = 0.5};

    (void)state;
    assert_true(overlap_excess(&gpu, 100, 80) == 0);
    /* the longer, and a tenth of the shorter, on GPUs a quarter */
    assert_true(fabs(100 + 0.25 * 200 + overlap_excess(&gpu, 100, 200) - (200 + 0.25 * 100)) <
                1e-9);
    assert_true(fabs(100 + 0.1 * 200 + overlap_excess(&tpu, 100, 200) - (200 + 0.1 * 100)) < 1e-9);
    assert_true(overlap_excess(&fixed, 1, 1000) == 0);
    assert_true(overlap_shown(&gpu, 100, 80) == 20 && overlap_shown(&gpu, 10, 200) == 192.5);
    assert_true(overlap_shown(&fixed, 1, 1000) == 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products),     cmocka_unit_test(test_nccl),
        cmocka_unit_test(test_cluster_keys), cmocka_unit_test(test_carried_zeros),
        cmocka_unit_test(test_traffic),      cmocka_unit_test(test_joined_sums),
        cmocka_unit_test(test_attention),    cmocka_unit_test(test_overlap),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
