/* automap cluster: a cluster as a person wants to see it, and what its links cost. */
#include "engine/cluster/cluster.h"
#include "engine/cluster/mesh.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "tui/commands/commands.h"

#include "engine/cluster/collectives.h"
#include "engine/text/quantity.h"
#include "engine/text/units.h"
#include "tui/options/exit_code.h"
#include "tui/options/option.h"
#include "tui/options/problem_args.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct request {
    const char *file, *mesh, *devices;
    enum collective_kind explain; /* COLLECTIVE_COUNT: none asked */
    struct text_list set;
    double bytes; /* of the collectives shown */
    bool is_json;
};

static int take_bytes(void *args, const struct option *o, const char *value, struct err *e)
{
    struct request *r = args;

    (void)o;
    struct err why;
    if (quantity_read(value, QUANTITY_BYTES, &r->bytes, &why))
        return err_set(e, ERR_USAGE, "--bytes: %s", why.what);
    return 0;
}

static const char *collective_at(size_t i)
{
    return i < COLLECTIVE_COUNT ? collective_name((enum collective_kind)i) : NULL;
}

static int take_collective(void *args, const struct option *o, const char *value, struct err *e)
{
    struct request *r = args;

    (void)o;
    for (r->explain = COLLECTIVE_ALL_REDUCE; r->explain < COLLECTIVE_COUNT; r->explain++) {
        if (!strcmp(collective_name(r->explain), value))
            return 0;
    }
    return err_set(e, ERR_USAGE, "no collective named \"%.100s\"", value);
}

#define ARG(field) INTO(struct request, field)
static const struct option rows[] = {
    {"FILE", .values = VALUES_CLUSTER, ARG(file)},
    {"devices", "N", "N default devices on one link, without a file", ARG(devices)},
    {"mesh", "AxB", "mesh of the devices (default: servers x devices)", ARG(mesh)},
    {"set", "PATH=VALUE",
     "change a figure first: --set 'network.bandwidth=100 Gbit/s', --set 'devices.*.memory=32 GB'; "
     "may be repeated",
     .kind = OPTION_LIST, ARG(set)},
    {"bytes", "SIZE", "size of the collectives shown (default: 256 MB)", .take = take_bytes},
    {"explain", "KIND",
     "break down one all-reduce, all-gather, reduce-scatter, all-to-all or collective-permute, "
     "instead of the tables",
     .take = take_collective, .value_at = collective_at},
    {"json", NULL, "every figure in base units, for programs", ARG(is_json)},
    {0},
};
#undef ARG
static const struct option_set options[] = {{.rows = rows}, {0}};

static int set_figures(const struct request *r, struct cluster *c, struct err *e)
{
    int rc = 0;

    for (uint32_t i = 0; i < r->set.count; i++) {
        rc = cluster_set_text(c, r->set.items[i], e);
        if (rc)
            return rc;
    }
    return rc;
}

static int make_cluster(const struct request *r, struct cluster *c, struct err *e)
{
    uint32_t n = 0;
    int code = 0;

    if (r->file) {
        code = cluster_load(c, r->file, e);
    } else if (r->devices) {
        code = quantity_count(r->devices, CLUSTER_DEVICES_MOST, &n, e);
        if (!code)
            code = cluster_of_devices(c, n, e);
        if (code)
            err_in_file(e, "--devices");
    } else {
        cluster_default(c);
    }
    return code ? code : set_figures(r, c, e);
}

static int make_mesh(const struct request *r, const struct cluster *c, struct cluster_mesh *m,
                     struct err *e)
{
    if (!r->mesh) {
        mesh_by_server(m, c);
        return 0;
    }
    return problem_args_mesh(m, c, r->mesh, e);
}

static const char *plural(uint32_t n)
{
    return n == 1 ? "" : "s";
}

static void print_types(const struct cluster *c)
{
    puts("\nDevice type    count  memory GB      GB/s  launch us");
    for (uint32_t i = 0; i < c->types; i++) {
        const struct cluster_device *d = &c->type[i];
        char count[UNITS_ROOM], speed[UNITS_ROOM];
        uint32_t devices = 0;
        for (uint32_t g = 0; g < c->groups; g++)
            devices += c->group[g].type == i ? c->group[g].count * c->group[g].devices : 0;
        printf("%-12s  %6s  %9.1f  %8s  %9.1f\n", d->name, units_count(count, devices),
               d->memory_bytes / 1e9, units_number(speed, d->bandwidth / 1e9, 1),
               d->launch_ms * 1e3);
    }
}

/* A blank is a format the file gives no figure for. */
static void print_peaks(const struct cluster *c)
{
    printf("\nTFLOP/s       ");
    for (int t = 0; t < PEAK_COUNT; t++)
        printf("  %8s", cluster_peak_name((enum peak_type)t));
    putchar('\n');
    for (uint32_t i = 0; i < c->types; i++) {
        int skipped = 0;
        printf("%-14s", c->type[i].name);
        for (int t = 0; t < PEAK_COUNT; t++) {
            double peak = c->type[i].peak[t];
            char number[UNITS_ROOM];
            if (peak > 0)
                printf("%*s  %8s", 10 * skipped, "", units_number(number, peak / 1e12, 1));
            skipped = peak > 0 ? 0 : skipped + 1;
        }
        putchar('\n');
    }
}

static void print_groups(const struct cluster *c)
{
    puts("\nServers  devices  type        link      kind       GB/s  latency us  card Gbit/s");
    for (uint32_t i = 0; i < c->groups; i++) {
        const struct cluster_group *g = &c->group[i];
        char card[UNITS_ROOM];
        printf("%7u  %7u  %-10s  ", g->count, g->devices, c->type[g->type].name);
        if (g->devices > 1)
            printf("%-8s  %-6s  %7.1f  %10.1f", g->link.name[0] ? g->link.name : "-",
                   cluster_link_kind_name(g->link.kind), g->link.bandwidth / 1e9,
                   g->link.latency_ms * 1e3);
        else
            printf("%-8s  %-6s  %7s  %10s", "-", "-", "-", "-");
        if (c->servers > 1)
            printf("  %11s\n", units_number(card, cluster_network_of(c, i) / 125e6, 1));
        else
            printf("  %11s\n", "-");
    }
    if (c->servers > 1)
        printf("\nNetwork  one card a server, shared by its devices, latency %.1f us\n",
               c->network_latency_ms * 1e3);
}

/* Every axis, then all together: the sets a person thinks in. Returns how many there are. */
static uint32_t list_sets(const struct cluster_mesh *m, uint32_t sets[static MESH_AXES_MOST + 1])
{
    for (uint32_t i = 0; i < m->axes; i++)
        sets[i] = 1u << i;
    sets[m->axes] = (1u << m->axes) - 1;
    return m->axes == 1 ? 1 : m->axes + 1;
}

enum { AXES_ROOM = MESH_AXES_MOST * (MESH_NAME_ROOM + 1) };

static void print_mesh(const struct cluster_mesh *m)
{
    static const char *const places[] = {"inside a server", "across servers", "both"};
    uint32_t sets[MESH_AXES_MOST + 1], count = list_sets(m, sets);
    char text[96];

    mesh_format(m, text, sizeof text);
    printf("\nMesh %-12s  devices  in a server  servers  groups a card\n", text);
    for (uint32_t i = 0; i < count; i++) {
        const struct mesh_span *s = &m->span[sets[i]];
        char axes[AXES_ROOM], shared[16] = "-";
        mesh_set_format(m, sets[i], axes, sizeof axes);
        if (s->cards_shared)
            snprintf(shared, sizeof shared, "%u", s->cards_shared);
        printf("%-17s  %7u  %11u  %7u  %13s  %s\n", axes, s->devices, s->inside, s->servers, shared,
               i < m->axes ? places[m->axis[i].place] : "all axes");
    }
}

static void print_collectives(const struct cluster_mesh *m, double bytes)
{
    uint32_t sets[MESH_AXES_MOST + 1], count = list_sets(m, sets);
    char size[UNITS_ROOM];

    printf("\nCollectives of %s a device, ms\n            ", units_bytes(size, bytes));
    for (int k = 0; k < COLLECTIVE_COUNT; k++)
        printf("  %*s", k == COLLECTIVE_REDUCE_SCATTER ? 14 : 10,
               k == COLLECTIVE_PERMUTE ? "permute" : collective_name((enum collective_kind)k));
    putchar('\n');
    for (uint32_t i = 0; i < count; i++) {
        char axes[AXES_ROOM];
        mesh_set_format(m, sets[i], axes, sizeof axes);
        printf("%-12s", axes);
        for (int k = 0; k < COLLECTIVE_COUNT; k++)
            printf(
                "  %*s", k == COLLECTIVE_REDUCE_SCATTER ? 14 : 10,
                units_number(size, collective_ms(m, (enum collective_kind)k, sets[i], bytes), 1));
        putchar('\n');
    }
}

/* One kind opened into its parts, for every set shown. */
static void print_parts(const struct cluster_mesh *m, enum collective_kind kind, double bytes)
{
    uint32_t sets[MESH_AXES_MOST + 1], count = list_sets(m, sets);
    struct str text = {0};

    for (uint32_t i = 0; i < count; i++)
        collective_explain(m, kind, sets[i], bytes, &text);
    if (text.text)
        fputs(text.text, stdout);
    str_release(&text);
}

static void print_text(const struct cluster *c, const struct cluster_mesh *m, double bytes)
{
    char device[64], link[64], devices[UNITS_ROOM];

    cluster_label(c, device, sizeof device);
    cluster_label_link(c, link, sizeof link);
    printf("%s   %s device%s in %u server%s   %s   %s\n", c->name, units_count(devices, c->devices),
           plural(c->devices), c->servers, plural(c->servers), device, link);
    if (c->about[0])
        puts(c->about);
    print_types(c);
    print_peaks(c);
    print_groups(c);
    print_mesh(m);
    print_collectives(m, bytes);
    printf("\nfingerprint %016llx\n", (unsigned long long)cluster_fingerprint(c));
}

static cJSON *json_types(const struct cluster *c)
{
    cJSON *all = cJSON_CreateArray();

    for (uint32_t i = 0; i < c->types; i++) {
        const struct cluster_device *d = &c->type[i];
        cJSON *o = cJSON_CreateObject(), *peak;
        cJSON_AddStringToObject(o, "name", d->name);
        cJSON_AddNumberToObject(o, "memory_bytes", d->memory_bytes);
        cJSON_AddNumberToObject(o, "bandwidth_bytes_per_s", d->bandwidth);
        cJSON_AddNumberToObject(o, "launch_ms", d->launch_ms);
        peak = cJSON_AddObjectToObject(o, "peak_flop_per_s");
        for (int t = 0; t < PEAK_COUNT; t++)
            if (d->peak[t] > 0)
                cJSON_AddNumberToObject(peak, cluster_peak_name((enum peak_type)t), d->peak[t]);
        cJSON_AddItemToArray(all, o);
    }
    return all;
}

static cJSON *json_link(const struct cluster_link *link)
{
    cJSON *o = cJSON_CreateObject();

    cJSON_AddStringToObject(o, "name", link->name);
    cJSON_AddStringToObject(o, "kind", cluster_link_kind_name(link->kind));
    cJSON_AddNumberToObject(o, "bandwidth_bytes_per_s", link->bandwidth);
    cJSON_AddNumberToObject(o, "latency_ms", link->latency_ms);
    if (link->rank) {
        cJSON *shape = cJSON_AddArrayToObject(o, "shape");
        for (uint32_t i = 0; i < link->rank; i++)
            cJSON_AddItemToArray(shape, cJSON_CreateNumber(link->shape[i]));
    }
    return o;
}

static cJSON *json_groups(const struct cluster *c)
{
    cJSON *all = cJSON_CreateArray();

    for (uint32_t i = 0; i < c->groups; i++) {
        const struct cluster_group *g = &c->group[i];
        cJSON *o = cJSON_CreateObject();
        cJSON_AddNumberToObject(o, "count", g->count);
        cJSON_AddNumberToObject(o, "devices", g->devices);
        cJSON_AddStringToObject(o, "type", c->type[g->type].name);
        if (c->servers > 1)
            cJSON_AddNumberToObject(o, "network_bytes_per_s", cluster_network_of(c, i));
        if (g->devices > 1)
            cJSON_AddItemToObject(o, "link", json_link(&g->link));
        cJSON_AddItemToArray(all, o);
    }
    return all;
}

/* All sets of axes: a program may want any. */
static cJSON *json_collectives(const struct cluster_mesh *m, double bytes)
{
    cJSON *all = cJSON_CreateArray();
    char axes[AXES_ROOM];

    for (uint32_t set = 1; set < 1u << m->axes; set++) {
        const struct mesh_span *s = &m->span[set];
        cJSON *o = cJSON_CreateObject(), *ms;
        mesh_set_format(m, set, axes, sizeof axes);
        cJSON_AddStringToObject(o, "axes", axes);
        cJSON_AddNumberToObject(o, "devices", s->devices);
        cJSON_AddNumberToObject(o, "inside", s->inside);
        cJSON_AddNumberToObject(o, "servers", s->servers);
        cJSON_AddNumberToObject(o, "groups_sharing_a_card", s->cards_shared);
        ms = cJSON_AddObjectToObject(o, "ms");
        for (int k = 0; k < COLLECTIVE_COUNT; k++)
            cJSON_AddNumberToObject(ms, collective_name((enum collective_kind)k),
                                    collective_ms(m, (enum collective_kind)k, set, bytes));
        cJSON_AddItemToArray(all, o);
    }
    return all;
}

static int print_json(const struct cluster *c, const struct cluster_mesh *m, double bytes)
{
    static const char *const places[] = {"inside", "across", "both"};
    cJSON *o = cJSON_CreateObject(), *axes;
    char hex[24], *text;

    snprintf(hex, sizeof hex, "%016llx", (unsigned long long)cluster_fingerprint(c));
    cJSON_AddStringToObject(o, "schema", "automap-cluster-1");
    cJSON_AddStringToObject(o, "name", c->name);
    cJSON_AddStringToObject(o, "about", c->about);
    cJSON_AddStringToObject(o, "fingerprint", hex);
    cJSON_AddNumberToObject(o, "servers", c->servers);
    cJSON_AddNumberToObject(o, "devices", c->devices);
    cJSON_AddItemToObject(o, "types", json_types(c));
    cJSON_AddItemToObject(o, "groups", json_groups(c));
    if (c->servers > 1)
        cJSON_AddNumberToObject(o, "network_latency_ms", c->network_latency_ms);
    axes = cJSON_AddArrayToObject(o, "axes");
    for (uint32_t i = 0; i < m->axes; i++) {
        cJSON *axis = cJSON_CreateObject();
        cJSON_AddStringToObject(axis, "name", m->axis[i].name);
        cJSON_AddNumberToObject(axis, "size", m->axis[i].size);
        cJSON_AddStringToObject(axis, "place", places[m->axis[i].place]);
        cJSON_AddItemToArray(axes, axis);
    }
    cJSON_AddNumberToObject(o, "collective_bytes", bytes);
    cJSON_AddItemToObject(o, "collectives", json_collectives(m, bytes));
    text = cJSON_Print(o);
    cJSON_Delete(o);
    if (!text) {
        fputs("automap: out of memory\n", stderr);
        return EXIT_INPUT;
    }
    puts(text);
    cJSON_free(text);
    return EXIT_OK;
}

static int show_cluster(const struct request *r)
{
    struct cluster c;
    struct cluster_mesh m;
    struct err e = {0};

    if (make_cluster(r, &c, &e) || make_mesh(r, &c, &m, &e)) {
        err_print(&e, stderr);
        return exit_code_of(&e);
    }
    if (r->explain < COLLECTIVE_COUNT)
        print_parts(&m, r->explain, r->bytes);
    else if (r->is_json)
        return print_json(&c, &m, r->bytes);
    else
        print_text(&c, &m, r->bytes);
    return EXIT_OK;
}

static int run_cluster(int argc, char **argv)
{
    const struct option_parser parser = {"cluster", options, NULL};
    struct request r = {.bytes = 256e6, .explain = COLLECTIVE_COUNT};
    int code = options_parse(&parser, &r, argc, argv);

    if (code == EXIT_OK && r.file && r.devices)
        code = options_complain("cluster", "a file or --devices, not both: \"%s\"", r.file);
    if (code == EXIT_OK)
        code = show_cluster(&r);
    text_list_release(&r.set);
    return code;
}

const struct command command_cluster = {
    .name = "cluster",
    .usage = "[FILE]",
    .summary = "show a cluster and what collectives cost on it",
    .about = "Prints a cluster file, or the default cluster, and what collectives cost on it.",
    .options = options,
    .run = run_cluster,
};
