/* engine/relaxed/limited_price.c - memory at a peak as costs of nodes and edges. */
#include "engine/cost/fusion.h"
#include "engine/cost/memory.h"
#include "engine/cost/memory_chain.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/problem/problem.h"
#include "engine/relaxed/copies.h"
#include "engine/relaxed/energy.h"
#include "engine/relaxed/limited_internal.h"
#include "engine/relaxed/model.h"
#include "engine/relaxed/model_internal.h"
#include "engine/relaxed/plan_totals.h"
#include "engine/relaxed/relaxed_internal.h"
#include "engine/relaxed/status.h"
#include "engine/relaxed/tables.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <string.h>

/* One of the names of what a loop carries from constants on. */
static bool is_carried(const struct limited_search *w, hlo_value v)
{
    const struct problem *p = w->r->p;

    return fusion_begins_free(p->m, p->fusion.buffer[v]) && w->r->model.origin[v] != HLO_NONE;
}

static void find_hub_edges(struct limited_search *w)
{
    const struct model *m = &w->r->model;

    memset(w->hub_edge, 0xff, w->r->p->m->value_count * sizeof *w->hub_edge);
    for (uint32_t k = 0; k < m->energy.edge_count; k++) {
        hlo_value v = m->edges[k].value;
        if (m->hub[v] == m->energy.edges[k].b && m->maker[v] == m->energy.edges[k].a)
            w->hub_edge[v] = k;
    }
}

int limited_price_new(struct limited_search *w, struct err *e)
{
    const struct model *m = &w->r->model;
    const struct problem *p = w->r->p;
    size_t values = (size_t)p->m->value_count + 1, edges = (size_t)m->energy.edge_count + 1;
    hlo_id root = p->m->computations[p->m->entry].root;

    w->unary = mem_try((size_t)m->energy.nodes + 1, sizeof *w->unary);
    w->priced = mem_try(edges, sizeof *w->priced);
    w->hub_edge = mem_try(values, sizeof *w->hub_edge);
    w->carried = mem_try(values, sizeof *w->carried);
    w->price = mem_try(values, sizeof *w->price);
    w->is_param = mem_try(values, sizeof *w->is_param);
    w->is_output = mem_try(values, sizeof *w->is_output);
    w->edge_price = mem_try(edges, sizeof *w->edge_price);
    if (!w->unary || !w->priced || !w->hub_edge || !w->carried || !w->price || !w->is_param ||
        !w->is_output || !w->edge_price)
        return err_no_memory(e, "for a plan within a limit");
    int rc = copy_spans_new(p, &p->memory, m->origin, &w->spans, e);
    if (rc)
        return rc;
    memcpy(w->unary, w->r->pinned.unary, m->energy.nodes * sizeof *w->unary);
    w->edges = w->r->pinned.edges;
    for (hlo_value v = 0; v < p->m->value_count; v++)
        w->carried[p->fusion.buffer[v]] += is_carried(w, v);
    find_hub_edges(w);
    for (uint32_t k = 0; k < p->roles.param_count; k++)
        w->is_param[p->roles.params[k].value] = true;
    for (hlo_value v = p->m->leaf_base[root]; v < p->m->leaf_base[root + 1]; v++)
        w->is_output[v] = true;
    return 0;
}

void limited_price_release(struct limited_search *w)
{
    free(w->unary);
    free(w->priced);
    free(w->hub_edge);
    free(w->carried);
    free(w->price);
    free(w->is_param);
    free(w->is_output);
    free(w->spans);
    free(w->edge_price);
}

/* ---- tables ---- */

/* A table of these costs added to `to`: equal ones are one table, so equal layers stay equal work.
 */
static struct sight add_costs(struct tables *t, struct sight to, const double *costs)
{
    uint32_t rows = tables_rows(t, to.table, to.turned), cols = tables_cols(t, to.table, to.turned);
    size_t bytes = (size_t)rows * cols * sizeof *costs;
    uint64_t key[TABLE_KEY] = {KEY_MEMORY, rows, cols, mem_hash(costs, bytes, 1),
                               mem_hash(costs, bytes, 2)};
    bool is_new;
    table_id id = tables_get(t, key, rows, cols, &is_new);

    if (is_new && !t->failed) {
        memcpy(tables_at(t, id, false), costs, bytes);
        tables_turn(t, id);
    }
    return (struct sight){tables_sum(t, to, (struct sight){id, false}), false};
}

/* What a table allows, without what it costs. */
static table_id allowed_of(struct tables *t, table_id id)
{
    uint32_t rows = t->items[id].rows, cols = t->items[id].cols;
    uint64_t key[TABLE_KEY] = {KEY_ALLOWED, id};
    bool is_new;
    table_id to = tables_get(t, key, rows, cols, &is_new);

    if (!is_new || t->failed)
        return to;
    const double *from = tables_at(t, id, false);
    double *into = tables_at(t, to, false);
    for (size_t n = 0; n < (size_t)rows * cols; n++)
        into[n] = from[n] > TABLE_FORBIDDEN / 2 ? TABLE_FORBIDDEN : 0;
    tables_turn(t, to);
    return to;
}

/* ---- values ---- */

/* What a value's bytes are multiplied with: inputs hold all micro-batches. */
static double batches(const struct limited_search *w, hlo_value v)
{
    const struct problem *p = w->r->p;
    double cuts = 1;

    for (dim_id d = p->classes.dim_base[v]; w->is_param[v] && d < p->classes.dim_base[v + 1]; d++)
        cuts *= label_cuts(&p->labels, p->classes.class_of[d]);
    return cuts;
}

/* What depends on how a value is made and how its uses share it, as relaxed_memory has it. */
static double shared_ms(const struct limited_search *w, hlo_value v, status made, status held)
{
    const struct value_price *price = &w->price[v];
    double made_bytes = relaxed_local_bytes(w->r->p, v, made),
           held_bytes = relaxed_local_bytes(w->r->p, v, held);
    double more = held_bytes > made_bytes ? held_bytes - made_bytes : 0;
    double less = held_bytes < made_bytes ? held_bytes : made_bytes;

    if (w->is_param[v])
        return more > 0 ? price->copied * held_bytes : 0;
    bool is_reduced = made != held && less > 0;
    double ms = (price->made - price->laid_out) * more +
                (is_reduced ? price->second * less : price->unreduced_ms);
    if (copy_is_sent(made, held, w->r->p->mesh.axes))
        ms += price->sent * held_bytes + price->begun * (w->spans[v].has_range ? less : made_bytes);
    return ms;
}

static void price_shared(struct limited_search *w, hlo_value v, uint32_t edge)
{
    struct relaxed *r = w->r;
    const struct model *m = &r->model;
    struct energy_edge *k = &w->priced[edge];
    hlo_value o = m->origin[v];
    uint32_t rows = energy_labels(&m->energy, k->a), cols = energy_labels(&m->energy, k->b);
    double *costs = mem_alloc((size_t)rows * cols * sizeof *costs);

    for (uint32_t x = 0; x < rows; x++) {
        status made = model_made(m, o, x);
        for (uint32_t y = 0; y < cols; y++)
            costs[(size_t)x * cols + y] = shared_ms(w, v, made, model_status(m, m->space_of[o], y));
    }
    k->table = add_costs(&r->model.tables, k->table, costs);
    free(costs);
}

static void price_made(struct limited_search *w, hlo_value v)
{
    struct relaxed *r = w->r;
    const struct model *m = &r->model;
    uint32_t node = m->maker[m->origin[v]], labels = energy_labels(&m->energy, node);
    double costs[STATUS_COUNT_MOST], each = w->price[v].made * batches(w, v);

    BUG_ON(labels > STATUS_COUNT_MOST);
    for (uint32_t x = 0; x < labels; x++)
        costs[x] = each * relaxed_local_bytes(r->p, v, model_made(m, m->origin[v], x));
    r->pinned.unary[node] =
        add_costs(&r->model.tables, (struct sight){r->pinned.unary[node], false}, costs).table;
}

static void price_value(struct limited_search *w, hlo_value v)
{
    const struct model *m = &w->r->model;
    const struct value_price *price = &w->price[v];
    hlo_value o = m->origin[v];

    if (w->is_output[v] && !w->is_param[v])
        return;
    if (o == HLO_NONE || m->maker[o] == UINT32_MAX) {
        w->constant += price->made * batches(w, v) * relaxed_local_bytes(w->r->p, v, STATUS_WHOLE);
        return;
    }
    if (price->made > 0)
        price_made(w, v);
    if (w->hub_edge[o] != UINT32_MAX)
        price_shared(w, v, w->hub_edge[o]);
}

/* The copy that one use has of its operand. */
static void price_single(struct limited_search *w, uint32_t edge)
{
    struct relaxed *r = w->r;
    const struct model *m = &r->model;
    struct energy_edge *k = &w->priced[edge];
    const struct model_edge *i = &m->edges[edge];
    uint32_t rows = energy_labels(&m->energy, k->a), cols = energy_labels(&m->energy, k->b);
    double *costs = mem_alloc((size_t)rows * cols * sizeof *costs);

    for (uint32_t x = 0; x < rows; x++) {
        status from = model_status(m, i->space, model_place(m, edge, false, x));
        for (uint32_t y = 0; y < cols; y++) {
            status to = model_status(m, i->space, model_place(m, edge, true, y));
            costs[(size_t)x * cols + y] =
                copy_is_sent(from, to, r->p->mesh.axes)
                    ? w->edge_price[edge] * relaxed_local_bytes(r->p, i->value, to)
                    : 0;
        }
    }
    k->table = add_costs(&r->model.tables, k->table, costs);
    free(costs);
}

/* ---- ranges ---- */

/* A range is live at a peak. */
struct pricing {
    struct limited_search *w;
    double ms; /* per byte */
};

/* The copy of a variable before its update, which is not there where its gradient is all-reduced:
 * whatever the variable's status, at least its smallest. */
static void price_twice(struct limited_search *w, const struct memory_range *i, double ms)
{
    const struct model *m = &w->r->model;
    hlo_value g = i->gradient == HLO_NONE ? HLO_NONE : m->origin[i->gradient],
              o = m->origin[i->value];
    double least = (double)hlo_value_shape(m->p->m, i->value)->bytes;

    if (g == HLO_NONE || w->hub_edge[g] == UINT32_MAX) {
        w->price[i->value].made += ms;
        return;
    }
    if (o == HLO_NONE || m->maker[o] == UINT32_MAX)
        return;
    for (uint32_t x = 0; x < energy_labels(&m->energy, m->maker[o]); x++) {
        double bytes = relaxed_local_bytes(m->p, i->value, model_made(m, o, x));
        least = bytes < least ? bytes : least;
    }
    w->price[i->gradient].unreduced_ms += ms * least;
}

static void price_range(void *self, uint32_t range)
{
    const struct pricing *one = self;
    struct limited_search *w = one->w;
    const struct memory_range *i = &w->r->p->memory.ranges[range];
    double beside = memory_range_beside(&w->r->p->memory, i);

    if (i->storing == STORED_LAID_OUT && !w->is_param[i->value])
        w->price[i->value].laid_out += one->ms;
    if (i->storing == STORED_AS_USED)
        w->price[i->value].made += one->ms;
    else if (beside > 0)
        w->price[i->value].made += one->ms * beside;
    else if (i->storing == STORED_COPY)
        w->price[i->value].copied += one->ms;
    else if (i->storing == STORED_REDUCED)
        w->price[i->value].second += one->ms;
    else if (i->storing == STORED_TWICE)
        price_twice(w, i, one->ms);
}

static bool is_within(const struct memory_chain *c, uint32_t first, uint32_t last)
{
    bool found = false;

    for (uint32_t d = 0; d < c->depth; d++)
        found |= first <= c->at[d] && c->at[d] <= last;
    return found;
}

/* Copies that live at a peak. */
static void price_copies(struct limited_search *w, const struct memory_chain *c, double ms)
{
    const struct problem *p = w->r->p;
    const struct model *m = &w->r->model;

    for (hlo_value v = 0; v < p->m->value_count; v++) {
        const struct copy_span *s = &w->spans[v];
        w->price[v].sent += is_within(c, s->start, s->end) ? ms : 0;
        w->price[v].begun += s->begun != HLO_NONE && is_within(c, s->begun, s->begun) ? ms : 0;
    }
    for (uint32_t k = 0; k < m->energy.edge_count; k++) {
        const struct model_node *n = &m->nodes[m->energy.edges[k].b];
        uint32_t at;
        if (n->kind == MODEL_INSTRUCTION && !p->classes.runs_whole[n->id] &&
            is_within(c, p->memory.schedule.position[n->id], memory_last_read(&p->memory, n->id)))
            w->edge_price[k] += ms;
        if (n->kind == MODEL_JUNCTION && copy_of_state(p, m->edges[k].value, n->value, &at) &&
            is_within(c, at, at))
            w->edge_price[k] += ms;
    }
}

/* A buffer is as large as the largest that it carries; that is at least the mean of them. */
static void share_carried(struct limited_search *w)
{
    for (hlo_value v = 0; v < w->r->p->m->value_count; v++) {
        hlo_value b = w->r->p->fusion.buffer[v];
        if (is_carried(w, v) && v != b)
            w->price[v].made += w->price[b].made / w->carried[b];
    }
    for (hlo_value v = 0; v < w->r->p->m->value_count; v++) {
        if (w->carried[v])
            w->price[v].made /= w->carried[v];
    }
}

/* The energy without memory; weighing, without time too. */
static void begin_price(struct limited_search *w)
{
    struct relaxed *r = w->r;

    memcpy(r->pinned.unary, w->unary, r->pinned.nodes * sizeof *w->unary);
    if (r->pinned.edge_count)
        memcpy(w->priced, w->edges, r->pinned.edge_count * sizeof *w->priced);
    w->is_priced = true;
    r->pinned.edges = w->priced;
    w->constant = 0;
    r->pinned.constant = w->weighs ? 0 : r->model.energy.constant;
    for (uint32_t n = 0; w->weighs && n < r->pinned.nodes; n++)
        r->pinned.unary[n] = allowed_of(&r->model.tables, w->unary[n]);
    for (uint32_t k = 0; w->weighs && k < r->pinned.edge_count; k++)
        w->priced[k].table.table = allowed_of(&r->model.tables, w->edges[k].table.table);
}

int limited_price(struct limited_search *w, struct err *e)
{
    struct relaxed *r = w->r;
    double all = 0;

    begin_price(w);
    memset(w->price, 0, r->p->m->value_count * sizeof *w->price);
    memset(w->edge_price, 0, r->model.energy.edge_count * sizeof *w->edge_price);
    for (uint32_t n = 0; n < w->count; n++) {
        struct pricing one = {w, w->peaks[n].now};
        all += one.ms;
        if (one.ms > 0)
            memory_chain_each(&r->p->memory, &w->peaks[n].where, price_range, &one);
        if (one.ms > 0)
            price_copies(w, &w->peaks[n].where, one.ms);
    }
    share_carried(w);
    for (hlo_value v = 0; v < r->p->m->value_count; v++) {
        const struct value_price *price = &w->price[v];
        if (price->made > 0 || price->copied > 0 || price->second > 0 || price->unreduced_ms > 0 ||
            price->sent > 0 || price->begun > 0)
            price_value(w, v);
    }
    for (uint32_t k = 0; k < r->model.energy.edge_count; k++) {
        if (w->edge_price[k] > 0)
            price_single(w, k);
    }
    if (!w->weighs)
        w->constant -= all * w->limit;
    return r->model.tables.failed ? err_no_memory(e, "for a plan within a limit") : 0;
}

void limited_unprice(struct limited_search *w)
{
    if (w->is_priced) {
        memcpy(w->r->pinned.unary, w->unary, w->r->pinned.nodes * sizeof *w->unary);
        w->r->pinned.edges = (struct energy_edge *)w->edges;
        w->r->pinned.constant = w->r->model.energy.constant;
    }
    w->r->is_ready = false;
}
