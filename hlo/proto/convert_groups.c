/* Meshes, axes of meshes and replica groups in their three forms: lists, iota, mesh axes. */
#include "hlo/proto/convert.h"
#include "hlo/proto/hlo.pb-c.h"
#include "hlo/support/mem.h"

#include <string.h>

/* ---- mesh['a'=2,'b'=4], device_ids=(...) ---- */

void hlo_print_mesh(const Xla__MeshProto *p, struct str *out)
{
    if (!p->n_axes && p->n_device_ids) {
        str_format(out, "maximal_mesh[device_id=%lld]", (long long)p->device_ids[0]);
        return;
    }
    str_add(out, "mesh[");
    for (size_t i = 0; i < p->n_axes; i++) {
        str_add(out, i ? ",'" : "'");
        hlo_print_escaped(p->axes[i]->name, strlen(p->axes[i]->name), out);
        str_format(out, "'=%lld", (long long)p->axes[i]->size);
    }
    str_add_char(out, ']');
    if (p->iota_transform) {
        const Xla__MeshProto__IotaTransform *t = p->iota_transform;
        str_add(out, ", device_ids=([");
        hlo_print_ints(t->reshape_dims, t->n_reshape_dims, ",", out);
        str_add(out, "]T(");
        hlo_print_ints(t->transpose_perm, t->n_transpose_perm, ",", out);
        str_add(out, "))");
    } else if (p->n_device_ids) {
        str_add(out, ", device_ids=(");
        hlo_print_ints(p->device_ids, p->n_device_ids, ",", out);
        str_add_char(out, ')');
    }
}

/* 'a', or a without quotes as some versions print it. */
static char *take_axis_name(struct arena *a, struct scan *s)
{
    struct scan word;
    size_t size;

    if (hlo_scan_peek(s, '\'') || hlo_scan_peek(s, '"'))
        return hlo_scan_string(s, a, &size);
    return hlo_scan_word(s, &word) ? arena_text(a, word.at, (size_t)(word.end - word.at)) : NULL;
}

static bool take_device_ids(struct arena *a, struct scan *s, Xla__MeshProto *p)
{
    struct scan ahead = *s;

    if (!hlo_scan_char(&ahead, '(') || !hlo_scan_peek(&ahead, '['))
        return hlo_scan_ints(s, a, "(,)", &p->device_ids, &p->n_device_ids);
    *s = ahead;
    Xla__MeshProto__IotaTransform *t = arena_get(a, 1, sizeof *t);
    if (!t)
        return false;
    xla__mesh_proto__iota_transform__init(t);
    p->iota_transform = t;
    return hlo_scan_ints(s, a, "[,]", &t->reshape_dims, &t->n_reshape_dims) &&
           (!hlo_scan_text(s, "T") ||
            hlo_scan_ints(s, a, "(,)", &t->transpose_perm, &t->n_transpose_perm)) &&
           hlo_scan_char(s, ')');
}

Xla__MeshProto *hlo_take_mesh(struct arena *a, struct scan *s)
{
    Xla__MeshProto *p = arena_get(a, 1, sizeof *p);

    if (!p)
        return NULL;
    xla__mesh_proto__init(p);
    if (hlo_scan_text(s, "maximal_mesh[device_id=")) {
        p->device_ids = arena_get(a, 1, sizeof *p->device_ids);
        p->n_device_ids = 1;
        return p->device_ids && hlo_scan_int(s, p->device_ids) && hlo_scan_char(s, ']') ? p : NULL;
    }
    if (!hlo_scan_text(s, "mesh["))
        return NULL;
    while (!hlo_scan_char(s, ']')) {
        Xla__MeshProto__MeshAxis *axis = arena_get(a, 1, sizeof *axis);
        if (!axis || (p->n_axes && !hlo_scan_char(s, ',')))
            return NULL;
        xla__mesh_proto__mesh_axis__init(axis);
        axis->name = take_axis_name(a, s);
        if (!axis->name || !hlo_scan_char(s, '=') || !hlo_scan_int(s, &axis->size) ||
            !hlo_convert_append(a, (void ***)&p->axes, &p->n_axes, axis))
            return NULL;
    }
    struct scan ahead = *s;
    if (hlo_scan_char(&ahead, ',') && hlo_scan_text(&ahead, "device_ids=")) {
        *s = ahead;
        return take_device_ids(a, s, p) ? p : NULL;
    }
    return p;
}

/* Without braces: 'a', 'b':(1)2 */
void hlo_print_axes(const Xla__MeshProto *mesh, Xla__AxisRefProto **axes, size_t count,
                    struct str *out)
{
    for (size_t i = 0; i < count; i++) {
        int64_t n = axes[i]->mesh_axis_index;
        const char *name = mesh && n >= 0 && n < (int64_t)mesh->n_axes ? mesh->axes[n]->name : "?";
        str_add(out, i ? ", '" : "'");
        hlo_print_escaped(name, strlen(name), out);
        str_add_char(out, '\'');
        if (axes[i]->sub_axis_info)
            str_format(out, ":(%lld)%lld", (long long)axes[i]->sub_axis_info->pre_size,
                       (long long)axes[i]->sub_axis_info->size);
    }
}

static Xla__AxisRefProto *take_axis(struct arena *a, struct scan *s, const Xla__MeshProto *mesh)
{
    Xla__AxisRefProto *p = arena_get(a, 1, sizeof *p);
    char *name = take_axis_name(a, s);
    size_t n = 0;

    while (name && n < mesh->n_axes && strcmp(mesh->axes[n]->name, name))
        n++;
    if (!p || !name || n == mesh->n_axes)
        return NULL;
    xla__axis_ref_proto__init(p);
    p->mesh_axis_index = (int64_t)n;
    if (hlo_scan_char(s, ':')) {
        Xla__AxisRefProto__SubAxis *sub = arena_get(a, 1, sizeof *sub);
        if (!sub)
            return NULL;
        xla__axis_ref_proto__sub_axis__init(sub);
        p->sub_axis_info = sub;
        if (!hlo_scan_char(s, '(') || !hlo_scan_int(s, &sub->pre_size) || !hlo_scan_char(s, ')') ||
            !hlo_scan_int(s, &sub->size))
            return NULL;
    }
    return p;
}

/* After `{`: up to `}` or a '?' before it. */
bool hlo_take_axes(struct arena *a, struct scan *s, const Xla__MeshProto *mesh,
                   Xla__AxisRefProto ***out, size_t *count)
{
    if (!mesh)
        return false;
    while (!hlo_scan_peek(s, '}') && !hlo_scan_peek(s, '?')) {
        if (!hlo_convert_append(a, (void ***)out, count, take_axis(a, s, mesh)))
            return false;
        if (!hlo_scan_char(s, ','))
            break;
    }
    return true;
}

/* ---- replica groups ---- */

static void print_lists(Xla__ReplicaGroup **groups, size_t count, struct str *out)
{
    str_add_char(out, '{');
    for (size_t i = 0; i < count; i++) {
        str_add(out, i ? ",{" : "{");
        hlo_print_ints(groups[i]->replica_ids, groups[i]->n_replica_ids, ",", out);
        str_add_char(out, '}');
    }
    str_add_char(out, '}');
}

static void print_iota(const Xla__IotaReplicaGroupListProto *p, struct str *out)
{
    str_format(out, "[%lld,%lld]<=[", (long long)p->num_replica_groups,
               (long long)p->num_devices_per_group);
    hlo_print_ints(p->iota_reshape_dims, p->n_iota_reshape_dims, ",", out);
    str_add_char(out, ']');
    bool identity = true;
    for (size_t i = 0; i < p->n_iota_transpose_perm; i++)
        identity &= p->iota_transpose_perm[i] == (int32_t)i;
    if (identity)
        return;
    str_add(out, "T(");
    for (size_t i = 0; i < p->n_iota_transpose_perm; i++)
        str_format(out, "%s%d", i ? "," : "", p->iota_transpose_perm[i]);
    str_add_char(out, ')');
}

/* Commas without blanks between axes here, unlike in shardings. */
static void print_mesh_groups(const Xla__MeshAxesReplicaGroupListProto *p, struct str *out)
{
    if (p->mesh)
        hlo_print_mesh(p->mesh, out);
    str_add(out, " {");
    for (size_t i = 0; i < p->n_axes; i++) {
        if (i)
            str_add_char(out, ',');
        hlo_print_axes(p->mesh, p->axes + i, 1, out);
    }
    str_add_char(out, '}');
}

void hlo_print_groups(const Xla__HloInstructionProto *p, struct str *out)
{
    const Xla__CollectiveDeviceListProto *list = p->collective_device_list;

    if (p->mesh_axes_replica_group_list)
        print_mesh_groups(p->mesh_axes_replica_group_list, out);
    else if (p->iota_collective_device_list)
        print_iota(p->iota_collective_device_list, out);
    else if (list && list->iota_replica_group_list)
        print_iota(list->iota_replica_group_list, out);
    else if (list)
        print_lists(list->replica_groups, list->n_replica_groups, out);
    else
        print_lists(p->replica_groups, p->n_replica_groups, out);
}

static bool take_lists(struct arena *a, struct scan *s, Xla__HloInstructionProto *p)
{
    Xla__CollectiveDeviceListProto *list = arena_get(a, 1, sizeof *list);

    if (!list || !hlo_scan_char(s, '{'))
        return false;
    xla__collective_device_list_proto__init(list);
    p->collective_device_list = list;
    while (!hlo_scan_char(s, '}')) {
        Xla__ReplicaGroup *group = arena_get(a, 1, sizeof *group);
        if (!group || (list->n_replica_groups && !hlo_scan_char(s, ',')))
            return false;
        xla__replica_group__init(group);
        if (!hlo_scan_ints(s, a, "{,}", &group->replica_ids, &group->n_replica_ids) ||
            !hlo_convert_append(a, (void ***)&list->replica_groups, &list->n_replica_groups, group))
            return false;
    }
    return true;
}

static bool take_iota(struct arena *a, struct scan *s, Xla__HloInstructionProto *p)
{
    Xla__IotaReplicaGroupListProto *list = arena_get(a, 1, sizeof *list);

    if (!list)
        return false;
    xla__iota_replica_group_list_proto__init(list);
    p->iota_collective_device_list = list;
    if (!hlo_scan_char(s, '[') || !hlo_scan_int(s, &list->num_replica_groups) ||
        !hlo_scan_char(s, ',') || !hlo_scan_int(s, &list->num_devices_per_group) ||
        !hlo_scan_text(s, "]<=") ||
        !hlo_scan_ints(s, a, "[,]", &list->iota_reshape_dims, &list->n_iota_reshape_dims))
        return false;
    if (hlo_scan_text(s, "T"))
        return hlo_scan_ints32(s, a, "(,)", &list->iota_transpose_perm,
                               &list->n_iota_transpose_perm);
    size_t rank = list->n_iota_transpose_perm = list->n_iota_reshape_dims;
    list->iota_transpose_perm = arena_get(a, rank + 1, sizeof *list->iota_transpose_perm);
    for (size_t i = 0; i < rank && list->iota_transpose_perm; i++)
        list->iota_transpose_perm[i] = (int32_t)i;
    return list->iota_transpose_perm != NULL;
}

static bool take_mesh_groups(struct arena *a, struct scan *s, Xla__HloInstructionProto *p)
{
    Xla__MeshAxesReplicaGroupListProto *list = arena_get(a, 1, sizeof *list);

    if (!list)
        return false;
    xla__mesh_axes_replica_group_list_proto__init(list);
    p->mesh_axes_replica_group_list = list;
    list->mesh = hlo_take_mesh(a, s);
    return list->mesh && hlo_scan_char(s, '{') &&
           hlo_take_axes(a, s, list->mesh, &list->axes, &list->n_axes) && hlo_scan_char(s, '}');
}

bool hlo_take_groups(struct arena *a, struct scan *s, Xla__HloInstructionProto *p)
{
    if (hlo_scan_peek(s, '{'))
        return take_lists(a, s, p);
    return hlo_scan_peek(s, '[') ? take_iota(a, s, p) : take_mesh_groups(a, s, p);
}
