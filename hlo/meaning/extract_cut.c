#include "hlo/meaning/extract_internal.h"

#include "hlo/meaning/extract.h"
#include "hlo/meaning/factors.h"
#include "hlo/module/attr.h"
#include "hlo/module/build.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

/* ---- sizes ---- */

uint64_t extract_cut_of(const struct extractor *x, hlo_value v)
{
    uint64_t cut = 0;

    if (x->part->cut <= 1 || x->part->is_free[v])
        return 0;
    for (uint32_t d = 0; d < hlo_value_shape(x->m, v)->rank; d++)
        if (x->part->is_cut(x->part->context, v, d))
            cut |= (uint64_t)1 << d;
    return cut;
}

int extract_build_array(struct extractor *x, hlo_id id, const struct hlo_shape *s, uint64_t cut,
                        hlo_shape_id *out)
{
    int64_t dims[HLO_RANK_MAX];

    for (uint32_t d = 0; d < s->rank; d++) {
        dims[d] = s->dims[d];
        if (!(cut >> d & 1))
            continue;
        if (dims[d] % x->part->cut)
            return extract_refuse(x, id,
                                  "a dim of it does not divide by the number of micro-batches");
        dims[d] /= x->part->cut;
    }
    struct hlo_shape_draft draft = hlo_draft_of_shape(s, dims, NULL);
    return hlo_build_shape(x->b, &draft, out, x->e);
}

int extract_build_shape(struct extractor *x, hlo_id id, const struct hlo_shape *s, hlo_value first,
                        uint64_t cut, hlo_shape_id *out)
{
    int rc = 0;

    if (extract_is_array(s))
        return extract_build_array(x, id, s, cut | extract_cut_of(x, first), out);
    if (s->type != HLO_TUPLE)
        return extract_refuse(x, id, "it is about a buffer");
    hlo_shape_id *parts = mem_try((size_t)s->part_count + 1, sizeof *parts);
    if (!parts)
        return err_no_memory(x->e, EXTRACT_MEMORY);
    for (uint32_t n = 0; n < s->part_count && !rc; n++)
        rc = extract_build_shape(x, id, &x->m->shapes[s->parts[n]], first + s->part_leaf[n], 0,
                                 &parts[n]);
    struct hlo_shape_draft draft = {.type = HLO_TUPLE, .parts = parts, .part_count = s->part_count};
    rc = rc ? rc : hlo_build_shape(x->b, &draft, out, x->e);
    free(parts);
    return rc;
}

int extract_copy_shape(struct extractor *x, hlo_shape_id id, hlo_shape_id *out)
{
    const struct hlo_shape *s = &x->m->shapes[id];
    hlo_shape_id *parts = mem_try((size_t)s->part_count + 1, sizeof *parts);
    int rc = parts ? 0 : err_no_memory(x->e, EXTRACT_MEMORY);

    for (uint32_t n = 0; n < s->part_count && !rc; n++)
        rc = extract_copy_shape(x, s->parts[n], &parts[n]);
    struct hlo_shape_draft draft = hlo_draft_of_shape(s, s->dims, parts);
    rc = rc ? rc : hlo_build_shape(x->b, &draft, out, x->e);
    free(parts);
    return rc;
}

/* ---- operands of free values ---- */

/* Dims of operand leaf `leaf` of `id` that are cut, when the loop indices that `cut` tells of its
 * result (free), or its other leaves, are. The factors are those of `id`. */
static uint64_t cut_of_operand(const struct extractor *x, hlo_id id, uint32_t leaf, bool is_free,
                               uint64_t cut)
{
    const struct hlo_factors *f = &x->factors;
    uint64_t out = 0;

    for (uint32_t k = 0; k < f->count; k++) {
        const int8_t *dims = f->items[k].dims;
        bool is_cut = false;
        for (uint32_t l = 0; l < f->leaf_count && dims[leaf] >= 0 && !is_cut; l++) {
            hlo_value v = hlo_factors_value(x->m, id, l);
            if (dims[l] < 0 || (is_free ? l < f->operand_leaves : x->part->is_free[v]))
                continue;
            is_cut = (is_free ? cut : extract_cut_of(x, v)) >> dims[l] & 1;
        }
        if (is_cut)
            out |= (uint64_t)1 << dims[leaf];
    }
    return out;
}

/* Leaf of operand n, as hlo_factors numbers them. */
static uint32_t leaf_of_operand(const struct hlo_module *m, hlo_id id, uint32_t n)
{
    uint32_t leaf = 0;

    for (uint32_t k = 0; k < n; k++)
        leaf += hlo_shape(m, hlo_operand(m, id, k))->leaf_count;
    return leaf;
}

uint64_t extract_operand_cut(const struct extractor *x, hlo_id id, uint32_t n, bool is_free,
                             uint64_t cut)
{
    if (x->part->cut <= 1)
        return 0;
    return cut_of_operand(x, id, leaf_of_operand(x->m, id, n), is_free, cut);
}

/* ---- attributes that name sizes ---- */

static int keep_text(struct extractor *x, struct str *text, struct hlo_attr *out)
{
    struct arena *arena = &hlo_builder_module(x->b)->arena;
    char *copy = text->failed ? NULL : arena_text(arena, text->text, text->size);

    if (copy) {
        out->text = copy;
        out->size = (uint32_t)text->size;
    }
    str_release(text);
    return copy ? 0 : err_no_memory(x->e, EXTRACT_MEMORY);
}

/* Sizes along `whole`, where a size that was the whole dim is the new whole one. A gather that
 * takes less goes by rows of the batch, each by itself. */
static int cut_sizes(struct extractor *x, hlo_id id, const struct hlo_shape *whole, uint64_t cut,
                     struct hlo_attr *a)
{
    int64_t sizes[HLO_RANK_MAX];
    size_t count;
    struct str text = {0};

    if (!hlo_parse_ints(a->text, a->size, sizes, HLO_RANK_MAX, &count) || count != whole->rank)
        return extract_refuse(x, id, "its sizes cannot be read");
    for (uint32_t d = 0; d < count; d++) {
        if (cut >> d & 1 && sizes[d] == whole->dims[d])
            sizes[d] /= x->part->cut;
        else if (cut >> d & 1 && a->key == HLO_ATTR_DYNAMIC_SLICE_SIZES)
            return extract_refuse(x, id, "it takes a part of a dim that is cut into micro-batches");
        str_add(&text, d ? "," : "{");
        str_add_int(&text, sizes[d]);
    }
    str_add(&text, count ? "}" : "{}");
    return keep_text(x, &text, a);
}

static int cut_slices(struct extractor *x, hlo_id id, const struct hlo_shape *whole, uint64_t cut,
                      struct hlo_attr *a)
{
    int64_t part[HLO_RANK_MAX][3];
    size_t count;
    struct str text = {0};

    if (!hlo_parse_slices(a->text, a->size, part, HLO_RANK_MAX, &count) || count != whole->rank)
        return extract_refuse(x, id, "its slices cannot be read");
    for (uint32_t d = 0; d < count; d++) {
        bool is_whole = part[d][0] == 0 && part[d][1] == whole->dims[d] && part[d][2] == 1;
        if (cut >> d & 1 && !is_whole)
            return extract_refuse(x, id, "it takes a part of a dim that is cut into micro-batches");
        if (cut >> d & 1)
            part[d][1] /= x->part->cut;
        str_format(&text, "%s[%lld:%lld:%lld]", d ? ", " : "{", (long long)part[d][0],
                   (long long)part[d][1], (long long)part[d][2]);
    }
    str_add(&text, count ? "}" : "{}");
    return keep_text(x, &text, a);
}

int extract_cut_attrs(struct extractor *x, hlo_id id, bool is_free, uint64_t cut,
                      struct hlo_draft *d, struct hlo_attr *list)
{
    const struct hlo_module *m = x->m;
    hlo_id o = d->operand_count ? hlo_operand(m, id, 0) : HLO_NONE;
    hlo_value v = o == HLO_NONE ? HLO_NONE : hlo_extract_source(m, m->leaf_base[o]);
    int rc = 0;

    if (x->part->cut <= 1)
        return 0;
    if (d->opcode == HLO_OP_CONSTANT && cut && d->literal_size && d->literal[0] == '{')
        return extract_refuse(x, id, "a constant with values of its own is cut into micro-batches");
    for (uint32_t n = 0; n < d->attr_count; n++) {
        uint64_t of = v == HLO_NONE         ? 0
                      : x->part->is_free[v] ? extract_operand_cut(x, id, 0, is_free, cut)
                                            : extract_cut_of(x, v);
        if (list[n].key == HLO_ATTR_SLICE && of)
            rc = cut_slices(x, id, hlo_value_shape(m, v), of, &list[n]);
        else if ((list[n].key == HLO_ATTR_DYNAMIC_SLICE_SIZES ||
                  list[n].key == HLO_ATTR_SLICE_SIZES) &&
                 of)
            rc = cut_sizes(x, id, hlo_value_shape(m, v), of, &list[n]);
        if (rc)
            return rc;
    }
    return rc;
}
