#include "tui/watch/figures.h"

#include "engine/cluster/cluster.h"
#include "engine/cluster/mesh.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum unit { UNIT_BYTES, UNIT_RATE, UNIT_BITS, UNIT_FLOPS, UNIT_TIME, UNIT_COUNT, UNIT_TEXT };

/* 9.0e11 and steps of 1,000: "900 GB/s". Nine digits, so that typing it again changes nothing. */
static void print_scaled(double value, double base, const char *const *names, char *out,
                         size_t room)
{
    int n = 0;

    value /= base;
    while (names[n + 1] && value >= 999.9999995) {
        value /= 1000;
        n++;
    }
    snprintf(out, room, "%.9g %s", value, names[n]);
}

static void print_value(double value, enum unit unit, char *out, size_t room)
{
    static const char *const bytes[] = {"MB", "GB", "TB", NULL},
                             *const rates[] = {"MB/s", "GB/s", "TB/s", NULL},
                             *const bits[] = {"Mbit/s", "Gbit/s", "Tbit/s", NULL},
                             *const flops[] = {"GFLOP/s", "TFLOP/s", "PFLOP/s", NULL};
    if (unit == UNIT_BYTES)
        print_scaled(value, 1e6, bytes, out, room);
    else if (unit == UNIT_RATE)
        print_scaled(value, 1e6, rates, out, room);
    else if (unit == UNIT_BITS)
        print_scaled(value * 8, 1e6, bits, out, room);
    else if (unit == UNIT_FLOPS)
        print_scaled(value, 1e9, flops, out, room);
    else if (unit == UNIT_TIME)
        snprintf(out, room, "%.9g us", value * 1000);
    else
        snprintf(out, room, "%.0f", value);
}

static double memory_of_device(const struct cluster *c)
{
    return c->type[0].memory_bytes;
}
static double bandwidth_of_device(const struct cluster *c)
{
    return c->type[0].bandwidth;
}
static double peak_f32(const struct cluster *c)
{
    return cluster_peak(&c->type[0], PEAK_F32);
}
static double peak_f16(const struct cluster *c)
{
    return cluster_peak(&c->type[0], PEAK_F16);
}
static double launch(const struct cluster *c)
{
    return c->type[0].launch_ms;
}
static double link_bandwidth(const struct cluster *c)
{
    return c->group[0].link.bandwidth;
}
static double link_latency(const struct cluster *c)
{
    return c->group[0].link.latency_ms;
}
static double network_bandwidth(const struct cluster *c)
{
    return c->network;
}
static double network_latency(const struct cluster *c)
{
    return c->network_latency_ms;
}
static double servers(const struct cluster *c)
{
    return c->group[0].count;
}
static double devices(const struct cluster *c)
{
    return c->group[0].devices;
}

static const struct row {
    struct figure figure;
    double (*value)(const struct cluster *c); /* of the first kind of devices or servers */
    enum unit unit;
    bool several_servers, links; /* there only with them */
} rows[] = {
    {{"memory", "cluster devices.*.memory=", "of one device"}, memory_of_device, UNIT_BYTES, 0, 0},
    {{"memory bandwidth", "cluster devices.*.bandwidth=", "of one device"},
     bandwidth_of_device,
     UNIT_RATE,
     0,
     0},
    {{"peak f32", "cluster devices.*.peak.f32=", "of one device"}, peak_f32, UNIT_FLOPS, 0, 0},
    {{"peak f16", "cluster devices.*.peak.f16=", "of one device"}, peak_f16, UNIT_FLOPS, 0, 0},
    {{"launch", "cluster devices.*.launch=", "overhead of one heavy operation"},
     launch,
     UNIT_TIME,
     0,
     0},
    {{"link bandwidth", "cluster servers.*.link.bandwidth=", "of a device within its server"},
     link_bandwidth,
     UNIT_RATE,
     0,
     1},
    {{"link latency", "cluster servers.*.link.latency=", "of a phase within a server"},
     link_latency,
     UNIT_TIME,
     0,
     1},
    {{"network bandwidth", "cluster network.bandwidth=", "of a server, each way"},
     network_bandwidth,
     UNIT_BITS,
     1,
     0},
    {{"network latency", "cluster network.latency=", "of a phase between servers"},
     network_latency,
     UNIT_TIME,
     1,
     0},
    {{"servers", "cluster servers.0.count=", "equal ones"}, servers, UNIT_COUNT, 0, 0},
    {{"devices", "cluster servers.*.devices=", "in a server"}, devices, UNIT_COUNT, 0, 0},
    {{"mesh", "mesh ", "axes over the devices: 4, 2x2; one: a single axis"}, NULL, UNIT_TEXT, 0, 0},
    {{"batch", "batch ", "samples of a step: 64, x2, /2"}, NULL, UNIT_TEXT, 0, 0},
    {{"micro-batches", "micro-batches ", "parts of the batch, one after the other"},
     NULL,
     UNIT_TEXT,
     0,
     0},
    {{"zero", "zero ", "cut: 1 state, 2 gradients, 3 variables"}, NULL, UNIT_TEXT, 0, 0},
};
enum { ROWS = sizeof rows / sizeof *rows, MESH = ROWS - 4, BATCH, MICRO, ZERO };

static const struct row *row_at(const struct problem *p, size_t i)
{
    for (size_t n = 0; n < ROWS; n++) {
        bool there = (!rows[n].several_servers || p->cluster.servers > 1) &&
                     (!rows[n].links || p->cluster.group[0].link.bandwidth > 0) &&
                     (n != BATCH || problem_batch_size(p));
        if (there && i-- == 0)
            return &rows[n];
    }
    return NULL;
}

bool figure_at(const struct problem *p, size_t i, struct figure *out)
{
    const struct row *r = row_at(p, i);

    if (r)
        *out = r->figure;
    return r;
}

static void print_row(const struct problem *p, const struct row *r, char *out, size_t room)
{
    if (r->value)
        print_value(r->value(&p->cluster), r->unit, out, room);
    else if (r == &rows[MESH])
        mesh_format(&p->mesh, out, room);
    else if (r == &rows[BATCH])
        snprintf(out, room, "%lld", (long long)problem_batch_size(p));
    else
        snprintf(out, room, "%u",
                 r == &rows[ZERO]           ? p->options.zero
                 : p->options.micro_batches ? p->options.micro_batches
                                            : 1);
}

void figure_print(const struct problem *p, size_t i, char *out, size_t room)
{
    print_row(p, row_at(p, i), out, room);
}

/* "130 GB/s" to "25 GB/s": the unit is said once. */
static void drop_common_unit(char *was, const char *now)
{
    char *unit = strrchr(was, ' ');
    const char *other = strrchr(now, ' ');

    if (unit && other && !strcmp(unit, other) && !isdigit((unsigned char)unit[1]))
        *unit = '\0';
}

bool figure_change(const struct problem *a, const struct problem *b, char *out, size_t room)
{
    size_t size = 0;

    out[0] = 0;
    for (size_t n = 0; n < ROWS; n++) {
        char was[96], now[96];
        size_t k = n < MESH ? n : n + 1 < ROWS ? n + 1 : MESH; /* the mesh follows the devices */
        print_row(a, &rows[k], was, sizeof was);
        print_row(b, &rows[k], now, sizeof now);
        if (!strcmp(was, now) || (k == MESH && size) || size + 1 >= room)
            continue;
        drop_common_unit(was, now);
        size += (size_t)snprintf(out + size, room - size, "%s%s %s to %s", size ? ", " : "",
                                 rows[k].figure.name, was, now);
    }
    return size > 0;
}
