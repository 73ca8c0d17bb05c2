/* Shardings: replicated and its like, tiled by device lists (V1) or iota (V2), tuples, named axes.
 */
#include "hlo/module/read.h"
#include "hlo/module/shape.h"
#include "hlo/proto/convert.h"
#include "hlo/proto/hlo.pb-c.h"
#include "hlo/support/mem.h"

#include <string.h>

static const struct {
    const char *word;
    Xla__OpSharding__Type type;
} words[] = {
    {"replicated", XLA__OP_SHARDING__TYPE__REPLICATED},
    {"manual", XLA__OP_SHARDING__TYPE__MANUAL},
    {"unknown", XLA__OP_SHARDING__TYPE__UNKNOWN},
    {"unreduced", XLA__OP_SHARDING__TYPE__UNREDUCED},
};
enum { WORD_COUNT = sizeof words / sizeof *words };

static const char *word_of(Xla__OpSharding__Type type)
{
    for (size_t i = 0; i < WORD_COUNT; i++) {
        if (words[i].type == type)
            return words[i].word;
    }
    return "unknown";
}

static bool take_type(struct scan *s, Xla__OpSharding__Type *out)
{
    struct scan word;

    if (!hlo_scan_word(s, &word))
        return false;
    for (size_t i = 0; i < WORD_COUNT; i++) {
        size_t size = (size_t)(word.end - word.at);
        if (strlen(words[i].word) == size && !memcmp(words[i].word, word.at, size)) {
            *out = words[i].type;
            return true;
        }
    }
    return false;
}

/* ---- message to text ---- */

static void print_metadata_list(const char *lead, Xla__OpMetadata **list, size_t count,
                                struct str *out)
{
    if (!count)
        return;
    str_add(out, lead);
    str_add(out, count > 1 ? "metadata={" : "metadata=");
    for (size_t i = 0; i < count; i++) {
        str_add(out, i ? ", {" : "{");
        hlo_print_metadata(list[i], out);
        str_add_char(out, '}');
    }
    if (count > 1)
        str_add_char(out, '}');
}

static void print_tiles(const Xla__OpSharding *p, struct str *out)
{
    str_add(out, "devices=[");
    hlo_print_ints(p->tile_assignment_dimensions, p->n_tile_assignment_dimensions, ",", out);
    str_add_char(out, ']');
    if (!p->n_iota_reshape_dims) {
        hlo_print_ints(p->tile_assignment_devices, p->n_tile_assignment_devices, ",", out);
    } else {
        str_add(out, "<=[");
        hlo_print_ints(p->iota_reshape_dims, p->n_iota_reshape_dims, ",", out);
        str_add_char(out, ']');
        for (size_t i = 0; i < p->n_iota_transpose_perm && p->n_iota_reshape_dims > 1; i++)
            str_format(out, "%s%d", i ? "," : "T(", p->iota_transpose_perm[i]);
        if (p->n_iota_transpose_perm && p->n_iota_reshape_dims > 1)
            str_add_char(out, ')');
    }
    /* One subgroup that is replicated has its own older word. */
    bool is_replicated =
        p->replicate_on_last_tile_dim ||
        (p->n_last_tile_dims == 1 && p->last_tile_dims[0] == XLA__OP_SHARDING__TYPE__REPLICATED);
    if (is_replicated) {
        str_add(out, " last_tile_dim_replicate");
    } else if (p->n_last_tile_dims) {
        for (size_t i = 0; i < p->n_last_tile_dims; i++)
            str_format(out, "%s%s", i ? ", " : " last_tile_dims={", word_of(p->last_tile_dims[i]));
        str_add_char(out, '}');
    }
}

static bool are_axes_whole(const Xla__MeshProto *mesh, Xla__AxisRefProto **axes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (axes[i]->sub_axis_info || axes[i]->mesh_axis_index != (int64_t)i)
            return false;
    }
    return mesh && count && count == mesh->n_axes;
}

static void print_axis_list(const char *name, const Xla__MeshProto *mesh, Xla__AxisRefProto **axes,
                            size_t count, struct str *out)
{
    if (!count)
        return;
    str_format(out, ", %s={", name);
    hlo_print_axes(mesh, axes, count, out);
    str_add_char(out, '}');
}

static void print_named(const Xla__NamedShardingProto *p, struct str *out)
{
    bool no_lists = !p->n_dim_shardings && !p->n_replicated_axes;

    if (p->mesh)
        hlo_print_mesh(p->mesh, out);
    if (no_lists && !p->n_unreduced_axes && !p->n_manual_axes) {
        if (p->mesh && p->mesh->n_axes)
            str_add(out, ", replicated");
    } else if (no_lists && !p->n_manual_axes &&
               are_axes_whole(p->mesh, p->unreduced_axes, p->n_unreduced_axes)) {
        str_add(out, ", unreduced");
    } else if (no_lists && !p->n_unreduced_axes &&
               are_axes_whole(p->mesh, p->manual_axes, p->n_manual_axes)) {
        str_add(out, ", manual");
    } else {
        str_add(out, ", [");
        for (size_t i = 0; i < p->n_dim_shardings; i++) {
            const Xla__NamedShardingProto__DimensionSharding *d = p->dim_shardings[i];
            str_add(out, i ? ", {" : "{");
            hlo_print_axes(p->mesh, d->axes, d->n_axes, out);
            if (!d->is_closed)
                str_add(out, d->n_axes ? ", ?" : "?");
            str_add_char(out, '}');
        }
        str_add_char(out, ']');
        print_axis_list("replicated", p->mesh, p->replicated_axes, p->n_replicated_axes, out);
        print_axis_list("unreduced", p->mesh, p->unreduced_axes, p->n_unreduced_axes, out);
        print_axis_list("manual", p->mesh, p->manual_axes, p->n_manual_axes, out);
    }
    if (p->n_metadata == 1) { /* a list even of one */
        str_add(out, ", metadata={{");
        hlo_print_metadata(p->metadata[0], out);
        str_add(out, "}}");
    } else {
        print_metadata_list(", ", p->metadata, p->n_metadata, out);
    }
}

void hlo_print_sharding(const Xla__OpSharding *p, struct str *out)
{
    str_add_char(out, '{');
    if (p->named_sharding) {
        print_named(p->named_sharding, out);
    } else if (p->type == XLA__OP_SHARDING__TYPE__TUPLE) {
        for (size_t i = 0; i < p->n_tuple_shardings; i++) {
            if (i)
                str_add(out, ", ");
            if (i && i % 5 == 0)
                str_format(out, "/*index=%zu*/", i);
            hlo_print_sharding(p->tuple_shardings[i], out);
        }
    } else if (p->type == XLA__OP_SHARDING__TYPE__MAXIMAL) {
        str_format(out, "maximal device=%lld",
                   p->n_tile_assignment_devices ? (long long)p->tile_assignment_devices[0] : 0);
    } else if (p->type == XLA__OP_SHARDING__TYPE__OTHER) {
        print_tiles(p, out);
    } else {
        str_add(out, word_of(p->type));
    }
    if (p->is_shard_group)
        str_format(out,
                   p->shard_group_type == XLA__OP_SHARDING__SHARD_GROUP_TYPE__AS
                       ? " shard_as %lld"
                       : " shard_like %lld",
                   (long long)p->shard_group_id);
    print_metadata_list(" ", p->metadata, p->n_metadata, out);
    str_add_char(out, '}');
}

/* ---- text to message ---- */

static bool take_metadata_list(struct arena *a, struct scan *s, Xla__OpMetadata ***list,
                               size_t *count)
{
    struct scan ahead = *s;

    if (!hlo_scan_char(&ahead, '{') || !hlo_scan_peek(&ahead, '{'))
        return hlo_convert_append(a, (void ***)list, count, hlo_take_metadata(a, s));
    *s = ahead;
    do {
        if (!hlo_convert_append(a, (void ***)list, count, hlo_take_metadata(a, s)))
            return false;
    } while (hlo_scan_char(s, ','));
    return hlo_scan_char(s, '}');
}

static bool take_last_tile_dims(struct arena *a, struct scan *s, Xla__OpSharding *p)
{
    p->last_tile_dims = arena_get(a, HLO_RANK_MAX, sizeof *p->last_tile_dims);
    if (!p->last_tile_dims || !hlo_scan_char(s, '{'))
        return false;
    while (!hlo_scan_char(s, '}')) {
        if (p->n_last_tile_dims == HLO_RANK_MAX ||
            (p->n_last_tile_dims && !hlo_scan_char(s, ',')) ||
            !take_type(s, &p->last_tile_dims[p->n_last_tile_dims++]))
            return false;
    }
    return true;
}

static bool take_device_list(struct arena *a, struct scan *s, Xla__OpSharding *p)
{
    /* Device numbers stand without brackets: "0,2,1,3". */
    size_t room = 1;
    for (const char *at = s->at; at < s->end && (*at == ',' || (*at >= '0' && *at <= '9')); at++)
        room += *at == ',';
    p->tile_assignment_devices = arena_get(a, room, sizeof *p->tile_assignment_devices);
    if (!p->tile_assignment_devices)
        return false;
    do {
        if (p->n_tile_assignment_devices == room ||
            !hlo_scan_int(s, &p->tile_assignment_devices[p->n_tile_assignment_devices++]))
            return false;
    } while (hlo_scan_char(s, ','));
    return true;
}

static bool take_devices(struct arena *a, struct scan *s, Xla__OpSharding *p)
{
    p->type = XLA__OP_SHARDING__TYPE__OTHER;
    if (!hlo_scan_ints(s, a, "[,]", &p->tile_assignment_dimensions,
                       &p->n_tile_assignment_dimensions))
        return false;
    if (!hlo_scan_text(s, "<="))
        return take_device_list(a, s, p);
    if (!hlo_scan_ints(s, a, "[,]", &p->iota_reshape_dims, &p->n_iota_reshape_dims) ||
        !p->n_iota_reshape_dims)
        return false;
    if (hlo_scan_text(s, "T"))
        return hlo_scan_ints32(s, a, "(,)", &p->iota_transpose_perm, &p->n_iota_transpose_perm);
    p->n_iota_transpose_perm = p->n_iota_reshape_dims;
    p->iota_transpose_perm = arena_get(a, p->n_iota_transpose_perm, sizeof *p->iota_transpose_perm);
    for (size_t i = 0; i < p->n_iota_transpose_perm && p->iota_transpose_perm; i++)
        p->iota_transpose_perm[i] = (int32_t)i;
    return p->iota_transpose_perm != NULL;
}

/* One attribute inside the braces of an array's sharding. */
static bool take_part(struct arena *a, struct scan *s, Xla__OpSharding *p)
{
    if (hlo_scan_text(s, "devices="))
        return take_devices(a, s, p);
    if (hlo_scan_text(s, "last_tile_dims="))
        return take_last_tile_dims(a, s, p);
    if (hlo_scan_text(s, "last_tile_dim_replicate"))
        return (p->replicate_on_last_tile_dim = true);
    if (hlo_scan_text(s, "metadata="))
        return take_metadata_list(a, s, &p->metadata, &p->n_metadata);
    bool as = hlo_scan_text(s, "shard_as");
    if (as || hlo_scan_text(s, "shard_like")) {
        p->is_shard_group = true;
        p->shard_group_type =
            as ? XLA__OP_SHARDING__SHARD_GROUP_TYPE__AS : XLA__OP_SHARDING__SHARD_GROUP_TYPE__LIKE;
        return hlo_scan_int(s, &p->shard_group_id);
    }
    if (hlo_scan_text(s, "maximal")) {
        p->type = XLA__OP_SHARDING__TYPE__MAXIMAL;
        p->tile_assignment_dimensions = arena_get(a, 1, sizeof *p->tile_assignment_dimensions);
        p->tile_assignment_devices = arena_get(a, 1, sizeof *p->tile_assignment_devices);
        if (!p->tile_assignment_dimensions || !p->tile_assignment_devices)
            return false;
        p->tile_assignment_dimensions[0] = 1;
        p->n_tile_assignment_dimensions = p->n_tile_assignment_devices = 1;
        return hlo_scan_text(s, "device=") && hlo_scan_int(s, p->tile_assignment_devices);
    }
    return take_type(s, &p->type);
}

static bool take_dim(struct arena *a, struct scan *s, Xla__NamedShardingProto *p)
{
    Xla__NamedShardingProto__DimensionSharding *d = arena_get(a, 1, sizeof *d);

    if (!d || !hlo_scan_char(s, '{'))
        return false;
    xla__named_sharding_proto__dimension_sharding__init(d);
    if (!hlo_take_axes(a, s, p->mesh, &d->axes, &d->n_axes))
        return false;
    d->is_closed = !hlo_scan_char(s, '?');
    return hlo_scan_char(s, '}') &&
           hlo_convert_append(a, (void ***)&p->dim_shardings, &p->n_dim_shardings, d);
}

static bool take_all_axes(struct arena *a, const Xla__MeshProto *mesh, Xla__AxisRefProto ***axes,
                          size_t *count)
{
    for (size_t i = 0; i < mesh->n_axes; i++) {
        Xla__AxisRefProto *axis = arena_get(a, 1, sizeof *axis);
        if (!axis)
            return false;
        xla__axis_ref_proto__init(axis);
        axis->mesh_axis_index = (int64_t)i;
        if (!hlo_convert_append(a, (void ***)axes, count, axis))
            return false;
    }
    return true;
}

static bool take_axis_list(struct arena *a, struct scan *s, const Xla__MeshProto *mesh,
                           Xla__AxisRefProto ***axes, size_t *count)
{
    if (!hlo_scan_char(s, '=')) /* the word alone: all axes */
        return take_all_axes(a, mesh, axes, count);
    return hlo_scan_char(s, '{') && hlo_take_axes(a, s, mesh, axes, count) && hlo_scan_char(s, '}');
}

static bool take_named(struct arena *a, struct scan *s, Xla__OpSharding *op)
{
    Xla__NamedShardingProto *p = arena_get(a, 1, sizeof *p);

    if (!p)
        return false;
    xla__named_sharding_proto__init(p);
    op->named_sharding = p;
    op->type = XLA__OP_SHARDING__TYPE__OTHER;
    p->mesh = hlo_take_mesh(a, s);
    if (!p->mesh)
        return false;
    while (hlo_scan_char(s, ',')) {
        bool done;
        if (hlo_scan_char(s, '[')) {
            done = true;
            while (done && !hlo_scan_char(s, ']'))
                done = (!p->n_dim_shardings || hlo_scan_char(s, ',')) && take_dim(a, s, p);
        } else if (hlo_scan_text(s, "replicated")) {
            done = !hlo_scan_peek(s, '=') ||
                   take_axis_list(a, s, p->mesh, &p->replicated_axes, &p->n_replicated_axes);
        } else if (hlo_scan_text(s, "unreduced")) {
            done = take_axis_list(a, s, p->mesh, &p->unreduced_axes, &p->n_unreduced_axes);
        } else if (hlo_scan_text(s, "manual")) {
            done = take_axis_list(a, s, p->mesh, &p->manual_axes, &p->n_manual_axes);
        } else {
            done = hlo_scan_text(s, "metadata=") &&
                   take_metadata_list(a, s, &p->metadata, &p->n_metadata);
        }
        if (!done)
            return false;
    }
    return true;
}

Xla__OpSharding *hlo_take_sharding(struct arena *a, struct scan *s)
{
    Xla__OpSharding *p = arena_get(a, 1, sizeof *p);

    if (!p || !hlo_scan_char(s, '{'))
        return NULL;
    xla__op_sharding__init(p);
    if (hlo_scan_peek(s, '{') || hlo_scan_peek(s, '}')) { /* of a tuple: never deeper than this */
        p->type = XLA__OP_SHARDING__TYPE__TUPLE;
        while (!hlo_scan_char(s, '}')) {
            struct scan ahead = *s;
            bool nested = hlo_scan_char(&ahead, ',')
                              ? hlo_scan_char(&ahead, '{') && hlo_scan_peek(&ahead, '{')
                              : hlo_scan_char(&ahead, '{') && hlo_scan_peek(&ahead, '{');
            if (nested || (p->n_tuple_shardings && !hlo_scan_char(s, ',')) ||
                !hlo_convert_append(a, (void ***)&p->tuple_shardings, &p->n_tuple_shardings,
                                    hlo_take_sharding(a, s)))
                return NULL;
        }
        return p;
    }
    if (hlo_scan_peek(s, 'm')) {
        struct scan ahead = *s;
        if (hlo_scan_text(&ahead, "mesh[") || hlo_scan_text(&ahead, "maximal_mesh["))
            return take_named(a, s, p) && hlo_scan_char(s, '}') ? p : NULL;
    }
    while (!hlo_scan_char(s, '}')) {
        if (!take_part(a, s, p))
            return NULL;
    }
    return p;
}
