#include "engine/relaxed/live_bytes.h"

#include "engine/cost/fusion.h"
#include "engine/cost/memory.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/problem/problem.h"
#include "engine/relaxed/copies.h"
#include "engine/relaxed/energy.h"
#include "engine/relaxed/model.h"
#include "engine/relaxed/peaks.h"
#include "engine/relaxed/plan_totals.h"
#include "engine/relaxed/status.h"
#include "hlo/module/hlo.h"
#include "hlo/module/ops.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <string.h>

#define POINTS_MOST (UINT32_C(1) << 20)
#define MEMORY_FOR "for the memory of changing labels"

enum term_kind {
    TERM_RANGE,  /* of the memory model */
    TERM_SHARED, /* what a collective makes of a value for all uses */
    TERM_BEGUN,  /* what it reads */
    TERM_SINGLE, /* what one makes for one use, or as a loop's state */
};

struct live_term {
    uint8_t kind;
    uint32_t which;      /* range, value or edge */
    uint32_t start, end; /* positions, of one computation */
    double bytes;        /* now */
};

/* A computation where it is called. */
struct called {
    hlo_comp comp;
    uint32_t *at;  /* [positions + 1] the point of each, those of what it calls behind it */
    uint32_t next; /* call of the same computation; UINT32_MAX: none */
};

struct live_bytes {
    const struct model *m;
    const struct problem *p;
    const struct relaxed_plan *like;
    struct copy_span *spans; /* [values] */
    bool *is_param;          /* [values] */
    bool *is_output;         /* [values] leaves of the root */
    uint32_t *output_node;   /* [values] of origins; UINT32_MAX: none */
    hlo_value *next_name;    /* [values] of what a buffer carries: the next of its names */
    hlo_value *first_name;   /* [values] of buffers; HLO_NONE: none but its own */
    struct called *calls;
    uint32_t call_count, *first_call; /* [computations] */
    size_t call_room, term_room;
    uint32_t points;
    struct live_term *terms;
    uint32_t term_count;
    uint32_t *first, *of_node; /* [nodes + 1]; terms that depend on a node */
    struct peaks peaks;
    double *start; /* [points + 1] scratch */
};

/* ---- bytes ---- */

static status made_of(const struct live_bytes *l, hlo_value v, const uint16_t *x)
{
    const struct model *m = l->m;
    hlo_value o = m->origin[v];

    if (o == HLO_NONE || m->maker[o] == UINT32_MAX)
        return STATUS_WHOLE;
    return model_made(m, o, x[m->maker[o]]);
}

static status held_of(const struct live_bytes *l, hlo_value v, const uint16_t *x)
{
    const struct model *m = l->m;
    hlo_value o = m->origin[v];

    if (o == HLO_NONE || m->maker[o] == UINT32_MAX)
        return STATUS_WHOLE;
    return m->hub[o] == UINT32_MAX ? model_made(m, o, x[m->maker[o]])
                                   : model_status(m, m->space_of[o], x[m->hub[o]]);
}

static status ended_of(const struct live_bytes *l, hlo_value o, const uint16_t *x)
{
    uint32_t node = l->output_node[o];

    return node == UINT32_MAX ? held_of(l, o, x)
                              : model_status(l->m, l->m->nodes[node].space, x[node]);
}

struct sizes {
    double made, held;
    bool is_same; /* status */
};

static struct sizes sizes_of(const struct live_bytes *l, hlo_value v, const uint16_t *x)
{
    status made = made_of(l, v, x), held = held_of(l, v, x);
    double bytes = relaxed_local_bytes(l->p, v, made);

    return (struct sizes){bytes, made == held ? bytes : relaxed_local_bytes(l->p, v, held),
                          made == held};
}

static double larger_of(struct sizes s)
{
    return s.held > s.made ? s.held : s.made;
}

/* An argument with all micro-batches. */
static double argument_bytes(const struct live_bytes *l, hlo_value v, double made)
{
    const struct classes *c = &l->p->classes;

    for (dim_id d = c->dim_base[v]; d < c->dim_base[v + 1]; d++)
        made *= label_cuts(&l->p->labels, c->class_of[d]);
    return made;
}

static double bytes_of(const struct live_bytes *l, hlo_value v, const uint16_t *x)
{
    struct sizes s = sizes_of(l, v, x);
    double most = larger_of(s);

    if (l->is_param[v])
        return argument_bytes(l, v, s.made);
    if (l->is_output[v]) {
        hlo_value next = relaxed_next_of(l->like, v), o = l->m->origin[v];
        return relaxed_local_bytes(l->p, v,
                                   next != HLO_NONE ? made_of(l, next, x)
                                   : o != HLO_NONE  ? ended_of(l, o, x)
                                                    : STATUS_WHOLE);
    }
    for (hlo_value n = l->first_name[v]; n != HLO_NONE; n = l->next_name[n]) {
        double bytes = larger_of(sizes_of(l, n, x));
        most = bytes > most ? bytes : most;
    }
    return most;
}

static double second_of(const struct live_bytes *l, hlo_value v, const uint16_t *x)
{
    struct sizes s = sizes_of(l, v, x);

    if (l->is_param[v])
        return s.held > s.made ? s.held : 0;
    return s.is_same ? 0 : s.held < s.made ? s.held : s.made;
}

static double range_bytes(const struct live_bytes *l, uint32_t range, const uint16_t *x)
{
    const struct memory_range *r = &l->p->memory.ranges[range];
    hlo_value two = r->storing == STORED_TWICE ? r->gradient : r->value;
    double bytes = memory_range_bytes_from(&l->p->memory, r, bytes_of(l, r->value, x),
                                           two == HLO_NONE ? 0 : second_of(l, two, x));

    if (r->storing != STORED_LAID_OUT ||
        hlo_at(l->p->m, l->p->m->value_instruction[r->value])->opcode == HLO_OP_PARAMETER)
        return bytes;
    struct sizes s = sizes_of(l, r->value, x);
    return bytes + (s.held > s.made ? s.made - s.held : 0); /* the piece is laid out */
}

static double copy_bytes(const struct live_bytes *l, const struct live_term *t, const uint16_t *x)
{
    hlo_value v = t->which;

    if (!copy_is_sent(made_of(l, v, x), held_of(l, v, x), l->p->mesh.axes))
        return 0;
    struct sizes s = sizes_of(l, v, x);
    if (t->kind == TERM_SHARED)
        return s.held;
    return l->spans[v].has_range && s.held < s.made ? s.held : s.made;
}

static double single_bytes(const struct live_bytes *l, uint32_t edge, const uint16_t *x)
{
    const struct model *m = l->m;
    const struct energy_edge *k = &m->energy.edges[edge];
    uint32_t space = m->edges[edge].space;
    status from = model_status(m, space, model_place(m, edge, false, x[k->a])),
           to = model_status(m, space, model_place(m, edge, true, x[k->b]));

    return copy_is_sent(from, to, l->p->mesh.axes)
               ? relaxed_local_bytes(l->p, m->edges[edge].value, to)
               : 0;
}

static double bytes_now(const struct live_bytes *l, const struct live_term *t, const uint16_t *x)
{
    return t->kind == TERM_RANGE    ? range_bytes(l, t->which, x)
           : t->kind == TERM_SINGLE ? single_bytes(l, t->which, x)
                                    : copy_bytes(l, t, x);
}

/* ---- points ---- */

/* Computations in which something lives, what they call included; callees come first. */
static void find_inner(const struct problem *p, bool *lives)
{
    const struct hlo_module *m = p->m;

    for (hlo_comp c = 0; c < m->computation_count; c++) {
        const struct hlo_computation *comp = &m->computations[c];
        lives[c] = p->memory.first[c] < p->memory.first[c + 1];
        for (hlo_id id = comp->first; id < comp->first + comp->count; id++) {
            for (uint32_t k = 0; k < hlo_at(m, id)->called_count; k++)
                lives[c] |= lives[hlo_called(m, id, k)];
        }
    }
}

/* False: no memory, or too many points. */
static bool lay_out(struct live_bytes *l, const bool *lives, hlo_comp c)
{
    const struct hlo_module *m = l->p->m;
    const struct hlo_computation *comp = &m->computations[c];
    uint32_t *at = mem_try((size_t)comp->count + 1, sizeof *at), me = l->call_count;

    if (!at || !mem_grow(&l->calls, &l->call_room, me, 1)) {
        free(at);
        return false;
    }
    l->calls[l->call_count++] = (struct called){c, at, l->first_call[c]};
    l->first_call[c] = me;
    for (uint32_t n = 0; n < comp->count; n++) {
        hlo_id id = l->p->memory.schedule.order[comp->first + n];
        at[n] = l->points++;
        if (l->points >= POINTS_MOST)
            return false;
        for (uint32_t k = 0; k < hlo_at(m, id)->called_count; k++) {
            hlo_comp inner = hlo_called(m, id, k);
            if (lives[inner] && !lay_out(l, lives, inner))
                return false;
        }
    }
    at[comp->count] = l->points;
    return true;
}

/* ---- terms ---- */

static bool add_term(struct live_bytes *l, enum term_kind kind, uint32_t which, uint32_t start,
                     uint32_t end)
{
    if (start > end)
        return true;
    if (!mem_grow(&l->terms, &l->term_room, l->term_count, 1))
        return false;
    l->terms[l->term_count++] = (struct live_term){(uint8_t)kind, which, start, end, 0};
    return true;
}

/* What is sent of values and for single uses. */
static bool list_copies(struct live_bytes *l)
{
    const struct model *m = l->m;
    const struct memory_model *memory = &l->p->memory;
    bool ok = true;

    for (hlo_value v = 0; v < l->p->m->value_count && ok; v++) {
        const struct copy_span *s = &l->spans[v];
        if (m->origin[v] != v || m->hub[v] == UINT32_MAX)
            continue;
        ok = add_term(l, TERM_SHARED, v, s->start, s->end);
        if (s->begun != HLO_NONE)
            ok = ok && add_term(l, TERM_BEGUN, v, s->begun, s->begun);
    }
    for (uint32_t k = 0; k < m->energy.edge_count && ok; k++) {
        const struct model_node *n = &m->nodes[m->energy.edges[k].b];
        uint32_t at;
        if (n->kind == MODEL_INSTRUCTION && !l->p->classes.runs_whole[n->id])
            ok = add_term(l, TERM_SINGLE, k, memory->schedule.position[n->id],
                          memory_last_read(memory, n->id));
        else if (n->kind == MODEL_JUNCTION && copy_of_state(l->p, m->edges[k].value, n->value, &at))
            ok = add_term(l, TERM_SINGLE, k, at, at);
    }
    return ok;
}

static bool list_terms(struct live_bytes *l)
{
    const struct memory_model *memory = &l->p->memory;
    bool ok = true;

    for (uint32_t k = 0; k < memory->count && ok; k++)
        ok = add_term(l, TERM_RANGE, k, memory->ranges[k].start, memory->ranges[k].end);
    return ok && list_copies(l);
}

typedef void (*node_fn)(struct live_bytes *l, uint32_t term, uint32_t node);

static void nodes_of_value(struct live_bytes *l, uint32_t term, hlo_value v, node_fn each)
{
    hlo_value o = l->m->origin[v];

    if (o == HLO_NONE)
        return;
    if (l->m->maker[o] != UINT32_MAX)
        each(l, term, l->m->maker[o]);
    if (l->m->hub[o] != UINT32_MAX)
        each(l, term, l->m->hub[o]);
    if (l->output_node[o] != UINT32_MAX)
        each(l, term, l->output_node[o]);
}

static void nodes_of_range(struct live_bytes *l, uint32_t term, node_fn each)
{
    const struct memory_range *r = &l->p->memory.ranges[l->terms[term].which];
    hlo_value v = r->value, next = l->is_output[v] ? relaxed_next_of(l->like, v) : HLO_NONE;

    nodes_of_value(l, term, v, each);
    if (next != HLO_NONE)
        nodes_of_value(l, term, next, each);
    if (r->storing == STORED_TWICE && r->gradient != HLO_NONE)
        nodes_of_value(l, term, r->gradient, each);
    for (hlo_value n = l->first_name[v]; n != HLO_NONE; n = l->next_name[n])
        nodes_of_value(l, term, n, each);
}

static void nodes_of_terms(struct live_bytes *l, node_fn each)
{
    for (uint32_t t = 0; t < l->term_count; t++) {
        if (l->terms[t].kind == TERM_RANGE) {
            nodes_of_range(l, t, each);
        } else if (l->terms[t].kind == TERM_SINGLE) {
            const struct energy_edge *k = &l->m->energy.edges[l->terms[t].which];
            each(l, t, k->a);
            each(l, t, k->b);
        } else {
            nodes_of_value(l, t, l->terms[t].which, each);
        }
    }
}

static void count_node(struct live_bytes *l, uint32_t term, uint32_t node)
{
    (void)term;
    l->first[node + 1]++;
}

/* Filled from the end of each node's part to its beginning. */
static void list_node(struct live_bytes *l, uint32_t term, uint32_t node)
{
    l->of_node[--l->first[node + 1]] = term;
}

static bool index_nodes(struct live_bytes *l)
{
    uint32_t nodes = l->m->energy.nodes;

    l->first = mem_try((size_t)nodes + 2, sizeof *l->first);
    if (!l->first)
        return false;
    nodes_of_terms(l, count_node);
    for (uint32_t n = 1; n < nodes; n++)
        l->first[n + 1] += l->first[n];
    l->of_node = mem_try((size_t)l->first[nodes] + 1, sizeof *l->of_node);
    if (!l->of_node)
        return false;
    uint32_t all = l->first[nodes];
    nodes_of_terms(l, list_node);
    memmove(l->first, l->first + 1, nodes * sizeof *l->first);
    l->first[nodes] = all;
    return true;
}

/* ---- from a model ---- */

static bool allocate(struct live_bytes *l)
{
    size_t values = (size_t)l->p->m->value_count + 1, comps = l->p->m->computation_count;

    l->is_param = mem_try(values, sizeof *l->is_param);
    l->is_output = mem_try(values, sizeof *l->is_output);
    l->output_node = mem_try(values, sizeof *l->output_node);
    l->next_name = mem_try(values, sizeof *l->next_name);
    l->first_name = mem_try(values, sizeof *l->first_name);
    l->first_call = mem_try(comps, sizeof *l->first_call);
    if (!l->is_param || !l->is_output || !l->output_node || !l->next_name || !l->first_name ||
        !l->first_call)
        return false;
    memset(l->output_node, 0xff, values * sizeof *l->output_node);
    memset(l->first_call, 0xff, comps * sizeof *l->first_call);
    for (hlo_value v = 0; v < l->p->m->value_count; v++)
        l->next_name[v] = l->first_name[v] = HLO_NONE;
    return true;
}

static void note_values(struct live_bytes *l)
{
    const struct problem *p = l->p;
    const struct model *m = l->m;
    hlo_id root = p->m->computations[p->m->entry].root;

    for (uint32_t k = 0; k < p->roles.param_count; k++)
        l->is_param[p->roles.params[k].value] = true;
    for (hlo_value v = p->m->leaf_base[root]; v < p->m->leaf_base[root + 1]; v++)
        l->is_output[v] = true;
    for (uint32_t k = 0; k < m->energy.nodes; k++) {
        if (m->nodes[k].kind == MODEL_OUTPUT)
            l->output_node[m->nodes[k].value] = k;
    }
    for (hlo_value v = 0; v < p->m->value_count; v++) {
        hlo_value b = p->fusion.buffer[v];
        if (b == v || m->origin[v] == HLO_NONE || !fusion_begins_free(p->m, b))
            continue;
        l->next_name[v] = l->first_name[b];
        l->first_name[b] = v;
    }
}

/* False: no memory, or (l->points >= POINTS_MOST) too many points. */
static bool prepare(struct live_bytes *l)
{
    bool *lives = mem_try(l->p->m->computation_count, sizeof *lives);
    bool ok = lives && allocate(l);

    if (ok) {
        note_values(l);
        find_inner(l->p, lives);
        ok = lay_out(l, lives, l->p->m->entry) && list_terms(l) && index_nodes(l);
    }
    free(lives);
    if (!ok)
        return false;
    l->start = mem_try((size_t)l->points + 1, sizeof *l->start);
    return peaks_new(l->points, &l->peaks) && l->start;
}

int live_bytes_new(const struct model *m, const struct relaxed_plan *like, struct live_bytes **out,
                   struct err *e)
{
    struct live_bytes *l = mem_try(1, sizeof *l);

    *out = NULL;
    if (!l)
        return err_no_memory(e, MEMORY_FOR);
    l->m = m;
    l->p = m->p;
    l->like = like;
    int rc = copy_spans_new(m->p, &m->p->memory, m->origin, &l->spans, e);
    if (rc) {
        live_bytes_free(l);
        return rc;
    }
    if (prepare(l)) {
        *out = l;
        return 0;
    }
    bool too_many = l->points >= POINTS_MOST;
    live_bytes_free(l);
    return too_many ? 0 : err_no_memory(e, MEMORY_FOR);
}

void live_bytes_free(struct live_bytes *l)
{
    if (!l)
        return;
    for (uint32_t k = 0; k < l->call_count; k++)
        free(l->calls[k].at);
    free(l->calls);
    free(l->first_call);
    free(l->spans);
    free(l->is_param);
    free(l->is_output);
    free(l->output_node);
    free(l->next_name);
    free(l->first_name);
    free(l->terms);
    free(l->first);
    free(l->of_node);
    free(l->start);
    peaks_release(&l->peaks);
    free(l);
}

/* ---- labels ---- */

static hlo_comp comp_of(const struct live_bytes *l, const struct live_term *t)
{
    return hlo_at(l->p->m, l->p->memory.schedule.order[t->start])->computation;
}

static bool is_everywhere(const struct live_bytes *l, const struct live_term *t)
{
    return t->kind == TERM_RANGE && l->p->memory.ranges[t->which].is_argument;
}

/* Bytes at every point, of the terms as they are. */
static void sum_points(struct live_bytes *l)
{
    memset(l->start, 0, ((size_t)l->points + 1) * sizeof *l->start);
    for (uint32_t k = 0; k < l->term_count; k++) {
        const struct live_term *t = &l->terms[k];
        if (is_everywhere(l, t)) {
            l->start[0] += t->bytes;
            continue;
        }
        uint32_t first = l->p->m->computations[comp_of(l, t)].first;
        for (uint32_t c = l->first_call[comp_of(l, t)]; c != UINT32_MAX; c = l->calls[c].next) {
            l->start[l->calls[c].at[t->start - first]] += t->bytes;
            l->start[l->calls[c].at[t->end + 1 - first]] -= t->bytes;
        }
    }
    for (uint32_t n = 1; n < l->points; n++)
        l->start[n] += l->start[n - 1];
}

void live_bytes_set(struct live_bytes *l, const uint16_t *x)
{
    for (uint32_t k = 0; k < l->term_count; k++)
        l->terms[k].bytes = bytes_now(l, &l->terms[k], x);
    sum_points(l);
    peaks_set(&l->peaks, l->start);
}

static void add_bytes(struct live_bytes *l, const struct live_term *t, double more)
{
    if (is_everywhere(l, t)) {
        peaks_add(&l->peaks, 0, l->points, more);
        return;
    }
    hlo_comp comp = comp_of(l, t);
    uint32_t first = l->p->m->computations[comp].first;
    for (uint32_t c = l->first_call[comp]; c != UINT32_MAX; c = l->calls[c].next)
        peaks_add(&l->peaks, l->calls[c].at[t->start - first], l->calls[c].at[t->end + 1 - first],
                  more);
}

uint32_t live_bytes_change(struct live_bytes *l, const uint16_t *x, uint32_t node)
{
    for (uint32_t k = l->first[node]; k < l->first[node + 1]; k++) {
        struct live_term *t = &l->terms[l->of_node[k]];
        double now = bytes_now(l, t, x), more = now - t->bytes;
        t->bytes = now;
        if (more != 0)
            add_bytes(l, t, more);
    }
    return l->first[node + 1] - l->first[node];
}

double live_bytes_peak(const struct live_bytes *l)
{
    return peaks_most(&l->peaks);
}

/* The positions at a point: calls stand in the order of their first points. */
static void chain_of(const struct live_bytes *l, uint32_t point, struct memory_chain *out)
{
    out->depth = 0;
    for (uint32_t c = 0; c < l->call_count && out->depth < MEMORY_CHAIN_MOST; c++) {
        const struct called *k = &l->calls[c];
        const struct hlo_computation *comp = &l->p->m->computations[k->comp];
        uint32_t low = 0, high = comp->count;
        if (point < k->at[0] || point >= k->at[comp->count])
            continue;
        while (high - low > 1) {
            uint32_t middle = low + (high - low) / 2;
            *(k->at[middle] <= point ? &low : &high) = middle;
        }
        out->at[out->depth++] = comp->first + low;
    }
}

uint32_t live_bytes_above(struct live_bytes *l, double limit, struct memory_chain *out,
                          uint32_t room)
{
    uint32_t count = 0;

    sum_points(l);
    for (; count < room; count++) {
        uint32_t most = 0;
        for (uint32_t n = 1; n < l->points; n++)
            most = l->start[n] > l->start[most] ? n : most;
        if (l->start[most] <= limit)
            break;
        chain_of(l, most, &out[count]);
        /* down to the valleys beside it */
        double high = l->start[most];
        uint32_t first = most, last = most;
        while (first > 0 && l->start[first - 1] <= l->start[first])
            first--;
        while (last + 1 < l->points && l->start[last + 1] <= l->start[last])
            last++;
        for (uint32_t n = first; n <= last && high > 0; n++)
            l->start[n] = 0;
    }
    return count;
}
