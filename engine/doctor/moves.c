/* From an instruction to what it takes, past what only moves values. */
#include "engine/doctor/moves.h"

#include "hlo/module/attr.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"

enum { STEPS_MOST = 24 };

bool moves_only(const struct hlo_module *m, hlo_id id)
{
    switch (hlo_at(m, id)->opcode) {
    case HLO_OP_COPY:
    case HLO_OP_RESHAPE:
    case HLO_OP_TRANSPOSE:
    case HLO_OP_BITCAST:
    case HLO_OP_BITCAST_CONVERT:
    case HLO_OP_CONVERT:
    case HLO_OP_GET_TUPLE_ELEMENT:
    case HLO_OP_OPT_BARRIER:
        return hlo_at(m, id)->operand_count > 0;
    case HLO_OP_BROADCAST: /* to its own size */
        return hlo_at(m, id)->operand_count > 0 &&
               hlo_shape(m, id)->bytes == hlo_shape(m, hlo_operand(m, id, 0))->bytes;
    default:
        return false;
    }
}

/* A fusion stands for what its computation holds. */
bool moves_holds(const struct hlo_module *m, hlo_id id, enum hlo_opcode opcode)
{
    const struct hlo_instruction *i = hlo_at(m, id);

    if (i->opcode != HLO_OP_FUSION || !i->called_count)
        return i->opcode == opcode;
    const struct hlo_computation *c = &m->computations[hlo_called(m, id, 0)];
    for (uint32_t k = 0; k < c->count; k++) {
        if (hlo_at(m, c->first + k)->opcode == opcode)
            return true;
    }
    return false;
}

/* A fusion of moves alone, or of those and slices. */
bool moves_fusion(const struct hlo_module *m, hlo_id id, bool slices)
{
    const struct hlo_instruction *i = hlo_at(m, id);

    if (i->opcode != HLO_OP_FUSION || i->operand_count != 1 || !i->called_count)
        return false;
    const struct hlo_computation *c = &m->computations[hlo_called(m, id, 0)];
    for (uint32_t k = 0; k < c->count; k++) {
        hlo_id inner = c->first + k;
        if (hlo_at(m, inner)->opcode != HLO_OP_PARAMETER && !moves_only(m, inner) &&
            !(slices && hlo_at(m, inner)->opcode == HLO_OP_SLICE))
            return false;
    }
    return true;
}

/* What an element was taken out of, seen through barriers; a tuple's element itself. */
static hlo_id element_of(const struct hlo_module *m, hlo_id id)
{
    hlo_id whole = hlo_operand(m, id, 0);

    while (hlo_at(m, whole)->opcode == HLO_OP_OPT_BARRIER && hlo_at(m, whole)->operand_count)
        whole = hlo_operand(m, whole, 0);
    if (hlo_at(m, whole)->opcode == HLO_OP_TUPLE &&
        hlo_at(m, id)->number < hlo_at(m, whole)->operand_count)
        return hlo_operand(m, whole, hlo_at(m, id)->number);
    return whole;
}

hlo_id moves_up(const struct hlo_module *m, hlo_id id)
{
    for (int n = 0; n < STEPS_MOST && (moves_only(m, id) || moves_fusion(m, id, false)); n++)
        id = hlo_at(m, id)->opcode == HLO_OP_GET_TUPLE_ELEMENT ? element_of(m, id)
                                                               : hlo_operand(m, id, 0);
    return id;
}

/* The fusion that an instruction stands in; HLO_NONE. */
hlo_id moves_fusion_of(const struct hlo_module *m, hlo_id id)
{
    const struct hlo_computation *c = &m->computations[hlo_at(m, id)->computation];

    return c->caller_count == 1 && hlo_at(m, c->callers[0])->opcode == HLO_OP_FUSION ? c->callers[0]
                                                                                     : HLO_NONE;
}

hlo_id moves_inner(const struct hlo_module *m, hlo_id id, enum hlo_opcode opcode)
{
    const struct hlo_instruction *i = hlo_at(m, id);

    if (i->opcode != HLO_OP_FUSION || !i->called_count)
        return i->opcode == opcode ? id : HLO_NONE;
    const struct hlo_computation *c = &m->computations[hlo_called(m, id, 0)];
    for (uint32_t k = 0; k < c->count; k++) {
        if (hlo_at(m, c->first + k)->opcode == opcode)
            return c->first + k;
    }
    return HLO_NONE;
}

bool moves_adds(const struct hlo_module *m, hlo_id id)
{
    return !hlo_at(m, id)->called_count ||
           hlo_at(m, m->computations[hlo_called(m, id, 0)].root)->opcode == HLO_OP_ADD;
}

hlo_id moves_operand(const struct hlo_module *m, hlo_id id, uint32_t n)
{
    hlo_id at = moves_up(m, hlo_operand(m, id, n));

    for (int k = 0; k < STEPS_MOST && hlo_at(m, at)->opcode == HLO_OP_PARAMETER; k++) {
        hlo_id fusion = moves_fusion_of(m, at);
        if (fusion == HLO_NONE || hlo_at(m, at)->number >= hlo_at(m, fusion)->operand_count)
            break;
        at = moves_up(m, hlo_operand(m, fusion, hlo_at(m, at)->number));
    }
    return at;
}

hlo_id moves_sliced(const struct hlo_module *m, hlo_id id)
{
    hlo_id best = hlo_operand(m, id, 0);

    for (uint32_t n = 1; hlo_at(m, id)->opcode == HLO_OP_FUSION && n < hlo_at(m, id)->operand_count;
         n++) {
        hlo_id operand = hlo_operand(m, id, n);
        if (hlo_shape(m, operand)->bytes > hlo_shape(m, best)->bytes)
            best = operand;
    }
    return best;
}

/* What a parameter of a fusion is outside; itself: another parameter. */
static hlo_id given_of(const struct hlo_module *m, hlo_id id)
{
    hlo_id fusion = hlo_at(m, id)->opcode == HLO_OP_PARAMETER ? moves_fusion_of(m, id) : HLO_NONE;

    return fusion != HLO_NONE && hlo_at(m, id)->number < hlo_at(m, fusion)->operand_count
               ? hlo_operand(m, fusion, hlo_at(m, id)->number)
               : id;
}

/* moves_out; *number: of the last element that was taken. */
static hlo_id out_of(const struct hlo_module *m, hlo_id id, uint32_t *number)
{
    id = given_of(m, id);
    for (int n = 0; n < STEPS_MOST && (moves_only(m, id) || moves_fusion(m, id, false)); n++) {
        if (hlo_at(m, id)->opcode != HLO_OP_GET_TUPLE_ELEMENT) {
            id = given_of(m, hlo_operand(m, id, 0));
            continue;
        }
        *number = hlo_at(m, id)->number;
        id = element_of(m, id);
        const struct hlo_computation *c = &m->computations[hlo_at(m, id)->computation];
        if (hlo_at(m, id)->opcode != HLO_OP_PARAMETER || hlo_shape(m, id)->type != HLO_TUPLE ||
            c->caller_count != 1 || hlo_at(m, c->callers[0])->opcode != HLO_OP_WHILE)
            continue;
        id = hlo_operand(m, c->callers[0], 0);
        if (hlo_at(m, id)->opcode != HLO_OP_TUPLE || *number >= hlo_at(m, id)->operand_count)
            break;
        id = hlo_operand(m, id, *number);
    }
    return id;
}

hlo_id moves_out(const struct hlo_module *m, hlo_id id)
{
    uint32_t number = 0;

    return out_of(m, id, &number);
}

hlo_id moves_kept(const struct hlo_module *m, hlo_id id)
{
    uint32_t number = 0;
    hlo_id loop = out_of(m, id, &number);

    for (uint32_t n = 0;
         hlo_at(m, loop)->opcode == HLO_OP_WHILE && n < hlo_at(m, loop)->called_count; n++) {
        hlo_id root = m->computations[hlo_called(m, loop, n)].root;
        if (hlo_at(m, root)->opcode != HLO_OP_TUPLE || number >= hlo_at(m, root)->operand_count)
            continue;
        hlo_id row =
            moves_inner(m, moves_up(m, hlo_operand(m, root, number)), HLO_OP_DYNAMIC_UPDATE_SLICE);
        if (row != HLO_NONE)
            return out_of(m, moves_operand(m, row, 1), &number);
    }
    return loop;
}

bool moves_by_partition(const struct hlo_module *m, hlo_id id, int depth, uint32_t *visits)
{
    if (!*visits)
        return false;
    --*visits;
    if (hlo_at(m, id)->opcode == HLO_OP_GET_TUPLE_ELEMENT)
        id = moves_out(m, id); /* compiled, what does not change in a loop is computed before it */
    uint16_t opcode = hlo_at(m, id)->opcode;

    if (opcode == HLO_OP_PARTITION_ID || moves_holds(m, id, HLO_OP_PARTITION_ID))
        return true;
    if (!depth || opcode == HLO_OP_PARAMETER || opcode == HLO_OP_CONSTANT)
        return false;
    for (uint32_t n = 0; n < hlo_at(m, id)->operand_count && n < 8; n++) {
        if (moves_by_partition(m, hlo_operand(m, id, n), depth - 1, visits))
            return true;
    }
    return false;
}

bool moves_cuts(const struct hlo_module *m, hlo_id user)
{
    const struct hlo_instruction *i = hlo_at(m, user);
    uint32_t visits = MOVES_VISITS_MOST;

    if (!moves_holds(m, user, HLO_OP_DYNAMIC_SLICE))
        return false;
    for (uint32_t n = i->opcode == HLO_OP_FUSION ? 0 : 1; n < i->operand_count; n++) {
        if (moves_by_partition(m, hlo_operand(m, user, n), 6, &visits))
            return true;
    }
    return i->opcode == HLO_OP_FUSION && moves_holds(m, user, HLO_OP_PARTITION_ID);
}

/* A broadcast along other dims than the last. */
static bool keeps_last(const struct hlo_module *m, hlo_id id)
{
    int64_t dims[HLO_RANK_MAX];

    if (hlo_at(m, id)->opcode != HLO_OP_BROADCAST || !hlo_at(m, id)->operand_count)
        return false;
    size_t count = hlo_attr_ints(m, id, HLO_ATTR_DIMENSIONS, dims);
    return count > 0 && count == hlo_shape(m, hlo_operand(m, id, 0))->rank &&
           dims[count - 1] == hlo_shape(m, id)->rank - 1;
}

bool moves_spreads_last(const struct hlo_module *m, hlo_id id, hlo_id user)
{
    const struct hlo_instruction *i = hlo_at(m, user);

    if (i->opcode != HLO_OP_FUSION || !i->called_count)
        return keeps_last(m, user);
    const struct hlo_computation *c = &m->computations[hlo_called(m, user, 0)];
    for (uint32_t k = 0; k < c->count; k++) {
        if (!keeps_last(m, c->first + k))
            continue;
        const struct hlo_instruction *from =
            hlo_at(m, moves_up(m, hlo_operand(m, c->first + k, 0)));
        if (from->opcode == HLO_OP_PARAMETER && from->number < i->operand_count &&
            hlo_operand(m, user, from->number) == id)
            return true;
    }
    return false;
}

static bool is_elementwise(const struct hlo_module *m, hlo_id id)
{
    return hlo_op_info[hlo_at(m, id)->opcode].flags & HLO_OP_IS_ELEMENTWISE;
}

bool moves_plain(const struct hlo_module *m, hlo_id id)
{
    if (hlo_at(m, id)->opcode != HLO_OP_FUSION || !hlo_at(m, id)->called_count)
        return is_elementwise(m, id);
    const struct hlo_computation *c = &m->computations[hlo_called(m, id, 0)];
    for (uint32_t k = 0; k < c->count; k++) {
        switch (hlo_at(m, c->first + k)->opcode) {
        case HLO_OP_PARAMETER:
        case HLO_OP_CONSTANT:
        case HLO_OP_BROADCAST:
        case HLO_OP_CONCATENATE: /* of the pieces of an all-to-all */
            break;
        default:
            if (!moves_only(m, c->first + k) && !is_elementwise(m, c->first + k))
                return false;
        }
    }
    return true;
}

const struct hlo_shape *moves_cast(const struct hlo_module *m, hlo_id id)
{
    uint8_t bits = hlo_type_info[hlo_shape(m, id)->type].bits;

    for (int n = 0; n < 8 && hlo_at(m, id)->user_count == 1; n++) {
        id = hlo_user(m, id, 0);
        if (!moves_only(m, id))
            break;
        if (hlo_at(m, id)->opcode == HLO_OP_CONVERT)
            return hlo_type_info[hlo_shape(m, id)->type].bits < bits ? hlo_shape(m, id) : NULL;
    }
    return NULL;
}
