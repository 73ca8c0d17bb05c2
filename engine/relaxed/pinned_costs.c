/* engine/relaxed/pinned_costs.c - decisions that must hold, as labels that may not be taken. */
#include "engine/decide/classes.h"
#include "engine/decide/strict.h"
#include "engine/problem/problem.h"
#include "engine/relaxed/energy.h"
#include "engine/relaxed/model.h"
#include "engine/relaxed/model_internal.h"
#include "engine/relaxed/relaxed.h"
#include "engine/relaxed/relaxed_internal.h"
#include "engine/relaxed/status.h"
#include "engine/relaxed/tables.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <string.h>

int relaxed_index_edges(struct relaxed *r, struct err *e)
{
    const struct energy *g = &r->model.energy;

    r->out_first = mem_try((size_t)g->nodes + 2, sizeof *r->out_first);
    r->out_edges = mem_try((size_t)g->edge_count + 1, sizeof *r->out_edges);
    r->reached = mem_try((size_t)g->nodes + 1, sizeof *r->reached);
    r->reached_by = mem_try((size_t)g->nodes + 1, sizeof *r->reached_by);
    if (!r->out_first || !r->out_edges || !r->reached || !r->reached_by)
        return err_no_memory(e, "for relaxed mode");
    for (uint32_t k = 0; k < g->edge_count; k++)
        r->out_first[g->edges[k].a + 2]++;
    for (uint32_t n = 0; n < g->nodes; n++)
        r->out_first[n + 1] += r->out_first[n];
    for (uint32_t k = 0; k < g->edge_count; k++)
        r->out_edges[r->out_first[g->edges[k].a + 1]++] = k;
    return 0;
}

static bool keeps_pin(const struct relaxed_pin *pin, status s)
{
    bool is_split = status_on(s, pin->axis) == pin->dim + 1;

    return pin->kind == RELAXED_WHOLE ? !is_split : is_split;
}

/* Takes away the labels of `node` whose status breaks the pin. `map`: label -> place in `space`. */
static void forbid_states(struct relaxed *r, uint32_t node, uint32_t space, uint32_t map,
                          const struct relaxed_pin *pin)
{
    uint16_t allowed[STATUS_COUNT_MOST];
    uint32_t labels = energy_labels(&r->pinned, node);

    BUG_ON(labels > STATUS_COUNT_MOST);
    for (uint32_t k = 0; k < labels; k++)
        allowed[k] = keeps_pin(pin, model_status(&r->model, space, r->model.places[map + k]));
    r->pinned.unary[node] = tables_forbid(&r->model.tables, r->pinned.unary[node], allowed);
}

/* All that read `v` and can be split read it so. States of loops that it becomes go to `reached`,
 * which has `waiting`, each once. */
static uint32_t pin_reads(struct relaxed *r, hlo_value v, const struct relaxed_pin *pin,
                          uint32_t waiting)
{
    const struct model *m = &r->model;
    uint32_t from = m->maker[v];

    if (m->hub[v] != UINT32_MAX) {
        from = m->hub[v];
        forbid_states(r, from, m->space_of[v], m->identity, pin);
    }
    for (uint32_t k = r->out_first[from]; k < r->out_first[from + 1]; k++) {
        uint32_t edge = r->out_edges[k], user = m->energy.edges[edge].b;
        if (m->edges[edge].value != v || m->nodes[user].kind == MODEL_SOURCE)
            continue; /* storage has pins of its own */
        if (m->nodes[user].kind == MODEL_INSTRUCTION && r->p->classes.runs_whole[m->nodes[user].id])
            continue; /* the partitioner gathers it */
        forbid_states(r, user, m->edges[edge].space, m->edges[edge].map_b, pin);
        if (m->nodes[user].kind != MODEL_JUNCTION || r->reached_by[user] == r->pins_made)
            continue;
        r->reached_by[user] = r->pins_made;
        r->reached[waiting++] = user;
    }
    return waiting;
}

/* Of `v`, and of what loops carry further. */
static void pin_uses(struct relaxed *r, hlo_value v, const struct relaxed_pin *pin)
{
    r->pins_made++;
    uint32_t waiting = pin_reads(r, v, pin, 0);

    for (uint32_t k = 0; k < waiting; k++)
        waiting = pin_reads(r, r->model.nodes[r->reached[k]].value, pin, waiting);
}

static void pin_one(struct relaxed *r, const struct relaxed_pin *pin)
{
    const struct model *m = &r->model;
    const struct problem *p = r->p;
    hlo_value v = m->origin[p->roles.params[pin->param].value];

    if (v == HLO_NONE || m->maker[v] == UINT32_MAX)
        return; /* nothing reads it */
    forbid_states(r, m->maker[v], m->space_of[v], m->identity, pin);
    if (pin->kind != RELAXED_STORED)
        pin_uses(r, v, pin);
    class_id class = p->classes.class_of[class_dim(&p->classes, v, pin->dim)];
    bool split = pin->kind !=
                 RELAXED_WHOLE; /* stored and gathered: a strict plan can only use it split, too */
    if (class == CLASS_NONE ? split : !strict_decide(&r->fixed, class, pin->axis, split, NULL))
        r->is_beyond_strict = true;
}

int relaxed_set_pins(struct relaxed *r, const struct relaxed_pin *pins, uint32_t count,
                     struct err *e)
{
    const struct hlo_roles *roles = &r->p->roles;

    for (uint32_t k = 0; k < count; k++) {
        if (pins[k].param >= roles->param_count || pins[k].axis >= r->p->mesh.axes ||
            pins[k].dim >= hlo_value_shape(r->p->m, roles->params[pins[k].param].value)->rank)
            return err_set(e, ERR_INPUT, "decision %u names no dim of a parameter or no axis", k);
    }
    memcpy(r->pinned.unary, r->model.energy.unary, r->model.energy.nodes * sizeof *r->pinned.unary);
    strict_undo(&r->fixed, 0);
    r->is_beyond_strict = false;
    r->is_ready = false;
    for (uint32_t k = 0; k < count; k++)
        pin_one(r, &pins[k]);
    return r->model.tables.failed ? err_no_memory(e, "for the decisions") : 0;
}

/* ---- values as a program's author has them ---- */

/* Of the label `k` of `node`, as it makes the value. */
static status made_by(const struct relaxed *r, uint32_t node, hlo_value v, uint32_t k)
{
    const struct model *m = &r->model;
    const struct model_node *n = &m->nodes[node];
    const struct classes *c = &r->p->classes;

    if (n->kind != MODEL_INSTRUCTION)
        return model_status(m, m->space_of[v], m->places[m->identity + k]);
    uint32_t leaf = class_leaf_count(c, n->id) - 1;
    return model_status(m, m->leaf_space[c->leaf_base[n->id] + leaf],
                        m->places[m->maps[m->patterns[n->pattern].maps + leaf] + k]);
}

int relaxed_hold(struct relaxed *r, hlo_id id, const status *any_of, uint32_t count, struct err *e)
{
    const struct model *m = &r->model;
    hlo_value v = m->origin[hlo_value_of(r->p->m, id, 0)];
    uint16_t allowed[STATUS_COUNT_MOST] = {0};
    bool any = false;

    if (v == HLO_NONE || m->maker[v] == UINT32_MAX)
        return err_set(e, ERR_INFEASIBLE, "%.60s has no place of its own", hlo_name(r->p->m, id));
    uint32_t node = m->maker[v], labels = energy_labels(&r->pinned, node);
    BUG_ON(labels > STATUS_COUNT_MOST);
    for (uint32_t k = 0; k < labels; k++) {
        status made = made_by(r, node, v, k);
        for (uint32_t n = 0; n < count && !allowed[k]; n++)
            allowed[k] = made == any_of[n];
        any = any || allowed[k];
    }
    if (!any)
        return err_set(e, ERR_INFEASIBLE, "%.60s cannot be split so", hlo_name(r->p->m, id));
    r->pinned.unary[node] = tables_forbid(&r->model.tables, r->pinned.unary[node], allowed);
    r->is_ready = false;
    return r->model.tables.failed ? err_no_memory(e, "for the decisions") : 0;
}

/* ---- ways without collectives ---- */

static bool is_way(const struct model *m, uint32_t edge, const struct relaxed_reshard *way)
{
    const struct model_node *user = &m->nodes[m->energy.edges[edge].b];

    if (m->edges[edge].value != way->value)
        return false;
    if (way->user != HLO_NONE)
        return user->kind == MODEL_INSTRUCTION && user->id == way->user &&
               m->edges[edge].leaf == way->leaf;
    if (way->becomes != HLO_NONE)
        return user->kind != MODEL_INSTRUCTION && user->kind != MODEL_HUB &&
               user->value == way->becomes;
    return user->kind == MODEL_HUB;
}

/* The edge's table with what costs anything forbidden. */
static void forbid_edge(struct relaxed *r, uint32_t edge)
{
    struct tables *t = &r->model.tables;
    struct energy_edge *k = &r->own_edges[edge];
    uint32_t rows = tables_rows(t, k->table.table, false),
             cols = tables_cols(t, k->table.table, false);
    uint64_t key[TABLE_KEY] = {KEY_NO_RESHARD, k->table.table};
    bool is_new;
    table_id id = tables_get(t, key, rows, cols, &is_new);

    if (is_new && !t->failed) {
        const double *from = tables_at(t, k->table.table, false);
        double *to = tables_at(t, id, false);
        for (size_t n = 0; n < (size_t)rows * cols; n++)
            to[n] = from[n] > 0 ? TABLE_FORBIDDEN : 0;
        tables_turn(t, id);
    }
    k->table.table = id;
}

/* Edges of its own, where some are forbidden; those of the model at first. */
static bool own_edges(struct relaxed *r)
{
    const struct energy *g = &r->model.energy;

    if (r->own_edges)
        return true;
    r->own_edges = mem_try((size_t)g->edge_count + 1, sizeof *r->own_edges);
    if (!r->own_edges)
        return false;
    memcpy(r->own_edges, g->edges, g->edge_count * sizeof *r->own_edges);
    r->pinned.edges = r->own_edges;
    return true;
}

int relaxed_forbid(struct relaxed *r, const struct relaxed_reshard *way, struct err *e)
{
    const struct energy *g = &r->model.energy;
    bool found = false;

    r->is_ready = false;
    if (!way) {
        free(r->own_edges);
        r->own_edges = NULL;
        r->pinned.edges = g->edges;
        return 0;
    }
    if (way->is_inside)
        return err_set(e, ERR_INPUT, "this all-reduce is inside its instruction and stays with it");
    if (!own_edges(r))
        return err_no_memory(e, "for the decisions");
    for (uint32_t k = 0; k < g->edge_count; k++) {
        if (is_way(&r->model, k, way)) {
            forbid_edge(r, k);
            found = true;
        }
    }
    if (!found)
        return err_set(e, ERR_INPUT, "no value of this problem goes that way");
    return r->model.tables.failed ? err_no_memory(e, "for the decisions") : 0;
}

/* ---- what another solver has ---- */

static void take_strict(struct relaxed *r, const struct relaxed *from)
{
    strict_undo(&r->fixed, 0);
    for (int split = 1; split >= 0; split--) { /* what is whole because of a split comes with it */
        for (class_id k = 0; k < r->p->classes.count; k++) {
            for (uint32_t x = 0; x < r->p->mesh.axes; x++) {
                if (strict_status(&from->fixed, k, x) == split &&
                    strict_status(&r->fixed, k, x) < 0)
                    (void)strict_decide(&r->fixed, k, x, split, NULL);
            }
        }
    }
    r->is_beyond_strict = from->is_beyond_strict;
}

int relaxed_take_pins(struct relaxed *r, const struct relaxed *from, struct err *e)
{
    const struct energy *g = &r->model.energy;
    uint16_t allowed[STATUS_COUNT_MOST];

    BUG_ON(g->nodes != from->model.energy.nodes || g->edge_count != from->model.energy.edge_count);
    r->is_ready = false;
    for (uint32_t n = 0; n < g->nodes; n++) {
        uint32_t labels = energy_labels(&from->pinned, n);
        const double *ms = tables_at(from->pinned.tables, from->pinned.unary[n], false);
        if (from->pinned.unary[n] == from->model.energy.unary[n])
            continue;
        BUG_ON(labels > STATUS_COUNT_MOST || labels != energy_labels(g, n));
        for (uint32_t k = 0; k < labels; k++)
            allowed[k] = ms[k] < TABLE_FORBIDDEN / 2;
        r->pinned.unary[n] = tables_forbid(&r->model.tables, g->unary[n], allowed);
    }
    take_strict(r, from);
    if (from->own_edges && !own_edges(r))
        return err_no_memory(e, "for the decisions");
    for (uint32_t k = 0; k < g->edge_count && from->own_edges; k++) {
        if (from->own_edges[k].table.table != from->model.energy.edges[k].table.table)
            forbid_edge(r, k);
    }
    return r->model.tables.failed ? err_no_memory(e, "for the decisions") : 0;
}
