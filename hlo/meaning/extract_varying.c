/* hlo/meaning/extract_varying.c - free values that are not the same for every part of the batch:
 * random bits, positions in the batch, constants with a value for each sample. */
#include "hlo/meaning/extract_internal.h"

#include "hlo/meaning/extract.h"
#include "hlo/meaning/factors.h"
#include "hlo/module/attr.h"
#include "hlo/module/flows.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

static uint64_t all_dims(const struct hlo_shape *s)
{
    return s->rank ? UINT64_MAX >> (HLO_RANK_MAX - s->rank) : 0;
}

/* As if nothing were known of it. */
static void set_all(struct extractor *x, hlo_id id)
{
    for (hlo_value v = x->m->leaf_base[id]; v < x->m->leaf_base[id + 1]; v++)
        x->varies[v] = all_dims(hlo_value_shape(x->m, v));
}

/* The result is the same all along a dim whose loop index runs over the whole of it, when every
 * operand is along its own dim of that index. The factors are those of `id`. */
static bool is_same_along(const struct extractor *x, hlo_id id, uint32_t result, uint32_t dim)
{
    const struct hlo_factors *f = &x->factors;
    int64_t size = hlo_value_shape(x->m, hlo_factors_value(x->m, id, result))->dims[dim];

    for (uint32_t k = 0; k < f->count; k++) {
        const struct hlo_factor *i = &f->items[k];
        if (i->dims[result] != (int8_t)dim)
            continue;
        if (i->kind != HLO_FACTOR_PASS || i->size != size)
            return false;
        for (uint32_t leaf = 0; leaf < f->operand_leaves; leaf++) {
            hlo_value v = hlo_extract_source(x->m, hlo_factors_value(x->m, id, leaf));
            if (i->dims[leaf] >= 0 && x->varies[v] >> i->dims[leaf] & 1)
                return false;
        }
        return true;
    }
    return false;
}

static int find_of(struct extractor *x, hlo_id id)
{
    const struct hlo_module *m = x->m;
    const struct hlo_instruction *i = hlo_at(m, id);
    const struct hlo_text *literal = &m->literals[i->literal];
    hlo_value v = m->leaf_base[id];
    int rc = 0;

    set_all(x, id);
    if (i->opcode == HLO_OP_PARAMETER || hlo_extract_holds(m, id) || m->leaf_base[id + 1] != v + 1)
        return 0;
    if (i->opcode == HLO_OP_CONSTANT) {
        if (!literal->size || literal->text[0] != '{')
            x->varies[v] = 0;
        return 0;
    }
    if (i->opcode == HLO_OP_IOTA) {
        x->varies[v] = (uint64_t)1 << hlo_attr_int(m, id, HLO_ATTR_IOTA_DIMENSION, 0);
        return 0;
    }
    rc = hlo_factors_of(m, id, &x->factors, x->e);
    for (uint32_t d = 0; d < hlo_value_shape(m, v)->rank && !rc; d++)
        if (is_same_along(x, id, x->factors.operand_leaves, d))
            x->varies[v] &= ~((uint64_t)1 << d);
    return rc;
}

int extract_find_varying(struct extractor *x)
{
    const struct hlo_module *m = x->m;
    int rc = 0;

    x->varies = mem_try(m->value_count, sizeof *x->varies);
    if (!x->varies)
        return err_no_memory(x->e, EXTRACT_MEMORY);
    for (hlo_id id = 0; id < m->count && x->part->cut > 1 && !rc; id++)
        if (m->leaf_base[id] < m->leaf_base[id + 1])
            rc = find_of(x, id);
    return rc;
}

int extract_want_part(struct extractor *x, hlo_value v, uint64_t cut)
{
    hlo_id id = x->m->value_instruction[v];

    if (hlo_at(x->m, id)->computation != x->m->entry)
        return extract_refuse(x, id,
                              "it is another for every sample and made inside a loop or a branch");
    if (!x->parts)
        return extract_refuse(x, id, "it is another for every sample and does not come in");
    if (cut & (cut - 1) || (x->parts[v] && x->parts[v] != cut))
        return extract_refuse(x, id, "it is another for every sample along several dims");
    x->parts[v] = cut;
    return 0;
}

int hlo_extract_parts(const struct hlo_module *m, const struct hlo_part *part, uint64_t *cut,
                      struct err *e)
{
    struct extractor x = {.m = m, .part = part, .e = e, .parts = cut};
    int rc = extract_prepare(&x);

    for (hlo_value v = 0; v < m->value_count; v++)
        cut[v] = 0;
    rc = rc ? rc : extract_want_all(&x);
    extract_release(&x);
    return rc;
}
