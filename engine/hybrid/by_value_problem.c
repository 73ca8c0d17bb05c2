/* The values of a stage, what they take and what they are computed from. */
#include "engine/hybrid/by_value.h"
#include "engine/hybrid/sections.h"
#include "engine/hybrid/stage_costs.h"
#include "engine/hybrid/stage_rows.h"
#include "engine/pipeline/order.h"
#include "engine/pipeline/unroll.h"
#include "engine/problem/problem.h"
#include "engine/recompute/keeping.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/attr.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <stdlib.h>
#include <string.h>

struct maker {
    const struct stage_costs *k;
    const struct unrolled *u;
    uint32_t first, end;  /* sections */
    uint32_t *section_of; /* [ops] of those in the stage; UINT32_MAX: another */
    struct keep_problem *p;
    uint32_t *of; /* [values] */
};

static bool is_of_pass(const struct maker *m, uint32_t op)
{
    const struct sections *s = m->k->s;

    return s->pass[op] == SECTION_FORWARD && !s->is_remade[op] && !m->u->ops[op].is_free;
}

/* Cannot be repeated: what it makes depends on more than its operands. */
static bool is_once(const struct maker *m, uint32_t op)
{
    const struct hlo_module *x = m->k->p->m;
    hlo_id id = m->u->ops[op].id;
    uint16_t opcode = hlo_at(x, id)->opcode;

    return opcode == HLO_OP_RNG || opcode == HLO_OP_RNG_BIT_GENERATOR ||
           opcode == HLO_OP_RNG_GET_AND_UPDATE_STATE || opcode == HLO_OP_INFEED ||
           opcode == HLO_OP_WHILE || opcode == HLO_OP_CONDITIONAL ||
           hlo_attr_bool(x, id, HLO_ATTR_CUSTOM_CALL_HAS_SIDE_EFFECT, false) ||
           (opcode < HLO_OP_UNKNOWN && (hlo_op_info[opcode].flags & HLO_OP_IS_COLLECTIVE));
}

static double bytes_of(const struct maker *m, uint32_t value)
{
    double figure[ROW_FIGURES] = {0};

    stage_costs_value(m->k, &(struct section_value){value, SECTION_KEPT}, figure);
    return figure[ROW_KEPT];
}

static bool add_node(struct maker *m, uint32_t value, struct keep_value v)
{
    struct keep_problem *p = m->p;

    if (!mem_grow(&p->values, &p->value_room, p->count, 1))
        return false;
    v.bytes = bytes_of(m, value);
    p->values[p->count++] = v;
    m->of[value] = p->count;
    return true;
}

/* Data of a batch, as opposed to variables and to what is computed once a step. */
static bool is_data(const struct maker *m, uint32_t value)
{
    const struct unroll_value *v = &m->u->values[value];
    const struct hlo_roles *roles = &m->k->p->roles;

    if (v->op != UNROLL_NONE)
        return v->is_varying && !m->u->ops[v->op].is_backward;
    return v->param != UNROLL_NONE && roles->params[v->param].role == HLO_ROLE_INPUT;
}

/* What an operation of a section reads: values of other sections, and inputs, are held. */
static bool add_operands(struct maker *m, uint32_t op)
{
    const struct unroll_op *o = &m->u->ops[op];
    uint32_t group = m->section_of[op];

    for (uint32_t n = 0; n < o->operand_count; n++) {
        uint32_t v = m->u->operands[o->operands + n];
        if (!is_data(m, v))
            continue;
        if (!m->of[v] &&
            !add_node(m, v, (struct keep_value){.group = group - m->first, .is_held = true}))
            return false;
        if (m->p->values[m->of[v] - 1].group != group - m->first)
            m->p->values[m->of[v] - 1].is_held = true;
    }
    return true;
}

static bool add_results(struct maker *m, uint32_t op)
{
    const struct unroll_op *o = &m->u->ops[op];
    struct keep_problem *p = m->p;
    double ms[COSTS];
    uint32_t reads = p->edge_count;

    stage_costs_operation(m->k, op, ms);
    if (!mem_grow(&p->edges, &p->edge_room, p->edge_count, o->operand_count + 1))
        return false;
    for (uint32_t n = 0; n < o->operand_count; n++) {
        uint32_t v = m->u->operands[o->operands + n];
        if (is_data(m, v))
            p->edges[p->edge_count++] = m->of[v] - 1;
    }
    for (uint32_t v = o->values; v < o->values + o->value_count; v++) {
        struct keep_value value = {.ms = ms[COST_IN_PASS],
                                   .reads = reads,
                                   .read_count = p->edge_count - reads,
                                   .group = m->section_of[op] - m->first,
                                   .is_held = is_once(m, op),
                                   .is_passed = !m->u->values[v].is_stored};
        if (m->u->values[v].is_varying && !add_node(m, v, value))
            return false;
    }
    return true;
}

static void mark_needed(struct maker *m)
{
    const struct sections *s = m->k->s;

    for (uint32_t n = s->value_base[m->first]; n < s->value_base[m->end]; n++)
        if (s->values[n].use == SECTION_KEPT && m->of[s->values[n].value])
            m->p->values[m->of[s->values[n].value] - 1].is_needed = true;
    for (uint32_t n = 0; n < s->spread_count; n++) {
        const struct section_spread *x = &s->spread[n];
        bool is_used = false;
        for (uint32_t k = 0; k < x->section_count; k++)
            is_used |= s->spread_pool[x->sections + k] >= m->first &&
                       s->spread_pool[x->sections + k] < m->end;
        if (is_used && x->use == SECTION_KEPT && m->of[x->value])
            m->p->values[m->of[x->value] - 1].is_needed = true;
    }
}

static bool fill(struct maker *m)
{
    const struct sections *s = m->k->s;
    bool ok = true;

    memset(m->of, 0, m->u->value_count * sizeof *m->of);
    memset(m->section_of, 0xff, m->u->op_count * sizeof *m->section_of);
    for (uint32_t i = m->first; i < m->end; i++)
        for (uint32_t n = s->op_base[i]; n < s->op_base[i + 1]; n++)
            m->section_of[s->op[n]] = i;
    for (uint32_t op = 0; op < m->u->op_count && ok; op++)
        if (m->section_of[op] != UINT32_MAX && is_of_pass(m, op))
            ok = add_operands(m, op) && add_results(m, op);
    mark_needed(m);
    m->p->groups = m->end - m->first;
    return ok;
}

int by_value_problem(const struct stage_costs *k, uint32_t i, uint32_t j, struct keep_problem *out,
                     uint32_t *of, struct err *e)
{
    struct maker m = {.k = k, .u = &k->s->order->steps, .first = i, .end = j, .p = out, .of = of};

    *out = (struct keep_problem){0};
    m.section_of = mem_try((size_t)m.u->op_count + 1, sizeof *m.section_of);
    bool ok = m.section_of && fill(&m);
    free(m.section_of);
    if (ok)
        return 0;
    keep_problem_release(out);
    return err_no_memory(e, "for what stages keep");
}
