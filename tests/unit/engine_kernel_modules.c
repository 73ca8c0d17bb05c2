/* The built-in rules on a module each: those that JAX can lower (tests/ref/kernels/make.py), and
 * calls written after the sources of TransformerEngine and XLA. What effects, workspaces and places
 * come to in time and memory. */
#include "engine/cost/memory.h"
#include "engine/cost/step_tables.h"
#include "engine/kernels/kernel_rules.h"
#include "engine/kernels/kernel_targets.h"
#include "example.h"
#include "hlo/meaning/factors.h"
#include "hlo/meaning/kernels.h"
#include "hlo/module/flows.h"

#include <math.h>
#include <unistd.h>

/* A call: sizes of its factors, sums last and negative; flops < 0: not looked at. */
struct call {
    const char *file, *name;
    int64_t sizes[8];
    double flops;
};

static void apply(struct hlo_module *m, const char *rules)
{
    struct kernel_rules *read = NULL;
    struct err e = {0};

    if (kernel_rules_read(rules, &read, &e) || kernel_rules_apply(read, m, &e))
        fail_msg("%s", e.what);
    kernel_rules_free(read);
}

static struct hlo_module *load(const char *file)
{
    struct hlo_module *m = NULL;
    char path[512];
    struct err e = {0};

    snprintf(path, sizeof path, AUTOMAP_SOURCE_DIR "/tests/data/kernels/%s.hlo.txt.gz", file);
    if (hlo_load(path, NULL, &m, &e))
        fail_msg("%s", e.what);
    apply(m, NULL);
    return m;
}

static void expect_call(const struct hlo_module *m, const struct call *c)
{
    struct hlo_factors f = {0};
    struct err e;
    hlo_id id = hlo_find(m, c->name);
    uint32_t count = 0;

    if (id == HLO_NONE)
        fail_msg("%s: no %s", c->file, c->name);
    if (kernel_is_unknown(m, id))
        fail_msg("%s: no rule for %s", c->file, c->name);
    assert_int_equal(hlo_factors_of(m, id, &f, &e), 0);
    while (count < 8 && c->sizes[count])
        count++;
    if (f.count != count)
        fail_msg("%s %s: %u factors, expected %u", c->file, c->name, f.count, count);
    for (uint32_t k = 0; k < count; k++) {
        int64_t size = f.items[k].kind == HLO_FACTOR_REDUCE ? -f.items[k].size : f.items[k].size;
        if (size != c->sizes[k])
            fail_msg("%s %s: factor %u of %lld, expected %lld", c->file, c->name, k,
                     (long long)size, (long long)c->sizes[k]);
    }
    const struct hlo_kernel *k = hlo_kernel_of(m, id);
    if (c->flops >= 0 && fabs(k->flops - c->flops) > 1e-9 * c->flops)
        fail_msg("%s %s: %.9g flops, expected %.9g", c->file, c->name, k->flops, c->flops);
    hlo_factors_release(&f);
}

static const double PAIRS = 4.0 * 8 * 256 * 256; /* of splash attention here */

static void test_lowered(void **state)
{
    const struct call calls[] = {
        {"splash", "pallas_call.6", {4, 8}, PAIRS * 4 * 128},
        {"splash", "pallas_call.20", {4, 8}, PAIRS * 8 * 128},
        {"splash", "pallas_call.25", {4, 8}, PAIRS * 6 * 128},
        {"splash-nameless", "pallas_call.5", {4, 8}, PAIRS * 4 * 128},
        {"splash-mqa", "pallas_call.5", {4, 8}, PAIRS * 4 * 128},
        {"linalg", "cholesky.11", {8}, 8 * 16.0 * 16 * 16 / 3},
        {"linalg", "geqrf.3", {8}, 8 * (2 * 16.0 * 4 * 4 - 2 * 4.0 * 4 * 4 / 3)},
        {"linalg", "householder_product.1", {8}, 8 * 4 * 16.0 * 4 * 4 / 3},
        {"linalg", "svd.14", {8}, 8 * (14 * 16.0 * 4 * 4 + 8 * 4.0 * 4 * 4)},
        {"linalg", "eigh.12", {8}, 8 * 9 * 16.0 * 16 * 16},
        {"linalg", "lu.15", {8}, 8 * 2 * 16.0 * 16 * 16 / 3},
        {"linalg", "triangular_solve.1", {8}, 8 * 16.0 * 16 * 4},
        {"spectral", "eig.15", {8}, 8 * 25 * 16.0 * 16 * 16},
        {"spectral", "schur.13", {8}, 8 * 25 * 16.0 * 16 * 16},
        {"spectral", "hessenberg.10", {8}, 8 * 10 * 16.0 * 16 * 16 / 3},
        {"spectral", "tridiagonal.12", {8}, 8 * 4 * 16.0 * 16 * 16 / 3},
        {"rocm", "cholesky.11", {8}, 8 * 16.0 * 16 * 16 / 3},
        {"rocm", "eigh.12", {8}, 8 * 9 * 16.0 * 16 * 16},
        {"rocm", "svd.14", {8}, 8 * 22 * 16.0 * 16 * 16},
        {"rocm", "lu.10", {8}, 8 * 2 * 16.0 * 16 * 16 / 3},
        {"rocm", "tridiagonal.12", {8}, 8 * 4 * 16.0 * 16 * 16 / 3},
        {"tridiagonal", "tridiagonal_solve.1", {8, 4}, 8.0 * 8 * 64 * 4},
        {"gmm", "pallas_call.1", {-512, 1536}, 2.0 * 1024 * 512 * 1536},
        {"gmm", "pallas_call.3", {-1536, 512}, 2.0 * 1024 * 512 * 1536},
        {"gmm", "pallas_call.5", {512, 1536}, 2.0 * 1024 * 512 * 1536},
        {"norms", "pallas_call.1", {4, 128}, 0},
        {"norms", "pallas_call.3", {4, 128}, 0},
        {"threefry", "threefry2x32.7", {64, 128}, 0},
        {"callback", "pure_callback.1", {0}, 0},
        {"offload", "device_put.2", {1024, 1024}, 0},
        {"scaled", "scaled_matmul.1", {2, 64, 32}, 2.0 * 2 * 64 * 32 * 128},
        {"approx", "approx_top_k.25", {16}, 16 * 4096},
        /* tp cuts one dim of each operand; dp, which the region leaves alone, may cut the other */
        {"shard-map", "shard_map.18", {16, 32}, -1},
        {"shard-map", "shard_map.27", {32}, -1},
    };

    (void)state;
    for (size_t n = 0; n < sizeof calls / sizeof *calls; n++) {
        struct hlo_module *m = load(calls[n].file);
        expect_call(m, &calls[n]);
        hlo_free(m);
    }
}

#define CONV \
    "window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f, custom_call_target=\"__cudnn$conv"
#define DOT(b, c, d)                                                                  \
    "backend_config={\"gemm_backend_config\":{\"dot_dimension_numbers\":{"            \
    "\"lhs_contracting_dimensions\":[\"" c "\"],\"rhs_contracting_dimensions\":[\"" d \
    "\"],\"lhs_batch_dimensions\":[" b "],\"rhs_batch_dimensions\":[" b "]},\"beta\":0}}"
#define ATTENTION                                                                           \
    "custom_call_target=\"te_fused_attn_forward_ffi\", api_version=API_VERSION_TYPED_FFI, " \
    "backend_config={mask_type = 2 : i64, qkv_layout = 9 : i64}"

static const char written[] =
    "HloModule kernels\n"
    "ENTRY main {\n"
    "  x = f32[16,8,8,32] parameter(0)\n  w = f32[3,3,32,64] parameter(1)\n"
    "  dy = f32[16,8,8,64] parameter(2)\n  o = f32[64] parameter(3)\n"
    "  a = bf16[4,128,64] parameter(4)\n  b = bf16[4,64,256] parameter(5)\n"
    "  p = bf16[128,64] parameter(6)\n  r = bf16[256,64] parameter(7)\n"
    "  q = bf16[2,512,16,64] parameter(8)\n  kv = bf16[2,512,2,4,64] parameter(9)\n"
    "  none = bf16[0] parameter(10)\n  seed = u32[1,4] parameter(11)\n"
    "  n = s32[3] parameter(12)\n  qkv = bf16[2,512,3,16,64] parameter(13)\n"
    "  s = f32[0] parameter(14)\n  act = bf16[2,512,1024] parameter(15)\n"
    "  k2 = bf16[1024,4096] parameter(16)\n  one = f32[1] parameter(17)\n"
    "  dz = bf16[2,512,4096] parameter(18)\n  g = bf16[1024] parameter(19)\n"
    "  x2 = bf16[2,512,2,4096] parameter(20)\n  kk = bf16[2,512,4,64] parameter(21)\n"
    "  keys = f32[4,64] parameter(22)\n  ranks = s32[4,64] parameter(23)\n"
    "  pt = bf16[64,256] parameter(24)\n"
    "  tiles = s32[] parameter(25)\n  tile = s32[9] parameter(26)\n  at = s32[1] parameter(27)\n"
    "  rows = bf16[1024,512] parameter(28)\n  experts = bf16[8,512,512] parameter(29)\n"
    "  square = f32[1024,512] custom-call(tiles, tile, tile, tile, at, rows, experts), "
    "custom_call_target=\"tpu_custom_call\"\n"
    "  conv = (f32[16,8,8,64], u8[4096]) custom-call(x, w), " CONV "Forward\"\n"
    "  convb = (f32[16,8,8,64], u8[4096]) custom-call(x, w, o), " CONV "BiasActivationForward\"\n"
    "  convi = (f32[16,8,8,32], u8[0]) custom-call(dy, w), " CONV "BackwardInput\"\n"
    "  convf = (f32[3,3,32,64], u8[0]) custom-call(x, dy), " CONV "BackwardFilter\"\n"
    "  batched = (bf16[4,128,256], s8[4194304]) custom-call(a, b), "
    "custom_call_target=\"__cublas$gemm\", " DOT(
        "\"0\"", "2",
        "1") "\n"
             "  sort = (f32[4,64], s32[4,64], u8[1024]) custom-call(keys, ranks), "
             "custom_call_target=\"__cub$DeviceRadixSort\"\n"
             "  top = (f32[4,8], s32[4,8]) custom-call(keys), custom_call_target=\"__gpu$TopK\"\n"
             "  dnn = bf16[128,256] custom-call(p, pt), custom_call_target=\"__onednn$matmul\"\n"
             "  dnnln = bf16[2,512,1024] custom-call(act, g, g), "
             "custom_call_target=\"__onednn$layernorm\"\n"
             "  plain = (bf16[128,256], s8[8]) custom-call(p, r), "
             "custom_call_target=\"__cublas$lt$matmul\", " DOT(
                 "", "1",
                 "1") "\n"
                      "  te = (bf16[2,512,16,64], f32[2,16,512,1], f32[0], u32[1,4], u8[64]) "
                      "custom-call(q, kk, kk, "
                      "none, s, seed, n, n, s, s, s, s, s, s), " ATTENTION "\n"
                      "  tekv = (bf16[2,512,16,64], f32[2,16,512,1], f32[0], u32[1,4], u8[64]) "
                      "custom-call(q, kv, "
                      "none, none, s, seed, n, n, s, s, s, s, s, s), " ATTENTION "\n"
                      "  teqkv = (bf16[2,512,16,64], f32[2,16,512,1], f32[0], u32[1,4], u8[64]) "
                      "custom-call(qkv, "
                      "none, none, none, s, seed, n, n, s, s, s, s, s, s), " ATTENTION "\n"
                      "  gemm = (bf16[2,512,4096], bf16[0], bf16[0], u8[64]) custom-call(act, s, "
                      "k2, s, none, none, "
                      "one, one), custom_call_target=\"te_gemm_ffi\", "
                      "backend_config={lhs_transposed = false, "
                      "rhs_transposed = false}\n"
                      "  dgrad = (bf16[2,512,1024], bf16[0], bf16[0], u8[64]) custom-call(dz, s, "
                      "k2, s, none, none, "
                      "one, one), custom_call_target=\"te_gemm_ffi\", "
                      "backend_config={lhs_transposed = false, "
                      "rhs_transposed = true}\n"
                      "  wgrad = (bf16[1024,4096], bf16[0], bf16[0], u8[64]) custom-call(act, s, "
                      "dz, s, none, none, "
                      "one, one), custom_call_target=\"te_gemm_ffi\", "
                      "backend_config={lhs_transposed = true, "
                      "rhs_transposed = false}\n"
                      "  norm = (bf16[2,512,1024], bf16[1], f32[1], f32[1], f32[1], f32[2,512], "
                      "f32[2,512], u8[16]) "
                      "custom-call(act, one, g, g), custom_call_target=\"te_norm_forward_ffi\"\n"
                      "  silu = (bf16[2,512,4096], bf16[1], f32[1], f32[1], f32[1]) "
                      "custom-call(x2, one), "
                      "custom_call_target=\"te_act_lu_ffi\"\n"
                      "  carried = (f32[2,512,16,64], f32[64]) custom-call(q, o), "
                      "custom_call_target=\"theirs\", "
                      "frontend_attributes={xla.sdy.sharding_rule=\"#sdy.op_sharding_rule<([i, j, "
                      "k, l], [z_1])->([i,"
                      " j, k, m], [z_1]) {i=2, j=512, k=16, l=64, m=64, z_1=64} "
                      "need_replication={k}, custom>\"}\n"
                      "  summed = f32[1024,16] custom-call(q, a), custom_call_target=\"theirs\", "
                      "frontend_attributes={xla.sdy.sharding_rule=\"#sdy.op_sharding_rule<([i, j, "
                      "k, l], [m, n, "
                      "o])->([ij, k]) {i=2, j=512, k=16, l=64, m=4, n=128, o=64} "
                      "reduction={l}>\"}\n"
                      "  wrong = f32[1024,16] custom-call(q), custom_call_target=\"theirs\", "
                      "frontend_attributes={xla.sdy.sharding_rule=\"#sdy.op_sharding_rule<([i, "
                      "j])->([i, j]) "
                      "{i=2, j=512}>\"}\n"
                      "  ROOT t = ((f32[16,8,8,64], u8[4096])) tuple(conv)\n}\n";

static void test_written(void **state)
{
    const double conv = 2.0 * 16 * 8 * 8 * 64 * 32 * 9, pairs = 2.0 * 16 * 512 * 512 / 2;
    const struct call calls[] = {
        {"conv", "conv", {16, -32, 64}, conv},
        {"conv", "convb", {16, -32, 64}, conv},
        {"conv", "convi", {16, -64, 32}, conv},
        {"conv", "convf", {-16, 32, 64}, conv},
        {"cublas", "batched", {4, 128, -64, 256}, 2.0 * 4 * 128 * 64 * 256},
        {"cublas", "plain", {128, -64, 256}, 2.0 * 128 * 64 * 256},
        {"te", "te", {2, 4}, pairs * 4 * 64},
        {"te", "tekv", {2, 4}, pairs * 4 * 64},
        {"te", "teqkv", {2, 16}, pairs * 4 * 64},
        {"te", "gemm", {2, 512, -1024, 4096}, 2.0 * 1024 * 1024 * 4096},
        {"te", "dgrad", {2, 512, -4096, 1024}, 2.0 * 1024 * 1024 * 4096},
        {"te", "wgrad", {-2, -512, 1024, 4096}, 2.0 * 1024 * 1024 * 4096},
        {"te", "norm", {2, 512}, 0},
        {"te", "silu", {2, 512, 4096}, 0},
        {"xla", "sort", {4}, 0},
        {"xla", "top", {4}, 0},
        {"gmm", "square", {0}, 2.0 * 1024 * 512 * 512}, /* k or n */
        {"onednn", "dnn", {128, 256}, 2.0 * 128 * 64 * 256},
        {"onednn", "dnnln", {2, 512}, 0},
        {"module", "carried", {2, 512, 64}, 0},
        {"module", "summed", {2, 16, -64}, 0},
    };
    struct hlo_module *m = NULL;
    struct err e = {0};

    (void)state;
    if (hlo_load_memory("test", written, strlen(written), NULL, &m, &e))
        fail_msg("%s", e.what);
    apply(m, NULL);
    for (size_t n = 0; n < sizeof calls / sizeof *calls; n++)
        expect_call(m, &calls[n]);
    assert_true(kernel_is_unknown(m, hlo_find(m, "wrong"))); /* its rule has other ranks */
    assert_string_equal(hlo_kernel_of(m, hlo_find(m, "carried"))->rule, "the module");
    hlo_free(m);
}

/* What TransformerEngine's backward passes call, with the operands of its JAX primitives
 * (transformer_engine/jax/cpp_extensions: attention.py, normalization.py, activation.py,
 * softmax.py). */
#define BACKWARD                                                                             \
    "custom_call_target=\"te_fused_attn_backward_ffi\", api_version=API_VERSION_TYPED_FFI, " \
    "backend_config={mask_type = 2 : i64, qkv_layout = 9 : i64}\n"
static const char backward[] =
    "HloModule kernels\n"
    "ENTRY main {\n"
    "  q = bf16[2,512,16,64] parameter(0)\n  kk = bf16[2,512,4,64] parameter(1)\n"
    "  kv = bf16[2,512,2,4,64] parameter(2)\n  qkv = bf16[2,512,3,16,64] parameter(3)\n"
    "  none = bf16[0] parameter(4)\n  aux = f32[2,16,512,1] parameter(5)\n"
    "  rng = u32[1,4] parameter(6)\n  n = s32[3] parameter(7)\n  s = f32[0] parameter(8)\n"
    "  x = bf16[2,512,1024] parameter(9)\n  mu = f32[2,512] parameter(10)\n"
    "  g = bf16[1024] parameter(11)\n  dz = bf16[2,512,4096] parameter(12)\n"
    "  x2 = bf16[2,512,2,4096] parameter(13)\n  one = f32[1] parameter(14)\n"
    "  scores = bf16[2,16,512,256] parameter(15)\n  mask = u8[2,1,512,256] parameter(16)\n"
    "  bwd = (bf16[2,512,16,64], bf16[2,512,4,64], bf16[2,512,4,64], bf16[0], u8[64]) "
    "custom-call(q, kk, kk, none, aux, rng, q, q, n, n, s, s, s, s, s, s), " BACKWARD
    "  bwdkv = (bf16[2,512,16,64], bf16[2,512,2,4,64], bf16[0], bf16[0], u8[64]) "
    "custom-call(q, kv, none, none, aux, rng, q, q, n, n, s, s, s, s, s, s), " BACKWARD
    "  bwdqkv = (bf16[2,512,3,16,64], bf16[0], bf16[0], bf16[0], u8[64]) "
    "custom-call(qkv, none, none, none, aux, rng, q, q, n, n, s, s, s, s, s, s), " BACKWARD
    "  layer = (bf16[2,512,1024], bf16[1024], bf16[1024], u8[16]) "
    "custom-call(x, x, mu, mu, g), custom_call_target=\"te_norm_backward_ffi\"\n"
    "  dact = (bf16[2,512,2,4096], bf16[1], f32[1], f32[1], f32[1], f32[1], u8[16]) "
    "custom-call(dz, x2, one), custom_call_target=\"te_dact_dbias_quantize_ffi\"\n"
    "  soft = bf16[2,16,512,256] custom-call(scores, mask), "
    "custom_call_target=\"te_scaled_masked_softmax_forward_ffi\"\n"
    "  causal = bf16[2,16,512,256] custom-call(scores), "
    "custom_call_target=\"te_scaled_upper_triang_masked_softmax_forward_ffi\"\n"
    "  softb = bf16[2,16,512,256] custom-call(scores, scores), "
    "custom_call_target=\"te_scaled_masked_softmax_backward_ffi\"\n"
    "  ROOT t = ((bf16[2,512,1024], bf16[1024], bf16[1024], u8[16])) tuple(layer)\n}\n";

static void test_written_backward(void **state)
{
    const double pairs = 2.0 * 16 * 512 * 512 / 2;
    const struct call calls[] = {
        {"te", "bwd", {2, 4}, pairs * 10 * 64},
        {"te", "bwdkv", {2, 4}, pairs * 10 * 64},
        {"te", "bwdqkv", {2, 16}, pairs * 10 * 64},
        {"te", "layer", {2, 512}, 0},
        {"te", "dact", {2, 512, 4096}, 0},
        {"te", "soft", {2, 16}, 0},
        {"te", "causal", {2, 16}, 0},
        {"te", "softb", {2, 16}, 0},
    };
    struct hlo_module *m = NULL;
    struct hlo_factors f = {0};
    struct err e = {0};

    (void)state;
    if (hlo_load_memory("test", backward, strlen(backward), NULL, &m, &e))
        fail_msg("%s", e.what);
    apply(m, NULL);
    for (size_t n = 0; n < sizeof calls / sizeof *calls; n++)
        expect_call(m, &calls[n]);
    /* gamma's and beta's gradients are sums over the rows that dx keeps */
    assert_int_equal(hlo_factors_of(m, hlo_find(m, "layer"), &f, &e), 0);
    assert_int_equal(f.items[0].kind, HLO_FACTOR_INSIDE);
    assert_int_equal(f.items[1].kind, HLO_FACTOR_INSIDE);
    hlo_factors_release(&f);
    hlo_free(m);
}

/* ---- time and memory ---- */

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

/* One device, with a link to its host. */
static void make(struct hlo_module *m, const char *rules, struct problem *out)
{
    struct cluster *cluster = mem_alloc(sizeof *cluster);
    struct problem_options o = {.kernels = rules};
    struct err e = {0};
    int rc = cluster_of_devices(cluster, 2, &e);

    cluster->group[0].host.link = 10e9;
    rc = rc ? rc : problem_new(m, NULL, cluster, &o, out, &e);
    free(cluster);
    if (rc)
        fail_msg("%s", e.what);
}

static double temporaries(const struct problem *p)
{
    label *on = mem_try((size_t)p->classes.count + 1, sizeof *on);
    double *scratch = memory_scratch(&p->memory);

    assert_true(on && scratch);
    struct memory_cost c = memory_of(&p->memory, &p->labels, on, scratch);
    free(on);
    free(scratch);
    return c.temporaries;
}

static double time_of(const struct problem *p, const char *name)
{
    label *on = mem_try((size_t)p->classes.count + 1, sizeof *on);

    assert_non_null(on);
    double ms = step_tables_instruction(&p->step_tables, hlo_find(p->m, name), on).compute_ms;
    free(on);
    return ms;
}

/* What is offloaded takes no device memory until it is fetched, and each way takes its time. */
static void test_offload(void **state)
{
    struct problem *p = mem_alloc(sizeof *p);
    char rules[64];
    const double bytes = 1024 * 1024 * 4;

    (void)state;
    make(load("offload"), NULL, p);
    double with = temporaries(p), ms = bytes / 10e9 * 1e3 + p->step_tables.device.launch_ms;
    assert_true(fabs(time_of(p, "device_put.2") - ms) < 1e-9);
    assert_true(fabs(time_of(p, "device_put.3") - ms) < 1e-9);
    assert_false(hlo_is_flow(p->m, hlo_find(p->m, "device_put.2")));
    problem_release(p);
    snprintf(rules, sizeof rules, "/tmp/automap-offload-%ld.yaml", (long)getpid());
    write_file(rules, "kernels:\n  - target: annotate_device_placement\n    effect: annotation\n");
    make(load("offload"), rules, p);
    assert_true(hlo_is_flow(p->m, hlo_find(p->m, "device_put.2")));
    if (temporaries(p) - with != bytes)
        fail_msg("%g bytes, offloaded %g", temporaries(p), with);
    problem_release(p);
    unlink(rules);
    free(p);
}

static const char worked[] =
    "HloModule kernels\n"
    "ENTRY main {\n"
    "  x = f32[1024,1024] parameter(0)\n  w = f32[1024,1024] parameter(1)\n"
    "  h = f32[1024,1024] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
    "  k = f32[1024,1024] custom-call(h), custom_call_target=\"mine\"\n"
    "  v = f32[1024,8] parameter(2)\n"
    "  ROOT y = f32[1024,8] dot(k, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n}\n";

/* Device memory of `worked` under a rule for its call. */
static double memory_with(const char *rule)
{
    struct problem *p = mem_alloc(sizeof *p);
    struct hlo_module *m = NULL;
    char path[64], text[256];
    struct err e = {0};

    snprintf(path, sizeof path, "/tmp/automap-mine-%ld.yaml", (long)getpid());
    snprintf(text, sizeof text, "kernels:\n  - target: mine\n    dims: a b -> a b\n%s", rule);
    write_file(path, text);
    assert_int_equal(hlo_load_memory("test", worked, strlen(worked), NULL, &m, &e), 0);
    make(m, path, p);
    double bytes = temporaries(p);
    problem_release(p);
    unlink(path);
    free(p);
    return bytes;
}

static void test_memory(void **state)
{
    const double bytes = 1024 * 1024 * 4;

    (void)state;
    assert_true(memory_with("") == 2 * bytes);
    assert_true(memory_with("    inplace: {0: 0}\n") == bytes + 1024 * 8 * 4);
    assert_true(memory_with("    workspace: 3 * a * b * 4\n") == 5 * bytes);
}

/* Bytes that a rule says are what a kernel moves. */
static void test_bytes(void **state)
{
    struct problem *p = mem_alloc(sizeof *p);
    struct hlo_module *m = NULL;
    struct err e = {0};
    char path[64];

    (void)state;
    snprintf(path, sizeof path, "/tmp/automap-mine-%ld.yaml", (long)getpid());
    write_file(path,
               "kernels:\n  - target: mine\n    dims: a b -> a b\n    bytes: 10 * a * b * 4\n");
    assert_int_equal(hlo_load_memory("test", worked, strlen(worked), NULL, &m, &e), 0);
    make(m, path, p);
    double ms = 10.0 * 1024 * 1024 * 4 / cluster_bandwidth(&p->step_tables.device) * 1e3;
    assert_true(fabs(time_of(p, "k") - ms - p->step_tables.device.launch_ms) < 1e-9);
    struct instruction_scaling s =
        step_tables_scaling(&p->step_tables, hlo_find(p->m, "k"), CLASS_NONE);
    assert_true(fabs(instruction_scaling_ms(&s, &p->step_tables.device, 1) - time_of(p, "k")) <
                1e-9);
    problem_release(p);
    unlink(path);
    free(p);
}

/* AllocateBuffer makes a free value: nothing computes it, no split of it costs anything. */
static void test_allocated(void **state)
{
    struct problem *p = mem_alloc(sizeof *p);

    (void)state;
    make(load("empty"), NULL, p);
    hlo_id id = hlo_find(p->m, "empty.1");
    assert_true(p->classes.is_free[p->m->leaf_base[id]]);
    assert_true(time_of(p, "empty.1") == 0);
    problem_release(p);
    free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lowered),          cmocka_unit_test(test_written),
        cmocka_unit_test(test_written_backward), cmocka_unit_test(test_offload),
        cmocka_unit_test(test_memory),           cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_allocated),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
