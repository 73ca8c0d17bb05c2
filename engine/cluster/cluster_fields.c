#include "engine/cluster/cluster_fields.h"

#include "hlo/support/err.h"
#include "hlo/support/text.h"

#include <stdio.h>
#include <string.h>

#define PEAK(name, type, is_required)                                               \
    {                                                                               \
        name, FIELD_QUANTITY, is_required, "15.7 TFLOP/s", (type) * sizeof(double), \
            QUANTITY_FLOPS, 0, NULL                                                 \
    }
static const struct cluster_field peak_fields[] = {
    PEAK("f32", PEAK_F32, true),
    PEAK("f64", PEAK_F64, false),
    PEAK("bf16", PEAK_BF16, false),
    PEAK("f16", PEAK_F16, false),
    PEAK("f8", PEAK_F8, false),
    PEAK("s8", PEAK_S8, false),
    {.key = NULL},
};
const struct cluster_section cluster_section_peak = {"peak", peak_fields};

static const struct cluster_field matmul_fields[] = {
    {"reach", FIELD_PART, true, "0.92", offsetof(struct cluster_matmul, reach), 0, 0, NULL},
    {"units", FIELD_COUNT, false, "108", offsetof(struct cluster_matmul, units), 0, 1 << 16, NULL},
    {"array", FIELD_COUNT, false, "128", offsetof(struct cluster_matmul, array), 0, 1 << 16, NULL},
    {.key = NULL},
};
static const struct cluster_section matmul_section = {"matmul", matmul_fields};

static const struct cluster_field device_fields[] = {
    {"memory", FIELD_QUANTITY, true, "16 GB", offsetof(struct cluster_device, memory_bytes),
     QUANTITY_BYTES, 0, NULL},
    {"peak", FIELD_SECTION, true, "{f32: 15.7 TFLOP/s}", offsetof(struct cluster_device, peak),
     QUANTITY_FLOPS, 0, &cluster_section_peak},
    {"bandwidth", FIELD_QUANTITY, true, "900 GB/s", offsetof(struct cluster_device, bandwidth),
     QUANTITY_RATE, 0, NULL},
    {"launch", FIELD_QUANTITY, true, "5 us", offsetof(struct cluster_device, launch_ms),
     QUANTITY_TIME, 0, NULL},
    {"share", FIELD_PART, false, "0.65", offsetof(struct cluster_device, share), 0, 0, NULL},
    {"matmul", FIELD_SECTION, false, "{units: 108, reach: 0.92}",
     offsetof(struct cluster_device, matmul), 0, 0, &matmul_section},
    {.key = NULL},
};
const struct cluster_section cluster_section_device = {"a device type", device_fields};

static const struct cluster_field link_fields[] = {
    {"kind", FIELD_LINK, true, "ring", offsetof(struct cluster_link, kind), 0, 0, NULL},
    {"bandwidth", FIELD_QUANTITY, true, "130 GB/s", offsetof(struct cluster_link, bandwidth),
     QUANTITY_RATE, 0, NULL},
    {"latency", FIELD_QUANTITY, true, "10 us", offsetof(struct cluster_link, latency_ms),
     QUANTITY_TIME, 0, NULL},
    {"shape", FIELD_SHAPE, false, "4x4", 0, 0, 0, NULL},
    {"protocol", FIELD_PROTOCOL, false, "nccl", offsetof(struct cluster_link, nccl), 0, 0, NULL},
    {"name", FIELD_NAME, false, "NVLink", offsetof(struct cluster_link, name), 0, 0, NULL},
    {.key = NULL},
};
static const struct cluster_section link_section = {"a link", link_fields};

static const struct cluster_field host_fields[] = {
    {"cores", FIELD_COUNT, false, "32", offsetof(struct cluster_host, cores), 0, 1024, NULL},
    {"peak", FIELD_QUANTITY, false, "50 GFLOP/s", offsetof(struct cluster_host, peak),
     QUANTITY_FLOPS, 0, NULL},
    {"bandwidth", FIELD_QUANTITY, false, "12 GB/s", offsetof(struct cluster_host, bandwidth),
     QUANTITY_RATE, 0, NULL},
    {"link", FIELD_QUANTITY, true, "12 GB/s", offsetof(struct cluster_host, link), QUANTITY_RATE, 0,
     NULL},
    {.key = NULL},
};
static const struct cluster_section host_section = {"a host", host_fields};

static const struct cluster_field group_fields[] = {
    {"count", FIELD_COUNT, false, "4", offsetof(struct cluster_group, count), 0,
     CLUSTER_SERVERS_MOST, NULL},
    {"devices", FIELD_COUNT, true, "8", offsetof(struct cluster_group, devices), 0,
     CLUSTER_DEVICES_MOST, NULL},
    {"type", FIELD_TYPE, false, "v100", offsetof(struct cluster_group, type), 0, 0, NULL},
    {"network", FIELD_QUANTITY, false, "100 Gbit/s", offsetof(struct cluster_group, network),
     QUANTITY_RATE, 0, NULL},
    {"link", FIELD_SECTION, false, "{kind: ring, bandwidth: 130 GB/s, latency: 10 us}",
     offsetof(struct cluster_group, link), 0, 0, &link_section},
    {"host", FIELD_SECTION, false,
     "{cores: 32, peak: 50 GFLOP/s, bandwidth: 12 GB/s, link: 12 GB/s}",
     offsetof(struct cluster_group, host), 0, 0, &host_section},
    {.key = NULL},
};
const struct cluster_section cluster_section_group = {"an entry of servers", group_fields};

static const struct cluster_field network_fields[] = {
    {"bandwidth", FIELD_QUANTITY, true, "25 Gbit/s", offsetof(struct cluster, network),
     QUANTITY_RATE, 0, NULL},
    {"latency", FIELD_QUANTITY, true, "25 us", offsetof(struct cluster, network_latency_ms),
     QUANTITY_TIME, 0, NULL},
    {.key = NULL},
};
static const struct cluster_section network_section = {"the network", network_fields};

/* In the order they are read: servers name device types. */
static const struct cluster_field top_fields[] = {
    {"name", FIELD_NAME, false, "c-4x8-v100", offsetof(struct cluster, name), 0, 0, NULL},
    {"about", FIELD_ABOUT, false, "32 V100 in 4 servers", offsetof(struct cluster, about), 0, 0,
     NULL},
    {"devices", FIELD_TYPES, true, "{v100: {memory: 16 GB, ...}}", 0, 0, 0, NULL},
    {"servers", FIELD_GROUPS, true, "[{count: 4, devices: 8, link: ...}]", 0, 0, 0, NULL},
    {"network", FIELD_SECTION, false, "{bandwidth: 25 Gbit/s, latency: 25 us}", 0, 0, 0,
     &network_section},
    {.key = NULL},
};
const struct cluster_section cluster_section_top = {"a cluster", top_fields};

const struct cluster_field *cluster_field_find(const struct cluster_section *s, const char *key,
                                               struct err *e)
{
    const char *keys[17] = {NULL}, *near;
    char list[128] = "";
    size_t count = 0, at = 0;

    for (const struct cluster_field *f = s->fields; f->key; f++) {
        if (!strcmp(f->key, key))
            return f;
        at += (size_t)snprintf(list + at, sizeof list - at, "%s%s", count ? ", " : "", f->key);
        keys[count++] = f->key;
    }
    near = quantity_nearest(key, keys);
    if (near)
        err_set(e, ERR_INPUT, "unknown key \"%.60s\" in %s, expected %s; did you mean \"%s\"?", key,
                s->what, list, near);
    else
        err_set(e, ERR_INPUT, "unknown key \"%.60s\" in %s, expected %s", key, s->what, list);
    return NULL;
}

static int set_name(char *out, const char *text, struct err *e)
{
    static const char fine[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.+ ";
    size_t length = strlen(text);

    if (!length || length >= CLUSTER_NAME_ROOM || strspn(text, fine) != length)
        return err_set(e, ERR_INPUT,
                       "name \"%.60s\" is not fit, expected 1 to %d letters, digits, -, _, . or +",
                       text, CLUSTER_NAME_ROOM - 1);
    memcpy(out, text, length + 1);
    return 0;
}

static int set_type(const struct cluster *c, uint32_t *out, const char *text, struct err *e)
{
    const char *names[CLUSTER_TYPES_MOST + 1] = {NULL}, *near;

    for (uint32_t i = 0; i < c->types; i++) {
        names[i] = c->type[i].name;
        if (!strcmp(names[i], text)) {
            *out = i;
            return 0;
        }
    }
    near = quantity_nearest(text, names);
    if (near)
        return err_set(e, ERR_INPUT, "no device type \"%.60s\"; did you mean \"%s\"?", text, near);
    return err_set(e, ERR_INPUT,
                   "no device type \"%.60s\", expected a name from devices, such as %s", text,
                   names[0]);
}

static int set_kind(enum link_kind *out, const char *text, struct err *e)
{
    for (int k = 0; k < LINK_KIND_COUNT; k++) {
        if (!strcmp(cluster_link_kind_name((enum link_kind)k), text)) {
            *out = (enum link_kind)k;
            return 0;
        }
    }
    return err_set(e, ERR_INPUT, "unknown kind of link \"%.60s\", expected ring, switch or torus",
                   text);
}

static int set_shape(struct cluster_link *link, const char *text, struct err *e)
{
    uint32_t shape[CLUSTER_SHAPE_MOST] = {0}, rank = 0;
    const char *at = text;

    while (rank < CLUSTER_SHAPE_MOST && *at >= '0' && *at <= '9') {
        uint32_t size = 0;
        for (; *at >= '0' && *at <= '9' && size <= CLUSTER_DEVICES_MOST; at++)
            size = size * 10 + (uint32_t)(*at - '0');
        if (!size || size > CLUSTER_DEVICES_MOST)
            break;
        shape[rank++] = size;
        if (*at != 'x')
            break;
        at++;
    }
    if (!rank || *at || at[-1] == 'x')
        return err_set(e, ERR_INPUT,
                       "shape \"%.60s\" is not understood, expected 1 to %d sizes "
                       "such as 4x4",
                       text, CLUSTER_SHAPE_MOST);
    link->rank = rank;
    memcpy(link->shape, shape, sizeof shape);
    return 0;
}

int cluster_field_set(const struct cluster *c, const struct cluster_field *f, void *base,
                      const char *text, struct err *e)
{
    void *at = (char *)base + f->offset;

    switch (f->kind) {
    case FIELD_QUANTITY:
        return quantity_read(text, f->quantity, at, e);
    case FIELD_COUNT:
        return quantity_count(text, f->most, at, e);
    case FIELD_PART:
        if (quantity_real(text, 0, 1, at) && *(double *)at > 0)
            return 0;
        return err_set(e, ERR_INPUT, "%s \"%.60s\", expected a part above 0, up to 1, such as %s",
                       f->key, text, f->example);
    case FIELD_PROTOCOL:
        *(bool *)at = !strcmp(text, "nccl");
        if (*(bool *)at || !strcmp(text, "plain"))
            return 0;
        return err_set(e, ERR_INPUT, "protocol \"%.60s\", expected plain or nccl", text);
    case FIELD_NAME:
        return set_name(at, text, e);
    case FIELD_ABOUT:
        text_clean(at, CLUSTER_ABOUT_ROOM, text, strlen(text));
        return 0;
    case FIELD_TYPE:
        return set_type(c, at, text, e);
    case FIELD_LINK:
        return set_kind(at, text, e);
    case FIELD_SHAPE:
        return set_shape(base, text, e);
    default:
        return err_set(e, ERR_INPUT, "a single value \"%.60s\", expected %s such as %s", text,
                       f->kind == FIELD_GROUPS ? "a list" : "a map", f->example);
    }
}

static int check_link(const struct cluster_group *g, struct err *e)
{
    const struct cluster_link *link = &g->link;
    uint64_t product = 1;

    if (g->devices > 1 && link->bandwidth == 0)
        return err_set(e, ERR_INPUT,
                       "%u devices without a link, expected link: {kind: ring, "
                       "bandwidth: 130 GB/s, latency: 10 us}",
                       g->devices);
    for (uint32_t i = 0; i < link->rank; i++)
        product *= link->shape[i];
    if (link->kind == LINK_TORUS && !link->rank && g->devices > 1)
        return err_set(e, ERR_INPUT, "a torus without shape, expected sizes whose product is %u",
                       g->devices);
    if (link->kind != LINK_TORUS && link->rank)
        return err_set(e, ERR_INPUT, "shape on a %s, expected it only on a torus",
                       cluster_link_kind_name(link->kind));
    if (link->rank && product != g->devices)
        return err_set(e, ERR_INPUT, "the shape has %llu devices, the server has %u",
                       (unsigned long long)product, g->devices);
    return 0;
}

/* Cores come with what one of them does and with the link; without cores a host runs no operators,
 * and the figures of one lie there until cores come. */
static int check_host(const struct cluster_host *h, struct err *e)
{
    if (h->cores && !(h->peak > 0 && h->bandwidth > 0 && h->link > 0))
        return err_set(e, ERR_INPUT,
                       "a host with cores, expected peak (50 GFLOP/s) and bandwidth (12 GB/s) of "
                       "one, and link (12 GB/s), beside them; with --set before them");
    return 0;
}

int cluster_check(struct cluster *c, uint32_t *group, struct err *e)
{
    uint64_t servers = 0, devices = 0;
    bool has_network = c->network > 0;

    *group = c->groups;
    for (uint32_t i = 0; i < c->types; i++) {
        const struct cluster_matmul *m = &c->type[i].matmul;
        if (m->reach > 0 && !m->units == !m->array)
            return err_set(e, ERR_INPUT,
                           "matmul of %.40s, expected units (108) or array (128) beside reach",
                           c->type[i].name);
    }
    for (uint32_t i = 0; i < c->groups; i++) {
        const struct cluster_group *g = &c->group[i];
        int code = check_link(g, e);
        if (!code)
            code = check_host(&g->host, e);
        servers += g->count;
        devices += (uint64_t)g->count * g->devices;
        if (!code && servers > CLUSTER_SERVERS_MOST)
            code = err_set(e, ERR_LIMIT, "more than %d servers", CLUSTER_SERVERS_MOST);
        if (!code && devices > CLUSTER_DEVICES_MOST)
            code = err_set(e, ERR_LIMIT, "more than %d devices", CLUSTER_DEVICES_MOST);
        if (code) {
            *group = i;
            return code;
        }
    }
    if (servers > 1 && !has_network)
        return err_set(e, ERR_INPUT,
                       "%u servers without a network, expected network: {bandwidth: "
                       "25 Gbit/s, latency: 25 us}",
                       (uint32_t)servers);
    c->servers = (uint32_t)servers;
    c->devices = (uint32_t)devices;
    return 0;
}
