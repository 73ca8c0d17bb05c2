#include "engine/cost/fusion.h"
#include "engine/cost/fusion_internal.h"
#include "engine/cost/on_host.h"
#include "hlo/module/attr.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/union_find.h"

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

/* The batch first, features last, spatial dims in order: the layout that backends multiply in. */
static bool is_in_order(const uint8_t *spatial, uint8_t count, uint8_t first, uint8_t last)
{
    for (uint8_t k = 0; k < count; k++) {
        if (spatial[k] != k + 1)
            return false;
    }
    return first == 0 && last == count + 1;
}

bool fusion_lays_out(const struct hlo_module *m, hlo_id id, uint32_t operand)
{
    const struct hlo_attr *a = hlo_attr(m, id, HLO_ATTR_DIM_LABELS);
    struct hlo_conv_dims d;

    if (hlo_at(m, id)->opcode != HLO_OP_CONVOLUTION || operand > 1 || !a ||
        !hlo_parse_conv_dims(a->text, a->size, &d))
        return false;
    if (operand == 0)
        return !is_in_order(d.in_spatial, d.spatial_count, d.in_batch, d.in_feature);
    bool is_kept = d.kernel_in == d.spatial_count && d.kernel_out == d.spatial_count + 1;
    for (uint8_t k = 0; k < d.spatial_count; k++)
        is_kept &= d.kernel_spatial[k] == k;
    return !is_kept;
}

/* Reductions over the major dims alone read their operand from memory. A transpose changes the
 * order of dims, not which one is minor in memory. */
static bool reduces_minor(const struct hlo_module *m, hlo_id id)
{
    hlo_id operand = hlo_operand(m, id, 0);
    int64_t dims[HLO_RANK_MAX], order[HLO_RANK_MAX];
    int64_t minor = (int64_t)hlo_shape(m, operand)->rank - 1;
    size_t count = hlo_attr_ints(m, id, HLO_ATTR_DIMENSIONS, dims);
    bool found = false;

    if (hlo_at(m, operand)->opcode == HLO_OP_TRANSPOSE) {
        size_t rank = hlo_attr_ints(m, operand, HLO_ATTR_DIMENSIONS, order);
        for (size_t k = 0; k < rank; k++) {
            if (order[k] == (int64_t)rank - 1)
                minor = (int64_t)k;
        }
    }
    for (size_t k = 0; k < count; k++)
        found |= dims[k] == minor;
    return found;
}

/* Products without a free dim on one side are multiplied and summed element by element (XLA's
 * algebraic simplifier, strength reduction of dots); without a contracted one, multiplied. */
static uint16_t acts_as(const struct hlo_module *m, hlo_id id)
{
    static const uint16_t batch[2] = {HLO_ATTR_LHS_BATCH_DIMS, HLO_ATTR_RHS_BATCH_DIMS};
    static const uint16_t contracted[2] = {HLO_ATTR_LHS_CONTRACTING_DIMS,
                                           HLO_ATTR_RHS_CONTRACTING_DIMS};
    int64_t dims[HLO_RANK_MAX];
    bool is_vector = false;
    size_t sums = 0;

    if (hlo_at(m, id)->opcode != HLO_OP_DOT)
        return hlo_acts_as(m, id);
    for (uint32_t k = 0; k < 2; k++) {
        sums = hlo_attr_ints(m, id, contracted[k], dims);
        is_vector |= hlo_attr_ints(m, id, batch[k], dims) + sums ==
                     hlo_shape(m, hlo_operand(m, id, k))->rank;
    }
    return !is_vector ? HLO_OP_DOT : sums ? HLO_OP_REDUCE : HLO_OP_MULTIPLY;
}

/* Products of matrices read a transposed operand where it lies (XLA's transpose folding). */
static bool folds_transposes(const struct hlo_module *m, hlo_id id)
{
    int64_t dims[HLO_RANK_MAX];

    return acts_as(m, id) == HLO_OP_DOT && hlo_attr_ints(m, id, HLO_ATTR_LHS_BATCH_DIMS, dims) == 0;
}

/* A transpose that only says how a product reads what lies in memory. */
static bool is_folded(const struct hlo_module *m, hlo_id id)
{
    if (hlo_at(m, id)->opcode != HLO_OP_TRANSPOSE)
        return false;
    for (uint32_t k = 0; k < hlo_at(m, id)->user_count; k++) {
        if (folds_transposes(m, hlo_user(m, id, k)))
            return true;
    }
    return false;
}

static bool convolution_absorbs(const struct hlo_module *m, hlo_id id, hlo_id made)
{
    bool found = false;

    for (uint32_t k = 0; k < hlo_at(m, id)->operand_count; k++) {
        if (hlo_operand(m, id, k) != made)
            continue;
        if (!fusion_lays_out(m, id, k))
            return false;
        found = true;
    }
    return found;
}

bool fusion_absorbs(const struct hlo_module *m, hlo_id reader, hlo_id made)
{
    uint16_t opcode = acts_as(m, reader);

    if (opcode == HLO_OP_DOT)
        return hlo_at(m, made)->opcode == HLO_OP_TRANSPOSE && folds_transposes(m, reader);
    if (is_folded(m, reader))
        return false;
    if (opcode == HLO_OP_CONVOLUTION)
        return convolution_absorbs(m, reader, made);
    if (hlo_at(m, reader)->opcode == HLO_OP_REDUCE)
        return reduces_minor(m, reader);
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

/* A buffer is named after the value in the outermost computation that holds it, among those after
 * the one made first: loop state belongs to who starts the loop. */
static void join_values(const struct hlo_module *m, struct fusion *f, const uint32_t *depth,
                        hlo_value a, hlo_value b)
{
    a = union_root(f->buffer, a);
    b = union_root(f->buffer, b);
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
            join_values(m, f, depth, m->leaf_base[id], m->leaf_base[hlo_operand(m, id, 0)]);
        if (!hlo_is_flow(m, id))
            continue;
        rc = hlo_flows_of(m, id, &flows, e);
        if (rc)
            goto out;
        for (size_t k = 0; k < flows.count; k++) {
            const struct hlo_flow *flow = &flows.items[k];
            /* What begins free is made where it is needed: the buffer is that of what goes on. */
            if (!flow->is_copy && !(is_free[flow->from] && !is_free[flow->to]))
                join_values(m, f, depth, flow->from, flow->to);
        }
    }
    for (hlo_value v = 0; v < m->value_count; v++)
        f->buffer[v] = union_root(f->buffer, v);
out:
    hlo_flows_release(&flows);
    free(depth);
    return rc;
}

enum { SMALL = 8, THROUGH_TUPLES_MOST = 8, READS_MOST = 2 };

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

struct readers {
    const struct hlo_module *m;
    fusion_takes *takes;
    const void *self;
    hlo_id made;
    bool all;          /* stop at the first that does not take it */
    uint32_t count[2]; /* that do not, that do */
};

static void count_readers(struct readers *r, hlo_value v, int depth)
{
    const struct hlo_module *m = r->m;
    hlo_id id = m->value_instruction[v];

    if (m->instructions[id].is_root || depth > THROUGH_TUPLES_MOST)
        r->count[0]++;
    if (depth > THROUGH_TUPLES_MOST)
        return;
    for (uint32_t k = 0; k < hlo_at(m, id)->user_count && !(r->all && r->count[0]); k++) {
        hlo_id user = hlo_user(m, id, k);
        const struct hlo_instruction *u = hlo_at(m, user);
        if (u->opcode == HLO_OP_TUPLE && u->is_root) { /* before a look through all results */
            r->count[0]++;
        } else if (u->opcode == HLO_OP_TUPLE) {
            hlo_value leaf = m->leaf_base[user];
            for (uint32_t n = 0; n < u->operand_count; n++) {
                hlo_id o = hlo_operand(m, user, n);
                if (o == id)
                    count_readers(r, leaf + hlo_value_leaf(m, v), depth + 1);
                leaf += m->leaf_base[o + 1] - m->leaf_base[o];
            }
        } else if (u->opcode == HLO_OP_GET_TUPLE_ELEMENT) {
            uint32_t count;
            hlo_value first = hlo_part_values(m, id, u->number, &count);
            if (v >= first && v < first + count)
                count_readers(r, m->leaf_base[user] + (v - first), depth + 1);
        } else {
            r->count[r->takes(r->self, user, r->made)]++;
        }
    }
}

bool fusion_all_take(const struct hlo_module *m, hlo_value v, fusion_takes *takes, const void *self,
                     uint32_t *readers)
{
    struct readers r = {
        .m = m, .takes = takes, .self = self, .made = m->value_instruction[v], .all = true};

    count_readers(&r, v, 0);
    *readers = r.count[1];
    return !r.count[0];
}

struct takers {
    const struct hlo_module *m;
    bool is_free; /* what is read: loops that it begins make it in place */
};

static bool absorbs(const void *self, hlo_id reader, hlo_id made)
{
    const struct takers *t = self;

    return fusion_absorbs(t->m, reader, made) || (t->is_free && hlo_is_flow(t->m, reader));
}

/* Operands of the result's rank that are not spread from something smaller, up to `most`. */
static uint32_t full_operands(const struct hlo_module *m, hlo_id id, uint32_t most)
{
    uint32_t count = 0;

    for (uint32_t k = 0; k < hlo_at(m, id)->operand_count && count < most; k++) {
        hlo_id o = hlo_operand(m, id, k);
        uint16_t opcode = hlo_at(m, o)->opcode;
        count += opcode != HLO_OP_BROADCAST && opcode != HLO_OP_IOTA &&
                 hlo_shape(m, o)->rank >= hlo_shape(m, id)->rank &&
                 hlo_shape(m, o)->bytes > hlo_shape(m, id)->bytes / SMALL;
    }
    return count;
}

/* Making it twice reads no more than keeping it: at most one operand, or operands no larger. */
static bool reads_no_more(const struct hlo_module *m, hlo_id id)
{
    int64_t bytes = 0;

    if (full_operands(m, id, 2) < 2)
        return true;
    for (uint32_t k = 0; k < hlo_at(m, id)->operand_count; k++) {
        bool is_again = false;
        for (uint32_t n = 0; n < k; n++)
            is_again |= hlo_operand(m, id, n) == hlo_operand(m, id, k);
        bytes += is_again ? 0 : hlo_shape(m, hlo_operand(m, id, k))->bytes;
    }
    return bytes <= hlo_shape(m, id)->bytes;
}

enum fate { IS_STORED, IS_REMADE, IS_FUSED };

/* `reads`: values of about its size that making it reads, itself or through fused operands. */
static enum fate fate_of(const struct hlo_module *m, hlo_id id, bool is_free, unsigned reads)
{
    struct takers takers = {m, is_free};
    struct readers r = {.m = m, .takes = absorbs, .self = &takers, .made = id};
    uint16_t opcode = acts_as(m, id);

    if (is_free && hlo_at(m, id)->opcode == HLO_OP_CONSTANT)
        return IS_FUSED;
    if (!fusion_is_fusible(opcode) || !hlo_at(m, id)->user_count ||
        m->leaf_base[id] == m->leaf_base[id + 1])
        return IS_STORED;
    r.all = !is_cheap(opcode) || !reads_no_more(m, id);
    count_readers(&r, m->leaf_base[id], 0);
    if (!r.count[0])
        return r.count[1] == 1 || (is_cheap(opcode) && reads <= READS_MOST) ? IS_FUSED : IS_STORED;
    return r.all || !r.count[1] ? IS_STORED : IS_REMADE;
}

int fusion_new(const struct hlo_module *m, const bool *is_free, struct fusion *out, struct err *e)
{
    struct fusion f = {.buffer = mem_try(m->value_count, sizeof *f.buffer),
                       .is_stored = mem_try(m->value_count, 1),
                       .is_remade = mem_try(m->value_count, 1),
                       .is_on_host = mem_try(m->value_count, 1)};
    uint8_t *reads = mem_try(m->count, 1);
    bool ok = f.buffer && f.is_stored && f.is_remade && f.is_on_host && reads;
    int rc = ok ? find_aliases(m, is_free, &f, e) : err_no_memory(e, "for fusion");

    if (rc)
        goto out;
    for (hlo_id id = 0; id < m->count; id++) {
        hlo_value first = m->leaf_base[id];
        bool is_none = first == m->leaf_base[id + 1];
        reads[id] = fusion_count_reads(m, f.buffer, f.is_stored, id, reads, READS_MOST + 1);
        enum fate fate = is_none ? IS_FUSED : fate_of(m, id, is_free[first], reads[id]);
        for (hlo_value v = first; v < m->leaf_base[id + 1]; v++) {
            f.is_stored[v] = f.buffer[v] == v && fate != IS_FUSED;
            f.is_remade[v] = f.is_stored[v] && fate == IS_REMADE;
        }
        /* A reshape whose users cannot absorb its operand's computation needs it in memory. */
        if (fate != IS_FUSED && fusion_is_alias(hlo_at(m, id)->opcode)) {
            hlo_value own = f.buffer[first];
            f.is_remade[own] = f.is_stored[own] ? f.is_remade[own] : fate == IS_REMADE;
            f.is_stored[own] = 1;
        }
    }
    on_host_find(m, f.buffer, f.is_on_host);
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
    for (hlo_value v = 0; v < m->value_count; v++) {
        f->is_stored[v] &= !is_inside[v];
        f->is_remade[v] &= !is_inside[v];
    }
}

void fusion_release(struct fusion *f)
{
    free(f->buffer);
    free(f->is_stored);
    free(f->is_remade);
    free(f->is_on_host);
    memset(f, 0, sizeof *f);
}
