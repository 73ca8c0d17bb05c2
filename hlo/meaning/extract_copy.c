#include "hlo/meaning/extract_internal.h"

#include "hlo/module/attr.h"
#include "hlo/module/build.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <string.h>

int extract_add_draft(struct extractor *x, const struct hlo_draft *d, hlo_value of, hlo_id *out)
{
    if (!mem_grow(&x->of, &x->of_room, x->of_count, 1))
        return err_no_memory(x->e, EXTRACT_MEMORY);
    int rc = hlo_build_instruction(x->b, d, out, x->e);
    if (rc)
        return rc;
    hlo_builder_at(x->b, *out)->line = *out; /* survives the sorting of finish */
    x->of[x->of_count++] = x->is_annotated ? of : HLO_NONE;
    return 0;
}

int extract_set_called(struct extractor *x, hlo_id id, struct hlo_draft *d)
{
    d->called_count = hlo_at(x->m, id)->called_count;
    if (!mem_grow(&x->called, &x->called_room, 0, (size_t)d->called_count + 1))
        return err_no_memory(x->e, EXTRACT_MEMORY);
    for (uint32_t n = 0; n < d->called_count; n++)
        x->called[n] = x->computation[hlo_called(x->m, id, n)];
    d->called = x->called;
    return 0;
}

struct hlo_draft extract_draft_of(const struct extractor *x, hlo_id id)
{
    const struct hlo_instruction *i = hlo_at(x->m, id);
    const struct hlo_text *literal = &x->m->literals[i->literal];
    struct hlo_draft d = {.opcode = i->opcode,
                          .name = hlo_name(x->m, id),
                          .name_size = (uint32_t)strlen(hlo_name(x->m, id)),
                          .number = i->number,
                          .at = SIZE_MAX};

    if (i->literal) {
        d.literal = literal->text;
        d.literal_size = literal->size;
    }
    return d;
}

int extract_set_attrs(struct extractor *x, hlo_id id, struct hlo_draft *d, struct hlo_attr *list,
                      uint32_t room)
{
    const struct hlo_instruction *i = hlo_at(x->m, id);
    const struct hlo_attr *attrs = x->m->attr_pool + i->attrs;

    d->attrs = list;
    for (uint32_t n = 0; n < i->attr_count; n++) {
        if (attrs[n].key == HLO_ATTR_SHARDING || attrs[n].key == HLO_ATTR_METADATA ||
            attrs[n].key == HLO_ATTR_ORIGIN)
            continue;
        if (d->attr_count == room)
            return extract_refuse(x, id, "it has too many attributes");
        list[d->attr_count++] = attrs[n];
    }
    return 0;
}

int extract_copy_applied(struct extractor *x, hlo_comp from)
{
    const struct hlo_computation *c = &x->m->computations[from];
    int rc = hlo_build_computation(x->b, c->name, strlen(c->name), &x->computation[from], x->e);
    hlo_id base = HLO_NONE;

    x->is_annotated = false;
    for (hlo_id id = c->first; id < c->first + c->count; id++) {
        if (rc)
            return rc;
        struct hlo_attr attrs[32];
        struct hlo_draft d = extract_draft_of(x, id);
        hlo_id made = HLO_NONE;
        d.computation = x->computation[from];
        d.is_root = id == c->root;
        d.operand_count = hlo_at(x->m, id)->operand_count;
        if (!mem_grow(&x->operands, &x->operand_room, 0, (size_t)d.operand_count + 1))
            return err_no_memory(x->e, EXTRACT_MEMORY);
        for (uint32_t n = 0; n < d.operand_count; n++)
            x->operands[n] = base + (hlo_operand(x->m, id, n) - c->first);
        d.operands = x->operands;
        rc = extract_copy_shape(x, hlo_at(x->m, id)->shape, &d.shape);
        rc = rc ? rc : extract_set_called(x, id, &d);
        rc = rc ? rc : extract_set_attrs(x, id, &d, attrs, sizeof attrs / sizeof *attrs);
        rc = rc ? rc : extract_add_draft(x, &d, HLO_NONE, &made);
        base = id == c->first ? made : base;
    }
    return rc;
}
