#include "hlo/module/graph.h"

#include "hlo/module/flows.h"
#include "hlo/module/ops.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <string.h>

static const char MEMORY_FOR[] = "for the data flow of the module";

enum { EDGES_OF_VALUE = 2 }; /* as many as most modules have */

struct edges {
    struct edge {
        hlo_value from, to;
    } * items;
    size_t count, room;
};

static bool add_edge(struct edges *list, hlo_value from, hlo_value to)
{
    if (!mem_grow(&list->items, &list->room, list->count, 1))
        return false;
    list->items[list->count++] = (struct edge){from, to};
    return true;
}

/* Each result from all operands, by way of the first. Leaves of a parameter have nothing to do with
 * each other: its callers' flows say where each comes from. */
static bool add_computing(const struct hlo_module *m, hlo_id id, struct edges *list)
{
    hlo_value first = m->leaf_base[id], end = m->leaf_base[id + 1];

    if (first == end || hlo_at(m, id)->opcode == HLO_OP_PARAMETER)
        return true;
    for (uint32_t n = 0; n < hlo_at(m, id)->operand_count; n++) {
        hlo_id o = hlo_operand(m, id, n);
        for (hlo_value v = m->leaf_base[o]; v < m->leaf_base[o + 1]; v++) {
            if (!add_edge(list, v, first))
                return false;
        }
    }
    for (hlo_value v = first + 1; v < end; v++) {
        if (!add_edge(list, first, v))
            return false;
    }
    return true;
}

static int collect_edges(const struct hlo_module *m, struct hlo_graph *g, struct edges *list,
                         struct err *e)
{
    struct hlo_flows flows = {0};
    int code = 0;

    if (!mem_grow(&list->items, &list->room, 0, (size_t)m->value_count * EDGES_OF_VALUE))
        return err_no_memory(e, MEMORY_FOR);
    for (hlo_id id = 0; id < m->count && !code; id++) {
        for (hlo_value v = m->leaf_base[id]; v < m->leaf_base[id + 1]; v++)
            g->opcode[v] = hlo_at(m, id)->opcode;
        code = hlo_flows_of(m, id, &flows, e);
        if (code)
            break;
        if (!flows.count) {
            if (!add_computing(m, id, list))
                code = err_no_memory(e, MEMORY_FOR);
            continue;
        }
        for (size_t n = 0; n < flows.count && !code; n++) {
            g->is_flow[flows.items[n].to] = true;
            if (!add_edge(list, flows.items[n].from, flows.items[n].to))
                code = err_no_memory(e, MEMORY_FOR);
        }
    }
    hlo_flows_release(&flows);
    return code;
}

/* Edges by counting sort, by their end and by their beginning. */
static bool sort_edges(const struct edges *list, uint32_t values, struct hlo_graph *g)
{
    g->pred_first = mem_try((size_t)values + 2, sizeof *g->pred_first);
    g->succ_first = mem_try((size_t)values + 2, sizeof *g->succ_first);
    g->preds = mem_try(list->count, sizeof *g->preds);
    g->succs = mem_try(list->count, sizeof *g->succs);
    if (!g->pred_first || !g->succ_first || !g->preds || !g->succs)
        return false;
    for (size_t n = 0; n < list->count; n++) {
        const struct edge *f = &list->items[n];
        g->pred_first[f->to + 2]++;
        g->succ_first[f->from + 2]++;
    }
    for (uint32_t v = 0; v < values; v++) {
        g->pred_first[v + 1] += g->pred_first[v];
        g->succ_first[v + 1] += g->succ_first[v];
    }
    for (size_t n = 0; n < list->count; n++) {
        const struct edge *f = &list->items[n];
        g->preds[g->pred_first[f->to + 1]++] = f->from;
        g->succs[g->succ_first[f->from + 1]++] = f->to;
    }
    return true;
}

/* Computations whose instructions are executed as part of `id`, in order of execution. */
static bool is_executed(const struct hlo_module *m, hlo_id id)
{
    switch (hlo_at(m, id)->opcode) {
    case HLO_OP_WHILE:
    case HLO_OP_CONDITIONAL:
    case HLO_OP_FUSION:
    case HLO_OP_CALL:
    case HLO_OP_SCAN:
    case HLO_OP_ASYNC_START:
        return true;
    default:
        return false;
    }
}

struct walk {
    hlo_comp computation;
    uint32_t at;     /* next instruction */
    uint32_t called; /* next called computation of that instruction */
};

static int set_order(struct hlo_graph *g, struct err *e)
{
    const struct hlo_module *m = g->m;
    struct walk *stack = mem_try((size_t)m->computation_count + 1, sizeof *stack);
    bool *seen = mem_try(m->computation_count, 1);
    bool *calls = mem_try(m->count, 1); /* few do; an instruction is far more to look at */
    size_t depth = 1;

    if (!stack || !seen || !calls) {
        free(stack);
        free(seen);
        free(calls);
        return err_no_memory(e, MEMORY_FOR);
    }
    for (hlo_comp c = 0; c < m->computation_count; c++) {
        for (uint32_t n = 0; n < m->computations[c].caller_count; n++)
            calls[m->computations[c].callers[n]] = true;
    }
    memset(g->position, 0xff, m->count * sizeof *g->position);
    stack[0] = (struct walk){.computation = m->entry};
    seen[m->entry] = true;
    while (depth) {
        struct walk *w = &stack[depth - 1];
        const struct hlo_computation *c = &m->computations[w->computation];
        if (w->at == c->count) {
            depth--;
            continue;
        }
        hlo_id id = c->first + w->at;
        if (calls[id] && is_executed(m, id) && w->called < hlo_at(m, id)->called_count) {
            hlo_comp callee = hlo_called(m, id, w->called++);
            if (!seen[callee]) {
                seen[callee] = true;
                stack[depth++] = (struct walk){.computation = callee};
            }
            continue;
        }
        g->position[id] = g->order_count;
        g->order[g->order_count++] = id;
        w->at++;
        w->called = 0;
    }
    free(stack);
    free(seen);
    free(calls);
    return 0;
}

int hlo_graph_new(const struct hlo_module *m, struct hlo_graph *out, struct err *e)
{
    struct edges list = {0};
    int code;

    *out = (struct hlo_graph){.m = m};
    out->is_flow = mem_try(m->value_count, 1);
    out->opcode = mem_try(m->value_count, sizeof *out->opcode);
    out->order = mem_try(m->count, sizeof *out->order);
    out->position = mem_try(m->count, sizeof *out->position);
    code = out->is_flow && out->opcode && out->order && out->position
               ? 0
               : err_no_memory(e, MEMORY_FOR);
    if (!code)
        code = set_order(out, e);
    if (!code)
        code = collect_edges(m, out, &list, e);
    if (!code && list.count > UINT32_MAX / 2)
        code = err_set(e, ERR_LIMIT, "more than %u uses of values", (unsigned)(UINT32_MAX / 2));
    if (!code && !sort_edges(&list, m->value_count, out))
        code = err_no_memory(e, MEMORY_FOR);
    free(list.items);
    if (code)
        hlo_graph_release(out);
    return code;
}

void hlo_graph_release(struct hlo_graph *g)
{
    free(g->pred_first);
    free(g->succ_first);
    free(g->preds);
    free(g->succs);
    free(g->is_flow);
    free(g->opcode);
    free(g->order);
    free(g->position);
    *g = (struct hlo_graph){0};
}

bool hlo_reach_init(struct hlo_reach *r, const struct hlo_graph *g)
{
    r->has = mem_try(g->m->value_count, 1);
    r->queue = mem_resize(NULL, ((size_t)g->m->value_count + 1) * sizeof *r->queue);
    r->count = 0;
    return r->has && r->queue;
}

void hlo_reach_release(struct hlo_reach *r)
{
    free(r->has);
    free(r->queue);
    *r = (struct hlo_reach){0};
}

void hlo_reach_clear(struct hlo_reach *r)
{
    for (uint32_t n = 0; n < r->count; n++)
        r->has[r->queue[n]] = false;
    r->count = 0;
}

void hlo_reach_add(struct hlo_reach *r, hlo_value v)
{
    if (!r->has[v]) {
        r->has[v] = true;
        r->queue[r->count++] = v;
    }
}

/* One direction of the edges, and where they may lead. */
struct steps {
    const uint32_t *first;
    const hlo_value *next;
    hlo_reach_filter filter;
    const void *context;
};

/* Adds what is one step from `v`. True: some of it has a smaller number than `v` (is_up), or a
 * larger one. */
static inline bool add_next(struct hlo_reach *r, const struct steps *s, hlo_value v, bool is_up)
{
    bool is_turned = false;

    for (uint32_t k = s->first[v]; k < s->first[v + 1]; k++) {
        hlo_value to = s->next[k];
        if (r->has[to] || (s->filter && !s->filter(s->context, to)))
            continue;
        hlo_reach_add(r, to);
        is_turned |= is_up ? to < v : to > v;
    }
    return is_turned;
}

enum { SWEEP_LEAST = 8192 }; /* members; fewer are not worth a look at all values */

/* Nearly all edges lead from smaller numbers to larger ones. So once the set is large it grows in
 * the order of the numbers, in which memory is read fastest; where an edge of a loop has led the
 * other way, all is followed once more. */
static inline void close_over(struct hlo_reach *r, const struct steps *s, uint32_t values,
                              bool is_up)
{
    bool is_turned = false;
    uint32_t n = 0;

    for (; n < r->count && r->count < SWEEP_LEAST; n++)
        add_next(r, s, r->queue[n], is_up);
    if (n == r->count)
        return;
    for (hlo_value k = 0; k < values; k++) {
        hlo_value v = is_up ? k : values - 1 - k;
        if (r->has[v])
            is_turned |= add_next(r, s, v, is_up);
    }
    for (n = 0; is_turned && n < r->count; n++)
        add_next(r, s, r->queue[n], is_up);
}

void hlo_reach_back(struct hlo_reach *r, const struct hlo_graph *g, hlo_reach_filter filter,
                    const void *context)
{
    const struct steps s = {g->pred_first, g->preds, filter, context};

    close_over(r, &s, g->m->value_count, false);
}

void hlo_reach_ahead(struct hlo_reach *r, const struct hlo_graph *g, hlo_reach_filter filter,
                     const void *context)
{
    const struct steps s = {g->succ_first, g->succs, filter, context};

    close_over(r, &s, g->m->value_count, true);
}

hlo_value hlo_graph_source(const struct hlo_graph *g, hlo_value v)
{
    for (uint32_t steps = 0; steps < g->m->value_count; steps++) {
        if (!g->is_flow[v] || g->pred_first[v + 1] - g->pred_first[v] != 1)
            break;
        v = g->preds[g->pred_first[v]];
    }
    return v;
}
