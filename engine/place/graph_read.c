/* Nodes and edges are gathered as the file has them, then ids and colors are looked up in sorted
 * tables: a file may name its keys in any order. */
#include "engine/place/graph_file.h"
#include "engine/place/graph_layers.h"
#include "engine/place/operator_graph.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include "engine/text/json_pull.h"
#include "hlo/support/file.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define TIME_MAX 1e15
#define BYTES_MAX 1e24

struct node {
    int64_t id, color;
    double cpu, acc[PLACE_TYPES_MAX - 1], bytes;
    size_t at;
    char *name;
    bool has_color, supported, backward;
};

struct edge {
    int64_t from, to;
    double cost, far;
    size_t at;
};

struct reading {
    struct json_pull j;
    struct node *node;
    struct edge *edge;
    size_t nodes, node_room, edges, edge_room;
    struct place_type kind[PLACE_TYPES_MAX];
    uint32_t kinds, latencies; /* latencies: of one node, 0 none read */
    uint32_t count, cpus, per_server;
    double memory, sync, sync_far;
    bool has_far;
    struct arena names;
};

/* Marks key `bit` as seen; complains about a second one. */
static void see_key(struct json_pull *j, uint32_t *seen, uint32_t bit)
{
    if (*seen & 1u << bit)
        json_wrong(j, "key \"%s\" a second time", j->key);
    *seen |= 1u << bit;
}

static uint32_t key_of(struct json_pull *j, const char *const *keys, uint32_t count, uint32_t *seen)
{
    uint32_t k = 0;

    while (k < count && strcmp(keys[k], j->key) != 0)
        k++;
    if (k < count)
        see_key(j, seen, k);
    return k;
}

static void require(struct json_pull *j, size_t at, uint32_t seen, uint32_t needed,
                    const char *const *keys, const char *what)
{
    for (uint32_t k = 0; needed >> k; k++) {
        if ((needed & ~seen) >> k & 1)
            json_wrong_at(j, at, "%s without key \"%s\"", what, keys[k]);
    }
}

static void no_room(struct json_pull *j)
{
    if (!j->failed)
        err_no_memory(j->e, "for this graph");
    j->failed = true;
}

/* ---- nodes ---- */

enum {
    N_ID,
    N_SUPPORTED,
    N_CPU,
    N_FPGA,
    N_BACKWARD,
    N_COLOR,
    N_SIZE,
    N_NAME,
    N_LATENCIES,
    N_INNER
};
static const char *const node_keys[] = {
    [N_ID] = "id",
    [N_SUPPORTED] = "supportedOnFpga",
    [N_CPU] = "cpuLatency",
    [N_FPGA] = "fpgaLatency",
    [N_BACKWARD] = "isBackwardNode",
    [N_COLOR] = "colorClass",
    [N_SIZE] = "size",
    [N_NAME] = "name",
    [N_LATENCIES] = "latencies",
    [N_INNER] = "containedSubnodes",
};

static uint32_t read_latencies(struct json_pull *j, double *out)
{
    uint32_t n = 0;

    json_list(j);
    while (json_item(j)) {
        if (n == PLACE_TYPES_MAX - 1)
            json_wrong_at(j, j->at, "more than %d kinds of accelerators", PLACE_TYPES_MAX - 1);
        else
            out[n++] = json_real(j, 0, TIME_MAX);
    }
    return n;
}

static void read_name(struct reading *r, struct node *v)
{
    char text[PLACE_NAME_ROOM];

    json_string(&r->j, text, sizeof text);
    if (!r->j.failed && !(v->name = arena_text(&r->names, text, strlen(text))))
        no_room(&r->j);
}

static void read_node_key(struct reading *r, struct node *v, uint32_t key, uint32_t *latencies)
{
    struct json_pull *j = &r->j;

    switch (key) {
    case N_ID:
        v->id = json_integer(j, INT64_MIN + 1, INT64_MAX);
        break;
    case N_SUPPORTED:
        v->supported = json_flag(j);
        break;
    case N_CPU:
        v->cpu = json_real(j, 0, TIME_MAX);
        break;
    case N_FPGA:
        v->acc[0] = json_real(j, 0, TIME_MAX);
        break;
    case N_BACKWARD:
        v->backward = json_flag(j);
        break;
    case N_COLOR:
        v->color = json_integer(j, INT64_MIN + 1, INT64_MAX);
        v->has_color = true;
        break;
    case N_SIZE:
        v->bytes = json_real(j, 0, BYTES_MAX);
        break;
    case N_NAME:
        read_name(r, v);
        break;
    case N_LATENCIES:
        *latencies = read_latencies(j, v->acc);
        break;
    case N_INNER:
        json_wrong_at(j, j->at, "\"containedSubnodes\" is a field of results, expected a graph");
        break;
    default:
        json_skip(j);
    }
}

static void read_node(struct reading *r)
{
    struct json_pull *j = &r->j;
    uint32_t seen = 0, latencies = 0;

    if (r->nodes == PLACE_NODES_MAX)
        json_wrong_at(j, j->at, "more than %d nodes", PLACE_NODES_MAX);
    if (!mem_grow(&r->node, &r->node_room, r->nodes, 1))
        no_room(j);
    if (!json_object(j))
        return;
    struct node *v = &r->node[r->nodes++];
    *v = (struct node){.at = j->value_at};
    while (json_key(j))
        read_node_key(r, v, key_of(j, node_keys, N_INNER + 1, &seen), &latencies);
    require(j, v->at, seen, 1u << N_ID | 1u << N_SUPPORTED | 1u << N_CPU, node_keys, "a node");
    if (!(seen & (1u << N_FPGA | 1u << N_LATENCIES)))
        json_wrong_at(j, v->at, "a node without key \"fpgaLatency\"");
    if (!latencies)
        latencies = 1;
    if (r->latencies && r->latencies != latencies)
        json_wrong_at(j, v->at, "a node with %u latencies, the one before has %u", latencies,
                      r->latencies);
    r->latencies = latencies;
}

/* ---- edges ---- */

enum { E_FROM, E_TO, E_COST, E_FAR };
static const char *const edge_keys[] = {
    [E_FROM] = "sourceId", [E_TO] = "destId", [E_COST] = "cost", [E_FAR] = "costFar"};

static void read_edge(struct reading *r)
{
    struct json_pull *j = &r->j;
    uint32_t seen = 0;

    if (r->edges == PLACE_EDGES_MAX)
        json_wrong_at(j, j->at, "more than %d edges", PLACE_EDGES_MAX);
    if (!mem_grow(&r->edge, &r->edge_room, r->edges, 1))
        no_room(j);
    if (!json_object(j))
        return;
    struct edge *d = &r->edge[r->edges++];
    *d = (struct edge){.at = j->value_at, .far = NAN};
    while (json_key(j)) {
        switch (key_of(j, edge_keys, E_FAR + 1, &seen)) {
        case E_FROM:
            d->from = json_integer(j, INT64_MIN + 1, INT64_MAX);
            break;
        case E_TO:
            d->to = json_integer(j, INT64_MIN + 1, INT64_MAX);
            break;
        case E_COST:
            d->cost = json_real(j, 0, TIME_MAX);
            break;
        case E_FAR:
            d->far = json_real(j, 0, TIME_MAX);
            break;
        default:
            json_skip(j);
        }
    }
    require(j, d->at, seen, 7, edge_keys, "an edge");
    if (isnan(d->far))
        d->far = d->cost;
    if (d->far < d->cost)
        json_wrong_at(j, d->at, "costFar %g is below cost %g, expected as much at least", d->far,
                      d->cost);
    r->has_far |= d->far != d->cost;
}

/* ---- the whole ---- */

static void read_kind(struct reading *r)
{
    struct json_pull *j = &r->j;
    struct place_type *t = &r->kind[r->kinds];
    static const char *const keys[] = {"count", "memory", "name"};
    uint32_t seen = 0;
    size_t at = j->at;

    if (r->kinds == PLACE_TYPES_MAX - 1) {
        json_wrong_at(j, at, "more than %d kinds of accelerators", PLACE_TYPES_MAX - 1);
        return;
    }
    *t = (struct place_type){0};
    snprintf(t->name, sizeof t->name, "kind %u", r->kinds + 1);
    json_object(j);
    while (json_key(j)) {
        switch (key_of(j, keys, 3, &seen)) {
        case 0:
            t->count = (uint32_t)json_integer(j, 0, PLACE_DEVICES_MAX);
            break;
        case 1:
            t->memory_bytes = json_real(j, 0, BYTES_MAX);
            break;
        case 2:
            json_string(j, t->name, sizeof t->name);
            break;
        default:
            json_skip(j);
        }
    }
    require(j, at, seen, 3, keys, "a kind of accelerators");
    r->kinds++;
}

enum { G_NODES, G_EDGES, G_CPUS, G_MEMORY, G_COUNT, G_KINDS, G_SERVER, G_SYNC, G_SYNC_FAR };
static const char *const graph_keys[] = {
    [G_NODES] = "nodes",      [G_EDGES] = "edges",           [G_CPUS] = "maxCPUs",
    [G_COUNT] = "maxFPGAs",   [G_MEMORY] = "maxSizePerFPGA", [G_KINDS] = "kinds",
    [G_SERVER] = "perServer", [G_SYNC] = "syncPerByte",      [G_SYNC_FAR] = "syncPerByteFar"};

static void read_list(struct reading *r, void (*one)(struct reading *))
{
    json_list(&r->j);
    while (json_item(&r->j))
        one(r);
}

static void read_graph(struct reading *r)
{
    struct json_pull *j = &r->j;
    uint32_t seen = 0, kinds = 1u << G_KINDS;

    json_object(j);
    while (json_key(j)) {
        switch (key_of(j, graph_keys, G_SYNC_FAR + 1, &seen)) {
        case G_NODES:
            read_list(r, read_node);
            break;
        case G_EDGES:
            read_list(r, read_edge);
            break;
        case G_CPUS:
            r->cpus = (uint32_t)json_integer(j, 0, PLACE_DEVICES_MAX);
            break;
        case G_COUNT:
            r->count = (uint32_t)json_integer(j, 0, PLACE_DEVICES_MAX);
            break;
        case G_MEMORY:
            r->memory = json_real(j, 0, BYTES_MAX);
            break;
        case G_KINDS:
            read_list(r, read_kind);
            break;
        case G_SERVER:
            r->per_server = (uint32_t)json_integer(j, 1, PLACE_DEVICES_MAX);
            break;
        case G_SYNC:
            r->sync = json_real(j, 0, TIME_MAX);
            break;
        case G_SYNC_FAR:
            r->sync_far = json_real(j, 0, TIME_MAX);
            break;
        default:
            json_skip(j);
        }
    }
    require(j, 0, seen, 1u << G_NODES | 1u << G_EDGES, graph_keys, "a placement graph");
    if (!(seen & kinds))
        require(j, 0, seen, 1u << G_COUNT | 1u << G_MEMORY, graph_keys, "a placement graph");
    else if (seen & 1u << G_COUNT)
        json_wrong_at(j, 0, "both \"kinds\" and \"maxFPGAs\", expected one of them");
    if (!r->kinds && !(seen & kinds))
        r->kind[r->kinds++] = (struct place_type){"accelerator", r->count, r->memory, false};
    if (r->nodes && r->latencies != r->kinds)
        json_wrong_at(j, r->node[0].at, "a node with %u latencies for %u kinds of accelerators",
                      r->latencies, r->kinds);
}

/* ---- ids and colors ---- */

struct named {
    int64_t value;
    uint32_t node;
};

static int compare_named(const void *a, const void *b)
{
    const struct named *x = a, *y = b;

    return x->value != y->value ? (x->value > y->value) - (x->value < y->value)
                                : (x->node > y->node) - (x->node < y->node);
}

static void sort_ids(struct reading *r, struct named *ids)
{
    for (size_t v = 0; v < r->nodes; v++)
        ids[v] = (struct named){r->node[v].id, (uint32_t)v};
    qsort(ids, r->nodes, sizeof *ids, compare_named);
    for (size_t i = 1; i < r->nodes; i++) {
        if (ids[i].value == ids[i - 1].value)
            json_wrong_at(&r->j, r->node[ids[i].node].at, "node id %" PRId64 " a second time",
                          ids[i].value);
    }
}

static uint32_t find_id(struct reading *r, const struct named *ids, int64_t id,
                        const struct edge *d)
{
    size_t low = 0, high = r->nodes;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ids[middle].value < id)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < r->nodes && ids[low].value == id)
        return ids[low].node;
    json_wrong_at(&r->j, d->at, "an edge names node %" PRId64 ", which is not there", id);
    return 0;
}

/* Color of a class: the least node of it. A node without one is numbered as the published code
 * does (throughput-dp/dp.cpp), from the largest int down in the order of the file. Sorts in place
 * of the ids, which are done with. */
static void set_colors(struct reading *r, struct named *classes, struct place_graph *g)
{
    int64_t next = INT32_MAX;
    size_t n = 0;

    g->file_class = arena_get(&g->arena, r->nodes + 1, sizeof *g->file_class);
    if (!g->file_class) {
        no_room(&r->j);
        return;
    }
    for (size_t v = 0; v < r->nodes; v++) {
        g->file_class[v] = r->node[v].has_color ? r->node[v].color : next--;
        if (r->node[v].has_color)
            classes[n++] = (struct named){r->node[v].color, (uint32_t)v};
    }
    qsort(classes, n, sizeof *classes, compare_named);
    for (size_t i = 0; i < n; i++)
        g->color[classes[i].node] = i && classes[i].value == classes[i - 1].value
                                        ? g->color[classes[i - 1].node]
                                        : classes[i].node;
}

static void set_costs(struct reading *r, struct place_graph *g, const uint32_t *from)
{
    double *seen = mem_try(r->nodes ? r->nodes : 1, sizeof *seen);

    if (r->has_far)
        g->far_ms = arena_get(&g->arena, r->nodes, sizeof *g->far_ms);
    if (!seen || (r->has_far && !g->far_ms)) {
        free(seen);
        no_room(&r->j);
        return;
    }
    for (size_t i = 0; i < r->edges; i++) {
        const struct edge *d = &r->edge[i];
        uint32_t u = from[i];
        double far = seen[u] != 0 && r->has_far ? g->far_ms[u] : d->far;
        if (seen[u] != 0 && (fabs(g->send_ms[u] - d->cost) > 1e-6 || fabs(far - d->far) > 1e-6))
            json_wrong_at(&r->j, d->at,
                          "the output of node %" PRId64 " costs %g here and %g before, expected "
                          "one cost of one output",
                          d->from, d->cost, g->send_ms[u]);
        if (seen[u] != 0)
            continue;
        seen[u] = 1;
        g->send_ms[u] = d->cost;
        if (r->has_far)
            g->far_ms[u] = d->far;
    }
    free(seen);
}

static void set_nodes(const struct reading *r, struct place_graph *g)
{
    for (uint32_t v = 0; v < g->nodes; v++) {
        const struct node *from = &r->node[v];
        g->id[v] = from->id;
        g->name[v] = from->name;
        for (uint32_t t = 0; t < r->kinds; t++)
            g->time_ms[(size_t)t * g->nodes + v] = from->acc[t];
        g->time_ms[(size_t)r->kinds * g->nodes + v] = from->cpu;
        g->bytes[v] = from->bytes;
        g->supported[v] = from->supported;
        g->backward[v] = from->backward;
    }
    memcpy(g->type, r->kind, sizeof g->type);
    g->type[r->kinds] = (struct place_type){"host", r->cpus, INFINITY, true};
    g->per_server = r->per_server;
    g->sync_ms_per_byte = r->sync;
    g->sync_far_ms_per_byte = r->sync_far;
}

static int connect(struct reading *r, struct place_graph *g)
{
    struct named *ids = mem_try(r->nodes + 1, sizeof *ids);
    uint32_t *from = mem_try(r->edges + 1, sizeof *from), *to = mem_try(r->edges + 1, sizeof *to);
    uint32_t culprit = PLACE_NONE;

    if (!ids || !from || !to) {
        no_room(&r->j);
        goto out;
    }
    sort_ids(r, ids);
    for (size_t i = 0; i < r->edges && !r->j.failed; i++) {
        from[i] = find_id(r, ids, r->edge[i].from, &r->edge[i]);
        to[i] = find_id(r, ids, r->edge[i].to, &r->edge[i]);
    }
    if (!r->j.failed)
        set_costs(r, g, from);
    if (r->j.failed)
        goto out;
    set_colors(r, ids, g);
    if (r->j.failed)
        goto out;
    if (place_graph_connect(g, from, to, (uint32_t)r->edges, &culprit, r->j.e)) {
        r->j.failed = true;
        if (culprit != PLACE_NONE)
            err_at(r->j.e, r->j.text, r->j.size, r->edge[culprit].at);
    }
out:
    free(ids);
    free(from);
    free(to);
    return r->j.failed ? r->j.e->code : 0;
}

static int build_graph(struct reading *r, struct place_graph **out)
{
    struct place_graph *g = NULL;
    struct err *e = r->j.e;
    uint64_t devices = r->cpus;

    for (uint32_t t = 0; t < r->kinds; t++)
        devices += r->kind[t].count;
    if (devices > PLACE_DEVICES_MAX)
        return err_set(e, ERR_LIMIT, "%" PRIu64 " devices, expected at most %d", devices,
                       PLACE_DEVICES_MAX);
    if (place_graph_new((uint32_t)r->nodes, r->kinds + 1, &g, e))
        return e->code;
    set_nodes(r, g);
    if (connect(r, g)) {
        place_graph_free(g);
        return e->code;
    }
    *out = g;
    return 0;
}

/* The names were read before the graph existed. */
static bool take_names(struct place_graph *g)
{
    for (uint32_t v = 0; v < g->nodes; v++) {
        if (g->name[v] && !(g->name[v] = arena_text(&g->arena, g->name[v], strlen(g->name[v]))))
            return false;
    }
    return true;
}

int place_graph_parse(const char *text, size_t size, struct place_graph **out, struct err *e)
{
    struct reading r = {0};
    int rc;

    json_open(&r.j, text, size, e);
    read_graph(&r);
    rc = json_close(&r.j);
    if (rc)
        goto out;
    rc = build_graph(&r, out);
    if (rc)
        goto out;
    rc = take_names(*out) ? place_graph_name_layers(*out, e) : err_no_memory(e, "for this graph");
    if (rc)
        place_graph_free(*out);
out:
    free(r.node);
    free(r.edge);
    arena_release(&r.names);
    return rc;
}

bool place_graph_is(const char *text, size_t size)
{
    static const char *const keys[] = {"\"nodes\"", "\"maxFPGAs\"", "\"maxSizePerFPGA\"",
                                       "\"supportedOnFpga\"", "\"sourceId\""};
    size_t looked = size < 4096 ? size : 4096, at = 0;
    char head[4097];

    memcpy(head, text, looked);
    head[looked] = 0;
    at = strspn(head, " \t\r\n\xef\xbb\xbf");
    if (head[at] != '{')
        return false;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (strstr(head + at, keys[i]))
            return true;
    }
    return false;
}

int place_graph_read(const char *path, struct place_graph **out, struct err *e)
{
    struct str text = {0};
    int rc = hlo_file_read_plain(path, PLACE_FILE_BYTES_MAX, &text, e);

    if (rc)
        goto out;
    if ((rc = place_graph_parse(text.text ? text.text : "", text.size, out, e)))
        err_in_file(e, path);
out:
    str_release(&text);
    return rc;
}
