#include "hlo/module/graph.h"

#include "hlo/module/flows.h"
#include "hlo/module/ops.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/thread.h"

#include <string.h>

static const char MEMORY_FOR[] = "for the data flow of the module";

enum {
    EDGES_OF_VALUE = 2,     /* as many as most modules have */
    HALVES_LEAST = 1 << 15, /* instructions; below, a thread costs more than it saves */
};

struct edges {
    struct edge {
        hlo_value from;
        uint32_t to : 31; /* there are INT32_MAX values at most */
        uint32_t is_flow : 1;
    } * items;
    size_t count, room;
};

static bool add_edge(struct edges *list, hlo_value from, hlo_value to, bool is_flow)
{
    if (!mem_grow(&list->items, &list->room, list->count, 1))
        return false;
    list->items[list->count++] = (struct edge){from, to & INT32_MAX, is_flow};
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
            if (!add_edge(list, v, first, false))
                return false;
        }
    }
    for (hlo_value v = first + 1; v < end; v++) {
        if (!add_edge(list, first, v, false))
            return false;
    }
    return true;
}

/* The edges of some instructions. */
struct part {
    const struct hlo_module *m;
    struct hlo_graph *g; /* opcodes of their values are set */
    hlo_id begin, end;
    struct edges list;
    int code;
    struct err e;
};

static int add_edges_of(struct part *p, hlo_id id, struct hlo_flows *flows)
{
    const struct hlo_module *m = p->m;
    bool has_room = true;

    for (hlo_value v = m->leaf_base[id]; v < m->leaf_base[id + 1]; v++)
        p->g->opcode[v] = hlo_at(m, id)->opcode;
    if (hlo_flows_of(m, id, flows, &p->e))
        return p->e.code;
    if (!flows->count)
        has_room = add_computing(m, id, &p->list);
    for (size_t n = 0; n < flows->count && has_room; n++)
        has_room = add_edge(&p->list, flows->items[n].from, flows->items[n].to, true);
    return has_room ? 0 : err_no_memory(&p->e, MEMORY_FOR);
}

static void *collect_edges(void *context)
{
    struct part *p = context;
    struct hlo_flows flows = {0};
    size_t values = p->m->leaf_base[p->end] - p->m->leaf_base[p->begin];

    if (!mem_grow(&p->list.items, &p->list.room, 0, values * EDGES_OF_VALUE))
        p->code = err_no_memory(&p->e, MEMORY_FOR);
    for (hlo_id id = p->begin; id < p->end && !p->code; id++)
        p->code = add_edges_of(p, id, &flows);
    hlo_flows_release(&flows);
    return NULL;
}

/* Edges by counting sort, by their end and by their beginning: each fills its own of the graph. */
struct sorting {
    struct hlo_graph *g;
    const struct part *parts; /* 2 of them */
};

static void *sort_by_end(void *context)
{
    const struct sorting *s = context;
    struct hlo_graph *g = s->g;

    for (const struct part *p = s->parts; p < s->parts + 2; p++) {
        for (size_t n = 0; n < p->list.count; n++) {
            const struct edge *f = &p->list.items[n];
            g->pred_first[f->to + 2]++;
            g->is_flow[f->to] |= f->is_flow;
        }
    }
    for (uint32_t v = 0; v < g->m->value_count; v++)
        g->pred_first[v + 1] += g->pred_first[v];
    for (const struct part *p = s->parts; p < s->parts + 2; p++) {
        for (size_t n = 0; n < p->list.count; n++)
            g->preds[g->pred_first[p->list.items[n].to + 1]++] = p->list.items[n].from;
    }
    return NULL;
}

static void *sort_by_beginning(void *context)
{
    const struct sorting *s = context;
    struct hlo_graph *g = s->g;

    for (const struct part *p = s->parts; p < s->parts + 2; p++) {
        for (size_t n = 0; n < p->list.count; n++)
            g->succ_first[p->list.items[n].from + 2]++;
    }
    for (uint32_t v = 0; v < g->m->value_count; v++)
        g->succ_first[v + 1] += g->succ_first[v];
    for (const struct part *p = s->parts; p < s->parts + 2; p++) {
        for (size_t n = 0; n < p->list.count; n++)
            g->succs[g->succ_first[p->list.items[n].from + 1]++] = p->list.items[n].to;
    }
    return NULL;
}

static int sort_edges(const struct part *parts, struct hlo_graph *g, struct err *e)
{
    struct sorting s = {g, parts};
    uint32_t values = g->m->value_count;
    size_t count = parts[0].list.count + parts[1].list.count;
    struct beside beside;

    if (count > UINT32_MAX / 2)
        return err_set(e, ERR_LIMIT, "more than %u uses of values", (unsigned)(UINT32_MAX / 2));
    g->pred_first = mem_try((size_t)values + 2, sizeof *g->pred_first);
    g->succ_first = mem_try((size_t)values + 2, sizeof *g->succ_first);
    g->preds = mem_try(count, sizeof *g->preds);
    g->succs = mem_try(count, sizeof *g->succs);
    if (!g->pred_first || !g->succ_first || !g->preds || !g->succs)
        return err_no_memory(e, MEMORY_FOR);
    beside_begin(&beside, g->m->count >= HALVES_LEAST, sort_by_beginning, &s);
    sort_by_end(&s);
    beside_end(&beside);
    return 0;
}

/* Of a large module the later half is collected by a second thread. */
static int set_edges(struct hlo_graph *g, struct err *e)
{
    const struct hlo_module *m = g->m;
    bool is_large = m->count >= HALVES_LEAST;
    hlo_id middle = is_large ? m->count / 2 : m->count;
    struct part parts[2] = {{.m = m, .g = g, .end = middle},
                            {.m = m, .g = g, .begin = middle, .end = m->count}};
    struct beside beside;

    beside_begin(&beside, is_large, collect_edges, &parts[1]);
    collect_edges(&parts[0]);
    beside_end(&beside);
    const struct part *wrong = parts[0].code ? &parts[0] : &parts[1];
    int code = wrong->code;
    if (code)
        *e = wrong->e;
    else
        code = sort_edges(parts, g, e);
    free(parts[0].list.items);
    free(parts[1].list.items);
    return code;
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
        code = set_edges(out, e);
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
