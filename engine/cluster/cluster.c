#include "engine/cluster/cluster.h"

#include "engine/text/units.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const char *const peak_names[PEAK_COUNT] = {
    [PEAK_F64] = "f64", [PEAK_F32] = "f32", [PEAK_BF16] = "bf16",
    [PEAK_F16] = "f16", [PEAK_F8] = "f8",   [PEAK_S8] = "s8",
};

const char *cluster_peak_name(enum peak_type t)
{
    return peak_names[t];
}

const char *cluster_link_kind_name(enum link_kind k)
{
    static const char *const names[LINK_KIND_COUNT] = {
        [LINK_RING] = "ring", [LINK_SWITCH] = "switch", [LINK_TORUS] = "torus"};

    return names[k];
}

double cluster_peak(const struct cluster_device *d, enum peak_type t)
{
    /* Whose figure stands in, in this order; f32 is always given. */
    static const enum peak_type kin[PEAK_COUNT][4] = {
        [PEAK_F64] = {PEAK_F64, PEAK_F32, PEAK_F32, PEAK_F32},
        [PEAK_F32] = {PEAK_F32, PEAK_F32, PEAK_F32, PEAK_F32},
        [PEAK_BF16] = {PEAK_BF16, PEAK_F16, PEAK_F32, PEAK_F32},
        [PEAK_F16] = {PEAK_F16, PEAK_BF16, PEAK_F32, PEAK_F32},
        [PEAK_F8] = {PEAK_F8, PEAK_F16, PEAK_BF16, PEAK_F32},
        [PEAK_S8] = {PEAK_S8, PEAK_F8, PEAK_F16, PEAK_F32},
    };
    size_t i = 0;

    while (i < 3 && d->peak[kin[t][i]] == 0)
        i++;
    double peak = d->peak[kin[t][i]];
    return t == PEAK_F64 && d->peak[PEAK_F64] == 0 ? peak / 2 : peak;
}

enum peak_type cluster_peak_type(enum hlo_type t)
{
    static const unsigned char types[HLO_TYPE_COUNT] = {
        /* the others: PEAK_F32, which is 0 */
        [HLO_F64] = PEAK_F64,       [HLO_C128] = PEAK_F64,
        [HLO_BF16] = PEAK_BF16,     [HLO_F16] = PEAK_F16,
        [HLO_F8E5M2] = PEAK_F8,     [HLO_F8E4M3] = PEAK_F8,
        [HLO_F8E4M3FN] = PEAK_F8,   [HLO_F8E4M3B11FNUZ] = PEAK_F8,
        [HLO_F8E3M4] = PEAK_F8,     [HLO_F8E5M2FNUZ] = PEAK_F8,
        [HLO_F8E4M3FNUZ] = PEAK_F8, [HLO_F8E8M0FNU] = PEAK_F8,
        [HLO_F6E3M2FN] = PEAK_F8,   [HLO_F6E2M3FN] = PEAK_F8,
        [HLO_F4E2M1FN] = PEAK_F8,   [HLO_S8] = PEAK_S8,
        [HLO_U8] = PEAK_S8,         [HLO_S4] = PEAK_S8,
        [HLO_U4] = PEAK_S8,         [HLO_S2] = PEAK_S8,
        [HLO_U2] = PEAK_S8,         [HLO_S1] = PEAK_S8,
        [HLO_U1] = PEAK_S8,
    };

    return (enum peak_type)types[t];
}

static void set_text(char *out, size_t room, const char *text)
{
    snprintf(out, room, "%s", text);
}

/* A V100-SXM2 with 16 GB, four of them on NVLink: what the literature on these searches used.
 * Where each figure comes from: examples/clusters/v100-1x4.yaml, which equals this. */
void cluster_default(struct cluster *out)
{
    memset(out, 0, sizeof *out);
    set_text(out->name, sizeof out->name, "v100-1x4");
    set_text(out->about, sizeof out->about, "4 V100 16 GB on NVLink, the default");
    out->types = out->groups = 1;
    out->type[0] = (struct cluster_device){
        .name = "v100",
        .memory_bytes = 16e9,
        .bandwidth = 800e9,
        .launch_ms = 0.005,
        .peak = {[PEAK_F64] = 6e12, [PEAK_F32] = 12e12, [PEAK_F16] = 90e12},
    };
    out->group[0] = (struct cluster_group){
        .count = 1,
        .devices = 4,
        .link = {.name = "NVLink", .kind = LINK_RING, .bandwidth = 130e9, .latency_ms = 0.015},
    };
    out->servers = 1;
    out->devices = 4;
}

int cluster_of_devices(struct cluster *out, uint32_t n, struct err *e)
{
    if (n < 1 || n > CLUSTER_DEVICES_MOST)
        return err_set(e, n ? ERR_LIMIT : ERR_INPUT, "%u devices, expected 1 to %u", n,
                       (uint32_t)CLUSTER_DEVICES_MOST);
    cluster_default(out);
    snprintf(out->name, sizeof out->name, "v100-1x%u", n);
    snprintf(out->about, sizeof out->about, "%u default device%s on one link", n,
             n == 1 ? "" : "s");
    out->group[0].devices = n;
    out->devices = n;
    return 0;
}

/* Group of a device; *first becomes the first device of that group, *server its first server. */
static uint32_t find_group(const struct cluster *c, uint32_t device, uint32_t *first,
                           uint32_t *server)
{
    uint32_t g = 0;

    *first = *server = 0;
    while (g + 1 < c->groups && device - *first >= c->group[g].count * c->group[g].devices) {
        *first += c->group[g].count * c->group[g].devices;
        *server += c->group[g].count;
        g++;
    }
    return g;
}

uint32_t cluster_group_of(const struct cluster *c, uint32_t device)
{
    uint32_t first, server;

    return find_group(c, device, &first, &server);
}

uint32_t cluster_server_of(const struct cluster *c, uint32_t device)
{
    uint32_t first, server, g = find_group(c, device, &first, &server);

    return server + (device - first) / c->group[g].devices;
}

const struct cluster_device *cluster_type_of(const struct cluster *c, uint32_t device)
{
    return &c->type[c->group[cluster_group_of(c, device)].type];
}

double cluster_network_of(const struct cluster *c, uint32_t group)
{
    return c->group[group].network > 0 ? c->group[group].network : c->network;
}

static void keep_less(double *have, double other)
{
    if (other < *have)
        *have = other;
}

/* Devices whose products run differently are held against each other by what large ones reach. */
static double reached_peak(const struct cluster_device *d, int type, bool is_alike)
{
    double peak = cluster_peak(d, (enum peak_type)type);

    return is_alike || d->matmul.reach <= 0 ? peak : peak * d->matmul.reach;
}

struct cluster_device cluster_weakest(const struct cluster *c)
{
    struct cluster_device w = c->type[c->group[0].type];

    for (uint32_t g = 1; g < c->groups; g++) {
        const struct cluster_device *d = &c->type[c->group[g].type];
        if (d == &c->type[c->group[0].type])
            continue;
        bool same = d->matmul.units == w.matmul.units && d->matmul.array == w.matmul.array &&
                    d->matmul.reach == w.matmul.reach;
        for (int t = 0; t < PEAK_COUNT; t++) {
            double peak = reached_peak(&w, t, same);
            keep_less(&peak, reached_peak(d, t, same));
            w.peak[t] = peak;
        }
        if (!same)
            w.matmul = (struct cluster_matmul){0};
        keep_less(&w.memory_bytes, d->memory_bytes);
        double share = w.share > 0 ? w.share : 1, other = d->share > 0 ? d->share : 1;
        if (share * w.bandwidth > other * d->bandwidth) {
            w.bandwidth = d->bandwidth;
            w.share = d->share;
        }
        if (d->launch_ms > w.launch_ms)
            w.launch_ms = d->launch_ms;
        set_text(w.name, sizeof w.name, "slowest of each");
    }
    return w;
}

static void hash_group(struct str *s, const struct cluster *c, uint32_t g)
{
    const struct cluster_group *group = &c->group[g];
    const struct cluster_device *d = &c->type[group->type];
    const struct cluster_link *link = &group->link;

    str_format(s, "%u|%.17g|%.17g|%.17g", group->devices, d->memory_bytes, d->bandwidth,
               d->launch_ms);
    if (d->share > 0 || d->matmul.reach > 0)
        str_format(s, "|%.17g|%u|%u|%.17g", d->share, d->matmul.units, d->matmul.array,
                   d->matmul.reach);
    for (int t = 0; t < PEAK_COUNT; t++)
        str_format(s, "|%.17g", cluster_peak(d, (enum peak_type)t));
    if (group->devices > 1) {
        str_format(s, "|%d|%.17g|%.17g", link->kind, link->bandwidth, link->latency_ms);
        str_add(s, link->nccl ? "|nccl" : "");
        for (uint32_t i = 0; i < link->rank; i++)
            str_format(s, "|%u", link->shape[i]);
    }
    if (c->servers > 1)
        str_format(s, "|%.17g", cluster_network_of(c, g));
    if (group->host.link > 0)
        str_format(s, "|host %u|%.17g|%.17g|%.17g", group->host.cores,
                   group->host.cores ? group->host.peak : 0,
                   group->host.cores ? group->host.bandwidth : 0, group->host.link);
}

/* Over text, not bytes in memory: the same on every machine. Equal neighbours count together. */
uint64_t cluster_fingerprint(const struct cluster *c)
{
    struct str all = {0}, group = {0}, before = {0};
    uint64_t count = 0;

    str_format(&all, "cluster 1|%.17g", c->servers > 1 ? c->network_latency_ms : 0);
    for (uint32_t g = 0; g <= c->groups; g++) {
        str_clear(&group);
        if (g < c->groups)
            hash_group(&group, c, g);
        if (g && (g == c->groups || strcmp(group.text, before.text) != 0)) {
            str_format(&all, "\n%llu x %s", (unsigned long long)count, before.text);
            count = 0;
        }
        if (g < c->groups) {
            count += c->group[g].count;
            str_clear(&before);
            str_add(&before, group.text);
        }
    }
    BUG_ON(all.failed || group.failed || before.failed);
    uint64_t hash = mem_hash(all.text, all.size, 0);
    str_release(&all);
    str_release(&group);
    str_release(&before);
    return hash;
}

void cluster_label(const struct cluster *c, char *out, size_t room)
{
    struct cluster_device w = cluster_weakest(c);
    bool is_mixed = false;

    for (uint32_t g = 1; g < c->groups; g++)
        is_mixed |=
            c->type[c->group[g].type].memory_bytes != c->type[c->group[0].type].memory_bytes;
    snprintf(out, room, "%u x %s%.3g GB", c->devices, is_mixed ? "at least " : "",
             w.memory_bytes / 1e9);
}

/* "25", "2,880", "12.5" */
static const char *speed_figure(char out[static UNITS_ROOM], double speed)
{
    return units_number(out, speed, fabs(speed - round(speed)) >= 0.05);
}

void cluster_label_link(const struct cluster *c, char *out, size_t room)
{
    const struct cluster_link *link = &c->group[0].link;
    double slowest = cluster_network_of(c, 0);
    char number[UNITS_ROOM];

    for (uint32_t g = 1; g < c->groups; g++)
        keep_less(&slowest, cluster_network_of(c, g));
    if (c->servers > 1)
        snprintf(out, room, "%s Gbit/s", speed_figure(number, slowest / 125e6));
    else if (c->devices == 1)
        snprintf(out, room, "one device");
    else if (link->name[0])
        snprintf(out, room, "%s", link->name);
    else
        snprintf(out, room, "%s %s GB/s", cluster_link_kind_name(link->kind),
                 speed_figure(number, link->bandwidth / 1e9));
}
