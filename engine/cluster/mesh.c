#include "engine/cluster/mesh.h"

#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The part of one group that lies in one server. */
struct run {
    uint32_t group;   /* of the cluster */
    uint32_t devices; /* m */
    /* Torus: the coordinates it covers along each side, low, low + step .. high. */
    uint32_t low[CLUSTER_SHAPE_MOST], high[CLUSTER_SHAPE_MOST], step[CLUSTER_SHAPE_MOST];
};

/* What leaves one server by its card, per byte of each group's buffer, summed over the groups. */
struct leaving {
    double gather, exchange;
    uint32_t groups;
};

struct builder {
    const struct cluster *cluster;
    struct cluster_mesh *mesh;
    uint32_t *server_of, *first_of; /* [devices]: its server, the first device of that server */
    uint8_t *group_of;              /* [devices] */
    uint32_t *member;               /* [devices]: offsets of a group's devices from its first */
    struct leaving *leaving;        /* [servers] */
};

static const double MS_PER_S = 1e3;

static void run_begin(struct run *r, const struct builder *b, uint32_t device)
{
    memset(r, 0, sizeof *r);
    r->group = b->group_of[device];
    memset(r->low, 0xff, sizeof r->low);
}

static void run_add(struct run *r, const struct builder *b, uint32_t device)
{
    const struct cluster_link *link = &b->cluster->group[r->group].link;
    uint32_t local = device - b->first_of[device];

    r->devices++;
    for (uint32_t i = link->rank; i-- > 0;) {
        uint32_t at = local % link->shape[i];
        local /= link->shape[i];
        if (at < r->low[i])
            r->low[i] = at;
        else if (at > r->low[i] && !r->step[i])
            r->step[i] = at - r->low[i];
        if (at > r->high[i])
            r->high[i] = at;
    }
}

/* Mean number of links a byte of an all-to-all crosses among `side` devices in a ring used both
 * ways: the sum of the distances 0 1 2 .. 2 1 over the side. */
static double mean_hops(uint32_t side)
{
    return floor((double)side * side / 4) / side;
}

/* How a run of m devices uses its link: the part of W that a gather gets, the time of an exchanged
 * byte in units of 1 / W, the part of W of one step to a neighbour. */
struct use {
    double gather, exchange, step;
};

/* Each side has 1/d of W. A run that fills a side has the whole ring. One that fills a stretch has
 * no way around, so half; one that takes every t-th place shares the ring with t - 1 others. A
 * gather uses all sides at once, an exchange is as slow as its slowest side. */
static struct use torus_use(const struct cluster_link *link, const struct run *r)
{
    struct use u = {0, 0, 1};
    uint32_t sides = 0;

    for (uint32_t i = 0; i < link->rank; i++)
        sides += link->shape[i] > 1;
    for (uint32_t i = 0; i < link->rank; i++) {
        if (!r->step[i])
            continue;
        uint32_t places = (r->high[i] - r->low[i]) / r->step[i] + 1;
        double ring = places == link->shape[i] ? 1 : r->step[i] == 1 ? 0.5 : 1.0 / r->step[i];
        double exchange = mean_hops(places) / ring * sides;
        double step = (link->shape[i] == 2 ? 1 : 0.5) / r->step[i] / sides;
        u.gather += ring / sides;
        u.exchange = exchange > u.exchange ? exchange : u.exchange;
        u.step = step < u.step ? step : u.step;
    }
    return u;
}

static struct use link_use(const struct cluster_link *link, const struct run *r)
{
    double m = r->devices;

    if (link->kind == LINK_TORUS)
        return torus_use(link, r);
    if (link->kind == LINK_RING)
        return (struct use){1, mean_hops(r->devices), r->devices == 2 ? 1 : 0.5};
    return (struct use){1, (m - 1) / m, 1};
}

static double most(double a, double b)
{
    return a > b ? a : b;
}

/* A finished run of a group of n devices: its phase inside, and what it sends out of its server. */
static void run_end(const struct run *r, const struct builder *b, struct mesh_span *s,
                    struct leaving *out)
{
    const struct cluster_link *link = &b->cluster->group[r->group].link;
    double n = s->devices, m = r->devices;

    if (r->devices > s->inside)
        s->inside = r->devices;
    if (r->devices > 1) {
        struct use u = link_use(link, r);
        double ms = MS_PER_S / link->bandwidth;
        s->nccl = link->nccl;
        s->latency_inside_ms = most(s->latency_inside_ms, link->latency_ms);
        s->gather_inside = most(s->gather_inside, (m - 1) / m * ms / u.gather);
        s->exchange_inside = most(s->exchange_inside, u.exchange * (m / n) * ms);
        s->shift_inside = most(s->shift_inside, ms / u.step);
    }
    if (r->devices < s->devices) {
        out->gather += (n - m) / n;
        out->exchange += m * (n - m) / n;
        out->groups++;
    }
}

/* One group, whose first device is `base`: its devices in ascending order, server by server. */
static void add_group(struct builder *b, struct mesh_span *s, uint32_t base)
{
    uint32_t servers = 0;
    struct run r = {0};

    for (uint32_t i = 0; i < s->devices; i++) {
        uint32_t device = base + b->member[i];
        uint32_t server = b->server_of[device];
        uint32_t before = i ? b->server_of[base + b->member[i - 1]] : server;
        if (!i || server != before) {
            if (i)
                run_end(&r, b, s, &b->leaving[before]);
            run_begin(&r, b, device);
            servers++;
        }
        run_add(&r, b, device);
        if (i + 1 == s->devices)
            run_end(&r, b, s, &b->leaving[server]);
    }
    if (servers > s->servers)
        s->servers = servers;
}

/* The slowest card bounds each phase between servers. */
static void add_cards(const struct builder *b, struct mesh_span *s)
{
    const struct cluster *c = b->cluster;

    for (uint32_t g = 0, server = 0; g < c->groups; g++) {
        double ms = MS_PER_S / cluster_network_of(c, g);
        for (uint32_t i = 0; i < c->group[g].count; i++, server++) {
            const struct leaving *out = &b->leaving[server];
            if (!out->groups)
                continue;
            s->latency_across_ms = c->network_latency_ms;
            s->nccl |= c->group[g].link.nccl;
            s->gather_across = most(s->gather_across, out->gather * ms);
            s->exchange_across = most(s->exchange_across, out->exchange * ms);
            s->shift_across = most(s->shift_across, out->groups * ms);
            if (out->groups > s->cards_shared)
                s->cards_shared = out->groups;
        }
    }
}

/* Offsets, ascending, of the devices that differ from device 0 only in the axes of `set`. */
static uint32_t list_offsets(const struct cluster_mesh *m, uint32_t set, uint32_t *offset)
{
    uint32_t count = 1, stride = m->devices;

    offset[0] = 0;
    for (uint32_t axis = 0; axis < m->axes; axis++) {
        uint32_t size = m->axis[axis].size;
        stride /= size;
        if (!(set >> axis & 1))
            continue;
        for (uint32_t i = count; i-- > 0;) /* each becomes `size` of them, from the back */
            for (uint32_t k = size; k-- > 0;)
                offset[i * size + k] = offset[i] + k * stride;
        count *= size;
    }
    return count;
}

static void build_span(struct builder *b, uint32_t set, uint32_t *bases)
{
    struct cluster_mesh *m = b->mesh;
    struct mesh_span *s = &m->span[set];
    uint32_t all = (1u << m->axes) - 1;
    uint32_t groups = list_offsets(m, all & ~set, bases);

    memset(b->leaving, 0, b->cluster->servers * sizeof *b->leaving);
    s->devices = list_offsets(m, set, b->member);
    for (uint32_t i = 0; i < groups; i++)
        add_group(b, s, bases[i]);
    add_cards(b, s);
}

static void number_devices(struct builder *b)
{
    const struct cluster *c = b->cluster;

    for (uint32_t g = 0, device = 0, server = 0; g < c->groups; g++) {
        for (uint32_t i = 0; i < c->group[g].count; i++, server++) {
            uint32_t first = device;
            for (uint32_t k = 0; k < c->group[g].devices; k++, device++) {
                b->server_of[device] = server;
                b->first_of[device] = first;
                b->group_of[device] = (uint8_t)g;
            }
        }
    }
}

static void place_axes(struct cluster_mesh *m)
{
    for (uint32_t i = 0; i < m->axes; i++) {
        const struct mesh_span *s = &m->span[1u << i];
        m->axis[i].place = s->servers == 1 ? MESH_INSIDE : s->inside == 1 ? MESH_ACROSS : MESH_BOTH;
    }
}

static void builder_start(struct builder *b, const struct cluster *c)
{
    uint32_t n = c->devices;

    *b = (struct builder){
        .cluster = c,
        .server_of = mem_alloc(n * sizeof(uint32_t)),
        .first_of = mem_alloc(n * sizeof(uint32_t)),
        .group_of = mem_alloc(n),
        .member = mem_alloc(n * sizeof(uint32_t)),
        .leaving = mem_alloc(c->servers * sizeof(struct leaving)),
    };
    number_devices(b);
}

static void builder_stop(struct builder *b)
{
    free(b->server_of);
    free(b->first_of);
    free(b->group_of);
    free(b->member);
    free(b->leaving);
}

/* Fills the spans of a mesh whose axes are set and fit the cluster. */
static void arrange_devices(struct cluster_mesh *m, const struct cluster *c)
{
    uint32_t *bases = mem_alloc(c->devices * sizeof *bases);
    struct builder b;

    builder_start(&b, c);
    b.mesh = m;
    memset(m->span, 0, sizeof m->span);
    for (uint32_t set = 0; set < 1u << m->axes; set++)
        build_span(&b, set, bases);
    place_axes(m);
    builder_stop(&b);
    free(bases);
}

void mesh_span_between(struct mesh_span *out, const struct cluster *c, uint32_t first, uint32_t end)
{
    struct builder b;

    builder_start(&b, c);
    memset(out, 0, sizeof *out);
    out->devices = end - first;
    for (uint32_t i = 0; i < out->devices; i++)
        b.member[i] = i;
    add_group(&b, out, first);
    add_cards(&b, out);
    builder_stop(&b);
}

static int check_sizes(const struct cluster *c, const uint32_t *sizes, uint32_t axes, struct err *e)
{
    uint64_t product = 1;

    if (!axes || axes > MESH_AXES_MOST)
        return err_set(e, ERR_INPUT, "a mesh of %u axes, expected 1 to %d", axes, MESH_AXES_MOST);
    for (uint32_t i = 0; i < axes; i++) {
        if (!sizes[i])
            return err_set(e, ERR_INPUT, "mesh axis %u has size 0, expected at least 1", i);
        product *= sizes[i];
        if (product > CLUSTER_DEVICES_MOST)
            return err_set(e, ERR_LIMIT, "a mesh of more than %d devices, the cluster has %u",
                           CLUSTER_DEVICES_MOST, c->devices);
    }
    if (product != c->devices)
        return err_set(e, ERR_INPUT,
                       "a mesh of %u device%s, expected sizes whose product is the cluster's %u",
                       (uint32_t)product, product == 1 ? "" : "s", c->devices);
    return 0;
}

static int mesh_make(struct cluster_mesh *out, const struct cluster *c, const uint32_t *sizes,
                     uint32_t axes, struct err *e)
{
    static const char names[MESH_AXES_MOST][2] = {"x", "y", "z", "w", "u", "v"};
    int code = check_sizes(c, sizes, axes, e);

    if (code)
        return code;
    memset(out, 0, sizeof *out);
    out->axes = axes;
    out->devices = c->devices;
    for (uint32_t i = 0; i < axes; i++) {
        out->axis[i].size = sizes[i];
        memcpy(out->axis[i].name, names[i], sizeof names[i]);
    }
    arrange_devices(out, c);
    return 0;
}

struct spelled {
    uint32_t axes, named;
    uint32_t size[MESH_AXES_MOST];
    char name[MESH_AXES_MOST][MESH_NAME_ROOM];
};

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* One axis: "8", or "name=8". Returns what follows it, or NULL. */
static const char *spell_axis(struct spelled *s, const char *at)
{
    uint64_t size = 0;
    size_t length = 0;

    if (is_letter(*at)) {
        while (is_letter(at[length]) || is_digit(at[length]))
            length++;
        if (length >= MESH_NAME_ROOM || at[length] != '=')
            return NULL;
        memcpy(s->name[s->axes], at, length);
        s->named++;
        at += length + 1;
    }
    if (!is_digit(*at))
        return NULL;
    for (; is_digit(*at); at++) {
        size = size * 10 + (uint64_t)(*at - '0');
        if (size > CLUSTER_DEVICES_MOST)
            return NULL;
    }
    s->size[s->axes++] = (uint32_t)size;
    return at;
}

static int spell(struct spelled *s, const char *text, struct err *e)
{
    const char *at = text;

    for (;;) {
        at = s->axes < MESH_AXES_MOST ? spell_axis(s, at) : NULL;
        if (!at || (*at && *at != 'x' && *at != ','))
            break;
        if (!*at && s->named && s->named != s->axes)
            break;
        if (!*at)
            return 0;
        at++;
    }
    return err_set(e, ERR_INPUT,
                   "mesh \"%.40s\" is not understood, expected up to %d sizes such as 2x8, 16 or "
                   "data=2,model=8",
                   text, MESH_AXES_MOST);
}

int mesh_parse(struct cluster_mesh *out, const struct cluster *c, const char *text, struct err *e)
{
    struct spelled s = {0};
    int code = spell(&s, text, e);

    for (uint32_t i = 0; !code && i < s.named; i++)
        for (uint32_t k = 0; k < i; k++)
            if (!strcmp(s.name[i], s.name[k]))
                return err_set(e, ERR_INPUT, "two mesh axes are named \"%s\"", s.name[i]);
    if (!code)
        code = mesh_make(out, c, s.size, s.axes, e);
    if (!code && s.named)
        for (uint32_t i = 0; i < s.axes; i++)
            memcpy(out->axis[i].name, s.name[i], MESH_NAME_ROOM);
    return code;
}

void mesh_one_axis(struct cluster_mesh *out, const struct cluster *c)
{
    struct err e;

    BUG_ON(mesh_make(out, c, &c->devices, 1, &e));
}

void mesh_by_server(struct cluster_mesh *out, const struct cluster *c)
{
    uint32_t sizes[] = {c->servers, c->group[0].devices};
    struct err e;

    for (uint32_t g = 1; g < c->groups; g++)
        if (c->group[g].devices != sizes[1])
            sizes[1] = 1;
    if (sizes[0] == 1 || sizes[1] == 1)
        mesh_one_axis(out, c);
    else
        BUG_ON(mesh_make(out, c, sizes, 2, &e));
}

void mesh_format(const struct cluster_mesh *m, char *out, size_t room)
{
    size_t at = 0;

    out[0] = '\0';
    for (uint32_t i = 0; i < m->axes && at < room; i++)
        at += (size_t)snprintf(out + at, room - at, "%s%u", i ? "x" : "", m->axis[i].size);
}

void mesh_set_format(const struct cluster_mesh *m, uint32_t set, char *out, size_t room)
{
    bool is_long = false;
    size_t at = 0;

    snprintf(out, room, "-");
    for (uint32_t i = 0; i < m->axes; i++)
        is_long |= m->axis[i].name[1] != '\0';
    for (uint32_t i = 0; i < m->axes && at < room; i++)
        if (set >> i & 1)
            at += (size_t)snprintf(out + at, room - at, "%s%s", at && is_long ? "," : "",
                                   m->axis[i].name);
}
