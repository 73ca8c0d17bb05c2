#include "engine/plan/partial_sums.h"

#include "engine/cost/joined_sums.h"
#include "engine/cost/step_tables.h"
#include "engine/decide/classes.h"
#include "engine/problem/problem.h"
#include "engine/relaxed/relaxed.h"
#include "engine/relaxed/status.h"
#include "hlo/meaning/factors.h"
#include "hlo/module/flows.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/support/mem.h"

#include <string.h>

enum { PASSES_PARTIAL = 128 }; /* and above: a byte of relaxed_plan->choice */

struct sums {
    const struct problem *p;
    const struct plan *plan;
    const struct relaxed_plan *x; /* NULL: a strict plan */
    label *on;                    /* [instructions] so far */
};

/* ---- what was proved ---- */

/* Makes sums, split along what it sums over. */
static bool makes_sums(const struct hlo_module *m, hlo_id id)
{
    uint16_t opcode = hlo_at(m, id)->opcode;

    return opcode == HLO_OP_DOT || opcode == HLO_OP_CONVOLUTION || opcode == HLO_OP_REDUCE ||
           opcode == HLO_OP_SCATTER;
}

static bool passes_sums(uint16_t opcode)
{
    switch (opcode) {
    case HLO_OP_DOT:
    case HLO_OP_CONVOLUTION:
    case HLO_OP_REDUCE:
    case HLO_OP_ADD:
    case HLO_OP_SUBTRACT:
    case HLO_OP_MULTIPLY:
    case HLO_OP_DIVIDE:
    case HLO_OP_NEGATE:
    case HLO_OP_CONVERT:
    case HLO_OP_TRANSPOSE:
    case HLO_OP_RESHAPE:
    case HLO_OP_BROADCAST:
    case HLO_OP_SLICE:
    case HLO_OP_DYNAMIC_SLICE:
    case HLO_OP_DYNAMIC_UPDATE_SLICE:
    case HLO_OP_REVERSE:
    case HLO_OP_PAD:
    case HLO_OP_CONCATENATE:
    case HLO_OP_SELECT:
        return true;
    default:
        return false;
    }
}

static bool is_zero(const struct hlo_module *m, hlo_id id)
{
    double number;

    while (hlo_at(m, id)->opcode == HLO_OP_BROADCAST || hlo_at(m, id)->opcode == HLO_OP_RESHAPE)
        id = hlo_operand(m, id, 0);
    return hlo_at(m, id)->opcode == HLO_OP_CONSTANT && hlo_constant_number(m, id, &number) &&
           number == 0;
}

/* A sum that begins with zero, or is added into zeros; any other instruction. */
static bool adds_from_zero(const struct hlo_module *m, hlo_id id)
{
    const struct hlo_instruction *i = hlo_at(m, id);
    bool is_scatter = i->opcode == HLO_OP_SCATTER;

    return (i->opcode != HLO_OP_REDUCE && !is_scatter) ||
           (i->operand_count == (is_scatter ? 3 : 2) && i->called_count == 1 &&
            hlo_combiner_of(m, hlo_called(m, id, 0)) == HLO_COMBINE_ADD &&
            is_zero(m, hlo_operand(m, id, is_scatter ? 0 : 1)));
}

/* ---- of one instruction ---- */

static bool is_array(const struct hlo_module *m, hlo_id id)
{
    return hlo_shape(m, id)->type != HLO_TUPLE && m->leaf_base[id] < m->leaf_base[id + 1];
}

/* What the instruction asks of operand `n`, all operands being arrays. */
static bool wants_partial(const struct sums *s, hlo_id id, uint32_t n, uint32_t axis)
{
    return status_on(s->x->leaf[s->p->classes.leaf_base[id] + n], axis) == STATUS_PARTIAL;
}

static bool has_arrays(const struct sums *s, hlo_id id)
{
    const struct hlo_module *m = s->p->m;

    for (uint32_t n = 0; n < hlo_at(m, id)->operand_count; n++) {
        if (!is_array(m, hlo_operand(m, id, n)))
            return false;
    }
    return is_array(m, id) && class_leaf_count(&s->p->classes, id);
}

/* Every operand that must be a sum is one, or zero; no other is. */
static bool passes_on(const struct sums *s, hlo_id id, uint32_t axis)
{
    const struct hlo_module *m = s->p->m;
    uint32_t alone = 0, together = 0, zeros = 0, needed = 0;

    for (uint32_t n = 0; n < hlo_at(m, id)->operand_count; n++) {
        hlo_id from = hlo_operand(m, id, n);
        enum hlo_partial how = hlo_passes_partial(m, id, n, HLO_COMBINE_ADD);
        bool is_sum = wants_partial(s, id, n, axis);
        needed += how == HLO_PARTIAL_TOGETHER;
        if (!is_sum) {
            zeros += how == HLO_PARTIAL_TOGETHER && is_zero(m, from);
            continue;
        }
        if (how == HLO_PARTIAL_STOPS || !(s->on[from] >> axis & 1))
            return false;
        alone += how == HLO_PARTIAL_ALONE;
        together += how == HLO_PARTIAL_TOGETHER;
    }
    return together ? together + zeros == needed && !alone : alone == 1;
}

/* Some use goes on with the sum, as it is made and as all share it. */
static bool stays_partial(const struct sums *s, hlo_id id, uint32_t axis)
{
    const struct hlo_module *m = s->p->m;
    status made = s->x->made[m->leaf_base[id]], held = s->x->held[m->leaf_base[id]];
    bool is_read = false;

    if (status_on(held, axis) == STATUS_PARTIAL && held != made)
        return false;
    for (uint32_t k = 0; k < hlo_at(m, id)->user_count; k++) {
        hlo_id user = hlo_user(m, id, k);
        if (hlo_is_flow(m, user) || !has_arrays(s, user))
            return false;
        for (uint32_t n = 0; n < hlo_at(m, user)->operand_count; n++) {
            if (hlo_operand(m, user, n) != id || !wants_partial(s, user, n, axis))
                continue;
            if (!(s->on[user] >> axis & 1) || s->x->leaf[s->p->classes.leaf_base[user] + n] != made)
                return false;
            is_read = true;
        }
    }
    return id != m->computations[hlo_at(m, id)->computation].root &&
           (is_read || status_on(s->x->choice[id], axis) >= PASSES_PARTIAL);
}

static bool makes(const struct sums *s, hlo_id id, uint32_t axis)
{
    for (uint32_t n = 0; n < hlo_at(s->p->m, id)->operand_count; n++) {
        if (wants_partial(s, id, n, axis))
            return false;
    }
    return makes_sums(s->p->m, id);
}

static bool can_be_said(const struct sums *s, hlo_id id, uint32_t axis)
{
    const struct hlo_module *m = s->p->m;
    unsigned choice = status_on(s->x->choice[id], axis);

    if (!adds_from_zero(m, id) || !has_arrays(s, id))
        return false;
    if (choice >= PASSES_PARTIAL ? !passes_sums(hlo_at(m, id)->opcode) || !passes_on(s, id, axis)
                                 : !makes(s, id, axis))
        return false;
    return stays_partial(s, id, axis);
}

/* ---- all of them: the greatest fixed point ---- */

static label partial_axes(const struct sums *s, hlo_id id)
{
    const struct hlo_module *m = s->p->m;
    hlo_value v = m->leaf_base[id];
    label on = 0;

    if (!is_array(m, id) || s->p->classes.is_free[v] || s->x->origin[v] != v)
        return 0;
    for (uint32_t axis = 0; axis < s->p->mesh.axes; axis++) {
        if (status_on(s->x->made[v], axis) == STATUS_PARTIAL)
            on |= (label)(1u << axis);
    }
    return on;
}

static bool passes_partial(const struct sums *s, hlo_id id)
{
    bool some = false;

    for (uint32_t axis = 0; axis < s->p->mesh.axes; axis++)
        some |= status_on(s->x->choice[id], axis) >= PASSES_PARTIAL;
    return some;
}

/* ---- a strict plan: sums that are joined by additions (cost/joined_sums.h) ---- */

/* Axes along which `id` adds, or hands on, sums that a later all-reduce combines. */
static label joined_axes(const struct sums *s, hlo_id id)
{
    const class_id *passes = s->p->joined.passes[id];
    label on = 0;

    for (int n = 0; n < JOINED_CLASSES_MOST; n++)
        on |= passes[n] == CLASS_NONE ? 0 : s->plan->on[passes[n]];
    return on;
}

/* Along which its one user goes on with it as a sum. */
static label asked_by_user(const struct sums *s, hlo_id id)
{
    return hlo_at(s->p->m, id)->user_count == 1 ? joined_axes(s, hlo_user(s->p->m, id, 0)) : 0;
}

static bool has_sums(const struct sums *s, hlo_id id, uint32_t axis)
{
    for (uint32_t n = 0; n < hlo_at(s->p->m, id)->operand_count; n++) {
        if (!(s->on[hlo_operand(s->p->m, id, n)] >> axis & 1))
            return false;
    }
    return true;
}

/* A sum of sums, or a sum made; only an addition may be the last one that is not combined. */
static bool can_be_joined(const struct sums *s, hlo_id id, uint32_t axis)
{
    const struct hlo_module *m = s->p->m;
    uint16_t opcode = hlo_at(m, id)->opcode;
    bool is_joined = joined_axes(s, id) >> axis & 1;

    if (!has_arrays(s, id) || hlo_at(m, id)->is_root ||
        !(is_joined ? passes_sums(opcode) && has_sums(s, id, axis)
                    : makes_sums(m, id) && adds_from_zero(m, id)))
        return false;
    return (is_joined && opcode == HLO_OP_ADD) ||
           (asked_by_user(s, id) >> axis & 1 && s->on[hlo_user(m, id, 0)] >> axis & 1);
}

/* ---- of any plan ---- */

static label wanted_axes(const struct sums *s, hlo_id id)
{
    return s->x ? partial_axes(s, id) : asked_by_user(s, id) | joined_axes(s, id);
}

static bool drop_round(struct sums *s, hlo_id id)
{
    label was = s->on[id];

    for (uint32_t axis = 0; axis < s->p->mesh.axes; axis++) {
        if (was >> axis & 1 && !(s->x ? can_be_said(s, id, axis) : can_be_joined(s, id, axis)))
            s->on[id] &= (label) ~(1u << axis);
    }
    return s->on[id] != was;
}

/* It passes sums on in the plan, but not in the export. */
static bool is_dropped(const struct sums *s, hlo_id id)
{
    if (s->x)
        return passes_partial(s, id) && partial_axes(s, id) != s->on[id];
    return joined_axes(s, id) & (label)~s->on[id];
}

static void find_all(struct sums *s)
{
    hlo_id count = s->p->m->count;
    bool changed = true;

    for (hlo_id id = 0; id < count; id++)
        s->on[id] = wanted_axes(s, id);
    while (changed) { /* makers before users, then users before makers: a chain falls at once */
        changed = false;
        for (hlo_id id = 0; id < count; id++)
            changed |= s->on[id] && drop_round(s, id);
        for (hlo_id id = count; id-- > 0;)
            changed |= s->on[id] && drop_round(s, id);
    }
}

int partial_sums_new(const struct plan *p, struct partial_sums *out, struct err *e)
{
    const struct hlo_module *m = p->problem->m;
    struct sums s = {.p = p->problem, .plan = p, .x = p->relaxed};

    *out = (struct partial_sums){0};
    if (!p->relaxed && !p->problem->step_tables.joined)
        return 0;
    s.on = out->on = mem_try((size_t)m->count + 1, sizeof *out->on);
    out->ends = mem_try((size_t)m->count + 1, sizeof *out->ends);
    if (!out->on || !out->ends)
        return err_no_memory(e, "to export the plan");
    find_all(&s);
    for (hlo_id id = 0; id < m->count; id++) {
        label asked = s.x ? s.on[id] : asked_by_user(&s, id);
        out->dropped += is_dropped(&s, id);
        if (asked && !s.x)
            asked &= s.on[hlo_user(m, id, 0)];
        out->ends[id] = s.on[id] & (label)~asked;
    }
    return 0;
}

void partial_sums_release(struct partial_sums *s)
{
    free(s->on);
    free(s->ends);
    memset(s, 0, sizeof *s);
}
