#include "engine/cost/adding_up.h"

#include "engine/cost/training.h"
#include "engine/decide/classes.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/flows.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"

#include <string.h>

enum { STEPS_MOST = 64 };

/* Where a fresh gradient is looked for. */
struct way {
    hlo_value at;
    bool in_loop;  /* of a loop's result, and not of a slice that the loop stores */
    bool is_slice; /* of a stack that the loop fills */
};

static hlo_value operand_of(const struct hlo_module *m, hlo_id id, uint32_t n)
{
    return m->leaf_base[hlo_operand(m, id, n)];
}

/* What a loop carries is what its body hands on. False: it is no body's, or was looked at. */
static bool step_into(const struct hlo_module *m, hlo_id computation, struct way *w)
{
    const struct hlo_computation *c = &m->computations[computation];
    uint32_t leaf = hlo_value_leaf(m, w->at);

    if (w->in_loop || m->leaf_base[c->root] + leaf >= m->leaf_base[c->root + 1])
        return false;
    w->at = m->leaf_base[c->root] + leaf;
    w->in_loop = true;
    return true;
}

/* With the condition's single result it cannot be confused: a body hands on all that is carried. */
static bool is_body(const struct hlo_module *m, hlo_id computation)
{
    const struct hlo_computation *c = &m->computations[computation];

    return c->caller_count == 1 && hlo_at(m, c->callers[0])->opcode == HLO_OP_WHILE &&
           m->leaf_base[c->root + 1] - m->leaf_base[c->root] ==
               m->leaf_base[c->callers[0] + 1] - m->leaf_base[c->callers[0]];
}

/* Looks through one instruction that only passes it on. False: this one makes it. */
static bool step_back(const struct hlo_module *m, struct way *w)
{
    hlo_id id = m->value_instruction[w->at];
    uint32_t leaf = hlo_value_leaf(m, w->at);

    switch (hlo_at(m, id)->opcode) {
    case HLO_OP_WHILE:
        for (uint32_t n = 0; n < hlo_at(m, id)->called_count; n++)
            if (is_body(m, hlo_called(m, id, n)))
                return step_into(m, hlo_called(m, id, n), w);
        return false;
    case HLO_OP_PARAMETER:
        return is_body(m, hlo_at(m, id)->computation) &&
               step_into(m, hlo_at(m, id)->computation, w);
    case HLO_OP_OPT_BARRIER:
        w->at = operand_of(m, id, 0) + leaf;
        return true;
    case HLO_OP_DYNAMIC_UPDATE_SLICE:
        if (!w->in_loop)
            return false;
        w->at = operand_of(m, id, 1);
        w->in_loop = false;
        w->is_slice = true;
        return true;
    case HLO_OP_BROADCAST: /* to a slice of one, as JAX writes it */
        if (hlo_shape(m, id)->elements != hlo_shape(m, hlo_operand(m, id, 0))->elements)
            return false;
        w->at = operand_of(m, id, 0);
        return true;
    case HLO_OP_CONVERT:
    case HLO_OP_RESHAPE:
    case HLO_OP_BITCAST:
    case HLO_OP_COPY:
    case HLO_OP_TRANSPOSE:
        w->at = operand_of(m, id, 0);
        return true;
    default:
        return false;
    }
}

/* The value that a pass makes and that is added up; HLO_NONE: none is. */
static hlo_value fresh_of(const struct training *t, hlo_value gradient, bool *is_stacked)
{
    const struct hlo_module *m = t->classes->m;
    struct way w = {.at = hlo_value_source(m, gradient)};

    for (int n = 0; n < STEPS_MOST && step_back(m, &w); n++)
        w.at = hlo_value_source(m, w.at);
    *is_stacked = w.is_slice;
    hlo_id id = m->value_instruction[w.at];
    bool is_made = hlo_at(m, id)->opcode != HLO_OP_PARAMETER && !hlo_is_flow(m, id);

    return w.in_loop || !is_made || t->classes->is_free[w.at] || t->is_once[id] ? HLO_NONE : w.at;
}

static int64_t element_bytes(const struct hlo_shape *s)
{
    return s->elements > 0 && s->bytes >= s->elements ? s->bytes / s->elements : 1;
}

/* Whether the instruction that makes `v` sums over what the variable's gradient is reduced over: a
 * partial sum, which is scattered before it is added from ZeRO 2 on. */
static bool is_partial(const struct training *t, uint32_t param, hlo_value v)
{
    const struct training_variable *to = &t->variables[param];
    class_id list[ZERO_CLASSES_MOST];
    uint32_t count = training_sums(t->classes, t->classes->m->value_instruction[v], list);

    return count == to->reduced_count && !memcmp(list, to->reduced, count * sizeof *list);
}

void adding_up_find(struct training *t)
{
    const struct hlo_module *m = t->classes->m;

    for (uint32_t n = 0; n < t->roles->param_count; n++) {
        const struct hlo_param_role *r = &t->roles->params[n];
        if (r->role != HLO_ROLE_VARIABLE || r->gradient == HLO_NONE)
            continue;
        hlo_value v = fresh_of(t, r->gradient, &t->variables[n].is_stacked);
        if (v == HLO_NONE)
            continue;
        int64_t sum = element_bytes(hlo_value_shape(m, r->value)); /* whatever products leave */
        int64_t own = element_bytes(hlo_value_shape(m, v));
        t->adding[v] = (uint8_t)(1 + (2 * sum + own - 1) / own);
        t->adding[v] |= is_partial(t, n, v) ? ADDING_SUMS : 0;
    }
}
