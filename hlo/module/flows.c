/* hlo/module/flows.c - which values are the same array: what tuples, loops, calls and barriers pass
 * on. */
#include "hlo/module/flows.h"

#include "hlo/module/attr.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <string.h>

struct flow_maker {
    const struct hlo_module *m;
    struct hlo_flows *f;
    bool failed;
};

static void flow(struct flow_maker *k, hlo_value from, hlo_value to, bool is_copy)
{
    if (k->failed || !mem_grow(&k->f->items, &k->f->room, k->f->count, 1)) {
        k->failed = true;
        return;
    }
    k->f->items[k->f->count++] = (struct hlo_flow){from, to, is_copy};
}

static uint32_t leaves_of(const struct flow_maker *k, hlo_id id)
{
    return hlo_shape(k->m, id)->leaf_count;
}

/* All leaves of `from` to those of `to` from `first` on; as many as there are. */
static void flow_leaves(struct flow_maker *k, hlo_id from, hlo_id to, uint32_t first)
{
    uint32_t count = leaves_of(k, from), room = leaves_of(k, to);

    for (uint32_t leaf = 0; leaf < count && first + leaf < room; leaf++)
        flow(k, hlo_value_of(k->m, from, leaf), hlo_value_of(k->m, to, first + leaf), false);
}

/* Part `part` of the tuple `from` to all leaves of `to`, or the other way round. */
static void flow_part(struct flow_maker *k, hlo_id tuple, uint32_t part, hlo_id other, bool out)
{
    uint32_t count;

    if (part >= hlo_shape(k->m, tuple)->part_count)
        return;
    hlo_value v = hlo_part_values(k->m, tuple, part, &count);
    for (uint32_t leaf = 0; leaf < count && leaf < leaves_of(k, other); leaf++) {
        hlo_value o = hlo_value_of(k->m, other, leaf);
        flow(k, out ? v + leaf : o, out ? o : v + leaf, false);
    }
}

static void flow_tuple(struct flow_maker *k, hlo_id id)
{
    uint32_t first = 0;

    for (uint32_t n = 0; n < hlo_at(k->m, id)->operand_count; n++) {
        hlo_id operand = hlo_operand(k->m, id, n);
        flow_leaves(k, operand, id, first);
        first += leaves_of(k, operand);
    }
}

static void flow_first_operand(struct flow_maker *k, hlo_id id)
{
    if (hlo_at(k->m, id)->operand_count)
        flow_leaves(k, hlo_operand(k->m, id, 0), id, 0);
}

static void flow_element(struct flow_maker *k, hlo_id id)
{
    flow_part(k, hlo_operand(k->m, id, 0), hlo_at(k->m, id)->number, id, true);
}

/* init -> body parameter <- body root; body parameter -> condition parameter, result. */
static void flow_while(struct flow_maker *k, hlo_id id)
{
    const struct hlo_computation *body = &k->m->computations[hlo_called(k->m, id, 0)];
    const struct hlo_computation *condition = &k->m->computations[hlo_called(k->m, id, 1)];

    if (body->param_count != 1 || condition->param_count != 1)
        return;
    flow_leaves(k, hlo_operand(k->m, id, 0), body->params[0], 0);
    flow_leaves(k, body->root, body->params[0], 0);
    flow_leaves(k, body->params[0], condition->params[0], 0);
    flow_leaves(k, body->params[0], id, 0);
}

static void flow_arguments(struct flow_maker *k, hlo_id id, const struct hlo_computation *c)
{
    for (uint32_t n = 0; n < hlo_at(k->m, id)->operand_count && n < c->param_count; n++)
        flow_leaves(k, hlo_operand(k->m, id, n), c->params[n], 0);
}

static void flow_call(struct flow_maker *k, hlo_id id)
{
    if (!hlo_at(k->m, id)->called_count)
        return;
    const struct hlo_computation *c = &k->m->computations[hlo_called(k->m, id, 0)];
    flow_arguments(k, id, c);
    flow_leaves(k, c->root, id, 0);
}

/* selector, one operand per branch -> the branch's parameter; each root -> result. */
static void flow_conditional(struct flow_maker *k, hlo_id id)
{
    const struct hlo_instruction *i = hlo_at(k->m, id);

    for (uint32_t n = 0; n < i->called_count; n++) {
        const struct hlo_computation *c = &k->m->computations[hlo_called(k->m, id, n)];
        if (n + 1 < i->operand_count && c->param_count)
            flow_leaves(k, hlo_operand(k->m, id, n + 1), c->params[0], 0);
        flow_leaves(k, c->root, id, 0);
    }
}

/* operands -> ((operands), result, context ..): the computation's root is part 1. */
static void flow_async_start(struct flow_maker *k, hlo_id id)
{
    flow_tuple(k, id);
    if (!hlo_at(k->m, id)->called_count)
        return;
    const struct hlo_computation *c = &k->m->computations[hlo_called(k->m, id, 0)];
    flow_arguments(k, id, c);
    flow_part(k, id, 1, c->root, false);
}

static void flow_result_part(struct flow_maker *k, hlo_id id)
{
    hlo_id start = hlo_operand(k->m, id, 0);

    if (hlo_shape(k->m, start)->type == HLO_TUPLE)
        flow_part(k, start, 1, id, true);
}

/* operand -> (copy, operand, context) */
static void flow_copy_start(struct flow_maker *k, hlo_id id)
{
    hlo_id operand = hlo_operand(k->m, id, 0);

    if (leaves_of(k, operand) != 1 || leaves_of(k, id) < 2)
        return;
    flow(k, hlo_value_of(k->m, operand, 0), hlo_value_of(k->m, id, 0), true);
    flow(k, hlo_value_of(k->m, operand, 0), hlo_value_of(k->m, id, 1), false);
}

static void flow_copy_done(struct flow_maker *k, hlo_id id)
{
    flow_part(k, hlo_operand(k->m, id, 0), 0, id, true);
}

/* recv: (data, context, token) -> recv-done: (data, token) */
static void flow_recv_done(struct flow_maker *k, hlo_id id)
{
    hlo_id recv = hlo_operand(k->m, id, 0);

    if (leaves_of(k, recv) && leaves_of(k, id))
        flow(k, hlo_value_of(k->m, recv, 0), hlo_value_of(k->m, id, 0), false);
}

static void flow_copy_of_tuple(struct flow_maker *k, hlo_id id)
{
    hlo_id operand = hlo_operand(k->m, id, 0);

    if (hlo_shape(k->m, id)->type != HLO_TUPLE)
        return;
    for (uint32_t leaf = 0; leaf < leaves_of(k, id) && leaf < leaves_of(k, operand); leaf++)
        flow(k, hlo_value_of(k->m, operand, leaf), hlo_value_of(k->m, id, leaf), true);
}

static void flow_all_reduce_done(struct flow_maker *k, hlo_id id)
{
    flow_first_operand(k, id);
}

/* Custom-calls that give back what they are given: annotations and moves between memories. */
static bool is_identity_call(const struct hlo_module *m, hlo_id id)
{
    static const char *const targets[] = {
        "Sharding",
        "SPMDFullToShardShape",
        "SPMDShardToFullShape",
        "xla.sdy.FuncResultSharding",
        "annotate_device_placement",
        "MoveToHost",
        "MoveToDevice",
        "LayoutConstraint",
        "AssumeGatherIndicesInBound",
    };

    if (!hlo_at(m, id)->operand_count || hlo_at(m, id)->is_moved)
        return false;
    const struct hlo_shape *s = hlo_shape(m, hlo_operand(m, id, 0)), *r = hlo_shape(m, id);
    if (s->leaf_count != r->leaf_count)
        return false;
    for (uint32_t leaf = 0; leaf < s->leaf_count; leaf++) { /* manual regions change the shape */
        const struct hlo_shape *a = &m->shapes[s->leaves[leaf]], *b = &m->shapes[r->leaves[leaf]];
        if (a->type != b->type || a->rank != b->rank ||
            (a->rank && memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) != 0))
            return false;
    }
    if (hlo_at(m, id)->is_identity)
        return true;
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        if (hlo_attr_is(m, id, HLO_ATTR_CUSTOM_CALL_TARGET, targets[i]))
            return true;
    return false;
}

bool hlo_is_manual_edge(const struct hlo_module *m, hlo_id id)
{
    static const char *const targets[] = {"xla.sdy.GlobalToLocalShape",
                                          "xla.sdy.LocalToGlobalShape", "SPMDFullToShardShape",
                                          "SPMDShardToFullShape"};
    bool found = false;

    for (size_t i = 0; i < sizeof targets / sizeof *targets && !found; i++)
        found = hlo_at(m, id)->opcode == HLO_OP_CUSTOM_CALL &&
                hlo_attr_is(m, id, HLO_ATTR_CUSTOM_CALL_TARGET, targets[i]);
    return found && !is_identity_call(m, id);
}

static void flow_custom_call(struct flow_maker *k, hlo_id id)
{
    if (is_identity_call(k->m, id))
        flow_first_operand(k, id);
}

static const struct {
    uint16_t opcode;
    void (*rule)(struct flow_maker *k, hlo_id id);
} rules[] = {
    {HLO_OP_TUPLE, flow_tuple},
    {HLO_OP_GET_TUPLE_ELEMENT, flow_element},
    {HLO_OP_WHILE, flow_while},
    {HLO_OP_CONDITIONAL, flow_conditional},
    {HLO_OP_CALL, flow_call},
    {HLO_OP_FUSION, flow_call},
    {HLO_OP_OPT_BARRIER, flow_first_operand},
    {HLO_OP_DOMAIN, flow_first_operand},
    {HLO_OP_ADD_DEPENDENCY, flow_first_operand},
    {HLO_OP_ASYNC_START, flow_async_start},
    {HLO_OP_ASYNC_UPDATE, flow_first_operand},
    {HLO_OP_ASYNC_DONE, flow_result_part},
    {HLO_OP_COPY, flow_copy_of_tuple},
    {HLO_OP_COPY_START, flow_copy_start},
    {HLO_OP_COPY_DONE, flow_copy_done},
    {HLO_OP_ALL_REDUCE_DONE, flow_all_reduce_done},
    {HLO_OP_ALL_GATHER_START, flow_tuple},
    {HLO_OP_ALL_GATHER_DONE, flow_result_part},
    {HLO_OP_COLLECTIVE_PERMUTE_START, flow_tuple},
    {HLO_OP_COLLECTIVE_PERMUTE_DONE, flow_result_part},
    {HLO_OP_SEND, flow_first_operand},
    {HLO_OP_RECV_DONE, flow_recv_done},
    {HLO_OP_CUSTOM_CALL, flow_custom_call},
};

int hlo_flows_of(const struct hlo_module *m, hlo_id id, struct hlo_flows *f, struct err *e)
{
    struct flow_maker k = {.m = m, .f = f};
    uint16_t opcode = hlo_at(m, id)->opcode;

    f->count = 0;
    if (!(hlo_op_info[opcode].flags & HLO_OP_IS_FLOW) && opcode != HLO_OP_COPY &&
        opcode != HLO_OP_CUSTOM_CALL)
        return 0;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].opcode == opcode)
            rules[i].rule(&k, id);
    return k.failed ? err_no_memory(e, "for the flows of an instruction") : 0;
}

void hlo_flows_release(struct hlo_flows *f)
{
    free(f->items);
    memset(f, 0, sizeof *f);
}

bool hlo_is_flow(const struct hlo_module *m, hlo_id id)
{
    const struct hlo_instruction *i = hlo_at(m, id);

    if (hlo_op_info[i->opcode].flags & HLO_OP_IS_FLOW)
        return true;
    return (i->opcode == HLO_OP_COPY && hlo_shape(m, id)->type == HLO_TUPLE) ||
           (i->opcode == HLO_OP_CUSTOM_CALL && is_identity_call(m, id));
}

/* The part of a tuple that holds `leaf`; parts without leaves hold none. O(log parts). */
static uint32_t part_of_leaf(const struct hlo_shape *s, uint32_t leaf)
{
    uint32_t low = 0, high = s->part_count;

    while (low < high) { /* the first part that begins behind the leaf */
        uint32_t middle = low + (high - low) / 2;
        if (s->part_leaf[middle] <= leaf)
            low = middle + 1;
        else
            high = middle;
    }
    return low - 1;
}

hlo_value hlo_value_source(const struct hlo_module *m, hlo_value v)
{
    for (;;) {
        hlo_id id = m->value_instruction[v];
        const struct hlo_instruction *i = hlo_at(m, id);
        uint32_t leaf = hlo_value_leaf(m, v), count;
        if (i->opcode == HLO_OP_GET_TUPLE_ELEMENT) {
            v = hlo_part_values(m, hlo_operand(m, id, 0), i->number, &count) + leaf;
        } else if (i->opcode == HLO_OP_TUPLE) {
            const struct hlo_shape *s = hlo_shape(m, id);
            uint32_t part = part_of_leaf(s, leaf);
            v = m->leaf_base[hlo_operand(m, id, part)] + leaf - s->part_leaf[part];
        } else {
            return v;
        }
    }
}
