/* Collective times against hand arithmetic, published figures and a walk of every byte. */
#include "engine/cluster/collectives.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Round figures, so that every expectation below can be worked out in the head: 100 GB/s inside,
 * 1 GB/s a card, 2 ms and 30 ms a phase. 1 GB takes 10 ms inside and 1,000 ms across. */
static const char two_by_eight[] =
    "devices: {d: {memory: 1 GB, peak: 1 TFLOP/s, bandwidth: 1 GB/s, launch: 0 us}}\n"
    "servers: [{count: 2, devices: 8, link: {kind: switch, bandwidth: 100 GB/s, latency: 2 ms}}]\n"
    "network: {bandwidth: 1 GB/s, latency: 30 ms}\n";

static const double GB = 1e9;

static struct cluster cluster(const char *yaml)
{
    struct cluster c;
    struct err e = {0};

    if (cluster_read(&c, yaml, strlen(yaml), &e))
        fail_msg("%u:%u: %s", e.line, e.col, e.what);
    return c;
}

static struct cluster_mesh mesh(const char *yaml, const char *shape)
{
    struct cluster c = cluster(yaml);
    struct cluster_mesh m;
    struct err e = {0};

    if (mesh_parse(&m, &c, shape, &e))
        fail_msg("%s: %s", shape, e.what);
    return m;
}

static void near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-9 * fabs(expected) + 1e-12))
        fail_msg("%.12g, expected %.12g", value, expected);
}

static double ms(const struct cluster_mesh *m, enum collective_kind kind, uint32_t set)
{
    return collective_ms(m, kind, set, GB);
}

static void test_inside(void **state)
{
    (void)state;
    struct cluster_mesh m = mesh(two_by_eight, "2x8");
    const uint32_t y = 2;

    assert_int_equal(m.axis[1].place, MESH_INSIDE);
    near(ms(&m, COLLECTIVE_ALL_GATHER, y), 2 + 7.0 / 8 * 10);
    near(ms(&m, COLLECTIVE_REDUCE_SCATTER, y), 2 + 7.0 / 8 * 10);
    near(ms(&m, COLLECTIVE_ALL_REDUCE, y), 2 * (2 + 7.0 / 8 * 10));
    near(ms(&m, COLLECTIVE_ALL_TO_ALL, y), 2 + 7.0 / 8 * 10);
    near(ms(&m, COLLECTIVE_PERMUTE, y), 2 + 10);
}

/* D/g: the 8 devices of a server each send their half through one card. */
static void test_across_shares_the_card(void **state)
{
    (void)state;
    struct cluster_mesh m = mesh(two_by_eight, "2x8");
    const uint32_t x = 1;

    assert_int_equal(m.axis[0].place, MESH_ACROSS);
    assert_int_equal(m.span[x].cards_shared, 8);
    near(ms(&m, COLLECTIVE_ALL_GATHER, x), 30 + 1.0 / 2 * 8 * 1000);
    near(ms(&m, COLLECTIVE_ALL_REDUCE, x), 2 * (30 + 1.0 / 2 * 8 * 1000));
    near(ms(&m, COLLECTIVE_ALL_TO_ALL, x), 30 + 1.0 / 2 * 8 * 1000);
    near(ms(&m, COLLECTIVE_PERMUTE, x), 30 + 8 * 1000);
}

/* Over all axes: g = 8, s = 2, D/g = 1; the one-axis mesh gives the same. */
static void test_both(void **state)
{
    (void)state;
    struct cluster_mesh m = mesh(two_by_eight, "2x8"), one = mesh(two_by_eight, "16");
    const uint32_t xy = 3;

    near(ms(&m, COLLECTIVE_ALL_GATHER, xy), 2 + 7.0 / 8 * 10 + 30 + 1.0 / 2 * 1000);
    near(ms(&m, COLLECTIVE_ALL_REDUCE, xy), 2 * (2 + 7.0 / 8 * 10 + 30 + 1.0 / 2 * 1000));
    /* Inside: 7 parts of 1/16 GB. Across: 8 devices, 8 parts of 1/16 GB each = 4 GB. */
    near(ms(&m, COLLECTIVE_ALL_TO_ALL, xy), 2 + 7.0 / 16 * 10 + 30 + 4 * 1000);
    /* Side by side: 1 GB out of the server through the card is the longer. */
    near(ms(&m, COLLECTIVE_PERMUTE, xy), 30 + 1000);
    assert_int_equal(one.axis[0].place, MESH_BOTH);
    for (int k = 0; k < COLLECTIVE_COUNT; k++)
        near(ms(&one, (enum collective_kind)k, 1), ms(&m, (enum collective_kind)k, xy));
}

/* 2x4x2 on 2x8: x across, y and z inside; over x and z two devices of a server are in a group, so
 * 4 groups share a card. */
static void test_refined(void **state)
{
    (void)state;
    struct cluster_mesh m = mesh(two_by_eight, "2x4x2");

    assert_int_equal(m.axis[1].place, MESH_INSIDE);
    near(ms(&m, COLLECTIVE_ALL_GATHER, 2), 2 + 3.0 / 4 * 10);
    near(ms(&m, COLLECTIVE_ALL_GATHER, 4), 2 + 1.0 / 2 * 10);
    near(ms(&m, COLLECTIVE_ALL_GATHER, 6), 2 + 7.0 / 8 * 10);
    near(ms(&m, COLLECTIVE_ALL_GATHER, 5), 2 + 1.0 / 2 * 10 + 30 + 1.0 / 2 * 4 * 1000);
    near(ms(&m, COLLECTIVE_ALL_GATHER, 3), 2 + 3.0 / 4 * 10 + 30 + 1.0 / 2 * 2 * 1000);
}

static void test_empty_set_and_axis_of_one(void **state)
{
    (void)state;
    struct cluster_mesh m = mesh(two_by_eight, "1x16");

    for (int k = 0; k < COLLECTIVE_COUNT; k++) {
        near(ms(&m, (enum collective_kind)k, 0), 0);
        near(ms(&m, (enum collective_kind)k, 1), 0);
        near(ms(&m, (enum collective_kind)k, 3), ms(&m, (enum collective_kind)k, 2));
    }
}

/* Servers of 4 and 2 devices: each phase waits for its slowest server. */
static void test_unequal_servers(void **state)
{
    (void)state;
    static const char yaml[] =
        "devices: {d: {memory: 1 GB, peak: 1 TFLOP/s, bandwidth: 1 GB/s, launch: 0 us}}\n"
        "servers:\n"
        "  - {devices: 4, link: {kind: switch, bandwidth: 100 GB/s, latency: 2 ms}}\n"
        "  - {devices: 2, link: {kind: switch, bandwidth: 25 GB/s, latency: 3 ms}}\n"
        "network: {bandwidth: 1 GB/s, latency: 30 ms}\n";
    struct cluster_mesh m = mesh(yaml, "6"), pairs = mesh(yaml, "3x2");

    /* Inside: 3/4 of 10 ms against 1/2 of 40 ms; latency 3. Across: the server of 2 lacks 4/6. */
    near(ms(&m, COLLECTIVE_ALL_GATHER, 1), 3 + 1.0 / 2 * 40 + 30 + 4.0 / 6 * 1000);
    /* All-to-all inside: 3/6 of 10 against 1/6 of 40. Across: 4 devices x 2/6 = 2 x 4/6. */
    near(ms(&m, COLLECTIVE_ALL_TO_ALL, 1), 3 + 1.0 / 6 * 40 + 30 + 8.0 / 6 * 1000);
    assert_int_equal(m.span[1].inside, 4);
    assert_int_equal(m.span[1].servers, 2);
    /* Along x: groups {0,2,4} and {1,3,5}: two in the first server, one in the second, which must
     * bring in 2/3 of both groups' data. */
    assert_int_equal(pairs.axis[0].place, MESH_BOTH);
    assert_int_equal(pairs.span[1].cards_shared, 2);
    near(ms(&pairs, COLLECTIVE_ALL_GATHER, 1), 2 + 1.0 / 2 * 10 + 30 + 2 * 2.0 / 3 * 1000);
}

/* A faster card in one of two servers does not help the other. */
static void test_unequal_cards(void **state)
{
    (void)state;
    static const char yaml[] =
        "devices: {d: {memory: 1 GB, peak: 1 TFLOP/s, bandwidth: 1 GB/s, launch: 0 us}}\n"
        "servers: [{devices: 1, network: 4 GB/s}, {devices: 1}]\n"
        "network: {bandwidth: 2 GB/s, latency: 0 ms}\n";
    struct cluster_mesh m = mesh(yaml, "2");

    near(ms(&m, COLLECTIVE_ALL_GATHER, 1), 1.0 / 2 * 500);
    near(ms(&m, COLLECTIVE_PERMUTE, 1), 500);
}

/* "How to Scale Your Model", part 3, its own example: bf16[2048, 8192] over a ring of 8 TPU v5e of
 * 90 GB/s both ways: all-gather 373 us without the factor 7/8, all-to-all 93.2 us. */
static void test_published_ring(void **state)
{
    (void)state;
    static const char yaml[] =
        "devices: {d: {memory: 1 GB, peak: 1 TFLOP/s, bandwidth: 1 GB/s, launch: 0 us}}\n"
        "servers: [{devices: 8, link: {kind: ring, bandwidth: 90 GB/s, latency: 0 us}}]\n";
    struct cluster_mesh m = mesh(yaml, "8");
    double all = 2.0 * 2048 * 8192;
    double gather = collective_ms(&m, COLLECTIVE_ALL_GATHER, 1, all);
    double exchange = collective_ms(&m, COLLECTIVE_ALL_TO_ALL, 1, all / 8);

    assert_true(fabs(gather / (7.0 / 8) - 0.373) < 0.0005);
    assert_true(fabs(exchange - 0.0932) < 0.00005);
}

/* An independent model, in Python, of T5 6+6 split by heads, feed-forward and vocabulary on four
 * V100: 103 all-reduces of 3,095.46 MB take 38.8 ms, the 34 of 881 MB in the forward pass 11.2. */
static void test_against_another_model(void **state)
{
    (void)state;
    struct cluster c;
    struct cluster_mesh m;

    cluster_default(&c);
    mesh_one_axis(&m, &c);
    double all = 103 * collective_ms(&m, COLLECTIVE_ALL_REDUCE, 1, 3095.46e6 / 103);
    double forward = 34 * collective_ms(&m, COLLECTIVE_ALL_REDUCE, 1, 881e6 / 34);
    assert_true(fabs(all - 38.8) < 0.05);
    assert_true(fabs(forward - 11.2) < 0.05);
}

/* A 4x4 torus: along one side half of the links carry; all over both sides an all-to-all is bound
 * by the cut through the middle: 8 links of W/4 each way, 4 GB to carry = 20 ms at 100 GB/s. */
static void test_torus(void **state)
{
    (void)state;
    static const char yaml[] =
        "devices: {d: {memory: 1 GB, peak: 1 TFLOP/s, bandwidth: 1 GB/s, launch: 0 us}}\n"
        "servers: [{devices: 16, link: {kind: torus, shape: 4x4, bandwidth: 100 GB/s, latency: 0 "
        "ms}}]\n";
    struct cluster_mesh m = mesh(yaml, "4x4");

    for (uint32_t side = 1; side <= 2; side++) {
        near(ms(&m, COLLECTIVE_ALL_GATHER, side), 3.0 / 4 * 20);
        near(ms(&m, COLLECTIVE_ALL_TO_ALL, side), 1 * 20);
        near(ms(&m, COLLECTIVE_PERMUTE, side), 40);
    }
    near(ms(&m, COLLECTIVE_ALL_GATHER, 3), 15.0 / 16 * 10);
    near(ms(&m, COLLECTIVE_ALL_TO_ALL, 3), 20);
    /* The first side in two: every second place (x) or a stretch (y), a ring of 50 GB/s halved. */
    m = mesh(yaml, "2x2x4");
    for (uint32_t half = 1; half <= 2; half++) {
        near(ms(&m, COLLECTIVE_ALL_GATHER, half), 1.0 / 2 * 40);
        near(ms(&m, COLLECTIVE_ALL_TO_ALL, half), 1.0 / 2 * 40);
    }
    near(ms(&m, COLLECTIVE_PERMUTE, 1), 80); /* two steps, shared by two */
    near(ms(&m, COLLECTIVE_PERMUTE, 2), 40);
    near(ms(&m, COLLECTIVE_ALL_GATHER, 3), 3.0 / 4 * 20);
}

/* Sides of 2 and 8. The cut across the long side: 4 links of W/4, 8 devices with half a GB for the
 * other half each = 4 GB at 100 GB/s. */
static void test_long_torus(void **state)
{
    (void)state;
    static const char yaml[] =
        "devices: {d: {memory: 1 GB, peak: 1 TFLOP/s, bandwidth: 1 GB/s, launch: 0 us}}\n"
        "servers: [{devices: 16, link: {kind: torus, shape: 2x8, bandwidth: 100 GB/s, latency: 0 "
        "ms}}]\n";
    struct cluster_mesh m = mesh(yaml, "2x8");

    near(ms(&m, COLLECTIVE_ALL_TO_ALL, 3), 40);
    near(ms(&m, COLLECTIVE_ALL_TO_ALL, 1), 1.0 / 2 * 20);
    near(ms(&m, COLLECTIVE_ALL_TO_ALL, 2), 8.0 / 4 * 20);
    near(ms(&m, COLLECTIVE_PERMUTE, 1), 20);
    near(ms(&m, COLLECTIVE_PERMUTE, 2), 40);
}

/* Reference without any formula: every device's share of every byte is walked and charged to the
 * card of the server it leaves and enters; the busiest card bounds the time of the across phase. */
static void walk_cards(const struct cluster *c, const struct cluster_mesh *m, uint32_t set,
                       double *gather, double *exchange)
{
    double in[16] = {0}, out[16] = {0};
    uint32_t n = m->span[set].devices;
    static bool has[16][64][64]; /* server, group key, part: already brought in */

    memset(has, 0, sizeof has);
    for (uint32_t a = 0; a < c->devices; a++) {
        for (uint32_t b = 0; b < c->devices; b++) {
            uint32_t ra = a, rb = b, key = 0, scale = 1;
            bool is_same = true;
            for (uint32_t axis = m->axes; axis-- > 0;) {
                uint32_t size = m->axis[axis].size;
                if (!(set >> axis & 1)) {
                    is_same &= ra % size == rb % size;
                    key += ra % size * scale;
                    scale *= size;
                }
                ra /= size;
                rb /= size;
            }
            uint32_t sa = cluster_server_of(c, a), sb = cluster_server_of(c, b);
            if (!is_same || sa == sb)
                continue;
            out[sa] += 1.0 / n;
            if (!has[sb][key][a])
                in[sb] += 1.0 / n;
            has[sb][key][a] = true;
        }
    }
    *gather = *exchange = 0;
    for (uint32_t s = 0; s < c->servers; s++) {
        double rate = cluster_network_of(c, s < c->group[0].count ? 0 : c->groups - 1);
        *gather = fmax(*gather, in[s] / rate * 1e3);
        *exchange = fmax(*exchange, out[s] / rate * 1e3);
    }
}

static void test_against_walking_every_byte(void **state)
{
    (void)state;
    static const char unequal[] =
        "devices: {d: {memory: 1 GB, peak: 1 TFLOP/s, bandwidth: 1 GB/s, launch: 0 us}}\n"
        "servers:\n"
        "  - {count: 2, devices: 6, network: 2 GB/s, link: {kind: ring, bandwidth: 9 GB/s, "
        "latency: 1 us}}\n"
        "  - {count: 3, devices: 4, link: {kind: ring, bandwidth: 9 GB/s, latency: 1 us}}\n"
        "network: {bandwidth: 1 GB/s, latency: 30 ms}\n";
    static const char *const shapes[] = {"24", "2x12", "12x2", "4x6", "6x4", "2x3x4", "3x2x2x2"};
    struct cluster c = cluster(unequal);

    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct cluster_mesh m = mesh(unequal, shapes[i]);
        for (uint32_t set = 1; set < 1u << m.axes; set++) {
            double gather, exchange;
            walk_cards(&c, &m, set, &gather, &exchange);
            near(m.span[set].gather_across, gather);
            near(m.span[set].exchange_across, exchange);
        }
    }
}

static void test_mesh_text(void **state)
{
    (void)state;
    struct cluster c = cluster(two_by_eight);
    struct cluster_mesh m;
    struct err e;
    char text[64];
    static const struct {
        const char *mesh, *error;
    } bad[] = {
        {"2x4", "a mesh of 8 devices, expected sizes whose product is the cluster's 16"},
        {"0x16", "mesh axis 0 has size 0, expected at least 1"},
        {"65536x65536", "a mesh of more than 65536 devices, the cluster has 16"},
        {"",
         "mesh \"\" is not understood, expected up to 6 sizes such as 2x8, 16 or data=2,model=8"},
        {"2x", "mesh \"2x\" is not understood, expected up to 6 sizes such as 2x8, 16 or "
               "data=2,model=8"},
        {"a=2,8", "mesh \"a=2,8\" is not understood, expected up to 6 sizes such as 2x8, 16 or "
                  "data=2,model=8"},
        {"a=2,a=8", "two mesh axes are named \"a\""},
    };

    assert_int_equal(mesh_parse(&m, &c, "data=2,model=8", &e), 0);
    mesh_format(&m, text, sizeof text);
    assert_string_equal(text, "2x8");
    mesh_set_format(&m, 3, text, sizeof text);
    assert_string_equal(text, "data,model");
    mesh_by_server(&m, &c);
    mesh_format(&m, text, sizeof text);
    assert_string_equal(text, "2x8");
    mesh_set_format(&m, 3, text, sizeof text);
    assert_string_equal(text, "xy");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_true(mesh_parse(&m, &c, bad[i].mesh, &e) < 0);
        assert_string_equal(e.what, bad[i].error);
    }
}

/* What a person sees who opens one all-reduce. */
static void test_explain(void **state)
{
    (void)state;
    struct cluster_mesh m = mesh(two_by_eight, "2x8");
    struct str s = {0};

    collective_explain(&m, COLLECTIVE_ALL_REDUCE, 1, GB, &s);
    assert_string_equal(s.text,
                        "all-reduce of 1.0 GB over x: 8060.0000 ms\n"
                        "  across       8000.0000 ms moving bytes     60.0000 ms latency\n"
                        "  2 devices a group: 1 inside a server, 2 servers; 8 groups share one "
                        "network card; the parts follow each other\n");
    str_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_inside),
        cmocka_unit_test(test_across_shares_the_card),
        cmocka_unit_test(test_both),
        cmocka_unit_test(test_refined),
        cmocka_unit_test(test_empty_set_and_axis_of_one),
        cmocka_unit_test(test_unequal_servers),
        cmocka_unit_test(test_unequal_cards),
        cmocka_unit_test(test_published_ring),
        cmocka_unit_test(test_against_another_model),
        cmocka_unit_test(test_torus),
        cmocka_unit_test(test_long_torus),
        cmocka_unit_test(test_against_walking_every_byte),
        cmocka_unit_test(test_mesh_text),
        cmocka_unit_test(test_explain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
