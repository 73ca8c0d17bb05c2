/* Any bytes as a cluster file: an error with a place, or a cluster whose figures hold together.
 * What follows a NUL byte is a key path, a second NUL and a value for cluster_set. */
#include "engine/cluster/collectives.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition)
        abort();
}

static void check_error(const struct err *e, size_t size)
{
    require(e->code < 0 && e->what[0]);
    require(e->caret < sizeof e->source);
    require(e->line <= size + 1);
}

static void check_mesh(const struct cluster *c, struct cluster_mesh *m)
{
    for (uint32_t set = 0; set < 1u << m->axes; set++) {
        for (int k = 0; k < COLLECTIVE_COUNT; k++) {
            double none = collective_ms(m, (enum collective_kind)k, set, 0);
            double some = collective_ms(m, (enum collective_kind)k, set, 1e9);
            require(isfinite(some) && none >= 0 && some >= none);
            require((some > 0) == (m->span[set].devices > 1) || some == 0);
        }
        require(m->span[set].devices <= c->devices && m->span[set].servers <= c->servers);
    }
}

static void check_cluster(const struct cluster *c)
{
    struct cluster_mesh m;
    uint64_t devices = 0;
    char text[64];

    require(c->devices >= 1 && c->devices <= CLUSTER_DEVICES_MOST);
    require(c->servers >= 1 && c->servers <= CLUSTER_SERVERS_MOST);
    for (uint32_t g = 0; g < c->groups; g++) {
        require(c->group[g].type < c->types);
        devices += (uint64_t)c->group[g].count * c->group[g].devices;
    }
    require(devices == c->devices);
    require(cluster_server_of(c, c->devices - 1) == c->servers - 1);
    for (int t = 0; t < PEAK_COUNT; t++)
        require(cluster_peak(cluster_type_of(c, 0), (enum peak_type)t) > 0);
    require(cluster_fingerprint(c) == cluster_fingerprint(c));
    cluster_label(c, text, sizeof text);
    cluster_label_link(c, text, sizeof text);
    mesh_by_server(&m, c);
    check_mesh(c, &m);
    if (c->devices <= 4096) {
        mesh_one_axis(&m, c);
        check_mesh(c, &m);
    }
}

/* The rest of the input as path and value; what changes is checked like a file. */
static void check_set(const struct cluster *c, const uint8_t *data, size_t size)
{
    char path[256] = "", value[256] = "";
    const uint8_t *nul = memchr(data, 0, size);
    size_t first = nul ? (size_t)(nul - data) : size;
    struct cluster changed = *c;
    struct err e = {0};

    memcpy(path, data, first < sizeof path - 1 ? first : sizeof path - 1);
    if (nul) {
        size_t rest = size - first - 1;
        const uint8_t *end = memchr(nul + 1, 0, rest);
        rest = end ? (size_t)(end - nul - 1) : rest;
        memcpy(value, nul + 1, rest < sizeof value - 1 ? rest : sizeof value - 1);
    }
    if (cluster_set(&changed, path, value, &e)) {
        check_error(&e, size);
        require(memcmp(&changed, c, sizeof changed) == 0);
    } else {
        check_cluster(&changed);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *nul = size ? memchr(data, 0, size) : NULL;
    size_t yaml = nul ? (size_t)(nul - data) : size;
    struct cluster c = {0};
    struct err e = {0};

    if (cluster_read(&c, (const char *)data, yaml, &e)) {
        check_error(&e, yaml);
        cluster_default(&c);
    } else {
        check_cluster(&c);
    }
    if (nul)
        check_set(&c, nul + 1, size - yaml - 1);
    return 0;
}
