/* The proven optimum against every plan there is, on random problems; L and memory against plain
 * sums; restrictions; the speed-up by a known plan. */
#include "engine/pipeline/descent.h"
#include "engine/pipeline/pipe_exact.h"
#include "engine/pipeline/pipeline.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/pipeline/tabulate.h"
#include "tests/unit/pipeline_random.h"
#include "tests/unit/shipped.h"

/* All plans: pivots and device cuts of each count of stages. */
struct brute {
    struct random_pipe *p;
    struct pipe_plan plan;
    struct pipe_node node[2 * RANDOM_DEVICES];
    double best;
    uint32_t stages; /* exactly; 0: any */
    bool variables;
    struct pipe_pins pins;
    const uint8_t *device_cut;
    uint64_t plans, fitting;
};

static void price(struct brute *b)
{
    const struct pipe_instance *in = &b->p->in;

    b->plans++;
    for (uint32_t s = 0; s < b->plan.stages && b->variables; s++)
        if (in->variables[b->plan.pivot[s]] == in->variables[b->plan.pivot[s + 1]])
            return;
    for (uint32_t n = 0; n < b->pins.count; n++) { /* some stage begins just there */
        uint32_t s = 1;
        while (s < b->plan.stages && (b->plan.device[s] != b->pins.pin[n].device ||
                                      b->plan.pivot[s] != b->pins.pin[n].pivot))
            s++;
        if (s >= b->plan.stages)
            return;
    }
    if (!slow_fits(b->p, &b->plan))
        return;
    b->fitting++;
    uint32_t count = slow_nodes(b->p, &b->plan, b->node);
    b->best = fmin(b->best, slow_length(b->node, count, &in->options));
}

static void descend(struct brute *b, uint32_t s)
{
    const struct pipe_instance *in = &b->p->in;
    struct pipe_plan *p = &b->plan;

    p->stages = s + 1;
    p->pivot[s + 1] = in->points;
    p->device[s + 1] = in->devices;
    if (!b->stages || b->stages == s + 1)
        price(b);
    for (uint32_t i = p->pivot[s] + 1; i < in->points; i++) {
        for (uint32_t d = p->device[s] + 1; d < in->devices; d++) {
            if (b->device_cut && !b->device_cut[d])
                continue;
            p->pivot[s + 1] = i;
            p->device[s + 1] = d;
            descend(b, s + 1);
        }
    }
}

struct tally {
    uint32_t problems, infeasible, bounded, several;
};

static void compare(struct random_pipe *p, const struct pipe_exact_options *o, struct tally *t)
{
    struct brute b = {.p = p,
                      .best = INFINITY,
                      .stages = o->stages,
                      .variables = o->variables,
                      .pins = o->pins,
                      .device_cut = o->device_cut};
    struct pipe_exact_result r;
    struct err e;
    int rc = pipe_exact_solve(&p->in, o, &r, &e);

    descend(&b, 0);
    t->problems++;
    t->infeasible += b.best == INFINITY;
    t->bounded += b.fitting < b.plans;
    if (rc) {
        assert_int_equal(rc, ERR_INFEASIBLE);
        assert_true(isinf(b.best));
        return;
    }
    assert_true(r.certified);
    assert_int_equal(r.found, b.best < INFINITY);
    if (!r.found)
        return;
    t->several += r.plan.stages > 1;
    assert_true(pipe_plan_is_valid(&p->in, &r.plan));
    assert_true(slow_fits(p, &r.plan) && pipe_fits(&p->in, &r.plan));
    if (!near(r.length_ms, b.best))
        fail_msg("L %.17g, the best of %u plans has %.17g", r.length_ms, (unsigned)b.plans, b.best);
    assert_true(
        near(r.length_ms, slow_length(b.node, slow_nodes(p, &r.plan, b.node), &p->in.options)));

    struct pipe_exact_options known = *o; /* a known plan drops states, never the optimum */
    struct pipe_exact_result again;
    known.known_ms = r.length_ms;
    assert_int_equal(pipe_exact_solve(&p->in, &known, &again, &e), 0);
    assert_true(again.found && again.certified && near(again.length_ms, r.length_ms));
    assert_true(again.transitions <= r.transitions);
    known.known_ms = r.length_ms * 0.999;
    assert_int_equal(pipe_exact_solve(&p->in, &known, &again, &e), 0);
    assert_true(!again.found && again.certified);
}

static void test_all_plans(void **state)
{
    (void)state;
    struct pipe_exact_options o = {0};
    struct random_pipe p;
    struct tally t = {0};

    for (uint64_t seed = 0; seed < 3000; seed++) {
        random_pipe_new(&p, seed, seed % 10 ? 9 : 12, seed % 10 ? 6 : 8);
        compare(&p, &o, &t);
        pipe_instance_free(&p.in);
    }
    print_message(
        "%u problems, %u with no plan, %u where memory rules some out, %u best in several stages\n",
        t.problems, t.infeasible, t.bounded, t.several);
    assert_true(t.infeasible > 50 && t.bounded > 500 && t.several > 500);
}

static void test_restricted(void **state)
{
    (void)state;
    struct random_pipe p;
    struct tally t = {0};
    uint8_t mask[RANDOM_DEVICES + 1];

    for (uint64_t seed = 10000; seed < 11500; seed++) {
        random_pipe_new(&p, seed, 9, 6);
        struct pipe_exact_options o = {.stages = (uint32_t)(seed % 5), .variables = seed % 2};
        if (seed % 3) {
            pipe_device_cuts(&p.in, (uint32_t)(seed % 3 - 1), mask);
            o.device_cut = mask;
        }
        compare(&p, &o, &t);
        pipe_instance_free(&p.in);
    }
    assert_true(t.infeasible > 50 && t.several > 200);
}

static void test_pinned(void **state)
{
    (void)state;
    struct random_pipe p;
    struct tally t = {0};
    struct rl_rng r;

    rl_rng_seed(&r, 3, 0);
    for (uint64_t seed = 20000; seed < 21500; seed++) {
        random_pipe_new(&p, seed, 9, 6);
        struct pipe_pin pin[2];
        struct pipe_exact_options o = {.pins = {pin, 1 + (uint32_t)(seed % 2)}};
        for (uint32_t n = 0; n < 2; n++)
            pin[n] = (struct pipe_pin){1 + rl_rng_below(&r, p.in.devices),
                                       1 + rl_rng_below(&r, p.in.points)};
        struct pipe_goal g = {.in = &p.in, .pins = o.pins};
        struct pipe_descent d;
        if (pipe_pins_are_valid(&p.in, &o.pins) && pipe_instant(&g, 3, &d))
            for (uint32_t s = 0; s < d.plan.stages; s++)
                assert_true(pipe_pins_allow(&o.pins, d.plan.pivot[s], d.plan.pivot[s + 1],
                                            d.plan.device[s], d.plan.device[s + 1]));
        compare(&p, &o, &t);
        pipe_instance_free(&p.in);
    }
    assert_true(t.infeasible > 50 && t.several > 200);
}

/* The figures of a plan's first stages, transfers between them included. */
static struct pipe_prefix prefix_of(const struct pipe_instance *in, const struct pipe_node *node,
                                    uint32_t stages)
{
    struct pipe_prefix p = pipe_prefix_start();

    for (uint32_t n = 0; n < 2 * stages - 1; n++) {
        double forward = node[n].forward_ms, backward = node[n].backward_ms;
        bool both_ways = n % 2 && !in->options.half_duplex;
        double one = both_ways ? fmax(forward, backward) : forward + backward;
        pipe_prefix_add(&p, &node[n], (in->options.micro_batches - 1) * one);
    }
    return p;
}

/* What is said to stand before a plan's last stages is no more than what stands there, in any plan
 * that keeps to the known L; and is just that where it is the only one. */
static uint32_t check_before(const struct random_pipe *p, const struct pipe_before *b,
                             const struct pipe_plan *plan, uint32_t *met)
{
    struct pipe_node node[2 * RANDOM_DEVICES];

    pipe_plan_nodes(&p->in, plan, node);
    for (uint32_t m = 1; m <= b->stages; m++) {
        struct pipe_prefix has = prefix_of(&p->in, node, m);
        const struct pipe_prefix *least = pipe_before_of(b, m, plan->device[m], plan->pivot[m]);
        assert_true(least->f0 <= has.f0 * (1 + 1e-9) && least->f1 <= has.f1 * (1 + 1e-9));
        assert_true(least->f2 <= has.f2 * (1 + 1e-9) && least->f3 <= has.f3 * (1 + 1e-9));
        *met += least->f3 >= has.f3 * (1 - 1e-9);
    }
    return b->stages;
}

static void draw_cuts(struct rl_rng *r, uint32_t count, uint32_t end, uint32_t *cut)
{
    for (uint32_t left = count, at = 1; at < end; at++)
        if (rl_rng_below(r, end - at) < left)
            cut[1 + count - left--] = at;
}

static void test_what_stands_before(void **state)
{
    uint32_t position[RANDOM_DEVICES + 1], checked = 0, met = 0;

    (void)state;
    for (uint32_t d = 0; d <= RANDOM_DEVICES; d++)
        position[d] = d;
    for (uint64_t seed = 30000; seed < 30200; seed++) {
        struct random_pipe p;
        struct pipe_exact_options o = {.stages = 4};
        struct pipe_exact_result best;
        struct rl_rng r;
        struct err e;
        rl_rng_seed(&r, seed, 1);
        random_pipe_new(&p, seed, 12, 8);
        p.in.options.memory_share = 0;
        if (p.in.devices >= 4 && p.in.points >= 4) {
            double none[RANDOM_POINTS + 1] = {0};
            struct pipe_before b;
            assert_int_equal(pipe_exact_solve(&p.in, &o, &best, &e), 0);
            struct pipe_before_ask ask = {.in = &p.in,
                                          .position = position,
                                          .cuts = p.in.devices,
                                          .stages = 3,
                                          .known_ms = 1.3 * best.length_ms,
                                          .work = none,
                                          .looks_most = UINT64_MAX};
            assert_true(pipe_before_new(&ask, &b));
            checked += check_before(&p, &b, &best.plan, &met);
            for (uint32_t n = 0; n < 300; n++) {
                struct pipe_plan plan = best.plan;
                draw_cuts(&r, 3, p.in.points, plan.pivot);
                draw_cuts(&r, 3, p.in.devices, plan.device);
                if (pipe_length(&p.in, &plan) <= ask.known_ms)
                    checked += check_before(&p, &b, &plan, &met);
            }
            pipe_before_free(&b);
            ask.looks_most = 1;
            assert_true(!pipe_before_new(&ask, &b) && !b.least);
        }
        pipe_instance_free(&p.in);
    }
    print_message("%u beginnings, %u of them the shortest\n", checked, met);
    assert_true(checked > 2000 && met * 10 > checked);
}

/* Between 128 even points on 32 H100 the programme meets what stands before it half-way: a third
 * of the transitions that it takes by the mean work alone (1.8 million). */
static void test_meets_half_way(void **state)
{
    (void)state;
    struct pipeline_options o = {.batch = 256,
                                 .micro_batches = 16,
                                 .stages = 4,
                                 .no_limit = true,
                                 .points = PIPE_CUTS_EQUAL,
                                 .point_count = 128};
    struct problem *p = mem_alloc(sizeof *p);
    struct pipe_exact_result r;
    struct pipeline l;
    struct err e;

    load_shipped("t5-base12", "h100-4x8", p);
    assert_int_equal(pipeline_new(p, &o, &l, &e), 0);
    struct pipe_exact_options exact = {.stages = 4, .variables = true};
    struct pipe_goal goal = {.in = &l.few, .stages = 4, .variables = true};
    struct pipe_descent d;
    assert_true(pipe_instant(&goal, 3, &d));
    exact.known_ms = d.value;
    assert_int_equal(pipe_exact_solve(&l.few, &exact, &r, &e), 0);
    print_message("%llu transitions, %llu stages before them\n", (unsigned long long)r.transitions,
                  (unsigned long long)r.before);
    assert_true(r.found && r.certified && r.transitions + r.before < 600000);
    pipeline_release(&l);
    problem_release(p);
    free(p);
}

static void test_cut_short(void **state)
{
    (void)state;
    struct pipe_exact_options o = {.entries_most = 1};
    struct pipe_exact_result r;
    struct random_pipe p;
    struct err e;

    random_pipe_new(&p, 4, 12, 8);
    assert_true(p.in.points > 4 && p.in.devices > 2);
    p.in.options.memory_share = 0;
    assert_int_equal(pipe_exact_solve(&p.in, &o, &r, &e), 0);
    assert_true(r.found && !r.certified && pipe_plan_is_valid(&p.in, &r.plan));
    pipe_instance_free(&p.in);
}

/* ---- a model on unequal servers ---- */

static const char unequal[] =
    "devices:\n"
    "  fast: {memory: 32 GB, peak: 30 TFLOP/s, bandwidth: 1800 GB/s, launch: 5 us}\n"
    "  slow: {memory: 16 GB, peak: 6 TFLOP/s, bandwidth: 400 GB/s, launch: 5 us}\n"
    "network: {bandwidth: 10 GB/s, latency: 20 us}\n"
    "servers:\n"
    "  - {type: fast, count: 1, devices: 2, link: {kind: ring, bandwidth: 90 GB/s, latency: 9 "
    "us}}\n"
    "  - {type: slow, count: 2, devices: 2, link: {kind: switch, bandwidth: 40 GB/s, latency: 4 "
    "us}}\n";

/* What stands in the tables of a module's instance, a point at a time. */
static void take_tables(struct random_pipe *p)
{
    const struct pipe_instance *in = &p->in;

    for (uint32_t i = 0; i < in->points; i++) {
        for (uint32_t t = 0; t < in->types; t++) {
            for (uint32_t r = 1; r <= in->devices; r++) {
                const double *f = in->forward_ms[pipe_row(in, t, r)],
                             *b = in->backward_ms[pipe_row(in, t, r)];
                p->forward[t][r][i] = f[i + 1] - f[i];
                p->backward[t][r][i] = b[i + 1] - b[i];
            }
            p->update[t][i] = in->update_ms[t][i + 1] - in->update_ms[t][i];
        }
        p->gradient[i] = in->gradient_bytes[i + 1] - in->gradient_bytes[i];
        p->state[i] = in->state_bytes[i + 1] - in->state_bytes[i];
        p->stash[i] = in->stash_bytes[i + 1] - in->stash_bytes[i];
        p->temporary[i] = in->temporary_bytes[i];
        p->variables[i] = in->variables[i + 1] - in->variables[i];
    }
}

static void begin_unequal(const char *model, uint32_t micro_batches, struct random_pipe *out)
{
    enum { BUCKETS = 8 };
    struct problem_options none = {0};
    struct problem *p = mem_alloc(sizeof *p);
    struct pipe_instance whole;
    struct hlo_module *m;
    struct order o;
    struct err e;
    char path[256];
    uint32_t cut[BUCKETS + 2];

    memset(out, 0, sizeof *out);
    snprintf(path, sizeof path, AUTOMAP_SOURCE_DIR "/examples/models/%s.hlo.txt.gz", model);
    assert_int_equal(cluster_read(&out->cluster, unequal, strlen(unequal), &e), 0);
    assert_int_equal(hlo_load(path, NULL, &m, &e), 0);
    assert_int_equal(problem_new(m, NULL, &out->cluster, &none, p, &e), 0);
    assert_int_equal(order_new(p, &o, &e), 0);
    struct pipe_options options = {.micro_batches = micro_batches,
                                   .micro_batch = (uint32_t)o.steps.batch_size / micro_batches,
                                   .memory_share = 1};
    assert_int_equal(pipe_tabulate(&o, &options, &whole, &e), 0);
    assert_true(!whole.ties && !whole.again.count);
    uint32_t points = pipe_instance_cheapest(&whole, BUCKETS, cut);
    assert_true(points <= RANDOM_POINTS);
    assert_int_equal(pipe_instance_coarsen(&whole, cut, points, &out->in, &e), 0);
    take_tables(out);
    pipe_instance_free(&whole);
    order_release(&o);
    problem_release(p);
    free(p);
}

/* Milliseconds of its forward pass on the first type, for each device: the work it has. */
static double work_a_device(const struct pipe_instance *in, const struct pipe_plan *p, uint32_t s)
{
    const double *f = in->forward_ms[pipe_row(in, 0, 1)];

    return (f[p->pivot[s + 1]] - f[p->pivot[s]]) / (p->device[s + 1] - p->device[s]);
}

/* Of a module's own stages on a fast server and two slow ones the proven optimum is the best of all
 * plans, and a fast device has more of the work than a slow one. */
static void test_unequal_servers(void **state)
{
    (void)state;
    struct tally t = {0};
    struct err e;

    for (uint32_t m = 2; m <= 16; m *= 2) {
        struct random_pipe p;
        struct pipe_exact_options three = {.stages = 3}, o = {0};
        struct pipe_exact_result r;
        begin_unequal("vgg19", m, &p);
        assert_int_equal(p.in.types, 2);
        compare(&p, &o, &t);
        compare(&p, &three, &t);
        assert_int_equal(pipe_exact_solve(&p.in, &three, &r, &e), 0);
        assert_true(r.found && r.plan.stages == 3);
        uint32_t last = r.plan.stages - 1;
        assert_true(p.in.type_of[0] != p.in.type_of[p.in.devices - 1]);
        double fast = work_a_device(&p.in, &r.plan, 0), slow = work_a_device(&p.in, &r.plan, last);
        print_message("M %2u: a fast device %.3f ms of the work, a slow one %.3f; L %.3f ms\n", m,
                      fast, slow, r.length_ms);
        assert_true(fast > 1.5 * slow);
        pipe_instance_free(&p.in);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unequal_servers), cmocka_unit_test(test_all_plans),
        cmocka_unit_test(test_restricted),      cmocka_unit_test(test_pinned),
        cmocka_unit_test(test_cut_short),       cmocka_unit_test(test_what_stands_before),
        cmocka_unit_test(test_meets_half_way),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
