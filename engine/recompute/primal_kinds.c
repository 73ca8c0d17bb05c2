/* engine/recompute/primal_kinds.c - which values the forward pass makes, and from what. */
#include "engine/recompute/primal_build.h"

#include "engine/recompute/numbering.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/attr.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

/* ---- operations ---- */

bool primal_is_product(uint16_t opcode)
{
    switch (opcode) {
    case HLO_OP_DOT:
    case HLO_OP_RAGGED_DOT:
    case HLO_OP_SCALED_DOT:
    case HLO_OP_CONVOLUTION:
        return true;
    default:
        return false;
    }
}

bool primal_is_work(uint16_t opcode)
{
    switch (opcode) {
    case HLO_OP_CUSTOM_CALL:
    case HLO_OP_FFT:
    case HLO_OP_CHOLESKY:
    case HLO_OP_TRIANGULAR_SOLVE:
    case HLO_OP_SORT:
    case HLO_OP_FUSION:
        return true;
    default:
        return primal_is_product(opcode);
    }
}

bool primal_is_random(uint16_t opcode)
{
    return opcode == HLO_OP_RNG || opcode == HLO_OP_RNG_BIT_GENERATOR ||
           opcode == HLO_OP_RNG_GET_AND_UPDATE_STATE;
}

/* ---- the forward pass ---- */

static void push_value(const struct primal_build *b, hlo_value *queue, uint32_t *count, hlo_value v)
{
    if (b->is_ancestor[v])
        return;
    b->is_ancestor[v] = 1;
    queue[(*count)++] = v;
}

static void push_operands(const struct primal_build *b, hlo_value *queue, uint32_t *count,
                          hlo_id id)
{
    for (uint32_t k = 0; k < hlo_at(b->m, id)->operand_count; k++) {
        hlo_id o = hlo_operand(b->m, id, k);
        for (hlo_value v = b->m->leaf_base[o]; v < b->m->leaf_base[o + 1]; v++)
            push_value(b, queue, count, v);
    }
}

/* Where a leaf of a tuple, element, loop or parameter of a body comes from. */
static void push_sources(const struct primal_build *b, hlo_value *queue, uint32_t *count,
                         hlo_value v)
{
    const struct hlo_module *m = b->m;
    hlo_id id = m->value_instruction[v];
    uint32_t leaf = hlo_value_leaf(m, v), parts;
    hlo_id loop = b->n.loop[hlo_at(m, id)->computation];

    switch (primal_opcode(b, id)) {
    case HLO_OP_TUPLE:
        for (uint32_t k = 0; k < hlo_at(m, id)->operand_count; k++) {
            hlo_id o = hlo_operand(m, id, k);
            uint32_t leaves = m->leaf_base[o + 1] - m->leaf_base[o];
            if (leaf < leaves) {
                push_value(b, queue, count, m->leaf_base[o] + leaf);
                return;
            }
            leaf -= leaves;
        }
        return;
    case HLO_OP_GET_TUPLE_ELEMENT:
        push_value(b, queue, count,
                   hlo_part_values(m, hlo_operand(m, id, 0), hlo_at(m, id)->number, &parts) + leaf);
        return;
    case HLO_OP_WHILE:
        if (b->n.loop[hlo_called(m, id, 0)] != id) {
            push_operands(b, queue, count, id);
            return;
        }
        push_value(b, queue, count,
                   m->leaf_base[m->computations[hlo_called(m, id, 0)].root] + leaf);
        push_value(b, queue, count, m->leaf_base[hlo_operand(m, id, 0)] + leaf);
        return;
    case HLO_OP_PARAMETER:
        if (loop == HLO_NONE)
            return;
        push_value(b, queue, count, m->leaf_base[hlo_operand(m, loop, 0)] + leaf);
        push_value(b, queue, count,
                   m->leaf_base[m->computations[hlo_called(m, loop, 0)].root] + leaf);
        return;
    default:
        push_operands(b, queue, count, id);
    }
}

static bool has_ancestor(const struct primal_build *b, hlo_id id)
{
    for (hlo_value v = b->m->leaf_base[id]; v < b->m->leaf_base[id + 1]; v++) {
        if (b->is_ancestor[v])
            return true;
    }
    return false;
}

bool primal_find_forward(struct primal_build *b)
{
    const struct hlo_module *m = b->m;
    hlo_value *queue = mem_try((size_t)m->value_count + 1, sizeof *queue);
    uint8_t *is_forward_body = mem_try((size_t)m->computation_count + 1, 1);
    bool known = b->roles->loss != HLO_NONE, ok = queue && is_forward_body;
    uint32_t count = 0;

    if (ok && known)
        push_value(b, queue, &count, b->roles->loss);
    for (uint32_t k = 0; ok && k < count; k++)
        push_sources(b, queue, &count, queue[k]);
    for (hlo_comp c = m->computation_count; ok && c--;) {
        hlo_id loop = b->n.loop[c];
        if (loop == HLO_NONE)
            continue;
        bool around = is_forward_body[hlo_at(m, loop)->computation] &&
                      b->roles->phase[loop] == HLO_PHASE_FORWARD;
        is_forward_body[c] =
            known ? has_ancestor(b, loop) || around : b->roles->phase[loop] == HLO_PHASE_FORWARD;
        b->is_back[c] = !is_forward_body[c];
    }
    for (hlo_id id = 0; ok && id < m->count; id++) {
        bool late =
            b->roles->phase[id] == HLO_PHASE_BACKWARD || b->roles->phase[id] == HLO_PHASE_UPDATE;
        b->is_forward[id] =
            known ? has_ancestor(b, id) || (is_forward_body[hlo_at(m, id)->computation] && !late)
                  : b->roles->phase[id] == HLO_PHASE_FORWARD;
    }
    for (uint32_t k = 0; ok && k < b->n.order_count; k++) {
        hlo_id id = b->n.order[k];
        for (hlo_value v = m->leaf_base[id]; v < m->leaf_base[id + 1]; v++)
            b->in_forward[b->n.of[v]] |= b->is_forward[id];
    }
    free(queue);
    free(is_forward_body);
    return ok;
}

/* ---- kinds ---- */

static void set_kind(struct primal_build *b, hlo_value v, enum primal_kind kind)
{
    value_number n = b->n.of[v];

    if (b->kind[n] == KIND_NONE)
        b->kind[n] = (uint8_t)kind;
    if (b->maker[n] == HLO_NONE || (b->is_forward[b->m->value_instruction[v]] &&
                                    !b->is_forward[b->m->value_instruction[b->maker[n]]]))
        b->maker[n] = v;
}

static enum primal_kind operand_kind(const struct primal_build *b, hlo_id id)
{
    enum primal_kind most = KIND_WEIGHT;

    for (uint32_t k = 0; k < hlo_at(b->m, id)->operand_count; k++) {
        hlo_id o = hlo_operand(b->m, id, k);
        for (hlo_value v = b->m->leaf_base[o]; v < b->m->leaf_base[o + 1]; v++) {
            enum primal_kind kind = (enum primal_kind)b->kind[primal_number(b, v)];
            most = kind > most ? kind : most;
        }
    }
    return most;
}

static void set_parameter_kinds(struct primal_build *b)
{
    for (uint32_t k = 0; k < b->roles->param_count; k++) {
        const struct hlo_param_role *r = &b->roles->params[k];
        set_kind(b, r->value, r->role == HLO_ROLE_INPUT ? KIND_INPUT : KIND_WEIGHT);
    }
}

/* State of a loop, before its body is looked at. */
static void set_state_kinds(struct primal_build *b, hlo_id loop)
{
    const struct hlo_module *m = b->m;
    hlo_comp body = hlo_called(m, loop, 0);
    hlo_id p = m->computations[body].params[0];

    for (hlo_value v = m->leaf_base[p]; v < m->leaf_base[p + 1]; v++) {
        if (!b->n.is_changed[v])
            continue;
        bool counter = b->n.is_counter[b->n.of[v]];
        set_kind(b, v, counter ? KIND_WEIGHT : b->is_back[body] ? KIND_DERIVED : KIND_PRIMAL);
        if (!counter)
            b->flags[b->n.of[v]] |= IS_STATE;
    }
}

static void set_loop_kinds(struct primal_build *b, hlo_id loop)
{
    const struct hlo_module *m = b->m;
    hlo_comp body = hlo_called(m, loop, 0);
    hlo_value p = m->leaf_base[m->computations[body].params[0]];

    for (hlo_value v = m->leaf_base[loop]; v < m->leaf_base[loop + 1]; v++) {
        if (!b->n.is_changed[p + hlo_value_leaf(m, v)])
            continue;
        set_kind(b, v, b->is_back[body] ? KIND_DERIVED : KIND_PRIMAL);
        b->flags[b->n.of[v]] |= IS_STATE;
    }
}

static void set_operation_kinds(struct primal_build *b, hlo_id id)
{
    enum primal_kind from = operand_kind(b, id), kind = from;

    if (primal_is_random(primal_opcode(b, id)))
        kind = from == KIND_DERIVED ? from : KIND_PRIMAL;
    else if (from == KIND_INPUT)
        kind = KIND_PRIMAL;
    if (kind == KIND_PRIMAL && primal_is_work(primal_opcode(b, id)) &&
        !b->is_back[hlo_at(b->m, id)->computation] && !b->is_forward[id])
        kind = KIND_DERIVED;
    for (hlo_value v = b->m->leaf_base[id]; v < b->m->leaf_base[id + 1]; v++)
        set_kind(b, v, b->in_forward[b->n.of[v]] && kind == KIND_DERIVED ? KIND_PRIMAL : kind);
}

void primal_find_kinds(struct primal_build *b)
{
    const struct hlo_module *m = b->m;

    set_parameter_kinds(b);
    for (uint32_t k = 0; k < b->n.order_count; k++) {
        hlo_id id = b->n.order[k];
        hlo_id around = b->n.loop[hlo_at(m, id)->computation];
        if (around != HLO_NONE && id == m->computations[hlo_at(m, id)->computation].first)
            set_state_kinds(b, around);
        if (numbering_is_alias(m, id) || primal_opcode(b, id) == HLO_OP_PARAMETER)
            continue;
        if (primal_opcode(b, id) == HLO_OP_WHILE && b->n.loop[hlo_called(m, id, 0)] == id)
            set_loop_kinds(b, id);
        else
            set_operation_kinds(b, id);
    }
}
