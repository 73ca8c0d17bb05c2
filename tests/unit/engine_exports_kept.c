/* What an export has to say beyond the plan, so that XLA's partitioner does what was planned: each
 * case was found on XLA (tests/script/xla_zoo.py) and is held here by what the text says. */
#include "engine/plan/export_hlo.h"
#include "engine/plan/export_stablehlo.h"
#include "engine/plan/plan.h"
#include "engine/plan/sharding.h"
#include "engine/problem/setting.h"
#include "engine/relaxed/relaxed.h"
#include "example.h"

#include <stdlib.h>

struct exported {
    struct problem p;
    struct plan plan;
    struct str text, warnings;
};

/* The best relaxed plan on four slow devices, or eight on 2x4. */
static void export_relaxed(const char *model, const char *mesh, struct exported *out)
{
    struct cluster *cluster = mem_alloc(sizeof *cluster);
    struct problem_options o = {.exact_divisibility = true};
    struct relaxed_options how = {.folding = RELAXED_FOLD_OFF};
    struct relaxed_plan found;
    struct hlo_module *m = NULL;
    struct relaxed *r = NULL;
    struct err e = {0};

    memset(out, 0, sizeof *out);
    snprintf(o.mesh, sizeof o.mesh, "%s", mesh);
    if (cluster_of_devices(cluster, strcmp(mesh, "2x4") ? 4 : 8, &e) ||
        cluster_set_text(cluster, "devices.*.peak.f32=10 GFLOP/s", &e) ||
        cluster_set_text(cluster, "devices.*.bandwidth=1 GB/s", &e) ||
        hlo_load_memory("test", model, strlen(model), NULL, &m, &e) ||
        problem_new(m, NULL, cluster, &o, &out->p, &e) || relaxed_new(&out->p, &how, &r, &e) ||
        relaxed_solve(r, 0, &found, &e) || plan_from_relaxed(&found, &out->plan, &e) ||
        export_hlo(&out->plan, SHARDING_V2, &out->text, &out->warnings, &e))
        fail_msg("%s", e.what);
    if (export_hlo_check(&out->plan, out->text.text, out->text.size, &e))
        fail_msg("%s", e.what);
    relaxed_free(r);
    free(cluster);
}

static bool pads; /* the next plan may split unevenly */

/* `second` NULL: one setting. */
static void export_two(const char *model, const char *mesh, const char *setting, const char *second,
                       struct exported *out)
{
    struct problem_options o = {.exact_divisibility = !pads};
    struct hlo_module *m = NULL;
    struct strict s;
    struct err e = {0};

    memset(out, 0, sizeof *out);
    snprintf(o.mesh, sizeof o.mesh, "%s", mesh);
    if (hlo_load_memory("test", model, strlen(model), NULL, &m, &e))
        fail_msg("%s", e.what);
    make_problem(m, NULL, 4, &o, &out->p);
    assert_int_equal(strict_new(&out->p.labels, &s, &e), 0);
    if (setting_apply(&out->p, &s, setting, &e) ||
        (second && setting_apply(&out->p, &s, second, &e)) ||
        plan_from_strict(&out->p, &s, PLAN_BY_DECISION, &out->plan, &e) ||
        export_hlo(&out->plan, SHARDING_V2, &out->text, &out->warnings, &e))
        fail_msg("%s", e.what);
    if (export_hlo_check(&out->plan, out->text.text, out->text.size, &e))
        fail_msg("%s", e.what);
    strict_release(&s);
}

static void export_text(const char *model, const char *mesh, const char *setting,
                        struct exported *out)
{
    export_two(model, mesh, setting, NULL, out);
}

static void release(struct exported *x)
{
    plan_release(&x->plan);
    problem_release(&x->p);
    str_release(&x->text);
    str_release(&x->warnings);
}

static void assert_says(const struct exported *x, const char *words)
{
    if (!strstr(x->text.text, words))
        fail_msg("no '%s' in\n%s", words, x->text.text);
}

/* The gradient of a depthwise kernel: batch on x of 2 x 2. Left so, XLA adds up both copies that
 * lie along y (run on CPU: twice the gradient). */
#define GROUPED(BATCH)                                                              \
    "ENTRY e {\n  a = f32[" BATCH ",16,16,32] parameter(0)\n"                       \
    "  b = f32[" BATCH ",16,16,32] parameter(1)\n"                                  \
    "  ROOT g = f32[3,3,1,32] convolution(a, b), window={size=16x16 pad=1_1x1_1}, " \
    "dim_labels=f01b_i01o->01bf, batch_group_count=32\n}\n"

static void sums_of_batch_groups_are_over_all_devices(void **state)
{
    struct plan_collective *c = NULL;
    struct exported x;
    struct err e = {0};
    size_t count;

    (void)state;
    export_text(GROUPED("8"), "2x2", "a:0=x", &x);
    assert_says(&x, "g.operand0 = f32[8,16,16,32] copy(a), "
                    "sharding={devices=[4,1,1,1]<=[4]}");
    assert_says(&x, "g.operand1 = f32[8,16,16,32] copy(b), "
                    "sharding={devices=[4,1,1,1]<=[4]}");
    assert_int_equal(plan_collectives(&x.plan, &c, &count, &e), 0);
    assert_int_equal(count, 1);
    assert_int_equal(c[0].over, 3); /* both axes, though y splits nothing */
    free(c);
    assert_null(strstr(x.warnings.size ? x.warnings.text : "", "batch groups"));
    release(&x);

    export_text(GROUPED("8"), "2x2", "a:0=y", &x); /* cut within the pieces there are: y, then x */
    assert_says(&x, "copy(a), sharding={devices=[4,1,1,1]<=[2,2]T(1,0)}");
    release(&x);
    export_text(GROUPED("8"), "2x2", "a:0=xy", &x); /* nothing is left over */
    assert_null(strstr(x.text.text, "operand0"));
    release(&x);
    export_text(GROUPED("2"), "2x2", "a:0=x", &x); /* two rows for four devices */
    assert_says(&x, "copy(a), sharding={replicated}");
    assert_non_null(strstr(x.warnings.text, "g is a convolution with batch groups"));
    release(&x);
}

/* XLA aborts on the first alone: measured on eight devices, each shape in a process of its own. */
static void depthwise_points_are_announced(void **state)
{
    static const struct {
        const char *points, *window, *setting, *second;
        bool aborts;
    } cases[] = {{"1,1", "3x3", "k:3=x", NULL, true},
                 {"1,1", "3x3", "k:3=xy", NULL, false},
                 {"1,1", "3x3", "k:3=x", "a:0=y", false},
                 {"3,3", "1x1", "k:3=x", NULL, false}};
    char model[400];
    struct exported x;

    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        snprintf(model, sizeof model,
                 "ENTRY e {\n  a = f32[8,3,3,16] parameter(0)\n  k = f32[%.1s,%.1s,1,16] "
                 "parameter(1)\n  ROOT c = f32[8,%s,16] convolution(a, k), window={size=%s}, "
                 "dim_labels=b01f_01io->b01f, feature_group_count=16\n}\n",
                 cases[k].window, cases[k].window, cases[k].points, cases[k].window);
        export_two(model, "2x2", cases[k].setting, cases[k].second, &x);
        const char *said = x.warnings.size ? x.warnings.text : "";
        if (!strstr(said, "XLA's partitioner aborts") == cases[k].aborts)
            fail_msg("%s: '%s'", cases[k].setting, said);
        release(&x);
    }
}

/* XLA makes one of both zeros, so both are split alike, and what looks something up in the one that
 * nobody needs in parts finds it whole. Metadata tells them apart for people alone. */
static const char TWINS[] =
    "add {\n  p = f32[] parameter(0)\n  q = f32[] parameter(1)\n  ROOT s = f32[] add(p, q)\n}\n"
    "ENTRY e {\n  a = f32[8,4] parameter(0)\n  i = s32[64,1] parameter(1)\n"
    "  u = f32[64,4] parameter(2)\n  z = f32[] constant(0)\n"
    "  zeros = f32[8,4] broadcast(z), dimensions={}\n"
    "  n = f32[] constant(0)\n"
    "  nulls = f32[8,4] broadcast(n), dimensions={}, metadata={op_name=\"nulls\"}\n"
    "  b = f32[8,4] add(a, zeros)\n"
    "  t = f32[8,4] scatter(nulls, i, u), update_window_dims={1}, inserted_window_dims={0}, "
    "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add\n"
    "  ROOT r = (f32[8,4], f32[8,4]) tuple(b, t)\n}\n";

static void equal_free_values_are_split_alike(void **state)
{
    struct exported x;

    (void)state;
    export_text(TWINS, "4", "a:0=x", &x);
    assert_says(&x, "zeros = f32[8,4] broadcast(z), dimensions={}, sharding={replicated}");
    assert_says(&x, "nulls = f32[8,4] broadcast(n), dimensions={}, sharding={replicated}");
    assert_says(&x, "t.operand0.scalar = f32[] opt-barrier(n), sharding={replicated}");
    assert_says(&x, "t.operand0 = f32[8,4] broadcast(t.operand0.scalar), dimensions={}, "
                    "sharding={replicated}");
    release(&x);
}

/* sign(2) and 1.001, as bf16 holds it, are folded to 1 before anything is cut, and made one with
 * the 1s that a histogram adds: what counts reads a copy of its own, or XLA cuts it as `b` is. */
static const char FOLDED[] =
    "add {\n  p = f32[] parameter(0)\n  q = f32[] parameter(1)\n  ROOT s = f32[] add(p, q)\n}\n"
    "ENTRY e {\n  a = f32[64] parameter(0)\n  i = s32[64,1] parameter(1)\n"
    "  two = f32[] constant(2)\n  near = bf16[] constant(1.001)\n  w = f32[] %s\n"
    "  signs = f32[64] broadcast(w), dimensions={}\n  b = f32[64] multiply(a, signs)\n"
    "  one = f32[] constant(1)\n  ones = f32[64] broadcast(one), dimensions={}\n"
    "  z = f32[] constant(0)\n  zeros = f32[8] broadcast(z), dimensions={}\n"
    "  t = f32[8] scatter(zeros, i, ones), update_window_dims={}, inserted_window_dims={0}, "
    "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add\n"
    "  ROOT r = (f32[64], f32[8]) tuple(b, t)\n}\n";

static void values_that_fold_to_the_same_are_split_alike(void **state)
{
    static const struct {
        const char *made;
        bool is_one;
    } cases[] = {{"sign(two)", true},     {"divide(two, two)", true}, {"power(two, z0)", true},
                 {"convert(near)", true}, {"negate(two)", false},     {"sqrt(two)", false}};
    char text[2048];
    struct exported x;

    (void)state;
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        snprintf(text, sizeof text, FOLDED, cases[n].made);
        if (strstr(text, "z0")) {
            char *at = strstr(text, "  w = ");
            memmove(at + strlen("  z0 = f32[] constant(0)\n"), at, strlen(at) + 1);
            memcpy(at, "  z0 = f32[] constant(0)\n", strlen("  z0 = f32[] constant(0)\n"));
        }
        export_text(text, "4", "a:0=x", &x);
        assert_says(&x, cases[n].is_one ? "signs = f32[64] broadcast(w), dimensions={}, "
                                          "sharding={replicated}"
                                        : "signs = f32[64] broadcast(w), dimensions={}, "
                                          "sharding={devices=[4]<=[4]}");
        if (cases[n].is_one)
            assert_says(&x, "t.operand2.scalar = f32[] opt-barrier(one), sharding={replicated}");
        else
            assert_null(strstr(x.text.text, "t.operand2"));
        release(&x);
    }
}

/* Rows that are counted only when it runs: XLA takes no sharding for such values, and runs what
 * sets or asks for their number whole. */
static const char VARYING[] =
    "ENTRY e {\n  a = f32[8,4] parameter(0)\n  n = s32[] parameter(1)\n"
    "  b = f32[<=8,4] set-dimension-size(a, n), dimensions={0}\n"
    "  c = f32[<=8,4] negate(b)\n  k = s32[] get-dimension-size(c), dimensions={0}\n"
    "  d = f32[8,4] negate(a)\n  ROOT r = (s32[], f32[8,4]) tuple(k, d)\n}\n";

static void values_of_varying_size_carry_no_sharding(void **state)
{
    struct exported x;

    (void)state;
    export_text(VARYING, "4", "a:1=x", &x);
    assert_says(&x, "d = f32[8,4] negate(a), sharding={devices=[1,4]<=[4]}");
    assert_says(&x, "b = f32[<=8,4] set-dimension-size(a, n), dimensions={0}\n");
    assert_says(&x, "c = f32[<=8,4] negate(b)\n");
    release(&x);
}

/* A free value is wanted in parts by `b` and summed whole: the sum reads a copy of its own. */
static const char SUMMED[] =
    "add {\n  p = f32[] parameter(0)\n  q = f32[] parameter(1)\n  ROOT s = f32[] add(p, q)\n}\n"
    "ENTRY e {\n  a = f32[8,4] parameter(0)\n  c = f32[8,4] parameter(1)\n"
    "  one = f32[] constant(1)\n  zero = f32[] constant(0)\n"
    "  ones = f32[8,4] broadcast(one), dimensions={}\n"
    "  b = f32[8,4] multiply(a, ones)\n  d = f32[8,4] multiply(c, ones)\n"
    "  k = f32[] reduce(ones, zero), dimensions={0,1}, to_apply=add\n"
    "  ROOT r = (f32[8,4], f32[8,4], f32[]) tuple(b, d, k)\n}\n";

static void sums_of_free_values_are_whole(void **state)
{
    struct exported x;

    (void)state;
    export_text(SUMMED, "4", "a:0=x", &x);
    assert_says(&x, "k.operand0 = f32[8,4] broadcast(k.operand0.scalar), dimensions={}, "
                    "sharding={replicated}");
    assert_says(&x, "k = f32[] reduce(k.operand0, zero)");
    release(&x);
}

/* Two products of one free value: left to itself XLA gathers the split kernel of `d` instead of
 * cutting what every device has. Ones are a constant that would be folded, sharding and all;
 * numbers from a counter are not. */
static const char PRODUCTS[] =
    "ENTRY e {\n  w = f32[16,4] parameter(0)\n  u = f32[16,4] parameter(1)\n"
    "  one = f32[] constant(1)\n  ones = f32[8,16] broadcast(one), dimensions={}\n"
    "  n = f32[8,16] iota(), iota_dimension=1\n"
    "  d = f32[8,4] dot(ones, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
    "  k = f32[8,4] dot(ones, u), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
    "  f = f32[8,4] dot(n, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
    "  g = f32[8,4] dot(n, u), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
    "  ROOT r = (f32[8,4], f32[8,4], f32[8,4], f32[8,4]) tuple(d, k, f, g)\n}\n";

static void products_cut_what_every_device_has(void **state)
{
    struct exported x;

    (void)state;
    export_text(PRODUCTS, "4", "w:0=x", &x);
    assert_says(&x, "d.operand0.scalar = f32[] opt-barrier(one), sharding={replicated}");
    assert_says(&x, "d.operand0 = f32[8,16] broadcast(d.operand0.scalar), dimensions={}, "
                    "sharding={devices=[1,4]<=[4]}");
    assert_says(&x, "d = f32[8,4] dot(d.operand0, w)");
    assert_says(&x, "k = f32[8,4] dot(ones, u)");
    assert_says(&x, "f.operand0 = f32[8,16] opt-barrier(n), sharding={devices=[1,4]<=[4]}");
    assert_says(&x, "g = f32[8,4] dot(n, u)");
    release(&x);
}

/* Reshapes that fold would leave the split that is wanted behind them on what is wanted whole. */
static const char FOLDS[] =
    "add {\n  p = f32[] parameter(0)\n  q = f32[] parameter(1)\n  ROOT s = f32[] add(p, q)\n}\n"
    "ENTRY e {\n  a = f32[8,4] parameter(0)\n  n = f32[8,4] iota(), iota_dimension=1\n"
    "  v = f32[8,4] sine(n)\n"
    "  wide = f32[8,4,1] reshape(v)\n  back = f32[8,4] reshape(wide)\n"
    "  b = f32[8,4] multiply(a, back)\n  zero = f32[] constant(0)\n"
    "  k = f32[] reduce(v, zero), dimensions={0,1}, to_apply=add\n"
    "  ROOT r = (f32[8,4], f32[]) tuple(b, k)\n}\n";

static void what_folds_has_the_split_it_is_wanted_in(void **state)
{
    struct exported x;

    (void)state;
    export_text(FOLDS, "4", "a:0=x", &x);
    assert_says(&x, "wide.operand0 = f32[8,4] opt-barrier(v), sharding={devices=[4,1]<=[4]}");
    assert_says(&x, "wide = f32[8,4,1] reshape(wide.operand0)");
    release(&x);
}

/* What the partitioner runs whole: dims are gathered one by one, the last first. */
static void check_gathers(const char *model, const char *second, uint32_t count,
                          const double bytes[static 2], const label over[static 2])
{
    struct plan_collective *c = NULL;
    struct exported x;
    struct err e = {0};
    size_t found;

    export_two(model, "2x2", "a:0=x", second, &x);
    assert_int_equal(plan_collectives(&x.plan, &c, &found, &e), 0);
    assert_int_equal(found, count);
    for (uint32_t k = 0; k < count; k++) {
        assert_int_equal(c[k].kind, COLLECTIVE_ALL_GATHER);
        assert_true(c[k].bytes == bytes[k]);
        assert_int_equal(c[k].over, over[k]);
    }
    free(c);
    release(&x);
}

static void dims_are_gathered_one_by_one(void **state)
{
    (void)state;
    check_gathers("ENTRY e {\n  a = f32[8,8,16] parameter(0)\n"
                  "  ROOT f = c64[8,8,9] fft(a), fft_type=RFFT, fft_length={16}\n}\n",
                  "a:1=y", 2, (const double[]){8 * 8 * 16 * 4 / 2, 8 * 8 * 16 * 4},
                  (const label[]){2, 1});
    check_gathers("ENTRY e {\n  a = f32[8,64] parameter(0)\n"
                  "  ROOT t = (f32[8,4], s32[8,4]) topk(a), k=4, largest=true\n}\n",
                  NULL, 1, (const double[]){8 * 64 * 4, 0}, (const label[]){1, 0});
}

/* What a loop carries unchanged stands behind a barrier with its sharding: XLA takes such leaves
 * out of the loop otherwise, and shards them anew. */
static const char LOOP[] =
    "body {\n  s = (s32[], f32[8,4], f32[4,4]) parameter(0)\n"
    "  i = s32[] get-tuple-element(s), index=0\n  x = f32[8,4] get-tuple-element(s), index=1\n"
    "  w = f32[4,4] get-tuple-element(s), index=2\n  one = s32[] constant(1)\n"
    "  j = s32[] add(i, one)\n"
    "  y = f32[8,4] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
    "  ROOT next = (s32[], f32[8,4], f32[4,4]) tuple(j, y, w)\n}\n"
    "cond {\n  s = (s32[], f32[8,4], f32[4,4]) parameter(0)\n"
    "  i = s32[] get-tuple-element(s), index=0\n  n = s32[] constant(5)\n"
    "  ROOT go = pred[] compare(i, n), direction=LT\n}\n"
    "ENTRY e {\n  a = f32[8,4] parameter(0)\n  w = f32[4,4] parameter(1)\n"
    "  zero = s32[] constant(0)\n  init = (s32[], f32[8,4], f32[4,4]) tuple(zero, a, w)\n"
    "  loop = (s32[], f32[8,4], f32[4,4]) while(init), condition=cond, body=body\n"
    "  ROOT out = f32[8,4] get-tuple-element(loop), index=1\n}\n";

static void loops_hold_what_passes_unchanged(void **state)
{
    struct exported x;

    (void)state;
    export_text(LOOP, "4", "a:0=x", &x);
    assert_says(&x, "opt-barrier(");
    assert_says(&x, "while(");
    const char *barrier = strstr(x.text.text, "opt-barrier(");
    const char *line_end = strchr(barrier, '\n');
    assert_true(line_end && strstr(barrier, "sharding={replicated}") &&
                strstr(barrier, "sharding={replicated}") < line_end);
    const char *loop = strstr(x.text.text, " while(");
    assert_non_null(strstr(loop, "sharding={{replicated}, {devices=[4,1]<=[4]}, {replicated}}"));
    release(&x);
}

/* A counter that goes up by what a constant selects, which is nothing: taken out of loops too. */
static const char COUNTS_NOTHING[] =
    "body {\n  s = (s32[], f32[8,4], s32[]) parameter(0)\n"
    "  i = s32[] get-tuple-element(s), index=0\n  x = f32[8,4] get-tuple-element(s), index=1\n"
    "  c = s32[] get-tuple-element(s), index=2\n  one = s32[] constant(1)\n"
    "  nil = s32[] constant(0)\n  yes = pred[] constant(true)\n  j = s32[] add(i, one)\n"
    "  more = s32[] select(yes, nil, one)\n  d = s32[] add(c, more)\n  y = f32[8,4] add(x, x)\n"
    "  ROOT next = (s32[], f32[8,4], s32[]) tuple(j, y, d)\n}\n"
    "cond {\n  s = (s32[], f32[8,4], s32[]) parameter(0)\n"
    "  i = s32[] get-tuple-element(s), index=0\n  n = s32[] constant(5)\n"
    "  ROOT go = pred[] compare(i, n), direction=LT\n}\n"
    "ENTRY e {\n  a = f32[8,4] parameter(0)\n  zero = s32[] constant(0)\n"
    "  init = (s32[], f32[8,4], s32[]) tuple(zero, a, zero)\n"
    "  loop = (s32[], f32[8,4], s32[]) while(init), condition=cond, body=body\n"
    "  ROOT out = f32[8,4] get-tuple-element(loop), index=1\n}\n";

static void loops_hold_what_comes_out_unchanged(void **state)
{
    struct exported x;

    (void)state;
    export_text(COUNTS_NOTHING, "4", "a:0=x", &x);
    assert_says(&x, "opt-barrier(d), sharding={replicated}");
    release(&x);
}

/* Axes in another order than the mesh's are read back with which of them are innermost. */
static void inner_axes_are_read_back(void **state)
{
    struct cluster_mesh mesh;
    struct cluster c;
    struct err e = {0};

    (void)state;
    assert_int_equal(cluster_of_devices(&c, 8, &e), 0);
    assert_int_equal(mesh_parse(&mesh, &c, "2x2x2", &e), 0);
    for (label over = 1; over < 8; over++) {
        for (label inner = 0; inner < 8; inner++) {
            const label wanted[2] = {over, (label)(7 & ~over)};
            label got[2], in;
            struct str text = {0}, again = {0};
            sharding_write_inner(&mesh, wanted, inner, 2, SHARDING_V2, &text);
            assert_int_equal(sharding_read_inner(&mesh, text.text, text.size, 2, 7, got, &in),
                             text.size);
            assert_memory_equal(got, wanted, sizeof got);
            sharding_write_inner(&mesh, got, in, 2, SHARDING_V2, &again);
            assert_string_equal(again.text, text.text);
            str_release(&text);
            str_release(&again);
        }
    }
}

/* ---- relaxed plans ---- */

/* What a step hands out stays as it was made: splitting the product pays, gathering it would not.
 */
static const char HANDED_OUT[] =
    "ENTRY e {\n  a = f32[512,512] parameter(0)\n  w = f32[512,512] parameter(1)\n"
    "  y = f32[512,512] dot(a, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
    "  n = f32[512,512] tanh(y)\n"
    "  ROOT r = (f32[512,512], f32[512,512]) tuple(y, n)\n}\n";

static void results_are_handed_out_as_they_are(void **state)
{
    struct plan_collective *c = NULL;
    struct exported x;
    struct err e = {0};
    size_t count;

    (void)state;
    export_relaxed(HANDED_OUT, "4", &x);
    assert_int_equal(plan_collectives(&x.plan, &c, &count, &e), 0);
    assert_int_equal(count, 0);
    free(c);
    const char *root = strstr(x.text.text, "ROOT r = ");
    assert_non_null(root);
    assert_non_null(strstr(root, "sharding={{devices=["));
    assert_null(strstr(root, "{replicated}"));
    assert_null(strstr(x.text.text, "r.operand"));
    release(&x);
}

/* As in strict plans: two rows on eight devices leave none over to cut along, which is said. */
#define THREE(BATCH)                                                               \
    "ENTRY e {\n  a = f32[" BATCH ",64,64,3] parameter(0)\n"                       \
    "  b = f32[" BATCH ",64,64,3] parameter(1)\n"                                  \
    "  ROOT g = f32[3,3,1,3] convolution(a, b), window={size=64x64 pad=1_1x1_1}, " \
    "dim_labels=f01b_i01o->01bf, batch_group_count=3\n}\n"

static void relaxed_sums_of_batch_groups_are_whole_or_even(void **state)
{
    struct exported x;

    (void)state;
    export_relaxed(THREE("2"), "2x4", &x);
    assert_says(&x, "batch_group_count=3, sharding={replicated}");
    assert_non_null(strstr(x.warnings.text, "g is a convolution with batch groups"));
    release(&x);
    export_relaxed(THREE("8"), "2x4", &x);
    assert_says(&x, "g.operand0 = f32[8,64,64,3] copy(a), sharding={devices=[8,1,1,1]<=[8]}");
    assert_null(strstr(x.warnings.size ? x.warnings.text : "", "batch groups"));
    release(&x);
}

/* ---- counts ---- */

/* A condition is asked once more than its body runs. */
static const char ASKED[] =
    "add {\n  p = f32[] parameter(0)\n  q = f32[] parameter(1)\n  ROOT s = f32[] add(p, q)\n}\n"
    "body {\n  s = (s32[], f32[8,4]) parameter(0)\n"
    "  i = s32[] get-tuple-element(s), index=0\n  x = f32[8,4] get-tuple-element(s), index=1\n"
    "  one = s32[] constant(1)\n  j = s32[] add(i, one)\n  y = f32[8,4] tanh(x)\n"
    "  ROOT next = (s32[], f32[8,4]) tuple(j, y)\n}\n"
    "cond {\n  s = (s32[], f32[8,4]) parameter(0)\n"
    "  i = s32[] get-tuple-element(s), index=0\n  x = f32[8,4] get-tuple-element(s), index=1\n"
    "  zero = f32[] constant(0)\n  all = f32[] reduce(x, zero), dimensions={0,1}, to_apply=add\n"
    "  n = s32[] constant(5)\n  less = pred[] compare(i, n), direction=LT\n"
    "  much = pred[] compare(all, zero), direction=NE\n  ROOT go = pred[] and(less, much)\n}\n"
    "ENTRY e {\n  a = f32[8,4] parameter(0)\n  zero = s32[] constant(0)\n"
    "  init = (s32[], f32[8,4]) tuple(zero, a)\n"
    "  loop = (s32[], f32[8,4]) while(init), condition=cond, body=body\n"
    "  ROOT out = f32[8,4] get-tuple-element(loop), index=1\n}\n";

static void conditions_are_asked_once_more(void **state)
{
    struct plan_collective *c = NULL;
    struct exported x;
    struct err e = {0};
    size_t count;

    (void)state;
    export_text(ASKED, "4", "a:0=x", &x);
    assert_int_equal(plan_collectives(&x.plan, &c, &count, &e), 0);
    assert_int_equal(count, 1);
    assert_int_equal(c[0].kind, COLLECTIVE_ALL_REDUCE);
    assert_int_equal(c[0].count, 6);
    free(c);
    release(&x);
}

/* What a select with a constant predicate never takes does not run: XLA folds the select. */
#define TAKEN(PREDICATE)                                                                         \
    "add {\n  p = f32[] parameter(0)\n  q = f32[] parameter(1)\n  ROOT s = f32[] add(p, q)\n}\n" \
    "ENTRY e {\n  a = f32[8,4] parameter(0)\n  b = f32[4] parameter(1)\n"                        \
    "  t = pred[] constant(true)\n  f = pred[] constant(false)\n  zero = f32[] constant(0)\n"    \
    "  ts = pred[4] broadcast(t), dimensions={}\n  fs = pred[4] broadcast(f), dimensions={}\n"   \
    "  no = pred[] constant(0)\n  ns = pred[4] broadcast(no), dimensions={}\n"                   \
    "  u = pred[4] compare(b, b), direction=NE\n"                                                \
    "  all = f32[4] reduce(a, zero), dimensions={0}, to_apply=add\n"                             \
    "  ROOT r = f32[4] select(" PREDICATE ")\n}\n"

static void what_is_never_taken_does_not_run(void **state)
{
    static const struct {
        const char *text;
        size_t collectives;
    } cases[] = {{TAKEN("ts, b, all"), 0}, {TAKEN("fs, all, b"), 0}, {TAKEN("ns, all, b"), 0},
                 {TAKEN("fs, b, all"), 1}, {TAKEN("ts, all, b"), 1}, {TAKEN("u, b, all"), 1}};
    struct plan_collective *c = NULL;
    struct exported x;
    struct err e = {0};
    size_t count;

    (void)state;
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        export_text(cases[n].text, "4", "a:0=x", &x);
        assert_int_equal(plan_collectives(&x.plan, &c, &count, &e), 0);
        double runs = 0;
        for (size_t k = 0; k < count; k++)
            runs += c[k].count;
        assert_int_equal(runs, cases[n].collectives);
        free(c);
        release(&x);
    }
}

/* ---- warnings ---- */

/* Six rows on four devices: what keeps the padded rows where they are is not warned of, what moves
 * them is, and eight rows are not padded. */
#define MOVED(ROWS)                                                                    \
    "ENTRY e {\n  a = f32[" ROWS ",4] parameter(0)\n  n = f32[" ROWS ",4] negate(a)\n" \
    "  ROOT r = f32[" ROWS ",2,2] reshape(n)\n}\n"

static void moved_padding_is_warned_of(void **state)
{
    struct exported x;

    (void)state;
    pads = true;
    export_text(MOVED("6"), "4", "a:0=x", &x);
    assert_non_null(strstr(x.warnings.text, "r is split unevenly"));
    assert_null(strstr(x.warnings.text, "n is split"));
    release(&x);
    export_text(MOVED("8"), "4", "a:0=x", &x);
    assert_null(strstr(x.warnings.size ? x.warnings.text : "", "unevenly"));
    release(&x);
    pads = false;
}

/* A parameter that is a tuple is as many arguments of StableHLO, each split as planned. */
static void tuples_become_arguments(void **state)
{
    static const char model[] = "HloModule m\n\nENTRY e {\n"
                                "  s = (s32[], (f32[8], f32[6])) parameter(0)\n"
                                "  i = s32[] get-tuple-element(s), index=0\n"
                                "  t = (f32[8], f32[6]) get-tuple-element(s), index=1\n"
                                "  x = f32[8] get-tuple-element(t), index=0\n"
                                "  y = f32[6] get-tuple-element(t), index=1\n"
                                "  p = f32[8] parameter(1)\n"
                                "  q = f32[8] multiply(x, p)\n"
                                "  ROOT r = (s32[], f32[8], f32[6]) tuple(i, q, y)\n}\n";
    struct exported x;
    struct str out = {0}, warnings = {0};
    struct err e = {0};

    (void)state;
    export_text(model, "4", "p:0=x", &x);
    assert_int_equal(export_stablehlo(&x.plan, &out, &warnings, &e), 0);
    assert_non_null(strstr(out.text, "arg_attrs = [{sdy.sharding = #sdy.sharding<@mesh, []>}, "
                                     "{sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}]>}, "
                                     "{sdy.sharding = #sdy.sharding<@mesh, [{}]>}, "
                                     "{sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}]>}]"));
    if (export_stablehlo_check(&x.plan, out.text, out.size, &e))
        fail_msg("%s", e.what);
    memcpy(strstr(out.text, "[{\"x\"}]"), "[{}]   ", 7); /* of a leaf inside of the tuple */
    assert_int_equal(export_stablehlo_check(&x.plan, out.text, out.size, &e), ERR_INPUT);
    str_release(&out);
    str_release(&warnings);
    release(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_of_batch_groups_are_over_all_devices),
        cmocka_unit_test(depthwise_points_are_announced),
        cmocka_unit_test(equal_free_values_are_split_alike),
        cmocka_unit_test(values_that_fold_to_the_same_are_split_alike),
        cmocka_unit_test(values_of_varying_size_carry_no_sharding),
        cmocka_unit_test(sums_of_free_values_are_whole),
        cmocka_unit_test(products_cut_what_every_device_has),
        cmocka_unit_test(what_folds_has_the_split_it_is_wanted_in),
        cmocka_unit_test(dims_are_gathered_one_by_one),
        cmocka_unit_test(loops_hold_what_passes_unchanged),
        cmocka_unit_test(loops_hold_what_comes_out_unchanged),
        cmocka_unit_test(inner_axes_are_read_back),
        cmocka_unit_test(tuples_become_arguments),
        cmocka_unit_test(results_are_handed_out_as_they_are),
        cmocka_unit_test(relaxed_sums_of_batch_groups_are_whole_or_even),
        cmocka_unit_test(conditions_are_asked_once_more),
        cmocka_unit_test(what_is_never_taken_does_not_run),
        cmocka_unit_test(moved_padding_is_warned_of),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
