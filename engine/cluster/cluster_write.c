/* A cluster as the YAML that cluster_read takes, in whole base units, so that nothing is rounded.
 */
#include "engine/cluster/cluster.h"
#include "hlo/support/mem.h"

#include <string.h>

static void write_time(struct str *out, const char *key, double ms)
{
    str_format(out, "%s: %.12g us", key, ms * 1000);
}

static void write_device(struct str *out, const struct cluster_device *d)
{
    const char *between = "";

    str_format(out, "  \"%s\":\n    memory: %.0f B\n    bandwidth: %.0f B/s\n    ", d->name,
               d->memory_bytes, d->bandwidth);
    write_time(out, "launch", d->launch_ms);
    if (d->share > 0)
        str_format(out, "\n    share: %.12g", d->share);
    if (d->matmul.reach > 0) {
        str_format(out, "\n    matmul: {reach: %.12g", d->matmul.reach);
        if (d->matmul.units)
            str_format(out, ", units: %u", d->matmul.units);
        if (d->matmul.array)
            str_format(out, ", array: %u", d->matmul.array);
        str_add_char(out, '}');
    }
    str_add(out, "\n    peak: {");
    for (int t = 0; t < PEAK_COUNT; t++) {
        if (d->peak[t] <= 0)
            continue;
        str_format(out, "%s%s: %.0f FLOP/s", between, cluster_peak_name((enum peak_type)t),
                   d->peak[t]);
        between = ", ";
    }
    str_add(out, "}\n");
}

static void write_link(struct str *out, const struct cluster_link *l)
{
    str_format(out, "    link:\n      kind: %s\n      bandwidth: %.0f B/s\n      ",
               cluster_link_kind_name(l->kind), l->bandwidth);
    write_time(out, "latency", l->latency_ms);
    for (uint32_t n = 0; n < l->rank; n++)
        str_format(out, n ? "x%u" : "\n      shape: %u", l->shape[n]);
    if (l->nccl)
        str_add(out, "\n      protocol: nccl");
    if (l->name[0])
        str_format(out, "\n      name: \"%s\"", l->name);
    str_add_char(out, '\n');
}

void cluster_write(const struct cluster *c, struct str *out)
{
    str_format(out, "name: \"%s\"\ndevices:\n", c->name);
    for (uint32_t n = 0; n < c->types; n++)
        write_device(out, &c->type[n]);
    str_add(out, "servers:\n");
    for (uint32_t n = 0; n < c->groups; n++) {
        const struct cluster_group *g = &c->group[n];
        str_format(out, "  - count: %u\n    devices: %u\n    type: \"%s\"\n", g->count, g->devices,
                   c->type[g->type].name);
        if (g->network > 0)
            str_format(out, "    network: %.0f B/s\n", g->network);
        if (g->link.bandwidth > 0)
            write_link(out, &g->link);
        if (g->host.link > 0)
            str_format(out, "    host:\n      link: %.0f B/s\n", g->host.link);
        if (g->host.cores)
            str_format(out, "      cores: %u\n      peak: %.0f FLOP/s\n      bandwidth: %.0f B/s\n",
                       g->host.cores, g->host.peak, g->host.bandwidth);
    }
    if (c->network <= 0) /* one server */
        return;
    str_format(out, "network:\n  bandwidth: %.0f B/s\n  ", c->network);
    write_time(out, "latency", c->network_latency_ms);
    str_add_char(out, '\n');
}
