/* hlo/meaning/free_values.c - what every device can make for itself: constants, random bits from a
 * key, and all that is computed from such alone, through loops and branches too. */
#include "hlo/meaning/factors.h"
#include "hlo/meaning/kernels.h"
#include "hlo/module/flows.h"
#include "hlo/module/graph.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/module/special.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <stdlib.h>

enum { KEY_ELEMENTS_MOST = 1024 };

/* Keys are few unsigned words in groups: u32[2] (threefry), u32[4] (RBG), a batch of them; seeds
 * may be signed, and then only one (stateless random of TensorFlow). */
static bool is_key(const struct hlo_module *m, hlo_value v)
{
    hlo_id id = m->value_instruction[v];
    const struct hlo_shape *s = hlo_value_shape(m, v);

    if (hlo_at(m, id)->opcode != HLO_OP_PARAMETER || hlo_at(m, id)->computation != m->entry ||
        !s->rank)
        return false;
    int64_t words = s->dims[s->rank - 1];
    bool is_unsigned = s->type == HLO_U32 || s->type == HLO_U64;
    bool is_signed = s->type == HLO_S32 || s->type == HLO_S64;
    return s->elements <= KEY_ELEMENTS_MOST && words >= 2 && words <= 4 &&
           (is_unsigned || (is_signed && s->rank == 1 && words == 2));
}

static bool is_scalar(const struct hlo_module *m, hlo_value v)
{
    return !hlo_value_shape(m, v)->rank; /* whole on every device */
}

static bool all_free(const struct hlo_module *m, hlo_id id, const bool *is_free)
{
    for (uint32_t n = 0; n < hlo_at(m, id)->operand_count; n++) {
        hlo_id operand = hlo_operand(m, id, n);
        for (hlo_value v = m->leaf_base[operand]; v < m->leaf_base[operand + 1]; v++) {
            if (!is_scalar(m, v) && !is_free[v])
                return false;
        }
    }
    return hlo_at(m, id)->operand_count > 0;
}

static void set_results(const struct hlo_module *m, hlo_id id, bool free, bool *is_free)
{
    for (hlo_value v = m->leaf_base[id]; v < m->leaf_base[id + 1]; v++)
        is_free[v] = free;
}

/* Whatever it reads: what it makes is free. */
static bool is_always_free(const struct hlo_module *m, hlo_id id)
{
    unsigned flags = hlo_op_info[hlo_acts_as(m, id)].flags;
    bool has_effect = flags & (HLO_OP_IS_OPAQUE | HLO_OP_IS_SIDE_EFFECT | HLO_OP_IS_COLLECTIVE);

    return hlo_kernel_effect_of(m, id) == KERNEL_ALLOCATES ||
           (!has_effect && flags & HLO_OP_IS_FREE);
}

static bool can_be_free(const struct hlo_module *m, hlo_id id, const bool *is_free)
{
    unsigned flags = hlo_op_info[hlo_acts_as(m, id)].flags;

    if (is_always_free(m, id))
        return true;
    if (flags & (HLO_OP_IS_OPAQUE | HLO_OP_IS_SIDE_EFFECT | HLO_OP_IS_COLLECTIVE))
        return false;
    return all_free(m, id, is_free);
}

/* What flows pass on to is free until something that is not flows there; what else flows or
 * parameters bring in is not. */
static int begin_free(const struct hlo_module *m, bool *is_free, struct hlo_flows *flows,
                      struct err *e)
{
    int rc = 0;

    for (hlo_value v = 0; v < m->value_count; v++)
        is_free[v] = is_key(m, v);
    for (hlo_id id = 0; id < m->count; id++) {
        if (!hlo_is_flow(m, id))
            continue;
        rc = hlo_flows_of(m, id, flows, e);
        if (rc)
            return rc;
        for (size_t k = 0; k < flows->count; k++)
            is_free[flows->items[k].to] = true;
    }
    return rc;
}

/* Takes away what turns out not to be free. `again`: something behind that was read already. */
static int sweep_free(const struct hlo_module *m, bool *is_free, struct hlo_flows *flows,
                      bool *again, struct err *e)
{
    *again = false;
    for (hlo_id id = 0; id < m->count; id++) {
        if (!hlo_is_flow(m, id)) {
            set_results(m, id, can_be_free(m, id, is_free), is_free);
            continue;
        }
        if (hlo_flows_of(m, id, flows, e))
            return e->code;
        for (size_t k = 0; k < flows->count; k++) {
            const struct hlo_flow *f = &flows->items[k];
            if (is_free[f->from] || !is_free[f->to])
                continue;
            is_free[f->to] = false;
            *again |= m->value_instruction[f->to] < id;
        }
    }
    return 0;
}

/* Is `to` free no more because `from` is not? */
static bool is_taken_along(const struct hlo_graph *g, hlo_value from, hlo_value to)
{
    const struct hlo_module *m = g->m;
    hlo_id id = m->value_instruction[to];

    if (g->is_flow[to] || m->value_instruction[from] == id)
        return true;
    return !is_scalar(m, from) && !is_always_free(m, id);
}

/* Whatever hangs on a value that is not free is not either: each value is looked at once, however
 * deep loops are in each other. */
static int follow_loops(const struct hlo_module *m, bool *is_free, struct err *e)
{
    hlo_value *queue = mem_try(m->value_count, sizeof *queue);
    struct hlo_graph g = {0};
    uint32_t count = 0;
    int rc = queue ? hlo_graph_new(m, &g, e)
                   : err_no_memory(e, "for the free values of %u", m->value_count);

    for (hlo_value v = 0; v < m->value_count && !rc; v++) {
        if (!is_free[v])
            queue[count++] = v;
    }
    for (uint32_t n = 0; n < count; n++) {
        hlo_value v = queue[n];
        for (uint32_t k = g.succ_first[v]; k < g.succ_first[v + 1]; k++) {
            hlo_value to = g.succs[k];
            if (is_free[to] && is_taken_along(&g, v, to)) {
                is_free[to] = false;
                queue[count++] = to;
            }
        }
    }
    hlo_graph_release(&g);
    free(queue);
    return rc;
}

int hlo_free_values(const struct hlo_module *m, bool *is_free, struct err *e)
{
    struct hlo_flows flows = {0};
    bool again = false;
    int rc = begin_free(m, is_free, &flows, e);

    rc = rc ? rc : sweep_free(m, is_free, &flows, &again, e);
    hlo_flows_release(&flows);
    return !rc && again ? follow_loops(m, is_free, e) : rc;
}

/* ---- what can only be made whole ---- */

struct whole {
    const struct hlo_module *m;
    const bool *is_free;
    bool *is_whole;
    struct hlo_factors factors;
    struct hlo_flows flows;
    struct err *e;
};

static bool any_whole(const struct whole *w, hlo_id id)
{
    for (hlo_value v = w->m->leaf_base[id]; v < w->m->leaf_base[id + 1]; v++) {
        if (w->is_whole[v])
            return true;
    }
    return false;
}

static void need_whole(struct whole *w, hlo_value v)
{
    if (w->is_free[v] && !is_scalar(w->m, v))
        w->is_whole[v] = true;
}

/* No dim of the leaf has a loop index that a dim of a result shares. */
static bool is_needed_whole(const struct whole *w, hlo_id id, uint32_t leaf)
{
    const struct hlo_shape *s = hlo_value_shape(w->m, hlo_factors_value(w->m, id, leaf));

    for (uint32_t k = 0; k < w->factors.count; k++) {
        const struct hlo_factor *f = &w->factors.items[k];
        for (uint32_t r = w->factors.operand_leaves; r < w->factors.leaf_count; r++) {
            if (f->kind != HLO_FACTOR_PERMUTE && f->dims[leaf] >= 0 && f->dims[r] >= 0)
                return false;
        }
    }
    return s->elements > 1;
}

/* What a loop carries unchanged is not handed on: its body makes it where it is used, in parts
 * (XLA: service/while_loop_constant_sinking.cc). */
static bool is_sunk(const struct whole *w, hlo_id loop, hlo_value v)
{
    const struct hlo_computation *body = &w->m->computations[hlo_called(w->m, loop, 0)];
    uint32_t leaf = hlo_value_leaf(w->m, v);

    return body->param_count == 1 && body->caller_count == 1 &&
           hlo_value_source(w->m, hlo_value_of(w->m, body->root, leaf)) ==
               hlo_value_of(w->m, body->params[0], leaf);
}

static int whole_flows(struct whole *w, hlo_id id)
{
    bool is_loop = hlo_at(w->m, id)->opcode == HLO_OP_WHILE;
    int rc = hlo_flows_of(w->m, id, &w->flows, w->e);

    if (rc)
        return rc;
    for (size_t k = 0; k < w->flows.count; k++) {
        const struct hlo_flow *f = &w->flows.items[k];
        if (!w->is_free[f->to])
            continue;
        if (is_loop && !is_sunk(w, id, f->to))
            need_whole(w, f->to);
        if (w->is_whole[f->to])
            need_whole(w, f->from);
    }
    return rc;
}

static int whole_instruction(struct whole *w, hlo_id id)
{
    const struct hlo_module *m = w->m;

    if (!w->is_free[m->leaf_base[id]] || hlo_op_info[hlo_at(m, id)->opcode].flags & HLO_OP_IS_FREE)
        return 0;
    int rc = hlo_factors_of(m, id, &w->factors, w->e);
    if (rc)
        return rc;
    for (uint32_t leaf = w->factors.operand_leaves; leaf < w->factors.leaf_count; leaf++) {
        if (is_needed_whole(w, id, leaf))
            need_whole(w, hlo_factors_value(m, id, leaf));
    }
    bool all = any_whole(w, id);
    for (uint32_t leaf = 0; leaf < w->factors.operand_leaves; leaf++) {
        if (all || is_needed_whole(w, id, leaf))
            need_whole(w, hlo_factors_value(m, id, leaf));
    }
    return 0;
}

int hlo_whole_values(const struct hlo_module *m, const bool *is_free, bool *is_whole, struct err *e)
{
    struct whole w = {.m = m, .is_free = is_free, .is_whole = is_whole, .e = e};
    int rc = 0;

    for (hlo_value v = 0; v < m->value_count; v++)
        is_whole[v] = false;
    for (hlo_id id = m->count; id-- > 0;) {
        if (hlo_is_flow(m, id))
            rc = whole_flows(&w, id);
        else if (m->leaf_base[id] < m->leaf_base[id + 1])
            rc = whole_instruction(&w, id);
        if (rc)
            goto out;
    }
out:
    hlo_factors_release(&w.factors);
    hlo_flows_release(&w.flows);
    return rc;
}
