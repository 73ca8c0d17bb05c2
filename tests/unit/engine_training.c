/* Micro-batches and ZeRO: a step worked out by hand, tables against sums over instructions and
 * collectives in every batching, and memory against a plain sum over live ranges. */
#include "hlo/load.h"
#include "random_module.h"

#include "engine/plan/plan.h"
#include "engine/plan/random.h"
#include "engine/problem/setting.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

/* The step of a model of two layers; GRADIENT makes f, the gradient of w1. */
#define STEP(GRADIENT)                                                                             \
    "HloModule step, input_output_alias={ {0}: (0, {}, may-alias), {1}: (1, {}, may-alias) }\n"    \
    "add.1 {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] add(a, b)\n}\n" \
    "ENTRY main {\n"                                                                               \
    "  w1 = f32[16,32] parameter(0)\n  w2 = f32[32,8] parameter(1)\n  x = f32[8,16] "              \
    "parameter(2)\n"                                                                               \
    "  h = f32[8,32] dot(x, w1), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"             \
    "  y = f32[8,8] dot(h, w2), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"              \
    "  g = f32[32,8] dot(h, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"              \
    "  w4 = f32[32,8] subtract(w2, g)\n"                                                           \
    "  d = f32[8,32] dot(y, w2), lhs_contracting_dims={1}, rhs_contracting_dims={1}\n" GRADIENT    \
    "  w3 = f32[16,32] subtract(w1, f)\n  z = f32[] constant(0)\n"                                 \
    "  l = f32[] reduce(y, z), dimensions={0,1}, to_apply=add.1\n"                                 \
    "  ROOT t = (f32[16,32], f32[32,8], f32[]) tuple(w3, w4, l)\n}\n"

static const char model[] =
    STEP("  f = f32[16,32] dot(x, d), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n");
/* As JAX writes it. */
static const char transposed[] =
    STEP("  ft = f32[32,16] dot(d, x), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"
         "  f = f32[16,32] transpose(ft), dimensions={1,0}\n");

static void load_text(struct problem *p, const char *text, uint32_t devices, const char *mesh)
{
    struct problem_options o = {0};
    struct cluster c;
    struct hlo_module *m;
    struct err e;

    snprintf(o.mesh, sizeof o.mesh, "%s", mesh);
    assert_int_equal(cluster_of_devices(&c, devices, &e), 0);
    assert_int_equal(hlo_load_memory("model", text, strlen(text), NULL, &m, &e), 0);
    assert_int_equal(problem_new(m, NULL, &c, &o, p, &e), 0);
}

static void load(struct problem *p, uint32_t devices, const char *mesh)
{
    load_text(p, model, devices, mesh);
}

static void set_batching(struct problem *p, uint32_t k, uint8_t zero)
{
    struct batch_and_zero r = {k, zero, 0};
    struct err e;

    assert_int_equal(problem_set_batch_and_zero(p, &r, &e), 0);
}

static void plan_with(const struct problem *p, const char *setting, struct plan *plan)
{
    struct strict s;
    struct err e;

    assert_int_equal(strict_new(&p->labels, &s, &e), 0);
    if (setting)
        assert_int_equal(setting_apply(p, &s, setting, &e), 0);
    assert_int_equal(plan_from_strict(p, &s, PLAN_BY_DECISION, plan, &e), 0);
    strict_release(&s);
}

struct tally {
    uint32_t reduces, scatters, gathers;
    double reduced, scattered, gathered, ms;
};

static struct tally count_collectives(const struct plan *plan)
{
    struct plan_collective *list;
    struct tally t = {0};
    size_t count;
    struct err e;

    assert_int_equal(plan_collectives(plan, &list, &count, &e), 0);
    for (size_t k = 0; k < count; k++) {
        t.ms += list[k].ms;
        switch (list[k].kind) {
        case COLLECTIVE_ALL_REDUCE:
            t.reduces += list[k].count;
            t.reduced += list[k].bytes;
            break;
        case COLLECTIVE_REDUCE_SCATTER:
            t.scatters += list[k].count;
            t.scattered += list[k].bytes;
            break;
        default:
            t.gathers += list[k].count;
            t.gathered += list[k].bytes;
        }
    }
    free(list);
    return t;
}

/* Data parallel on 2 devices. Bytes: w1 2048, w2 1024, x 512; per device and micro-batch of k = 2:
 * x 128, h 256, y 64, d 256. The two weight gradients and the loss wait for the last pass. */
static void test_by_hand(void **state)
{
    static const struct {
        uint32_t k;
        uint8_t zero;
        uint32_t reduces, scatters, gathers;
        double scattered, gathered, arguments;
    } cases[] = {
        {1, 0, 3, 0, 0, 0, 0, 2048 + 1024 + 256},
        {2, 0, 3, 0, 0, 0, 0, 2048 + 1024 + 256},
        {2, 1, 3, 0, 0, 0, 0, 2048 + 1024 + 256},
        {2, 2, 3, 2, 0, 3072, 0, 2048 + 1024 + 256},
        {1, 3, 3, 0, 2, 0, 3072, 1024 + 512 + 256},
        {4, 3, 3, 6, 14, 3 * 3072, 7 * 3072, 1024 + 512 + 256},
    };
    struct problem *p = mem_alloc(sizeof *p);

    (void)state;
    load(p, 2, "");
    assert_int_equal(p->training.batch_divisor, 8);
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        struct memory_cost memory;
        struct plan plan;
        struct err e;
        set_batching(p, cases[n].k, cases[n].zero);
        plan_with(p, "x:0=1", &plan);
        struct tally t = count_collectives(&plan);
        assert_int_equal(t.reduces, cases[n].reduces);
        assert_int_equal(t.scatters, cases[n].scatters);
        assert_int_equal(t.gathers, cases[n].gathers);
        assert_true(t.reduced == 3072 + 4);
        assert_true(t.scattered == cases[n].scattered && t.gathered == cases[n].gathered);
        assert_true(fabs(t.ms - plan.cost.communication_ms) < 1e-9);
        assert_int_equal(plan_memory(&plan, &memory, &e), 0);
        assert_true(memory.arguments == cases[n].arguments);
        plan_release(&plan);
    }
    problem_release(p);
    free(p);
}

/* While f is made: d 256, f 2048, y 64 for the loss; accumulators of 3072 and beside them what they
 * are reduced to, or half of them in pieces. */
static void check_memory_by_hand(const char *text, const char *at)
{
    static const struct {
        uint32_t k;
        uint8_t zero;
        double temporaries;
    } cases[] = {
        {2, 0, 256 + 2048 + 64 + 3072 + 3072},
        {2, 1, 256 + 2048 + 64 + 3072 + 3072},
        {2, 2, 256 + 2048 + 64 + 1536},
        {4, 2, 128 + 2048 + 32 + 1536},
    };
    struct problem *p = mem_alloc(sizeof *p);

    load_text(p, text, 2, "");
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        struct memory_cost memory;
        struct plan plan;
        struct err e;
        set_batching(p, cases[n].k, cases[n].zero);
        plan_with(p, "x:0=1", &plan);
        assert_int_equal(plan_memory(&plan, &memory, &e), 0);
        assert_string_equal(hlo_name(p->m, memory.at), at);
        assert_true(memory.temporaries == cases[n].temporaries);
        plan_release(&plan);
    }
    problem_release(p);
    free(p);
}

static void test_memory_by_hand(void **state)
{
    (void)state;
    check_memory_by_hand(model, "f");
    check_memory_by_hand(transposed, "ft");
}

static hlo_id named(const struct problem *p, const char *name)
{
    hlo_id id = 0;

    while (id < p->m->count && strcmp(hlo_name(p->m, id), name) != 0)
        id++;
    assert_true(id < p->m->count);
    return id;
}

/* From level 1 on each of 2 devices updates its half of w1; what is no update stays as it is. */
static void test_update_of_a_piece(void **state)
{
    struct problem *p = mem_alloc(sizeof *p);
    double ms[4], other[4];

    (void)state;
    load(p, 2, "");
    for (uint8_t zero = 0; zero <= 3; zero++) {
        struct plan plan;
        set_batching(p, 1, zero);
        plan_with(p, "x:0=1", &plan);
        ms[zero] = step_tables_instruction(&p->step_tables, named(p, "w3"), plan.on).compute_ms;
        other[zero] = step_tables_instruction(&p->step_tables, named(p, "h"), plan.on).compute_ms;
        assert_true(ms[0] > 0 && ms[zero] == (zero ? 0.5 : 1) * ms[0] && other[zero] == other[0]);
        plan_release(&plan);
    }
    problem_release(p);
    free(p);
}

/* The gradient as products in bf16 leave it; a sum that the loop below carries itself. */
static const char narrow[] =
    STEP("  xb = bf16[8,16] convert(x)\n  db = bf16[8,32] convert(d)\n"
         "  fb = bf16[16,32] dot(xb, db), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"
         "  f = f32[16,32] convert(fb)\n");

/* Two partial sums of one variable's gradient, as where layers share it. */
static const char shared[] =
    STEP("  f1 = f32[16,32] dot(x, d), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"
         "  f2 = f32[16,32] dot(x, h), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"
         "  f = f32[16,32] add(f1, f2)\n");

/* A loop of 4 trips that carries the gradient of w, in slices or whole. */
#define CARRIED(FRESH)                                                                             \
    "HloModule step, input_output_alias={ {0}: (0, {}, may-alias) }\n"                             \
    "add.1 {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] add(a, b)\n}\n" \
    "less {\n  q = (s32[], f32[8,16], f32[4,16,16]) parameter(0)\n"                                \
    "  j = s32[] get-tuple-element(q), index=0\n  n = s32[] constant(4)\n"                         \
    "  ROOT c = pred[] compare(j, n), direction=LT\n}\n"                                           \
    "layer {\n  p = (s32[], f32[8,16], f32[4,16,16]) parameter(0)\n"                               \
    "  i = s32[] get-tuple-element(p), index=0\n"                                                  \
    "  h = f32[8,16] get-tuple-element(p), index=1\n"                                              \
    "  gs = f32[4,16,16] get-tuple-element(p), index=2\n"                                          \
    "  o = s32[] constant(0)\n  one = s32[] constant(1)\n  i2 = s32[] add(i, one)\n"               \
    "  fresh = f32[16,16] dot(h, h), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n" FRESH   \
    "  ROOT r = (s32[], f32[8,16], f32[4,16,16]) tuple(i2, h, g2)\n}\n"                            \
    "ENTRY main {\n"                                                                               \
    "  w = f32[4,16,16] parameter(0)\n  x = f32[8,16] parameter(1)\n  z = s32[] constant(0)\n"     \
    "  f = f32[] constant(0)\n"                                                                    \
    "  w0 = f32[1,16,16] slice(w), slice={[0:1], [0:16], [0:16]}\n"                                \
    "  w1 = f32[16,16] reshape(w0)\n"                                                              \
    "  y = f32[8,16] dot(x, w1), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"             \
    "  zs = f32[4,16,16] broadcast(f), dimensions={}\n"                                            \
    "  t = (s32[], f32[8,16], f32[4,16,16]) tuple(z, y, zs)\n"                                     \
    "  l = (s32[], f32[8,16], f32[4,16,16]) while(t), condition=less, body=layer\n"                \
    "  g = f32[4,16,16] get-tuple-element(l), index=2\n"                                           \
    "  w2 = f32[4,16,16] subtract(w, g)\n"                                                         \
    "  e = f32[] reduce(y, f), dimensions={0,1}, to_apply=add.1\n"                                 \
    "  ROOT k = (f32[4,16,16], f32[]) tuple(w2, e)\n}\n"

static const char by_slice[] =
    CARRIED("  f1 = f32[1,16,16] reshape(fresh)\n"
            "  g2 = f32[4,16,16] dynamic-update-slice(gs, f1, i, o, o)\n");
static const char by_layer[] =
    CARRIED("  f1 = f32[1,16,16] broadcast(fresh), dimensions={1,2}\n"
            "  g2 = f32[4,16,16] dynamic-update-slice(gs, f1, i, o, o)\n");
static const char carried[] = CARRIED("  f4 = f32[4,16,16] broadcast(fresh), dimensions={1,2}\n"
                                      "  g2 = f32[4,16,16] add(gs, f4)\n");

/* What adding up takes of an instruction's time in a step of k micro-batches, as it is said and as
 * the time has it. */
static double adding_up(struct problem *p, const char *name, uint32_t k, uint8_t zero)
{
    hlo_id id = named(p, name);
    uint8_t *adding = &p->training.adding[p->m->leaf_base[id]], was = *adding;
    struct plan plan;

    set_batching(p, k, zero);
    plan_with(p, "x:0=1", &plan);
    struct instruction_cost with = step_tables_instruction(&p->step_tables, id, plan.on);
    *adding = 0;
    double without = step_tables_instruction(&p->step_tables, id, plan.on).compute_ms;
    *adding = was;
    assert_true(fabs(with.compute_ms - without - with.adding_ms) <= 1e-12 * with.compute_ms);
    plan_release(&plan);
    return with.adding_ms;
}

/* All but the first time the fresh gradient and its sum are read, and the sum is written; a piece
 * of them from ZeRO 2 on, where passes make partial sums of it. */
static void test_gradients_are_added_up(void **state)
{
    static const struct {
        const char *text, *made;
        double bytes; /* of all trips of a pass */
        bool is_partial;
    } cases[] = {
        {model, "f", 3 * 4 * 16 * 32, true},
        {transposed, "ft", 3 * 4 * 16 * 32, true},
        {narrow, "fb", (2 + 4 + 4) * 16 * 32, true},
        {by_slice, "fresh", 4 * 3 * 4 * 16 * 16, true},
        {by_layer, "fresh", 4 * 3 * 4 * 16 * 16, true},
        {carried, "fresh", 0, true}, /* begins with the sum so far */
        {shared, "f", 3 * 4 * 16 * 32, false},
    };

    (void)state;
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        struct problem *p = mem_alloc(sizeof *p);
        load_text(p, cases[n].text, 2, "");
        for (uint32_t at = 0; at < 12; at++) {
            uint32_t k = 1u << at % 3;
            uint8_t zero = (uint8_t)(at / 3);
            double piece = zero >= 2 && cases[n].is_partial ? 0.5 : 1;
            double ms = (k - 1) * piece * cases[n].bytes / p->step_tables.device.bandwidth * 1e3;
            double is = adding_up(p, cases[n].made, k, zero);
            if (!(fabs(is - ms) <= 1e-9 * ms))
                fail_msg("case %zu, %u micro-batches, ZeRO %d: %g, not %g", n, k, zero, is, ms);
        }
        problem_release(p);
        free(p);
    }
}

/* Long streams go by what a copy reaches; a device without a share by its bandwidth. */
static void test_streams(void **state)
{
    struct cluster_device d = {.bandwidth = 1000};

    (void)state;
    assert_true(cluster_stream_bandwidth(&d) == 1000);
    d.share = 0.55;
    assert_true(fabs(cluster_stream_bandwidth(&d) - 900) < 1e-9);
    d.share = 0.95;
    assert_true(fabs(cluster_stream_bandwidth(&d) - 950) < 1e-9);
}

/* A stack of 6 layers that a loop of some trips slices, and converts where BODY says so. */
#define STACK(TRIPS, BODY)                                                                         \
    "HloModule step, input_output_alias={ {0}: (0, {}, may-alias) }\n"                             \
    "add.1 {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] add(a, b)\n}\n" \
    "less {\n  q = (s32[], f32[8,16], f32[6,16,16]) parameter(0)\n"                                \
    "  j = s32[] get-tuple-element(q), index=0\n  n = s32[] constant(" TRIPS ")\n"                 \
    "  ROOT c = pred[] compare(j, n), direction=LT\n}\n"                                           \
    "layer {\n  p = (s32[], f32[8,16], f32[6,16,16]) parameter(0)\n"                               \
    "  i = s32[] get-tuple-element(p), index=0\n"                                                  \
    "  h = f32[8,16] get-tuple-element(p), index=1\n"                                              \
    "  ws = f32[6,16,16] get-tuple-element(p), index=2\n"                                          \
    "  o = s32[] constant(0)\n  one = s32[] constant(1)\n"                                         \
    "  i2 = s32[] add(i, one)\n" BODY                                                              \
    "  ROOT r = (s32[], f32[8,16], f32[6,16,16]) tuple(i2, h2, ws)\n}\n"                           \
    "ENTRY main {\n"                                                                               \
    "  w = f32[6,16,16] parameter(0)\n  x = f32[8,16] parameter(1)\n  z = s32[] constant(0)\n"     \
    "  t = (s32[], f32[8,16], f32[6,16,16]) tuple(z, x, w)\n"                                      \
    "  l = (s32[], f32[8,16], f32[6,16,16]) while(t), condition=less, body=layer\n"                \
    "  y = f32[8,16] get-tuple-element(l), index=1\n"                                              \
    "  g = f32[16,16] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"             \
    "  gs = f32[6,16,16] broadcast(g), dimensions={1,2}\n"                                         \
    "  w2 = f32[6,16,16] subtract(w, gs)\n  f = f32[] constant(0)\n"                               \
    "  e = f32[] reduce(y, f), dimensions={0,1}, to_apply=add.1\n"                                 \
    "  ROOT k = (f32[6,16,16], f32[]) tuple(w2, e)\n}\n"

static const char sliced[] = STACK(
    "6", "  v = f32[1,16,16] dynamic-slice(ws, i, o, o), dynamic_slice_sizes={1,16,16}\n"
         "  u = bf16[1,16,16] convert(v)\n  b2 = bf16[16,16] reshape(u)\n"
         "  hb = bf16[8,16] convert(h)\n"
         "  h2 = f32[8,16] dot(hb, b2), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n");
static const char unconverted[] =
    STACK("6", "  v = f32[1,16,16] dynamic-slice(ws, i, o, o), dynamic_slice_sizes={1,16,16}\n"
               "  b2 = f32[16,16] reshape(v)\n"
               "  h2 = f32[8,16] dot(h, b2), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n");
/* A row of it, not each of its layers. */
static const char looked_up[] =
    STACK("7", "  v = f32[1,16,16] dynamic-slice(ws, i, o, o), dynamic_slice_sizes={1,16,16}\n"
               "  b2 = f32[16,16] reshape(v)\n"
               "  h2 = f32[8,16] dot(h, b2), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n");
static const char at_once[] =
    STACK("6", "  z2 = f32[] constant(0)\n"
               "  u = f32[2,16,16] dynamic-slice(ws, i, o, o), dynamic_slice_sizes={2,16,16}\n"
               "  v = f32[16,16] reduce(u, z2), dimensions={0}, to_apply=add.1\n"
               "  h2 = f32[8,16] dot(h, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n");

/* At level 3 a stack is gathered as its readers take it: by layer, as converted; two layers at a
 * time are there. */
static void test_stack_is_gathered_by_layer(void **state)
{
    static const struct {
        const char *text;
        uint32_t gathers;
        double gathered, there;
    } cases[] = {{sliced, 6, 6 * 1024 / 2, 2 * 1024 / 2},
                 {unconverted, 6, 6 * 1024, 2 * 1024},
                 {looked_up, 1, 6 * 1024, 6 * 1024},
                 {at_once, 1, 6 * 1024, 6 * 1024}};
    struct problem *p = mem_alloc(sizeof *p);

    (void)state;
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        struct plan plan;
        double there = 0;
        load_text(p, cases[n].text, 2, "");
        set_batching(p, 1, 3);
        plan_with(p, "x:0=1", &plan);
        struct tally t = count_collectives(&plan);
        assert_int_equal(t.gathers, cases[n].gathers);
        assert_true(t.gathered == cases[n].gathered);
        for (uint32_t k = 0; k < p->memory.count; k++) {
            const struct memory_range *r = &p->memory.ranges[k];
            if (r->storing == STORED_GATHERED)
                there += memory_range_bytes(&p->memory, &p->labels, plan.on, r);
        }
        assert_true(there == cases[n].there);
        plan_release(&plan);
        problem_release(p);
    }
    free(p);
}

static void test_errors(void **state)
{
    struct problem *p = mem_alloc(sizeof *p);
    struct batch_and_zero five = {5, 0, 0}, high = {1, 4, 0};
    struct err e;

    (void)state;
    load(p, 2, "");
    assert_int_equal(problem_set_batch_and_zero(p, &five, &e), ERR_INPUT);
    assert_non_null(strstr(e.what, "divisor of the module's batch, 8"));
    assert_int_equal(problem_set_batch_and_zero(p, &high, &e), ERR_INPUT);
    assert_int_equal(problem_batch_and_zero(p).micro_batches, 1);
    set_batching(p, 8, 0);
    struct strict s;
    assert_int_equal(strict_new(&p->labels, &s, &e), 0);
    assert_int_equal(setting_apply(p, &s, "x:0=1", &e),
                     ERR_INFEASIBLE); /* one sample is not split */
    strict_release(&s);
    problem_release(p);
    free(p);
}

/* A step of one weight. ROWS makes f, its gradient, and y of what is read, x. */
#define LAYER(SHAPE, ROWS)                                                                         \
    "HloModule layer, input_output_alias={ {0}: (0, {}, may-alias) }\n"                            \
    "less {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = pred[] compare(a, "    \
    "b), "                                                                                         \
    "direction=LT\n}\n"                                                                            \
    "add.1 {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] add(a, b)\n}\n" \
    "ENTRY main {\n  w1 = " SHAPE " parameter(0)\n  x = f32[8,16] parameter(1)\n" ROWS             \
    "  w3 = " SHAPE " subtract(w1, f)\n  z = f32[] constant(0)\n"                                  \
    "  l = f32[] reduce(y, z), dimensions={0,1}, to_apply=add.1\n"                                 \
    "  ROOT t = (" SHAPE ", f32[]) tuple(w3, l)\n}\n"

static const char ordered[] =
    LAYER("f32[16,32]",
          "  s = f32[8,16] sort(x), dimensions={0}, to_apply=less\n"
          "  y = f32[8,32] dot(s, w1), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
          "  f = f32[16,32] dot(s, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n");

static void check_uncut(const char *text, const char *reason)
{
    struct problem *p = mem_alloc(sizeof *p);
    struct batch_and_zero four = {4, 0, 0};
    struct err e = {0};

    load_text(p, text, 2, "");
    if (problem_set_batch_and_zero(p, &four, &e) != ERR_INPUT || !strstr(e.what, reason))
        fail_msg("%s", e.what);
    problem_release(p);
    free(p);
}

static void test_why_uncut(void **state)
{
    (void)state;
    check_uncut(ordered, "can be cut: x dim 0 is needed whole by s");
}

/* ---- random modules ---- */

static double sum_by_instruction(const struct problem *p, const label *on)
{
    double sum = 0;

    for (hlo_id id = 0; id < p->m->count; id++) {
        struct instruction_cost i = step_tables_instruction(&p->step_tables, id, on);
        sum += i.compute_ms + i.communication_ms;
    }
    for (uint32_t k = 0; k < p->roles.param_count; k++) {
        struct storage_cost s = step_tables_storage(&p->step_tables, k, on);
        for (uint32_t n = 0; n < s.count; n++)
            sum += s.items[n].count * s.items[n].ms;
    }
    return sum;
}

/* Peak as the definition says: at each position of the entry all ranges that hold it. */
static double peak_by_ranges(const struct problem *p, const label *on)
{
    const struct memory_model *m = &p->memory;
    const struct hlo_computation *entry = &p->m->computations[p->m->entry];
    double arguments = 0, most = 0;

    for (uint32_t n = entry->first; n < entry->first + entry->count; n++) {
        double live = 0;
        arguments = 0;
        for (uint32_t k = m->first[p->m->entry]; k < m->first[p->m->entry + 1]; k++) {
            double bytes = memory_range_bytes(m, &p->labels, on, &m->ranges[k]);
            arguments += m->ranges[k].is_argument ? bytes : 0;
            live += !m->ranges[k].is_argument && m->ranges[k].start <= n && n <= m->ranges[k].end
                        ? bytes
                        : 0;
        }
        most = live > most ? live : most;
    }
    return arguments + most;
}

static bool has_inner(const struct hlo_module *m)
{
    for (hlo_id id = 0; id < m->count; id++) {
        if (hlo_at(m, id)->opcode == HLO_OP_WHILE || hlo_at(m, id)->opcode == HLO_OP_CONDITIONAL)
            return true;
    }
    return false;
}

static void test_random(void **state)
{
    struct problem *p = mem_alloc(sizeof *p);
    struct cluster *c = mem_alloc(sizeof *c);
    struct problem_options o = {0};
    uint32_t batchings = 0;
    struct err e;

    (void)state;
    for (uint64_t seed = 1; seed <= 600; seed++) {
        snprintf(o.mesh, sizeof o.mesh, "%s", seed % 3 ? "" : "2x2");
        assert_int_equal(cluster_of_devices(c, seed % 3 ? 2 : 4, &e), 0);
        assert_int_equal(random_problem(seed, (uint32_t)(10 + seed % 40), c, &o, p, &e), 0);
        for (uint32_t k = 1; k <= 4; k *= 2) {
            for (uint8_t zero = 0; zero <= 3; zero++) {
                struct batch_and_zero r = {k, zero, 0};
                struct memory_cost memory;
                struct strict s;
                struct plan plan;
                if (problem_set_batch_and_zero(p, &r, &e))
                    continue;
                assert_int_equal(strict_new(&p->labels, &s, &e), 0);
                assert_int_equal(plan_random(p, &s, seed * 31 + k, &e), 0);
                assert_int_equal(plan_from_strict(p, &s, PLAN_BY_DECISION, &plan, &e), 0);
                double sum = sum_by_instruction(p, plan.on);
                assert_true(fabs(sum - plan.cost.step_ms) <= 1e-9 * fmax(1, sum));
                assert_true(fabs(count_collectives(&plan).ms - plan.cost.communication_ms) <=
                            1e-9 * fmax(1, sum));
                assert_int_equal(plan_memory(&plan, &memory, &e), 0);
                if (!has_inner(p->m))
                    assert_true(fabs(peak_by_ranges(p, plan.on) - memory.peak) <=
                                1e-6 * fmax(1, memory.peak));
                batchings += k > 1 || zero > 0;
                plan_release(&plan);
                strict_release(&s);
            }
        }
        problem_release(p);
    }
    print_message("%u plans in batchings beyond the plain one\n", batchings);
    assert_true(batchings > 2000);
    free(c);
    free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_memory_by_hand),
        cmocka_unit_test(test_update_of_a_piece),
        cmocka_unit_test(test_gradients_are_added_up),
        cmocka_unit_test(test_streams),
        cmocka_unit_test(test_stack_is_gathered_by_layer),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_why_uncut),
        cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
