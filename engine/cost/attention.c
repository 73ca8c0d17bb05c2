#include "engine/cost/attention.h"

#include "hlo/module/attr.h"
#include "hlo/module/flows.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <string.h>

struct build {
    const struct classes *c;
    const struct hlo_module *m;
    const struct hlo_roles *roles;
    const struct fusion *f;
    struct attention *out;
    uint32_t *first_use, *uses; /* [values + 1] into uses: instructions that read each, not flows */
    uint8_t *escapes;           /* [values] handed on as they are: to loops, branches, the caller */
    uint32_t *next_update, *first_update; /* updates and slices of each buffer, as lists */
    uint32_t *attention_of;               /* [instructions] number + 1 */
    hlo_id *queue;                        /* [instructions] of the one that grows now */
    uint32_t head, tail;
    hlo_value *stacks; /* buffers of whole stacks of pairs, of the one that grows now */
    uint32_t stack_count;
    uint8_t *is_stack; /* [values] */
    int64_t elements;
};

/* ---- uses behind tuples and barriers ---- */

static hlo_value behind_flows(const struct hlo_module *m, hlo_value v)
{
    for (;;) {
        hlo_value from = hlo_value_source(m, v);
        hlo_id id = m->value_instruction[from];
        if (hlo_at(m, id)->opcode != HLO_OP_OPT_BARRIER)
            return from;
        v = hlo_value_of(m, hlo_operand(m, id, 0), hlo_value_leaf(m, from));
    }
}

static bool is_transparent(uint16_t opcode)
{
    return opcode == HLO_OP_TUPLE || opcode == HLO_OP_GET_TUPLE_ELEMENT ||
           opcode == HLO_OP_OPT_BARRIER;
}

/* Calls `fn` for every array an instruction reads, and what it is behind flows. */
static void count_uses(struct build *b, bool fill)
{
    const struct hlo_module *m = b->m;

    for (hlo_id id = 0; id < m->count; id++) {
        uint16_t opcode = hlo_at(m, id)->opcode;
        bool is_flow = hlo_is_flow(m, id);
        if (is_transparent(opcode) && !hlo_at(m, id)->is_root)
            continue;
        for (uint32_t k = 0; k < hlo_at(m, id)->operand_count; k++) {
            hlo_id o = hlo_operand(m, id, k);
            for (hlo_value v = m->leaf_base[o]; v < m->leaf_base[o + 1]; v++) {
                hlo_value from = behind_flows(m, v);
                if (is_flow)
                    b->escapes[from] = 1;
                else if (fill)
                    b->uses[b->first_use[from]++] = id;
                else
                    b->first_use[from + 1]++;
            }
        }
        for (hlo_value v = m->leaf_base[id]; hlo_at(m, id)->is_root && v < m->leaf_base[id + 1];
             v++)
            b->escapes[behind_flows(m, v)] = 1;
    }
}

static bool find_uses(struct build *b)
{
    hlo_value values = b->m->value_count;

    count_uses(b, false);
    for (hlo_value v = 0; v < values; v++)
        b->first_use[v + 1] += b->first_use[v];
    b->uses = mem_try((size_t)b->first_use[values] + 1, sizeof *b->uses);
    if (!b->uses)
        return false;
    count_uses(b, true);
    memmove(b->first_use + 1, b->first_use, values * sizeof *b->first_use);
    b->first_use[0] = 0;
    return true;
}

/* Updates and slices by the buffer they write or read. */
static void find_updates(struct build *b)
{
    memset(b->first_update, 0xff, b->m->value_count * sizeof *b->first_update);
    for (hlo_id id = b->m->count; id-- > 0;) {
        uint16_t opcode = hlo_at(b->m, id)->opcode;
        if (opcode != HLO_OP_DYNAMIC_UPDATE_SLICE && opcode != HLO_OP_DYNAMIC_SLICE)
            continue;
        hlo_value buffer = b->f->buffer[b->m->leaf_base[hlo_operand(b->m, id, 0)]];
        b->next_update[id] = b->first_update[buffer];
        b->first_update[buffer] = id;
    }
}

/* ---- one attention ---- */

static bool is_batched_product(const struct hlo_module *m, hlo_id id)
{
    int64_t dims[HLO_RANK_MAX];

    return hlo_at(m, id)->opcode == HLO_OP_DOT &&
           hlo_attr_ints(m, id, HLO_ATTR_LHS_BATCH_DIMS, dims) > 0;
}

static int64_t elements_of(const struct hlo_module *m, hlo_id id)
{
    return m->leaf_base[id + 1] - m->leaf_base[id] == 1
               ? hlo_value_shape(m, m->leaf_base[id])->elements
               : 0;
}

/* Work on the values of pairs that keeps their number. */
static bool keeps_pairs(uint16_t opcode)
{
    switch (opcode) {
    case HLO_OP_BROADCAST:
    case HLO_OP_RESHAPE:
    case HLO_OP_BITCAST:
    case HLO_OP_TRANSPOSE:
    case HLO_OP_COPY:
    case HLO_OP_DYNAMIC_SLICE:
        return true;
    default:
        return opcode < HLO_OP_UNKNOWN && (hlo_op_info[opcode].flags & HLO_OP_IS_ELEMENTWISE);
    }
}

static void add_member(struct build *b, hlo_id id)
{
    if (b->attention_of[id])
        return;
    b->attention_of[id] = b->out->count + 1;
    b->queue[b->tail++] = id;
}

/* The stack that slices are written to and read from belongs to it with all of them, when they are
 * all there is of it. */
static void add_stack(struct build *b, hlo_value buffer)
{
    if (b->is_stack[buffer])
        return;
    for (uint32_t at = b->first_update[buffer]; at != UINT32_MAX; at = b->next_update[at]) {
        bool writes = hlo_at(b->m, at)->opcode == HLO_OP_DYNAMIC_UPDATE_SLICE;
        hlo_id part = writes ? hlo_operand(b->m, at, 1) : at;
        if (elements_of(b->m, part) != b->elements)
            return;
    }
    b->is_stack[buffer] = 1;
    b->stacks[b->stack_count++] = buffer;
    for (uint32_t at = b->first_update[buffer]; at != UINT32_MAX; at = b->next_update[at]) {
        if (hlo_at(b->m, at)->opcode == HLO_OP_DYNAMIC_SLICE) {
            add_member(b, at);
            continue;
        }
        hlo_value from = behind_flows(b->m, b->m->leaf_base[hlo_operand(b->m, at, 1)]);
        hlo_id made = b->m->value_instruction[from];
        if (!b->c->is_free[from] &&
            (keeps_pairs(hlo_at(b->m, made)->opcode) || is_batched_product(b->m, made)))
            add_member(b, made);
    }
}

static void grow_to_operands(struct build *b, hlo_id id)
{
    for (uint32_t k = 0; k < hlo_at(b->m, id)->operand_count; k++) {
        hlo_id o = hlo_operand(b->m, id, k);
        if (b->m->leaf_base[o] == b->m->leaf_base[o + 1])
            continue;
        hlo_value from = behind_flows(b->m, b->m->leaf_base[o]);
        hlo_id made = b->m->value_instruction[from];
        if (b->c->is_free[from] || elements_of(b->m, made) != b->elements)
            continue;
        if (keeps_pairs(hlo_at(b->m, made)->opcode) || is_batched_product(b->m, made))
            add_member(b, made);
    }
}

static void grow_to_users(struct build *b, hlo_id id)
{
    hlo_value v = b->m->leaf_base[id];

    for (uint32_t k = b->first_use[v]; k < b->first_use[v + 1]; k++) {
        hlo_id user = b->uses[k];
        uint16_t opcode = hlo_at(b->m, user)->opcode;
        if (opcode == HLO_OP_DYNAMIC_UPDATE_SLICE)
            add_stack(b, b->f->buffer[b->m->leaf_base[hlo_operand(b->m, user, 0)]]);
        else if (opcode == HLO_OP_REDUCE || opcode == HLO_OP_DOT ||
                 (keeps_pairs(opcode) && elements_of(b->m, user) == b->elements))
            add_member(b, user);
    }
}

/* Everything that belongs to the attention of exponential `id`. Products and reductions end it. */
static void grow_region(struct build *b, hlo_id id)
{
    b->elements = elements_of(b->m, id);
    b->head = b->tail = b->stack_count = 0;
    add_member(b, id);
    while (b->head < b->tail) {
        hlo_id at = b->queue[b->head++];
        uint16_t opcode = hlo_at(b->m, at)->opcode;
        bool has_pairs = elements_of(b->m, at) == b->elements;
        if (opcode == HLO_OP_DYNAMIC_SLICE && has_pairs)
            add_stack(b, b->f->buffer[b->m->leaf_base[hlo_operand(b->m, at, 0)]]);
        else if (keeps_pairs(opcode))
            grow_to_operands(b, at);
        if (has_pairs && opcode != HLO_OP_REDUCE)
            grow_to_users(b, at);
    }
}

static bool reads_pairs(const struct build *b, hlo_id product)
{
    for (uint32_t k = 0; k < 2; k++) {
        hlo_value v = behind_flows(b->m, b->m->leaf_base[hlo_operand(b->m, product, k)]);
        hlo_id made = b->m->value_instruction[v];
        if (elements_of(b->m, made) == b->elements && b->attention_of[made] == b->out->count + 1)
            return true;
    }
    return false;
}

/* ---- masks ---- */

enum { MASK_DEPTH_MOST = 24 };

/* What a free value is behind flows, into loops that carry it unchanged. */
static hlo_id free_maker(const struct build *b, hlo_value v)
{
    for (int k = 0; k < MASK_DEPTH_MOST; k++) {
        v = behind_flows(b->m, v);
        hlo_id id = b->m->value_instruction[v];
        const struct hlo_computation *in = &b->m->computations[hlo_at(b->m, id)->computation];
        if (hlo_at(b->m, id)->opcode != HLO_OP_PARAMETER || in->caller_count != 1 ||
            hlo_at(b->m, in->callers[0])->opcode != HLO_OP_WHILE)
            return id;
        v = hlo_value_of(b->m, hlo_operand(b->m, in->callers[0], 0), hlo_value_leaf(b->m, v));
    }
    return b->m->value_instruction[v];
}

static bool counts_places(const struct build *b, hlo_id id, int depth)
{
    bool found = hlo_at(b->m, id)->opcode == HLO_OP_IOTA;

    for (uint32_t k = 0; k < hlo_at(b->m, id)->operand_count && !found && depth; k++) {
        hlo_id o = hlo_operand(b->m, id, k);
        if (b->m->leaf_base[o] < b->m->leaf_base[o + 1] && b->c->is_free[b->m->leaf_base[o]])
            found = counts_places(b, free_maker(b, b->m->leaf_base[o]), depth - 1);
    }
    return found;
}

/* A comparison of the places of queries with those of keys, for order, in what makes a free value.
 */
static bool is_causal(const struct build *b, hlo_id id, int depth)
{
    const struct hlo_instruction *i = hlo_at(b->m, id);
    bool found = i->opcode == HLO_OP_COMPARE && i->operand_count == 2 &&
                 !hlo_attr_is(b->m, id, HLO_ATTR_DIRECTION, "EQ") &&
                 !hlo_attr_is(b->m, id, HLO_ATTR_DIRECTION, "NE");

    for (uint32_t k = 0; k < 2 && found; k++)
        found = counts_places(b, free_maker(b, b->m->leaf_base[hlo_operand(b->m, id, k)]), 8);
    for (uint32_t k = 0; k < i->operand_count && !found && depth; k++) {
        hlo_id o = hlo_operand(b->m, id, k);
        if (b->m->leaf_base[o] < b->m->leaf_base[o + 1] && b->c->is_free[b->m->leaf_base[o]])
            found = is_causal(b, free_maker(b, b->m->leaf_base[o]), depth - 1);
    }
    return found;
}

static bool is_masked_causally(const struct build *b)
{
    for (uint32_t n = 0; n < b->tail; n++) {
        const struct hlo_instruction *i = hlo_at(b->m, b->queue[n]);
        for (uint32_t k = 0; k < i->operand_count && keeps_pairs(i->opcode); k++) {
            hlo_id o = hlo_operand(b->m, b->queue[n], k);
            if (b->m->leaf_base[o] < b->m->leaf_base[o + 1] && b->c->is_free[b->m->leaf_base[o]] &&
                is_causal(b, free_maker(b, b->m->leaf_base[o]), 8))
                return true;
        }
    }
    return false;
}

/* ---- all of them ---- */

static const double CAUSAL = 0.5;

/* The backward kernel has five products, with the scores made again. A module that keeps them has
 * four; one that runs the forward kernel again first has six, where the scores would be made twice.
 */
static double backward_work(uint32_t products)
{
    return products == 4 ? 5.0 / 4 : products == 6 ? 7.0 / 6 : 1;
}

static bool is_backward(const struct build *b, hlo_id id)
{
    return b->roles->phase[id] == HLO_PHASE_BACKWARD;
}

/* Whether what grew has a product that makes pairs and one that reads them. */
static bool is_whole(const struct build *b)
{
    bool makes = false, reads = false;

    for (uint32_t n = 0; n < b->tail; n++) {
        hlo_id id = b->queue[n];
        if (!is_batched_product(b->m, id))
            continue;
        makes |= elements_of(b->m, id) == b->elements;
        reads |= reads_pairs(b, id);
    }
    return makes && reads;
}

/* Numbers its two kernels, hides what they keep, and weighs their products. */
static void settle_region(struct build *b)
{
    uint32_t number = b->out->count++, backward = 0;
    double c = is_masked_causally(b) ? CAUSAL : 1;

    for (uint32_t n = 0; n < b->tail; n++) {
        hlo_id id = b->queue[n];
        backward += is_backward(b, id) && hlo_at(b->m, id)->opcode == HLO_OP_DOT;
    }
    for (uint32_t n = 0; n < b->tail; n++) {
        hlo_id id = b->queue[n];
        hlo_value v = b->m->leaf_base[id];
        bool makes = elements_of(b->m, id) == b->elements;
        if (makes && !b->escapes[v])
            b->out->is_inside[b->f->buffer[v]] = 1;
        b->out->kernel[id] = 2 * number + 1 + is_backward(b, id);
        if (hlo_at(b->m, id)->opcode == HLO_OP_DOT)
            b->out->work[id] = is_backward(b, id) ? c * backward_work(backward) : c;
    }
    for (uint32_t n = 0; n < b->stack_count; n++)
        b->out->is_inside[b->stacks[n]] = 1;
}

static void forget_region(struct build *b)
{
    for (uint32_t n = 0; n < b->tail; n++)
        b->attention_of[b->queue[n]] = 0;
    for (uint32_t n = 0; n < b->stack_count; n++)
        b->is_stack[b->stacks[n]] = 0;
}

static void find_all(struct build *b)
{
    for (hlo_id id = 0; id < b->m->count; id++) {
        if (hlo_at(b->m, id)->opcode != HLO_OP_EXPONENTIAL || b->attention_of[id] ||
            class_leaf_count(b->c, id) == 0 || b->c->is_free[b->m->leaf_base[id]])
            continue;
        grow_region(b, id);
        if (is_whole(b))
            settle_region(b);
        else
            forget_region(b);
    }
}

int attention_new(const struct classes *c, const struct hlo_roles *roles, const struct fusion *f,
                  const struct hlo_kernel as[2], struct attention *out, struct err *e)
{
    const struct hlo_module *m = c->m;
    struct build b = {.c = c, .m = m, .roles = roles, .f = f, .out = out};

    *out = (struct attention){.is_inside = mem_try((size_t)m->value_count + 1, 1),
                              .work = mem_try((size_t)m->count + 1, sizeof *out->work),
                              .kernel = mem_try((size_t)m->count + 1, sizeof *out->kernel)};
    bool ok = out->is_inside && out->work && out->kernel;
    if (ok && as) {
        memcpy(out->as, as, sizeof out->as);
        b.first_use = mem_try((size_t)m->value_count + 2, sizeof *b.first_use);
        b.escapes = mem_try((size_t)m->value_count + 1, 1);
        b.next_update = mem_try((size_t)m->count + 1, sizeof *b.next_update);
        b.first_update = mem_try((size_t)m->value_count + 1, sizeof *b.first_update);
        b.attention_of = mem_try((size_t)m->count + 1, sizeof *b.attention_of);
        b.queue = mem_try((size_t)m->count + 1, sizeof *b.queue);
        b.stacks = mem_try((size_t)m->count + 1, sizeof *b.stacks);
        b.is_stack = mem_try((size_t)m->value_count + 1, 1);
        ok = b.first_use && b.escapes && b.next_update && b.first_update && b.attention_of &&
             b.queue && b.stacks && b.is_stack && find_uses(&b);
        if (ok) {
            find_updates(&b);
            find_all(&b);
        }
    }
    free(b.first_use);
    free(b.uses);
    free(b.escapes);
    free(b.next_update);
    free(b.first_update);
    free(b.attention_of);
    free(b.queue);
    free(b.stacks);
    free(b.is_stack);
    if (ok)
        return 0;
    attention_release(out);
    return err_no_memory(e, "for attention");
}

void attention_release(struct attention *a)
{
    free(a->is_inside);
    free(a->work);
    free(a->kernel);
    memset(a, 0, sizeof *a);
}

double attention_rate(const struct hlo_kernel *as, const struct cluster_device *d,
                      enum peak_type type)
{
    static const double EFFECTIVE = 0.75; /* of the data sheet, where `matmul` is not given */
    double part = hlo_kernel_reach_on(as, d->name);

    return cluster_peak(d, type) * part / (d->matmul.reach > 0 ? 1 : EFFECTIVE);
}
