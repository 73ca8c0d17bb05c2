#include "engine/decide/labels.h"

#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <string.h>

static bool is_admissible(const struct labels *l, class_id id, int64_t parts, bool exact)
{
    const struct class_info *k = &l->classes->info[id];

    if (parts == 1)
        return true;
    if (k->reason != CLASS_ALLOWED || parts > label_size(l, id, k->least))
        return false;
    if (exact && label_size(l, id, k->divisor) % parts)
        return false;
    return !k->group_divisor || k->group_divisor % parts == 0;
}

enum { SIZES_MOST = 64 }; /* distinct dim sizes looked at per class; more only makes kinds rarer */

/* Distinct sizes of a class's dims, in order of appearance; false when there are too many. */
static bool distinct_sizes(const struct classes *c, class_id k, int64_t *sizes, uint32_t *count)
{
    const struct class_info *info = &c->info[k];

    *count = 0;
    for (uint32_t n = 0; n < info->dim_count; n++) {
        dim_id d = c->members[info->dims + n];
        hlo_value v = c->dim_value[d];
        int64_t size = hlo_value_shape(c->m, v)->dims[d - c->dim_base[v]];
        uint32_t at = 0;
        while (at < *count && sizes[at] != size)
            at++;
        if (at < *count)
            continue;
        if (*count == SIZES_MOST)
            return false;
        sizes[(*count)++] = size;
    }
    return true;
}

static void fill_shares(const struct labels *l, class_id k, double *share)
{
    int64_t sizes[SIZES_MOST];
    uint32_t count;
    bool all = distinct_sizes(l->classes, k, sizes, &count);

    for (uint32_t a = 0; a < l->count; a++) {
        share[a] = label_part(l, k, 0, l->classes->info[k].least);
        if (!label_is_admissible(l, k, (label)a))
            continue;
        share[a] = all ? 0 : label_part(l, k, (label)a, l->classes->info[k].least);
        for (uint32_t n = 0; n < count; n++) {
            double p = label_part(l, k, (label)a, sizes[n]);
            if (p > share[a])
                share[a] = p;
        }
    }
}

/* The number of the kind with this row of shares; added when it is new. */
static bool find_kind(struct labels *l, size_t *room, const double *shares, uint32_t *kind)
{
    size_t row = l->count;

    for (*kind = 0; *kind < l->kind_count; ++*kind) {
        if (!memcmp(l->share + *kind * row, shares, row * sizeof *shares))
            return true;
    }
    if (!mem_grow(&l->share, room, *kind * row, row))
        return false;
    memcpy(l->share + *kind * row, shares, row * sizeof *shares);
    l->kind_count++;
    return true;
}

/* Classes with equal rows share one kind; kind 0 is that of the unsplittable. */
static int number_kinds(struct labels *l, struct err *e)
{
    double shares[MESH_SETS_MOST];
    size_t room = 0;
    uint32_t none;

    for (uint32_t a = 0; a < l->count; a++)
        shares[a] = 1;
    bool ok = find_kind(l, &room, shares, &none);
    for (class_id k = 0; k < l->classes->count && ok; k++) {
        if (!label_is_splittable(l, k) &&
            label_size(l, k, l->classes->info[k].divisor) == l->classes->info[k].divisor)
            continue;
        fill_shares(l, k, shares);
        ok = find_kind(l, &room, shares, &l->kind[k]);
    }
    return ok ? 0 : err_no_memory(e, "for the labels of this module");
}

int labels_new(const struct classes *c, const struct cluster_mesh *mesh, bool exact,
               const struct label_cut *cut, struct labels *out, struct err *e)
{
    struct labels l = {.classes = c,
                       .axes = mesh->axes,
                       .count = 1u << mesh->axes,
                       .cut = cut->class,
                       .cuts = cut->cuts,
                       .size = cut->size,
                       .of = cut->of};
    uint32_t idle = 0; /* axes of one device: they split nothing, no label holds them */

    for (uint32_t a = 0; a < l.count; a++)
        l.parts[a] = a ? mesh->span[a].devices : 1;
    l.admissible = mem_try(c->count, sizeof *l.admissible);
    l.kind = mem_try(c->count, sizeof *l.kind);
    if (!l.admissible || !l.kind) {
        labels_release(&l);
        return err_no_memory(e, "for the labels of this module");
    }
    for (uint32_t x = 0; x < mesh->axes; x++)
        idle |= mesh->axis[x].size < 2 ? 1u << x : 0;
    for (class_id k = 0; k < c->count; k++) {
        for (uint32_t a = 0; a < l.count; a++) {
            if (!(a & idle) && is_admissible(&l, k, l.parts[a], exact))
                l.admissible[k] |= (uint64_t)1 << a;
        }
    }
    int rc = number_kinds(&l, e);
    if (rc)
        labels_release(&l);
    else
        *out = l;
    return rc;
}

void labels_release(struct labels *l)
{
    free(l->admissible);
    free(l->kind);
    free(l->share);
    memset(l, 0, sizeof *l);
}
