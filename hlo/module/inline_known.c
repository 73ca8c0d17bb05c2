#include "hlo/module/inline_known.h"

#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/module/whole_number.h"
#include "hlo/support/mem.h"

#include <string.h>

enum kind { KNOWN_NOTHING, KNOWN_NUMBER, KNOWN_TUPLE, KNOWN_FILLED };

struct inline_known_copy {
    uint8_t kind;
    uint32_t dim;   /* KNOWN_FILLED: the dim that is indexed */
    int64_t number; /* KNOWN_NUMBER; KNOWN_FILLED: the index */
    hlo_id before;  /* KNOWN_FILLED: the array with one slice replaced */
    hlo_id update;  /* by this one */
    size_t parts;   /* KNOWN_TUPLE */
};

/* The index along `dim` of `id`, whose indices begin at operand `first`, held to what there is. */
static bool index_of(const struct inline_known *k, const struct hlo_module *m, hlo_id id,
                     const hlo_id *operands, uint32_t first, uint32_t dim, int64_t *out)
{
    int64_t size = hlo_shape(m, hlo_operand(m, id, 0))->dims[dim];

    if (first + dim >= hlo_at(m, id)->operand_count ||
        hlo_shape(m, hlo_operand(m, id, first + dim))->rank ||
        k->copy[operands[first + dim]].kind != KNOWN_NUMBER)
        return false;
    *out = k->copy[operands[first + dim]].number;
    *out = *out < 0 ? 0 : *out >= size ? size - 1 : *out;
    return true;
}

static void look_at_slice(const struct inline_known *k, const struct hlo_module *m, hlo_id id,
                          hlo_id *operands, hlo_id *same)
{
    hlo_id from = operands[0];
    uint32_t dim = 0;
    int64_t index;

    if (!hlo_slice_dim(hlo_shape(m, hlo_operand(m, id, 0)), hlo_shape(m, id), &dim) ||
        !index_of(k, m, id, operands, 1, dim, &index))
        return;
    while (k->copy[from].kind == KNOWN_FILLED && k->copy[from].dim == dim) {
        if (k->copy[from].number == index) {
            *same = k->copy[from].update;
            return;
        }
        from = k->copy[from].before;
    }
    operands[0] = from;
}

void inline_known_look(const struct inline_known *k, const struct hlo_module *m, hlo_id id,
                       hlo_id *operands, hlo_id *same)
{
    const struct hlo_instruction *i = hlo_at(m, id);

    *same = HLO_NONE;
    if (i->opcode == HLO_OP_GET_TUPLE_ELEMENT && k->copy[operands[0]].kind == KNOWN_TUPLE)
        *same = k->parts[k->copy[operands[0]].parts + i->number];
    else if (i->opcode == HLO_OP_DYNAMIC_SLICE)
        look_at_slice(k, m, id, operands, same);
}

static bool number_of(const struct inline_known *k, const struct hlo_module *m, hlo_id id,
                      const hlo_id *operands, int64_t *out)
{
    int64_t a[HLO_FOLD_OPERANDS_MOST];

    if (!hlo_can_fold(m, id))
        return false;
    for (uint32_t n = 0; n < hlo_at(m, id)->operand_count; n++) {
        if (k->copy[operands[n]].kind != KNOWN_NUMBER)
            return false;
        a[n] = k->copy[operands[n]].number;
    }
    return hlo_fold(m, id, a, out);
}

bool inline_known_add(struct inline_known *k, const struct hlo_module *m, hlo_id id,
                      const hlo_id *operands)
{
    const struct hlo_instruction *i = hlo_at(m, id);
    struct inline_known_copy c = {.before = HLO_NONE, .update = HLO_NONE};

    if (!mem_grow(&k->copy, &k->room, k->count, 1) ||
        !mem_grow(&k->parts, &k->part_room, k->part_count, i->operand_count))
        return false;
    if (i->opcode == HLO_OP_TUPLE) {
        c.kind = KNOWN_TUPLE;
        c.parts = k->part_count;
        for (uint32_t n = 0; n < i->operand_count; n++)
            k->parts[k->part_count++] = operands[n];
    } else if (i->opcode == HLO_OP_DYNAMIC_UPDATE_SLICE &&
               hlo_slice_dim(hlo_shape(m, id), hlo_shape(m, hlo_operand(m, id, 1)), &c.dim) &&
               index_of(k, m, id, operands, 2, c.dim, &c.number)) {
        c.kind = KNOWN_FILLED;
        c.before = operands[0];
        c.update = operands[1];
    } else if (number_of(k, m, id, operands, &c.number)) {
        c.kind = KNOWN_NUMBER;
    }
    k->copy[k->count++] = c;
    return true;
}

void inline_known_release(struct inline_known *k)
{
    free(k->copy);
    free(k->parts);
    memset(k, 0, sizeof *k);
}
