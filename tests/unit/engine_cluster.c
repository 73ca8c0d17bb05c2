/* Cluster files: what is read, what is refused and in which words, figures changed by path. */
#include "engine/cluster/cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#define DEVICE \
    "devices: {d: {memory: 16 GB, peak: 12 TFLOP/s, bandwidth: 800 GB/s, launch: 5 us}}\n"
#define LINK "link: {kind: ring, bandwidth: 130 GB/s, latency: 10 us}"
#define SERVERS "servers: [{devices: 4, " LINK "}]\n"

static struct cluster read_ok(const char *yaml)
{
    struct cluster c;
    struct err e = {0};

    if (cluster_read(&c, yaml, strlen(yaml), &e))
        fail_msg("%u:%u: %s", e.line, e.col, e.what);
    return c;
}

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

static void test_figures(void **state)
{
    (void)state;
    struct cluster c = load("c-4x8-v100");

    assert_string_equal(c.name, "c-4x8-v100");
    assert_int_equal(c.servers, 4);
    assert_int_equal(c.devices, 32);
    assert_true(c.type[0].memory_bytes == 16e9);
    assert_true(c.type[0].bandwidth == 800e9);
    assert_true(c.type[0].peak[PEAK_F32] == 12e12);
    assert_true(c.type[0].launch_ms == 0.005);
    assert_true(c.group[0].link.bandwidth == 130e9);
    assert_true(c.network == 3.125e9);
    assert_true(c.network_latency_ms == 0.025);
    assert_int_equal(cluster_server_of(&c, 0), 0);
    assert_int_equal(cluster_server_of(&c, 7), 0);
    assert_int_equal(cluster_server_of(&c, 8), 1);
    assert_int_equal(cluster_server_of(&c, 31), 3);
}

static void test_units(void **state)
{
    (void)state;
    struct cluster c = read_ok(
        "devices: {d: {memory: 16GiB, peak: {f32: 1.5e1 TFLOP/s, s8: 130 TOP/s}, bandwidth: 0.9 "
        "TB/s,"
        " launch: 5 \302\265s}}\n"
        "servers: [{devices: 2, link: {kind: switch, bandwidth: 600 Gbit/s, latency: 0.01 ms}}]\n");

    assert_true(c.type[0].memory_bytes == 17179869184.0);
    assert_true(c.type[0].peak[PEAK_F32] == 15e12);
    assert_true(c.type[0].peak[PEAK_S8] == 130e12);
    assert_true(c.type[0].bandwidth == 900e9);
    assert_true(c.type[0].launch_ms == 0.005);
    assert_true(c.group[0].link.bandwidth == 75e9);
    assert_true(c.group[0].link.latency_ms == 0.01);
}

static void test_peaks(void **state)
{
    (void)state;
    struct cluster_device d = {.peak = {[PEAK_F32] = 10, [PEAK_BF16] = 80}};

    assert_true(cluster_peak(&d, PEAK_F32) == 10);
    assert_true(cluster_peak(&d, PEAK_F64) == 5);
    assert_true(cluster_peak(&d, PEAK_F16) == 80);
    assert_true(cluster_peak(&d, PEAK_F8) == 80);
    assert_int_equal(cluster_peak_type(HLO_F8E4M3FN), PEAK_F8);
    assert_int_equal(cluster_peak_type(HLO_BF16), PEAK_BF16);
    assert_int_equal(cluster_peak_type(HLO_F4E2M1FN), PEAK_F8);
    assert_int_equal(cluster_peak_type(HLO_F16), PEAK_F16);
    assert_int_equal(cluster_peak_type(HLO_F64), PEAK_F64);
    assert_int_equal(cluster_peak_type(HLO_U4), PEAK_S8);
    assert_int_equal(cluster_peak_type(HLO_S32), PEAK_F32);
    assert_int_equal(cluster_peak_type(HLO_PRED), PEAK_F32);
    assert_int_equal(cluster_peak_type(HLO_C64), PEAK_F32);
    assert_int_equal(cluster_peak_type(HLO_C128), PEAK_F64);
}

static void test_unequal_servers(void **state)
{
    (void)state;
    struct cluster c =
        read_ok("devices:\n"
                "  big: {memory: 80 GB, peak: {f32: 19 TFLOP/s, f16: 300 TFLOP/s}, bandwidth: 2 "
                "TB/s, launch: 4 us}\n"
                "  small: {memory: 16 GB, peak: 15 TFLOP/s, bandwidth: 900 GB/s, launch: 5 us}\n"
                "servers:\n"
                "  - {type: big, devices: 4, network: 100 Gbit/s, " LINK "}\n"
                "  - {type: small, count: 2, devices: 1}\n"
                "network: {bandwidth: 25 Gbit/s, latency: 25 us}\n");
    struct cluster_device w = cluster_weakest(&c);
    char label[64];

    assert_int_equal(c.devices, 6);
    assert_string_equal(cluster_type_of(&c, 3)->name, "big");
    assert_string_equal(cluster_type_of(&c, 5)->name, "small");
    assert_int_equal(cluster_server_of(&c, 5), 2);
    assert_true(cluster_network_of(&c, 0) == 12.5e9);
    assert_true(cluster_network_of(&c, 1) == 3.125e9);
    assert_true(w.memory_bytes == 16e9);
    assert_true(cluster_peak(&w, PEAK_F16) == 15e12);
    assert_true(w.launch_ms == 0.005);
    cluster_label(&c, label, sizeof label);
    assert_string_equal(label, "6 x at least 16 GB");
    cluster_label_link(&c, label, sizeof label);
    assert_string_equal(label, "25 Gbit/s");
}

/* The built-in cluster is the example file of the same name: nobody has to guess its figures. */
static void test_default_is_the_example(void **state)
{
    (void)state;
    struct cluster c = load("v100-1x4"), d;
    struct err e;

    cluster_default(&d);
    assert_true(cluster_fingerprint(&c) == cluster_fingerprint(&d));
    assert_string_equal(c.name, d.name);
    assert_string_equal(c.about, d.about);
    assert_int_equal(cluster_of_devices(&c, 4, &e), 0);
    assert_true(cluster_fingerprint(&c) == cluster_fingerprint(&d));
    assert_int_equal(cluster_of_devices(&c, 0, &e), ERR_INPUT);
    assert_string_equal(e.what, "0 devices, expected 1 to 65536");
    assert_int_equal(cluster_of_devices(&c, 65537, &e), ERR_LIMIT);
}

static void test_fingerprint(void **state)
{
    (void)state;
    struct cluster a = load("a-2x8-v100"), b = load("b-3x8-v100"), c = load("c-4x8-v100"), d = c;
    struct err e;

    assert_true(cluster_fingerprint(&a) != cluster_fingerprint(&b));
    assert_true(cluster_fingerprint(&b) != cluster_fingerprint(&c));
    assert_int_equal(cluster_set(&d, "name", "other", &e), 0);
    assert_true(cluster_fingerprint(&d) == cluster_fingerprint(&c));
    d.groups = 2; /* 1 + 3 servers instead of 4 */
    d.group[1] = d.group[0];
    d.group[0].count = 1;
    d.group[1].count = 3;
    assert_true(cluster_fingerprint(&d) == cluster_fingerprint(&c));
    assert_int_equal(cluster_set(&d, "servers.1.link.latency", "11 us", &e), 0);
    assert_true(cluster_fingerprint(&d) != cluster_fingerprint(&c));
    /* Stable across versions: plans store it. */
    assert_true(cluster_fingerprint(&c) == UINT64_C(0x60f45736827e10f3));
}

static void test_set(void **state)
{
    (void)state;
    struct cluster c = load("c-4x8-v100"), before;
    struct err e;
    static const struct {
        const char *path, *value, *error;
    } bad[] = {
        {"network.bandwith", "1 GB/s",
         "unknown key \"bandwith\" in the network, expected bandwidth, latency; did you mean "
         "\"bandwidth\"?"},
        {"network", "1 GB/s",
         "\"network\" is a section, expected one of its keys as in "
         "network.bandwidth"},
        {"network.bandwidth.x", "1 GB/s", "\"bandwidth\" has no keys of its own, not \"x\""},
        {"network.bandwidth", "-1 GB/s", "\"-1 GB/s\" is negative, expected more than 0"},
        {"devices.a100.memory", "1 GB", "no device type \"a100\", expected v100 or *"},
        {"devices", "1 GB", "expected a path such as devices.*.memory"},
        {"servers.7.count", "2", "no entry 7 of servers, expected 0 to 0 or *"},
        {"servers.0.count", "5000", "5000 is out of range, expected 1 to 4096"},
        {"servers.0.link.shape", "2x2x2", "shape on a ring, expected it only on a torus"},
        {"", "1", "unknown key \"\" in a cluster, expected name, about, devices, servers, network"},
    };

    assert_int_equal(cluster_set(&c, "network.bandwidth", "100 Gbit/s", &e), 0);
    assert_true(c.network == 12.5e9);
    assert_int_equal(cluster_set(&c, "devices.v100.memory", "32 GB", &e), 0);
    assert_true(c.type[0].memory_bytes == 32e9);
    assert_int_equal(cluster_set(&c, "devices.*.peak", "15.7 TFLOP/s", &e), 0);
    assert_int_equal(cluster_set(&c, "devices.*.peak.f16", "125 TFLOP/s", &e), 0);
    assert_true(c.type[0].peak[PEAK_F32] == 15.7e12 && c.type[0].peak[PEAK_F16] == 125e12);
    assert_int_equal(cluster_set(&c, "servers.*.count", "8", &e), 0);
    assert_int_equal(c.devices, 64);
    before = c;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_true(cluster_set(&c, bad[i].path, bad[i].value, &e) < 0);
        assert_string_equal(e.what, bad[i].error);
        assert_memory_equal(&c, &before, sizeof c);
    }
}

static const struct bad_file {
    const char *yaml;
    uint32_t line, col;
    const char *error;
} bad_files[] = {
    {"", 1, 1, "an empty file, expected YAML"},
    {"[]", 1, 1, "a list for a cluster, expected a map such as {key: value}"},
    {DEVICE, 1, 1,
     "a cluster without servers, expected servers: [{count: 4, devices: 8, link: ...}]"},
    {DEVICE "servers: []\n", 2, 10, "no server, expected [{count: 4, devices: 8, link: ...}]"},
    {"devices: {}\n" SERVERS, 1, 10, "no device type, expected {v100: {memory: 16 GB, ...}}"},
    {DEVICE "server: []\n", 2, 1,
     "unknown key \"server\" in a cluster, expected name, about, devices, servers, network; did "
     "you "
     "mean \"servers\"?"},
    {DEVICE "servers:\n  - devices: 0\n", 3, 14, "0 is out of range, expected 1 to 65536"},
    {DEVICE "servers:\n  - {devices: 4, link: {kind: ring, bandwidth: 1 GB/s, latency: 1001 s}}\n",
     3, 65, "\"1001 s\" is out of range, expected 0 or 0.001 ns to 1000 s, such as 5 us"},
    {DEVICE "servers:\n  - {devices: 4, link: {kind: ring, bandwidth: 0.9 B/s, latency: 1 s}}\n", 3,
     48, "\"0.9 B/s\" is out of range, expected 1 B/s to 1000000 TB/s, such as 900 GB/s"},
    {DEVICE "servers:\n  - devices: -8\n", 3, 14,
     "\"-8\" is not a count, expected a whole number from 1"},
    {DEVICE "servers:\n  - devices: 99999999999999999999999\n", 3, 14,
     "99999999999999999999999 is out of range, expected 1 to 65536"},
    {DEVICE "servers:\n  - {devices: 8}\n", 3, 5,
     "8 devices without a link, expected link: {kind: ring, bandwidth: 130 GB/s, latency: 10 us}"},
    {DEVICE "servers:\n  - {devices: 4, link: {kind: ring, bandwidth: -130 GB/s, latency: 1 us}}\n",
     3, 48, "\"-130 GB/s\" is negative, expected more than 0"},
    {DEVICE "servers:\n  - {devices: 4, link: {kind: ring, bandwidth: 0 GB/s, latency: 1 us}}\n", 3,
     48, "\"0 GB/s\" is zero, expected more than 0"},
    {DEVICE "servers:\n  - {devices: 4, link: {kind: ring, bandwidth: 130, latency: 1 us}}\n", 3,
     48, "\"130\" has no unit, expected MB/s, GB/s, TB/s, Mbit/s or Gbit/s as in 900 GB/s"},
    {DEVICE "servers:\n  - {devices: 4, link: {kind: ring, bandwidth: 130 Gb, latency: 1 us}}\n", 3,
     48,
     "unknown unit \"Gb\" in \"130 Gb\", expected MB/s, GB/s, TB/s, Mbit/s or Gbit/s as in 900 "
     "GB/s"},
    {DEVICE "servers:\n  - {devices: 4, link: {kind: ring, bandwidth: fast, latency: 1 us}}\n", 3,
     48, "\"fast\" is not a rate, expected a number and a unit such as 900 GB/s"},
    {DEVICE "servers:\n  - {devices: 4, link: {kind: rign, bandwidth: 1 GB/s, latency: 1 us}}\n", 3,
     31, "unknown kind of link \"rign\", expected ring, switch or torus"},
    {DEVICE "servers:\n  - {devices: 4, link: {kind: torus, bandwidth: 1 GB/s, latency: 1 us}}\n",
     3, 5, "a torus without shape, expected sizes whose product is 4"},
    {DEVICE "servers:\n  - {devices: 4, link: {kind: torus, shape: 2x3, bandwidth: 1 GB/s, "
            "latency: 1 us}}\n",
     3, 5, "the shape has 6 devices, the server has 4"},
    {DEVICE "servers:\n  - {devices: 4, link: {kind: torus, shape: 2x, bandwidth: 1 GB/s, "
            "latency: 1 us}}\n",
     3, 45, "shape \"2x\" is not understood, expected 1 to 3 sizes such as 4x4"},
    {DEVICE "servers: [{count: 2, devices: 1}]\n", 2, 10,
     "2 servers without a network, expected network: {bandwidth: 25 Gbit/s, latency: 25 us}"},
    {DEVICE "servers: [{count: 4096, devices: 65536, " LINK "}]\n", 2, 11,
     "more than 65536 devices"},
    {DEVICE "servers: [{devices: 4, type: v100, " LINK "}]\n", 2, 30,
     "no device type \"v100\", expected a name from devices, such as d"},
    {"devices: {d: {memory: 16 GB, bandwidth: 800 GB/s, launch: 5 us}}\n" SERVERS, 1, 14,
     "a device type without peak, expected peak: {f32: 15.7 TFLOP/s}"},
    {"devices: {d: {memory: 16 GB, peak: {f16: 1 TFLOP/s}, bandwidth: 8 GB/s, launch: 5 "
     "us}}\n" SERVERS,
     1, 36, "peak without f32, expected f32: 15.7 TFLOP/s"},
    {"devices: {d: {memory: 16 GB, memory: 32 GB}}\n" SERVERS, 1, 30, "\"memory\" is given twice"},
    {"devices: {d: &a {memory: 16 GB}}\n" SERVERS, 1, 14,
     "an anchor (&name), expected a plain value"},
    {"devices: {d: *a}\n" SERVERS, 1, 14, "an alias (*name), expected the value written out"},
    {"devices: !!map {}\n" SERVERS, 1, 10, "a tag (!name), expected a plain value"},
    {DEVICE SERVERS "---\nname: two\n", 3, 1, "a second document, expected the end of the file"},
    {"name: \"a\033b\"\n" DEVICE SERVERS, 1, 9,
     "not valid YAML: control characters are not allowed"},
    {"name: \"a\\e[31mb\"\n" DEVICE SERVERS, 1, 7,
     "name \"a?[31mb\" is not fit, expected 1 to 47 letters, digits, -, _, . or +"},
    {DEVICE "servers: [{devices: 4", 2, 22,
     "not valid YAML: did not find expected ',' or '}' while parsing a flow mapping"},
    {"{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{", 1, 2, "a list or map as a key, expected a word"},
    {"a: [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", 1, 19, "lists and maps nested deeper than 16"},
};

static void test_errors(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad_files / sizeof *bad_files; i++) {
        const struct bad_file *b = &bad_files[i];
        struct cluster c = {.devices = 77}, untouched = c;
        struct err e = {0};
        int code = cluster_read(&c, b->yaml, strlen(b->yaml), &e);

        if (code >= 0 || strcmp(e.what, b->error) != 0 || e.line != b->line || e.col != b->col)
            print_error("file %zu: %d %u:%u: %s\n  expected  %u:%u: %s\n", i, code, e.line, e.col,
                        e.what, b->line, b->col, b->error);
        assert_string_equal(e.what, b->error);
        assert_int_equal(e.line, b->line);
        assert_int_equal(e.col, b->col);
        assert_memory_equal(&c, &untouched, sizeof c);
    }
}

/* Columns count bytes as the caret needs them, also after characters of several bytes. */
static void test_place_after_wide_characters(void **state)
{
    (void)state;
    static const char yaml[] = "# \303\251\303\251\303\251\nabout: \303\251\303\251\nmemory: 1\n";
    struct cluster c;
    struct err e;

    assert_int_equal(cluster_read(&c, yaml, sizeof yaml - 1, &e), ERR_INPUT);
    assert_int_equal(e.line, 3);
    assert_int_equal(e.col, 1);
    assert_string_equal(e.source, "memory: 1");
}

static void test_files(void **state)
{
    (void)state;
    struct cluster c;
    struct err e;

    assert_int_equal(cluster_load(&c, "/nonexistent/c.yaml", &e), ERR_IO);
    assert_string_equal(e.what, "cannot read the cluster file: No such file or directory");
    assert_string_equal(e.file, "/nonexistent/c.yaml");
    assert_int_equal(cluster_load(&c, AUTOMAP_SOURCE_DIR, &e), ERR_IO);
    assert_int_equal(cluster_load(&c, "/dev/zero", &e), ERR_LIMIT);
}

/* Written and read again, every shipped cluster costs what it cost. */
static void test_written(void **state)
{
    static const char *const names[] = {
        "a-2x8-v100",   "a100-4x8",     "h100-1x8",      "rtx3090-1x2",  "tpu-v5p-4x4x4",
        "unequal",      "v100-1x4",     "dgx-v100-1x8",  "dgx-a100-1x8", "dgx-a100-4x8",
        "dgx-h100-1x8", "dgx-h100-4x8", "tpu-v5p-8x4x4", "tpu-v6e-16x16"};
    struct cluster *c = mem_alloc(sizeof *c), *again = mem_alloc(sizeof *again);

    (void)state;
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        struct str text = {0};
        struct err e = {0};
        char path[300];
        snprintf(path, sizeof path, AUTOMAP_SOURCE_DIR "/examples/clusters/%s.yaml", names[n]);
        assert_int_equal(cluster_load(c, path, &e), 0);
        assert_int_equal(cluster_set(c, "devices.*.memory", "12345678901 B", &e), 0);
        cluster_write(c, &text);
        if (cluster_read(again, text.text, text.size, &e))
            fail_msg("%s: %s", names[n], e.what);
        assert_true(cluster_fingerprint(c) == cluster_fingerprint(again));
        assert_string_equal(c->name, again->name);
        str_release(&text);
    }
    free(c);
    free(again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_figures),
        cmocka_unit_test(test_units),
        cmocka_unit_test(test_peaks),
        cmocka_unit_test(test_unequal_servers),
        cmocka_unit_test(test_default_is_the_example),
        cmocka_unit_test(test_fingerprint),
        cmocka_unit_test(test_set),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_place_after_wide_characters),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
