/* engine/relaxed/read_plan.c - a plan out of labels: statuses, reshards, costs. */
#include "engine/cost/overlap.h"
#include "engine/cost/step_tables.h"
#include "engine/decide/classes.h"
#include "engine/problem/problem.h"
#include "engine/relaxed/energy.h"
#include "engine/relaxed/model.h"
#include "engine/relaxed/relaxed.h"
#include "engine/relaxed/relaxed_internal.h"
#include "engine/relaxed/status.h"
#include "engine/relaxed/tables.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/hlo.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"

#include <math.h>
#include <string.h>

struct writer {
    struct relaxed *r;
    struct relaxed_plan *out;
    size_t room;
};

static bool add_reshard(struct writer *w, const struct relaxed_reshard *x)
{
    if (!mem_grow(&w->out->reshards, &w->room, w->out->reshard_count, 1))
        return false;
    w->out->reshards[w->out->reshard_count++] = *x;
    return true;
}

static bool add_walk(struct writer *w, uint32_t edge)
{
    const struct model *m = &w->r->model;
    const struct model_edge *i = &m->edges[edge];
    const struct energy_edge *ends = &m->energy.edges[edge];
    const struct model_node *user = &m->nodes[ends->b];
    struct reshard_step steps[RESHARD_STEPS_MOST];
    uint32_t count =
        status_walk(&m->spaces, i->space, model_place(m, edge, false, w->r->best[ends->a]),
                    model_place(m, edge, true, w->r->best[ends->b]), steps, RESHARD_STEPS_MOST);
    bool ok = true;

    for (uint32_t k = 0; k < count && ok; k++) {
        if (steps[k].kind == RESHARD_SLICE)
            continue;
        bool is_operand = user->kind == MODEL_INSTRUCTION;
        bool is_shared = user->kind == MODEL_HUB;
        ok = add_reshard(w, &(struct relaxed_reshard){
                                .value = i->value,
                                .user = is_operand ? user->id : HLO_NONE,
                                .leaf = is_operand ? i->leaf : 0,
                                .becomes = is_operand || is_shared ? HLO_NONE : user->value,
                                .step = k,
                                .kind = steps[k].kind,
                                .over = steps[k].over,
                                .from = steps[k].from,
                                .to = steps[k].to,
                                .times = i->times,
                                .bytes = steps[k].bytes * i->times,
                                .ms = steps[k].ms * i->times * i->shown});
    }
    return ok;
}

static int compare_reshards(const void *x, const void *y)
{
    const struct relaxed_reshard *a = x, *b = y;

    if (a->value != b->value)
        return (a->value > b->value) - (a->value < b->value);
    if (a->user != b->user) /* shared ones first */
        return (a->user + 1 > b->user + 1) - (a->user + 1 < b->user + 1);
    if (a->leaf != b->leaf)
        return (a->leaf > b->leaf) - (a->leaf < b->leaf);
    if (a->becomes != b->becomes)
        return (a->becomes + 1 > b->becomes + 1) - (a->becomes + 1 < b->becomes + 1);
    return (a->step > b->step) - (a->step < b->step);
}

static bool allocate_plan(const struct problem *p, struct relaxed_plan *out)
{
    out->problem = p;
    out->choice = mem_try((size_t)p->m->count + 1, sizeof *out->choice);
    out->leaf = mem_try((size_t)p->classes.leaf_base[p->m->count] + 1, sizeof *out->leaf);
    out->made = mem_try((size_t)p->m->value_count + 1, sizeof *out->made);
    out->held = mem_try((size_t)p->m->value_count + 1, sizeof *out->held);
    out->ended = mem_try((size_t)p->m->value_count + 1, sizeof *out->ended);
    out->origin = mem_try((size_t)p->m->value_count + 1, sizeof *out->origin);
    out->updates = mem_try((size_t)p->roles.param_count + 1, sizeof *out->updates);
    return out->updates && out->choice && out->leaf && out->made && out->held && out->ended &&
           out->origin;
}

void relaxed_plan_release(struct relaxed_plan *p)
{
    free(p->choice);
    free(p->leaf);
    free(p->made);
    free(p->held);
    free(p->ended);
    free(p->origin);
    free(p->updates);
    free(p->reshards);
    memset(p, 0, sizeof *p);
}

/* ---- statuses ---- */

/* What a free operand is wanted as: it has no place, the factors tell. */
static status free_status(const struct problem *p, hlo_id id, uint32_t leaf, uint32_t choice)
{
    const struct classes *c = &p->classes;
    status s = 0;

    for (uint32_t x = 0; x < p->mesh.axes; x++) {
        unsigned n = status_on(choice, x);
        if (n == CHOICE_WHOLE || n >= CHOICE_PASS_LEAF)
            continue;
        int d = c->leaf_dims[c->factors[c->factor_base[id] + n - 1].dims + leaf];
        if (d >= 0)
            s = status_with(s, x, (unsigned)d + 1);
    }
    return s;
}

static void set_instruction(struct writer *w, uint32_t node)
{
    const struct model *m = &w->r->model;
    const struct model_node *n = &m->nodes[node];
    const struct model_pattern *pattern = &m->patterns[n->pattern];
    const struct classes *c = &m->p->classes;
    uint32_t x = w->r->best[node];

    w->out->choice[n->id] = m->choices[pattern->choices + x];
    for (uint32_t leaf = 0; leaf < class_leaf_count(c, n->id); leaf++) {
        uint32_t space = m->leaf_space[c->leaf_base[n->id] + leaf];
        status s = space == UINT32_MAX
                       ? free_status(m->p, n->id, leaf, w->out->choice[n->id])
                       : model_status(m, space, m->places[m->maps[pattern->maps + leaf] + x]);
        w->out->leaf[c->leaf_base[n->id] + leaf] = s;
    }
}

static int by_origin(const void *a, const void *b)
{
    const struct relaxed_update *x = a, *y = b;

    if (x->origin != y->origin)
        return x->origin < y->origin ? -1 : 1;
    return x->param < y->param ? -1 : x->param > y->param;
}

static void set_updates(struct relaxed_plan *out)
{
    const struct hlo_roles *roles = &out->problem->roles;

    for (uint32_t k = 0; k < roles->param_count; k++) {
        hlo_value next = roles->params[k].updated;
        out->updates[k] =
            (struct relaxed_update){next == HLO_NONE ? HLO_NONE : out->origin[next], k};
    }
    if (roles->param_count)
        qsort(out->updates, roles->param_count, sizeof *out->updates, by_origin);
}

static void set_values(struct writer *w)
{
    const struct model *m = &w->r->model;
    const struct hlo_module *hlo = m->p->m;
    const struct classes *c = &m->p->classes;

    memcpy(w->out->origin, m->origin, hlo->value_count * sizeof *m->origin);
    set_updates(w->out);
    for (hlo_value v = 0; v < hlo->value_count; v++)
        w->out->ended[v] = (status)STATUS_UNKNOWN;
    for (uint32_t k = 0; k < m->energy.nodes; k++) {
        if (m->nodes[k].kind == MODEL_OUTPUT)
            w->out->ended[m->nodes[k].value] = model_status(m, m->nodes[k].space, w->r->best[k]);
    }
    for (hlo_value v = 0; v < hlo->value_count; v++) {
        hlo_value o = m->origin[v];
        if (o == HLO_NONE || m->maker[o] == UINT32_MAX)
            continue;
        const struct model_node *n = &m->nodes[m->maker[o]];
        uint32_t results = hlo->leaf_base[n->id + 1] - hlo->leaf_base[n->id];
        uint32_t leaf = class_leaf_count(c, n->id) - results + (o - hlo->leaf_base[n->id]);
        w->out->made[v] = n->kind == MODEL_INSTRUCTION
                              ? w->out->leaf[c->leaf_base[n->id] + leaf]
                              : model_status(m, n->space, w->r->best[m->maker[o]]);
        w->out->held[v] = m->hub[o] == UINT32_MAX
                              ? w->out->made[v]
                              : model_status(m, m->space_of[o], w->r->best[m->hub[o]]);
        if (o == v && w->out->ended[v] == (status)STATUS_UNKNOWN)
            w->out->ended[v] = w->out->held[v]; /* no output node: it cannot be partial */
    }
}

/* ---- costs ---- */

/* The all-reduces that belong to the instruction itself. */
static int add_inside(struct writer *w, uint32_t node, struct err *e)
{
    const struct model *m = &w->r->model;
    const struct model_node *n = &m->nodes[node];
    struct model_label_cost cost;
    int rc = model_label_cost(m, node, w->r->best[node], &cost, e);
    struct relaxed_reshard x = {.value = m->p->m->leaf_base[n->id],
                                .user = HLO_NONE,
                                .becomes = HLO_NONE,
                                .kind = RESHARD_ALL_REDUCE,
                                .is_inside = true,
                                .times = n->times};

    if (rc)
        return rc;
    x.from = x.to = w->out->made[x.value];
    bool ok = true;
    if (cost.inside_ms > 0) {
        x.over = cost.inside_over;
        x.bytes = cost.inside_bytes;
        x.ms = cost.inside_ms;
        ok = add_reshard(w, &x);
    }
    if (cost.apart_ms > 0 && ok) {
        x.over = cost.apart_over;
        x.bytes = cost.apart_bytes;
        x.ms = cost.apart_ms;
        ok = add_reshard(w, &x);
    }
    return ok ? 0 : err_no_memory(e, "for the plan");
}

static int price_read(struct writer *w, struct err *e)
{
    const struct model *m = &w->r->model;
    struct step_cost *cost = &w->out->cost;

    double scale = 1 - m->options.excess_weight * m->p->step_tables.overlap.hidden;

    cost->compute_ms = m->p->step_tables.free_ms;
    for (uint32_t node = 0; node < m->energy.nodes; node++) {
        const struct model_node *n = &m->nodes[node];
        if (n->kind != MODEL_INSTRUCTION)
            continue;
        uint32_t x = w->r->best[node];
        double compute = m->compute_ms[m->patterns[n->pattern].choices + x];
        cost->compute_ms += compute;
        if (tables_at(&m->tables, m->energy.unary[node], false)[x] <= compute * scale)
            continue;
        int rc = add_inside(w, node, e);
        if (rc)
            return rc;
    }
    for (uint32_t edge = 0; edge < m->energy.edge_count; edge++) {
        const struct energy_edge *i = &m->energy.edges[edge];
        const double *row = tables_at(&m->tables, i->table.table, i->table.turned) +
                            (size_t)w->r->best[i->a] * energy_labels(&m->energy, i->b);
        uint32_t before = w->out->reshard_count;
        if (row[w->r->best[i->b]] > 0 && !add_walk(w, edge))
            return err_no_memory(e, "for the plan");
        for (uint32_t k = before; k < w->out->reshard_count && m->edges[edge].is_beside; k++)
            cost->beside_ms += w->out->reshards[k].ms / m->edges[edge].shown;
    }
    return 0;
}

int relaxed_extract(struct relaxed *r, struct relaxed_plan *out, struct err *e)
{
    struct writer w = {.r = r, .out = out};
    int rc = 0;

    if (!allocate_plan(r->p, out)) {
        rc = err_no_memory(e, "for the plan");
        goto out;
    }
    out->reduce_at_once = !r->model.options.pass_partial;
    for (uint32_t node = 0; node < r->model.energy.nodes; node++) {
        if (r->model.nodes[node].kind == MODEL_INSTRUCTION)
            set_instruction(&w, node);
    }
    set_values(&w);
    rc = price_read(&w, e);
    if (rc)
        goto out;
    for (uint32_t k = 0; k < out->reshard_count; k++)
        out->cost.communication_ms += out->reshards[k].ms;
    if (out->reshard_count)
        qsort(out->reshards, out->reshard_count, sizeof *out->reshards, compare_reshards);
    out->cost.communication_ms +=
        overlap_excess(&r->p->step_tables.overlap, out->cost.compute_ms, out->cost.beside_ms);
    out->cost.step_ms = out->cost.compute_ms + out->cost.communication_ms;
    out->nodes = r->model.energy.nodes;
    out->nodes_left = relaxed_stage(r)->reduced.left.nodes;
    out->colours = r->is_folded ? r->tied.folded.energy.nodes : 0;
    out->bound_kind = r->is_folded ? RELAXED_TIED : RELAXED_GLOBAL;
    out->bound_ms = fmin(relaxed_stage(r)->trws.bound,
                         out->cost.step_ms); /* equal but for rounding when the plan is optimal */
    out->gap = out->bound_ms > 0 ? out->cost.step_ms / out->bound_ms - 1 : 0;
out:
    if (rc)
        relaxed_plan_release(out);
    return rc;
}
