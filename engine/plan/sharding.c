#include "engine/plan/sharding.h"

#include "engine/cluster/mesh.h"
#include "hlo/module/shape.h"

#include <stdlib.h>
#include <string.h>

/* ---- writing ---- */

static uint32_t parts_of(const struct cluster_mesh *mesh, label over)
{
    uint32_t parts = 1;

    for (uint32_t x = 0; x < mesh->axes; x++)
        parts *= over >> x & 1 ? mesh->axis[x].size : 1;
    return parts;
}

static uint32_t add_axes(const struct cluster_mesh *mesh, label axes, uint32_t count,
                         uint32_t order[static MESH_AXES_MOST])
{
    for (uint32_t x = 0; x < mesh->axes; x++) {
        if (axes >> x & 1 && mesh->axis[x].size > 1)
            order[count++] = x;
    }
    return count;
}

/* The axes (of more than one device) in the order in which tiles number them: dim by dim, those of
 * `inner` last in each, then those that make replicas. Returns how many. */
static uint32_t order_axes(const struct cluster_mesh *mesh, const label *over, label inner,
                           uint32_t rank, uint32_t order[static MESH_AXES_MOST])
{
    label used = 0;
    uint32_t count = 0;

    for (uint32_t d = 0; d < rank; d++) {
        count = add_axes(mesh, over[d] & (label)~inner, count, order);
        count = add_axes(mesh, over[d] & inner, count, order);
        used |= over[d];
    }
    return add_axes(mesh, (label)~used, count, order);
}

/* Where each of those axes stands among the axes of more than one device. */
static uint32_t position(const struct cluster_mesh *mesh, uint32_t axis)
{
    uint32_t at = 0;

    for (uint32_t x = 0; x < axis; x++)
        at += mesh->axis[x].size > 1;
    return at;
}

static void write_iota(const struct cluster_mesh *mesh, const uint32_t *order, uint32_t count,
                       struct str *out)
{
    bool plain = true;

    for (uint32_t k = 1; k < count; k++)
        plain &= order[k] > order[k - 1];
    str_add(out, "<=[");
    if (plain) {
        str_add_int(out, mesh->devices);
        str_add_char(out, ']');
        return;
    }
    bool first = true;
    for (uint32_t x = 0; x < mesh->axes; x++) {
        if (mesh->axis[x].size == 1)
            continue;
        str_add(out, first ? "" : ",");
        str_add_int(out, mesh->axis[x].size);
        first = false;
    }
    for (uint32_t k = 0; k < count; k++) {
        str_add(out, k ? "," : "]T(");
        str_add_int(out, position(mesh, order[k]));
    }
    str_add_char(out, ')');
}

static uint32_t stride_of(const struct cluster_mesh *mesh, uint32_t axis)
{
    uint32_t stride = 1;

    for (uint32_t x = axis + 1; x < mesh->axes; x++)
        stride *= mesh->axis[x].size;
    return stride;
}

static void write_devices(const struct cluster_mesh *mesh, const uint32_t *order, uint32_t count,
                          struct str *out)
{
    for (uint32_t tile = 0; tile < mesh->devices; tile++) {
        uint32_t rest = tile, device = 0;
        for (uint32_t k = count; k-- > 0;) {
            device += rest % mesh->axis[order[k]].size * stride_of(mesh, order[k]);
            rest /= mesh->axis[order[k]].size;
        }
        str_add(out, tile ? "," : "");
        str_add_int(out, device);
    }
}

void sharding_write(const struct cluster_mesh *mesh, const label *over, uint32_t rank,
                    enum sharding_form form, struct str *out)
{
    sharding_write_inner(mesh, over, 0, rank, form, out);
}

void sharding_write_inner(const struct cluster_mesh *mesh, const label *over, label inner,
                          uint32_t rank, enum sharding_form form, struct str *out)
{
    uint32_t order[MESH_AXES_MOST], count = order_axes(mesh, over, inner, rank, order), tiles = 1;

    for (uint32_t d = 0; d < rank; d++)
        tiles *= parts_of(mesh, over[d]);
    if (tiles == 1) {
        str_add(out, "{replicated}");
        return;
    }
    for (uint32_t d = 0; d < rank; d++) {
        str_add(out, d ? "," : "{devices=[");
        str_add_int(out, parts_of(mesh, over[d]));
    }
    if (tiles < mesh->devices)
        str_format(out, ",%u", mesh->devices / tiles);
    str_add_char(out, ']');
    if (form == SHARDING_V1)
        write_devices(mesh, order, count, out);
    else
        write_iota(mesh, order, count, out);
    str_add(out, tiles < mesh->devices ? " last_tile_dim_replicate}" : "}");
}

/* ---- reading ---- */

struct reader {
    const char *at, *end;
};

static bool take_word(struct reader *r, const char *word)
{
    size_t n = strlen(word);

    if ((size_t)(r->end - r->at) < n || memcmp(r->at, word, n))
        return false;
    r->at += n;
    return true;
}

static bool take_number(struct reader *r, uint32_t *out)
{
    const char *first = r->at;

    *out = 0;
    while (r->at < r->end && *r->at >= '0' && *r->at <= '9' && r->at - first < 8)
        *out = *out * 10 + (uint32_t)(*r->at++ - '0');
    return r->at > first;
}

/* Numbers separated by ','. */
static bool take_numbers(struct reader *r, uint32_t *out, uint32_t most, uint32_t *count)
{
    *count = 0;
    do {
        if (*count == most || !take_number(r, &out[(*count)++]))
            return false;
    } while (take_word(r, ","));
    return true;
}

enum { DIMS_MOST = HLO_RANK_MAX + 1 };

struct tiles {
    uint32_t dims[DIMS_MOST], count; /* tile counts, replicas last */
    uint32_t grid[DIMS_MOST], rank;  /* the arrangement of an iota; rank 0: a list */
    uint32_t *device;                /* [devices] at each tile */
};

/* iota(devices) reshaped to `shape`, transposed by `perm`. */
static bool fill_iota(const uint32_t *shape, const uint32_t *perm, uint32_t rank, uint32_t devices,
                      uint32_t *out)
{
    uint32_t stride[DIMS_MOST] = {0}, total = 1, seen = 0;

    for (uint32_t k = rank; k-- > 0;) {
        if (!shape[k] || total > devices / shape[k])
            return false;
        stride[k] = total;
        total *= shape[k];
    }
    for (uint32_t k = 0; k < rank; k++) {
        if (perm[k] >= rank || perm[k] > 31 || seen >> perm[k] & 1)
            return false;
        seen |= 1u << perm[k];
    }
    if (total != devices)
        return false;
    for (uint32_t tile = 0; tile < devices; tile++) {
        uint32_t rest = tile;
        out[tile] = 0;
        for (uint32_t k = rank; k-- > 0;) {
            out[tile] += rest % shape[perm[k]] * stride[perm[k]];
            rest /= shape[perm[k]];
        }
    }
    return true;
}

static bool take_devices(struct reader *r, uint32_t devices, struct tiles *t)
{
    uint32_t perm[DIMS_MOST], count;

    t->rank = 0;
    if (!take_word(r, "<=["))
        return take_numbers(r, t->device, devices, &count) && count == devices;
    if (!take_numbers(r, t->grid, 32, &t->rank) || !take_word(r, "]"))
        return false;
    for (uint32_t k = 0; k < t->rank; k++)
        perm[k] = k;
    if (take_word(r, "T(") &&
        !(take_numbers(r, perm, 32, &count) && count == t->rank && take_word(r, ")")))
        return false;
    return fill_iota(t->grid, perm, t->rank, devices, t->device);
}

static uint32_t mesh_place(const struct cluster_mesh *mesh, uint32_t device, label over)
{
    uint32_t place = 0;

    for (uint32_t x = 0; x < mesh->axes; x++) {
        if (over >> x & 1)
            place = place * mesh->axis[x].size + device / stride_of(mesh, x) % mesh->axis[x].size;
    }
    return place;
}

/* The same where the axes of `inner` are innermost. */
static uint32_t ordered_place(const struct cluster_mesh *mesh, uint32_t device, label over,
                              label inner)
{
    return mesh_place(mesh, device, over & (label)~inner) * parts_of(mesh, over & inner) +
           mesh_place(mesh, device, over & inner);
}

/* The axes along which the tiles of dim `d` lie, those of `inner` innermost: those with which every
 * device's place agrees. */
static bool find_axes(const struct cluster_mesh *mesh, const struct tiles *t, uint32_t d,
                      label inner, label *out)
{
    uint32_t after = 1;

    for (uint32_t k = d + 1; k < t->count; k++)
        after *= t->dims[k];
    for (uint32_t over = 0; over < 1u << mesh->axes; over++) {
        bool fits = parts_of(mesh, (label)over) == t->dims[d];
        for (uint32_t tile = 0; tile < mesh->devices && fits; tile++)
            fits = t->device[tile] < mesh->devices &&
                   tile / after % t->dims[d] ==
                       ordered_place(mesh, t->device[tile], (label)over, inner);
        if (fits) {
            *out = (label)over;
            return true;
        }
    }
    return false;
}

/* *is_replicated: the last count is that of replicas. */
static bool read_tiles(struct reader *r, uint32_t devices, struct tiles *t, bool *is_replicated)
{
    uint32_t total = 1;

    if (!take_word(r, "{devices=[") || !take_numbers(r, t->dims, DIMS_MOST, &t->count) ||
        !take_word(r, "]") || !take_devices(r, devices, t))
        return false;
    *is_replicated =
        take_word(r, " last_tile_dim_replicate") || take_word(r, " last_tile_dims={replicated}");
    for (uint32_t k = 0; k < t->count; k++) {
        if (!t->dims[k] || total > devices / t->dims[k])
            return false;
        total *= t->dims[k];
    }
    return total == devices && take_word(r, "}");
}

/* All dims with the same axes innermost. */
static bool find_all_axes(const struct cluster_mesh *mesh, const struct tiles *t, uint32_t rank,
                          label inner, label *over)
{
    bool ok = true;

    for (uint32_t d = 0; d < rank && ok; d++)
        ok = find_axes(mesh, t, d, inner, &over[d]);
    return ok;
}

size_t sharding_read_inner(const struct cluster_mesh *mesh, const char *text, size_t size,
                           uint32_t rank, label inner_most, label *over, label *inner)
{
    struct reader r = {text, text + size};
    struct tiles t;

    *inner = 0;
    memset(over, 0, rank * sizeof *over);
    if (take_word(&r, "{replicated}"))
        return (size_t)(r.at - text);
    if (rank > HLO_RANK_MAX)
        return 0;
    bool has_replicas = false, found = false;
    t.device = mem_try(mesh->devices, sizeof *t.device);
    bool ok = t.device && read_tiles(&r, mesh->devices, &t, &has_replicas) &&
              t.count == rank + has_replicas;
    for (uint32_t some = 0; some <= inner_most && ok && !found; some++) {
        *inner = (label)some;
        found = find_all_axes(mesh, &t, rank, *inner, over);
    }
    free(t.device);
    return found ? (size_t)(r.at - text) : 0;
}

size_t sharding_read(const struct cluster_mesh *mesh, const char *text, size_t size, uint32_t rank,
                     label *over)
{
    label inner;

    return sharding_read_inner(mesh, text, size, rank, 0, over, &inner);
}

uint32_t sharding_cuts(const char *text, size_t size, uint32_t devices,
                       uint32_t cuts[static SHARDING_CUTS_MOST])
{
    struct reader r = {text, text + size};
    struct tiles t = {.device = mem_try(devices, sizeof *t.device)};
    uint32_t count = 0, inside = 1;
    bool has_replicas;

    if (t.device && read_tiles(&r, devices, &t, &has_replicas)) {
        for (uint32_t k = t.rank; k-- > 0; inside *= t.grid[k])
            cuts[count++] = inside;
        inside = 1;
        for (uint32_t k = t.count; k-- > 0; inside *= t.dims[k]) {
            uint32_t step = t.dims[k] > 1 ? t.device[inside] - t.device[0] : 0;
            if (step && step < devices) {
                cuts[count++] = step;
                cuts[count++] = step * t.dims[k];
            }
        }
    }
    free(t.device);
    return count;
}
