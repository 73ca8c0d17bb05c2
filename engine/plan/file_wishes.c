#include "engine/plan/file_wishes.h"

#include "engine/cluster/mesh.h"
#include "engine/decide/strict.h"
#include "engine/plan/sharding.h"
#include "engine/problem/setting.h"
#include "hlo/module/attr.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define TILES "{devices=["

/* Tile counts of the dims of an array; false when the sharding has none, or of another rank. */
static bool read_tiles(const struct hlo_module *m, hlo_id id, uint32_t tiles[static HLO_RANK_MAX])
{
    const struct hlo_attr *a = hlo_attr(m, id, HLO_ATTR_SHARDING);
    const struct hlo_shape *s = hlo_shape(m, id);
    size_t at = strlen(TILES);

    if (!a || s->type == HLO_TUPLE || a->size < at || memcmp(a->text, TILES, at) != 0)
        return false;
    for (uint32_t d = 0; d < s->rank; d++) {
        tiles[d] = 0;
        while (at < a->size && a->text[at] >= '0' && a->text[at] <= '9' && tiles[d] < 1U << 20)
            tiles[d] = tiles[d] * 10 + (uint32_t)(a->text[at++] - '0');
        if (!tiles[d] || at == a->size || (a->text[at] != ',' && a->text[at] != ']'))
            return false;
        at++;
    }
    return true;
}

int file_wishes_new(const struct hlo_module *m, struct file_wish **out, size_t *count,
                    struct err *e)
{
    uint32_t tiles[HLO_RANK_MAX];
    size_t room = 0;

    *out = NULL;
    *count = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (hlo_id id = 0; id < m->count; id++) {
            bool is_param = hlo_at(m, id)->opcode == HLO_OP_PARAMETER;
            if (is_param == (pass > 0) || !read_tiles(m, id, tiles))
                continue;
            for (uint32_t d = 0; d < hlo_shape(m, id)->rank; d++) {
                if (tiles[d] < 2)
                    continue;
                if (!mem_grow(out, &room, *count, 1)) {
                    free(*out);
                    *out = NULL;
                    return err_no_memory(e, "for the shardings of the file");
                }
                (*out)[(*count)++] = (struct file_wish){id, d, tiles[d]};
            }
        }
    }
    return 0;
}

/* The first axes, together `parts` devices, that do not meet `taken`; 0: none. */
static label axes_of(const struct cluster_mesh *mesh, uint32_t parts, label taken)
{
    for (uint32_t over = 1; over < 1U << mesh->axes; over++) {
        uint32_t product = 1;
        for (uint32_t x = 0; x < mesh->axes; x++)
            product *= over >> x & 1 ? mesh->axis[x].size : 1;
        if (product == parts && !(over & taken))
            return (label)over;
    }
    return 0;
}

/* The axes of the problem's mesh that a wish of p->m means: those that its sharding tells apart,
 * where that is of a mesh like this one; else those whose product is its parts, the first that are
 * left in the array. 0: this mesh has none. O(devices x axes). */
static label file_wish_label(const struct problem *p, const struct file_wish *w)
{
    const struct hlo_attr *a = hlo_attr(p->m, w->id, HLO_ATTR_SHARDING);
    uint32_t tiles[HLO_RANK_MAX], rank = hlo_shape(p->m, w->id)->rank;
    label over[HLO_RANK_MAX] = {0}, taken = 0;

    if (sharding_read(&p->mesh, a->text, a->size, rank, over))
        return over[w->dim];
    if (!read_tiles(p->m, w->id, tiles))
        return 0;
    for (uint32_t d = 0; d <= w->dim; d++) {
        over[d] = tiles[d] > 1 ? axes_of(&p->mesh, tiles[d], taken) : 0;
        taken |= over[d];
    }
    return over[w->dim];
}

/* "#3" for a parameter of the program, "%NAME" for another value; false when there is no word. */
static bool write_place(const struct problem *p, const struct file_wish *w, bool parameters_alone,
                        struct str *out)
{
    bool is_param = hlo_at(p->m, w->id)->opcode == HLO_OP_PARAMETER &&
                    hlo_at(p->m, w->id)->computation == p->m->entry;

    if (is_param)
        str_format(out, "#%lld", (long long)hlo_at(p->m, w->id)->number);
    else if (!parameters_alone)
        str_format(out, "%%%s", hlo_name(p->m, w->id));
    return is_param || !parameters_alone;
}

int file_wishes_settings(const struct problem *p, bool parameters_alone, struct str *out,
                         uint32_t *kept, uint32_t *refused, struct err *e)
{
    struct file_wish *list = NULL;
    struct str one = {0};
    struct strict s;
    size_t count;

    *kept = *refused = 0;
    int rc = strict_new(&p->labels, &s, e);
    if (rc)
        return rc;
    rc = file_wishes_new(p->m, &list, &count, e);
    if (rc)
        goto out;
    for (size_t k = 0; k < count; k++) {
        label over = file_wish_label(p, &list[k]);
        char axes[MESH_AXES_MOST * (MESH_NAME_ROOM + 1) + 1];
        struct err why = {0};
        str_clear(&one);
        if (!write_place(p, &list[k], parameters_alone, &one))
            continue;
        mesh_set_format(&p->mesh, over, axes, sizeof axes);
        str_format(&one, ":%u=%s", list[k].dim, axes);
        if (one.failed)
            break;
        if (!over || setting_apply(p, &s, one.text, &why))
            (*refused)++;
        else {
            str_add_bytes(out, one.text, one.size + 1);
            (*kept)++;
        }
    }
    if (one.failed || out->failed)
        rc = err_no_memory(e, "for the shardings of the file");
out:
    str_release(&one);
    free(list);
    strict_release(&s);
    return rc;
}
