#include "engine/recompute/primal.h"
#include "engine/recompute/primal_build.h"

#include "engine/cost/fusion.h"
#include "engine/recompute/numbering.h"
#include "hlo/module/attr.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <string.h>

enum { FUSED_DEPTH_MOST = 64, VIEWS_MOST = 8 };

static const char FOR[] = "for what the backward pass needs";

/* ---- who reads what ---- */

static uint32_t position_of(const struct primal_build *b, hlo_id id)
{
    return b->memory->schedule.position[numbering_in_entry(&b->n, id)];
}

/* A transpose, or a slice, that products read in place. */
static bool is_view(uint16_t opcode)
{
    return opcode == HLO_OP_TRANSPOSE || opcode == HLO_OP_BROADCAST || opcode == HLO_OP_SLICE;
}

/* What a product or another kernel reads is in memory. */
static void mark_stored(struct primal_build *b, value_number n)
{
    for (int depth = 0; depth < VIEWS_MOST; depth++) {
        hlo_value v = b->maker[n];
        if (v == HLO_NONE || b->kind[n] != KIND_PRIMAL)
            return;
        hlo_id id = b->m->value_instruction[v];
        if (!is_view(primal_opcode(b, id)) || hlo_at(b->m, id)->operand_count != 1) {
            b->flags[n] |= IS_STORED;
            return;
        }
        n = primal_number(b, b->m->leaf_base[hlo_operand(b->m, id, 0)]);
    }
}

static void note_read(struct primal_build *b, hlo_id id, hlo_value v)
{
    value_number n = primal_number(b, v);
    uint32_t at = position_of(b, id);

    if (b->kind[n] != KIND_PRIMAL)
        return;
    b->flags[n] |= IS_NEEDED;
    if (b->first[n] == HLO_NONE || at < b->first[n])
        b->first[n] = at;
    if (b->last[n] == HLO_NONE || at > b->last[n])
        b->last[n] = at;
}

static bool is_derived(const struct primal_build *b, hlo_id id)
{
    for (hlo_value v = b->m->leaf_base[id]; v < b->m->leaf_base[id + 1]; v++) {
        if (b->kind[b->n.of[v]] == KIND_DERIVED)
            return true;
    }
    return false;
}

static void note_loop_reads(struct primal_build *b, hlo_id loop)
{
    const struct hlo_module *m = b->m;
    hlo_comp body = hlo_called(m, loop, 0);
    hlo_value p = m->leaf_base[m->computations[body].params[0]],
              in = m->leaf_base[hlo_operand(m, loop, 0)];

    for (hlo_value v = m->leaf_base[loop]; v < m->leaf_base[loop + 1] && b->is_back[body]; v++) {
        uint32_t leaf = hlo_value_leaf(m, v);
        if (b->n.is_changed[p + leaf])
            note_read(b, loop, in + leaf);
    }
}

/* The forward pass's array that value `v`, operand `made` of `reader` outside of it, is or is made
 * from on the fly. */
static void mark_kept(struct primal_build *b, hlo_id reader, hlo_id made, hlo_value v, int depth)
{
    const struct hlo_module *m = b->m;
    value_number n = primal_number(b, v);
    hlo_value buffer = b->memory->fusion->buffer[v];
    hlo_id id = m->value_instruction[buffer];

    if (b->kind[n] != KIND_PRIMAL || !b->is_forward[id] || (b->flags[n] & LOOKED_AT) ||
        depth > FUSED_DEPTH_MOST)
        return;
    bool is_again =
        b->memory->fusion->is_remade[buffer] && fusion_absorbs(m, reader, made) && made == id;
    int looked = is_again ? LOOKED_THROUGH : LOOKED_AT;
    if (b->flags[n] & looked)
        return;
    b->flags[n] = (uint8_t)(b->flags[n] | looked);
    if ((b->memory->fusion->is_stored[buffer] && !is_again) || (b->flags[n] & IS_STATE)) {
        b->flags[n] |= IS_KEPT;
        b->g->of_buffer[buffer] = n; /* nodes are not numbered yet */
        return;
    }
    for (uint32_t k = 0; k < hlo_at(m, id)->operand_count; k++) {
        hlo_id o = hlo_operand(m, id, k);
        for (hlo_value from = m->leaf_base[o]; from < m->leaf_base[o + 1]; from++)
            mark_kept(b, id, o, from, depth + 1);
    }
}

static void find_reads(struct primal_build *b)
{
    const struct hlo_module *m = b->m;

    for (uint32_t k = 0; k < b->n.order_count; k++) {
        hlo_id id = b->n.order[k];
        uint16_t opcode = primal_opcode(b, id);
        if (numbering_is_alias(m, id) || opcode == HLO_OP_PARAMETER)
            continue;
        if (opcode == HLO_OP_WHILE && b->n.loop[hlo_called(m, id, 0)] == id) {
            note_loop_reads(b, id);
            continue;
        }
        bool derived = is_derived(b, id), loops = fusion_is_fusible(opcode) ||
                                                  opcode == HLO_OP_REDUCE ||
                                                  opcode == HLO_OP_DYNAMIC_UPDATE_SLICE;
        for (uint32_t n = 0; n < hlo_at(m, id)->operand_count; n++) {
            hlo_id o = hlo_operand(m, id, n);
            for (hlo_value v = m->leaf_base[o]; v < m->leaf_base[o + 1]; v++) {
                if (derived)
                    note_read(b, id, v);
                if (!loops && !fusion_absorbs(m, id, o) &&
                    !(b->is_forward[id] &&
                      b->memory->fusion->is_remade[b->memory->fusion->buffer[v]]))
                    mark_stored(b, primal_number(b, v));
                if (!b->is_forward[id])
                    mark_kept(b, id, o, v, 0);
                else if (b->made[primal_number(b, v)] < position_of(b, id))
                    b->made[primal_number(b, v)] = position_of(b, id);
            }
        }
    }
}

/* ---- nodes ---- */

static enum primal_rule rule_of(const struct primal_build *b, value_number n)
{
    hlo_id id = b->m->value_instruction[b->maker[n]];
    uint16_t opcode = primal_opcode(b, id);

    if ((b->flags[n] & (IS_STATE | CROSSES)) || primal_is_random(opcode) ||
        opcode == HLO_OP_PARAMETER || opcode == HLO_OP_WHILE || opcode == HLO_OP_CONDITIONAL ||
        opcode == HLO_OP_INFEED ||
        hlo_attr_bool(b->m, id, HLO_ATTR_CUSTOM_CALL_HAS_SIDE_EFFECT, false) ||
        (opcode < HLO_OP_UNKNOWN && (hlo_op_info[opcode].flags & HLO_OP_IS_COLLECTIVE)))
        return PRIMAL_NEVER;
    if (primal_is_work(opcode))
        return PRIMAL_WORK;
    if (b->flags[n] & IS_STORED)
        return PRIMAL_KERNEL;
    if (fusion_is_fusible(opcode) || (opcode == HLO_OP_REDUCE && fusion_reduces_rows(b->m, id)))
        return PRIMAL_FUSED;
    return PRIMAL_KERNEL;
}

/* Values read by forward code of another written-out layer. */
static void find_crossings(struct primal_build *b)
{
    const struct hlo_module *m = b->m;

    for (uint32_t k = 0; k < b->n.order_count; k++) {
        hlo_id id = b->n.order[k];
        uint16_t layer = b->roles->layer[id];
        if (!b->is_forward[id] || numbering_is_alias(m, id) || !layer)
            continue;
        for (uint32_t n = 0; n < hlo_at(m, id)->operand_count; n++) {
            hlo_id o = hlo_operand(m, id, n);
            for (hlo_value v = m->leaf_base[o]; v < m->leaf_base[o + 1]; v++) {
                value_number at = primal_number(b, v);
                hlo_value from = b->maker[at];
                if (b->kind[at] != KIND_PRIMAL || from == HLO_NONE)
                    continue;
                uint16_t other = b->roles->layer[m->value_instruction[from]];
                if (other && other != layer && b->is_forward[m->value_instruction[from]])
                    b->flags[at] |= CROSSES;
            }
        }
    }
}

/* Numbers of the primal values that the node of `n` is computed from; new ones are listed. */
static bool add_edges(struct primal_build *b, value_number n, uint32_t *stack, uint32_t *depth)
{
    hlo_id id = b->m->value_instruction[b->maker[n]];
    struct primal *p = &b->g->nodes[b->node[n] - 1];

    p->reads = b->g->edge_count;
    for (uint32_t k = 0; k < hlo_at(b->m, id)->operand_count && p->rule != PRIMAL_NEVER; k++) {
        hlo_id o = hlo_operand(b->m, id, k);
        for (hlo_value v = b->m->leaf_base[o]; v < b->m->leaf_base[o + 1]; v++) {
            value_number from = primal_number(b, v);
            if (b->kind[from] != KIND_PRIMAL || b->maker[from] == HLO_NONE)
                continue;
            if (!mem_grow(&b->g->edges, &b->edge_room, b->g->edge_count, 1))
                return false;
            b->g->edges[b->g->edge_count++] = from; /* a number until all nodes are there */
            if (!(b->flags[from] & LISTED)) {
                b->flags[from] |= LISTED;
                stack[(*depth)++] = from;
            }
        }
    }
    p->read_count = b->g->edge_count - p->reads;
    if (primal_opcode(b, id) == HLO_OP_GATHER)
        p->given_bytes = (double)hlo_shape(b->m, id)->bytes;
    return true;
}

static bool add_node(struct primal_build *b, value_number n)
{
    if (!mem_grow(&b->g->nodes, &b->node_room, b->g->count, 1))
        return false;
    hlo_value v = b->maker[n];
    hlo_id id = b->m->value_instruction[v];
    struct primal *p = &b->g->nodes[b->g->count++];
    *p = (struct primal){
        .value = v,
        .maker = id,
        .rule = (uint8_t)rule_of(b, n),
        .is_needed = b->flags[n] & IS_NEEDED,
        .is_kept = b->flags[n] & IS_KEPT,
        .is_forward = b->is_forward[id],
        .trips = 1,
        .layer = b->roles->layer[id],
        .first_read = b->first[n],
        .last_read = b->last[n],
    };
    p->is_stored = p->rule != PRIMAL_FUSED;
    hlo_id loop = b->n.loop[hlo_at(b->m, id)->computation];
    if (loop != HLO_NONE && b->costs->times[id] > 0)
        p->trips = b->costs->times[id];
    uint32_t own = position_of(b, id);
    p->made = loop != HLO_NONE || b->made[n] < own ? own : b->made[n];
    if (p->trips > b->g->loop_trips)
        b->g->loop_trips = p->trips;
    b->node[n] = b->g->count;
    return true;
}

/* Values that stand inside a fused attention are not there to keep; its result takes its time. */
static void mind_attention(struct primal_build *b)
{
    for (uint32_t k = 0; k < b->g->count; k++) {
        struct primal *p = &b->g->nodes[k];
        if (b->attention->is_inside[b->memory->fusion->buffer[p->value]]) {
            p->rule = PRIMAL_FUSED;
            p->is_stored = false;
        }
    }
}

/* Everything that needed values could be made from. */
static bool make_nodes(struct primal_build *b)
{
    uint32_t *stack = mem_try((size_t)b->n.count + 1, sizeof *stack), depth = 0;
    bool ok = stack != NULL;

    for (value_number n = 1; n < b->n.count && ok; n++) {
        if ((b->flags[n] & IS_NEEDED) && b->maker[n] != HLO_NONE && !(b->flags[n] & LISTED)) {
            b->flags[n] |= LISTED;
            stack[depth++] = n;
        }
        while (depth && ok) {
            value_number at = stack[--depth];
            ok = add_node(b, at) && add_edges(b, at, stack, &depth);
        }
    }
    for (uint32_t k = 0; k < b->g->edge_count && ok; k++)
        b->g->edges[k] = b->node[b->g->edges[k]] - 1;
    free(stack);
    return ok;
}

/* Operands first: by the order of execution of who makes them. */
static bool sort_nodes(struct primal_build *b)
{
    struct primal_graph *g = b->g;
    uint32_t *when = mem_try((size_t)b->m->count + 1, sizeof *when),
             *to = mem_try((size_t)g->count + 1, sizeof *to),
             *first = mem_try((size_t)b->n.order_count + 2, sizeof *first);
    struct primal *sorted = mem_try((size_t)g->count + 1, sizeof *sorted);
    bool ok = when && to && first && sorted;

    for (uint32_t k = 0; ok && k < b->n.order_count; k++)
        when[b->n.order[k]] = k;
    for (uint32_t k = 0; ok && k < g->count; k++) { /* state is there before the body */
        hlo_id id = g->nodes[k].maker;
        first[when[id] + 1]++;
    }
    for (uint32_t k = 0; ok && k < b->n.order_count; k++)
        first[k + 1] += first[k];
    for (uint32_t k = 0; ok && k < g->count; k++)
        to[k] = first[when[g->nodes[k].maker]]++;
    for (uint32_t k = 0; ok && k < g->count; k++)
        sorted[to[k]] = g->nodes[k];
    for (uint32_t k = 0; ok && k < g->edge_count; k++)
        g->edges[k] = to[g->edges[k]];
    for (value_number n = 1; ok && n < b->n.count; n++) {
        if (b->node[n])
            b->node[n] = to[b->node[n] - 1] + 1;
    }
    if (ok) {
        free(g->nodes);
        g->nodes = sorted;
        sorted = NULL;
    }
    free(when);
    free(to);
    free(first);
    free(sorted);
    return ok;
}

/* What only the backward pass makes could be made as soon as what it is made of is there. */
static void move_to_forward(struct primal_graph *g)
{
    for (uint32_t k = 0; k < g->count; k++) {
        struct primal *p = &g->nodes[k];
        if (p->is_forward)
            continue;
        p->made = 0;
        for (uint32_t n = 0; n < p->read_count; n++) {
            uint32_t made = g->nodes[g->edges[p->reads + n]].made;
            p->made = made > p->made ? made : p->made;
        }
    }
}

static bool is_passing_back(const struct primal_build *b, hlo_id id)
{
    return hlo_at(b->m, id)->computation == b->m->entry && !numbering_is_alias(b->m, id) &&
           !b->memory->training->is_once[id] && is_derived(b, id);
}

static int by_start(const void *x, const void *y)
{
    const struct primal_window *const *a = x, *const *b = y;

    return (*a)->from < (*b)->from ? -1 : (*a)->from > (*b)->from;
}

/* rank[layer of the roles]: its number + 1 here. */
static bool find_windows(struct primal_build *b, const uint32_t *rank)
{
    struct primal_graph *g = b->g;
    struct primal_window **order = mem_try((size_t)g->layers + 1, sizeof *order);
    uint32_t count = 0, longest = 1;

    g->windows = mem_try((size_t)g->layers + 1, sizeof *g->windows);
    if (!order || !g->windows) {
        free(order);
        return false;
    }
    for (uint32_t k = 0; k < b->n.order_count; k++) {
        hlo_id id = b->n.order[k];
        uint32_t layer = rank[b->roles->layer[id]];
        if (!layer || !is_passing_back(b, id))
            continue;
        struct primal_window *w = &g->windows[layer - 1];
        uint32_t at = b->memory->schedule.position[id];
        if (!w->to)
            order[count++] = w;
        w->from = w->to && w->from < at ? w->from : at;
        w->to = at + 1; /* until the next is known */
    }
    qsort(order, count, sizeof *order, by_start);
    for (uint32_t k = 0; k + 1 < count; k++) {
        order[k]->to = order[k + 1]->from - (order[k + 1]->from > order[k]->from);
        uint32_t size = order[k]->to - order[k]->from;
        longest = size > longest ? size : longest;
    }
    if (count)
        order[count - 1]->to = order[count - 1]->from + longest;
    free(order);
    return true;
}

/* Products of the entry's backward pass that read nodes. */
static bool find_readers(struct primal_build *b)
{
    struct primal_graph *g = b->g;
    size_t room = 0;

    for (uint32_t k = 0; k < b->n.order_count; k++) {
        hlo_id id = b->n.order[k];
        struct primal_reader r = {.id = id, .nodes = g->edge_count};
        if (!primal_is_product(primal_opcode(b, id)) || !is_passing_back(b, id))
            continue;
        r.position = b->memory->schedule.position[id];
        for (uint32_t n = 0; n < hlo_at(b->m, id)->operand_count; n++) {
            hlo_id o = hlo_operand(b->m, id, n);
            uint32_t node = b->m->leaf_base[o] < b->m->leaf_base[o + 1]
                                ? b->node[primal_number(b, b->m->leaf_base[o])]
                                : 0;
            if (!node)
                continue;
            if (!mem_grow(&g->edges, &b->edge_room, g->edge_count, 1))
                return false;
            g->edges[g->edge_count++] = node - 1;
        }
        r.node_count = g->edge_count - r.nodes;
        if (!r.node_count)
            continue;
        if (!mem_grow(&g->readers, &room, g->reader_count, 1))
            return false;
        g->readers[g->reader_count++] = r;
    }
    return true;
}

/* Layers by the order in which they come; buffers to nodes. */
static bool finish_graph(struct primal_build *b)
{
    struct primal_graph *g = b->g;
    uint32_t *rank = mem_try((size_t)b->roles->layer_count + 1, sizeof *rank);

    if (!rank)
        return false;
    for (uint32_t k = 0; k < g->count; k++) {
        struct primal *p = &g->nodes[k];
        if (p->layer && !rank[p->layer])
            rank[p->layer] = ++g->layers;
        p->layer = p->layer ? rank[p->layer] - 1 : PRIMAL_NO_LAYER;
    }
    bool ok = find_windows(b, rank);
    g->layers = g->layers ? g->layers : 1;
    for (hlo_value v = 0; v < b->m->value_count; v++)
        g->of_buffer[v] = g->of_buffer[v] ? b->node[g->of_buffer[v]] : 0;
    free(rank);
    return ok && find_readers(b);
}

/* Stored nodes that the kernel of each node reads, through fused ones. */
static bool find_whole(struct primal_build *b)
{
    struct primal_graph *g = b->g;
    uint32_t *seen = mem_try((size_t)g->count + 1, sizeof *seen),
             *queue = mem_try((size_t)g->count + 1, sizeof *queue);
    bool ok = seen && queue;

    for (uint32_t k = 0; k < g->count && ok; k++) {
        struct primal *p = &g->nodes[k];
        uint32_t head = 0, tail = 0;
        p->whole = g->edge_count;
        if (p->rule != PRIMAL_KERNEL)
            continue;
        queue[tail++] = k;
        seen[k] = k + 1;
        while (head < tail && ok) {
            const struct primal *at = &g->nodes[queue[head++]];
            for (uint32_t n = 0; n < at->read_count && ok; n++) {
                uint32_t from = g->edges[at->reads + n];
                if (seen[from] == k + 1)
                    continue;
                seen[from] = k + 1;
                if (g->nodes[from].rule == PRIMAL_FUSED) {
                    queue[tail++] = from;
                    continue;
                }
                ok = mem_grow(&g->edges, &b->edge_room, g->edge_count, 1);
                if (ok)
                    g->edges[g->edge_count++] = from;
            }
        }
        p = &g->nodes[k];
        p->whole_count = g->edge_count - p->whole;
    }
    free(seen);
    free(queue);
    return ok;
}

static bool make_room(struct primal_build *b)
{
    size_t values = (size_t)b->m->value_count + 1, numbers = (size_t)b->n.count + 1;

    b->is_ancestor = mem_try(values, 1);
    b->is_forward = mem_try((size_t)b->m->count + 1, 1);
    b->is_back = mem_try((size_t)b->m->computation_count + 1, 1);
    b->in_forward = mem_try(numbers, 1);
    b->kind = mem_try(numbers, 1);
    b->flags = mem_try(numbers, 1);
    b->maker = mem_try(numbers, sizeof *b->maker);
    b->first = mem_try(numbers, sizeof *b->first);
    b->last = mem_try(numbers, sizeof *b->last);
    b->made = mem_try(numbers, sizeof *b->made);
    b->node = mem_try(numbers, sizeof *b->node);
    b->g->of_buffer = mem_try(values, sizeof *b->g->of_buffer);
    if (!b->is_ancestor || !b->is_forward || !b->is_back || !b->in_forward || !b->kind ||
        !b->flags || !b->maker || !b->first || !b->last || !b->made || !b->node || !b->g->of_buffer)
        return false;
    memset(b->maker, 0xff, numbers * sizeof *b->maker);
    memset(b->first, 0xff, numbers * sizeof *b->first);
    memset(b->last, 0xff, numbers * sizeof *b->last);
    return true;
}

int primal_new(const struct memory_model *memory, const struct hlo_roles *roles,
               const struct hlo_costs *costs, const struct attention *attention,
               struct primal_graph *out, struct err *e)
{
    struct primal_build b = {.m = memory->m,
                             .memory = memory,
                             .roles = roles,
                             .costs = costs,
                             .attention = attention,
                             .g = out};

    memset(out, 0, sizeof *out);
    out->loop_trips = 1;
    int rc = numbering_new(memory->m, &b.n, e);
    bool ok = !rc && make_room(&b) && primal_find_forward(&b);
    if (ok) {
        primal_find_kinds(&b);
        find_reads(&b);
        find_crossings(&b);
        ok = make_nodes(&b) && sort_nodes(&b) && finish_graph(&b);
    }
    if (ok) {
        move_to_forward(out);
        mind_attention(&b);
        ok = find_whole(&b);
    }
    numbering_release(&b.n);
    free(b.is_ancestor);
    free(b.is_forward);
    free(b.is_back);
    free(b.in_forward);
    free(b.kind);
    free(b.flags);
    free(b.maker);
    free(b.first);
    free(b.last);
    free(b.made);
    free(b.node);
    if (!ok)
        primal_release(out);
    return rc ? rc : ok ? 0 : err_no_memory(e, FOR);
}

void primal_release(struct primal_graph *g)
{
    free(g->nodes);
    free(g->edges);
    free(g->of_buffer);
    free(g->windows);
    free(g->readers);
    memset(g, 0, sizeof *g);
}
