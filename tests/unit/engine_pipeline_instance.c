/* The tables of a pipeline problem: what the cluster decides against plain sums over all pairs of
 * devices and against the mesh's collectives, sums of points, fewer points, what is refused. */
#include "engine/cluster/collectives.h"
#include "engine/cost/training.h"
#include "engine/pipeline/formula.h"
#include "rl/rng.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

static struct cluster load(const char *name)
{
    char path[512];
    struct cluster c;
    struct err e = {0};

    snprintf(path, sizeof path, AUTOMAP_SOURCE_DIR "/examples/clusters/%s.yaml", name);
    if (cluster_load(&c, path, &e))
        fail_msg("%s:%u:%u: %s", path, e.line, e.col, e.what);
    return c;
}

/* Two kinds of server, of 3 and of 2 devices, with cards of their own speeds. */
static struct cluster unequal(void)
{
    static const char yaml[] =
        "devices:\n"
        "  big: {memory: 32 GB, peak: 20 TFLOP/s, bandwidth: 800 GB/s, launch: 5 us}\n"
        "  small: {memory: 16 GB, peak: 10 TFLOP/s, bandwidth: 400 GB/s, launch: 5 us}\n"
        "servers:\n"
        "  - {type: big, count: 1, devices: 3, network: 10 GB/s, link: {kind: ring, bandwidth: 100 "
        "GB/s, latency: 10 us}}\n"
        "  - {type: small, count: 2, devices: 2, link: {kind: switch, bandwidth: 50 GB/s, latency: "
        "10 us}}\n"
        "network: {bandwidth: 5 GB/s, latency: 20 us}\n";
    struct cluster c;
    struct err e = {0};

    if (cluster_read(&c, yaml, strlen(yaml), &e))
        fail_msg("%u:%u: %s", e.line, e.col, e.what);
    return c;
}

static const struct pipe_options sixteen = {.micro_batches = 16, .micro_batch = 16};

static struct pipe_instance fresh(const struct cluster *c, uint32_t points)
{
    struct pipe_instance in;
    struct err e = {0};

    if (pipe_instance_new(&in, points, c, &sixteen, &e))
        fail_msg("%s", e.what);
    return in;
}

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * (fabs(a) + fabs(b));
}

/* Bytes between every pair of devices, added up per device and per server. */
static double slow_link(const struct cluster *c, uint32_t a, uint32_t m, uint32_t b)
{
    double out[64] = {0}, in[64] = {0}, card_out[64] = {0}, card_in[64] = {0}, ms = 0;
    double ra = m - a, rb = b - m;

    for (uint32_t i = a; i < m; i++) {
        for (uint32_t k = m; k < b; k++) {
            double low = fmax((i - a) / ra, (k - m) / rb),
                   high = fmin((i - a + 1) / ra, (k - m + 1) / rb);
            uint32_t si = cluster_server_of(c, i), sk = cluster_server_of(c, k);
            double part = fmax(0, high - low);
            if (si == sk) {
                out[i] += part;
                in[k] += part;
            } else {
                card_out[si] += part;
                card_in[sk] += part;
            }
        }
    }
    for (uint32_t d = a; d < b; d++) {
        const struct cluster_link *link = &c->group[cluster_group_of(c, d)].link;
        uint32_t size = c->group[cluster_group_of(c, d)].devices, s = cluster_server_of(c, d);
        double step = link->bandwidth * (link->kind == LINK_RING && size > 2 ? 0.5 : 1);
        ms = fmax(ms, out[d] > 0 || in[d] > 0 ? fmax(out[d], in[d]) / step * 1e3 : 0);
        ms = fmax(ms, fmax(card_out[s], card_in[s]) /
                          cluster_network_of(c, cluster_group_of(c, d)) * 1e3);
    }
    return ms;
}

static void compare_links(const struct cluster *c)
{
    struct pipe_instance in = fresh(c, 1);

    for (uint32_t m = 1; m < c->devices; m++)
        for (uint32_t a = 0; a < m; a++)
            for (uint32_t b = m + 1; b <= c->devices; b++)
                if (fabs(pipe_link_of(&in, a, m, b)->ms_per_byte - slow_link(c, a, m, b)) > 1e-15)
                    fail_msg("%u %u %u: %.17g, expected %.17g", a, m, b,
                             pipe_link_of(&in, a, m, b)->ms_per_byte, slow_link(c, a, m, b));
    pipe_instance_free(&in);
}

static void test_links(void **state)
{
    (void)state;
    struct cluster b = load("b-3x8-v100"), u = unequal();
    struct pipe_instance in = fresh(&b, 1);

    /* All of a micro-batch leaves by one card: 3.125 GB/s. */
    assert_true(near(pipe_link_of(&in, 0, 8, 16)->ms_per_byte, 1e3 / 3.125e9));
    assert_true(near(pipe_link_of(&in, 0, 8, 16)->by_size.line[0].ms, 0.025));
    /* Four pairs inside a server, a quarter each, on half of the ring's 130 GB/s. */
    assert_true(near(pipe_link_of(&in, 0, 4, 8)->ms_per_byte, 0.25 * 1e3 / 65e9));
    assert_true(near(pipe_link_of(&in, 0, 4, 8)->by_size.line[0].ms, 0.015));
    /* [0, 8) to [8, 24): two servers receive half each, one sends all. */
    assert_true(near(pipe_link_of(&in, 0, 8, 24)->ms_per_byte, 1e3 / 3.125e9));
    pipe_instance_free(&in);
    compare_links(&b);
    compare_links(&u);
}

/* Intervals that are a mesh's groups cost what the mesh says. */
static void test_groups(void **state)
{
    (void)state;
    struct cluster c = load("c-4x8-v100"), u = unequal();
    struct pipe_instance in = fresh(&c, 1);
    struct cluster_mesh m;
    struct err e;

    assert_int_equal(mesh_parse(&m, &c, "4x8", &e), 0);
    const struct pipe_group *all = pipe_group_of(&in, 0, 32), *server = pipe_group_of(&in, 8, 16);
    mesh_one_axis(&m, &c);
    assert_true(
        near(pipe_group_reduce_ms(all, 1e9), collective_ms(&m, COLLECTIVE_ALL_REDUCE, 1, 1e9)));
    assert_int_equal(mesh_parse(&m, &c, "4x8", &e), 0);
    assert_true(
        near(pipe_group_reduce_ms(server, 1e9), collective_ms(&m, COLLECTIVE_ALL_REDUCE, 2, 1e9)));
    /* 2 (g-1)/g W/intra + 2 (s-1)/s W/inter over 16 devices of 2 servers. */
    assert_true(near(pipe_group_of(&in, 0, 16)->reduce_ms_per_byte,
                     1e3 * (2 * 7 / 8.0 / 130e9 + 2 * 0.5 / 3.125e9)));
    assert_true(pipe_group_of(&in, 3, 4)->reduce_ms_per_byte == 0 &&
                pipe_group_reduce_ms(pipe_group_of(&in, 3, 4), 1e9) == 0);
    pipe_instance_free(&in);

    in = fresh(&u, 1);
    assert_int_equal(in.types, 2);
    assert_int_equal(pipe_group_of(&in, 0, 3)->types, 1);
    assert_int_equal(pipe_group_of(&in, 2, 4)->types, 3);
    assert_true(pipe_group_of(&in, 0, 3)->memory_bytes == 32e9);
    assert_true(pipe_group_of(&in, 2, 4)->memory_bytes == 16e9);
    assert_int_equal(in.boundary[1], 3);
    assert_int_equal(in.boundary[3], 7);
    /* Devices 0 .. 4: the server with 2 of 5 takes in 3/5 by 5 GB/s; inside, the pair on
     * 50 GB/s is slower than the three on 100 GB/s. */
    assert_true(near(pipe_group_of(&in, 0, 5)->reduce_ms_per_byte,
                     1e3 * (2 * 1 / 2.0 / 50e9 + 2 * 3 / 5.0 / 5e9)));
    pipe_instance_free(&in);
}

static struct pipe_instance filled(const struct cluster *c, uint32_t points, uint64_t seed)
{
    struct pipe_instance in = fresh(c, points);
    struct rl_rng rng;
    struct err e;

    rl_rng_seed(&rng, seed, 0);
    for (uint32_t i = 0; i < points; i++) {
        double work = 1 + rl_rng_below(&rng, 8);
        for (uint32_t t = 0; t < in.types; t++) {
            in.update_ms[t][i + 1] = work / 16;
            for (uint32_t r = 1; r <= in.devices; r++) {
                in.forward_ms[pipe_row(&in, t, r)][i + 1] = work * in.share[r] * (t + 1);
                in.backward_ms[pipe_row(&in, t, r)][i + 1] = 2 * work * in.share[r] * (t + 1);
            }
        }
        in.gradient_bytes[i + 1] = in.state_bytes[i + 1] = in.stash_bytes[i + 1] = work;
        in.temporary_bytes[i] = rl_rng_below(&rng, 100);
        in.variables[i + 1] = i & 1;
        in.forward_bytes[i] = i ? 1 + rl_rng_below(&rng, 50) : 0;
        in.layer[i] = i / 4;
    }
    uint32_t uses[] = {0, points / 2, points - 1};
    struct pipe_tie tie = {
        .uses = uses, .use_count = 3, .gradient_bytes = 5, .state_bytes = 7, .update_ms = 1};
    assert_int_equal(pipe_instance_tie(&in, &tie, &e), 0);
    assert_int_equal(pipe_instance_finish(&in, &e), 0);
    return in;
}

static void test_sums(void **state)
{
    (void)state;
    struct cluster c = unequal();
    struct pipe_instance in = filled(&c, 37, 1);

    for (uint32_t i = 0; i < in.points; i++) {
        double temporary = 0;
        for (uint32_t j = i + 1; j <= in.points; j++) {
            double work = in.gradient_bytes[j] - in.gradient_bytes[i];
            temporary = 0;
            for (uint32_t k = i; k < j; k++)
                temporary = fmax(temporary, in.temporary_bytes[k] -
                                                (in.stash_bytes[j] - in.stash_bytes[k + 1]));
            assert_true(pipe_temporary_bytes(&in, i, j) == temporary);
            assert_true(near(pipe_forward_ms(&in, i, j, 0, 2), work * in.share[2]));
            assert_true(near(pipe_backward_ms(&in, i, j, 2, 4),
                             4 * work * in.share[2])); /* the slower type */
            assert_true(near(pipe_update_ms(&in, i, j, 2, 4), work / 16));
        }
    }
    assert_int_equal(in.variables[37], 18);
    assert_int_equal(in.tie[0].next[0], 0);
    assert_int_equal(in.tie[0].next[1], 18);
    assert_int_equal(in.tie[0].next[19], 36);
    assert_int_equal(in.tie[0].next[37], 37);
    assert_true(near(in.tie[0].sync_ms, 5 * 1e3 / 5e9 + 0.02)); /* the slowest card */
    pipe_instance_free(&in);
}

static void test_fewer_points(void **state)
{
    (void)state;
    struct cluster c = unequal();
    struct pipe_instance in = filled(&c, 40, 2), few;
    uint32_t cut[10];
    struct err e;
    uint32_t count = pipe_instance_cheapest(&in, 8, cut);

    assert_true(count >= 4 && count <= 9 && cut[0] == 0 && cut[count] == 40);
    for (uint32_t b = 0, i = 1; b < 8;
         b++) { /* no cut of the bucket is cheaper than the one taken */
        double end = in.forward_ms[0][40] * (b + 1) / 8, least = INFINITY, taken = INFINITY;
        for (; i < 40 && (in.forward_ms[0][i] < end || b == 7); i++) {
            least = fmin(least, in.forward_bytes[i]);
            for (uint32_t k = 1; k < count; k++)
                taken = cut[k] == i ? in.forward_bytes[i] : taken;
        }
        assert_true(taken == least);
    }
    assert_int_equal(pipe_instance_coarsen(&in, cut, count, &few, &e), 0);
    assert_int_equal(few.points, count);
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t j = i + 1; j <= count; j++) {
            assert_true(pipe_forward_ms(&few, i, j, 1, 6) ==
                        pipe_forward_ms(&in, cut[i], cut[j], 1, 6));
            assert_true(pipe_temporary_bytes(&few, i, j) ==
                        pipe_temporary_bytes(&in, cut[i], cut[j]));
        }
        assert_true(few.forward_bytes[i] == in.forward_bytes[cut[i]]);
        assert_int_equal(few.layer[i], (cut[i + 1] - 1) / 4);
    }
    assert_int_equal(few.ties, 1);
    assert_true(few.tie[0].sync_ms == in.tie[0].sync_ms);
    assert_true(pipe_link_of(&few, 0, 3, 7)->ms_per_byte ==
                pipe_link_of(&in, 0, 3, 7)->ms_per_byte);
    pipe_instance_free(&few);

    uint32_t one[] = {0, 40};
    assert_int_equal(pipe_instance_coarsen(&in, one, 1, &few, &e), 0);
    assert_int_equal(few.ties, 0); /* all uses in one point */
    pipe_instance_free(&few);
    pipe_instance_free(&in);
}

/* Every cut kept: each stage costs the same, what the last backward pass hides included. */
static void test_all_points_kept(void **state)
{
    (void)state;
    struct cluster c = load("dgx-h100-1x8");
    struct pipe_instance in = filled(&c, 12, 4), same;
    uint32_t cut[13];
    struct err e;

    in.options.overlap = OVERLAP_AUTO;
    for (uint32_t i = 0; i <= 12; i++)
        cut[i] = i;
    struct pipe_node whole = pipe_stage_node(&in, 0, 12, 0, 8);
    struct pipe_instance bare = in;
    bare.options.overlap = 0;
    assert_true(whole.reduce_ms < pipe_stage_node(&bare, 0, 12, 0, 8).reduce_ms);
    assert_int_equal(pipe_instance_coarsen(&in, cut, 12, &same, &e), 0);
    for (uint32_t i = 0; i < 12; i++)
        for (uint32_t j = i + 1; j <= 12; j++) {
            struct pipe_node a = pipe_stage_node(&in, i, j, 2, 6),
                             b = pipe_stage_node(&same, i, j, 2, 6);
            assert_true(a.forward_ms == b.forward_ms && a.backward_ms == b.backward_ms &&
                        a.reduce_ms == b.reduce_ms);
        }
    pipe_instance_free(&same);
    pipe_instance_free(&in);
}

/* Communication takes units from computation on GPUs, none on a torus: each stage by its own. */
static void test_overlap_of_own_devices(void **state)
{
    (void)state;
    static const char yaml[] =
        "devices:\n"
        "  v: {memory: 16 GB, peak: 10 TFLOP/s, bandwidth: 400 GB/s, launch: 5 us}\n"
        "servers:\n"
        "  - {devices: 4, link: {kind: torus, shape: 2x2, bandwidth: 50 GB/s, latency: 1 us}}\n"
        "  - {devices: 4, link: {kind: switch, bandwidth: 50 GB/s, latency: 1 us}}\n"
        "network: {bandwidth: 5 GB/s, latency: 20 us}\n";
    struct cluster c;
    struct err e = {0};

    if (cluster_read(&c, yaml, strlen(yaml), &e))
        fail_msg("%u:%u: %s", e.line, e.col, e.what);
    struct pipe_instance in = fresh(&c, 1);
    assert_true(pipe_group_of(&in, 0, 4)->most_overlap.hidden == 0.9);
    assert_true(pipe_group_of(&in, 4, 8)->most_overlap.hidden == 0.75);
    pipe_instance_free(&in);
}

/* A share of what the devices have, less where fewer bytes are asked for; none: no limit. */
static void test_memory_limit(void **state)
{
    (void)state;
    struct cluster c = unequal();
    struct pipe_instance in = fresh(&c, 1);
    double have = pipe_group_of(&in, 0, 1)->memory_bytes;

    assert_true(have > 1e9);
    in.options.memory_share = 0.5;
    in.options.limit_bytes = 0;
    assert_true(near(pipe_memory_limit(&in, 0, 1), have / 2));
    in.options.limit_bytes = have / 4;
    assert_true(pipe_memory_limit(&in, 0, 1) == have / 4);
    in.options.limit_bytes = have;
    assert_true(near(pipe_memory_limit(&in, 0, 1), have / 2));
    in.options.memory_share = 0;
    assert_true(isinf(pipe_memory_limit(&in, 0, 1)));
    pipe_instance_free(&in);
}

/* Curves: parts that tile the points, sums and extremes over them; more columns than points. */
static void test_spots(void **state)
{
    (void)state;
    struct cluster c = unequal();
    struct pipe_instance in = filled(&c, 37, 3);
    struct pipe_spot spot[50];
    uint32_t counts[] = {1, 5, 37, 50};

    for (uint32_t n = 0; n < 4; n++) {
        double gradients = 0;
        pipe_spots(&in, counts[n], spot);
        for (uint32_t k = 0; k < counts[n]; k++) {
            double least = INFINITY, most = 0;
            assert_true(spot[k].first < spot[k].end && spot[k].end <= 37);
            if (counts[n] <= 37)
                assert_int_equal(spot[k].first, k ? spot[k - 1].end : 0);
            for (uint32_t i = spot[k].first; i < spot[k].end; i++) {
                least = fmin(least, in.forward_bytes[i] + in.backward_bytes[i]);
                most = fmax(most, in.forward_bytes[i] + in.backward_bytes[i]);
            }
            assert_true(spot[k].least_bytes == least && spot[k].most_bytes == most);
            gradients += spot[k].gradient_bytes;
            assert_true(near(spot[k].compute_ms, 3 * spot[k].gradient_bytes));
        }
        assert_true(counts[n] > 37 || near(gradients, in.gradient_bytes[37]));
    }
    pipe_instance_free(&in);
}

static void refuse(void (*spoil)(struct pipe_instance *in), const char *word)
{
    struct cluster c = unequal();
    struct pipe_instance in = fresh(&c, 4);
    struct err e = {0};

    spoil(&in);
    assert_int_equal(pipe_instance_finish(&in, &e), ERR_INPUT);
    assert_non_null(strstr(e.what, word));
    pipe_instance_free(&in);
}

static void spoil_forward(struct pipe_instance *in)
{
    in->forward_ms[pipe_row(in, 1, 3)][2] = -1;
}

static void spoil_stash(struct pipe_instance *in)
{
    in->stash_bytes[4] = INFINITY;
}

static void spoil_end(struct pipe_instance *in)
{
    in->forward_bytes[4] = 1;
}

static void spoil_sum(struct pipe_instance *in)
{
    in->state_bytes[1] = in->state_bytes[2] = 1e308;
}

static void test_refused(void **state)
{
    (void)state;
    struct cluster c = unequal(), many;
    struct pipe_options o = sixteen;
    struct pipe_instance in;
    struct err e = {0};

    refuse(spoil_forward, "forward_ms of point 1");
    refuse(spoil_stash, "stash_bytes of point 3");
    refuse(spoil_end, "forward_bytes at an end");
    refuse(spoil_sum, "state_bytes is not finite");
    o.overlap = NAN;
    assert_int_equal(pipe_instance_new(&in, 4, &c, &o, &e), ERR_INPUT);
    o = sixteen;
    o.micro_batches = 0;
    assert_int_equal(pipe_instance_new(&in, 4, &c, &o, &e), ERR_INPUT);
    assert_int_equal(pipe_instance_new(&in, 0, &c, &sixteen, &e), ERR_LIMIT);
    assert_int_equal(cluster_of_devices(&many, PIPE_DEVICES_MOST + 1, &e), 0);
    assert_int_equal(pipe_instance_new(&in, 4, &many, &sixteen, &e), ERR_LIMIT);

    in = fresh(&c, 4);
    uint32_t uses[] = {2, 1};
    struct pipe_tie tie = {.uses = uses, .use_count = 2};
    assert_int_equal(pipe_instance_tie(&in, &tie, &e), ERR_INPUT);
    assert_int_equal(in.ties, 0);
    pipe_instance_free(&in);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_links),
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_fewer_points),
        cmocka_unit_test(test_all_points_kept),
        cmocka_unit_test(test_overlap_of_own_devices),
        cmocka_unit_test(test_memory_limit),
        cmocka_unit_test(test_spots),
        cmocka_unit_test(test_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
