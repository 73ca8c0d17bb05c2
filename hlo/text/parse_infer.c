/* Text may leave shapes out where XLA can infer them: `s = add(x, y)`. */
#include "hlo/module/build.h"
#include "hlo/module/hlo.h"
#include "hlo/module/infer.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/text/parse.h"

#include <string.h>

static int intern(struct parser *p, const struct hlo_shape_draft *d, hlo_shape_id *out)
{
    return hlo_build_shape(p->b, d, out, p->e);
}

static int intern_array(struct parser *p, const struct hlo_infer *f, uint8_t type,
                        hlo_shape_id *out)
{
    struct hlo_shape_draft d = {
        .type = (enum hlo_type)type, .rank = f->rank, .dims = f->dims, .layout_rest = ""};

    return intern(p, &d, out);
}

static int intern_tuple(struct parser *p, const hlo_shape_id *parts, uint32_t count,
                        hlo_shape_id *out)
{
    struct hlo_shape_draft d = {
        .type = HLO_TUPLE, .layout_rest = "", .parts = parts, .part_count = count};

    return intern(p, &d, out);
}

static int intern_scalar(struct parser *p, enum hlo_type type, hlo_shape_id *out)
{
    struct hlo_shape_draft d = {.type = type, .layout_rest = ""};

    return intern(p, &d, out);
}

static hlo_shape_id shape_of(struct parser *p, const struct hlo_draft *d, uint32_t operand)
{
    return hlo_builder_at(p->b, d->operands[operand])->shape;
}

/* Instructions that hand on what they get, and those of one type only. */
static int infer_moved(struct parser *p, const struct hlo_draft *d, hlo_shape_id *out, bool *found)
{
    const struct hlo_shape *s =
        d->operand_count ? hlo_builder_shape(p->b, shape_of(p, d, 0)) : NULL;

    *found = true;
    switch (d->opcode) {
    case HLO_OP_GET_TUPLE_ELEMENT:
        *found = s && s->type == HLO_TUPLE && d->number < s->part_count;
        *out = *found ? s->parts[d->number] : 0;
        return 0;
    case HLO_OP_COPY:
    case HLO_OP_OPT_BARRIER:
    case HLO_OP_ADD_DEPENDENCY:
    case HLO_OP_DOMAIN:
    case HLO_OP_WHILE:
        *found = s != NULL;
        *out = *found ? shape_of(p, d, 0) : 0;
        return 0;
    case HLO_OP_AFTER_ALL:
        return intern_scalar(p, HLO_TOKEN, out);
    case HLO_OP_PARTITION_ID:
    case HLO_OP_REPLICA_ID:
        return intern_scalar(p, HLO_U32, out);
    case HLO_OP_TUPLE: {
        size_t base = p->part_count;
        if (!mem_grow(&p->parts, &p->part_room, base, d->operand_count))
            return hlo_parse_memory(p);
        for (uint32_t n = 0; n < d->operand_count; n++)
            p->parts[base + n] = shape_of(p, d, n);
        return intern_tuple(p, p->parts + base, d->operand_count, out);
    }
    default:
        *found = false;
        return 0;
    }
}

static int infer_arrays(struct parser *p, const struct hlo_draft *d,
                        const struct hlo_shape **shapes, hlo_shape_id *out, bool *found)
{
    struct hlo_infer f;
    struct err e;
    hlo_shape_id part;

    f.opcode = d->opcode;
    f.operands = shapes;
    f.operand_count = d->operand_count;
    f.attrs = d->attrs;
    f.attr_count = d->attr_count;
    f.declared = NULL;
    f.e = &e;
    if (hlo_infer(&f))
        return err_set(p->e, ERR_INPUT, "%s", e.what);
    *found = f.claim == HLO_INFER_ARRAY || f.claim == HLO_INFER_INPUTS ||
             (f.claim == HLO_INFER_DIMS && d->opcode != HLO_OP_CONVERT);
    if (!*found)
        return 0;
    if (f.claim != HLO_INFER_INPUTS || f.inputs == 1)
        return intern_array(p, &f, f.claim == HLO_INFER_ARRAY ? f.type : shapes[0]->type, out);
    size_t base = p->part_count;
    if (!mem_grow(&p->parts, &p->part_room, base, f.inputs))
        return hlo_parse_memory(p);
    for (uint32_t n = 0; n < f.inputs; n++) {
        if (intern_array(p, &f, hlo_builder_shape(p->b, shape_of(p, d, n))->type, &part))
            return p->e->code;
        p->parts[base + n] = part;
    }
    return intern_tuple(p, p->parts + base, f.inputs, out);
}

int hlo_parse_infer(struct parser *p, struct hlo_draft *d)
{
    const char *at = p->input + d->at;
    bool found = false;

    for (uint32_t n = 0; n < d->operand_count; n++) {
        if (d->operands[n] == HLO_NONE)
            return hlo_parse_fail(
                p, at, "no shape, and an operand that is defined later: expected a shape");
    }
    int rc = infer_moved(p, d, &d->shape, &found);
    if (rc)
        goto out;
    if (!found && d->opcode != HLO_OP_UNKNOWN) {
        const struct hlo_shape **shapes = mem_try(d->operand_count, sizeof *shapes);
        if (!shapes)
            return hlo_parse_memory(p);
        for (uint32_t n = 0; n < d->operand_count; n++)
            shapes[n] = hlo_builder_shape(p->b, shape_of(p, d, n));
        int arity = hlo_op_info[d->opcode].arity;
        if (arity < 0 || d->operand_count == (uint32_t)arity)
            rc = infer_arrays(p, d, shapes, &d->shape, &found);
        free(shapes);
    }
    if (rc)
        goto out;
    if (!found)
        return hlo_parse_fail(p, at,
                              "no shape, and none that follows from the operands: expected one "
                              "before the opcode, such as f32[2,3]");
out:
    return hlo_parse_place(p, at, rc);
}
