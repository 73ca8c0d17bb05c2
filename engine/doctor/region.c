/* What lies around an instruction of the program before partitioning, as far as splits go. */
#include "engine/doctor/region.h"

#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"

enum { NEAR_MOST = 48, NEAR_STEPS = 8, FAR_STEPS = 24, ELEMENTS_MOST = 1024 };

bool region_has(const struct region *g, hlo_id id)
{
    for (uint32_t k = 0; k < g->count; k++) {
        if (g->id[k] == id)
            return true;
    }
    return false;
}

static void region_add(struct region *g, hlo_id id)
{
    if (g->count < g->most && !region_has(g, id))
        g->id[g->count++] = id;
}

/* A split goes on through it: to its other side belongs what decides there. */
static bool passes_through(const struct hlo_module *m, hlo_id id)
{
    uint16_t opcode = hlo_at(m, id)->opcode;

    return hlo_op_info[opcode].flags & HLO_OP_IS_ELEMENTWISE || opcode == HLO_OP_COPY ||
           opcode == HLO_OP_RESHAPE || opcode == HLO_OP_TRANSPOSE || opcode == HLO_OP_BROADCAST ||
           opcode == HLO_OP_CONVERT || opcode == HLO_OP_GET_TUPLE_ELEMENT ||
           opcode == HLO_OP_TUPLE || opcode == HLO_OP_PARAMETER || opcode == HLO_OP_SLICE ||
           opcode == HLO_OP_PAD;
}

static void add_element(const struct hlo_module *m, hlo_id tuple, uint32_t number, struct region *g)
{
    if (hlo_at(m, tuple)->opcode == HLO_OP_TUPLE && number < hlo_at(m, tuple)->operand_count)
        region_add(g, hlo_operand(m, tuple, number));
}

static void add_elements_of(const struct hlo_module *m, hlo_id whole, uint32_t number,
                            struct region *g)
{
    for (uint32_t n = 0; n < hlo_at(m, whole)->user_count && n < ELEMENTS_MOST; n++) {
        const struct hlo_instruction *i = hlo_at(m, hlo_user(m, whole, n));
        if (i->opcode == HLO_OP_GET_TUPLE_ELEMENT && i->number == number)
            region_add(g, hlo_user(m, whole, n));
    }
}

/* Inside a loop and outside of it, what it carries under one number is one value. */
static void add_over_loop(const struct hlo_module *m, hlo_id id, struct region *g)
{
    uint32_t number = hlo_at(m, id)->number;
    hlo_id whole, loop;

    if (hlo_at(m, id)->opcode != HLO_OP_GET_TUPLE_ELEMENT)
        return;
    whole = loop = hlo_operand(m, id, 0);
    const struct hlo_computation *c = &m->computations[hlo_at(m, whole)->computation];
    if (hlo_at(m, whole)->opcode == HLO_OP_PARAMETER && c->caller_count == 1)
        loop = c->callers[0];
    if (hlo_at(m, loop)->opcode != HLO_OP_WHILE)
        return;
    add_element(m, hlo_operand(m, loop, 0), number, g);
    add_elements_of(m, loop, number, g);
    if (whole != loop)
        add_elements_of(m, whole, number, g);
    for (uint32_t n = 0; n < hlo_at(m, loop)->called_count; n++)
        add_element(m, m->computations[hlo_called(m, loop, n)].root, number, g);
}

void region_find(const struct hlo_module *m, hlo_id from, enum region_reach reach, struct region *g)
{
    bool far = reach == REGION_FAR;
    uint32_t steps = far ? FAR_STEPS : NEAR_STEPS;
    hlo_id root = m->computations[m->entry].root;

    if (hlo_at(m, root)->opcode != HLO_OP_TUPLE)
        root = HLO_NONE;

    g->count = 0;
    g->most = far ? REGION_MOST : NEAR_MOST;
    region_add(g, from);
    for (uint32_t k = 0, end = 1, step = 0; k < g->count && step < steps; step++) {
        for (; k < end; k++) {
            hlo_id id = g->id[k];
            const struct hlo_instruction *i = hlo_at(m, id);
            if (k && !far && !passes_through(m, id))
                continue;
            if (id == root) /* the results have nothing else in common */
                continue;
            for (uint32_t n = 0; n < i->operand_count && n < NEAR_MOST; n++)
                region_add(g, hlo_operand(m, id, n));
            for (uint32_t n = 0; n < i->user_count && n < NEAR_MOST; n++)
                region_add(g, hlo_user(m, id, n));
            if (reach == REGION_OVER_LOOPS)
                add_over_loop(m, id, g);
        }
        end = g->count;
    }
}
