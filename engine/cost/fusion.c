#include "engine/cost/fusion.h"
#include "engine/cost/fusion_internal.h"
#include "hlo/module/attr.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include "hlo/module/flows.h"
#include "hlo/module/special.h"

#include <string.h>

enum { ROW_MOST = 65536 }; /* elements */

bool fusion_is_fusible(uint16_t opcode)
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

bool fusion_reduces_rows(const struct hlo_module *m, hlo_id id)
{
    const struct hlo_shape *s = hlo_shape(m, hlo_operand(m, id, 0));
    int64_t dims[HLO_RANK_MAX], row = 1;
    size_t count = hlo_attr_ints(m, id, HLO_ATTR_DIMENSIONS, dims);

    for (size_t k = 0; k < count; k++) {
        if (dims[k] < (int64_t)s->rank - (int64_t)count || dims[k] >= s->rank)
            return false;
        row *= s->dims[dims[k]];
    }
    return count && row <= ROW_MOST;
}

/* Consumers that take an operand's computation into their own loop. */
static bool can_absorb(uint16_t opcode)
{
    return fusion_is_fusible(opcode) || opcode == HLO_OP_REDUCE ||
           opcode == HLO_OP_DYNAMIC_UPDATE_SLICE || opcode == HLO_OP_SCATTER ||
           opcode == HLO_OP_REDUCE_WINDOW;
}

/* Recomputing it in several users costs next to nothing. */
static bool is_cheap(uint16_t opcode)
{
    if (opcode >= HLO_OP_UNKNOWN || opcode == HLO_OP_DIVIDE)
        return false;
    return fusion_is_fusible(opcode) && hlo_op_info[opcode].cost != HLO_COST_TRANSCENDENTAL &&
           opcode != HLO_OP_GATHER && opcode != HLO_OP_CONCATENATE;
}

bool fusion_is_alias(uint16_t opcode)
{
    return opcode == HLO_OP_RESHAPE || opcode == HLO_OP_BITCAST;
}

static hlo_value root_of(const struct fusion *f, hlo_value v)
{
    while (f->buffer[v] != v)
        v = f->buffer[v];
    return v;
}

/* A buffer is named after the value in the outermost computation that holds it, among those after
 * the one made first: loop state belongs to who starts the loop. */
static void join(const struct hlo_module *m, struct fusion *f, const uint32_t *depth, hlo_value a,
                 hlo_value b)
{
    a = root_of(f, a);
    b = root_of(f, b);
    uint32_t da = depth[m->instructions[m->value_instruction[a]].computation];
    uint32_t db = depth[m->instructions[m->value_instruction[b]].computation];
    if (da < db || (da == db && a < b))
        f->buffer[b] = a;
    else
        f->buffer[a] = b;
}

/* How deep below the entry each computation is called; callers come after what they call. */
static uint32_t *call_depths(const struct hlo_module *m)
{
    uint32_t *depth = mem_try(m->computation_count, sizeof *depth);

    for (hlo_comp c = m->computation_count; depth && c--;) {
        const struct hlo_computation *comp = &m->computations[c];
        for (uint32_t k = 0; k < comp->caller_count; k++) {
            uint32_t d = depth[m->instructions[comp->callers[k]].computation] + 1;
            if (d > depth[c])
                depth[c] = d;
        }
    }
    return depth;
}

static int find_aliases(const struct hlo_module *m, const bool *is_free, struct fusion *f,
                        struct err *e)
{
    struct hlo_flows flows = {0};
    uint32_t *depth = call_depths(m);
    int rc = depth ? 0 : err_no_memory(e, "for fusion");

    for (hlo_value v = 0; v < m->value_count; v++)
        f->buffer[v] = v;
    if (rc)
        goto out;
    for (hlo_id id = 0; id < m->count; id++) {
        const struct hlo_instruction *i = hlo_at(m, id);
        if (fusion_is_alias(i->opcode) && i->operand_count == 1 && !is_free[m->leaf_base[id]])
            join(m, f, depth, m->leaf_base[id], m->leaf_base[hlo_operand(m, id, 0)]);
        if (!hlo_is_flow(m, id))
            continue;
        rc = hlo_flows_of(m, id, &flows, e);
        if (rc)
            goto out;
        for (size_t k = 0; k < flows.count; k++) {
            const struct hlo_flow *flow = &flows.items[k];
            /* What begins free is made where it is needed: the buffer is that of what goes on. */
            if (!flow->is_copy && !(is_free[flow->from] && !is_free[flow->to]))
                join(m, f, depth, flow->from, flow->to);
        }
    }
    for (hlo_value v = 0; v < m->value_count; v++)
        f->buffer[v] = root_of(f, v);
out:
    hlo_flows_release(&flows);
    free(depth);
    return rc;
}

enum { SMALL = 8, THROUGH_TUPLES_MOST = 8 };

uint8_t fusion_count_reads(const struct hlo_module *m, const hlo_value *buffer,
                           const uint8_t *is_stored, hlo_id id, const uint8_t *reads, unsigned most)
{
    const struct hlo_instruction *i = hlo_at(m, id);
    int64_t own = hlo_shape(m, id)->bytes;
    unsigned count = 0;

    for (uint32_t k = 0; k < i->operand_count && count < most; k++) {
        hlo_id o = hlo_operand(m, id, k);
        if (m->leaf_base[o + 1] == m->leaf_base[o])
            continue;
        hlo_value v = buffer[m->leaf_base[o]];
        if (hlo_value_shape(m, v)->bytes < own / SMALL)
            continue;
        count += is_stored[v] ? 1u : reads[m->value_instruction[v]];
    }
    return (uint8_t)(count < most ? count : most);
}

static bool all_take(const struct hlo_module *m, hlo_value v, fusion_takes *takes, const void *self,
                     hlo_id made, int depth, uint32_t *readers)
{
    hlo_id id = m->value_instruction[v];

    if (m->instructions[id].is_root || depth > THROUGH_TUPLES_MOST)
        return false;
    for (uint32_t k = 0; k < hlo_at(m, id)->user_count; k++) {
        hlo_id user = hlo_user(m, id, k);
        const struct hlo_instruction *u = hlo_at(m, user);
        if (u->opcode == HLO_OP_TUPLE) {
            if (u->is_root) /* before a look through all results of the step */
                return false;
            hlo_value leaf = m->leaf_base[user];
            for (uint32_t n = 0; n < u->operand_count; n++) {
                hlo_id o = hlo_operand(m, user, n);
                uint32_t leaves = m->leaf_base[o + 1] - m->leaf_base[o];
                if (o == id && !all_take(m, leaf + hlo_value_leaf(m, v), takes, self, made,
                                         depth + 1, readers))
                    return false;
                leaf += leaves;
            }
        } else if (u->opcode == HLO_OP_GET_TUPLE_ELEMENT) {
            uint32_t count;
            hlo_value first = hlo_part_values(m, id, u->number, &count);
            if (v >= first && v < first + count &&
                !all_take(m, m->leaf_base[user] + (v - first), takes, self, made, depth + 1,
                          readers))
                return false;
        } else if (takes(self, user, made)) {
            ++*readers;
        } else {
            return false;
        }
    }
    return true;
}

bool fusion_all_take(const struct hlo_module *m, hlo_value v, fusion_takes *takes, const void *self,
                     uint32_t *readers)
{
    return all_take(m, v, takes, self, m->value_instruction[v], 0, readers);
}

static bool absorbs(const void *self, hlo_id reader, hlo_id made)
{
    (void)made;
    return can_absorb(hlo_acts_as(self, reader));
}

static bool fuses_away(const struct hlo_module *m, hlo_id id, uint8_t reads)
{
    const struct hlo_instruction *i = hlo_at(m, id);
    uint32_t readers = 0;

    uint16_t opcode = hlo_acts_as(m, id);
    if (!fusion_is_fusible(opcode) || !i->user_count || m->leaf_base[id] == m->leaf_base[id + 1] ||
        !fusion_all_take(m, m->leaf_base[id], absorbs, m, &readers))
        return false;
    return readers == 1 || (is_cheap(opcode) && reads <= 2);
}

int fusion_new(const struct hlo_module *m, const bool *is_free, struct fusion *out, struct err *e)
{
    struct fusion f = {.buffer = mem_try(m->value_count, sizeof *f.buffer),
                       .is_stored = mem_try(m->value_count, 1)};
    uint8_t *reads = mem_try(m->count, 1);
    int rc = f.buffer && f.is_stored && reads ? find_aliases(m, is_free, &f, e)
                                              : err_no_memory(e, "for fusion");

    if (rc)
        goto out;
    for (hlo_id id = 0; id < m->count; id++) {
        reads[id] = fusion_count_reads(m, f.buffer, f.is_stored, id, reads, 3);
        bool fused = fuses_away(m, id, reads[id]);
        for (hlo_value v = m->leaf_base[id]; v < m->leaf_base[id + 1]; v++)
            f.is_stored[v] = f.buffer[v] == v && !is_free[v] && !fused;
    }
    /* A reshape whose users cannot absorb its operand's computation needs the operand in memory. */
    for (hlo_id id = 0; id < m->count; id++) {
        if (fusion_is_alias(hlo_at(m, id)->opcode) && !is_free[m->leaf_base[id]] &&
            !fuses_away(m, id, reads[id]))
            f.is_stored[f.buffer[m->leaf_base[id]]] = 1;
    }
out:
    free(reads);
    if (rc)
        fusion_release(&f);
    else
        *out = f;
    return rc;
}

void fusion_hide(const struct hlo_module *m, struct fusion *f, const uint8_t *is_inside)
{
    for (hlo_value v = 0; v < m->value_count; v++)
        f->is_stored[v] &= !is_inside[v];
}

void fusion_release(struct fusion *f)
{
    free(f->buffer);
    free(f->is_stored);
    memset(f, 0, sizeof *f);
}
