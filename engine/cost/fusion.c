#include "engine/cost/fusion.h"

#include "hlo/factors.h"

#include <string.h>

/* Work that a consumer can do on the fly: one output element from few input elements. */
static bool is_fusible(uint16_t opcode)
{
    switch (opcode) {
    case HLO_OP_BROADCAST:
    case HLO_OP_RESHAPE:
    case HLO_OP_BITCAST:
    case HLO_OP_TRANSPOSE:
    case HLO_OP_SLICE:
    case HLO_OP_PAD:
    case HLO_OP_REVERSE:
    case HLO_OP_CONCATENATE:
    case HLO_OP_IOTA:
    case HLO_OP_DYNAMIC_SLICE:
    case HLO_OP_GATHER:
        return true;
    default:
        return opcode < HLO_OP_UNKNOWN && (hlo_op_info[opcode].flags & HLO_OP_IS_ELEMENTWISE);
    }
}

/* Consumers that take an operand's computation into their own loop. */
static bool can_absorb(uint16_t opcode)
{
    return is_fusible(opcode) || opcode == HLO_OP_REDUCE || opcode == HLO_OP_DYNAMIC_UPDATE_SLICE ||
           opcode == HLO_OP_SCATTER || opcode == HLO_OP_REDUCE_WINDOW;
}

/* Recomputing it in several users costs next to nothing. */
static bool is_cheap(uint16_t opcode)
{
    if (opcode >= HLO_OP_UNKNOWN || opcode == HLO_OP_DIVIDE)
        return false;
    return is_fusible(opcode) && hlo_op_info[opcode].cost != HLO_COST_TRANSCENDENTAL &&
           opcode != HLO_OP_GATHER && opcode != HLO_OP_CONCATENATE;
}

static bool is_alias_op(uint16_t opcode)
{
    return opcode == HLO_OP_RESHAPE || opcode == HLO_OP_BITCAST;
}

static hlo_value root_of(const struct fusion *f, hlo_value v)
{
    while (f->buffer[v] != v)
        v = f->buffer[v];
    return v;
}

/* The later value takes the earlier one's buffer, so that chains end at the value made first. */
static void join(struct fusion *f, hlo_value a, hlo_value b)
{
    a = root_of(f, a);
    b = root_of(f, b);
    if (a < b)
        f->buffer[b] = a;
    else
        f->buffer[a] = b;
}

static int find_aliases(const struct hlo_module *m, const uint8_t *is_free, struct fusion *f, struct err *e)
{
    struct hlo_flows flows = {0};
    int rc = 0;

    for (hlo_value v = 0; v < m->value_count; v++)
        f->buffer[v] = v;
    for (hlo_id id = 0; id < m->count && !rc; id++) {
        const struct hlo_instruction *i = hlo_at(m, id);
        if (is_alias_op(i->opcode) && i->operand_count == 1 && !is_free[m->leaf_base[id]])
            join(f, m->leaf_base[id], m->leaf_base[hlo_operand(m, id, 0)]);
        if (!(hlo_op_info[i->opcode].flags & HLO_OP_IS_FLOW))
            continue;
        rc = hlo_flows_of(m, id, &flows, e);
        for (size_t k = 0; k < flows.count && !rc; k++) {
            if (!flows.items[k].is_copy)
                join(f, flows.items[k].from, flows.items[k].to);
        }
    }
    for (hlo_value v = 0; v < m->value_count && !rc; v++)
        f->buffer[v] = root_of(f, v);
    hlo_flows_release(&flows);
    return rc;
}

/* Stored values that one reads to compute `id`, at most 3 counted: its operands, or through fused
 * operands what those are made of. reads[o] was found before, operands come first. */
static uint8_t count_reads(const struct hlo_module *m, const struct fusion *f, hlo_id id, const uint8_t *reads)
{
    const struct hlo_instruction *i = hlo_at(m, id);
    unsigned count = 0;

    for (uint32_t k = 0; k < i->operand_count && count < 3; k++) {
        hlo_id o = hlo_operand(m, id, k);
        if (m->leaf_base[o + 1] == m->leaf_base[o])
            continue;
        hlo_value v = f->buffer[m->leaf_base[o]];
        count += f->is_stored[v] ? 1u : reads[m->value_instruction[v]];
    }
    return (uint8_t)(count < 3 ? count : 3);
}

static bool fuses_away(const struct hlo_module *m, hlo_id id, uint8_t reads)
{
    const struct hlo_instruction *i = hlo_at(m, id);

    if (!is_fusible(i->opcode) || !i->user_count || i->is_root)
        return false;
    for (uint32_t k = 0; k < i->user_count; k++) {
        hlo_id user = hlo_user(m, id, k);
        if (!can_absorb(hlo_at(m, user)->opcode))
            return false;
    }
    return i->user_count == 1 || (is_cheap(i->opcode) && reads <= 2);
}

int fusion_new(const struct hlo_module *m, const uint8_t *is_free, struct fusion *out, struct err *e)
{
    struct fusion f = {.buffer = mem_try(m->value_count, sizeof *f.buffer),
                       .is_stored = mem_try(m->value_count, 1)};
    uint8_t *reads = mem_try(m->count, 1);
    int rc = f.buffer && f.is_stored && reads ? find_aliases(m, is_free, &f, e)
                                              : err_set(e, ERR_MEMORY, "not enough memory for fusion");

    for (hlo_id id = 0; id < m->count && !rc; id++) {
        reads[id] = count_reads(m, &f, id, reads);
        bool fused = fuses_away(m, id, reads[id]);
        for (hlo_value v = m->leaf_base[id]; v < m->leaf_base[id + 1]; v++)
            f.is_stored[v] = f.buffer[v] == v && !is_free[v] && !fused;
    }
    /* A reshape whose users cannot absorb its operand's computation needs the operand in memory. */
    for (hlo_id id = 0; id < m->count && !rc; id++) {
        if (is_alias_op(hlo_at(m, id)->opcode) && !is_free[m->leaf_base[id]] && !fuses_away(m, id, reads[id]))
            f.is_stored[f.buffer[m->leaf_base[id]]] = 1;
    }
    free(reads);
    if (rc)
        fusion_release(&f);
    else
        *out = f;
    return rc;
}

void fusion_release(struct fusion *f)
{
    free(f->buffer);
    free(f->is_stored);
    memset(f, 0, sizeof *f);
}
