#include "engine/doctor/groups.h"

#include "engine/cluster/cluster.h"
#include "engine/cluster/mesh.h"
#include "hlo/module/attr.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AXES_MOST = 16 };

/* A grid of devices: dims, and the order in which a transposed iota walks through them. */
struct grid {
    uint32_t rank, dim[AXES_MOST], order[AXES_MOST];
};

struct text {
    const char *at, *end;
};

static bool eat_word(struct text *t, const char *word)
{
    size_t size = strlen(word);

    while (t->at < t->end && *t->at == ' ')
        t->at++;
    if ((size_t)(t->end - t->at) < size || memcmp(t->at, word, size))
        return false;
    t->at += size;
    return true;
}

static bool eat_number(struct text *t, uint32_t *out)
{
    uint64_t value = 0;
    const char *begin;

    eat_word(t, "");
    for (begin = t->at; t->at < t->end && *t->at >= '0' && *t->at <= '9'; t->at++) {
        value = value * 10 + (uint64_t)(*t->at - '0');
        if (value > UINT32_MAX)
            return false;
    }
    *out = (uint32_t)value;
    return t->at > begin;
}

static bool numbers(struct text *t, const char *close, uint32_t *out, uint32_t *count)
{
    *count = 0;
    do {
        if (*count == AXES_MOST || !eat_number(t, &out[*count]))
            return false;
        ++*count;
    } while (eat_word(t, ","));
    return eat_word(t, close);
}

/* "[4,2]T(1,0)" behind its bracket. */
static bool grid_read(struct text *t, struct grid *g)
{
    uint32_t count;

    if (!numbers(t, "]", g->dim, &g->rank))
        return false;
    for (uint32_t k = 0; k < g->rank; k++)
        g->order[k] = k;
    if (!eat_word(t, "T("))
        return true;
    if (!numbers(t, ")", g->order, &count) || count != g->rank)
        return false;
    uint32_t seen = 0;
    for (uint32_t k = 0; k < g->rank; k++)
        seen |= g->order[k] < g->rank ? 1u << g->order[k] : 0;
    return seen == (1u << g->rank) - 1;
}

static uint64_t grid_size(const struct grid *g)
{
    uint64_t size = 1;

    for (uint32_t k = 0; k < g->rank && size <= UINT32_MAX; k++)
        size *= g->dim[k];
    return size;
}

/* The device at place `n` of the transposed iota. */
static uint32_t grid_device(const struct grid *g, uint32_t n)
{
    uint32_t at[AXES_MOST] = {0}, device = 0;

    for (uint32_t k = g->rank; k-- > 0;) {
        uint32_t d = g->order[k];
        at[d] = n % g->dim[d];
        n /= g->dim[d];
    }
    for (uint32_t d = 0; d < g->rank; d++)
        device = device * g->dim[d] + at[d];
    return device;
}

static bool take_groups(struct device_groups *g, uint32_t count, uint32_t size)
{
    g->member =
        (uint64_t)count * size == g->devices ? mem_try(g->devices, sizeof *g->member) : NULL;
    if (!g->member)
        return false;
    g->count = count;
    g->size = size;
    return true;
}

/* [2,4]<=[8]T(..) */
static void read_iota(struct device_groups *g, struct text t)
{
    struct grid grid;
    uint32_t shape[AXES_MOST], rank;

    if (!numbers(&t, "]", shape, &rank) || rank != 2 || !eat_word(&t, "<=[") ||
        !grid_read(&t, &grid) || grid_size(&grid) != g->devices ||
        !take_groups(g, shape[0], shape[1]))
        return;
    for (uint32_t n = 0; n < g->devices; n++)
        g->member[n] = grid_device(&grid, n);
}

struct axis {
    const char *name;
    size_t name_size;
};

static bool axis_name(struct text *t, struct axis *a)
{
    if (!eat_word(t, "'"))
        return false;
    a->name = t->at;
    while (t->at < t->end && *t->at != '\'')
        t->at++;
    a->name_size = (size_t)(t->at - a->name);
    return eat_word(t, "'");
}

/* Cuts axis `k` of a mesh in three, `before` x `size` x the rest, the outermost first. */
static bool cut_axis(struct grid *mesh, bool *over, uint32_t k, uint32_t before, uint32_t size)
{
    uint32_t whole = mesh->dim[k];

    if (!before || !size || whole % before || whole / before % size || mesh->rank + 2 > AXES_MOST)
        return false;
    for (uint32_t n = mesh->rank; n-- > k + 1;) {
        mesh->dim[n + 2] = mesh->dim[n];
        over[n + 2] = over[n];
    }
    mesh->dim[k] = before;
    mesh->dim[k + 1] = size;
    mesh->dim[k + 2] = whole / before / size;
    over[k] = over[k + 2] = false;
    over[k + 1] = true;
    mesh->rank += 2;
    return true;
}

/* Marks what the braces name: 'a' or a part of it, 'a':(before)size. Parts of one axis are not
 * named twice. */
static bool named_axes(struct text *t, struct axis *axis, struct grid *mesh, bool *over)
{
    uint32_t place[AXES_MOST], axes = mesh->rank;

    for (uint32_t k = 0; k < axes; k++)
        place[k] = k;
    if (!eat_word(t, "{"))
        return false;
    while (!eat_word(t, "}")) {
        struct axis a;
        uint32_t k = 0, before, size;
        if (!axis_name(t, &a))
            return false;
        while (k < axes &&
               (axis[k].name_size != a.name_size || memcmp(axis[k].name, a.name, a.name_size) != 0))
            k++;
        if (k == axes)
            return false;
        if (!eat_word(t, ":")) {
            over[place[k]] = true;
        } else {
            if (!eat_word(t, "(") || !eat_number(t, &before) || !eat_word(t, ")") ||
                !eat_number(t, &size) || !cut_axis(mesh, over, place[k], before, size))
                return false;
            for (uint32_t n = k + 1; n < axes; n++)
                place[n] += 2;
        }
        eat_word(t, ",");
    }
    return true;
}

/* mesh['a'=2,'b'=4], device_ids=([4,2]T(1,0)) {'b'} */
static void read_mesh(struct device_groups *g, struct text t)
{
    struct axis axis[AXES_MOST];
    struct grid mesh = {0}, ids = {.rank = 1, .dim = {g->devices}};
    bool over[AXES_MOST] = {false};
    uint32_t size = 1, rank = 0;

    do {
        if (mesh.rank == AXES_MOST || !axis_name(&t, &axis[mesh.rank]) || !eat_word(&t, "=") ||
            !eat_number(&t, &mesh.dim[mesh.rank]))
            return;
        mesh.rank++;
    } while (eat_word(&t, ","));
    if (!eat_word(&t, "]"))
        return;
    if (eat_word(&t, ", device_ids=([") && (!grid_read(&t, &ids) || !eat_word(&t, ")")))
        return;
    if (grid_size(&mesh) != g->devices || grid_size(&ids) != g->devices ||
        !named_axes(&t, axis, &mesh, over))
        return;
    for (int inner = 0; inner < 2; inner++) { /* the axes of a group vary fastest */
        for (uint32_t k = 0; k < mesh.rank; k++) {
            if (over[k] == (inner == 1))
                mesh.order[rank++] = k;
        }
    }
    for (uint32_t k = 0; k < mesh.rank; k++)
        size *= over[k] ? mesh.dim[k] : 1;
    if (!take_groups(g, g->devices / size, size))
        return;
    for (uint32_t n = 0; n < g->devices; n++)
        g->member[n] = grid_device(&ids, grid_device(&mesh, n));
}

static void read_all(struct device_groups *g)
{
    if (!take_groups(g, 1, g->devices))
        return;
    for (uint32_t n = 0; n < g->devices; n++)
        g->member[n] = n;
}

/* {{0,1},{2,3}}; {} is all of them. Uneven groups are not understood. */
static void read_list(struct device_groups *g, struct text t)
{
    uint32_t *list = mem_try(g->devices, sizeof *list), count = 0, groups = 0, size = 0;
    bool fine = list != NULL;

    if (fine && eat_word(&t, "}")) {
        free(list);
        read_all(g);
        return;
    }
    while (fine && eat_word(&t, "{")) {
        uint32_t begin = count;
        do {
            fine = count < g->devices && eat_number(&t, &list[count]) && list[count] < g->devices;
            count++;
        } while (fine && eat_word(&t, ","));
        fine = fine && eat_word(&t, "}") && (!groups || count - begin == size);
        size = count - begin;
        groups++;
        eat_word(&t, ",");
    }
    if (fine && groups && take_groups(g, groups, size))
        memcpy(g->member, list, g->devices * sizeof *list);
    free(list);
}

/* Every pair is a group of two to whom the size means nothing: the shift is what counts. */
static void read_pairs(struct device_groups *g, struct text t)
{
    int64_t step = 0;
    bool same = true;

    g->is_in_place = true;
    for (uint32_t n = 0; eat_word(&t, "{"); n++) {
        uint32_t from, to;
        if (!eat_number(&t, &from) || !eat_word(&t, ",") || !eat_number(&t, &to) ||
            !eat_word(&t, "}"))
            return;
        int64_t by = (int64_t)to - from;
        by = by < -1 ? by + g->devices : by > 1 ? by - g->devices : by; /* once around the line */
        same = same && (!n || by == step);
        step = by;
        g->is_in_place = g->is_in_place && !by;
        eat_word(&t, ",");
    }
    g->is_shift = same && (step == 1 || step == -1);
    read_all(g);
}

int device_groups_of(const struct hlo_module *m, hlo_id id, uint32_t devices,
                     struct device_groups *out, struct err *e)
{
    const struct hlo_attr *groups = hlo_attr(m, id, HLO_ATTR_REPLICA_GROUPS);
    const struct hlo_attr *pairs = hlo_attr(m, id, HLO_ATTR_SOURCE_TARGET_PAIRS);
    const struct hlo_attr *a = pairs ? pairs : groups;

    *out = (struct device_groups){.devices = devices};
    if (devices > CLUSTER_DEVICES_MOST)
        return err_set(e, ERR_LIMIT, "made for %u devices, expected at most %d", devices,
                       CLUSTER_DEVICES_MOST);
    const char *text = a ? a->text : "{}";
    struct text t = {text, text + (a ? a->size : 2)};
    if (pairs && eat_word(&t, "{"))
        read_pairs(out, t);
    else if (eat_word(&t, "mesh["))
        read_mesh(out, t);
    else if (eat_word(&t, "["))
        read_iota(out, t);
    else if (eat_word(&t, "{"))
        read_list(out, t);
    return 0;
}

/* {devices=[2,1,4]<=[8]T(..) last_tile_dim_replicate}: who lies behind one another in the last dim
 * has the same tile. */
bool device_groups_have_same(const struct device_groups *g, const char *sharding, size_t size)
{
    struct text t = {sharding, sharding + size};
    struct grid tiles = {0}, ids = {0};
    uint32_t *tile = NULL;
    bool same = g->size > 1;

    if (!eat_word(&t, "{") || !g->size)
        return false;
    if (eat_word(&t, "replicated"))
        return true;
    if (!eat_word(&t, "devices=[") || !numbers(&t, "]", tiles.dim, &tiles.rank) ||
        !eat_word(&t, "<=[") || !grid_read(&t, &ids) || !eat_word(&t, "last_tile_dim_replicate") ||
        grid_size(&ids) != g->devices || grid_size(&tiles) != g->devices)
        return false;
    tile = mem_try(g->devices, sizeof *tile);
    for (uint32_t n = 0; tile && n < g->devices; n++)
        tile[grid_device(&ids, n)] = n / tiles.dim[tiles.rank - 1];
    for (uint32_t n = 0; tile && same && n < g->devices; n++)
        same = tile[g->member[n]] == tile[g->member[n - n % g->size]];
    same = same && tile;
    free(tile);
    return same;
}

int64_t device_groups_tiles(const char *sharding, size_t size, uint32_t rank)
{
    struct text t = {sharding, sharding + size};
    struct grid tiles = {0};
    int64_t count = 1;

    if (!eat_word(&t, "{") || !eat_word(&t, "devices=[") ||
        !numbers(&t, "]", tiles.dim, &tiles.rank))
        return 1;
    uint64_t all = grid_size(&tiles);
    if (!all || all > UINT32_MAX)
        return 1;
    for (uint32_t d = 0; d < tiles.rank && d < rank; d++)
        count *= tiles.dim[d];
    return count;
}

bool device_groups_tile_dims(const char *sharding, size_t size, uint32_t rank, int64_t out[])
{
    struct text t = {sharding, sharding + size};
    struct grid tiles = {0};
    bool is_whole = size >= 12 && !memcmp(sharding, "{replicated}", 12);

    if (!is_whole && (!eat_word(&t, "{") || !eat_word(&t, "devices=[") ||
                      !numbers(&t, "]", tiles.dim, &tiles.rank) || tiles.rank < rank))
        return false;
    for (uint32_t d = 0; d < rank; d++) {
        out[d] = is_whole ? 1 : tiles.dim[d];
        if (out[d] < 1)
            return false;
    }
    return true;
}

void device_groups_release(struct device_groups *g)
{
    free(g->member);
    *g = (struct device_groups){0};
}

/* The distance between neighbours when all groups have the same; 0: they differ. */
static uint32_t stride_of(const struct device_groups *g)
{
    uint32_t stride = g->size > 1 ? g->member[1] - g->member[0] : 1;

    for (uint32_t k = 0; k < g->count; k++) {
        for (uint32_t n = 1; n < g->size; n++) {
            const uint32_t *at = &g->member[(size_t)k * g->size + n];
            if (at[0] - at[-1] != stride)
                return 0;
        }
    }
    return stride <= g->devices ? stride : 0;
}

static bool stays_in_servers(const struct device_groups *g, const struct cluster *c)
{
    for (uint32_t k = 0; k < g->count; k++) {
        const uint32_t *one = &g->member[(size_t)k * g->size];
        for (uint32_t n = 1; n < g->size; n++) {
            if (cluster_server_of(c, one[n]) != cluster_server_of(c, one[0]))
                return false;
        }
    }
    return true;
}

double device_groups_ms(const struct device_groups *g, const struct cluster *c,
                        enum collective_kind kind, double bytes)
{
    struct cluster_mesh mesh;
    struct err e;
    char text[64];

    if (g->size <= 1 || g->is_in_place || c->devices != g->devices)
        return 0;
    uint32_t stride = stride_of(g), outer = stride ? g->devices / stride / g->size : 0;
    if (!stride || (uint64_t)outer * g->size * stride != g->devices) {
        stride = stays_in_servers(g, c) ? 1 : g->devices / g->size;
        outer = g->devices / stride / g->size;
    }
    snprintf(text, sizeof text, "%ux%ux%u", outer, g->size, stride);
    if (mesh_parse(&mesh, c, text, &e))
        return 0;
    return collective_ms(&mesh, kind, 1u << 1, bytes);
}
