/* What updates of variables and their storage in pieces take: as the strict model has it, also of
 * variables that no pass reads; costs that are found again are those of the same classes. */
#include "engine/pipeline/tabulate.h"
#include "tests/unit/hybrid_case.h"

/* A stage of the whole model on one device takes what the strict model says; what ZeRO 1 saves
 * of an update done in pieces is the same in both. */
static void check_update(const char *model, const char *cluster)
{
    struct case_of *c = mem_alloc(sizeof *c);
    struct hybrid_point p[2];
    double unused[2];
    struct err e;

    begin(c, model, cluster, 1, 0);
    label *on = mem_alloc(c->p.classes.count + 1);
    uint32_t slot = hybrid_slot_of(&c->in, 0, 1);
    assert_int_equal(stage_tables_price(&c->s, &c->o, &c->in, slot, (uint32_t[]){1, 0}, on, 0,
                                        c->s.count, p, unused, &e),
                     0);
    double whole = step_tables_cost(&c->p.step_tables, on).step_ms;
    assert_true(near(p[0].both_ms + p[0].reduce_ms, whole));
    double off = replicas(c, 0, 0, unused).reduce_ms - replicas(c, 0, 1, unused).reduce_ms;
    double strict = strict_cost(&c->p, 0, 1).compute_ms - strict_cost(&c->p, 1, 1).compute_ms;
    print_message("%s on %s: %.4f ms on one device; an update in pieces saves %.4f ms\n", model,
                  cluster, whole, off);
    assert_true(strict > 0 && fabs(off - strict) < 1e-6 * strict);
    free(on);
    end(c);
    free(c);
}

/* What ZeRO 2 and 3 add to a step, message by message, is the same in both; and what they save
 * where pieces of gradients are added up. */
static void check_storage(const char *model, const char *cluster, uint32_t m)
{
    struct case_of *c = mem_alloc(sizeof *c);
    double unused[2];

    begin(c, model, cluster, m, 1);
    double base = replicas(c, 0, 1, unused).both_ms;
    struct step_cost strict = strict_cost(&c->p, 1, m);
    for (uint8_t zero = 2; zero <= ZERO_LEVEL_MOST; zero++) {
        double more = m * (replicas(c, 0, zero, unused).both_ms - base);
        struct step_cost now = strict_cost(&c->p, zero, m);
        double saved = strict.compute_ms - now.compute_ms;
        double same = now.communication_ms - strict.communication_ms - saved;
        print_message("%s on %s, M %u: ZeRO %u adds %.4f ms, %.4f strict\n", model, cluster, m,
                      zero, more, same);
        assert_true(now.communication_ms > strict.communication_ms && (saved > 0) == (m > 1));
        assert_true(fabs(more - same) < 1e-6 * (now.communication_ms - strict.communication_ms));
    }
    end(c);
    free(c);
}

static void test_storage(void **unused)
{
    (void)unused;
    check_storage("mlp", "v100-1x4", 2);
    check_storage("t5-base6", "a100-1x8", 4);
}

static void test_update(void **unused)
{
    (void)unused;
    check_update("mlp", "v100-1x4");
    check_update("t5-tiny", "h100-1x8");
    check_update("resnet20", "v100-1x4");
    check_update("t5-base6", "c-4x8-v100");
}

/* No pass reads w1 and w3: w1 takes a step of its own, w3 has a gradient. */
static const char unread[] =
    "HloModule unread\n"
    "add {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] add(a, b)\n}\n"
    "ENTRY e {\n"
    "  w1 = f32[16777216] parameter(0)\n  w2 = f32[1048576] parameter(1)\n"
    "  w3 = f32[1048576] parameter(2)\n  x = f32[32,1048576] parameter(3)\n"
    "  zero = f32[] constant(0)\n  one = f32[] constant(1)\n"
    "  bias = f32[32,1048576] broadcast(w2), dimensions={1}\n"
    "  y = f32[32,1048576] add(x, x)\n  h = f32[32,1048576] add(y, bias)\n"
    "  t = f32[32,1048576] tanh(h)\n"
    "  loss = f32[] reduce(t, zero), dimensions={0,1}, to_apply=add\n"
    "  q = f32[32,1048576] multiply(t, t)\n"
    "  o = f32[32,1048576] broadcast(one), dimensions={}\n"
    "  g = f32[32,1048576] subtract(o, q)\n"
    "  d2 = f32[1048576] reduce(g, zero), dimensions={0}, to_apply=add\n"
    "  d3 = f32[1048576] reduce(q, zero), dimensions={0}, to_apply=add\n"
    "  o1 = f32[16777216] broadcast(one), dimensions={}\n"
    "  n1 = f32[16777216] add(w1, o1)\n  n2 = f32[1048576] subtract(w2, d2)\n"
    "  n3 = f32[1048576] subtract(w3, d3)\n"
    "  ROOT out = (f32[16777216], f32[1048576], f32[1048576], f32[]) tuple(n1, n2, n3, loss)\n}\n";

/* The whole model as one stage of a pipeline takes the step, and has all that is trained. */
static void check_one_stage(const char *devices)
{
    struct case_of *c = mem_alloc(sizeof *c);
    struct pipe_options options = {.micro_batches = 1, .micro_batch = 32, .memory_share = 1};
    struct pipe_instance in;
    struct err e;

    begin(c, "unread", devices, 1, 0);
    label *on = mem_alloc(c->p.classes.count + 1);
    double step = step_tables_cost(&c->p.step_tables, on).step_ms;
    assert_int_equal(pipe_tabulate(&c->order, &options, &in, &e), 0);
    uint32_t n = in.points;
    double ms = in.forward_ms[0][n] + in.backward_ms[0][n] + in.update_ms[0][n];
    print_message("as one stage %.6f ms, strict %.6f\n", ms, step);
    assert_true(fabs(ms / step - 1) < 1e-6);
    assert_true(in.state_bytes[n] == 2 * 4.0 * (16777216 + 2 * 1048576));
    assert_true(in.variables[n] == 3);
    pipe_instance_free(&in);
    free(on);
    end(c);
    free(c);
}

static void test_unread(void **unused)
{
    (void)unused;
    own_text = unread;
    check_update("unread", "4");
    check_points("unread", "4", 2, 1, 1);
    check_one_stage("4");
    own_text = NULL;
}

/* Updates of the same bytes and instructions: the gradient of w2 is a sum over the batch, that of
 * w3 over a dim more, so their tables differ in size. */
static const char sums[] =
    "HloModule sums\n"
    "add {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] add(a, b)\n}\n"
    "ENTRY e {\n"
    "  w1 = f32[4096] parameter(0)\n  w2 = f32[1024] parameter(1)\n"
    "  w3 = f32[1024] parameter(2)\n"
    "  x = f32[32,1024] parameter(3)\n  y = f32[32,16,1024] parameter(4)\n"
    "  zero = f32[] constant(0)\n  one = f32[] constant(1)\n"
    "  b0 = f32[32,1024] broadcast(w2), dimensions={1}\n  h0 = f32[32,1024] add(x, b0)\n"
    "  t0 = f32[32,1024] tanh(h0)\n"
    "  s0 = f32[32,16,1024] broadcast(t0), dimensions={0,2}\n"
    "  z0 = f32[32,16,1024] multiply(s0, y)\n"
    "  b1 = f32[32,16,1024] broadcast(w3), dimensions={2}\n"
    "  h1 = f32[32,16,1024] add(z0, b1)\n  t1 = f32[32,16,1024] tanh(h1)\n"
    "  l0 = f32[] reduce(t1, zero), dimensions={0,1,2}, to_apply=add\n"
    "  l1 = f32[] reduce(w1, zero), dimensions={0}, to_apply=add\n"
    "  loss = f32[] add(l0, l1)\n"
    "  q1 = f32[32,16,1024] multiply(t1, t1)\n"
    "  o1 = f32[32,16,1024] broadcast(one), dimensions={}\n"
    "  g1 = f32[32,16,1024] subtract(o1, q1)\n"
    "  d3 = f32[1024] reduce(g1, zero), dimensions={0,1}, to_apply=add\n"
    "  e1 = f32[32,16,1024] multiply(g1, y)\n"
    "  e0 = f32[32,1024] reduce(e1, zero), dimensions={1}, to_apply=add\n"
    "  q0 = f32[32,1024] multiply(t0, t0)\n  o0 = f32[32,1024] broadcast(one), dimensions={}\n"
    "  f0 = f32[32,1024] subtract(o0, q0)\n  g0 = f32[32,1024] multiply(f0, e0)\n"
    "  d2 = f32[1024] reduce(g0, zero), dimensions={0}, to_apply=add\n"
    "  d1 = f32[4096] broadcast(one), dimensions={}\n"
    "  n1 = f32[4096] subtract(w1, d1)\n  n2 = f32[1024] subtract(w2, d2)\n"
    "  n3 = f32[1024] subtract(w3, d3)\n"
    "  ROOT out = (f32[4096], f32[1024], f32[1024], f32[]) tuple(n1, n2, n3, loss)\n}\n";

/* The bound is of the same costs as the plan: it is not above it. */
static void check_bound(const char *devices)
{
    struct problem *p = mem_alloc(sizeof *p);
    struct hybrid_options o = {.zero = -1, .dp = 2, .stages = 1};
    struct hybrid h;
    struct err e;

    load_own(devices, p);
    assert_int_equal(hybrid_new(p, &o, &h, &e), 0);
    print_message("%.6f ms, bound %.6f\n", hybrid_step_ms(&h), h.bound_ms);
    assert_true(h.is_certified && h.bound_ms > 0);
    assert_true(h.bound_ms <= hybrid_step_ms(&h) * (1 + 1e-9));
    hybrid_release(&h);
    problem_release(p);
    free(p);
}

static void test_sums(void **unused)
{
    (void)unused;
    own_text = sums;
    check_points("sums", "8", 2, 1, 1);
    check_points("sums", "8", 2, 0, 1);
    check_bound("8");
    own_text = NULL;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_update),
                                       cmocka_unit_test(test_storage),
                                       cmocka_unit_test(test_unread), cmocka_unit_test(test_sums)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
