#include "engine/relaxed/model.h"
#include "engine/cost/joined_sums.h"
#include "engine/cost/overlap.h"
#include "engine/cost/step_tables.h"
#include "engine/cost/training.h"
#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/problem/problem.h"
#include "engine/relaxed/energy.h"
#include "engine/relaxed/model_internal.h"
#include "engine/relaxed/status.h"
#include "engine/relaxed/tables.h"
#include "hlo/meaning/factors.h"
#include "hlo/meaning/roles.h"
#include "hlo/module/flows.h"
#include "hlo/module/hlo.h"
#include "hlo/module/shape.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/slots.h"

#include <math.h>
#include <string.h>

static const char MEMORY_FOR[] = "for relaxed mode";

/* ---- which values are the same array ---- */

static bool runs_instruction(const struct model *m, hlo_id id)
{
    return m->p->costs.times[id] > 0;
}

static bool is_flow(const struct model *m, hlo_id id)
{
    return hlo_is_flow(m->p->m, id);
}

static bool takes_part(const struct model *m, hlo_value v)
{
    const struct hlo_shape *s = hlo_value_shape(m->p->m, v);

    return !m->p->classes.is_free[v] && s->type < HLO_TYPE_COUNT &&
           hlo_type_info[s->type].bits > 0 && runs_instruction(m, m->p->m->value_instruction[v]);
}

static bool is_same_array(const struct model *m, const struct hlo_flow *f)
{
    const struct hlo_shape *a = hlo_value_shape(m->p->m, f->from),
                           *b = hlo_value_shape(m->p->m, f->to);

    return f->from != f->to && takes_part(m, f->from) && takes_part(m, f->to) && a->bare == b->bare;
}

/* What flows into each value: the last such, how many (2 stands for more, or from below: a loop).
 */
static int find_flows(struct build *b, struct hlo_flow **list, size_t *count, uint8_t *arrivals)
{
    struct model *m = b->m;
    struct hlo_flows flows = {0};
    size_t room = 0;
    int rc = 0;

    for (hlo_id id = 0; id < m->p->m->count; id++) {
        if (!is_flow(m, id) || !runs_instruction(m, id))
            continue;
        rc = hlo_flows_of(m->p->m, id, &flows, b->e);
        if (rc)
            goto out;
        for (size_t k = 0; k < flows.count; k++) {
            const struct hlo_flow *f = &flows.items[k];
            if (!is_same_array(m, f))
                continue;
            if (!mem_grow(list, &room, *count, 1)) {
                rc = err_no_memory(b->e, MEMORY_FOR);
                goto out;
            }
            (*list)[(*count)++] = *f;
            arrivals[f->to] = f->from > f->to || arrivals[f->to] ? 2 : 1;
        }
    }
out:
    hlo_flows_release(&flows);
    return rc;
}

/* A value that one other value flows into, and nothing else, is that value. */
static int find_origins(struct build *b)
{
    struct model *m = b->m;
    hlo_value values = m->p->m->value_count;
    uint8_t *arrivals = mem_try(values, 1);
    hlo_value *from = mem_try(values, sizeof *from);
    struct hlo_flow *list = NULL;
    size_t count = 0;
    int rc;

    if (!arrivals || !from) {
        rc = err_no_memory(b->e, MEMORY_FOR);
        goto out;
    }
    rc = find_flows(b, &list, &count, arrivals);
    if (rc)
        goto out;
    for (size_t k = 0; k < count; k++)
        from[list[k].to] = list[k].from;
    for (hlo_value v = 0; v < values; v++)
        m->origin[v] = !takes_part(m, v) ? HLO_NONE : arrivals[v] == 1 ? m->origin[from[v]] : v;
    for (size_t k = 0; k < count; k++) {
        if (arrivals[list[k].to] != 2)
            continue;
        list[b->junction_count++] = list[k];
        b->is_junction[list[k].to] = true;
    }
out:
    b->junctions = list;
    free(arrivals);
    free(from);
    return rc;
}

/* ---- uses ---- */

enum use_kind { USE_OPERAND, USE_JUNCTION, USE_STORED, USE_OUTPUT };

struct use {
    uint8_t kind;
    hlo_value value; /* origin */
    hlo_id id;       /* operand: of this instruction */
    uint32_t leaf;
    hlo_value to; /* junction, stored: the value it becomes */
};

typedef int use_fn(struct build *b, const struct use *u);

static int operand_uses(struct build *b, use_fn *fn)
{
    const struct classes *c = &b->m->p->classes;

    for (hlo_id id = 0; id < c->m->count; id++) {
        if (is_flow(b->m, id) || !runs_instruction(b->m, id))
            continue;
        uint32_t leaves = class_leaf_count(c, id);
        uint32_t results = leaves ? c->m->leaf_base[id + 1] - c->m->leaf_base[id] : 0;
        for (uint32_t leaf = 0; leaf < leaves - results; leaf++) {
            hlo_value v = b->m->origin[hlo_factors_value(c->m, id, leaf)];
            if (v == HLO_NONE)
                continue;
            int rc = fn(b, &(struct use){USE_OPERAND, v, id, leaf, HLO_NONE});
            if (rc)
                return rc;
        }
    }
    return 0;
}

/* Next steps' values of parameters, other results, and what nobody reads: none may stay partial. */
static int output_uses(struct build *b, use_fn *fn)
{
    struct model *m = b->m;
    const struct hlo_module *hlo = m->p->m;
    const struct hlo_roles *roles = &m->p->roles;
    hlo_id root = hlo->computations[hlo->entry].root;
    int rc;

    for (uint32_t k = 0; k < roles->param_count; k++) {
        const struct hlo_param_role *p = &roles->params[k];
        if (p->updated == HLO_NONE || m->origin[p->updated] == HLO_NONE ||
            m->origin[p->value] != p->value || m->origin[p->updated] == p->value ||
            hlo_value_shape(hlo, p->value)->bare != hlo_value_shape(hlo, p->updated)->bare)
            continue;
        b->is_updated[m->origin[p->updated]] = true;
        rc = fn(b, &(struct use){USE_STORED, m->origin[p->updated], HLO_NONE, 0, p->value});
        if (rc)
            return rc;
    }
    for (hlo_value v = hlo->leaf_base[root]; v < hlo->leaf_base[root + 1]; v++) {
        hlo_value o = m->origin[v];
        if (o == HLO_NONE || b->is_updated[o])
            continue;
        rc = fn(b, &(struct use){USE_OUTPUT, o, HLO_NONE, 0, HLO_NONE});
        if (rc)
            return rc;
    }
    return 0;
}

static int each_use(struct build *b, use_fn *fn)
{
    int rc = operand_uses(b, fn);

    if (rc)
        return rc;
    for (size_t k = 0; k < b->junction_count; k++) {
        hlo_value from = b->m->origin[b->junctions[k].from], to = b->junctions[k].to;
        if (from == to)
            continue;
        rc = fn(b, &(struct use){USE_JUNCTION, from, HLO_NONE, 0, to});
        if (rc)
            return rc;
    }
    return output_uses(b, fn);
}

/* A hub's reshard is made in each computation that reads the value: in a loop's body, and again for
 * what follows the loop. */
static int count_use(struct build *b, const struct use *u)
{
    const struct hlo_module *m = b->m->p->m;
    hlo_comp in = u->kind == USE_OPERAND ? hlo_at(m, u->id)->computation : m->entry;

    b->uses[u->value]++;
    if (u->kind == USE_JUNCTION || b->reads_in[u->value] == in + 1)
        return 0;
    b->reads_in[u->value] = in + 1;
    b->runs[u->value] += u->kind == USE_OPERAND ? b->m->p->costs.times[u->id] : 1;
    return 0;
}

/* How often the reshard that a value's uses share is made for each time the value is. */
static double hub_runs(const struct build *b, hlo_value v)
{
    double made = b->m->p->costs.times[b->m->p->m->value_instruction[v]];

    return made > 0 && b->runs[v] > made ? b->runs[v] / made : 1;
}

/* ---- nodes ---- */

/* Executions in a step: parameters are there once, what is cut into micro-batches once for each. */
static double times_of(const struct model *m, hlo_value v, bool is_source)
{
    const struct classes *c = &m->p->classes;
    hlo_id id = m->p->m->value_instruction[v];
    double times = m->p->costs.times[id];

    if (!is_source)
        return step_tables_times(&m->p->step_tables, id);
    for (dim_id d = c->dim_base[v]; d < c->dim_base[v + 1]; d++) {
        if (label_cuts(&m->p->labels, c->class_of[d]) > 1)
            return times * m->p->labels.cuts;
    }
    return times;
}

static int add_node(struct build *b, const struct model_node *node, table_id unary,
                    uint32_t *number)
{
    struct model *m = b->m;

    if (!mem_grow(&m->nodes, &m->node_room, m->energy.nodes, 1) ||
        !mem_grow(&m->energy.unary, &m->unary_room, m->energy.nodes, 1))
        return err_no_memory(b->e, MEMORY_FOR);
    *number = m->energy.nodes;
    m->nodes[m->energy.nodes] = *node;
    m->energy.unary[m->energy.nodes++] = unary;
    return 0;
}

/* A node without costs whose labels are the statuses of a space. */
static int add_free_node(struct build *b, enum model_kind kind, hlo_value v, uint32_t space,
                         double times, uint32_t *number)
{
    struct model *m = b->m;
    uint64_t key[TABLE_KEY] = {KEY_ZERO, m->spaces.items[space].count};
    bool is_new;
    struct model_node node = {(uint8_t)kind, m->p->m->value_instruction[v], v, UINT32_MAX, space,
                              times};
    table_id zero = tables_get(&m->tables, key, 1, m->spaces.items[space].count, &is_new);

    return add_node(b, &node, zero, number);
}

static int add_carried(struct build *b, hlo_value v)
{
    struct model *m = b->m;
    int rc = status_space_of(&m->spaces, v, false, &m->space_of[v], b->e);

    return rc ? rc
              : add_free_node(b, b->is_junction[v] ? MODEL_JUNCTION : MODEL_SOURCE, v,
                              m->space_of[v], times_of(m, v, !b->is_junction[v]), &m->maker[v]);
}

static int add_instruction(struct build *b, hlo_id id)
{
    struct model *m = b->m;
    struct model_node node = {
        MODEL_INSTRUCTION, id, HLO_NONE, 0, UINT32_MAX, step_tables_times(&m->p->step_tables, id)};

    if (class_leaf_count(&m->p->classes, id) == 0)
        return 0;
    int rc = model_pattern_of(b, id, &node.pattern);
    if (rc)
        return rc;
    rc = add_node(b, &node, m->patterns[node.pattern].unary, &m->node_of[id]);
    if (rc)
        return rc;
    for (hlo_value v = m->p->m->leaf_base[id]; v < m->p->m->leaf_base[id + 1]; v++)
        m->maker[v] = m->node_of[id];
    return 0;
}

/* What a flow carries, and the hub of a value with several uses. */
static int add_nodes_of_value(struct build *b, hlo_id id, hlo_value v)
{
    struct model *m = b->m;
    int rc = is_flow(m, id) ? add_carried(b, v) : 0;

    if (rc || b->uses[v] <= 1 || m->spaces.items[m->space_of[v]].count <= 1)
        return rc;
    return add_free_node(b, MODEL_HUB, v, m->space_of[v], m->nodes[m->maker[v]].times, &m->hub[v]);
}

static int add_nodes(struct build *b)
{
    struct model *m = b->m;
    const struct hlo_module *hlo = m->p->m;

    for (hlo_id id = 0; id < hlo->count; id++) {
        if (!runs_instruction(m, id))
            continue;
        int rc = is_flow(m, id) ? 0 : add_instruction(b, id);
        if (rc)
            return rc;
        for (hlo_value v = hlo->leaf_base[id]; v < hlo->leaf_base[id + 1]; v++) {
            rc = m->origin[v] == v ? add_nodes_of_value(b, id, v) : 0;
            if (rc)
                return rc;
        }
    }
    return 0;
}

/* ---- edges ---- */

static uint32_t labels_of(const struct model *m, uint32_t node)
{
    return energy_labels(&m->energy, node);
}

/* Labels that are places of `from`, as places of `to`: the same statuses in a space with others. */
static int map_between(struct build *b, uint32_t from, uint32_t to, uint32_t *map)
{
    struct model *m = b->m;
    const struct status_space *i = &m->spaces.items[from];

    *map = m->identity;
    if (from == to)
        return 0;
    for (size_t k = 0; k < b->map_count; k++) {
        *map = b->maps[k].map;
        if (b->maps[k].from == from && b->maps[k].to == to)
            return 0;
    }
    if (!mem_grow(&m->places, &m->place_room, m->place_count, i->count) ||
        !mem_grow(&b->maps, &b->map_room, b->map_count, 1))
        return err_no_memory(b->e, MEMORY_FOR);
    *map = (uint32_t)m->place_count;
    b->maps[b->map_count].from = from;
    b->maps[b->map_count].to = to;
    b->maps[b->map_count++].map = *map;
    for (uint32_t k = 0; k < i->count; k++) {
        uint32_t at = status_find(&m->spaces, to, m->spaces.statuses[i->statuses + k]);
        BUG_ON(at == UINT32_MAX); /* the spaces differ in partial only */
        m->places[m->place_count++] = (uint16_t)at;
    }
    return 0;
}

static table_id reshard_table(struct model *m, const struct model_edge *edge, uint32_t a,
                              uint32_t b)
{
    uint32_t rows = labels_of(m, a), cols = labels_of(m, b);
    uint64_t key[TABLE_KEY] = {KEY_RESHARD, (uint64_t)edge->space << 32 | rows,
                               (uint64_t)edge->map_a << 32 | edge->map_b, cols};
    bool is_new;

    double price = edge->times * edge->weight;

    memcpy(&key[4], &price, sizeof price);
    table_id id = tables_get(&m->tables, key, rows, cols, &is_new);
    if (!is_new)
        return id;
    double *out = tables_at(&m->tables, id, false);
    for (uint32_t x = 0; x < rows; x++) {
        for (uint32_t y = 0; y < cols; y++)
            *out++ = price * status_ms(&m->spaces, edge->space, m->places[edge->map_a + x],
                                       m->places[edge->map_b + y]);
    }
    tables_turn(&m->tables, id);
    return id;
}

static int add_edge(struct build *b, uint32_t a, uint32_t z, const struct model_edge *edge,
                    double runs)
{
    struct model *m = b->m;
    uint32_t k = m->energy.edge_count;
    double once = m->p->costs.times[m->p->m->value_instruction[edge->value]];

    if (!mem_grow(&m->edges, &m->edge_room, k, 1) ||
        !mem_grow(&m->energy.edges, &m->energy_edge_room, k, 1))
        return err_no_memory(b->e, MEMORY_FOR);
    m->edges[k] = *edge;
    const struct training *t = &m->p->training;
    const struct overlap *o = &m->p->step_tables.overlap;
    bool waits = t->waits[edge->value];
    if (waits) /* for the sum over the micro-batches */
        m->edges[k].times = fmin(edge->times, once);
    m->edges[k].times *= runs;
    m->edges[k].is_beside = o->is_bounded && (waits || t->is_state[edge->value]);
    m->edges[k].shown = waits || m->edges[k].is_beside ? 1 - o->hidden : 1;
    m->edges[k].weight = m->edges[k].shown;
    if (m->edges[k].is_beside)
        m->edges[k].weight += m->options.excess_weight * overlap_balance(o, 0, 1);
    m->energy.edges[k] = (struct energy_edge){a, z, {reshard_table(m, &m->edges[k], a, z), false}};
    m->energy.edge_count++;
    return 0;
}

/* Labels of the node that makes `v`, as places of v's space. */
static uint32_t maker_map(const struct model *m, hlo_value v)
{
    const struct model_node *n = &m->nodes[m->maker[v]];

    if (n->kind != MODEL_INSTRUCTION)
        return m->identity;
    uint32_t results = m->p->m->leaf_base[n->id + 1] - m->p->m->leaf_base[n->id];
    uint32_t leaf =
        class_leaf_count(&m->p->classes, n->id) - results + (v - m->p->m->leaf_base[n->id]);
    return m->maps[m->patterns[n->pattern].maps + leaf];
}

static int end_of_use(struct build *b, const struct use *u, uint32_t *node, uint32_t *map)
{
    struct model *m = b->m;
    uint32_t space;
    int rc;

    switch (u->kind) {
    case USE_OPERAND:
        *node = m->node_of[u->id];
        *map = m->maps[m->patterns[m->nodes[*node].pattern].maps + u->leaf];
        return 0;
    case USE_OUTPUT:
        rc = status_space_of(&m->spaces, u->value, false, &space, b->e);
        if (rc)
            return rc;
        rc = add_free_node(b, MODEL_OUTPUT, u->value, space, 1, node);
        if (rc)
            return rc;
        return map_between(b, space, m->space_of[u->value], map);
    default:
        *node = m->maker[u->to];
        return map_between(b, m->space_of[u->to], m->space_of[u->value], map);
    }
}

static int connect_use(struct build *b, const struct use *u)
{
    struct model *m = b->m;
    hlo_value v = u->value;
    bool has_hub = m->hub[v] != UINT32_MAX;
    struct model_edge edge = {.value = v, .space = m->space_of[v], .leaf = u->leaf};
    uint32_t from = has_hub ? m->hub[v] : m->maker[v], to = 0;

    if (m->spaces.items[edge.space].count == 1 ||
        (u->kind == USE_OUTPUT && !m->spaces.items[edge.space].can_be_partial))
        return 0;
    int rc = end_of_use(b, u, &to, &edge.map_b);
    if (rc)
        return rc;
    edge.map_a = has_hub ? m->identity : maker_map(m, v);
    edge.times = fmin(m->nodes[from].times, m->nodes[to].times);
    if (u->kind == USE_OUTPUT) /* each time it is made: a loop's condition may read it */
        edge.times = fmax(edge.times, m->p->costs.times[m->p->m->value_instruction[v]]);
    return add_edge(b, from, to, &edge, 1);
}

static int connect_makers(struct build *b)
{
    struct model *m = b->m;

    for (hlo_value v = 0; v < m->p->m->value_count; v++) {
        if (m->origin[v] != v || m->maker[v] == UINT32_MAX)
            continue;
        struct model_edge edge = {.value = v,
                                  .space = m->space_of[v],
                                  .map_a = maker_map(m, v),
                                  .map_b = m->identity,
                                  .times = m->nodes[m->maker[v]].times};
        int rc = 0;
        if (m->hub[v] != UINT32_MAX)
            rc = add_edge(b, m->maker[v], m->hub[v], &edge, hub_runs(b, v));
        else if (!b->uses[v])
            rc = connect_use(b, &(struct use){USE_OUTPUT, v, HLO_NONE, 0, HLO_NONE});
        if (rc)
            return rc;
    }
    return 0;
}

/* ---- whole ---- */

static int allocate_model(struct build *b)
{
    struct model *m = b->m;
    size_t values = m->p->m->value_count;

    m->origin = mem_try(values, sizeof *m->origin);
    m->space_of = mem_try(values, sizeof *m->space_of);
    m->maker = mem_try(values, sizeof *m->maker);
    m->hub = mem_try(values, sizeof *m->hub);
    m->combiner = mem_try(values, 1);
    m->node_of = mem_try(m->p->m->count, sizeof *m->node_of);
    m->leaf_space =
        mem_try((size_t)m->p->classes.leaf_base[m->p->m->count] + 1, sizeof *m->leaf_space);
    b->uses = mem_try(values, sizeof *b->uses);
    b->runs = mem_try(values, sizeof *b->runs);
    b->reads_in = mem_try(values, sizeof *b->reads_in);
    b->is_updated = mem_try(values, 1);
    b->is_junction = mem_try(values, 1);
    if (!m->origin || !m->space_of || !m->maker || !m->hub || !m->combiner || !m->node_of ||
        !m->leaf_space || !b->uses || !b->runs || !b->reads_in || !b->is_updated ||
        !b->is_junction || !mem_grow(&m->places, &m->place_room, 0, STATUS_COUNT_MOST))
        return err_no_memory(b->e, MEMORY_FOR);
    for (size_t v = 0; v < values; v++)
        m->maker[v] = m->hub[v] = UINT32_MAX;
    for (hlo_id id = 0; id < m->p->m->count; id++)
        m->node_of[id] = UINT32_MAX;
    for (uint16_t k = 0; k < STATUS_COUNT_MOST; k++)
        m->places[k] = k;
    m->place_count = STATUS_COUNT_MOST;
    return 0;
}

static int build_nodes_and_edges(struct build *b)
{
    int rc = find_origins(b);

    if (rc)
        return rc;
    rc = each_use(b, count_use);
    if (rc)
        return rc;
    rc = add_nodes(b);
    if (rc)
        return rc;
    rc = connect_makers(b);
    if (rc)
        return rc;
    rc = each_use(b, connect_use);
    if (rc)
        return rc;
    return b->m->tables.failed ? err_no_memory(b->e, MEMORY_FOR) : 0;
}

int model_new(const struct problem *p, const struct model_options *o, struct model *out,
              struct err *e)
{
    memset(out, 0, sizeof *out);
    out->p = p;
    out->options = *o;
    struct build b = {.m = out, .e = e};
    int rc = status_spaces_new(&p->labels, &p->mesh, &out->spaces, e);

    if (rc)
        goto out;
    rc = tables_new(&out->tables, e);
    if (rc)
        goto out;
    out->energy.tables = &out->tables;
    rc = allocate_model(&b);
    if (rc)
        goto out;
    out->energy.constant = p->step_tables.free_ms;
    out->energy.constant *= 1 - o->excess_weight * p->step_tables.overlap.hidden;
    rc = build_nodes_and_edges(&b);
out:
    free(b.uses);
    free(b.runs);
    free(b.reads_in);
    free(b.junctions);
    free(b.maps);
    free(b.is_updated);
    free(b.is_junction);
    free(b.look.space);
    free(b.look.pass);
    free(b.look.share);
    if (rc)
        model_release(out);
    return rc;
}

void model_release(struct model *m)
{
    status_spaces_release(&m->spaces);
    tables_release(&m->tables);
    energy_release(&m->energy);
    free(m->nodes);
    free(m->edges);
    free(m->origin);
    free(m->space_of);
    free(m->maker);
    free(m->hub);
    free(m->combiner);
    free(m->node_of);
    free(m->leaf_space);
    free(m->patterns);
    free(m->maps);
    free(m->choices);
    free(m->compute_ms);
    free(m->places);
    slots_release(&m->slots);
    memset(m, 0, sizeof *m);
}

status model_status(const struct model *m, uint32_t space, uint32_t place)
{
    return m->spaces.statuses[m->spaces.items[space].statuses + place];
}

status model_made(const struct model *m, hlo_value origin, uint32_t x)
{
    const struct model_node *n = &m->nodes[m->maker[origin]];
    const struct classes *c = &m->p->classes;
    const struct hlo_module *hlo = m->p->m;

    if (n->kind != MODEL_INSTRUCTION)
        return model_status(m, n->space, x);
    uint32_t results = hlo->leaf_base[n->id + 1] - hlo->leaf_base[n->id];
    uint32_t leaf = class_leaf_count(c, n->id) - results + (origin - hlo->leaf_base[n->id]);
    uint32_t space = m->leaf_space[c->leaf_base[n->id] + leaf];
    return model_status(m, space, m->places[m->maps[m->patterns[n->pattern].maps + leaf] + x]);
}

/* ---- strict plans ---- */

static uint32_t strict_choice(const struct model *m, const struct model_node *n, const label *on)
{
    const struct classes *c = &m->p->classes;
    const struct model_pattern *pattern = &m->patterns[n->pattern];
    uint32_t wanted = 0;

    for (uint32_t k = c->factor_base[n->id]; k < c->factor_base[n->id + 1]; k++) {
        if (c->runs_whole[n->id])
            continue;
        for (uint32_t x = 0; x < m->p->mesh.axes && c->factors[k].class != CLASS_NONE; x++) {
            if (on[c->factors[k].class] >> x & 1)
                wanted = status_with(wanted, x, 1 + k - c->factor_base[n->id]);
        }
    }
    const class_id *passes = m->p->joined.passes[n->id];
    for (int k = 0; k < JOINED_CLASSES_MOST && m->p->step_tables.joined; k++) {
        for (uint32_t x = 0; x < m->p->mesh.axes && passes[k] != CLASS_NONE; x++) {
            if (on[passes[k]] >> x & 1)
                wanted = status_with(wanted, x, CHOICE_PASS);
        }
    }
    for (uint32_t k = 0; k < pattern->labels; k++) {
        if (m->choices[pattern->choices + k] == wanted)
            return k;
    }
    return UINT32_MAX;
}

uint32_t model_strict_label(const struct model *m, uint32_t node, const label *on)
{
    const struct model_node *n = &m->nodes[node];
    const struct classes *c = &m->p->classes;
    status s = 0;

    if (n->kind == MODEL_INSTRUCTION)
        return strict_choice(m, n, on);
    for (dim_id d = c->dim_base[n->value]; d < c->dim_base[n->value + 1]; d++) {
        for (uint32_t x = 0; x < m->p->mesh.axes && c->class_of[d] != CLASS_NONE; x++) {
            if (on[c->class_of[d]] >> x & 1)
                s = status_with(s, x, d - c->dim_base[n->value] + 1);
        }
    }
    return status_find(&m->spaces, n->space, s);
}
